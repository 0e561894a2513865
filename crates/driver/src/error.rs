//! The errors between the host and a device.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

use engine::check::Stop;

use crate::LaunchError;
use crate::errors::{
    CUresult, CudaError, CuptiError, ExecutionError, LibraryError, LimitError, LoadError,
    OccupancyError, Panic,
};
use crate::finding::Finding;

/// Why an operation on a device failed, with the actual value and the limit where there is one.
///
/// `Debug` prints the same text as `Display`, so a test or `main` may return it or unwrap it, and the reader sees a
/// sentence.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_driver::errors::LimitError;
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, LaunchError, Stream};
///
/// #[kernel]
/// pub fn shift(x: &[u32], mut y: Output<u32>) {
///     for (i, y) in y.own() {
///         *y = x[i + 1];
///     }
/// }
///
/// # fn main() -> Result<(), DriverError> {
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let error = device.prepare(shift::entry(), LaunchConfig::linear(4, 2048)).err().expect("too large");
/// // "shift: block of 2048 threads; CPU emulator (16 cores) allows 1 to 1024"
/// assert!(matches!(error, DriverError::Limit(LimitError::Block { actual: 2048, limit: 1024, .. })));
/// assert!(!error.is_finding());
///
/// let (x, mut y) = (device.buffer_zeroed(4)?, device.buffer_zeroed(4)?);
/// let prepared = device.prepare(shift::entry(), LaunchConfig::linear(4, 256))?;
/// let error = prepared.run(&Stream::new(&device)?, (x.slice(..), y.slice_mut(..))).expect_err("x[4]");
/// assert!(error.is_finding() && !error.is_endless() && !error.wants_cooperation());
/// // A panic is the thread's own; the checks have found nothing.
/// assert!(error.finding().is_none());
/// let DriverError::Emulated { error: LaunchError::Panicked { thread, .. }, .. } = error else {
///     panic!("{error}");
/// };
/// assert_eq!(thread.thread, [3, 0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The driver's library is not installed.
    #[error("{0}")]
    NoDriver(LibraryError),

    /// The driver is there and finds no GPU.
    #[error("the CUDA driver is installed but finds no GPU")]
    NoGpu,

    /// There is no emulated device of this number.
    #[error("no emulated device {number}: there are {count}, numbered from 0")]
    NoSuchEmulator {
        /// The number asked for.
        number: u32,
        /// How many there are.
        count: u32,
    },

    /// There is no GPU of this number.
    #[error("no GPU {ordinal}: this machine has {count}, numbered from 0")]
    NoSuchGpu {
        /// The number asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },

    /// The emulator was asked for a compute capability that nothing is known of.
    #[error(transparent)]
    UnknownCapability(#[from] OccupancyError),

    /// The GPU is older than every embedded PTX, or another than the one that it is for.
    #[error(
        "{name} is sm_{actual}, and the embedded PTX is for {embedded}{}",
        remedy(embedded, *actual)
    )]
    NoPtx {
        /// The GPU's name.
        name: String,
        /// Its compute capability times ten.
        actual: u32,
        /// The embedded architectures, as the PTX names them: "sm_80, sm_90a".
        embedded: String,
    },

    /// The driver does not accept the PTX.
    #[error("the driver refuses the PTX for sm_{arch}: {}\n{log}", told(*error))]
    RefusedPtx {
        /// The PTX's architecture.
        arch: u32,
        /// The driver's error.
        error: CudaError,
        /// The driver's log.
        log: String,
    },

    /// The emulator does not understand the PTX.
    #[error("the emulator cannot load the PTX for sm_{arch}: {error}")]
    UnreadablePtx {
        /// The PTX's architecture.
        arch: u32,
        /// The statement that it does not understand.
        error: LoadError,
    },

    /// The report on the registers that kernels need cannot be read.
    #[error("the resource report {place} cannot be read: {error}; build the kernels again")]
    UnreadableReport {
        /// Where it is: a file, or beside embedded PTX.
        place: String,
        /// The fault in it.
        error: String,
    },

    /// The PTX has no entry of this name.
    #[error("kernel {0} is not in the embedded PTX")]
    NoKernel(&'static str),

    /// The module of a kernel has no variable of this name in global or constant memory.
    #[error("there is no variable {name} in the module of {kernel}")]
    NoVariable {
        /// The kernel.
        kernel: &'static str,
        /// The name.
        name: String,
    },

    /// A variable was to be set to a value of another size.
    #[error("the variable {name} has {bytes} bytes, and its value {given}")]
    VariableBytes {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: u64,
        /// The value's.
        given: u64,
    },

    /// The kernel that the device has under the name was made of other source than the kernel of the program.
    #[error(
        "{kernel}: the device's PTX was made of other source than this program's kernel of that name; build \
         both again from the same source"
    )]
    OtherSource {
        /// The kernel.
        kernel: &'static str,
    },

    /// The kernel that the device has under the name does not say what it was made of: somebody else wrote the
    /// PTX, an older version made it, or it is machine code.
    #[error(
        "{kernel}: the device has a kernel of that name, which does not say what source it was made of, as \
         the PTX of CudaBuilder does; build it again, or vouch for it with `Entry::of_any_ptx`"
    )]
    UnknownSource {
        /// The kernel.
        kernel: &'static str,
    },

    /// A file of kernels cannot be read.
    #[error("cannot read {path}: {error}")]
    UnreadableFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },

    /// A file holds something else than kernels, or a part of them.
    #[error("{path} is neither PTX nor a cubin: {found}")]
    UnknownFile {
        /// The file.
        path: PathBuf,
        /// The contents instead.
        found: String,
    },

    /// The driver does not accept the kernels of a file.
    #[error("{device}: the driver refuses {path}: {}{}", told(*error), below(.log))]
    RefusedFile {
        /// The file.
        path: PathBuf,
        /// The device's name.
        device: String,
        /// The driver's error.
        error: CudaError,
        /// The driver's log, which may be empty.
        log: String,
    },

    /// The file that the device was loaded with has no kernel of this name.
    #[error("kernel {kernel} is not in {path}, which has {}", listed(.names))]
    NoKernelInFile {
        /// The kernel.
        kernel: &'static str,
        /// The file.
        path: PathBuf,
        /// The names that it has instead, as far as they are found.
        names: Vec<String>,
    },

    /// The emulator does not understand the PTX of a file.
    #[error("{device}: cannot load {path}: {error}")]
    UnreadableKernels {
        /// The file.
        path: PathBuf,
        /// The device's name.
        device: String,
        /// The statement that it does not understand.
        error: LoadError,
    },

    /// The emulator was given a cubin.
    #[error("{path} is a cubin, machine code for a GPU; {device} executes PTX")]
    MachineCode {
        /// The file.
        path: PathBuf,
        /// The device's name.
        device: String,
    },

    /// A launch asks for more than the device or the kernel allows, or for another block than the kernel is made for.
    #[error(transparent)]
    Limit(#[from] LimitError),

    /// A signature is not that of the kernel's PTX: the emulator knows both.
    #[error(
        "{kernel}: the signature has parameters of {signature:?} bytes, and the kernel's PTX of {ptx:?}"
    )]
    Parameters {
        /// The kernel.
        kernel: &'static str,
        /// Bytes of each parameter, as the signature has them; a slice is two.
        signature: Vec<u64>,
        /// Bytes of each, as the PTX has them.
        ptx: Vec<u64>,
    },

    /// There is too little memory.
    #[error("cannot allocate {bytes} bytes on {device}: {free} are free")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that are free.
        free: u64,
        /// The device's name.
        device: String,
    },

    /// A kernel failed on the emulator.
    #[error("kernel {kernel} on the emulator: {error}")]
    Emulated {
        /// The kernel.
        kernel: &'static str,
        /// The error of the emulator.
        error: LaunchError,
    },

    /// The host, or a copy, reaches memory that a kernel may use at the same time: found by the emulator's
    /// checks.
    #[error("on the emulator: {0}")]
    HostAccess(Box<Finding>),

    /// There is no memory for what the emulator's checks keep of an allocation that the host, or a copy, reaches.
    #[error(
        "on the emulator: the checks have no memory: the system was asked for {bytes} bytes; use smaller buffers"
    )]
    CheckMemory {
        /// How many bytes were asked for.
        bytes: u64,
    },

    /// The host's work in a stream of the emulator failed.
    #[error("{0}")]
    HostWork(Box<dyn std::error::Error + Send + Sync>),

    /// Emulated devices can do this, and GPUs cannot.
    #[error("{0} can be had in the streams of emulated devices alone")]
    NotEmulated(&'static str),

    /// The emulator needs the kernel's PTX for what was asked.
    #[error(
        "{kernel}: {what} can be had of a kernel's PTX alone, and the emulator was opened without \
         PTX of this one; `Device::emulator_with` takes it"
    )]
    WithoutPtx {
        /// The kernel.
        kernel: &'static str,
        /// The feature that was asked for.
        what: &'static str,
    },

    /// A kernel failed on the emulator, which ran its PTX.
    #[error("on the emulator: {0}")]
    Engine(Box<ExecutionError>),

    /// A cooperative launch has more blocks than run at once.
    #[error("{kernel}: cooperative grid of {actual} blocks; {device} runs {limit} at once")]
    Cooperative {
        /// The kernel.
        kernel: &'static str,
        /// Blocks asked for.
        actual: u64,
        /// The most that run at once.
        limit: u64,
        /// The device's name.
        device: String,
    },

    /// A kernel with outputs is launched with more threads than it can count.
    #[error(
        "{kernel}: {actual} threads; a kernel with outputs takes at most {limit}: launch fewer blocks, whose threads visit \
         several elements each by `own`"
    )]
    OutputThreads {
        /// The kernel.
        kernel: &'static str,
        /// Threads of the grid asked for.
        actual: u64,
        /// The most that have an index of 32 bits.
        limit: u32,
    },

    /// Copies cannot bring boxes of a tensor.
    #[error("tensor map: {0}")]
    TensorMap(String),

    /// A launch asks for clusters of blocks, or to overlap, and cannot have it.
    #[error("{kernel}: {reason}")]
    Attribute {
        /// The kernel.
        kernel: &'static str,
        /// The actual value, and what is allowed.
        reason: String,
    },

    /// The stream captures launches, and this cannot be captured.
    #[error("a {0} cannot be captured into a graph")]
    Capturing(&'static str),

    /// Something that the operation needs is of another device.
    #[error("{operation} on {on}: {what} belongs to {of}")]
    OtherDevice {
        /// The operation that was asked for: for a launch, the kernel.
        operation: &'static str,
        /// The device that was to do it: "cuda:0 (NVIDIA H200)".
        on: &'static str,
        /// The object that it was to use: "the buffer".
        what: Cow<'static, str>,
        /// The device that this belongs to.
        of: &'static str,
    },

    /// A device cannot be given access to another's memory.
    #[error("{on} cannot access the memory of {peer}: {reason}")]
    NoPeerAccess {
        /// The device whose kernels were to use the memory.
        on: &'static str,
        /// The device whose memory it is.
        peer: &'static str,
        /// Why not.
        reason: &'static str,
    },

    /// A kernel panicked on a GPU, which does nothing more for this process: from then on every
    /// operation on that GPU fails with this.
    #[error("{operation}: {panic}")]
    Panicked {
        /// The operation: it need not have been about that kernel.
        operation: &'static str,
        /// Place, block, thread, and what was wrong.
        panic: Panic,
    },

    /// A call of the driver failed.
    #[error("{operation}: {result:?}")]
    Call {
        /// The operation.
        operation: &'static str,
        /// The driver's result.
        result: CUresult,
    },

    /// CUPTI, which times the device's work, is not available.
    #[error("no CUPTI: {0}")]
    Cupti(CuptiError),

    /// The hardware's counters cannot be read.
    #[error("cannot read hardware counters: {0}")]
    Counters(CuptiError),

    /// Another error of the driver.
    #[error("{operation}: {error:?} ({})", told(*error))]
    Cuda {
        /// The operation.
        operation: &'static str,
        /// The driver's error.
        error: CudaError,
    },
}

