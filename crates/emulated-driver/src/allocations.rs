//! Allocations of a program through the driver, beside what the engine knows of them: whose they are, and of which
//! kind.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use engine::check::Stop;
use engine::memory::{self, Contents, DEVICES, Direction, Label, Memory, Protection};

use crate::context::Context;
use crate::device;
use crate::findings::{Cause, found, say};
use crate::graph_memory;
use crate::handles::{Handle, lock};
use crate::order::{self, Lane};
use crate::pool;
use crate::recorded;
use crate::settings::{MEMORY, settings};
use crate::status::{Answer, Status};

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    pub(crate) context: Handle,
    pub(crate) device: u32,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    pub(crate) flags: u32,
}

/// Where an allocation's bytes are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Memory of a device.
    Device,
    /// The same, of a pool.
    OfPool(Handle),
    /// The same, that a node of a graph has allocated.
    OfGraph,
    /// Memory that host and devices share.
    Managed,
    /// Host memory that kernels reach.
    Host,
    /// The program's own memory, which kernels reach.
    Registered,
}

impl Kind {
    /// Whether it is memory of a device alone.
    pub(crate) fn is_of_device(self) -> bool {
        matches!(self, Kind::Device | Kind::OfPool(_) | Kind::OfGraph)
    }
}

static ALL: LazyLock<Mutex<HashMap<u64, Allocated>>> = LazyLock::new(Mutex::default);
static USED: [AtomicU64; DEVICES as usize] = [const { AtomicU64::new(0) }; DEVICES as usize];

/// Bytes of a device that are in use.
pub(crate) fn used(device: u32) -> u64 {
    USED[device as usize].load(Ordering::Relaxed)
}

/// Returns the allocation that begins at an address.
pub(crate) fn at(start: u64) -> Option<Allocated> {
    lock(&ALL).get(&start).copied()
}

/// Returns the allocation that holds an address, and what the engine knows of it.
pub(crate) fn holding(address: u64) -> Option<(memory::Allocation, Option<Allocated>)> {
    let found = device::space().find(address)?;
    let own = at(found.start);
    Some((found, own))
}

/// Allocates memory of a context's device.
///
/// # Errors
/// Zero bytes are asked for, or more than are free.
pub(crate) fn allocate(context: &Context, bytes: u64, kind: Kind) -> Answer<u64> {
    const ALIGNMENT: u64 = 512;
    let device = context.device;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let all = settings().memory;
    let free = all.saturating_sub(used(device));
    if bytes > free {
        // Programs that are written for a GPU's memory often do not ask whether they got it.
        say(&format!(
            "out of memory: {bytes} bytes are asked for, and {free} of the device's {all} are free; {MEMORY} gives it more"
        ));
        return Err(Status::OUT_OF_MEMORY);
    }
    let label = Label::new("", 1);
    let start = device::memory(device).allocate(bytes, ALIGNMENT, Contents::Undefined, label);
    let start = start.map_err(|_| Status::OUT_OF_MEMORY)?;
    add((start, bytes), (context.handle, device), kind);
    Ok(start)
}

/// Notes memory of a context's device that is allocated.
pub(crate) fn add((start, bytes): (u64, u64), (context, device): (Handle, u32), kind: Kind) {
    USED[device as usize].fetch_add(bytes, Ordering::Relaxed);
    let allocated = Allocated {
        context,
        device,
        bytes,
        kind,
        flags: 0,
    };
    lock(&ALL).insert(start, allocated);
    recorded::memory(kind, (start, bytes), device, false);
}

/// Allocates host memory that kernels reach. Nobody sees what the host itself does with it: it counts as written.
///
/// # Errors
/// As [`allocate`].
pub(crate) fn lend(context: &Context, bytes: usize, (kind, flags): (Kind, u32)) -> Answer<u64> {
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    // The system lends more than it has, and ends the process that uses it. To ask takes longer than to allocate little.
    const LARGE: usize = 64 << 20;
    if bytes >= LARGE && bytes as u64 > memory::free_bytes() {
        return Err(Status::OUT_OF_MEMORY);
    }
    let layout = layout(bytes)?;
    // SAFETY: the layout has bytes.
    let start = unsafe { alloc_zeroed(layout) }.expose_provenance() as u64;
    if start == 0 {
        return Err(Status::OUT_OF_MEMORY);
    }
    // SAFETY: allocated above with so many bytes, and given back by `free` after it is disowned.
    unsafe { adopt(context, (start, bytes as u64), kind, flags) };
    Ok(start)
}

