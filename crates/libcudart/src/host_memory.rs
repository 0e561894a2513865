//! Page-locked memory of the host.

use crate::arguments::Out;
use crate::device::context;
use crate::driver;
use crate::status::{Answer, Error};

/// No bytes have no address.
fn allocate(to: Out<usize>, bytes: usize, flags: u32) -> Answer {
    context()?;
    to.check()?;
    match bytes {
        0 => to.put(0),
        _ => driver::cuMemHostAlloc(to, bytes, flags),
    }
}

runtime! {
    fn cudaMallocHost(to: Out<usize>, bytes: usize) { allocate(to, bytes, 0) }
    fn cudaHostAlloc(to: Out<usize>, bytes: usize, flags: u32) { allocate(to, bytes, flags) }
    fn cudaFreeHost(address: usize) {
        context()?;
        match address {
            0 => Ok(()),
            _ => driver::cuMemFreeHost(address),
        }
    }
    fn cudaHostRegister(address: usize, bytes: usize, flags: u32) {
        context()?;
        match bytes {
            0 => Err(Error::INVALID_VALUE),
            _ => driver::cuMemHostRegister_v2(address, bytes, flags),
        }
    }
    fn cudaHostUnregister(address: usize) [cuMemHostUnregister]
    fn cudaHostGetDevicePointer(to: Out<u64>, address: usize, flags: u32) [cuMemHostGetDevicePointer_v2]
    fn cudaHostGetFlags(to: Out<u32>, address: usize) [cuMemHostGetFlags]
}
