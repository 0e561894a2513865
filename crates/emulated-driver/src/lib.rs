//! The CUDA driver API over the emulator: what a program calls in libcuda.so.1, executed and checked on the CPU.
//!
//! [`each_function!`] is the one table of the driver's functions, by their symbols and the versions of CUDA that they came
//! with. Exports, `cuGetProcAddress` and [`symbol`] follow from it. A new function is its definition, in a `driver!`
//! block of the file of its family, and its row.
//!
//! Three rules hold for all of them. Handles are numbers, looked up in one table (`handles.rs`), so a stale one is
//! `CUDA_ERROR_INVALID_HANDLE` and never an address. Pointers of the caller are the types of `arguments.rs`, which refuse null.
//! Nothing unwinds into the caller (`api.rs`).
//!
//! Work is done when it is put into a stream, unless it comes after a function of the host's (`queue.rs`). What orders it is told to the
//! engine's checks, which find what a GPU would do at the same time.

#[macro_use]
mod api;
mod allocations;
mod arguments;
mod array;
mod attributes;
mod capture;
mod capture_calls;
mod conditional;
mod context;
mod copy;
mod counts;
mod debug;
mod device;
mod dot;
mod entry_points;
mod event;
mod executable;
mod fill;
mod findings;
mod function;
mod graph;
mod graph_calls;
mod graph_memory;
mod handles;
mod host_memory;
mod image;
mod launch;
mod launch_calls;
mod library;
mod link;
mod linker;
mod logs;
mod memory;
mod module;
mod names;
mod node_calls;
mod node_parameters;
mod occupancy_calls;
mod order;
mod parameters;
mod peers;
mod pointer;
mod pool;
mod queue;
pub mod ranges;
mod recorded;
mod repeat;
pub mod report;
pub mod settings;
mod status;
mod stream;
mod table;
mod tensor_map;
mod texture;
mod user_object;
mod work;

pub use entry_points::symbol;

/// The driver's functions that are not emulated. Each says so once, and answers `CUDA_ERROR_NOT_SUPPORTED`.
pub mod absent {
    pub use crate::table::absent::*;
}

/// The driver's functions.
pub mod functions {
    pub use crate::array::calls::*;
    pub use crate::capture_calls::calls::*;
    pub use crate::conditional::calls::*;
    pub use crate::context::calls::*;
    pub use crate::copy::calls::*;
    pub use crate::device::calls::*;
    pub use crate::entry_points::calls::*;
    pub use crate::event::calls::*;
    pub use crate::fill::calls::*;
    pub use crate::function::calls::*;
    pub use crate::graph_calls::calls::*;
    pub use crate::graph_memory::calls::*;
    pub use crate::host_memory::calls::*;
    pub use crate::launch_calls::calls::*;
    pub use crate::library::calls::*;
    pub use crate::linker::calls::*;
    pub use crate::logs::calls::*;
    pub use crate::memory::calls::*;
    pub use crate::module::calls::*;
    pub use crate::node_calls::calls::*;
    pub use crate::occupancy_calls::calls::*;
    pub use crate::peers::calls::*;
    pub use crate::pointer::calls::*;
    pub use crate::pool::calls::*;
    pub use crate::status::calls::*;
    pub use crate::stream::calls::*;
    pub use crate::tensor_map::calls::*;
    pub use crate::texture::calls::*;
    pub use crate::user_object::calls::*;
}
