//! Records that a tracer hears of, read as they lie in CUPTI's memory.
//!
//! As in `record`, the leading fields alone are declared, which CUPTI 12 and 13 have at the same places.

use std::ffi::{CStr, c_char};

use crate::record::{self, CONCURRENT_KERNEL, Kernel, MEMCPY, MEMSET, Record};

/// `CUpti_ActivityKind`.
pub(crate) const DEVICE: u32 = 8;
pub(crate) const PEER_MEMCPY: u32 = 22;
pub(crate) const MEMORY: u32 = 49;

/// Work of a GPU, or what orders it. Times are nanoseconds of CUPTI's clock; 0 where CUPTI could not take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traced<'r> {
    /// A GPU.
    Device {
        /// Its number.
        id: u32,
        /// Its name.
        name: &'r CStr,
    },
    /// A kernel.
    Kernel {
        /// Where and when.
        span: Span,
        /// The name of the PTX entry.
        name: &'r CStr,
        /// Blocks.
        grid: [u32; 3],
        /// Threads of a block.
        block: [u32; 3],
        /// Registers per thread.
        registers: u32,
        /// Bytes of shared memory per block: static, dynamic.
        shared: [u32; 2],
    },
    /// A copy.
    Copy {
        /// Where and when.
        span: Span,
        /// From which memory.
        from: Memory,
        /// To which.
        to: Memory,
        /// Bytes copied.
        bytes: u64,
        /// Another device that was written.
        peer: Option<u32>,
    },
    /// Memory filled with a value.
    Fill {
        /// Where and when.
        span: Span,
        /// Bytes written.
        bytes: u64,
    },
    /// Memory allocated or freed.
    Memory {
        /// Which memory.
        memory: Memory,
        /// Freed, and not allocated.
        is_release: bool,
        /// Whether it is of a pool.
        is_pooled: bool,
        /// Where.
        address: u64,
        /// Bytes.
        bytes: u64,
        /// The device.
        device: u32,
        /// The call.
        correlation: u32,
        /// When.
        time: u64,
    },
}

/// Where and when a GPU worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The device.
    pub device: u32,
    /// The context.
    pub context: u32,
    /// The stream.
    pub stream: u32,
    /// The call.
    pub correlation: u32,
    /// The graph, 0 where in none.
    pub graph: u32,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Of the host, and not page-locked.
    Pageable,
    /// Of the host, page-locked.
    Pinned,
    /// Of a device.
    Device,
    /// Of both.
    Managed,
    /// A texture's array.
    Array,
    /// CUPTI does not say.
    Unknown,
}

/// Where a function is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The driver.
    Driver,
    /// The runtime.
    Runtime,
}

/// The end of a kernel's record as far as it is read.
#[repr(C)]
struct LongKernel {
    kernel: Kernel,
    reserved: u64,
    queued: u64,
    submitted: u64,
    launch: [u8; 4],
    shared_executed: u32,
    graph_node: u64,
    shared_limit: u32,
    graph: u32,
}

/// A copy or a fill, whose fields lie alike.
#[repr(C)]
struct LongTransfer {
    transfer: record::Transfer,
    runtime_correlation: u32,
    pad: u32,
    reserved: u64,
    graph_node: u64,
    graph: u32,
}

/// A fill has no correlation of the runtime's in its place.
#[repr(C)]
struct LongFill {
    transfer: record::Transfer,
    flags: u32,
    pad: u32,
    reserved: u64,
    graph_node: u64,
    graph: u32,
}

#[repr(C)]
struct PeerCopy {
    transfer: record::Transfer,
    // In the place of `transfer.correlation` is the device that is read.
    source_context: u32,
    destination: u32,
    destination_context: u32,
    correlation: u32,
    reserved: u64,
    graph_node: u64,
    graph: u32,
}

#[repr(C)]
struct Allocated {
    kind: u32,
    operation: u32,
    memory: u32,
    correlation: u32,
    address: u64,
    bytes: u64,
    time: u64,
    place: u64,
    process: u32,
    device: u32,
    context: u32,
    stream: u32,
    name: *const c_char,
    is_async: u32,
    pad: u32,
    pool: u32,
}