fn layout(bytes: usize) -> Answer<Layout> {
    const PAGE: usize = 4096;
    Layout::from_size_align(bytes, PAGE).map_err(|_| Status::OUT_OF_MEMORY)
}

/// Makes memory of the host known to kernels.
///
/// # Safety
/// It stays allocated until it is disowned.
unsafe fn adopt(context: &Context, (start, bytes): (u64, u64), kind: Kind, flags: u32) {
    let label = Label::new("", 1);
    // SAFETY: by this function's contract; a program's own bytes are not Rust's, and the host's are made for this.
    unsafe {
        device::space().adopt(
            start,
            bytes,
            memory::Kind::Host,
            label,
            Protection::ReadWrite,
        )
    };
    let (context, device) = (context.handle, context.device);
    lock(&ALL).insert(
        start,
        Allocated {
            context,
            device,
            bytes,
            kind,
            flags,
        },
    );
    recorded::memory(kind, (start, bytes), device, false);
}

/// Lets kernels reach memory of the program's own.
///
/// # Errors
/// Kernels reach a part of it already, or it is none.
pub(crate) fn register(context: &Context, (start, bytes): (u64, u64), flags: u32) -> Answer {
    let last = start.checked_add(bytes).and_then(|end| end.checked_sub(1));
    let last = last
        .filter(|_| start != 0 && bytes > 0)
        .ok_or(Status::INVALID_VALUE)?;
    let is_known = |it: u64| device::space().find(it).is_some();
    let is_within = || {
        let all = lock(&ALL);
        all.keys().any(|it| (start..=last).contains(it))
    };
    if is_known(start) || is_known(last) || is_within() {
        return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
    }
    // SAFETY: the program keeps the memory until it unregisters it, by the contract of `cuMemHostRegister`.
    unsafe { adopt(context, (start, bytes), Kind::Registered, flags) };
    Ok(())
}

/// Frees what begins at an address, if it is of one of the kinds that the caller means.
///
/// # Errors
/// No such allocation begins there.
pub(crate) fn free(start: u64, is_meant: impl Fn(Kind) -> bool) -> Answer {
    free_if(start, is_meant).unwrap_or_else(|| {
        say(&format!(
            "free of {}: no such allocation begins there",
            device::space().place(start)
        ));
        Err(Status::INVALID_VALUE)
    })
}

/// The same; none where no such allocation begins there.
pub(crate) fn free_if(start: u64, is_meant: impl Fn(Kind) -> bool) -> Option<Answer> {
    let mut all = lock(&ALL);
    let found = all.get(&start).copied().filter(|it| is_meant(it.kind))?;
    all.remove(&start);
    drop(all);
    Some(give_back(start, found))
}

/// Frees memory of a device in the order of a stream: what another stream still does with it is too late, as after a write.
pub(crate) fn free_in(lane: &Lane, start: u64) -> Answer {
    let allocated = at(start).ok_or(Status::INVALID_VALUE)?;
    let bytes = (start, allocated.bytes);
    touch("cuMemFreeAsync", lane, bytes, Direction::Write)?;
    free(start, Kind::is_of_device)
}

fn give_back(start: u64, allocated: Allocated) -> Answer {
    let bytes = (start, allocated.bytes);
    recorded::memory(allocated.kind, bytes, allocated.device, true);
    if allocated.kind.is_of_device() {
        USED[allocated.device as usize].fetch_sub(allocated.bytes, Ordering::Relaxed);
    }
    match allocated.kind {
        Kind::OfGraph => {
            graph_memory::end(start);
            Ok(())
        }
        Kind::Device | Kind::OfPool(_) => {
            if let Kind::OfPool(pool) = allocated.kind {
                pool::give_back(pool, allocated.bytes);
            }
            device::space()
                .free(start)
                .map_err(|_| Status::INVALID_VALUE)
        }
        Kind::Registered => {
            device::space().disown(start);
            Ok(())
        }
        Kind::Managed | Kind::Host => {
            device::space().disown(start);
            let layout = layout(allocated.bytes as usize)?;
            // SAFETY: allocated by `lend` with this layout, and no longer known. Launches end in the call that makes
            // them, or are waited for by the one that frees; a program that frees what a launch of another thread uses would err on a GPU, too.
            unsafe {
                dealloc(
                    std::ptr::with_exposed_provenance_mut(start as usize),
                    layout,
                )
            };
            Ok(())
        }
    }
}

