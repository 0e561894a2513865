//! Threads that go separate ways where they must stay together.

use cuda_std::prelude::*;
use cuda_std::warp::{
    FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_shuffle_down, warp_shuffle_idx,
};

/// A barrier that half of a warp comes to, where the other half leaves. A whole warp may leave, as in the
/// twin.
#[kernel(instances(barrier_under_branch<48>, barrier_under_branch_fixed<32>))]
pub unsafe fn branch<const COME: usize>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own < COME {
            *values.add(own) = x[own % n as usize];
            thread::sync_threads(); // at: barrier_under_branch
            *y.add(own) = *values.add(COME - 1 - own);
        }
    }
}

/// Each arm of a branch has a barrier of its own.
#[kernel(allow(duplicated_barrier), instances(two_barriers<true>, two_barriers_fixed<false>))]
pub unsafe fn arms<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let value = x[own % n as usize];
        if BUG {
            if value.is_multiple_of(2) {
                *values.add(own) = value;
                thread::sync_threads(); // at: two_barriers
            } else {
                *values.add(own) = value + 1;
                thread::sync_threads(); // other: two_barriers
            }
        } else {
            *values.add(own) = value + value % 2;
            thread::sync_threads();
        }
        *y.add(own) = *values.add(63 - own);
    }
}

/// Threads without an element leave before the barrier.
#[kernel(instances(early_return<true>, early_return_fixed<false>))]
pub unsafe fn early<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; 64];
    let own = thread::thread_idx_x() as usize;
    let i = thread::global_index();
    if BUG && i >= n as usize {
        return;
    }
    unsafe {
        *values.add(own) = x.get(i).copied().unwrap_or(0);
        thread::sync_threads(); // at: early_return
        if i < n as usize {
            let end = (n as usize - (i - own)).min(64);
            *y.add(i) = *values.add((own + 1) % end);
        }
    }
}

/// The mask of a whole warp in one that has fewer lanes.
#[kernel(instances(full_mask_in_partial_warp<true>, full_mask_in_partial_warp_fixed<false>))]
pub unsafe fn partial<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x();
    let lanes = (thread::block_dim_x() - own / WARP_SIZE * WARP_SIZE).min(WARP_SIZE);
    let (mask, lanes) = if BUG {
        (FULL_MASK, WARP_SIZE)
    } else {
        (FULL_MASK >> (WARP_SIZE - lanes), lanes)
    };
    unsafe {
        let value = x[own as usize % n as usize];
        let next = (lane_id() + 1) % lanes;
        let (other, _) = warp_shuffle_idx(mask, value, next, WARP_SIZE); // at: full_mask_in_partial_warp
        *y.add(own as usize) = other;
    }
}

/// A lane leaves before its warp meets, and another reads what it would have brought.
#[kernel(instances(lane_left<true>, lane_left_fixed<false>))]
pub unsafe fn left<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    if lane >= n {
        return;
    }
    let lanes = if BUG { WARP_SIZE } else { n };
    unsafe {
        let next = (lane + 1) % lanes;
        let (other, _) = warp_shuffle_idx(FULL_MASK, x[lane as usize], next, WARP_SIZE); // at: lane_left
        *y.add(lane as usize) = other;
    }
}

/// A shuffle reads a lane that does not take part.
#[kernel(instances(shuffle_outside_mask<true>, shuffle_outside_mask_fixed<false>))]
pub unsafe fn outside<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    if lane < 16 {
        let width = if BUG { WARP_SIZE } else { 16 };
        unsafe {
            let value = x[lane as usize % n as usize];
            let (other, _) = warp_shuffle_down(0xFFFF, value, 1, width); // at: shuffle_outside_mask
            *y.add(lane as usize) = other;
        }
    }
}

/// A mask that does not name the lane that brings it.
#[kernel(instances(mask_without_own_lane<true>, mask_without_own_lane_fixed<false>))]
pub unsafe fn own_lane<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    let mask = match lane {
        0..16 => 0xFFFF,
        _ if BUG => 0xFFFF,
        _ => 0xFFFF_0000,
    };
    unsafe {
        *y.add(lane as usize) = x[lane as usize % n as usize];
        sync_warp(mask); // at: mask_without_own_lane
    }
}

/// Half of a warp is at the barrier of the block, where the other half waits for it.
#[kernel(instances(lanes_at_barrier<true>, lanes_at_barrier_fixed<false>))]
pub unsafe fn at_barrier<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    unsafe {
        *y.add(lane as usize) = x[lane as usize % n as usize];
        if lane < 16 || !BUG {
            sync_warp(FULL_MASK); // at: lanes_at_barrier
        }
    }
    thread::sync_threads(); // other: lanes_at_barrier
}

/// Two masks at one shuffle: the lanes of the first wait for the others, which bring the second and go on.
#[kernel(instances(masks_differ<true>, masks_differ_fixed<false>))]
pub unsafe fn masks<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    let mask = match lane {
        0..16 if BUG => FULL_MASK,
        0..16 => 0xFFFF,
        _ => 0xFFFF_0000,
    };
    unsafe {
        let (other, _) = warp_shuffle_idx(mask, lane, lane ^ 1, WARP_SIZE); // at: masks_differ
        *y.add(lane as usize) = x[other as usize % n as usize];
    }
}

/// A shuffle within segments of twelve lanes.
#[kernel(instances(odd_width<12>, odd_width_fixed<16>))]
pub unsafe fn width<const WIDTH: u32>(x: &[u32], y: *mut u32, n: u32) {
    let lane = lane_id();
    unsafe {
        let (other, _) = warp_shuffle_down(FULL_MASK, x[lane as usize % n as usize], 1, WIDTH); // at: odd_width
        *y.add(lane as usize) = other;
    }
}
