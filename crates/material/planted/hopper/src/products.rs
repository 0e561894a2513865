//! Products by a warpgroup, which read their operands from shared memory while its threads go on.

use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::wgmma::{Accumulator, KMajor, N64, Previous, Swizzle, Swizzle128};
use cuda_std::{tma, unroll};

/// Threads per block.
const BLOCK: usize = 128;
/// Words of an operand: 64 rows of 64 elements.
const WORDS: usize = 2048;

/// The operands are written without a proxy fence.
const UNFENCED: u32 = 1;
/// Other warps may still be writing them.
const TOO_EARLY: u32 = 2;
/// They are written again before the product is done.
const OVERWRITTEN: u32 = 3;
/// They are written again behind a wait that leaves the newest group under way.
const ONE_TOO_FEW: u32 = 4;

/// A product of 64 x 64 elements along 64.
#[kernel(instances(
    operand_unfenced<UNFENCED>, operand_unfenced_fixed<0>,
    operand_too_early<TOO_EARLY>, operand_too_early_fixed<0>,
    operand_overwritten<OVERWRITTEN>, operand_overwritten_fixed<0>,
    operand_one_too_few<ONE_TOO_FEW>, operand_one_too_few_fixed<0>
))]
pub unsafe fn product<const MISTAKE: u32>(x: &[u32], y: *mut u32, n: u32) {
    let operands: *mut u32 = dynamic_shared_mem();
    let place = SharedPtr::new(operands);
    let offset = place.align_up(Swizzle128::ALIGN).address() - place.address();
    let operands = operands.wrapping_byte_add(offset as usize);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for i in (own..2 * WORDS).step_by(BLOCK) {
            // Two elements of 1 to 2.
            let word = x[i % n as usize] | 0x3F80_3F80;
            *operands.add(i) = word; // before: operand_unfenced, operand_too_early
        }
        if MISTAKE != UNFENCED {
            tma::fence_shared();
        }
        if MISTAKE != TOO_EARLY {
            thread::sync_threads();
        }
        let a = KMajor::<bf16, Swizzle128>::new(SharedPtr::new(operands).cast());
        let b = KMajor::<bf16, Swizzle128>::new(SharedPtr::new(operands.add(WORDS)).cast());
        let mut sums = Accumulator::<N64>::zeroed();
        let mut in_flight = sums.begin();
        in_flight.open_group();
        // product: operand_unfenced, operand_too_early, operand_overwritten, operand_one_too_few
        in_flight.multiply(Previous::Keep, a.step::<0>(), b.step::<0>());
        in_flight.commit();
        match MISTAKE {
            OVERWRITTEN => {}
            ONE_TOO_FEW => in_flight.wait_operands::<1>(),
            _ => in_flight.wait_operands::<0>(),
        }
        *operands.add(own) = 0; // again: operand_overwritten, operand_one_too_few
        in_flight.finish();
        let values = sums.values();
        unroll!(I in 0..32 => {
            *y.add(32 * own + I) = values[I].to_bits();
        });
    }
}
