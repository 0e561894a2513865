use cuda_std::atomic::mid::*;
use cuda_std::atomic::{AtomicF32, BlockAtomicF32, Ordering, SystemAtomicF64};
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn counters(counts: *mut u32, sums: *mut f64) {
    atomic_fetch_add_u32_device(counts, Ordering::Relaxed, 1);
    atomic_fetch_inc_u32_block(counts.add(1), Ordering::AcqRel, 31);
    atomic_fetch_dec_u32_system(counts.add(2), Ordering::SeqCst, 31);
    atomic_compare_and_swap_u32_device(counts.add(3), 0, 1, Ordering::Acquire);
    atomic_fetch_add_f64_system(sums, Ordering::Release, 1.5);
    device_thread_fence(Ordering::AcqRel);
}

#[kernel]
pub unsafe fn floats(device: &AtomicF32, block: &BlockAtomicF32, system: &SystemAtomicF64) {
    device.fetch_add(1.0, Ordering::Relaxed);
    block.fetch_sub(1.0, Ordering::Relaxed);
    system.store(system.load(Ordering::Acquire) + 1.0, Ordering::Release);
}
