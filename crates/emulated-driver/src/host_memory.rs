//! Memory of the host that kernels reach: allocated by the driver, or the program's own.

use crate::allocations::{self, Kind, lend, register};
use crate::capture;
use crate::context::current;
use crate::queue;
use crate::status::{Answer, Status};

/// The flags of `cuMemHostAlloc` and of `cuMemHostRegister`: portable, mapped, write-combined; portable, mapped, of a device's
/// registers, read-only.
const OF_ALLOC: u32 = 0b0111;
const OF_REGISTER: u32 = 0b1111;

fn allocate(bytes: usize, flags: u32) -> Answer<u64> {
    match flags & !OF_ALLOC {
        0 => lend(&*current()?, bytes, (Kind::Host, flags)),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Frees memory of a kind when all streams have done what they were given.
fn free(address: u64, kind: Kind) -> Answer {
    current()?;
    queue::wait_for_all();
    allocations::free(address, |it| it == kind)
}

/// The flags of host memory that kernels reach.
fn flags(address: u64) -> Answer<u32> {
    let found = allocations::holding(address).and_then(|it| it.1);
    let is_of_host = |it: &allocations::Allocated| matches!(it.kind, Kind::Host | Kind::Registered);
    found
        .filter(is_of_host)
        .map(|it| it.flags)
        .ok_or(Status::INVALID_VALUE)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuMemHostAlloc(to: Out<u64>, bytes: usize, flags: u32) { to.check()?; capture::admit_unsafe()?; to.put(allocate(bytes, flags)?) }
        fn cuMemAllocHost_v2(to: Out<u64>, bytes: usize) { to.check()?; capture::admit_unsafe()?; to.put(allocate(bytes, 0)?) }
        fn cuMemFreeHost(address: u64) { capture::admit_unsafe()?; free(address, Kind::Host) }
        fn cuMemHostRegister_v2(address: u64, bytes: usize, flags: u32) {
            if flags & !OF_REGISTER != 0 { return Err(Status::INVALID_VALUE) }
            capture::admit_unsafe()?;
            register(&*current()?, (address, bytes as u64), flags)
        }
        fn cuMemHostUnregister(address: u64) {
            current()?;
            capture::admit_unsafe()?;
            free(address, Kind::Registered).map_err(|_| Status::HOST_MEMORY_NOT_REGISTERED)
        }
        fn cuMemHostGetDevicePointer_v2(to: Out<u64>, address: u64, _flags: u32) { flags(address)?; to.put(address) }
        fn cuMemHostGetFlags(to: Out<u32>, address: u64) { to.put(flags(address)?) }
    }
}
