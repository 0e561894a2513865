//! A described launch, run.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use cuda_std::launch::{Argument as Passed, Entry, Passing, Untyped};

use super::argument::{Contents, Kind};
use super::{Element, Launch, Output, StandaloneError, assembler, lock_free, signature};
use crate::driver::{
    Device, DeviceBuffer, DriverError, LaunchConfig, MAX_IMAGE_BYTES, Stream, free_host_memory,
    read_whole,
};

/// A description whose arguments are the kernel's.
pub struct Standalone {
    launch: Launch,
    kernel: String,
    text: String,
    target: u32,
    is_lock_free: bool,
    /// Names of the arguments in findings.
    names: Vec<&'static str>,
}

/// A buffer after a launch.
pub struct After {
    /// Of which argument, from 0.
    pub place: usize,
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The kernel's change of them.
    pub change: Change,
    element: Element,
    addresses: Vec<Address>,
}

/// A word of a buffer that is an address of the launch's memory.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    /// Its first byte in the buffer.
    at: usize,
    /// Where it points to, from the start of the allocation.
    offset: u64,
}

const WORD: usize = size_of::<u64>();

fn addresses(device: &Device, bytes: &[u8]) -> Vec<Address> {
    let words = bytes.as_chunks::<WORD>().0.iter();
    let found = device.addresses(words.map(|word| u64::from_le_bytes(*word)));
    let at = |(word, offset)| Address {
        at: word * WORD,
        offset,
    };
    found.into_iter().map(at).collect()
}

/// The change of a buffer by a launch, as far as that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes are others than before.
    Changed,
    /// All bytes are as before.
    Unchanged,
    /// All bits are set, as in uninitialised memory: the kernel has not written it, or has set all bits
    /// that it wrote, as -1 does.
    Unknown,
}

/// In a sentence about the buffer.
impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Change::Changed => "changed",
            Change::Unchanged => "as it was",
            Change::Unknown => "not written, or all bits set",
        })
    }
}

impl After {
    /// The first elements.
    pub fn shown(&self) -> String {
        const MAX: usize = 8;
        let size = self.element.bytes();
        let first = self.bytes.chunks_exact(size).take(MAX);
        let mut shown: Vec<String> = first.map(|it| self.element.shown(it)).collect();
        if self.bytes.len() > MAX * size {
            shown.push("..".to_owned());
        }
        shown.join(", ")
    }

    /// How many elements of which type.
    pub fn shape(&self) -> String {
        let elements = self.bytes.len() / self.element.bytes();
        format!("{}[{elements}]", self.element)
    }

    /// Whether another launch has left the same. Each has memory of its own: addresses on the emulator are compared by their
    /// offsets in what they point into.
    pub fn is_as(&self, other: &After) -> bool {
        self.addresses == other.addresses && self.without_addresses() == other.without_addresses()
    }

