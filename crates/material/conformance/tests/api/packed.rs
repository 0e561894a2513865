//! `cuda_std::packed`: random bits, finite or not, of which tests of ptx-std say what is right.

use conformance_kernels::packed;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[("packed", arithmetic)];

fn arithmetic(device: &Device) -> Result<(), Failed> {
    const COUNT: usize = 4000;
    let scrambled = |i: usize| {
        (i as u32 + 1)
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(i as u32)
    };
    let operands = |i: usize| [scrambled(3 * i), scrambled(3 * i + 1), scrambled(3 * i + 2)];
    let inputs: Vec<[u32; 3]> = (0..COUNT).map(operands).collect();
    let there = device.buffer_from(&inputs)?;
    let mut out = device.buffer_filled(COUNT, [u64::MAX; 14])?;
    let shape = LaunchConfig::linear(COUNT as u64, 128);
    launch!(
        device,
        packed::packed::entry(),
        shape,
        there.slice(..),
        out.slice_mut(..)
    );
    let expected: Vec<_> = inputs
        .iter()
        .map(|input| same_nan(packed::results(*input)))
        .collect();
    let actual: Vec<_> = out.to_vec()?.into_iter().map(same_nan).collect();
    equal(&actual, &expected)
}

/// The sign and the payload of a NaN that was computed differ between machines.
fn same_nan(mut words: [u64; 14]) -> [u64; 14] {
    let canonical = |word: u64, infinity: u64| {
        [0, 16].into_iter().fold(0, |all, shift| {
            let half = word >> shift & 0xFFFF;
            let half = if half & 0x7FFF > infinity {
                0x7FFF
            } else {
                half
            };
            all | half << shift
        })
    };
    for (places, infinity) in [([0, 1, 2, 10], 0x7C00), ([3, 4, 5, 11], 0x7F80)] {
        for place in places {
            words[place] = canonical(words[place], infinity);
        }
    }
    for wide in &mut words[12..] {
        if f32::from_bits(*wide as u32).is_nan() {
            *wide = u64::from(u32::MAX);
        }
    }
    words
}
