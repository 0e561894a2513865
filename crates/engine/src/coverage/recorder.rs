//! The coverage of this process, and its file.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ptx::FunctionKind;

use super::Coverage;
use super::listing::{Listing, Subject};
use crate::count::{Scope, Tally};
use crate::digest;
use crate::reach::reached;

/// The environment variable that names the folder for the files of processes.
pub const FOLDER: &str = "RIDGEPOINT_COVERAGE";

/// The environment variable that, where it is `ptx`, makes all lines those of the PTX, whose text is left beside the file.
pub const LINES: &str = "RIDGEPOINT_COVERAGE_LINES";

/// How long a file may be behind its process, which may end in any way.
const PERIOD: Duration = Duration::from_secs(1);

/// The most that writing may take of the process's time, as a fraction: one of so many parts.
const SHARE: u32 = 50;

static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();

/// The process's recorder, if it is asked for one.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    let of_environment = || Recorder::new(Path::new(&env::var_os(FOLDER)?));
    RECORDER.get_or_init(of_environment).as_ref()
}

/// Keeps the coverage of this process in a folder, as the variable [`FOLDER`] makes another do: for a program that launches
/// by itself. It has to come before the first module is loaded.
///
/// # Errors
/// The process has begun without, or has a folder already.
pub fn keep_in(folder: &Path) -> io::Result<()> {
    let begun = || io::Error::new(ErrorKind::AlreadyExists, "coverage has begun before");
    let recorder = Recorder::new(folder);
    RECORDER.set(recorder).map_err(|_| begun())
}

/// Writes the process's file, which is written as it ends otherwise, and now and then.
///
/// # Errors
/// The system's.
pub fn write() -> io::Result<()> {
    match recorder() {
        Some(recorder) => recorder.write(&mut recorder.lock()),
        None => Ok(()),
    }
}

/// The coverage of the process.
#[derive(Debug)]
pub(crate) struct Recorder {
    process: u32,
    file: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// Whether all lines are those of the PTX.
    is_by_ptx: bool,
    modules: Vec<Module>,
    /// The place of each module of the process, by its number: several may have one text.
    places: HashMap<u32, usize>,
    /// When the file was written, and how long that took.
    written: Instant,
    took: Duration,
}

/// Modules of one text.
#[derive(Debug)]
struct Module {
    ptx: Arc<ptx::Module>,
    digest: u64,
    /// The launches of each kernel, and what they have executed.
    kernels: BTreeMap<u32, (u64, Tally)>,
    listings: BTreeMap<u32, Listing>,
}

impl Recorder {
    /// None where the folder takes no file: what is missing in the end is said by who reads the folder.
    fn new(folder: &Path) -> Option<Recorder> {
        let file = new_file(folder)?;
        // SAFETY: the handler is a function of this library, which is not unloaded before the process ends.
        unsafe { libc::atexit(finish) };
        Some(Recorder {
            process: process::id(),
            file,
            kept: Mutex::new(Kept {
                is_by_ptx: env::var_os(LINES).is_some_and(|lines| lines == "ptx"),
                modules: Vec::new(),
                places: HashMap::new(),
                written: Instant::now(),
                took: Duration::ZERO,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A module was loaded. Its kernels are not covered until they are launched.
    pub(crate) fn loaded(&self, number: u32, ptx: &Arc<ptx::Module>, text: &str) {
        let mut kept = self.lock();
        let place = kept.place_of(ptx, text, self.file.parent());
        kept.places.insert(number, place);
    }

    /// A launch of a kernel of a module has ended.
    pub(super) fn launched(&self, module: u32, kernel: u32, tally: &Tally) {
        let mut kept = self.lock();
        let place = kept.places[&module];
        let blocks = || (0, Tally::of(Scope::Blocks));
        let kernels = &mut kept.modules[place].kernels;
        let (launches, sum) = kernels.entry(kernel).or_insert_with(blocks);
        *launches += 1;
        sum.add_blocks(tally);
        if kept.written.elapsed() > PERIOD.max(kept.took * SHARE) {
            // What cannot be written is missing in the end, and who reads the folder says so.
            let _ = self.write(&mut kept);
        }
    }

    /// Writes the file beside its place first: the process may be killed meanwhile. A process that was forked off has no
    /// devices, and leaves the file to the one that has.
    fn write(&self, kept: &mut Kept) -> io::Result<()> {
        if self.process != process::id() {
            return Ok(());
        }
        let begun = Instant::now();
        let partial = self.file.with_extension("partial");
        let written = fs::write(&partial, kept.coverage().to_string())
            .and_then(|()| fs::rename(&partial, &self.file));
        kept.written = Instant::now();
        kept.took = kept.written - begun;
        written
    }
}

impl Kept {
    /// The place of a module. One that names no source leaves its text in the folder.
    fn place_of(&mut self, ptx: &Arc<ptx::Module>, text: &str, folder: Option<&Path>) -> usize {
        let mut modules = self.modules.iter();
        if let Some(known) = modules.position(|it| Arc::ptr_eq(&it.ptx, ptx)) {
            return known;
        }
        let digest = digest::of(text.bytes());
        let mut modules = self.modules.iter();
        if let Some(known) = modules.position(|it| it.digest == digest) {
            return known;
        }
        let subject = Subject {
            ptx,
            digest,
            is_by_ptx: self.is_by_ptx,
        };
        let mut bodies = ptx.functions.iter().filter_map(|it| it.body.as_ref());
        if let (Some(folder), true) = (folder, bodies.any(|it| subject.is_by_ptx(it))) {
            // Lines are shown without their text where it is missing.
            let _ = fs::write(folder.join(subject.file()), text);
        }
        self.modules.push(Module {
            ptx: Arc::clone(ptx),
            digest,
            kernels: BTreeMap::new(),
            listings: BTreeMap::new(),
        });
        self.modules.len() - 1
    }

    fn coverage(&mut self) -> Coverage {
        let mut coverage = Coverage::default();
        for module in &mut self.modules {
            module.add_to(&mut coverage, self.is_by_ptx);
        }
        coverage
    }
}

impl Module {
    fn add_to(&mut self, coverage: &mut Coverage, is_by_ptx: bool) {
        let subject = Subject {
            ptx: &self.ptx,
            digest: self.digest,
            is_by_ptx,
        };
        for (number, kernel) in (0..).zip(&self.ptx.functions) {
            if kernel.kind != FunctionKind::Entry || kernel.body.is_none() {
                continue;
            }
            let name = &kernel.name;
            let ran = self.kernels.get(&number);
            let own = coverage.kernels.entry(name.clone()).or_default();
            own.launches += ran.map_or(0, |(launches, _)| *launches);
            for function in reached(&self.ptx, number) {
                let listings = self.listings.entry(function);
                let listing = listings.or_insert_with(|| subject.list(function));
                let blocks = ran.and_then(|(_, tally)| tally.blocks_of(function));
                listing.add_to(coverage, name, blocks);
            }
        }
    }
}

/// A file that no other process has: numbers of processes come again.
fn new_file(folder: &Path) -> Option<PathBuf> {
    let mut names = (0..).map(|again: u64| folder.join(format!("{}-{again}", process::id())));
    names.find_map(
        |path| match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => Some(Some(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            Err(_) => Some(None),
        },
    )?
}

extern "C" fn finish() {
    // Nothing can be done about it as the process ends.
    let _ = catch_unwind(write);
}
