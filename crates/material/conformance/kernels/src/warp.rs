//! `cuda_std::warp`.

use cuda_std::prelude::*;
use cuda_std::warp::*;

use crate::put;

/// The mask of the lanes that the warp of this thread has, in a block of whole warps and a last one
/// of perhaps fewer lanes.
fn own_mask() -> u32 {
    let first = thread::thread_idx_x() / WARP_SIZE * WARP_SIZE;
    let lanes = (thread::block_dim_x() - first).min(WARP_SIZE);
    FULL_MASK >> (WARP_SIZE - lanes)
}

/// # Safety
/// `out` has room for 10 words per thread.
#[kernel]
pub unsafe fn votes(out: *mut u64) {
    let (mask, lane) = (own_mask(), lane_id());
    let active = activemask();
    unsafe {
        sync_warp(mask);
        let words = [
            lane,
            // Which lanes it has besides its own is chance.
            (active >> lane & 1 == 1 && active & !mask == 0).into(),
            warp_vote_all(mask, lane < 32).into(),
            warp_vote_all(mask, lane != 2).into(),
            warp_vote_any(mask, lane == 2).into(),
            warp_vote_any(mask, lane > 40).into(),
            warp_vote_ballot(mask, lane % 3 == 0),
            warp_match_any(mask, lane % 4),
            warp_match_all(mask, 7u64).unwrap_or(0),
            warp_match_all(mask, lane as f32).unwrap_or(0),
        ];
        put(out, words.map(u64::from));
    }
}

/// # Safety
/// `out` has room for 6 words per thread.
#[kernel]
pub unsafe fn matches(out: *mut u64) {
    let (mask, lane) = (own_mask(), lane_id());
    unsafe {
        let words = [
            warp_match_any(mask, (lane / 8) as i32 - 2),
            warp_match_any(mask, u64::from(lane % 2) << 40),
            warp_match_any(mask, i64::from(lane % 5) - 2),
            warp_match_any(mask, (lane % 3) as f32),
            warp_match_any(mask, f64::from(lane / 16)),
            warp_match_any(mask, 1u32),
        ];
        put(out, words.map(u64::from));
    }
}

/// # Safety
/// `out` has room for 12 words per thread.
#[kernel]
pub unsafe fn reductions(out: *mut u64) {
    let (mask, lane) = (own_mask(), lane_id());
    let unsigned = lane.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let signed = unsigned as i32;
    unsafe {
        let words = [
            warp_reduce(mask, unsigned, WarpReductionOp::Add),
            warp_reduce(mask, unsigned, WarpReductionOp::Min),
            warp_reduce(mask, unsigned, WarpReductionOp::Max),
            warp_reduce(mask, unsigned, WarpReductionOp::And),
            warp_reduce(mask, unsigned, WarpReductionOp::Or),
            warp_reduce(mask, unsigned, WarpReductionOp::Xor),
            warp_reduce(mask, signed, WarpReductionOp::Add) as u32,
            warp_reduce(mask, signed, WarpReductionOp::Min) as u32,
            warp_reduce(mask, signed, WarpReductionOp::Max) as u32,
            warp_reduce(mask, signed, WarpReductionOp::And) as u32,
            warp_reduce(mask, signed, WarpReductionOp::Or) as u32,
            warp_reduce(mask, signed, WarpReductionOp::Xor) as u32,
        ];
        put(out, words.map(u64::from));
    }
}

/// All shuffles of a whole warp's lanes, in segments of `width`.
///
/// # Safety
/// `out` has room for 8 words per thread, and blocks are of whole warps.
#[kernel]
pub unsafe fn shuffles(out: *mut u64, n: u32, width: u32) {
    let lane = lane_id();
    unsafe {
        let down = warp_shuffle_down(FULL_MASK, lane, n, width);
        let up = warp_shuffle_up(FULL_MASK, lane, n, width);
        let index = warp_shuffle_idx(FULL_MASK, lane, n, width);
        let xor = warp_shuffle_xor(FULL_MASK, lane, n, width);
        let words = [
            down.0,
            down.1.into(),
            up.0,
            up.1.into(),
            index.0,
            index.1.into(),
            xor.0,
            xor.1.into(),
        ];
        put(out, words.map(u64::from));
    }
}

/// The value of the lane's neighbour, for every type that a shuffle carries.
///
/// # Safety
/// `out` has room for 16 words per thread, and blocks are of whole warps.
#[kernel]
pub unsafe fn shuffled_types(out: *mut u64) {
    let lane = lane_id();
    let wide = u128::from(lane) << 100 | u128::from(lane) << 64 | u128::from(lane) << 40 | 3;
    unsafe {
        let words = [
            neighbour(lane as u8).into(),
            neighbour(lane as u16 * 1000).into(),
            neighbour(lane * 100_000).into(),
            neighbour(u64::from(lane) << 40 | 5),
            neighbour(wide) as u64,
            (neighbour(wide) >> 64) as u64,
            neighbour(lane as i8 - 16) as u64,
            neighbour(lane as i16 - 1600) as u64,
            neighbour(lane as i32 - 16) as u64,
            neighbour(i64::from(lane) - 16) as u64,
            neighbour(wide as i128) as u64,
            (neighbour(wide as i128) >> 64) as u64,
            neighbour(lane as f32 + 0.5).to_bits().into(),
            neighbour(f64::from(lane) + 0.5).to_bits(),
            neighbour(f16::from_bits(lane as u16 + 0x3c00))
                .to_bits()
                .into(),
            neighbour(bf16::from_bits(lane as u16 + 0x3f80))
                .to_bits()
                .into(),
        ];
        put(out, words);
    }
}

unsafe fn neighbour<T: ShuffleValue>(value: T) -> T {
    unsafe { warp_shuffle_xor(FULL_MASK, value, 1, WARP_SIZE) }.0
}