/// Frees all that is of a context.
pub(crate) fn free_all_of(context: Handle) {
    let gone: Vec<(u64, Allocated)> = lock(&ALL)
        .extract_if(|_, it| it.context == context)
        .collect();
    for (start, allocated) in gone {
        let _ = give_back(start, allocated);
    }
}

/// The memory of the device that an allocation is of; of the host's that of the first.
fn memory_of(found: &memory::Allocation) -> &'static Arc<Memory> {
    device::memory(found.device.unwrap_or(0))
}

/// A function that refuses bytes: by whom they are used, where they are, and whether they have to be a device's.
pub(crate) type Check = fn(&str, (u64, u64), bool) -> Answer;

/// The same as [`check`], before something is put into a stream or a graph: what a graph allocates may come until it is done.
pub(crate) fn check_ahead(what: &str, (address, bytes): (u64, u64), is_device: bool) -> Answer {
    match device::space().find(address).is_none() && graph_memory::holds(address, bytes) {
        true => Ok(()),
        false => check(what, (address, bytes), is_device),
    }
}

/// Refuses bytes that begin in an allocation and end outside of it, and, of a device's, those that begin in none: both are findings.
pub(crate) fn check(what: &str, (address, bytes): (u64, u64), is_device: bool) -> Answer {
    let (place, start) = match device::space().find(address) {
        Some(found) if found.holds(address, bytes) => return Ok(()),
        Some(found) => {
            let (offset, all) = (address - found.start, found.bytes);
            let place = format!("from byte {offset} of an allocation of {all} bytes on");
            (place, Some(found.start))
        }
        None if !is_device && address == 0 => {
            say(&format!("{what}: a null pointer"));
            return Err(Status::INVALID_VALUE);
        }
        None if !is_device => return Ok(()),
        None if address == 0 => ("from a null pointer on".to_owned(), None),
        None => in_none(address),
    };
    let start = start.map_or(String::new(), |it| format!(", which begins at {it:#x}"));
    let text = format!("{what}: {bytes} bytes at {address:#x}, {place}{start}");
    let brief = format!("{what}: {bytes} bytes {place}");
    found(&text, None, Cause::Outside(&brief));
    Err(Status::INVALID_VALUE)
}

/// Tells of an address that lies in no allocation, and where one begins that is near or was there.
fn in_none(address: u64) -> (String, Option<u64>) {
    const NEAR: u64 = 4096;
    let place = device::space().place(address);
    match place.nearest().filter(|it| it.distance() < NEAR) {
        Some(part) => {
            let start = address.wrapping_sub(part.offset as u64);
            (
                format!("in no allocation: {part}, freed or near"),
                Some(start),
            )
        }
        None => ("in no allocation".to_owned(), None),
    }
}

/// Tells the checks that an operation of the host's, or of a stream, reads or writes bytes.
///
/// # Errors
/// A kernel may use them at the same time.
pub(crate) fn touch(
    what: &str,
    lane: &Lane,
    (address, bytes): (u64, u64),
    direction: Direction,
) -> Answer {
    let Some(allocation) = device::space().find(address).filter(|_| bytes > 0) else {
        return Ok(());
    };
    let memory = memory_of(&allocation);
    let Some(mut known) = order::if_checked() else {
        // Nobody remembers which bytes: all of it counts as written.
        if direction == Direction::Write {
            memory.define(address);
        }
        return Ok(());
    };
    let operation = lane.enqueue(&mut known);
    let checked = known
        .checker
        .host(memory, operation, (address, bytes), direction);
    drop(known);
    checked.map_err(|stop| match *stop {
        Stop::Found(finding) => {
            let finding = finding.with_places();
            found(&format!("{what}: {finding}"), None, Cause::Checks(&finding));
            Status::ILLEGAL_ADDRESS
        }
        stop @ Stop::NoMemory { .. } => {
            say(&format!("{what}: {stop}"));
            Status::OUT_OF_MEMORY
        }
    })
}
