//! The records that `ridgepoint check` reads of the processes that it starts: which kernels they launch, how
//! often and under which schedules, and whether memory is looked at meanwhile.
//!
//! Each process keeps one file up to date, with every launch, because it may end in any way. Whoever reads
//! the files learns what was checked:
//!
//! ```
//! use std::{env, fs, io, process};
//!
//! use ridgepoint_driver::coverage::{self, Coverage};
//! use ridgepoint_driver::mutation;
//! use ridgepoint_driver::record::{self, Launches, Record};
//!
//! // What two processes have left.
//! let folder = env::temp_dir().join(format!("records-{}", process::id()));
//! fs::create_dir(&folder)?;
//! let scale = Launches { all: 3, in_order: true, seeds: 2, first_seed: 7, ..Launches::default() };
//! let checked = Record { kernels: [("scale".to_owned(), scale)].into(), ..Record::default() };
//! let without_launches = Record { program: "notes".to_owned(), ..Record::default() };
//! fs::write(folder.join("1-0"), checked.to_string())?;
//! fs::write(folder.join("2-0"), without_launches.to_string())?;
//!
//! let records = Record::all_in(&folder)?;
//! let launches = records.iter().flat_map(|record| record.kernels.values());
//! assert_eq!((records.len(), launches.map(|it| it.all).sum::<u64>()), (2, 3));
//! # fs::remove_dir_all(&folder)?;
//!
//! // A process under `ridgepoint check` says which command repeats one of its tests.
//! record::tests(1);
//! assert_eq!(record::is_kept(), env::var_os(record::FOLDER).is_some());
//! println!("strict: {}", env::var(record::STRICT).is_ok_and(|it| it == "1"));
//! for limit in [record::MAX_STEPS, record::TIME_LIMIT].into_iter().filter_map(env::var_os) {
//!     println!("within {limit:?} steps or seconds");
//! }
//! if let Some(command) = env::var(record::REPLAY).ok().filter(|it| it.ends_with(record::EXACT)) {
//!     println!("{command} my_test");
//! }
//!
//! // Under `--coverage` processes leave in a folder of its own what they have executed, too.
//! if let Some(folder) = env::var_os(coverage::FOLDER) {
//!     println!("{} kernels were loaded", Coverage::all_in(folder.as_ref())?.kernels.len());
//! }
//!
//! // Under `ridgepoint mutate` they change the PTX of one of their modules.
//! if let Some(file) = env::var_os(mutation::FILE) {
//!     println!("changed: {}", mutation::has_been_made(file.as_ref()));
//! }
//! # Ok::<(), io::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{LazyLock, Mutex, PoisonError};

use engine::Schedule;

use super::DriverError;
use super::finding::Finding;

/// The environment variable that names the folder for the records. `ridgepoint check` sets it, and in a
/// process that has it the emulator checks launches by default.
pub const FOLDER: &str = "RIDGEPOINT_CHECK";

/// The environment variable with the command that `ridgepoint check` was started by, ready to be
/// followed by the name of a test where it ends with [`EXACT`].
pub const REPLAY: &str = "RIDGEPOINT_REPLAY";

/// The environment variable with the steps that `ridgepoint check` allows a warp of a launch.
pub const MAX_STEPS: &str = "RIDGEPOINT_MAX_STEPS";

/// The environment variable with the seconds that `ridgepoint check` allows a launch.
pub const TIME_LIMIT: &str = "RIDGEPOINT_TIME_LIMIT";

/// The environment variable that is `1` where `ridgepoint check` takes benign findings as errors.
pub const STRICT: &str = "RIDGEPOINT_STRICT";

/// Asks a test program for the one test whose name comes next.
pub const EXACT: &str = " -- --exact";

/// The launches of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The package whose program cargo has run, if cargo has.
    pub package: String,
    /// The program, a test target's or another's.
    pub program: String,
    /// Tests that ran, where they are `gpu-test`'s.
    pub tests: u64,
    /// Launches of kernels whose PTX the device does not have.
    pub refused: u64,
    /// Launches whose [`Emulation`](crate::Emulation) switches off the checks.
    pub unchecked: u64,
    /// Launches with checks, by kernel: its name, and of one that was loaded from a file that file's, as in
    /// `saxpy of nvcc.ptx`.
    pub kernels: BTreeMap<String, Launches>,
}

