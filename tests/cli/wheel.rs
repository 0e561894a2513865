//! `scripts/wheel.py`: what a wheel has inside, and that it is the same bytes each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Stands in for an optimised command: the beginning of an ELF file of x86-64, and the names of versions as its tables have
/// them, those of the library inside last.
const PROGRAM: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\
    \0GLIBC_2.2.5\0GLIBC_2.17\0memcpy\0GLIBC_2.31\0 GLIBC_2.99 is no version\0";

/// Reads a wheel as `pip` does: each file is as its RECORD says, none is missing there, and only the command is executable.
const READER: &str = r#"
import base64, csv, hashlib, importlib.metadata, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
[record] = [it for it in names if it.endswith(".dist-info/RECORD")]
rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
assert sorted(rows) == sorted(names) == names, (rows, names)
for name in names:
    data = archive.read(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert rows[name] == (["", ""] if name == record else [f"sha256={digest}", str(len(data))]), name
    assert archive.getinfo(name).date_time == (2020, 9, 13, 12, 26, 40), name
print(*(it for it in names if archive.getinfo(it).external_attr >> 16 & 0o111))
sys.path.insert(0, sys.argv[1])
installed = importlib.metadata.distribution("ridgepoint")
print(*(f"{it.group} {it.value}" for it in installed.entry_points))
print(archive.read(record.replace("RECORD", "WHEEL")).decode().splitlines()[-1])
"#;

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Packs a program into a wheel in this folder.
fn packed(program: &[u8], folder: &Path) -> Output {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("program"), program).expect("writable");
    Command::new("python3")
        .arg(tree().join("scripts/wheel.py"))
        .args([folder.join("program"), folder.join("wheels")])
        .env("SOURCE_DATE_EPOCH", "1600000000")
        .output()
        .expect("python3 is installed (setup.sh)")
}

fn wheel(folder: &Path) -> PathBuf {
    let name = format!(
        "ridgepoint-{}-py3-none-manylinux_2_31_x86_64.whl",
        env!("CARGO_PKG_VERSION")
    );
    folder.join("wheels").join(name)
}

#[test]
fn a_wheel_has_the_command_and_the_plugin_and_is_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, second] = ["first", "second"].map(|it| folder.path().join(it));
    for folder in [&first, &second] {
        let output = packed(PROGRAM, folder);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let (digest, path) = printed.trim().split_once("  ").expect("as of sha256sum");
        assert_eq!((digest.len(), Path::new(path)), (64, &*wheel(folder)));
    }
    let [first, second] = [first, second].map(|it| wheel(&it));
    assert_eq!(
        fs::read(&first).expect("a wheel"),
        fs::read(&second).expect("a wheel")
    );
    let read = Command::new("python3")
        .args(["-c", READER])
        .arg(&first)
        .output()
        .expect("python3");
    let errors = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success(), "{errors}");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        String::from_utf8_lossy(&read.stdout),
        format!(
            "ridgepoint-{version}.data/scripts/ridgepoint\npytest11 ridgepoint.pytest_plugin\n\
             Tag: py3-none-manylinux_2_31_x86_64\n"
        )
    );
}

#[test]
fn what_is_no_program_of_linux_is_not_packed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (program, message) in [
        (&b"#!/bin/sh\n"[..], "is not an ELF file of x86_64"),
        (&PROGRAM[..20], "names no version of glibc"),
    ] {
        let output = packed(program, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(message),
            "{errors}"
        );
        assert!(!folder.path().join("wheels").exists());
    }
}
