//! The memory of emulated devices: allocations, resolution of addresses, bounds.
//!
//! # For the executor
//!
//! - Global memory: one [`Memory`] per device, shared by host threads; [`Memory::of_device`] is that of another. Per global access of a
//!   warp, whatever the mode: `let lanes = Lanes::new(&addresses, mask, bytes)`, then
//!   `memory.resolve(&lanes, Direction::Read, &mut cached)?`. `cached` is the instruction's own and
//!   begins as `Cached::default()`; while all lanes stay in the allocation of last time nothing is
//!   looked up. After `Ok` each active lane may dereference its address for `bytes` bytes.
//!   `lanes.pattern` tells how to load: one vector, one scalar, or lane by lane.
//! - Hold [`Memory::running`]'s guard for as long as a launch runs: memory that is freed meanwhile
//!   is not given back to the host before all guards are gone, so a stale pointer reads old bytes
//!   and never faults.
//! - Shared memory: [`Shared::new`] once per launch lays variables out (with gaps if checked);
//!   `shared.offset_of(i)` is what the symbol's address becomes; `shared.resolve(&lanes)` per
//!   access. Offsets, not addresses; the bytes are the executor's.
//! - Local memory: one [`Local`] per warp; `push` when an activation begins, `pop` when it ends.
//! - Kernels' `malloc` and `free`: [`Memory::heap_allocate`] and [`Memory::heap_free`].
//! - Names: [`Memory::name`] before a launch for each buffer that a parameter points to.

mod allocation;
mod device;
mod fault;
mod host;
mod lanes;
mod local;
mod parts;
mod peers;
mod place;
mod resolve;
mod shared;
mod snapshot;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod windows;

pub use allocation::{Allocation, AllocationId, Contents, Protection};
pub use device::{DEVICES, Limits, Memory, OutOfMemory, Running, Space};
pub use fault::Fault;
pub(crate) use host::has_room;
pub use host::{free_bytes, system_bytes, zeros};
pub use lanes::{LANES, Lanes, Pattern};
pub(crate) use lanes::{each_lane, lanes_of};
pub(crate) use local::LOCAL_BITS;
pub use local::{FrameLayout, Local, LocalVariable};
pub(crate) use parts::{DynamicPart, Parts};
pub use place::{Kind, Label, Part, Place};
pub use resolve::{Cached, Direction};
pub use shared::{Shared, Variable};
pub use snapshot::Snapshot;
