//! A point of a workload's axes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use cuda_std::launch::{Entry, Foreign, ForeignParameters, Signature};

use super::bench::Loaded;
use super::{Case, DTYPE, Launch, Value, Workload};
use crate::driver::{Device, DriverError, LaunchConfig};
use crate::measure::CacheState;
use crate::model::Precision;

/// How many blocks a launch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GridSize {
    /// As many threads as there is work for at once.
    Full,
    /// This many blocks for each multiprocessor, whose threads stride over the work.
    PerMultiprocessor(u32),
}

impl FromStr for GridSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "full" {
            return Ok(GridSize::Full);
        }
        let count = text.strip_suffix('x').and_then(|count| count.parse().ok());
        match count {
            Some(count @ 1..=GridSize::MAX) => Ok(GridSize::PerMultiprocessor(count)),
            _ => Err(format!(
                "{text:?} is no grid: expected full, or 1x to {most}x, which is so many blocks per \
                 multiprocessor",
                most = GridSize::MAX
            )),
        }
    }
}

impl GridSize {
    /// Blocks for each multiprocessor at most: 32 times as many as any holds at once.
    pub const MAX: u32 = 1024;

    /// The blocks for each multiprocessor, where they were asked for.
    pub fn per_multiprocessor(self) -> Option<u32> {
        match self {
            GridSize::Full => None,
            GridSize::PerMultiprocessor(count) => Some(count),
        }
    }
}

impl fmt::Display for GridSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GridSize::Full => write!(formatter, "full"),
            GridSize::PerMultiprocessor(count) => write!(formatter, "{count}x"),
        }
    }
}

/// A value of each of a workload's axes, of the block, of the grid and of the caches' state, on a device.
#[derive(Clone)]
pub struct Point<'d> {
    pub(crate) loaded: &'d Loaded,
    /// That of the bench, or with a limit of registers.
    pub(crate) device: &'d Device,
    pub(crate) workload: String,
    /// The axes in the workload's order.
    pub(crate) values: Vec<(&'static str, Value)>,
    pub(crate) block: u32,
    pub(crate) grid: GridSize,
    pub(crate) cache: CacheState,
    /// Bytes of dynamic shared memory per block beside those that the launch asks for.
    pub(crate) more_shared: u32,
    /// Blocks that a multiprocessor holds at once, in an occupancy study.
    pub(crate) resident: Option<u32>,
    /// The most blocks of a grid, in a check: on every device as many.
    pub(crate) most_blocks: u64,
}

/// Why a point is not measured, or its result does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// There is no such launch, or what came out is wrong.
    #[error("{0}")]
    Refused(String),
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl From<String> for PointError {
    fn from(reason: String) -> PointError {
        PointError::Refused(reason)
    }
}

impl From<&str> for PointError {
    fn from(reason: &str) -> PointError {
        PointError::Refused(reason.to_owned())
    }
}

impl<'d> Point<'d> {
    /// In blocks of 256 threads, as many as there is work for, and with warm caches.
    pub(crate) fn new(
        device: &'d Device,
        loaded: &'d Loaded,
        workload: &dyn Workload,
        values: Vec<(&'static str, Value)>,
    ) -> Point<'d> {
        Point {
            loaded,
            device,
            workload: workload.name().to_owned(),
            values,
            block: 256,
            grid: GridSize::Full,
            cache: CacheState::Warm,
            more_shared: 0,
            resident: None,
            most_blocks: u64::MAX,
        }
    }

