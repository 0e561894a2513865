//! A described launch, run.

use std::path::Path;

use cuda_std::launch::{Entry, Passing, Untyped};

use super::argument::Kind;
use super::expected::Unexpected;
use super::memory::{self, After};
use super::variable::Known;
use super::{Launch, Output, Place, StandaloneError, assembler, lock_free, signature};
use crate::driver::{Device, LaunchConfig, MAX_IMAGE_BYTES, Stream, read_whole};

/// A description whose arguments are the kernels'.
pub struct Standalone {
    launch: Launch,
    /// The kernel of each launch.
    kernels: Vec<String>,
    text: String,
    target: u32,
    is_lock_free: bool,
    /// The memory of the arguments, with its names in findings.
    names: Vec<(Place, &'static str)>,
    /// The variables that are set, and then the others that are looked at.
    variables: Vec<Known>,
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
    /// Reads the file, and compares the description with the kernels.
    ///
    /// # Errors
    /// The file cannot be read or is no PTX ([`StandaloneError::File`], [`StandaloneError::Ptx`]), `ptxas` is installed
    /// and refuses it ([`StandaloneError::Refused`]), or the description is not the kernels' ([`StandaloneError::Usage`]).
    pub fn read(mut launch: Launch) -> Result<Standalone, StandaloneError> {
        let path = launch.file.clone();
        let (text, module) = read_ptx(&path)?;
        let of_file = |error| StandaloneError::Usage(format!("{}: {error}", path.display()));
        let (mut kernels, mut is_lock_free) = (Vec::new(), false);
        for step in &launch.steps {
            let kernel = signature::kernel(&module, step.kernel.as_deref()).map_err(of_file)?;
            if !kernels.contains(&kernel.name)
                && let Some(refusal) = assembler::refusal(&path, &text, &kernel.name)
            {
                return Err(StandaloneError::Refused { path, refusal });
            }
            signature::check(kernel, &step.arguments).map_err(StandaloneError::Usage)?;
            is_lock_free |= lock_free::is_lock_free(&module, kernel);
            kernels.push(kernel.name.clone());
        }
        launch.check_names().map_err(StandaloneError::Usage)?;
        let names = memory::names(&launch.arguments(), &launch.settings);
        let variables = launch.variables(&module, &names).map_err(of_file)?;
        Ok(Standalone {
            kernels,
            target: module.target.arch,
            is_lock_free,
            names,
            variables,
            text,
            launch,
        })
    }

    /// The first kernel's name.
    pub fn kernel(&self) -> &str {
        &self.kernels[0]
    }

    /// The kernel of each launch, with its blocks and threads.
    pub fn launches(&self) -> impl ExactSizeIterator<Item = (&str, LaunchConfig)> {
        let configs = self.launch.steps.iter().map(|it| it.config);
        self.kernels.iter().map(String::as_str).zip(configs)
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

    /// Whether threads of a kernel swap atomics or read what others may write meanwhile, as locks and lock-free structures do.
    pub fn is_lock_free(&self) -> bool {
        self.is_lock_free
    }

    /// Blocks and threads of the first launch.
    pub fn config(&self) -> LaunchConfig {
        self.launch.steps[0].config
    }

    /// The launch of at least as many threads in blocks of `threads` each, where blocks and grid have one extent.
    ///
    /// # Errors
    /// In words: the extents of the blocks or of the grid.
    pub fn with_block(mut self, threads: u32) -> Result<Standalone, String> {
        for step in &mut self.launch.steps {
            let LaunchConfig { grid, block, .. } = step.config;
            if grid[1..] != [1, 1] || block[1..] != [1, 1] {
                return Err(format!(
                    "{} blocks of {} threads: other blocks are tried of launches with one extent",
                    grid.map(|it| it.to_string()).join(" x "),
                    block.map(|it| it.to_string()).join(" x ")
                ));
            }
            step.config = LaunchConfig::linear(grid[0] * u64::from(block[0]), threads)
                .with_dynamic_shared(step.config.dynamic_shared);
        }
        Ok(self)
    }

    /// The buffers and variables that are wanted.
    pub fn outputs(&self) -> &[Output] {
        &self.launch.outputs
    }

    /// How many bytes of memory a launch makes, as far as the description says it.
    pub fn memory_bytes(&self) -> u64 {
        memory::bytes(&self.launch.arguments(), &self.launch.settings)
    }

    /// Compares results with those that are expected, and gives those that differ.
    ///
    /// # Errors
    /// A file of expected values cannot be read, or does not fit.
    pub fn unexpected(&self, after: &[After]) -> Result<Vec<Unexpected>, StandaloneError> {
        let mut all = Vec::new();
        for expected in &self.launch.expected {
            let found = after.iter().find(|it| it.place == expected.place);
            if let Some(found) = found
                && let Some(text) = expected.differs(found, self.launch.tolerance)?
            {
                let place = expected.place.clone();
                all.push(Unexpected { place, text });
            }
        }
        Ok(all)
    }

    /// Launches the kernels once, one after the other, with memory of their own, and waits. Every buffer after it, in order.
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
    /// [`StandaloneError::Driver`]: as [`Device::prepare`], [`Device::check_memory`],
    /// [`Prepared::set_variable`](crate::driver::Prepared::set_variable) and
    /// [`Prepared::launch`](crate::driver::Prepared::launch); [`StandaloneError::File`],
    /// [`StandaloneError::Usage`]: a file that fills a buffer cannot be read or has other bytes than the
    /// buffer, or the host has too little memory for it.
    pub fn run_loaded(&self, loaded: &Device) -> Result<Vec<After>, StandaloneError> {
        let steps = self.kernels.iter().zip(&self.launch.steps);
        let prepared = steps.map(|(kernel, step)| {
            let passing = step.arguments.iter().map(|it| passing(&it.kind));
            let passing: Vec<Passing> = passing.collect();
            let entry = Entry::<Untyped>::untyped(kernel, &passing);
            match step.is_cooperative {
                true => loaded.prepare_cooperative(entry, step.config),
                false => loaded.prepare(entry, step.config),
            }
        });
        let prepared: Vec<_> = prepared.collect::<Result<_, _>>()?;
        let arguments = self.launch.arguments();
        let mut passed = memory::arrange(loaded, (&arguments, &self.launch.settings), &self.names)?;
        for (variable, value) in self.variables.iter().zip(&passed.settings) {
            prepared[0].set_variable(&variable.symbol, value)?;
        }
        let variables = || {
            self.variables
                .iter()
                .map(|it| prepared[0].variable(&it.symbol))
        };
        let before: Vec<Vec<u8>> = variables().collect::<Result<_, _>>()?;
        let stream = Stream::new(loaded)?;
        let mut launched = Ok(());
        for (step, prepared) in prepared.iter().enumerate() {
            // SAFETY: the arguments have the sizes of the parameters of the PTX, with which `read` compared
            // them. The buffers live until the stream was synchronised below, and nobody else has them. What
            // the kernel does with them is its author's: the emulator looks at every access.
            launched = unsafe { prepared.launch(&stream, &&passed.list(step)[..]) };
            if launched.is_err() {
                break;
            }
        }
        let done = stream.synchronize();
        launched.and(done)?;
        let mut after = passed.after(loaded)?;
        for ((variable, before), now) in self.variables.iter().zip(&before).zip(variables()) {
            after.push(After::of_variable(loaded, variable, (before, now?)));
        }
        Ok(after)
    }
}

fn passing(kind: &Kind) -> Passing {
    match kind {
        Kind::Buffer(_) | Kind::Pointer(_) => Passing::Pointer,
        Kind::Value(..)
        | Kind::Bytes(_)
        | Kind::Structure(_)
        | Kind::Same(_)
        | Kind::Texture(_) => Passing::Value { size: kind.size() },
    }
}