impl fmt::Debug for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl DriverError {
    /// The finding of the emulator's checks: what is wrong, where and by whom. [`finding`](crate::finding) has an example.
    /// `None` of any other error; a thread that failed by itself, such as by a trap, is [`DriverError::Engine`] or
    /// [`DriverError::Emulated`] without one.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            DriverError::Engine(error) => match &**error {
                ExecutionError::Found { finding, .. } => Some(finding),
                _ => None,
            },
            DriverError::HostAccess(finding) => Some(finding),
            _ => None,
        }
    }

    /// Whether a launch ran and its threads did what they must not: anything else is the launch's own
    /// fault, or this machine's.
    pub fn is_finding(&self) -> bool {
        match self {
            DriverError::Engine(error) => matches!(
                **error,
                ExecutionError::Thread { .. }
                    | ExecutionError::Unfinished { .. }
                    | ExecutionError::Found { .. }
            ),
            DriverError::Emulated { .. }
            | DriverError::HostAccess(_)
            | DriverError::Panicked { .. } => true,
            _ => false,
        }
    }

    /// Whether a launch on the emulator went on for ever, or for longer than [`Emulation`](super::Emulation) allows. Another
    /// order of its threads would take as long.
    pub fn is_endless(&self) -> bool {
        matches!(self, DriverError::Engine(error) if error.is_endless())
    }

    /// Whether a launch on the emulator failed because its blocks do not all run at once, as those of a
    /// [cooperative](super::Device::prepare_cooperative) launch do.
    pub fn wants_cooperation(&self) -> bool {
        matches!(self, DriverError::Engine(error) if error.wants_cooperation())
    }
}