    /// The device that it is on.
    pub fn device(&self) -> &'d Device {
        self.device
    }

    /// Threads per block.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// The value of an axis of whole numbers.
    ///
    /// # Panics
    /// The workload has no such axis.
    pub fn whole(&self, axis: &str) -> u64 {
        match self.value(axis) {
            Value::Whole(number) => *number,
            other => panic!(
                "axis {axis:?} of {} is {other}, no whole number",
                self.workload
            ),
        }
    }

    /// The value of an axis of whole numbers, as a length.
    ///
    /// # Panics
    /// As [`Point::whole`].
    pub fn size(&self, axis: &str) -> usize {
        self.whole(axis) as usize
    }

    /// The value of an axis of real numbers.
    ///
    /// # Panics
    /// The workload has no such axis.
    pub fn real(&self, axis: &str) -> f64 {
        match self.value(axis) {
            Value::Real(number) => *number,
            other => panic!(
                "axis {axis:?} of {} is {other}, no real number",
                self.workload
            ),
        }
    }

    /// The value of an axis of names.
    ///
    /// # Panics
    /// The workload has no such axis.
    pub fn text(&self, axis: &str) -> &str {
        match self.value(axis) {
            Value::Text(text) => text,
            other => panic!("axis {axis:?} of {} is {other}, no text", self.workload),
        }
    }

    /// The value of the axis of [element types](super::Axis::types).
    ///
    /// # Panics
    /// The workload has no such axis, or its axis `dtype` has names of its own.
    pub fn dtype(&self) -> Precision {
        let parsed = self.text(DTYPE).parse();
        parsed.unwrap_or_else(|error| panic!("axis dtype of {}: {error}", self.workload))
    }

    /// The number of a [setting](super::Axis::setting), where one was given.
    pub fn setting(&self, name: &str) -> Option<f64> {
        let found = self.values.iter().find(|(it, _)| *it == name);
        match found {
            Some((_, Value::Real(number))) => Some(*number),
            _ => None,
        }
    }

    /// The whole number of an axis, where the point has it.
    pub(crate) fn given(&self, axis: &str) -> Option<u64> {
        let has_it = self.values.iter().any(|(name, _)| *name == axis);
        has_it.then(|| self.whole(axis))
    }

    fn value(&self, axis: &str) -> &Value {
        let found = self.values.iter().find(|(name, _)| *name == axis);
        let Some((_, value)) = found else {
            panic!("workload {} has no axis {axis:?}", self.workload);
        };
        value
    }

    /// One dimension: a thread for each of `threads` in blocks of this point's size; where the grid is
    /// so many blocks per multiprocessor, no more than these, whose threads take one after the other.
    pub fn linear(&self, threads: usize) -> LaunchConfig {
        let full = LaunchConfig::linear(threads as u64, self.block);
        let most = match self.grid {
            GridSize::Full => self.most_blocks,
            GridSize::PerMultiprocessor(count) => {
                let multiprocessors = self.device.properties().multiprocessors;
                self.most_blocks
                    .min(u64::from(count) * u64::from(multiprocessors))
            }
        };
        LaunchConfig::blocks(full.grid[0].min(most), self.block)
    }

    /// As [`Point::linear`]; in an occupancy study no more blocks than the device holds at once, so that
    /// nothing but their number changes.
    pub fn one_wave(&self, threads: usize) -> LaunchConfig {
        let linear = self.linear(threads);
        let multiprocessors = u64::from(self.device.properties().multiprocessors);
        let most = self
            .resident
            .map(|blocks| u64::from(blocks) * multiprocessors);
        let blocks = most.map_or(linear.grid[0], |most| linear.grid[0].min(most.max(1)));
        LaunchConfig::blocks(blocks, self.block)
    }

    /// A launch of a kernel that somebody else compiled, from a `.ptx` or `.cubin` file. On the
    /// emulator, which executes PTX, points with a cubin are left out.
    ///
    /// # Errors
    /// [`PointError::Driver`], as [`Device::load`].
    pub fn launch_from<P: ForeignParameters>(
        &self,
        file: impl AsRef<Path>,
        kernel: &str,
        config: LaunchConfig,
    ) -> Result<Launch<'d, Foreign<P>>, PointError> {
        let file = file.as_ref();
        let loaded = self.loaded.load(self.device, file)?;
        Ok(Launch::new(self, loaded, Entry::foreign(kernel), config).of_file(file))
    }

    /// A launch of the kernel. Where the device does not allow it, the sweep says so before it begins.
    pub fn launch<S: Signature>(&self, entry: Entry<S>, config: LaunchConfig) -> Launch<'d, S> {
        Launch::new(self, self.device, entry, config)
    }

    /// Returns a key that tells the launch at this point apart from those at others.
    pub(crate) fn launch_key(&self, case: &Case<'_>) -> String {
        let Point {
            workload,
            values,
            grid,
            cache,
            ..
        } = self;
        format!("{workload} {values:?} {grid} {cache} {:?}", case.config)
    }

    /// The workload and each value with its name.
    pub(crate) fn described(&self) -> String {
        let values = self.values.iter().map(|(name, value)| match value {
            Value::Text(text) => text.clone(),
            number => format!("{name} = {number}"),
        });
        let block = format!("block = {}", self.block);
        let parts: Vec<String> = values.chain([block]).collect();
        format!("{} at {}", self.workload, parts.join(", "))
    }
}

/// `horner f32 vector=4 ilp=1 n=65536 block=256 grid=full warm k=10`
impl fmt::Display for Point<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.workload)?;
        for (name, value) in self.values.iter().skip(1) {
            write(formatter, name, value)?;
        }
        let Point {
            block, grid, cache, ..
        } = self;
        write!(formatter, " block={block} grid={grid} {cache}")?;
        match self.values.first() {
            Some((name, value)) => write(formatter, name, value),
            None => Ok(()),
        }
    }
}

fn write(formatter: &mut fmt::Formatter<'_>, name: &str, value: &Value) -> fmt::Result {
    match value {
        Value::Text(text) => write!(formatter, " {text}"),
        number => write!(formatter, " {name}={number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_read_as_they_are_written() {
        for text in ["full", "1x", "64x"] {
            assert_eq!(
                text.parse::<GridSize>().map(|grid| grid.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["", "0x", "x", "8", "-1x", "Full", "1025x", "4294967296x"] {
            assert!(text.parse::<GridSize>().is_err(), "{text}");
        }
    }
}
