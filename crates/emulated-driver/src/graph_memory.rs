//! Memory that nodes of graphs allocate and free: its address is known from the beginning, and kernels reach it from the one until
//! the other.

use std::collections::HashMap;
use std::ptr::{self, slice_from_raw_parts_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use engine::memory::{self, DEVICES, Kind as Place, Label, Protection};

use crate::allocations::{self, Kind};
use crate::context::Context;
use crate::device;
use crate::graph::Graph;
use crate::handles::{Handle, lock};
use crate::order::Lane;
use crate::settings::settings;
use crate::status::{Answer, Status};
use crate::work::Work;

/// Bytes at an address of a device's, which kernels reach while they are shown.
pub(crate) struct Reserved {
    device: u32,
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    /// The memory that it lies in, and its elements.
    storage: usize,
    elements: usize,
}

/// Memory of a node.
pub(crate) struct GraphMemory {
    own: Reserved,
    context: Handle,
}

/// The memory of all nodes, by where it begins.
static ALL: LazyLock<Mutex<HashMap<u64, Weak<GraphMemory>>>> = LazyLock::new(Mutex::default);
/// The memory that is allocated now: it stays though its graph is destroyed.
static LIVE: LazyLock<Mutex<HashMap<u64, Arc<GraphMemory>>>> = LazyLock::new(Mutex::default);

/// Bytes of each device that are allocated now, and at most since a program has set that back.
static USED: [[AtomicU64; 2]; DEVICES as usize] =
    [const { [AtomicU64::new(0), AtomicU64::new(0)] }; DEVICES as usize];

impl Reserved {
    /// # Errors
    /// The system has no such memory.
    pub(crate) fn new(device: u32, bytes: u64) -> Answer<Reserved> {
        const ALIGNMENT: usize = 512;
        let with_room = bytes
            .checked_add(ALIGNMENT as u64)
            .ok_or(Status::OUT_OF_MEMORY)?;
        let elements = with_room.div_ceil(size_of::<u128>() as u64);
        let storage = memory::zeros(elements).ok_or(Status::OUT_OF_MEMORY)?;
        let elements = storage.len();
        let storage = Box::into_raw(storage).cast::<u8>().expose_provenance();
        Ok(Reserved {
            device,
            start: storage.next_multiple_of(ALIGNMENT) as u64,
            bytes,
            storage,
            elements,
        })
    }

    /// Lets kernels reach it, as memory that nobody has written.
    pub(crate) fn show(&self) {
        let (memory, label) = (device::memory(self.device), Label::new("", 1));
        let (kind, protection) = (Place::Buffer, Protection::ReadWrite);
        // SAFETY: it lies in the storage, which is retired after it was hidden; nobody borrows it.
        unsafe { memory.adopt(self.start, self.bytes, kind, label, protection) };
        memory.undefine(self.start);
    }

    /// Lets kernels reach it no longer.
    pub(crate) fn hide(&self) {
        device::memory(self.device).disown(self.start);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.hide();
        let storage = ptr::with_exposed_provenance_mut::<u128>(self.storage);
        // SAFETY: a box's, of so many elements, which nobody else frees.
        let storage = unsafe { Box::from_raw(slice_from_raw_parts_mut(storage, self.elements)) };
        device::memory(self.device).retire(vec![storage]);
    }
}

impl GraphMemory {
    /// # Errors
    /// Zero bytes are asked for, or more than the device or the system has.
    pub(crate) fn new(context: &Context, bytes: u64) -> Answer<Arc<GraphMemory>> {
        if bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if bytes > settings().memory {
            return Err(Status::OUT_OF_MEMORY);
        }
        let memory = Arc::new(GraphMemory {
            own: Reserved::new(context.device, bytes)?,
            context: context.handle,
        });
        let mut all = lock(&ALL);
        all.retain(|_, it| it.strong_count() > 0);
        all.insert(memory.start(), Arc::downgrade(&memory));
        Ok(memory)
    }

    pub(crate) fn start(&self) -> u64 {
        self.own.start
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.own.bytes
    }

    pub(crate) fn device(&self) -> u32 {
        self.own.device
    }

    /// Allocates it.
    ///
    /// # Errors
    /// It was allocated by the launch before, and not freed since, or the device has less.
    pub(crate) fn allocate(self: &Arc<Self>) -> Answer {
        let used = allocations::used(self.own.device);
        if self.bytes() > settings().memory.saturating_sub(used) {
            return Err(Status::OUT_OF_MEMORY);
        }
        let mut live = lock(&LIVE);
        if live.contains_key(&self.start()) {
            return Err(Status::INVALID_VALUE);
        }
        self.own.show();
        live.insert(self.start(), Arc::clone(self));
        drop(live);
        let [now, most] = &USED[self.own.device as usize];
        let used = now.fetch_add(self.bytes(), Ordering::Relaxed) + self.bytes();
        most.fetch_max(used, Ordering::Relaxed);
        let place = (self.start(), self.bytes());
        allocations::add(place, (self.context, self.own.device), Kind::OfGraph);
        Ok(())
    }

    /// Whether it is allocated.
    pub(crate) fn is_live(&self) -> bool {
        let live = lock(&LIVE);
        let held = live.get(&self.start());
        held.is_some_and(|it| std::ptr::eq(&**it, self))
    }

    /// Frees it in the order of a stream.
    ///
    /// # Errors
    /// It is not allocated.
    pub(crate) fn free_in(&self, lane: &Lane) -> Answer {
        match self.is_live() {
            true => allocations::free_in(lane, self.start()),
            false => Err(Status::INVALID_VALUE),
        }
    }

    /// Frees it, where it is allocated.
    pub(crate) fn free_left(&self) {
        let _ = allocations::free_if(self.start(), |it| it == Kind::OfGraph);
    }
}

/// Forgets memory that is freed.
pub(crate) fn end(start: u64) {
    let mut live = lock(&LIVE);
    let gone = live.remove(&start);
    if let Some(memory) = &gone {
        // Before the next launch shows it.
        memory.own.hide();
        drop(live);
        let [now, _] = &USED[memory.own.device as usize];
        now.fetch_sub(memory.bytes(), Ordering::Relaxed);
    }
    drop(gone);
}

/// Returns the memory of a node that begins at an address.
pub(crate) fn beginning_at(address: u64) -> Option<Arc<GraphMemory>> {
    lock(&ALL).get(&address).and_then(Weak::upgrade)
}

/// Returns a node's work that frees memory of another node's, for a graph.
///
/// # Errors
/// No node allocates what is at the address, or one of the graph frees it.
pub(crate) fn freed_in(graph: &Graph, address: u64) -> Answer<Work> {
    let memory = beginning_at(address).filter(|_| !graph.frees(address));
    memory.map(Work::Release).ok_or(Status::INVALID_VALUE)
}

/// Whether bytes are those of a node's memory, which may be allocated when a graph is launched.
pub(crate) fn holds(address: u64, bytes: u64) -> bool {
    let all: Vec<Arc<GraphMemory>> = lock(&ALL).values().filter_map(Weak::upgrade).collect();
    all.iter().any(|it| {
        let offset = address.checked_sub(it.start());
        let end = offset.and_then(|it| it.checked_add(bytes));
        end.is_some_and(|end| end <= it.bytes())
    })
}

/// The count that a `CUgraphMem_attribute` names: bytes that are used now and at most, and the same of those that are reserved, which
/// are no more here.
fn count(device: i32, which: u32) -> Answer<&'static AtomicU64> {
    let counts = &USED[device::number(device)? as usize];
    match which {
        0..=3 => Ok(&counts[which as usize % 2]),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Sets the most back to what is used now.
fn set_back(device: i32, which: u32, value: u64) -> Answer {
    let most = count(device, which)?;
    match (which % 2, value) {
        (1, 0) => {
            most.store(count(device, 0)?.load(Ordering::Relaxed), Ordering::Relaxed);
            Ok(())
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuDeviceGetGraphMemAttribute(of: i32, which: u32, to: Out<u64>) { to.put(count(of, which)?.load(Ordering::Relaxed)) }
        fn cuDeviceSetGraphMemAttribute(of: i32, which: u32, value: Out<u64>) { set_back(of, which, value.get()?) }
        fn cuDeviceGraphMemTrim(of: i32) { device::number(of).map(drop) }
    }
}