impl From<Box<Stop>> for DriverError {
    fn from(stop: Box<Stop>) -> DriverError {
        match *stop {
            Stop::Found(finding) => DriverError::HostAccess(Box::new(finding.with_places())),
            Stop::NoMemory { bytes } => DriverError::CheckMemory { bytes },
        }
    }
}

/// A log in lines of its own.
fn below(log: &str) -> String {
    match log {
        "" => String::new(),
        log => format!("\n{log}"),
    }
}

/// The first of the names, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let first = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0 => "none".to_owned(),
        1..=SHOWN => first,
        all => format!("{first} and {} more", all - SHOWN),
    }
}

/// Returns the advice where no embedded PTX, by its targets, is for a GPU: that of `sm_90a` is for no other.
fn remedy(targets: &str, actual: u32) -> String {
    match targets.split(", ").all(|target| target.ends_with('a')) {
        true => ", which no other GPU runs".to_owned(),
        false => format!(": build with RIDGEPOINT_ARCH=sm_{actual}"),
    }
}

/// Names the operation that a driver call belongs to.
pub(crate) fn during(operation: &'static str) -> impl Fn(CudaError) -> DriverError {
    move |error| panicked(operation).unwrap_or(DriverError::Cuda { operation, error })
}

/// Returns the driver's text for its error. Where the driver has none, `cust` fails to write it.
fn told(error: CudaError) -> String {
    let mut text = String::new();
    match write!(text, "{error}") {
        Ok(()) => text,
        Err(fmt::Error) => "which the driver has no text for: a libcuda.so.1 of the CUDA toolkit's `stubs` is for the linker alone"
            .to_owned(),
    }
}

