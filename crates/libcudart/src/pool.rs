//! Memory in the order of streams.

use std::ffi::c_int;

use crate::arguments::{In, Out};
use crate::driver::Handle;

runtime! {
    fn cudaMallocAsync | cudaMallocAsync_ptsz(to: Out<u64>, bytes: usize, stream: Handle) [cuMemAllocAsync]
    fn cudaMallocFromPoolAsync | cudaMallocFromPoolAsync_ptsz(to: Out<u64>, bytes: usize, pool: Handle, stream: Handle)
        [cuMemAllocFromPoolAsync]
    fn cudaFreeAsync | cudaFreeAsync_ptsz(address: u64, stream: Handle) [cuMemFreeAsync]
    fn cudaMemPoolCreate(to: Out<Handle>, properties: In<u8>) [cuMemPoolCreate]
    fn cudaMemPoolDestroy(pool: Handle) [cuMemPoolDestroy]
    fn cudaMemPoolTrimTo(pool: Handle, bytes: usize) [cuMemPoolTrimTo]
    fn cudaMemPoolGetAttribute(pool: Handle, attribute: c_int, value: Out<u64>) [cuMemPoolGetAttribute]
    fn cudaMemPoolSetAttribute(pool: Handle, attribute: c_int, value: Out<u64>) [cuMemPoolSetAttribute]
}
