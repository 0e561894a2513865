//! Files that a killed run leaves, and what others put in their place.

use std::fs::{self};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::signals::{json_rows, started};
use super::streams::{SWEEP, lines, measured, names, run, stderr};

#[test]
fn a_killed_run_loses_no_row_and_no_earlier_file() {
    let measured = measured();
    let folder = measured.path();
    for command in ["roofline", "occupancy"] {
        for name in ["rows.csv", "rows.json", "chart.svg", "report.html"] {
            fs::write(folder.join(name), "earlier").expect("written");
        }
        let words =
            format!("{command} --output rows.csv,rows.json --plot chart.svg --report report.html");
        let mut child = started(folder, &words);
        let second = run(folder, &format!("{SWEEP} --output rows.csv"));
        assert_eq!(second.status.code(), Some(3), "{}", stderr(&second));
        assert!(stderr(&second).contains("cannot write rows.csv: another process is writing it"));

        child.kill().expect("it runs");
        assert_eq!(child.wait().expect("it ends").signal(), Some(9));
        for name in ["rows.csv", "rows.json", "chart.svg", "report.html"] {
            let text = fs::read_to_string(folder.join(name)).expect("there");
            assert_eq!(text, "earlier", "{command}: {name}");
        }
        let said = fs::read_to_string(folder.join("said")).expect("text");
        let head = if command == "roofline" {
            "k = "
        } else {
            "copy"
        };
        let announced = said.lines().filter(|line| line.starts_with(head)).count();
        let kept = lines(&folder.join("rows.csv.partial")) - 1;
        let parsed = json_rows(&folder.join("rows.json.partial"));
        assert!(announced >= 2 && kept >= announced, "{kept} of {announced}");
        assert!(
            kept - parsed <= 1 && parsed >= announced,
            "{parsed} of {announced}"
        );

        let next = run(
            folder,
            &format!("{SWEEP} --output rows.csv --plot chart.svg"),
        );
        assert!(next.status.success(), "{}", stderr(&next));
        let aside = folder.join("rows.csv.partial.1");
        assert!(
            stderr(&next).contains("rows.csv.partial.1"),
            "{}",
            stderr(&next)
        );
        assert_eq!(
            (lines(&aside), lines(&folder.join("rows.csv"))),
            (kept + 1, 3)
        );
        assert!(!names(folder).contains(&"chart.svg.partial".to_owned()));
        fs::remove_file(aside).expect("there");
        fs::remove_file(folder.join("rows.json.partial")).expect("there");
    }
}

#[test]
fn the_rows_of_a_killed_run_outlive_every_command() {
    let measured = measured();
    let folder = measured.path();
    let rows = fs::read(folder.join("rows.csv")).expect("there");
    let killed = |name: &str| fs::write(folder.join(name), &rows).expect("written");
    killed("o.csv.partial");
    let merged = run(folder, "merge o.csv.partial --output o.csv");
    assert!(merged.status.success(), "{}", stderr(&merged));
    assert_eq!(fs::read(folder.join("o.csv")).expect("there"), rows);
    assert_eq!(
        fs::read(folder.join("o.csv.partial.1")).expect("there"),
        rows
    );

    killed("c.csv.partial");
    let words = "ceilings --device cpu --n 1024 --runs 1 --output c.csv";
    let next = run(folder, words);
    assert!(next.status.success(), "{}", stderr(&next));
    let said = "c.csv.partial is what a run that was killed has left: it is c.csv.partial.1 now";
    assert!(stderr(&next).contains(said), "{}", stderr(&next));
    assert_eq!(
        fs::read(folder.join("c.csv.partial.1")).expect("there"),
        rows
    );
    assert!(!folder.join("c.csv.partial").exists());
}

#[test]
fn a_file_that_is_replaced_keeps_its_place_and_its_permissions() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real.csv"), "earlier").expect("written");
    fs::set_permissions(at("real.csv"), PermissionsExt::from_mode(0o640)).expect("its own");
    symlink("real.csv", at("link.csv")).expect("linked");
    fs::create_dir(at("far")).expect("a folder");
    symlink("far/new.csv", at("dangling.csv")).expect("linked");

    // Refused or failed before the first row: as it was.
    let failed = run(
        folder.path(),
        &format!("{SWEEP} --output link.csv --baseline nothing"),
    );
    assert_eq!(failed.status.code(), Some(3), "{}", stderr(&failed));
    assert_eq!(
        fs::read_to_string(at("real.csv")).expect("there"),
        "earlier"
    );

    let output = run(
        folder.path(),
        &format!("{SWEEP} --output link.csv,dangling.csv"),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(at("link.csv").is_symlink() && at("dangling.csv").is_symlink());
    assert_eq!((lines(&at("real.csv")), lines(&at("far/new.csv"))), (3, 3));
    let mode = |name| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode("real.csv"), 0o640);
    fs::write(at("plain"), "").expect("written");
    assert_eq!(
        mode("far/new.csv"),
        mode("plain"),
        "as any file of this user"
    );
    let all = ["dangling.csv", "far", "link.csv", "plain", "real.csv"];
    assert_eq!(names(folder.path()), all);
}

#[test]
fn what_others_put_in_the_place_of_an_unfinished_file_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rows, partial) = (
        folder.path().join("rows.csv"),
        folder.path().join("rows.csv.partial"),
    );
    let elsewhere = folder.path().join("elsewhere");
    symlink(&elsewhere, &partial).expect("a link to nothing");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("rows.csv.partial was a link"), "{said}");
    assert!(!rows.is_symlink() && rows.is_file() && !elsewhere.exists());
    assert!(!partial.is_symlink() && !partial.exists());
    // An empty file of somebody else's is not the one that becomes the output.
    fs::write(&partial, "").expect("a file");
    let before = fs::File::open(&partial).expect("it is there");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(before.metadata().expect("open").len(), 0);
    let made = Command::new("mkfifo").arg(&partial).status();
    assert!(made.expect("mkfifo").success());
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("rows.csv.partial: "),
        "{}",
        stderr(&output)
    );
}
