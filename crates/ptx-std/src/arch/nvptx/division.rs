//! The turns of the loop that divides 128-bit numbers, for ptx-builder to call.

use crate::division::{Divided, State, steps};

/// Makes all turns at once: [`steps`]. The builder writes the call into loops that it knows, and leaves the function out
/// where there is none.
#[expect(
    improper_ctypes_definitions,
    reason = "the builder's PTX alone calls it, with arrays as rustc passes them"
)]
#[unsafe(no_mangle)]
extern "C" fn __ptx_std_divide(
    rest: [u64; 2],
    bits: [u64; 2],
    turns: [u64; 2],
    divisor: [u64; 2],
    divisor_less_one: [u64; 2],
    carry: [u64; 2],
) -> Divided {
    let number = |[low, high]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
    steps(&State {
        rest: number(rest),
        bits: number(bits),
        turns: number(turns),
        divisor: number(divisor),
        divisor_less_one: number(divisor_less_one),
        carry: number(carry),
    })
}
