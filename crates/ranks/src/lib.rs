//! Ranks: devices that work together on one program, each driven by a thread or a process of its own.
//!
//! The same program runs on GPUs and on emulated devices, as threads and as processes. With a thread for each of
//! several emulated devices:
//!
//! ```
//! use ranks::{Limits, RankError, Reduction, run_threads};
//! use ridgepoint_driver::{Device, DeviceChoice, Stream};
//!
//! let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
//! let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
//! let all = run_threads(&devices, Limits::default(), |rank| {
//!     let communicator = rank.communicator()?;
//!     let stream = Stream::new(rank.device())?;
//!     let own = rank.device().buffer_filled(2, rank.rank() as f32)?;
//!     let mut all = rank.device().buffer_zeroed(4)?;
//!     // SAFETY: both buffers live until the stream has been synchronised, and are not used before.
//!     unsafe { communicator.all_gather(&stream, &own, &mut all) }?;
//!     communicator.synchronize(&stream)?;
//!     Ok::<_, RankError>(all.to_vec()?)
//! })?;
//! assert_eq!(all, [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`World`] says which rank a process is, if `srun`, `mpirun` or `torchrun` has started it, and [`run_process`]
//! connects it to the others. A rank that ends, is killed or falls silent is [`RankError::Lost`] to the others
//! within [`Limits::fault`], whatever they wait for.
//!
//! [`Communicator`] has the collectives: NCCL's on GPUs ([`nccl`]), and on emulated devices exchanges through the
//! host, whose sums are taken in the order of the ranks. Everything in this crate gives the same bits for the same
//! ranks, whatever the timing.

mod communicator;
mod control;
mod element;
mod error;
mod host;
mod limits;
pub mod nccl;
mod part;
mod rank;
mod threads;
mod world;

pub use communicator::Communicator;
#[doc(hidden)]
pub use control::fuzzing;
pub use control::{Control, Watch};
pub use element::{Element, Reduction};
pub use error::RankError;
pub use limits::Limits;
pub use part::{Part, PartMut};
pub use rank::{Rank, run_process};
pub use threads::{RunError, run_threads};
pub use world::{World, WorldError};
