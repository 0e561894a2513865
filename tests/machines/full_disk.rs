//! Disks that fill up while a command writes to them: small ones in memory, mounted for each test.
//!
//! That takes root, or a system where users may have mounts of their own.

use crate::support;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use gpu_test::{Failed, Trial};

use crate::checkpoints::{files, newest};

const DISK: usize = 1 << 20;

/// A disk of [`DISK`] bytes, until it is dropped.
struct Disk {
    /// Keeps the mount, which no other process sees.
    holder: Child,
    folder: tempfile::TempDir,
}

impl Disk {
    /// # Errors
    /// Why this user may not mount one.
    fn mount() -> Result<Disk, String> {
        // Where users may not have namespaces of their own, root still may mount.
        let of_a_user = ["--mount", "--user", "--map-root-user"];
        Disk::mount_in(&of_a_user).or_else(|_| Disk::mount_in(&["--mount"]))
    }

    fn mount_in(namespaces: &[&str]) -> Result<Disk, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script =
            format!("mount -t tmpfs -o size={DISK} disk \"$0\" && echo mounted && exec cat");
        let mut holder = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", &script])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let mut line = String::new();
        let mut output = BufReader::new(holder.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("readable");
        let mut disk = Disk { holder, folder };
        if line == "mounted\n" {
            return Ok(disk);
        }
        let mut reason = String::new();
        let mut errors = disk.holder.stderr.take().expect("piped");
        errors.read_to_string(&mut reason).expect("text");
        Err(reason.trim().to_owned())
    }

    /// Where everyone sees it.
    fn path(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.folder.path().strip_prefix("/").expect("absolute"))
    }

    /// Fills it up to this many bytes, and answers with what.
    fn fill_but(&self, bytes: usize) -> PathBuf {
        let filler = self.path().join("filler");
        fs::write(&filler, vec![0; DISK - bytes]).expect("there is room");
        filler
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn ridgepoint(arguments: &[&str], last: &Path) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .arg(last)
        .output()
        .expect("the command starts")
}

fn power(mode: &str, folder: &Path, more: &[&str]) -> Output {
    let size = ["power", "--dim", "8", "--dominance", "0.3"];
    let run = ["--device", "cpu", "--mode", mode, "--check-every", "5"];
    ridgepoint(&[&size[..], &run, more, &["--checkpoint"]].concat(), folder)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// That the command says which file it could not write, and why.
fn assert_full(output: &Output, file: &str) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(
        message.contains(file) && message.contains("No space left on device"),
        "{message}"
    );
}

/// The iteration ends on a full disk, and goes on from its newest checkpoint when there is room again.
fn power_ends_and_goes_on(mode: &str, disk: &Disk) -> Result<(), Failed> {
    let elsewhere = tempfile::tempdir()?;
    let whole = power(mode, elsewhere.path(), &[]);
    assert!(whole.status.success(), "{}", stderr(&whole));

    let folder = disk.path().join("checkpoints");
    fs::create_dir(&folder)?;
    let filler = disk.fill_but(64 << 10);
    let output = power(mode, &folder, &[]);
    assert_full(&output, &format!("cannot write {}/step-", folder.display()));
    let last = newest(&folder).ok_or("no checkpoint")?.step;
    let expected = newest(elsewhere.path()).ok_or("no checkpoint")?;
    assert!(last < expected.step, "the disk was large enough");
    for path in files(&folder) {
        assert!(!path.to_string_lossy().contains("unfinished"), "{path:?}");
    }

    fs::remove_file(filler)?;
    let output = power(mode, &folder, &["--resume"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = said.lines().find_map(|line| line.strip_prefix("step "));
    let first = first.and_then(|line| line.split_whitespace().next());
    assert_eq!(first, Some(&last.to_string()[..]), "{said}");
    assert_eq!(newest(&folder), Some(expected));
    Ok(())
}

/// The rows that the error counts are in the file, and can be read.
fn a_sweep_keeps_its_rows(disk: &Disk) -> Result<(), Failed> {
    let path = disk.path().join("rows.csv");
    disk.fill_but(4 << 10);
    let size = [
        "roofline", "--device", "cpu", "--n", "1000", "--kernel", "all",
    ];
    let output = ridgepoint(&[&size[..], &["--output"]].concat(), &path);
    assert_full(&output, &format!("to {}: ", path.display()));
    let message = stderr(&output);
    let rows = message
        .split_once("; the ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok())
        .ok_or("no number of rows")?;

    let readable = tempfile::tempdir()?;
    let merged = readable.path().join("merged.csv");
    let kept = path.to_str().ok_or("text")?;
    let output = ridgepoint(&["merge", kept, "--output"], &merged);
    assert!(output.status.success(), "{}", stderr(&output));
    let records = csv::Reader::from_path(merged)?.into_records().count();
    assert!(rows > 0 && records == rows, "{records} of {rows}");
    Ok(())
}

fn trial(name: &str, case: impl FnOnce(&Disk) -> Result<(), Failed> + Send + 'static) -> Trial {
    let name = format!("full_disk::{name}");
    match Disk::mount() {
        Ok(disk) => Trial::test(name, move || case(&disk)),
        Err(reason) => Trial::test(name, || Ok(()))
            .with_kind(format!("skipped: {reason}"))
            .with_ignored_flag(true),
    }
}

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let power = |mode: &'static str| {
        trial(&format!("power_{mode}_ends_and_goes_on"), move |disk| {
            power_ends_and_goes_on(mode, disk)
        })
    };
    vec![
        power("baseline"),
        power("async"),
        power("graph"),
        trial("a_sweep_keeps_its_rows", a_sweep_keeps_its_rows),
    ]
}