/// The launches of a kernel with checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launches {
    /// How many.
    pub all: u64,
    /// Those of them in which something was found.
    pub failed: u64,
    /// Whether one was in order.
    pub in_order: bool,
    /// Under how many seeds they were.
    pub seeds: u64,
    /// The first of these seeds.
    pub first_seed: u64,
    /// The names of the [kinds](crate::finding::Kind::name) of findings, each with the launches in which it was found.
    pub kinds: BTreeMap<String, u64>,
    /// Benign findings, in brief (`Finding::brief`), each with the launches that went on after it.
    pub benign: BTreeMap<String, u64>,
}

impl Record {
    /// Those that the processes have left in the folder.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read (the system's error), or a file is no record
    /// ([`ErrorKind::InvalidData`], which names it).
    pub fn all_in(folder: &Path) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let record = Record::parse(&fs::read_to_string(&path)?);
            records.push(record.ok_or_else(|| {
                io::Error::new(
                    ErrorKind::InvalidData,
                    format!(
                        "the record of a checked process cannot be read: {}",
                        path.display()
                    ),
                )
            })?);
        }
        Ok(records)
    }

    fn parse(text: &str) -> Option<Record> {
        let mut record = Record::default();
        for line in text.lines() {
            let (key, value) = line.split_once(' ')?;
            match key {
                "package" => record.package = value.to_owned(),
                "program" => record.program = value.to_owned(),
                "tests" => record.tests = value.parse().ok()?,
                "refused" => record.refused = value.parse().ok()?,
                "unchecked" => record.unchecked = value.parse().ok()?,
                "kernel" => {
                    let (kernel, launches) = Launches::parse(value)?;
                    record.kernels.insert(kernel, launches);
                }
                "benign" => {
                    let (count, rest) = value.split_once(' ')?;
                    let (brief, kernel) = rest.split_once('\t')?;
                    let launches = record.kernels.get_mut(kernel)?;
                    launches
                        .benign
                        .insert(brief.to_owned(), count.parse().ok()?);
                }
                "found" => {
                    let (count, rest) = value.split_once(' ')?;
                    let (kind, kernel) = rest.split_once(": ")?;
                    let launches = record.kernels.get_mut(kernel)?;
                    launches.kinds.insert(kind.to_owned(), count.parse().ok()?);
                }
                _ => return None,
            }
        }
        Some(record)
    }
}

/// A line for each fact. It only ever gets longer, so that it can be written over what was before.
impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "package {}", self.package)?;
        writeln!(formatter, "program {}", self.program)?;
        writeln!(formatter, "tests {}", self.tests)?;
        writeln!(formatter, "refused {}", self.refused)?;
        writeln!(formatter, "unchecked {}", self.unchecked)?;
        for (kernel, launches) in &self.kernels {
            writeln!(formatter, "kernel {launches} {kernel}")?;
            for (kind, count) in &launches.kinds {
                writeln!(formatter, "found {count} {kind}: {kernel}")?;
            }
            for (brief, count) in &launches.benign {
                writeln!(formatter, "benign {count} {brief}\t{kernel}")?;
            }
        }
        Ok(())
    }
}

impl Launches {
    fn parse(text: &str) -> Option<(String, Launches)> {
        let mut words = text.splitn(6, ' ');
        let mut number = || words.next()?.parse().ok();
        let launches = Launches {
            all: number()?,
            failed: number()?,
            in_order: number()? != 0,
            seeds: number()?,
            first_seed: number()?,
            ..Launches::default()
        };
        Some((words.next()?.to_owned(), launches))
    }
}

impl fmt::Display for Launches {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_order = u8::from(self.in_order);
        let (all, failed, seeds) = (self.all, self.failed, self.seeds);
        write!(
            formatter,
            "{all} {failed} {in_order} {seeds} {}",
            self.first_seed
        )
    }
}

/// So many tests have run in this process.
pub fn tests(count: u64) {
    update(|own| own.record.tests += count);
}

/// Whether `ridgepoint check` has started this process.
pub fn is_kept() -> bool {
    OWN.is_some()
}

/// A limit of the launches of a process that `ridgepoint check` has started.
pub(super) fn limit(variable: &str) -> Option<u64> {
    is_kept().then(|| env::var(variable).ok()?.parse().ok())?
}

/// How a launch is run.
#[derive(Clone, Copy)]
pub(super) enum Run<'a> {
    /// Without checks.
    Unchecked,
    /// Not at all: checks take the kernel's PTX, which the device does not have.
    WithoutPtx,
    /// With checks, in this order.
    Checked(&'a Schedule),
}

