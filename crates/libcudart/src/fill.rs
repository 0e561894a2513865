//! Fills.

use std::ffi::c_int;

use crate::device::context;
use crate::driver::{self, Handle};
use crate::memory::{Extent, Pitched};
use crate::status::{Answer, Error};

/// When a fill is done: in the order of a stream, or of the default stream.
type When = Option<Handle>;

fn line(to: u64, value: c_int, bytes: usize, when: When) -> Answer {
    context()?;
    // A fill is of bytes: the lowest of the value.
    let value = value as u8;
    match when {
        _ if bytes == 0 => Ok(()),
        None => driver::cuMemsetD8_v2(to, value, bytes),
        Some(stream) => driver::cuMemsetD8Async(to, value, bytes, stream),
    }
}

fn plane(
    (to, pitch): (u64, usize),
    value: c_int,
    (width, height): (usize, usize),
    when: When,
) -> Answer {
    context()?;
    let value = value as u8;
    match when {
        _ if width == 0 || height == 0 => Ok(()),
        None => driver::cuMemsetD2D8_v2(to, pitch, value, width, height),
        Some(stream) => driver::cuMemsetD2D8Async(to, pitch, value, width, height, stream),
    }
}

fn volume(to: Pitched, value: c_int, extent: Extent, when: When) -> Answer {
    let plane_bytes = to
        .pitch
        .checked_mul(to.height)
        .ok_or(Error::INVALID_VALUE)?;
    for index in 0..extent.depth {
        let start = index.checked_mul(plane_bytes).ok_or(Error::INVALID_VALUE)? as u64;
        plane(
            (to.start + start, to.pitch),
            value,
            (extent.width, extent.height),
            when,
        )?;
    }
    Ok(())
}

runtime! {
    fn cudaMemset | cudaMemset_ptds(to: u64, value: c_int, bytes: usize) { line(to, value, bytes, None) }
    fn cudaMemsetAsync | cudaMemsetAsync_ptsz(to: u64, value: c_int, bytes: usize, stream: Handle) {
        line(to, value, bytes, Some(stream))
    }
    fn cudaMemset2D | cudaMemset2D_ptds(to: u64, pitch: usize, value: c_int, width: usize, height: usize) {
        plane((to, pitch), value, (width, height), None)
    }
    fn cudaMemset2DAsync | cudaMemset2DAsync_ptsz(
        to: u64, pitch: usize, value: c_int, width: usize, height: usize, stream: Handle,
    ) {
        plane((to, pitch), value, (width, height), Some(stream))
    }
    fn cudaMemset3D | cudaMemset3D_ptds(to: Pitched, value: c_int, extent: Extent) { volume(to, value, extent, None) }
    fn cudaMemset3DAsync | cudaMemset3DAsync_ptsz(to: Pitched, value: c_int, extent: Extent, stream: Handle) {
        volume(to, value, extent, Some(stream))
    }
}
