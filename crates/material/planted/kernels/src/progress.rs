//! Kernels that do not end as they should.

use cuda_std::atomic::Ordering::{Acquire, Release};
use cuda_std::atomic::mid::*;
use cuda_std::cooperative::sync_grid;
use cuda_std::prelude::*;
use cuda_std::warp::{lane_id, sync_warp};

/// A loop whose end never comes: the step is 0.
#[kernel(instances(endless_loop<true>, endless_loop_fixed<false>))]
pub unsafe fn endless<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let step = if BUG { 0 } else { 1 };
    let mut i = thread::global_index() as u32;
    // at: endless_loop
    while i < n {
        i += step;
    }
    unsafe { *y.add(thread::global_index()) = i + x[0] };
}

/// A thread waits for a flag that nobody sets.
#[kernel(instances(flag_never_set<true>, flag_never_set_fixed<false>))]
pub unsafe fn flag<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (flag, read) = unsafe { (y, y.add(1)) };
    unsafe {
        match thread::global_index() {
            0 => {
                // at: flag_never_set
                while atomic_load_32_device(flag, Acquire) == 0 {
                    thread::nanosleep(100);
                }
                *read = x[n as usize - 1];
            }
            1 if !BUG => atomic_store_32_device(flag, Release, 1),
            _ => {}
        }
    }
}

/// Three lanes, each of which waits for the next.
#[kernel(instances(lanes_in_a_circle<true>, lanes_in_a_circle_fixed<false>))]
pub unsafe fn circle<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    if lane < 3 {
        let mask = match lane {
            _ if !BUG => 0b111,
            0 => 0b011,
            1 => 0b110,
            _ => 0b101,
        };
        unsafe {
            *y.add(lane as usize) = x[lane as usize % n as usize];
            sync_warp(mask); // at: lanes_in_a_circle
        }
    }
}

/// An index that the slice does not have.
#[kernel(instances(panics<true>, panics_fixed<false>))]
pub unsafe fn panic<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if i < n as usize {
        let from = if BUG { i + 1 } else { i };
        unsafe { *y.add(i) = x[from] }; // at: panics
    }
}

/// Each block waits for all others, which only a cooperative launch has running at once; those of the twin wait
/// for the blocks before them.
#[kernel(instances(meets_in_plain_launch<true>, meets_in_plain_launch_fixed<false>))]
pub unsafe fn meet<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let block = thread::block_idx_x() as usize;
    let blocks = thread::grid_dim_x() as usize;
    if thread::thread_idx_x() == 0 {
        unsafe {
            atomic_store_32_device(y.add(block), Release, x[block % n as usize] + 1);
            let mut sum = 0;
            for other in 0..if BUG { blocks } else { block } {
                let mut value = 0;
                while value == 0 {
                    // at: meets_in_plain_launch
                    value = atomic_load_32_device(y.add(other), Acquire);
                }
                sum += value;
            }
            *y.add(blocks + block) = sum;
        }
    }
}

/// Each block reads what the next has written, behind a barrier of the whole grid, for which only a cooperative
/// launch has all blocks running; those of the twin read what they have written themselves.
#[kernel(instances(syncs_grid_in_plain_launch<true>, syncs_grid_in_plain_launch_fixed<false>))]
pub unsafe fn sync<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (own, all) = (thread::global_index(), thread::grid_threads());
    let threads = thread::block_dim_x() as usize;
    let (arrivals, values) = unsafe { (y, y.add(1)) };
    unsafe {
        *values.add(own) = x[own % n as usize];
        let next = if BUG {
            sync_grid(arrivals); // at: syncs_grid_in_plain_launch
            (own + threads) % all
        } else {
            thread::sync_threads();
            own / threads * threads + (own + 1) % threads
        };
        *values.add(all + own) = *values.add(next);
    }
}
