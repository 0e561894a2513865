//! Pools: memory that is allocated and freed in the order of a stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use crate::allocations::{self, Kind, allocate};
use crate::capture;
use crate::context::current;
use crate::device;
use crate::graph_memory::{self, GraphMemory};
use crate::handles::{Handle, keep, lock, look};
use crate::status::{Answer, Status};
use crate::stream::{self, Stream};
use crate::work::{Work, submit};

/// A pool. The emulator gives freed memory back at once: what a pool keeps is not kept.
pub(crate) struct Pool {
    device: u32,
    attributes: Mutex<HashMap<u32, u64>>,
    /// Bytes that are used.
    used: AtomicU64,
    /// Bytes that were reserved and used at most, since a program has set them back.
    most: [AtomicU64; 2],
}

/// `CUmemPool_attribute`: three switches, on at first, and the bytes that the pool does not give back.
const SWITCHES: [u32; 3] = [1, 2, 3];
const RELEASE_THRESHOLD: u32 = 4;
/// Bytes that are reserved and that are used, which are the same here, and the most that each was.
const USED: [u32; 2] = [5, 7];
const MOST: [u32; 2] = [6, 8];

/// The pools of each device: its default one, and the one that is used where none is named.
static OF_DEVICES: LazyLock<Mutex<Vec<(Handle, Handle)>>> = LazyLock::new(|| {
    let default = |device| {
        let pool = keep(Pool::new(device));
        (pool, pool)
    };
    Mutex::new((0..device::count()).map(default).collect())
});

impl Pool {
    fn new(device: u32) -> Pool {
        let switches = SWITCHES.iter().map(|&it| (it, 1));
        let attributes = switches.chain([(RELEASE_THRESHOLD, 0)]);
        Pool {
            device,
            attributes: Mutex::new(attributes.collect()),
            used: AtomicU64::new(0),
            most: Default::default(),
        }
    }

    fn attribute(&self, which: u32) -> Answer<u64> {
        if USED.contains(&which) {
            return Ok(self.used.load(Ordering::Relaxed));
        }
        if let Some(most) = self.most_of(which) {
            return Ok(most.load(Ordering::Relaxed));
        }
        lock(&self.attributes)
            .get(&which)
            .copied()
            .ok_or(Status::INVALID_VALUE)
    }

    /// The bytes that an attribute says were most.
    fn most_of(&self, which: u32) -> Option<&AtomicU64> {
        let index = MOST.iter().position(|it| *it == which);
        index.map(|it| &self.most[it])
    }

    /// Bytes were taken.
    fn take(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        for most in &self.most {
            most.fetch_max(used, Ordering::Relaxed);
        }
    }

    fn set(&self, which: u32, value: u64) -> Answer {
        if let (Some(most), 0) = (self.most_of(which), value) {
            most.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
            return Ok(());
        }
        *lock(&self.attributes)
            .get_mut(&which)
            .ok_or(Status::INVALID_VALUE)? = value;
        Ok(())
    }
}

/// Allocates memory of a pool, or of the one that is used where none is named.
fn allocate_in(stream: Handle, pool: Option<Handle>, bytes: usize) -> Answer<u64> {
    let stream = stream::of(stream)?;
    if stream.is_capturing() {
        let memory = capture::noted(&stream, GraphMemory::new(&*current()?, bytes as u64))?;
        let start = memory.start();
        submit(&stream, Work::Allocate(memory))?;
        return Ok(start);
    }
    capture::admit_unsafe()?;
    let pool = match pool {
        Some(pool) => pool,
        None => lock(&OF_DEVICES)[stream.device as usize].1,
    };
    let from = look::<Pool>(pool)?;
    let context = current()?;
    if from.device != context.device {
        return Err(Status::NOT_SUPPORTED);
    }
    let start = allocate(&context, bytes as u64, Kind::OfPool(pool))?;
    from.take(bytes as u64);
    Ok(start)
}

