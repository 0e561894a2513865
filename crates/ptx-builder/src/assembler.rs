//! Asks `ptxas` whether it takes a PTX file, and reads why not.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The verdict of `ptxas` on a PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has assembled it, and said this of it (with `-v`: what each kernel needs).
    Accepted(String),
    /// It does not know the architecture or the version of PTX, or could not finish: nothing follows for the PTX. Its
    /// words, in one line.
    Undecided(String),
    /// It refuses the PTX, as every driver would: for each of these reasons, of which there is at least one.
    Refused(Vec<Complaint>),
}

/// One thing that `ptxas` refuses a PTX file for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complaint {
    /// The line of the file, from 1, where it names one.
    pub line: Option<u32>,
    /// The kernel, where it names one instead.
    pub kernel: Option<String>,
    /// Its words.
    pub message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// How long `ptxas` may take with a file of somebody else: some make it write gigabytes.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Assembles the file for the target (`sm_90a`) with these further arguments, and keeps nothing. What takes longer than the
/// limit is undecided.
///
/// # Errors
/// `ptxas` cannot be run.
pub fn assemble(
    ptxas: &Path,
    target: &str,
    arguments: &[&OsStr],
    ptx: &Path,
    limit: Duration,
) -> io::Result<Verdict> {
    let child = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .args(arguments)
        .args(["-o", "/dev/null"])
        .arg(ptx)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (status, said) = output(child, limit)?;
    Ok(match status.map(|it| it.code()) {
        Some(Some(0)) => Verdict::Accepted(said),
        Some(Some(_)) => verdict(&said),
        // A signal ended it.
        Some(None) => Verdict::Undecided(one_line(&said)),
        None => Verdict::Undecided(format!("ptxas has not ended after {} s", limit.as_secs())),
    })
}

/// Waits for a process, but no longer than so long: how it ended, if it did by itself, and what it said.
fn output(mut child: Child, limit: Duration) -> io::Result<(Option<ExitStatus>, String)> {
    let (out, errors) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let readers = [
            scope.spawn(move || read(out)),
            scope.spawn(move || read(errors)),
        ];
        let status = wait(&mut child, limit);
        if !matches!(status, Ok(Some(_))) {
            // It may have ended just now.
            let _ = child.kill();
            child.wait()?;
        }
        let said = readers.map(|it| it.join().unwrap_or_default()).concat();
        Ok((status?, String::from_utf8_lossy(&said).into_owned()))
    })
}

/// How a process ends, unless it takes longer.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// All that a pipe gives until it ends.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read until an error is what there is.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// Complaints of the architecture or the version, and not of the PTX.
const UNKNOWN: [&str; 4] = [
    "is not defined for option 'gpu-name'",
    "Unsupported .version",
    "Unsupported .target",
    "cannot be compiled to architecture",
];

fn verdict(said: &str) -> Verdict {
    let complaints: Vec<Complaint> = said.lines().filter_map(complaint).collect();
    let undecided = complaints.is_empty()
        || complaints
            .iter()
            .any(|it| UNKNOWN.iter().any(|words| it.message.contains(words)));
    match undecided {
        true => Verdict::Undecided(one_line(said)),
        false => Verdict::Refused(complaints),
    }
}

fn one_line(said: &str) -> String {
    said.trim().replace('\n', "; ")
}

/// Reads one of these:
///
/// ```text
/// ptxas kernels.ptx, line 6; error   : Unexpected instruction types specified for 'add'
/// ptxas kernels.ptx, line 4; fatal   : Parsing error near 'x': syntax error
/// ptxas error   : Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)
/// ```
fn complaint(line: &str) -> Option<Complaint> {
    let (before, message) = ["error   : ", "fatal   : "]
        .iter()
        .find_map(|kind| line.split_once(kind))?;
    if message.contains("aborted due to errors") {
        return None;
    }
    let place = before.trim_end().strip_suffix(';');
    let number = place.and_then(|place| place.rsplit_once(", line ")?.1.parse().ok());
    let named = message
        .split_once("Entry function '")
        .or(message.split_once("entry function '"));
    Some(Complaint {
        line: number,
        kernel: named.and_then(|(_, rest)| Some(rest.split_once('\'')?.0.to_owned())),
        message: message.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_takes_too_long_is_ended_and_undecided() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ptxas");
        fs::write(&path, "#!/bin/sh\necho begun\nexec sleep 100\n").expect("writable");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its owner's");
        let began = Instant::now();
        let limit = Duration::from_secs(1);
        let verdict = assemble(&path, "sm_90", &[], &path, limit).expect("it runs");
        let expected = "ptxas has not ended after 1 s".to_owned();
        assert_eq!(verdict, Verdict::Undecided(expected));
        assert!(began.elapsed() < Duration::from_secs(50));
    }

    fn of(line: Option<u32>, kernel: Option<&str>, message: &str) -> Complaint {
        Complaint {
            line,
            kernel: kernel.map(str::to_owned),
            message: message.to_owned(),
        }
    }

    /// Messages of `ptxas` 13.0.88.
    #[test]
    fn a_refusal_has_its_lines_and_kernels() {
        let said = "ptxas /tmp/a, line 2.ptx, line 48; error   : State space incorrect for instruction 'atom'\n\
             ptxas /tmp/a.ptx, line 9; fatal   : Parsing error near 'x': syntax error\n\
             ptxas error   : Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)\n\
             ptxas fatal   : Ptx assembly aborted due to errors\n";
        let found = [
            of(
                Some(48),
                None,
                "State space incorrect for instruction 'atom'",
            ),
            of(Some(9), None, "Parsing error near 'x': syntax error"),
            of(
                None,
                Some("k"),
                "Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)",
            ),
        ];
        assert_eq!(verdict(said), Verdict::Refused(found.to_vec()));
        assert_eq!(
            found[0].to_string(),
            "line 48: State space incorrect for instruction 'atom'"
        );
    }

    #[test]
    fn what_it_does_not_know_says_nothing_of_the_ptx() {
        for said in [
            "ptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'",
            "ptxas /tmp/k.ptx, line 5; fatal   : Unsupported .version 9.4; current version is '9.0'\n\
             ptxas fatal   : Ptx assembly aborted due to errors",
            "",
        ] {
            assert_eq!(verdict(said), Verdict::Undecided(said.replace('\n', "; ")));
        }
    }
}
