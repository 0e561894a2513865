use cuda_std::prelude::*;
use cuda_std::warp::{self, WarpMatchValue, WarpReduceValue, WarpReductionOp, WarpShuffleValue};

const ALL: u32 = u32::MAX;

unsafe fn from_next<T: WarpShuffleValue>(value: T) -> T {
    warp::warp_shuffle_down(ALL, value, 1, 32).0
}

unsafe fn same<T: WarpMatchValue>(value: T) -> bool {
    warp::warp_match_all(ALL, value).is_some()
}

unsafe fn total<T: WarpReduceValue>(value: T) -> T {
    warp::warp_reduce(ALL, value, WarpReductionOp::Add)
}

#[kernel]
pub unsafe fn exchange(words: *mut u64, floats: *mut f32) {
    let lane = warp::lane_id() as usize;
    let word = from_next(*words.add(lane));
    let float = from_next(*floats.add(lane));
    let votes = warp::warp_vote_ballot(ALL, float > 0.0);
    *words.add(lane) = word + u64::from(total(votes)) + u64::from(same(word));
    *floats.add(lane) = float;
}