/// Bytes of a pool were given back, which may have been destroyed meanwhile.
pub(crate) fn give_back(pool: Handle, bytes: u64) {
    if let Ok(pool) = look::<Pool>(pool) {
        pool.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Frees memory in the order of a stream.
fn free_in(stream: &Arc<Stream>, address: u64) -> Answer {
    if let Some(graph) = capture::graph_of(stream) {
        return submit(stream, graph_memory::freed_in(&graph, address)?);
    }
    capture::admit_unsafe()?;
    // A graph that is queued allocates it when it is launched.
    if graph_memory::beginning_at(address).is_none() {
        allocations::at(address).ok_or(Status::INVALID_VALUE)?;
    }
    submit(stream, Work::Free(address))
}

/// Bytes of an attribute's value: switches are 4 bytes, counts 8.
fn is_short(which: u32) -> bool {
    SWITCHES.contains(&which)
}

/// Which device a new pool is of: the fields of `CUmemPoolProps` that say so.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Properties {
    kind: u32,
    handles: u32,
    location: u32,
    device: i32,
}

impl Properties {
    /// The device that it describes memory of.
    ///
    /// # Errors
    /// It describes other memory than that of a device that this process has for itself.
    pub(crate) fn device(self) -> Answer<u32> {
        let Properties {
            kind: PINNED,
            handles: 0,
            location: ON_DEVICE,
            device,
        } = self
        else {
            return Err(Status::NOT_SUPPORTED);
        };
        device::number(device)
    }

    /// Describes memory of a device.
    pub(crate) fn of_device(device: u32) -> Properties {
        Properties {
            kind: PINNED,
            handles: 0,
            location: ON_DEVICE,
            device: device as i32,
        }
    }
}

const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out};
    use crate::handles::end;

    driver! {
        fn cuDeviceGetDefaultMemPool(to: Out<Handle>, of: i32) { to.put(lock(&OF_DEVICES)[device::number(of)? as usize].0) }
        fn cuDeviceGetMemPool(to: Out<Handle>, of: i32) { to.put(lock(&OF_DEVICES)[device::number(of)? as usize].1) }
        fn cuDeviceSetMemPool(of: i32, pool: Handle) {
            let device = device::number(of)?;
            if look::<Pool>(pool)?.device != device { return Err(Status::INVALID_VALUE) }
            lock(&OF_DEVICES)[device as usize].1 = pool;
            Ok(())
        }
        fn cuMemPoolCreate(to: Out<Handle>, properties: In<Properties>) { to.check()?; to.put(keep(Pool::new(properties.get()?.device()?))) }
        fn cuMemPoolDestroy(pool: Handle) {
            look::<Pool>(pool)?;
            let mut all = lock(&OF_DEVICES);
            if all.iter().any(|it| it.0 == pool) { return Err(Status::INVALID_VALUE) }
            for of_device in all.iter_mut().filter(|it| it.1 == pool) { of_device.1 = of_device.0 }
            drop(all);
            end::<Pool>(pool).map(drop)
        }
        fn cuMemPoolTrimTo(pool: Handle, _bytes: usize) { look::<Pool>(pool)?; capture::admit_unsafe() }
        fn cuMemPoolSetAttribute(pool: Handle, which: u32, value: Out<u64>) {
            let pool = look::<Pool>(pool)?;
            let value = match is_short(which) { true => u64::from(value.cast::<u32>().get()?), false => value.get()? };
            pool.set(which, value)
        }
        fn cuMemPoolGetAttribute(pool: Handle, which: u32, to: Out<u64>) {
            let value = look::<Pool>(pool)?.attribute(which)?;
            match is_short(which) { true => to.cast::<u32>().put(value as u32), false => to.put(value) }
        }
        fn cuMemAllocAsync | cuMemAllocAsync_ptsz(to: Out<u64>, bytes: usize, stream: Handle) {
            to.check()?;
            to.put(allocate_in(stream, None, bytes)?)
        }
        fn cuMemAllocFromPoolAsync | cuMemAllocFromPoolAsync_ptsz(to: Out<u64>, bytes: usize, pool: Handle, stream: Handle) {
            to.check()?;
            to.put(allocate_in(stream, Some(pool), bytes)?)
        }
        fn cuMemFreeAsync | cuMemFreeAsync_ptsz(address: u64, stream: Handle) { free_in(&stream::of(stream)?, address) }
    }
}
