//! `compare --against`: an earlier program and this one measure in turns, so that what the machine does meanwhile meets both.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

use super::Failure;
use super::console::Console;
use super::interrupt::Interrupt;
use super::option_values::whole;
use super::workload_commands::Program;
use crate::compare::Table;

#[derive(Args)]
#[group(id = "in_turns", multiple = true)]
pub(super) struct Arguments {
    /// Measure in turns with an earlier program: its file, or a commit, of which the same target is built; the
    /// study and its options come after --, such as `-- roofline --kernel copy` [default study: roofline]
    #[arg(long, value_name = "BINARY|COMMIT")]
    against: Option<OsString>,

    /// Number of turns that each of the two measures in
    #[arg(long, value_name = "COUNT", default_value = "5", requires = "against", value_parser = whole::<u32>(1..=1000))]
    turns: u32,

    /// The study that both run
    #[arg(last = true, requires = "against", value_name = "STUDY")]
    study: Vec<OsString>,
}

impl Arguments {
    pub(super) fn is_given(&self) -> bool {
        self.against.is_some()
    }

    /// The study's runs, two a turn.
    pub(super) fn steps(&self) -> u64 {
        2 * u64::from(self.turns)
    }

    /// Measures with both, and returns the rows of each, those of all turns together.
    pub(super) fn tables(
        &self,
        program: Program,
        console: &Console,
    ) -> Result<[Table; 2], Failure> {
        let against = self.against.as_deref().unwrap_or_default();
        let interrupt = Interrupt::watch();
        let earlier = earlier(against, program, &interrupt, console)?;
        let this = env::current_exe().map_err(Failure::failed)?;
        let folder = TempDir::new().map_err(Failure::failed)?;
        let mut tables = [Table::default(), Table::default()];
        for turn in 0..self.turns {
            // Who goes first changes, too: the one after finds a warmer machine.
            let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
            for side in order {
                let (binary, name) = [(&earlier, "before"), (&this, "after")][side];
                console.begin(format!("turn {} of {}: {name}", turn + 1, self.turns));
                let output = folder.path().join(format!("{name}-{turn}.json"));
                self.measure(binary, &output, &interrupt)?;
                tables[side].append(Table::read(&output).map_err(Failure::failed)?);
                console.step();
            }
        }
        Ok(tables)
    }

    fn measure(&self, binary: &Path, output: &Path, interrupt: &Interrupt) -> Result<(), Failure> {
        let default = [OsString::from("roofline")];
        let study = if self.study.is_empty() {
            &default[..]
        } else {
            &self.study
        };
        let mut command = Command::new(binary);
        command
            .args(study)
            .arg("--output")
            .arg(output)
            .arg("--quiet");
        finished(&mut command, interrupt)
    }
}

/// Returns the program to compare with: the file of this name, or what the commit of this name builds.
fn earlier(
    against: &OsStr,
    program: Program,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<PathBuf, Failure> {
    let path = Path::new(against);
    if path.is_file() {
        return fs::canonicalize(path).map_err(Failure::failed);
    }
    let name = against.to_string_lossy();
    let commit = git(&[
        "rev-parse",
        "--verify",
        "--quiet",
        &format!("{name}^{{commit}}"),
    ])
    .map_err(|_| {
        Failure::Usage(format!(
            "--against {name}: neither a file nor a commit of this repository"
        ))
    })?;
    console.begin(format!("building {}", &commit[..commit.len().min(12)]));
    build(&commit, program, interrupt)
}

/// Builds the same target from the sources of a commit, in a folder of their own that is kept for the next time. Its builds
/// are its own, too: in a folder that they shared, the PTX and the program of one commit would take the place of another's.
fn build(commit: &str, program: Program, interrupt: &Interrupt) -> Result<PathBuf, Failure> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let here = match program {
        Program::Bench(target) => PathBuf::from(target.folder),
        Program::Ridgepoint => env::current_dir().map_err(Failure::failed)?,
    };
    let inside = here
        .strip_prefix(&top)
        .unwrap_or(Path::new(""))
        .to_path_buf();
    let folder = Path::new(&top)
        .join("target/ridgepoint-against")
        .join(commit);
    let sources = folder.join("sources");
    if !sources.is_dir() {
        unpack(commit, &top, &folder, &sources, interrupt)?;
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    match program {
        Program::Bench(target) => cargo.args([
            "bench",
            "--no-run",
            "-p",
            target.package,
            "--bench",
            target.name,
        ]),
        Program::Ridgepoint => cargo.args(["build", "--release", "--bin", "ridgepoint"]),
    };
    let messages = folder.join("messages.json");
    let file =
        fs::File::create(&messages).map_err(|error| super::cannot_write(&messages, &error))?;
    cargo
        .arg("--message-format=json-render-diagnostics")
        .arg("--target-dir")
        .arg(folder.join("target"))
        .current_dir(sources.join(inside))
        .stdout(file);
    finished(&mut cargo, interrupt)?;
    let said = fs::read_to_string(&messages).map_err(Failure::failed)?;
    let built = said.lines().filter_map(executable).next_back();
    built.ok_or_else(|| Failure::Failed(format!("commit {commit} builds no such program")))
}

/// Unpacks a commit's files beside their place first, so that what is there is whole.
fn unpack(
    commit: &str,
    top: &str,
    folder: &Path,
    sources: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let partial = folder.join("unpacking");
    fs::create_dir_all(&partial).map_err(|error| super::cannot_write(&partial, &error))?;
    let archive = folder.join("sources.tar");
    let mut command = Command::new("git");
    command
        .args(["-C", top, "archive", "--format=tar", "-o"])
        .arg(&archive)
        .arg(commit);
    finished(&mut command, interrupt)?;
    finished(
        Command::new("tar")
            .arg("-xf")
            .arg(&archive)
            .arg("-C")
            .arg(&partial),
        interrupt,
    )?;
    fs::rename(&partial, sources).map_err(|error| super::cannot_write(sources, &error))?;
    fs::remove_file(&archive).map_err(Failure::failed)
}

/// The program that a message of cargo names.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    message.get("executable")?.as_str().map(PathBuf::from)
}

fn git(words: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").args(words).output();
    let output = output.map_err(|error| Failure::Failed(format!("cannot run git: {error}")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(Failure::Failed(format!(
            "git {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// Runs a program to its end; what it prints as errors is shown.
fn finished(command: &mut Command, interrupt: &Interrupt) -> Result<(), Failure> {
    let named = format!("{command:?}");
    let failed = |error| Failure::Failed(format!("{named}: {error}"));
    let mut child: Child = Interrupt::start(command.stdin(Stdio::null())).map_err(failed)?;
    let status = interrupt.wait(&mut child).map_err(failed)?;
    interrupt.check()?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::Failed(format!("{named}: {status}"))),
    }
}
