//! A described launch, run.

use std::path::Path;

use cuda_std::launch::{Entry, Passing, Untyped};

use super::argument::Kind;
use super::memory::{self, After};
use super::{Launch, Output, Place, StandaloneError, assembler, lock_free, signature};
use crate::driver::{Device, LaunchConfig, MAX_IMAGE_BYTES, Stream, read_whole};

/// A description whose arguments are the kernel's.
pub struct Standalone {
    launch: Launch,
    kernel: String,
    text: String,
    target: u32,
    is_lock_free: bool,
    /// The memory of the arguments, with its names in findings.
    names: Vec<(Place, &'static str)>,
}

/// Reads a file of PTX.
pub(super) fn read_ptx(path: &Path) -> Result<(String, ptx::Module), StandaloneError> {
    let text = read_whole(path, MAX_IMAGE_BYTES).map_err(|error| StandaloneError::File {
        path: path.to_owned(),
        error,
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let module = ptx::parse(&text).map_err(|error| StandaloneError::Ptx {
        path: path.to_owned(),
        error,
    })?;
    Ok((text, module))
}

impl Standalone {
    /// Reads the file, and compares the description with the kernel.
    ///
    /// # Errors
    /// The file cannot be read or is no PTX ([`StandaloneError::File`], [`StandaloneError::Ptx`]), `ptxas` is installed
    /// and refuses it ([`StandaloneError::Refused`]), or the description is not the kernel's ([`StandaloneError::Usage`]).
    pub fn read(launch: Launch) -> Result<Standalone, StandaloneError> {
        let path = &launch.file;
        let (text, module) = read_ptx(path)?;
        let of_file = |error| StandaloneError::Usage(format!("{}: {error}", path.display()));
        let kernel = signature::kernel(&module, launch.kernel.as_deref()).map_err(of_file)?;
        if let Some(refusal) = assembler::refusal(path, &text, &kernel.name) {
            return Err(StandaloneError::Refused {
                path: path.clone(),
                refusal,
            });
        }
        signature::check(kernel, &launch.arguments).map_err(StandaloneError::Usage)?;
        let names = memory::names(&launch.arguments);
        let is_memory = |it: &Output| names.iter().any(|(place, _)| *place == it.place);
        if let Some(Output { place, .. }) = launch.outputs.iter().find(|it| !is_memory(it)) {
            return Err(StandaloneError::Usage(format!(
                "--out {place}: argument {place} is not a buffer; arguments are counted from 0"
            )));
        }
        Ok(Standalone {
            kernel: kernel.name.clone(),
            target: module.target.arch,
            is_lock_free: lock_free::is_lock_free(&module, kernel),
            names,
            text,
            launch,
        })
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The file of PTX.
    pub fn file(&self) -> &Path {
        &self.launch.file
    }

    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The architecture that the PTX is for: 90 of `sm_90`.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// Whether threads of the kernel swap atomics or read what others may write meanwhile, as locks and lock-free structures do.
    pub fn is_lock_free(&self) -> bool {
        self.is_lock_free
    }

    /// Blocks and threads.
    pub fn config(&self) -> LaunchConfig {
        self.launch.config
    }

    /// The launch of at least as many threads in blocks of `threads` each, where blocks and grid have one extent.
    ///
    /// # Errors
    /// In words: the extents of the blocks or of the grid.
    pub fn with_block(self, threads: u32) -> Result<Standalone, String> {
        let LaunchConfig { grid, block, .. } = self.launch.config;
        if grid[1..] != [1, 1] || block[1..] != [1, 1] {
            return Err(format!(
                "{} blocks of {} threads: other blocks are tried of launches with one extent",
                grid.map(|it| it.to_string()).join(" x "),
                block.map(|it| it.to_string()).join(" x ")
            ));
        }
        let config = LaunchConfig::linear(grid[0] * u64::from(block[0]), threads)
            .with_dynamic_shared(self.launch.config.dynamic_shared);
        Ok(Standalone {
            launch: Launch {
                config,
                ..self.launch
            },
            ..self
        })
    }

    /// The buffers that are wanted.
    pub fn outputs(&self) -> &[Output] {
        &self.launch.outputs
    }

    /// Launches the kernel once, with memory of its own, and waits. Every buffer after it, in order.
    ///
    /// # Errors
    /// [`StandaloneError::Driver`]: as [`Device::load`]; or as [`Standalone::run_loaded`].
    pub fn run(&self, device: &Device) -> Result<Vec<After>, StandaloneError> {
        let loaded = device.load(&self.launch.file)?;
        self.run_loaded(&loaded)
    }

    /// [`Standalone::run`] on a device that was [loaded](Device::load) with the file.
    ///
    /// # Errors
    /// [`StandaloneError::Driver`]: as [`Device::prepare`], [`Device::check_memory`] and
    /// [`Prepared::launch`](crate::driver::Prepared::launch); [`StandaloneError::File`],
    /// [`StandaloneError::Usage`]: a file that fills a buffer cannot be read or has other bytes than the
    /// buffer, or the host has too little memory for it.
    pub fn run_loaded(&self, loaded: &Device) -> Result<Vec<After>, StandaloneError> {
        let passing: Vec<Passing> = self
            .launch
            .arguments
            .iter()
            .map(|it| passing(&it.kind))
            .collect();
        let entry = Entry::<Untyped>::untyped(&self.kernel, &passing);
        let prepared = match self.launch.is_cooperative {
            true => loaded.prepare_cooperative(entry, self.launch.config)?,
            false => loaded.prepare(entry, self.launch.config)?,
        };
        let mut passed = memory::arrange(loaded, &self.launch.arguments, &self.names)?;
        let stream = Stream::new(loaded)?;
        // SAFETY: the arguments have the sizes of the parameters of the PTX, with which `read` compared
        // them. The buffers live until the stream was synchronised below, and nobody else has them. What
        // the kernel does with them is its author's: the emulator looks at every access.
        let launched = unsafe { prepared.launch(&stream, &&passed.list()[..]) };
        let done = stream.synchronize();
        launched.and(done)?;
        Ok(passed.after(loaded)?)
    }
}

fn passing(kind: &Kind) -> Passing {
    match kind {
        Kind::Buffer(_) | Kind::Pointer(_) => Passing::Pointer,
        Kind::Value(..) | Kind::Bytes(_) | Kind::Structure(_) => {
            Passing::Value { size: kind.size() }
        }
    }
}