/// Records that a launch begins.
pub(super) fn begin(kernel: &dyn fmt::Display, run: Run<'_>) {
    update(|own| own.begin(kernel.to_string(), run));
}

/// A launch of this kernel has failed.
pub(super) fn failed(kernel: &dyn fmt::Display, error: &DriverError) {
    update(|own| {
        if let Some(launches) = own.record.kernels.get_mut(&kernel.to_string()) {
            launches.failed += 1;
            if let Some(finding) = error.finding() {
                *launches
                    .kinds
                    .entry(finding.kind.name().to_owned())
                    .or_default() += 1;
            }
        }
    });
}

/// A launch of this kernel has gone on after benign findings.
pub(super) fn benign(kernel: &dyn fmt::Display, findings: &[Finding]) {
    update(|own| {
        if let Some(launches) = own.record.kernels.get_mut(&kernel.to_string()) {
            for finding in findings {
                *launches.benign.entry(finding.brief()).or_default() += 1;
            }
        }
    });
}

static OWN: LazyLock<Option<Mutex<Own>>> =
    LazyLock::new(|| env::var_os(FOLDER).map(|folder| Mutex::new(Own::new(folder.into()))));

/// This process's record.
struct Own {
    record: Record,
    seeds: HashMap<String, BTreeSet<u64>>,
    file: Option<File>,
}

/// Changes the record and writes it, in a process that has one.
fn update<R>(change: impl FnOnce(&mut Own) -> R) -> Option<R> {
    let mut own = OWN.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
    let result = change(&mut own);
    let text = own.record.to_string();
    if let Some(file) = &mut own.file {
        // A launch that cannot be recorded is missing in the summary alone: its findings fail its test.
        let _ = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
    }
    Some(result)
}

impl Own {
    fn new(folder: PathBuf) -> Own {
        let program = env::current_exe().unwrap_or_default();
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let record = Record {
            package: env::var("CARGO_PKG_NAME").unwrap_or_default(),
            program: without_hash(&stem).to_owned(),
            ..Record::default()
        };
        Own {
            record,
            seeds: HashMap::new(),
            file: new_file(&folder),
        }
    }

    fn begin(&mut self, kernel: String, run: Run<'_>) {
        let schedule = match run {
            Run::Unchecked => {
                self.record.unchecked += 1;
                return;
            }
            Run::WithoutPtx => {
                self.record.refused += 1;
                return;
            }
            Run::Checked(schedule) => schedule,
        };
        let launches = self.record.kernels.entry(kernel.clone()).or_default();
        launches.all += 1;
        match schedule {
            Schedule::InOrder => launches.in_order = true,
            &Schedule::Seeded(seed) => {
                if launches.seeds == 0 {
                    launches.first_seed = seed;
                }
                let seeds = self.seeds.entry(kernel).or_default();
                seeds.insert(seed);
                launches.seeds = seeds.len() as u64;
            }
            // Of a search, whose result says how many there were.
            Schedule::Chosen(_) => {}
        }
    }
}

/// A file that no other process has: numbers of processes come again.
fn new_file(folder: &Path) -> Option<File> {
    let id = process::id();
    let mut names = (0..).map(|again: u64| folder.join(format!("{id}-{again}")));
    names.find_map(
        |path| match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => Some(Some(file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            Err(_) => Some(None),
        },
    )?
}

/// The target's name: cargo adds 16 digits to those of tests.
fn without_hash(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_only_gets_longer() {
        let mut record = Record {
            package: "demo".to_owned(),
            program: without_hash("scale-0123456789abcdef").to_owned(),
            ..Record::default()
        };
        assert_eq!(record.program, "scale");
        assert_eq!(without_hash("my-program"), "my-program");
        let mut length = 0;
        for launch in 0..12 {
            record.tests += 1;
            let launches = record.kernels.entry("a closure".to_owned()).or_default();
            launches.all += 1;
            launches.in_order |= launch > 2;
            launches.seeds = launch;
            *launches
                .kinds
                .entry("no end of a phase".to_owned())
                .or_default() += 1;
            let brief = "stores of equal values at a.rs:1 and a.rs:2 (called at b: c.rs:3)";
            *launches.benign.entry(brief.to_owned()).or_default() += 1;
            let text = record.to_string();
            assert!(text.len() >= length, "{text}");
            length = text.len();
            assert_eq!(Record::parse(&text), Some(record.clone()));
        }
        assert_eq!(Record::parse("kernel 1 2\n"), None);
        assert_eq!(Record::parse("something else\n"), None);
    }
}