#[repr(C)]
struct Device {
    kind: u32,
    flags: u32,
    /// Bandwidth and size of the memory.
    memory: [u64; 2],
    /// From the constant memory's size to the largest grid.
    limits: [u32; 20],
    capability: [u32; 2],
    id: u32,
    ecc: u32,
    uuid: [u8; 16],
    name: *const c_char,
}

/// Reads a record of a kind that a tracer enables.
///
/// # Safety
/// `record` is one of CUPTI's, of the kind that it says.
pub(crate) unsafe fn read<'r>(record: *const Record) -> Option<Traced<'r>> {
    // SAFETY: every record begins with its kind, and by its kind it begins with the fields that are declared. Names end
    // with a zero, and live as long as the buffer.
    unsafe {
        match record::kind(record) {
            CONCURRENT_KERNEL => Some(kernel(&*record.cast())),
            MEMCPY => Some(copy(&*record.cast())),
            PEER_MEMCPY => Some(peer_copy(&*record.cast())),
            MEMSET => Some(fill(&*record.cast())),
            MEMORY => Some(memory(&*record.cast())),
            DEVICE => {
                let device = &*record.cast::<Device>();
                Some(Traced::Device {
                    id: device.id,
                    name: named(device.name),
                })
            }
            _ => None,
        }
    }
}

/// # Safety
/// The name is null or ends with a zero.
unsafe fn named<'r>(name: *const c_char) -> &'r CStr {
    match name.is_null() {
        true => c"?",
        // SAFETY: the caller's contract.
        false => unsafe { CStr::from_ptr(name) },
    }
}

/// # Safety
/// The name is null or ends with a zero.
unsafe fn kernel<'r>(record: &LongKernel) -> Traced<'r> {
    let kernel = &record.kernel;
    Traced::Kernel {
        span: Span {
            device: kernel.device,
            context: kernel.context,
            stream: kernel.stream,
            correlation: kernel.correlation,
            graph: record.graph,
            start: kernel.start,
            end: kernel.end,
        },
        // SAFETY: the caller's contract.
        name: unsafe { named(kernel.name) },
        grid: kernel.grid,
        block: kernel.block,
        registers: u32::from(kernel.registers),
        shared: [kernel.static_shared, kernel.dynamic_shared],
    }
}

fn span(record: &record::Transfer, graph: u32) -> Span {
    Span {
        device: record.device,
        context: record.context,
        stream: record.stream,
        correlation: record.correlation,
        graph,
        start: record.start,
        end: record.end,
    }
}

fn copy<'r>(record: &LongTransfer) -> Traced<'r> {
    let [from, to, _] = record.transfer.detail;
    Traced::Copy {
        span: span(&record.transfer, record.graph),
        from: memory_kind(from.into()),
        to: memory_kind(to.into()),
        bytes: record.transfer.bytes,
        peer: None,
    }
}

fn peer_copy<'r>(record: &PeerCopy) -> Traced<'r> {
    let [from, to, _] = record.transfer.detail;
    Traced::Copy {
        span: Span {
            correlation: record.correlation,
            ..span(&record.transfer, record.graph)
        },
        from: memory_kind(from.into()),
        to: memory_kind(to.into()),
        bytes: record.transfer.bytes,
        peer: Some(record.destination),
    }
}

fn fill<'r>(record: &LongFill) -> Traced<'r> {
    Traced::Fill {
        span: span(&record.transfer, record.graph),
        bytes: record.transfer.bytes,
    }
}

/// `CUpti_ActivityMemoryKind`.
fn memory_kind(kind: u32) -> Memory {
    match kind {
        1 => Memory::Pageable,
        2 => Memory::Pinned,
        3 | 6 => Memory::Device,
        4 => Memory::Array,
        5 | 7 => Memory::Managed,
        _ => Memory::Unknown,
    }
}

fn memory<'r>(record: &Allocated) -> Traced<'r> {
    Traced::Memory {
        memory: memory_kind(record.memory),
        is_release: record.operation == 2,
        is_pooled: record.pool != 0,
        address: record.address,
        bytes: record.bytes,
        device: record.device,
        correlation: record.correlation,
        time: record.time,
    }
}

#[cfg(test)]
mod tests;
