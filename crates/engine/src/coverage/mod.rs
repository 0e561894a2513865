//! Which lines and branches of kernels were executed: of a process that is asked for it, and of several together.
//!
//! A process that has the variable [`FOLDER`] keeps a file up to date in that folder, with every kernel that it has loaded and
//! all of its launches. [`Coverage::all_in`] reads and adds the files of a folder. Launches count basic blocks and where
//! lanes went at their ends; lines follow from these when the file is written. Without the variable a launch asks once
//! whether it is there.
//!
//! [`edges_into`] has the same basic blocks of single launches, as fuzzers take them.

mod edges;
mod listing;
mod recorder;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::AddAssign;
use std::path::Path;

pub use edges::edges_into;
pub(crate) use recorder::recorder;
pub use recorder::{FOLDER, LINES, keep_in, write};

use crate::count::Tally;

/// The ending of the files of PTX that names no source, whose lines are its own.
pub const PTX: &str = ".ptx";

/// The executed code of launches, by kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By the kernel's name. One that was loaded and not launched has no launches.
    pub kernels: BTreeMap<String, Kernel>,
}

/// The executed code of a kernel's launches: its own, and that of the functions that it may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// How many there were.
    pub launches: u64,
    /// Of each file of the source. One that ends with [`PTX`] is a text of PTX that names no source.
    pub files: BTreeMap<String, File>,
}

/// The executed parts of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Kernels and functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// The lines that have instructions, from 1, each with how often threads have executed it: the most that one of
    /// its instructions was.
    pub lines: BTreeMap<u32, u64>,
    /// Branches, in the order of their lines.
    pub branches: BTreeMap<BranchId, Branch>,
}

/// A kernel or a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The line that it begins at.
    pub line: u32,
    /// Threads that have begun it.
    pub threads: u64,
}

/// Which branch: an instruction that some lanes may execute and others not, or that leads to several targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchId {
    /// Its line.
    pub line: u32,
    /// The module: a digest of its PTX.
    pub module: u64,
    /// Its line in that PTX.
    pub ptx_line: u32,
}

/// Where lanes went at a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Lanes of each outcome: that took it and that did not; of `brx.idx`, that went to each of its targets.
    pub outcomes: Vec<u64>,
    /// How often lanes of one warp went different ways.
    pub divergent: u64,
}

/// Whether what a launch of this thread executes is asked for.
pub(crate) fn is_asked_for() -> bool {
    edges::are_asked_for() || recorder().is_some()
}

/// A launch of a kernel of a module by this thread has ended, in whichever way.
pub(crate) fn launched(module: u32, (kernel, name): (u32, &str), tally: &Tally) {
    if edges::are_asked_for() {
        edges::add(name, tally);
    }
    if let Some(recorder) = recorder() {
        recorder.launched(module, kernel, tally);
    }
}

impl Coverage {
    /// The sum of what processes have left in a folder.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read (the system's error), or is no record of coverage
    /// ([`ErrorKind::InvalidData`], which names it).
    pub fn all_in(folder: &Path) -> io::Result<Coverage> {
        let mut sum = Coverage::default();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some() {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let coverage: Coverage = text.parse().map_err(|error| {
                let path = path.display();
                let text = format!("the coverage of a process cannot be read: {path}: {error}");
                io::Error::new(ErrorKind::InvalidData, text)
            })?;
            sum += coverage;
        }
        Ok(sum)
    }

    /// Each file, with what all kernels have executed of it.
    pub fn files(&self) -> BTreeMap<&str, File> {
        let mut sums: BTreeMap<&str, File> = BTreeMap::new();
        let files = self.kernels.values().flat_map(|kernel| &kernel.files);
        for (name, file) in files {
            *sums.entry(name).or_default() += file.clone();
        }
        sums
    }
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Coverage) {
        for (name, kernel) in other.kernels {
            *self.kernels.entry(name).or_default() += kernel;
        }
    }
}

impl AddAssign for Kernel {
    fn add_assign(&mut self, other: Kernel) {
        self.launches += other.launches;
        for (name, file) in other.files {
            *self.files.entry(name).or_default() += file;
        }
    }
}

impl AddAssign for File {
    fn add_assign(&mut self, other: File) {
        for (name, function) in other.functions {
            let own = self.functions.entry(name).or_default();
            own.line = function.line;
            own.threads += function.threads;
        }
        for (line, times) in other.lines {
            *self.lines.entry(line).or_default() += times;
        }
        for (id, branch) in other.branches {
            *self.branches.entry(id).or_default() += &branch;
        }
    }
}

impl AddAssign<&Branch> for Branch {
    fn add_assign(&mut self, other: &Branch) {
        if self.outcomes.len() < other.outcomes.len() {
            self.outcomes.resize(other.outcomes.len(), 0);
        }
        for (own, other) in self.outcomes.iter_mut().zip(&other.outcomes) {
            *own += other;
        }
        self.divergent += other.divergent;
    }
}
