//! Targets that mutants are given to.

mod calls;
#[cfg(feature = "files")]
mod frames;
#[cfg(feature = "files")]
mod launch_files;
mod modules;
#[cfg(feature = "files")]
mod rows;
#[cfg(feature = "files")]
mod texts;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::{io, panic, process};

pub(crate) use calls::ENVIRONMENT;
pub use modules::{Modules, replay};

use crate::report;

/// Something that reads what others wrote.
pub trait Target {
    /// Gives it the mutant of a seed. Gives what came of it, for the summary.
    ///
    /// # Errors
    /// The mutant cannot be given to it at all.
    fn run(&mut self, seed: u64) -> io::Result<&'static str>;
}

/// The names of all targets that this program has.
pub const NAMES: &[&str] = &[
    "modules",
    "calls",
    #[cfg(feature = "files")]
    "rows",
    #[cfg(feature = "files")]
    "launch-files",
    #[cfg(feature = "files")]
    "frames",
];

/// How mutants are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders of files beside what a target has of its own.
    pub corpus: Vec<String>,
    /// Cores of an unchecked launch.
    pub cores: usize,
    /// The process aborts at this seed.
    pub dies_at: Option<u64>,
}

/// The target of a name. There may be none, or a file of the corpus cannot be read.
fn target(name: &str, settings: &Settings) -> io::Result<Box<dyn Target>> {
    match name {
        "calls" => Ok(Box::new(calls::Calls::new())),
        "modules" => Ok(Box::new(Modules::new(&settings.corpus, settings.cores)?)),
        #[cfg(feature = "files")]
        "rows" => Ok(Box::new(rows::Rows::new(&settings.corpus)?)),
        #[cfg(feature = "files")]
        "launch-files" => Ok(Box::new(launch_files::LaunchFiles::new()?)),
        #[cfg(feature = "files")]
        "frames" => Ok(Box::new(frames::Frames)),
        _ => Err(io::Error::other(format!("{name}: no such target"))),
    }
}

/// The key of the summary for what was run.
pub const RUN: &str = "mutants run";

/// The key for panics.
pub const PANICS: &str = "panics";

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs the mutants of some seeds on a target, and reports.
///
/// # Errors
/// There is no such target, a file of the corpus cannot be read, or see [`Target::run`].
pub fn run(name: &str, settings: &Settings, seeds: &[u64]) -> io::Result<()> {
    let mut target = target(name, settings)?;
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let said = info.payload_as_str().unwrap_or_default();
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{place}: {said}");
    }));
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (done, seed) in seeds.iter().copied().enumerate() {
        if report::is_over() {
            report::left(seeds.len() - done);
            break;
        }
        report::at(seed);
        if settings.dies_at == Some(seed) {
            process::abort();
        }
        match catch_unwind(AssertUnwindSafe(|| target.run(seed))) {
            Ok(outcome) => *counts.entry(outcome?.to_owned()).or_default() += 1,
            Err(_) => panicked(seed, &mut counts),
        }
        *counts.entry(RUN.to_owned()).or_default() += 1;
        // A process that dies has told most of it.
        if done % 256 == 255 {
            tell(&mut counts);
        }
    }
    tell(&mut counts);
    Ok(())
}

fn tell(counts: &mut BTreeMap<String, u64>) {
    counts
        .iter()
        .for_each(|(key, count)| report::add(key, *count));
    counts.clear();
}

fn panicked(seed: u64, counts: &mut BTreeMap<String, u64>) {
    let said = PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
    report::say(&format!("seed {seed}: a panic at {said}"));
    let place = said.split(": ").next().unwrap_or_default();
    *counts.entry(PANICS.to_owned()).or_default() += 1;
    *counts.entry(format!("panics at {place}")).or_default() += 1;
}
