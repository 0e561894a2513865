//! Kernels with known bugs, how each is launched, and what the emulator says of it.

mod pairs;
mod table;
mod teams;
mod values;

use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use ridgepoint_driver::{Device, DriverError, Embedded, LaunchConfig, Stream};

pub use pairs::{Access, Does, PAIR_BUGS, Pair, PairBug, Ran, Report, Why};
pub use table::{BUGS, CORRECT};
pub use teams::{TEAM_BUGS, Team, TeamBug, team_sum};
pub use values::{VALUE_BUGS, ValueBug};

/// The GPU that a kernel needs, and with it the PTX that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Needs {
    /// Any.
    Any,
    /// An H100 or H200.
    Hopper,
}

impl Needs {
    /// The PTX that the kernels were built to.
    #[inline(never)] // Else each place that calls it has a copy.
    pub fn ptx(self) -> &'static [Embedded<'static>] {
        match self {
            Needs::Any => &include!(concat!(env!("OUT_DIR"), "/kernels.rs")),
            Needs::Hopper => &include!(concat!(env!("OUT_DIR"), "/hopper.rs")),
        }
    }
}

/// The signature of each kernel: `x`, `y` and `n`.
pub struct Planted;

impl Signature for Planted {
    type Arguments<'a> = (Slice<'a, u32>, SliceMut<'a, u32>, u32);
}

/// A kernel with a bug, and its correct twin.
pub struct Bug {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: fn() -> Entry<Planted>,
    /// Its twin.
    pub fixed: fn() -> Entry<Planted>,
    /// How both are launched.
    pub launch: Launch,
    /// The emulator's report. `{WORD}` stands for the line that ends with `// WORD: NAME`, or for the one after it if there
    /// is nothing else on that line. A comment may have several names, separated by commas.
    pub report: &'static str,
}

/// A kernel without a bug that looks as if it had one.
pub struct Correct {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: fn() -> Entry<Planted>,
    /// How it is launched.
    pub launch: Launch,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kind of GPU that it needs.
    pub needs: Needs,
    /// Blocks, threads per block, and bytes of dynamic shared memory.
    pub shape: (u64, u32, u32),
    /// Blocks of a cluster.
    pub cluster: u32,
    /// In how many streams, which do not wait for each other.
    pub streams: usize,
    /// How often in each, one launch beginning when the one before it says so.
    pub times: usize,
    /// Elements of `x`, and the kernel's `n`.
    pub n: u32,
    /// Elements of `y`, and what they are before the launch.
    pub y: (usize, Before),
    /// How many of them the launch is lent.
    pub lent: usize,
}

/// The contents of a buffer before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Zeros.
    Zeros,
    /// Nothing.
    Nothing,
}

impl Launch {
    /// Launches a kernel, waits for its end, and gives what `y` holds then.
    ///
    /// # Errors
    /// The device's error.
    pub fn run(&self, device: &Device, entry: Entry<Planted>) -> Result<Vec<u32>, DriverError> {
        let x: Vec<u32> = (0..self.n).map(|i| i * 7 % 97).collect();
        let x = device.buffer_from(&x)?;
        let mut y = match self.y {
            (len, Before::Zeros) => device.buffer_filled(len, 0u32)?,
            (len, Before::Nothing) => device.buffer_uninitialized(len)?,
        };
        let (grid, block, dynamic_shared) = self.shape;
        let shape = LaunchConfig::blocks(grid, block).with_dynamic_shared(dynamic_shared);
        let prepared = device.prepare(entry, shape)?;
        let prepared = match self.cluster {
            1 => prepared,
            blocks => prepared.with_cluster([blocks, 1, 1])?,
        };
        let prepared = match self.times {
            1 => prepared,
            // SAFETY: none for the kernel with the bug, as below.
            _ => unsafe { prepared.overlapping() }?,
        };
        let streams = (0..self.streams).map(|_| Stream::new(device));
        let streams: Vec<Stream<'_>> = streams.collect::<Result<_, _>>()?;
        let lent = ..self.lent.min(self.y.0);
        let launches = streams
            .iter()
            .flat_map(|it| std::iter::repeat_n(it, self.times));
        for stream in launches {
            // SAFETY: none for the kernel with the bug, which is why the program that launches it does
            // nothing else. The buffers outlive the wait.
            unsafe { prepared.launch(stream, &(x.slice(..), y.slice_mut(lent), self.n)) }?;
        }
        streams.iter().try_for_each(Stream::synchronize)?;
        y.to_vec()
    }
}

impl Bug {
    /// Returns the emulator's report, with files and lines.
    pub fn expected(&self) -> String {
        places(self.name, self.report, self.launch.needs)
    }
}

/// A report on the kernel of this name, with files and lines.
fn places(kernel: &str, report: &str, needs: Needs) -> String {
    let marks = marks(kernel, needs).into_iter();
    marks.fold(report.to_owned(), |text, (word, place)| {
        text.replace(&format!("{{{word}}}"), &place)
    })
}

/// The marks of a kernel in its source: the word, and the file and line.
fn marks(kernel: &str, needs: Needs) -> Vec<(&'static str, String)> {
    let (folder, sources) = match needs {
        Needs::Any => ("kernels", planted_kernels::SOURCES),
        Needs::Hopper => ("hopper", planted_hopper_kernels::SOURCES),
    };
    let mut marks = Vec::new();
    for (file, source) in sources {
        for (line, content) in source.lines().enumerate() {
            let Some((before, comment)) = content.split_once("// ") else {
                continue;
            };
            let Some((word, names)) = comment.split_once(": ") else {
                continue;
            };
            if names.split(", ").any(|name| name == kernel) {
                let line = line + 1 + usize::from(before.trim().is_empty());
                let place = format!("crates/material/planted/{folder}/src/{file}.rs:{line}");
                marks.push((word, place));
            }
        }
    }
    marks
}
