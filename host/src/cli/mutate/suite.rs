//! The tests whose notice is asked for.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use crate::cli::check::project;
use crate::cli::emulate::Folder;
use crate::cli::{Failure, streams};

/// Tests that are run one by one.
pub(super) struct Suite {
    pub(super) tests: Vec<Test>,
    /// Where programs find the emulated driver; none for the tests of a project, which have the emulator in them.
    pub(super) driver: Option<Folder>,
    /// Whether benign findings fail a test.
    pub(super) is_strict: bool,
}

/// A test: a process that fails where it fails.
pub(super) struct Test {
    pub(super) name: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The folder that it is started in; none: this one.
    folder: Option<PathBuf>,
}

impl Suite {
    /// The tests that a command line asks for.
    pub(super) fn of(words: &[String]) -> Result<Suite, Failure> {
        match words {
            [] => Suite::of_project(&[]),
            [first, ..] if first.starts_with('-') => Suite::of_project(words),
            [first, second, rest @ ..] if first == "cargo" && second == "test" => {
                Suite::of_project(rest)
            }
            [program, arguments @ ..] => Suite::of_program(program, arguments),
        }
    }

    fn of_program(program: &str, arguments: &[String]) -> Result<Suite, Failure> {
        let words = [program.to_owned()].into_iter().chain(arguments.to_vec());
        let words: Vec<String> = words.collect();
        Ok(Suite {
            tests: vec![Test {
                name: project::joined(&words),
                program: program.into(),
                arguments: arguments.iter().map(OsString::from).collect(),
                folder: None,
            }],
            driver: Some(Folder::new().map_err(Failure::failed)?),
            is_strict: false,
        })
    }

    /// The tests of the project in this folder, one by one.
    fn of_project(arguments: &[String]) -> Result<Suite, Failure> {
        project::expect_project(arguments)?;
        let own = project::own(arguments);
        let of_tests: Vec<OsString> = arguments
            .iter()
            .skip(own.len() + 1)
            .map(OsString::from)
            .collect();
        let mut tests = Vec::new();
        for program in programs(own)? {
            let Some(names) = program.tests(&of_tests) else {
                let path = program.path.display();
                streams::complain(&format!("left out, for it does not list its tests: {path}"));
                continue;
            };
            tests.extend(names.into_iter().map(|name| Test {
                program: program.path.clone(),
                arguments: vec![OsString::from(&name), "--exact".into()],
                folder: Some(program.folder.clone()),
                name: format!("{}: {name}", program.name),
            }));
        }
        match tests.is_empty() {
            true => Err(Failure::Failed("this project has no tests".to_owned())),
            false => Ok(Suite {
                tests,
                driver: None,
                is_strict: false,
            }),
        }
    }

    /// Tells these tests from others: by the programs and files that are named.
    pub(super) fn digest(&self, seeds: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (seeds, self.is_strict).hash(&mut hasher);
        let mut last = None;
        for test in &self.tests {
            test.name.hash(&mut hasher);
            let files = test.arguments.iter().map(Path::new).chain([&*test.program]);
            for file in files.filter(|&it| last != Some(it)) {
                hash_file(file, &mut hasher);
            }
            last = Some(&test.program);
        }
        hasher.finish()
    }
}

impl Test {
    /// The command that runs it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        if let Some(folder) = &self.folder {
            command
                .current_dir(folder)
                .env("CARGO_MANIFEST_DIR", folder);
        }
        command
    }
}

/// Adds a file's bytes. One that cannot be read counts as nothing: a program that is found in `PATH`.
fn hash_file(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(mut file) = File::open(path) else {
        return;
    };
    let mut part = vec![0; 1 << 16];
    while let Ok(read @ 1..) = file.read(&mut part) {
        part[..read].hash(hasher);
    }
}

/// A test program of the project.
struct TestProgram {
    name: String,
    path: PathBuf,
    folder: PathBuf,
}

/// Has cargo build the test programs.
fn programs(own: &[String]) -> Result<Vec<TestProgram>, Failure> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(project::words_of_cargo(None, own))
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let cannot = |error| Failure::Failed(format!("cannot run cargo: {error}"));
    let mut started = cargo.spawn().map_err(cannot)?;
    let output = started.stdout.take().expect("it is piped");
    let mut programs = Vec::new();
    for message in Message::parse_stream(BufReader::new(output)) {
        let Message::CompilerArtifact(artifact) = message.map_err(Failure::failed)? else {
            continue;
        };
        let folder = artifact.manifest_path.parent().map(PathBuf::from);
        if let (true, Some(path), Some(folder)) =
            (artifact.profile.test, artifact.executable, folder)
        {
            programs.push(TestProgram {
                name: artifact.target.name,
                path: path.into(),
                folder,
            });
        }
    }
    match started.wait().map_err(cannot)?.success() {
        true => Ok(programs),
        false => Err(Failure::Failed("cargo has not built the tests".to_owned())),
    }
}

impl TestProgram {
    /// The names of its tests, without those that are ignored. None where it lists none.
    fn tests(&self, arguments: &[OsString]) -> Option<Vec<String>> {
        let all = self.list(arguments, &[])?;
        let ignored = self.list(arguments, &["--ignored"])?;
        let runs = |name: &String| !ignored.contains(name);
        Some(all.into_iter().filter(runs).collect())
    }

    fn list(&self, arguments: &[OsString], more: &[&str]) -> Option<Vec<String>> {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .args(arguments)
            .args(more)
            .args(["--list", "--format", "terse"])
            .stdin(Stdio::null());
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| names(&text))
    }
}

/// The names in a list such as `scale::sums: test`, where `[kind] ` may stand before a name.
fn names(list: &str) -> Vec<String> {
    let named = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let without_kind = |name: &str| match name.strip_prefix('[') {
        Some(rest) => rest.split_once("] ").map_or(name, |it| it.1).to_owned(),
        None => name.to_owned(),
    };
    named.map(without_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_listed_by_their_names_alone() {
        let list =
            "cases::sums: test\n[skipped: slow, .ci/full runs it] slow::a: test\nb: bench\n\n";
        assert_eq!(names(list), ["cases::sums", "slow::a"]);
    }
}
