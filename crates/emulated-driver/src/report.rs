//! Files of a process for those who started it: JSON, one per finding, and one that says what was launched.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Severity, check};
use serde::{Deserialize, Serialize};

/// The launches of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The program: its script, where it is an interpreter.
    pub program: String,
    /// Launches without checks.
    pub unchecked: u64,
    /// Checked launches, by the kernel's name.
    pub kernels: BTreeMap<String, Launches>,
    /// Different findings that are benign.
    pub benign: u64,
    /// Findings between the host and kernels.
    pub of_host: u64,
    /// Functions of the driver that were called and are not emulated.
    pub absent: BTreeSet<String>,
}

/// The checked launches of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// How many.
    pub all: u64,
    /// How many of them something was found in.
    pub failed: u64,
    /// Seeds that each was run under.
    pub seeds: u64,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The name of its kind.
    pub kind: String,
    /// `error` or `benign`.
    pub severity: String,
    /// The report, as it was printed.
    pub text: String,
    /// How often it was found: the file is written anew each time.
    pub times: u64,
    /// The program.
    pub program: String,
    /// The launch; none of a finding of the host.
    pub launch: Option<Launched>,
    /// The instruction at which it was found.
    pub now: Option<Side>,
    /// The access before, with which that is wrong.
    pub before: Option<Side>,
}

/// The kind of a thread that failed by itself, as one that panics does, of a limit, or of the emulator.
pub(crate) const FAILURE: &str = "failure";

impl Found {
    /// Whether the launch failed by itself: no check has found it.
    pub fn is_failure(&self) -> bool {
        self.kind == FAILURE
    }

    /// Whether it is benign, so that the launch went on.
    pub fn is_benign(&self) -> bool {
        self.severity == Severity::Benign.name()
    }

    /// The beginning of its line: of a benign one that it is.
    pub(crate) fn mark(&self) -> &'static str {
        match self.is_benign() {
            true => "benign: ",
            false => "",
        }
    }
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
    /// The seed of the order in which threads ran; none for the order of their numbers.
    pub seed: Option<u64>,
}

/// Who made an access, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// The thread, or the host.
    pub who: String,
    /// File and line, or the line of the PTX.
    pub source: String,
}

impl Side {
    pub(crate) fn of(side: &check::Side) -> Side {
        Side {
            who: side.who.clone(),
            source: side.source.clone(),
        }
    }
}