/// The result of a driver call that belongs to this operation.
pub(super) fn checked(operation: &'static str, result: CUresult) -> Result<(), DriverError> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        result => Err(panicked(operation).unwrap_or(DriverError::Call { operation, result })),
    }
}

/// The driver says of a kernel's panic no more than that a launch failed.
fn panicked(operation: &'static str) -> Option<DriverError> {
    let panic = cuda_loader::panic()?;
    Some(DriverError::Panicked { operation, panic })
}

#[cfg(test)]
mod tests {
    use super::{CudaError, DriverError, listed};

    #[test]
    fn an_error_is_told_by_a_driver_without_texts() {
        let (operation, error) = ("get the device", CudaError::NotInitialized);
        let told = DriverError::Cuda { operation, error }.to_string();
        assert!(
            told.starts_with("get the device: NotInitialized ("),
            "{told}"
        );
    }

    #[test]
    fn who_unwraps_an_error_reads_its_text() {
        let error = DriverError::NoKernel("scale");
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn ptx_that_no_other_gpu_runs_is_not_to_be_built_again() {
        let error = |embedded: &str| DriverError::NoPtx {
            name: "NVIDIA A100".to_owned(),
            actual: 80,
            embedded: embedded.to_owned(),
        };
        assert_eq!(
            error("sm_90a").to_string(),
            "NVIDIA A100 is sm_80, and the embedded PTX is for sm_90a, which no other GPU runs"
        );
        assert!(
            error("sm_90, sm_90a")
                .to_string()
                .ends_with("90a: build with RIDGEPOINT_ARCH=sm_80")
        );
    }

    #[test]
    fn a_list_of_names_has_an_end() {
        let names: Vec<String> = (0..10).map(|i| format!("k{i}")).collect();
        assert_eq!(listed(&[]), "none");
        assert_eq!(listed(&names[..2]), "k0, k1");
        assert_eq!(listed(&names), "k0, k1, k2, k3, k4, k5, k6, k7 and 2 more");
    }
}