    fn without_addresses(&self) -> Cow<'_, [u8]> {
        let mut bytes = Cow::Borrowed(&self.bytes[..]);
        for address in &self.addresses {
            bytes.to_mut()[address.at..address.at + WORD].fill(0);
        }
        bytes
    }

    /// Tells contents apart.
    pub fn checksum(&self) -> u32 {
        crc32fast::hash(&self.bytes)
    }
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
        let is_buffer = |place: usize| {
            let argument = launch.arguments.get(place);
            argument.is_some_and(|it| matches!(it.kind, Kind::Buffer(_)))
        };
        if let Some(Output { place, .. }) = launch.outputs.iter().find(|it| !is_buffer(it.place)) {
            return Err(StandaloneError::Usage(format!(
                "--out {place}: argument {place} is not a buffer; arguments are counted from 0"
            )));
        }
        Ok(Standalone {
            kernel: kernel.name.clone(),
            target: module.target.arch,
            is_lock_free: lock_free::is_lock_free(&module, kernel),
            names: (0..launch.arguments.len()).map(name).collect(),
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
        let mut memory = self.memory(loaded)?;
        let stream = Stream::new(loaded)?;
        // SAFETY: the arguments have the sizes of the parameters of the PTX, with which `read` compared
        // them. The buffers live until the stream was synchronised below, and nobody else has them. What
        // the kernel does with them is its author's: the emulator looks at every access.
        let launched = unsafe { prepared.launch(&stream, &&self.passed(&mut memory)[..]) };
        let done = stream.synchronize();
        launched.and(done)?;
        memory
            .iter()
            .flatten()
            .map(|it| Ok(it.after(loaded)?))
            .collect()
    }

    /// The memory of each argument that is a buffer.
    fn memory(&self, device: &Device) -> Result<Vec<Option<Memory>>, StandaloneError> {
        check_memory(device, self.buffer_bytes(), free_host_memory())?;
        let arguments = self.launch.arguments.iter().enumerate();
        let memory = arguments.map(|(place, argument)| {
            let Kind::Buffer(buffer) = &argument.kind else {
                return Ok(None);
            };
            let contents = buffer.contents(place)?;
            Ok(Some(Memory::new(device, place, buffer.element, contents)?))
        });
        memory.collect()
    }

    /// Bytes of all buffers, as far as that is said.
    fn buffer_bytes(&self) -> u64 {
        let bytes = self.launch.arguments.iter().map(|it| match &it.kind {
            Kind::Buffer(buffer) => buffer.bytes(),
            Kind::Value(..) | Kind::Bytes(_) => 0,
        });
        bytes.fold(0, u64::saturating_add)
    }

    fn passed<'a>(&'a self, memory: &'a mut [Option<Memory>]) -> Vec<Passed<'a>> {
        let both = self.launch.arguments.iter().zip(memory);
        let passed = both.map(|(argument, memory)| match (&argument.kind, memory) {
            (_, Some(memory)) => Passed::Memory {
                name: self.names[memory.place],
                element_bytes: memory.element.bytes(),
                view: memory.buffer.slice_mut(..),
            },
            (Kind::Value(_, bytes) | Kind::Bytes(bytes), None) => Passed::Value(bytes),
            (Kind::Buffer(_), None) => unreachable!("each buffer has memory"),
        });
        passed.collect()
    }
}

/// Fails where so much free memory is too little for what checks keep of buffers of so many bytes.
fn check_memory(device: &Device, bytes: u64, free: u64) -> Result<(), StandaloneError> {
    let kept = device.bytes_with_checks(bytes) - bytes;
    match kept > 0 && bytes.saturating_add(kept) > free {
        false => Ok(()),
        true => Err(StandaloneError::Usage(format!(
            "buffers of {bytes} bytes, of which checks keep {kept}: {free} bytes of memory are free; give smaller buffers, \
             or --no-check"
        ))),
    }
}

/// `argument 3`, for as long as the process runs.
fn name(place: usize) -> &'static str {
    format!("argument {place}").leak()
}

/// A buffer of a launch.
struct Memory {
    place: usize,
    element: Element,
    buffer: DeviceBuffer<u8>,
    /// The checksum of what it began with; `None` where nobody had written it.
    before: Option<u32>,
}

impl Memory {
    fn new(
        device: &Device,
        place: usize,
        element: Element,
        contents: Contents,
    ) -> Result<Memory, DriverError> {
        let (buffer, before) = match contents {
            Contents::Unwritten(bytes) => (device.buffer_uninitialized(bytes)?, None),
            Contents::Written(bytes) => {
                (device.buffer_from(&bytes)?, Some(crc32fast::hash(&bytes)))
            }
        };
        Ok(Memory {
            place,
            element,
            buffer,
            before,
        })
    }

    fn after(&self, device: &Device) -> Result<After, DriverError> {
        let bytes = self.buffer.to_vec()?;
        let change = match self.before {
            Some(before) if before == crc32fast::hash(&bytes) => Change::Unchanged,
            None if bytes.iter().all(|byte| *byte == 0xFF) => Change::Unknown,
            _ => Change::Changed,
        };
        Ok(After {
            place: self.place,
            addresses: addresses(device, &bytes),
            bytes,
            change,
            element: self.element,
        })
    }
}

fn passing(kind: &Kind) -> Passing {
    match kind {
        Kind::Value(_, bytes) | Kind::Bytes(bytes) => Passing::Value { size: bytes.len() },
        Kind::Buffer(_) => Passing::Pointer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;

    #[test]
    fn buffers_are_compared_with_what_their_checks_keep() {
        let device = |is_checked| {
            Device::emulator(Emulation {
                is_checked,
                ..Emulation::default()
            })
        };
        let said = |checked, free| {
            check_memory(&device(checked), 1 << 20, free).map_err(|it| it.to_string())
        };
        assert_eq!(said(false, 0), Ok(()));
        assert_eq!(said(true, 6 << 20), Ok(()));
        let error = said(true, (6 << 20) - 1).expect_err("too little");
        assert!(
            error.contains("of which checks keep 5242880: 6291455 bytes"),
            "{error}"
        );
    }
}
