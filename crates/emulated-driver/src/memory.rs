//! Memory of devices, and what a program asks of it.

use crate::allocations::{self, Kind, allocate, lend};
use crate::capture;
use crate::context::current;
use crate::queue;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// Rows of pitched memory begin at multiples of this.
const PITCH: usize = 512;

/// `CU_MEM_ATTACH_GLOBAL` and `CU_MEM_ATTACH_HOST`
const ATTACHED_TO: [u32; 2] = [1, 2];

/// Frees memory of a device, or managed memory, when all streams have done what they were given. Null is nothing.
pub(crate) fn free(address: u64) -> Answer {
    current()?;
    queue::wait_for_all();
    match address {
        0 => Ok(()),
        _ => allocations::free(address, |it| it.is_of_device() || it == Kind::Managed),
    }
}

/// Start and bytes of rows of so many bytes.
fn allocate_rows(width: usize, height: usize) -> Answer<(u64, usize)> {
    let pitch = width
        .checked_next_multiple_of(PITCH)
        .ok_or(Status::INVALID_VALUE)?;
    let bytes = pitch.checked_mul(height).ok_or(Status::INVALID_VALUE)?;
    Ok((allocate(&*current()?, bytes as u64, Kind::Device)?, pitch))
}

/// Free bytes and all bytes of the current device.
fn info() -> Answer<(usize, usize)> {
    let used = allocations::used(current()?.device);
    let all = settings().memory;
    Ok((all.saturating_sub(used) as usize, all as usize))
}

fn managed(bytes: usize, flags: u32) -> Answer<u64> {
    if !ATTACHED_TO.contains(&flags) {
        return Err(Status::INVALID_VALUE);
    }
    lend(&*current()?, bytes, (Kind::Managed, flags))
}

/// Advice and prefetching change nothing that the emulator does: refused is what is not managed memory.
fn advise(address: u64) -> Answer {
    current()?;
    let found = allocations::holding(address).ok_or(Status::INVALID_VALUE)?;
    found.1.map(drop).ok_or(Status::INVALID_VALUE)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;
    use crate::handles::Handle;
    use crate::stream;

    driver! {
        fn cuMemGetInfo_v2(free: Out<usize>, all: Out<usize>) {
            let info = info()?;
            free.put(info.0)?;
            all.put(info.1)
        }
        fn cuMemAlloc_v2(to: Out<u64>, bytes: usize) {
            to.check()?;
            capture::admit_unsafe()?;
            to.put(allocate(&*current()?, bytes as u64, Kind::Device)?)
        }
        fn cuMemAllocPitch_v2(to: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32) {
            to.check()?;
            pitch.check()?;
            if ![4, 8, 16].contains(&element) { return Err(Status::INVALID_VALUE) }
            capture::admit_unsafe()?;
            let (start, bytes) = allocate_rows(width, height)?;
            to.put(start)?;
            pitch.put(bytes)
        }
        fn cuMemAllocManaged(to: Out<u64>, bytes: usize, flags: u32) { to.check()?; capture::admit_unsafe()?; to.put(managed(bytes, flags)?) }
        fn cuMemFree_v2(address: u64) { capture::admit_unsafe()?; free(address) }
        fn cuMemGetAddressRange_v2(start: Out<u64>, bytes: Out<usize>, address: u64) {
            current()?;
            let (found, _) = allocations::holding(address).ok_or(Status::NOT_FOUND)?;
            start.put_if_asked(found.start);
            bytes.put_if_asked(found.bytes as usize);
            Ok(())
        }
        fn cuMemAdvise(address: u64, _bytes: usize, _advice: u32, _device: i32) { advise(address) }
        // A location is 8 bytes, passed as one number.
        fn cuMemAdvise_v2(address: u64, _bytes: usize, _advice: u32, _location: u64) { advise(address) }
        fn cuMemPrefetchAsync | cuMemPrefetchAsync_ptsz(address: u64, _bytes: usize, _device: i32, stream: Handle) {
            stream::of(stream)?;
            advise(address)
        }
        fn cuMemPrefetchAsync_v2 | cuMemPrefetchAsync_v2_ptsz(address: u64, _bytes: usize, _location: u64, _flags: u32, stream: Handle) {
            stream::of(stream)?;
            advise(address)
        }
    }
}
