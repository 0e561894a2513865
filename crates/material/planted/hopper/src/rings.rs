//! A ring of two stages: thread 0 fills them, the second warp reads them.

use cuda_std::mbarrier::{Barrier, Parity, fence_init};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma;

/// Elements of a stage.
const STAGE: usize = 32;
/// Bytes of a stage.
const BYTES: u32 = 4 * STAGE as u32;
const STAGES: usize = 2;
/// How often each stage is filled.
const ROUNDS: usize = 3;

/// The producer does not wait for stages to be free.
const FILLED_EARLY: u32 = 1;
/// The consumer waits for the first phase again and again.
const PARITY_NOT_FLIPPED: u32 = 2;
/// The consumer never says that it has read a stage.
const NOT_RELEASED: u32 = 3;
/// It says so before it reads.
const RELEASED_EARLY: u32 = 4;
/// A lane says so before the others have read.
const RELEASED_FOR_OTHERS: u32 = 5;
/// The consumer reads the stage behind the one that it has waited for.
const STAGE_AHEAD: u32 = 6;
/// The producer waits for the first phase again and again.
const PRODUCER_PARITY: u32 = 7;

/// Copies stages one after the other, and adds them up.
#[kernel(instances(
    ring_filled_early<FILLED_EARLY>, ring_filled_early_fixed<0>,
    ring_parity_not_flipped<PARITY_NOT_FLIPPED>, ring_parity_not_flipped_fixed<0>,
    ring_not_released<NOT_RELEASED>, ring_not_released_fixed<0>,
    ring_released_early<RELEASED_EARLY>, ring_released_early_fixed<0>,
    ring_released_for_others<RELEASED_FOR_OTHERS>, ring_released_for_others_fixed<0>,
    ring_stage_ahead<STAGE_AHEAD>, ring_stage_ahead_fixed<0>,
    ring_producer_parity<PRODUCER_PARITY>, ring_producer_parity_fixed<0>
))]
pub unsafe fn ring<const MISTAKE: u32>(x: &[u32], y: *mut u32, _n: u32) {
    let (words, tiles) = (
        shared_array![u64; 2 * STAGES],
        shared_array![u32; STAGES * STAGE],
    );
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let full = |stage: usize| Barrier::at(SharedPtr::new(words.add(stage)));
        let empty = |stage: usize| Barrier::at(SharedPtr::new(words.add(STAGES + stage)));
        if own == 0 {
            for stage in 0..STAGES {
                full(stage).init(1);
                empty(stage).init(if MISTAKE == RELEASED_FOR_OTHERS {
                    1
                } else {
                    32
                });
            }
            fence_init();
        }
        thread::sync_threads();
        // The phase before the first counts as ended: every stage is free.
        let (mut read, mut free) = (Parity::EVEN, Parity::ODD);
        if own == 0 {
            for round in 0..ROUNDS {
                for stage in 0..STAGES {
                    if MISTAKE != FILLED_EARLY {
                        empty(stage).wait(free); // at: ring_not_released, ring_parity_not_flipped
                    }
                    full(stage).arrive_expect(BYTES);
                    let from = x.as_ptr().add((round * STAGES + stage) * STAGE);
                    let to = SharedPtr::new(tiles.add(stage * STAGE));
                    // copy: ring_filled_early, ring_released_early, ring_released_for_others, ring_stage_ahead, ring_producer_parity
                    tma::load_bytes(from, to, BYTES, full(stage));
                }
                if MISTAKE != PRODUCER_PARITY {
                    free = free.flipped();
                }
            }
        } else if own >= STAGE {
            let lane = own - STAGE;
            let mut sum = 0;
            for _ in 0..ROUNDS {
                for stage in 0..STAGES {
                    full(stage).wait(read);
                    if MISTAKE == RELEASED_EARLY {
                        empty(stage).arrive();
                    }
                    let place = match MISTAKE {
                        STAGE_AHEAD => (stage + 1) % STAGES,
                        _ => stage,
                    };
                    // use: ring_released_early, ring_released_for_others, ring_stage_ahead
                    sum += *tiles.add(place * STAGE + (lane + 1) % STAGE);
                    match MISTAKE {
                        RELEASED_EARLY | NOT_RELEASED => {}
                        RELEASED_FOR_OTHERS if lane > 0 => {}
                        _ => empty(stage).arrive(),
                    }
                }
                if MISTAKE != PARITY_NOT_FLIPPED {
                    read = read.flipped();
                }
            }
            *y.add(lane) = sum;
        }
    }
}
