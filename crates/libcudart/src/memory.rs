//! Memory of devices, and managed memory.

use crate::arguments::Out;
use crate::device::context;
use crate::driver::{self, Handle};
use crate::status::{Answer, Error};

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Pitched {
    pub(crate) start: u64,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `cudaExtent`: bytes, rows, planes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// The widest vector that kernels read rows by.
const ELEMENT: u32 = 16;

/// No bytes have no address.
fn allocate(to: Out<u64>, bytes: usize) -> Answer {
    context()?;
    to.check()?;
    match bytes {
        0 => to.put(0),
        _ => driver::cuMemAlloc_v2(to, bytes),
    }
}

fn pitched(width: usize, rows: usize) -> Answer<(u64, usize)> {
    context()?;
    let (mut start, mut pitch) = (0, 0);
    if width != 0 && rows != 0 {
        driver::cuMemAllocPitch_v2(
            Out::of(&mut start),
            Out::of(&mut pitch),
            width,
            rows,
            ELEMENT,
        )?;
    }
    Ok((start, pitch))
}

runtime! {
    fn cudaMalloc(to: Out<u64>, bytes: usize) { allocate(to, bytes) }
    fn cudaMallocManaged(to: Out<u64>, bytes: usize, flags: u32) {
        context()?;
        to.check()?;
        match bytes {
            0 => Err(Error::INVALID_VALUE),
            _ => driver::cuMemAllocManaged(to, bytes, flags),
        }
    }
    fn cudaMallocPitch(to: Out<u64>, pitch: Out<usize>, width: usize, rows: usize) {
        to.check()?;
        pitch.check()?;
        let (start, bytes) = pitched(width, rows)?;
        to.put(start)?;
        pitch.put(bytes)
    }
    fn cudaMalloc3D(to: Out<Pitched>, extent: Extent) {
        to.check()?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(Error::INVALID_VALUE)?;
        let (start, pitch) = pitched(extent.width, rows)?;
        to.put(Pitched { start, pitch, width: extent.width, height: extent.height })
    }
    fn cudaFree(address: u64) {
        context()?;
        match address {
            0 => Ok(()),
            _ => driver::cuMemFree_v2(address),
        }
    }
    fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) [cuMemGetInfo_v2]
    // Where managed memory is changes nothing that a program can see but time.
    fn cudaMemAdvise(_address: u64, _bytes: usize, _advice: u32, _location: u64) { context() }
    fn cudaMemAdvise_v2(_address: u64, _bytes: usize, _advice: u32, _location: u64) { context() }
    fn cudaMemPrefetchAsync | cudaMemPrefetchAsync_ptsz(
        _address: u64, _bytes: usize, _location: u64, _flags_or_stream: usize, _stream: Handle,
    ) {
        context()
    }
    fn cudaMemPrefetchAsync_v2 | cudaMemPrefetchAsync_v2_ptsz(
        _address: u64, _bytes: usize, _location: u64, _flags: u32, _stream: Handle,
    ) {
        context()
    }
}
