//! Types that a [`DriverError`](crate::DriverError) holds and that crates below this one declare.
//!
//! ```
//! use ridgepoint_driver::errors::{ExecutionError, Failure, LimitError, LoadError, ParseError};
//! use ridgepoint_driver::{Device, DriverError, Emulation};
//!
//! /// A status for programs that run this one.
//! fn status(error: &DriverError) -> u8 {
//!     match error {
//!         DriverError::Limit(LimitError::Block { .. } | LimitError::Grid { .. }) => 2,
//!         DriverError::UnreadablePtx { error: LoadError::Parse(ParseError { line, .. }), .. } => {
//!             println!("look at line {line}");
//!             3
//!         }
//!         DriverError::Engine(error) => match &**error {
//!             ExecutionError::Found { kernel, finding } => {
//!                 println!("{kernel} is wrong: {finding}");
//!                 4
//!             }
//!             ExecutionError::Thread { failure, .. } if **failure == Failure::Trap => 5,
//!             _ => 6,
//!         },
//!         _ => 1,
//!     }
//! }
//!
//! let not_ptx = [(90, ".version 8.0\n.target sm_90\nnonsense", None)];
//! let error = Device::emulator_with(Emulation::default(), &not_ptx).err().expect("no PTX");
//! assert_eq!(status(&error), 3);
//! ```
//!
//! On GPUs errors hold a [`CudaError`] or a [`CUresult`] of the driver, a kernel's [`Panic`], or a [`CuptiError`]. The rest of
//! this module is what these types hold in turn.
//!
//! ```
//! use ridgepoint_driver::errors::*;
//!
//! /// A remedy, if one is known.
//! fn remedy(error: &ridgepoint_driver::DriverError) -> Option<String> {
//!     use ridgepoint_driver::DriverError;
//!     Some(match error {
//!         DriverError::NoDriver(error @ LibraryError { .. }) => format!("install a driver: {error}"),
//!         DriverError::UnknownCapability(OccupancyError::UnknownCapability(of)) => format!("not {of}"),
//!         DriverError::Call { result: CUresult::CUDA_ERROR_OUT_OF_MEMORY, .. } => "free some".into(),
//!         DriverError::Cuda { error: CudaError::OutOfMemory, .. } => "free some".into(),
//!         DriverError::Panicked { panic: Panic { place: Some(place), .. }, .. } => format!("see {place}"),
//!         DriverError::Counters(CuptiError::NotFound) => "install CUPTI".into(),
//!         DriverError::UnreadablePtx { error: LoadError::TooLarge(TooLarge { limit, .. }), .. } => {
//!             format!("at most {limit} bytes")
//!         }
//!         DriverError::Engine(error) => match &**error {
//!             ExecutionError::Unlowered(Unlowered::Unsupported(Unsupported { text, .. })) => {
//!                 format!("write something else than {text}")
//!             }
//!             ExecutionError::Unlowered(Unlowered::Internal(Internal { why, .. })) => {
//!                 format!("report {why}")
//!             }
//!             ExecutionError::Unfinished { endless, .. } => {
//!                 let Endless { limit, awaited, progress, .. } = &**endless;
//!                 let Progress { ended, .. } = progress;
//!                 match (limit, awaited) {
//!                     (Limit::Steps(steps), None) => format!("more than {steps} steps"),
//!                     (_, Some(Awaited { place, .. })) => format!("write {place}"),
//!                     _ => format!("more time: {ended} blocks have ended"),
//!                 }
//!             }
//!             _ => return None,
//!         },
//!         _ => return None,
//!     })
//! }
//! ```

pub use cuda_loader::{DriverError as LibraryError, Panic};
pub use cupti::Error as CuptiError;
pub use cust::error::CudaError;
pub use cust::sys::CUresult;
pub use engine::{
    Awaited, Endless, Failure, Internal, LaunchError as ExecutionError, Limit, LimitError,
    LoadError, ParseError, Progress, TooLarge, Unlowered, Unsupported,
};
pub use occupancy::OccupancyError;
