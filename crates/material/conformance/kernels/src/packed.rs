//! `cuda_std::packed`.

use cuda_std::packed::{Bf16x2, F16x2};
use cuda_std::prelude::*;

/// Returns the results of a thread for its three registers.
pub fn results([a, b, c]: [u32; 3]) -> [u64; 14] {
    let halves = [a, b, c].map(F16x2::from_bits);
    let brains = [a, b, c].map(Bf16x2::from_bits);
    let splat = F16x2::splat(halves[0].low());
    let brain_splat = Bf16x2::splat(brains[0].high());
    let [x, y] = [a, b].map(f32::from_bits);
    [
        halves[0].mul_add(halves[1], halves[2]).to_bits(),
        (halves[0] + halves[1]).to_bits(),
        (halves[0] * halves[1]).to_bits(),
        brains[0].mul_add(brains[1], brains[2]).to_bits(),
        (brains[0] + brains[1]).to_bits(),
        (brains[0] * brains[1]).to_bits(),
        F16x2::new(halves[0].high(), halves[0].low()).to_bits(),
        Bf16x2::new(brains[0].high(), brains[0].low()).to_bits(),
        splat.to_bits(),
        brain_splat.to_bits(),
        F16x2::from_f32(x, y).to_bits(),
        Bf16x2::from_f32(x, y).to_bits(),
        halves[0].to_f32s().0.to_bits(),
        brains[0].to_f32s().1.to_bits(),
    ]
    .map(u64::from)
}

/// The results of each element.
#[kernel]
pub fn packed(inputs: &[[u32; 3]], mut out: Output<[u64; 14]>) {
    for (input, words) in out.own_with(inputs) {
        *words = results(*input);
    }
}
