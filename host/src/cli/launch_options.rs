//! The options that describe a launch of a PTX file: those of `ridgepoint run` and `ridgepoint profile`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{Resettable, Str};

use super::option_values::{bytes, refuse_without_effect};
use super::{Failure, driver_failure};
use crate::driver::DriverError;
use crate::standalone::{
    Argument, Description, Extents, Setting, Standalone, StandaloneError, Step,
};

#[derive(Args)]
#[command(next_help_heading = "A kernel of a PTX file")]
pub(super) struct Described {
    /// PTX file, from any compiler
    #[arg(value_name = "FILE.ptx", help_heading = Resettable::<Str>::Reset)]
    file: Option<PathBuf>,

    /// Name of the kernel [default: the only one in the file]
    #[arg(requires = "file", help_heading = Resettable::<Str>::Reset)]
    entry: Option<String>,

    /// Blocks in the grid: X, X,Y or X,Y,Z
    #[arg(id = "blocks", long = "grid", value_name = "BLOCKS")]
    grid: Option<Extents>,

    /// Threads per block: X, X,Y or X,Y,Z
    #[arg(id = "threads", long = "block", value_name = "THREADS")]
    block: Option<Extents>,

    /// Dynamic shared memory per block, such as 4096 or 48KiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    shared: Option<u32>,

    /// Launch cooperatively: all blocks run at once and may wait for each other
    #[arg(long)]
    cooperative: bool,

    /// Next argument of the kernel: a value (u32:5, f32:-2.5), a buffer (f32[2^20]=random) filled with zeros, ones,
    /// iota, random, random:LIMIT, a number or a file, or a structure by its parts ({f32[8]=ones,u32:5}) or bytes (bytes:0100);
    /// &{..} is a pointer to one, texture:f32[64,48]=image.bin or surface:f32[64,48] an image. A buffer without = is
    /// uninitialized. x=f32[8] names one, and @x is a pointer to it again
    #[arg(long = "arg", value_name = "ARGUMENT")]
    arguments: Vec<Argument>,

    /// First value of a variable in global or constant memory, such as scale=f32:2 or table=f32[17]=table.bin; {..} holds pointers
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,

    /// Read file, kernel, grid, block, shared, cooperative, args and set from this TOML file, and for `run` out, expect,
    /// tolerance and several launches; options override it
    #[arg(long, value_name = "FILE")]
    launch: Option<PathBuf>,
}

impl Described {
    /// Whether a launch is described at all.
    pub(super) fn is_given(&self) -> bool {
        self.file.is_some() || self.launch.is_some()
    }

    /// Refuses what describes a launch of a file.
    pub(super) fn refuse_without_file(&self) -> Result<(), Failure> {
        let given = [
            ("--grid", self.grid.is_some()),
            ("--block", self.block.is_some()),
            ("--shared", self.shared.is_some()),
            ("--cooperative", self.cooperative),
            ("--arg", !self.arguments.is_empty()),
            ("--set", !self.settings.is_empty()),
        ];
        refuse_without_effect(
            &given,
            "on a workload: its block is an axis, such as --axis block=128",
        )
    }

    /// The launch, compared with the kernel's PTX.
    pub(super) fn read(&self) -> Result<Standalone, Failure> {
        let standalone = self.read_all(Description::default())?;
        let launches = standalone.launches().len();
        match launches {
            1 => Ok(standalone),
            several => Err(Failure::Usage(format!(
                "the launch file has {several} launches, which `ridgepoint run` runs: give one alone"
            ))),
        }
    }

    /// The launches, compared with their kernels' PTX, with what is wanted of their results.
    pub(super) fn read_all(&self, wanted: Description) -> Result<Standalone, Failure> {
        let own = Description {
            file: self.file.clone(),
            launch: Step {
                kernel: self.entry.clone(),
                grid: self.grid,
                block: self.block,
                shared: self.shared,
                cooperative: self.cooperative.then_some(true),
                arguments: self.arguments.clone(),
            },
            settings: self.settings.clone(),
            ..wanted
        };
        let read = || {
            let other = match &self.launch {
                Some(path) => Description::read(path)?,
                None => Description::default(),
            };
            Standalone::read(own.or(other).complete()?)
        };
        read().map_err(failure)
    }
}

/// Returns the failure of a launch that did not begin. A finding of a kernel that ran is something else.
pub(super) fn failure(error: StandaloneError) -> Failure {
    match error {
        StandaloneError::Usage(reason) => Failure::Usage(reason),
        StandaloneError::Driver(error) => match error {
            DriverError::Limit(_) => Failure::Usage(error.to_string()),
            error => driver_failure(error),
        },
        error => Failure::failed(error),
    }
}
