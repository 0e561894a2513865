//! Products on tensor cores of operands that stay where they are: in shared memory for `wgmma`, in registers for
//! `mma.sync`. Operands are random numbers, normally distributed, or zeros, because power differs.

mod warps;

pub(crate) use warps::{InWarp, WarpProducts};

use bytemuck::{Zeroable, cast_slice_mut};
use cuda_std::launch::Entry;
use cuda_std::{bf16, f16};
use kernels_hopper::Piece;
use kernels_hopper::tensor::{
    COLUMNS, PIECES, ROW_BYTES, ROWS, Resident, SHARED_BYTES, STAGES, SUMS, THREADS, TILE_STEPS,
    wgmma_bf16, wgmma_e4m3, wgmma_e5m2, wgmma_f16, wgmma_s8, wgmma_tf32,
};

use super::values::{Expected, Output, check_each};
use crate::driver::{DeviceValue, LaunchConfig};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Name of random operands.
pub(crate) const RANDOM: &str = "random";
/// Name of operands of zeros, which take the least power.
pub(crate) const ZEROS: &str = "zeros";

fn axes() -> Vec<Axis> {
    vec![
        Axis::whole("blocks", [1]).help("blocks of the launch"),
        Axis::whole("steps", [1]).help("steps of a block"),
        Axis::one_of("data", [RANDOM, ZEROS], [RANDOM, ZEROS]).help("what is multiplied"),
    ]
}

/// Numbers of mean 0 and deviation 1 (G. Box, M. Muller, "A note on the generation of random normal deviates", 1958), or
/// zeros.
fn numbers(at: &Point<'_>) -> impl FnMut() -> f64 + use<> {
    let is_random = at.text("data") == RANDOM;
    let mut random = fastrand::Rng::with_seed(1);
    move || match is_random {
        true => {
            let [radius, angle] = [1.0 - random.f64(), random.f64()];
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        }
        false => 0.0,
    }
}

/// How often the last sums have had each of `stages` stages added, after so many steps.
fn added(steps: u32, stages: u32) -> Vec<f64> {
    let first = (steps - 1) / TILE_STEPS * TILE_STEPS;
    let of_stage = |stage| (first..steps).filter(|step| step % stages == stage).count() as f64;
    (0..stages).map(of_stage).collect()
}

/// Products by `wgmma`, of this element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Products {
    Bf16,
    F16,
    Tf32,
    E4m3,
    E5m2,
    S8,
}

/// A kernel of [`Products`], by the type of its sums.
enum Kernel {
    Real(Entry<Resident<f32>>),
    Whole(Entry<Resident<i32>>),
}

impl Products {
    fn kernel(self) -> Kernel {
        match self {
            Products::Bf16 => Kernel::Real(wgmma_bf16::entry().with_signature()),
            Products::F16 => Kernel::Real(wgmma_f16::entry().with_signature()),
            Products::Tf32 => Kernel::Real(wgmma_tf32::entry().with_signature()),
            Products::E4m3 => Kernel::Real(wgmma_e4m3::entry().with_signature()),
            Products::E5m2 => Kernel::Real(wgmma_e5m2::entry().with_signature()),
            Products::S8 => Kernel::Whole(wgmma_s8::entry().with_signature()),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Products::Tf32 => 4,
            Products::Bf16 | Products::F16 => 2,
            Products::E4m3 | Products::E5m2 | Products::S8 => 1,
        }
    }

    /// Operations of a step of a block.
    pub(crate) fn operations(self) -> f64 {
        2.0 * f64::from(ROWS) * f64::from(COLUMNS) * (ROW_BYTES as usize / self.bytes()) as f64
    }

    /// The bits of the nearest element, and its value.
    fn round(self, number: f64) -> (u32, f64) {
        match self {
            Products::Bf16 => {
                let it = bf16::from_f64(number);
                (it.to_bits().into(), it.to_f64())
            }
            Products::F16 => {
                let it = f16::from_f64(number);
                (it.to_bits().into(), it.to_f64())
            }
            Products::Tf32 => {
                // Bits that the tensor cores leave out are 0.
                let bits = (number as f32).to_bits() & !0x1FFF;
                (bits, f32::from_bits(bits).into())
            }
            Products::E4m3 => E4M3.round(number),
            Products::E5m2 => E5M2.round(number),
            Products::S8 => {
                /// Three deviations are within the type's range.
                const DEVIATION: f64 = 40.0;
                let it = (DEVIATION * number).round().clamp(-127.0, 127.0) as i8;
                ((it as u8).into(), it.into())
            }
        }
    }

    /// By how much a sum may differ whose terms' sizes add up to `size`.
    ///
    /// An instruction of 8-bit numbers aligns the sum so far and its 32 products to the greatest of them, keeps 13 bits behind
    /// the first bit of that, and cuts off the rest of each. The sum loses something every time, towards 0, so its losses add
    /// up: after the 128 instructions between two beginnings to 128 units at most. What products lose has their signs, so it
    /// adds up as random numbers do: 6 deviations are 6 * sqrt(32 * 128 / 3) = 222 units. A unit is 2^-13 of the sum's power of
    /// two, and grows with the sum: on average it is half of the last one. Random sums are below a quarter of `size`, so they
    /// lose up to 350 / 2^13 / 2 / 4 of it, less than 1 / 2^7. An H200 lost 3.6 of 2631 where it lost most of 200 sums.
    fn tolerance(self, size: f64) -> f64 {
        match self {
            Products::Bf16 | Products::F16 | Products::Tf32 => size / f64::from(1 << 19),
            Products::E4m3 | Products::E5m2 => size / f64::from(1 << 7),
            Products::S8 => 0.0,
        }
    }
}

/// A type of 8 bits: as many of its fraction, an exponent of 0 for numbers below 2 to the power of `least`, and the largest number.
struct Narrow {
    fraction: i32,
    least: i32,
    largest: f64,
}

const E4M3: Narrow = Narrow {
    fraction: 3,
    least: -6,
    largest: 448.0,
};

const E5M2: Narrow = Narrow {
    fraction: 2,
    least: -14,
    largest: 57344.0,
};

impl Narrow {
    /// The bits of the nearest number, and its value.
    fn round(&self, number: f64) -> (u32, f64) {
        let size = number.abs().min(self.largest);
        let exponent = (size.log2().floor() as i32).max(self.least);
        let unit = f64::from(exponent - self.fraction).exp2();
        let units = (size / unit).round_ties_even();
        // A carry leads to the next exponent, whose bits follow. The first bit of the units is not stored: it adds 1 to the
        // exponent's.
        let bits = (((exponent - self.least) as u32) << self.fraction) + units as u32;
        let sign = u32::from(number.is_sign_negative()) << 7;
        (sign | bits, (units * unit).copysign(number))
    }
}

impl Workload for Products {
    fn name(&self) -> &str {
        match self.kernel() {
            Kernel::Real(entry) => entry.name(),
            Kernel::Whole(entry) => entry.name(),
        }
    }

    fn axes(&self) -> Vec<Axis> {
        axes()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        Ok(match self.kernel() {
            Kernel::Real(entry) => products(at, entry, *self),
            Kernel::Whole(entry) => products(at, entry, *self),
        })
    }
}

fn products<'d, S>(at: &Point<'d>, entry: Entry<Resident<S>>, of: Products) -> Case<'d>
where
    S: DeviceValue + Into<f64>,
{
    let (blocks, steps) = (at.size("blocks"), at.whole("steps") as u32);
    let operands = Operands::new(of, numbers(at));
    let image = operands.image();
    let config = LaunchConfig::blocks(blocks as u64, THREADS).with_dynamic_shared(SHARED_BYTES);
    let sums = (THREADS * SUMS) as usize;
    let arrays = at
        .launch(entry, config)
        .arrays(move |device| {
            Ok((
                device.buffer_from(&image)?,
                Output::<S>::new(device, blocks * sums)?,
                Output::<[u64; 2]>::new(device, blocks)?,
            ))
        })
        .check(move |(_, found, clocks)| {
            clocks.values()?;
            let expected = operands.expected(steps);
            let found = found.contents()?.into_iter().map(Into::into);
            check_each(found, (0..blocks * sums).map(|i| expected[i % sums]))
        })
        .counters(|(_, _, clocks)| Ok(clocks.values()?[0]));
    // SAFETY: the image has all pieces, there are sums for each thread and a clock for each block, and the launch gives the
    // shared memory.
    unsafe {
        arrays.arguments_unchecked(move |(image, sums, clocks)| {
            (image.slice(..), steps, sums.view(), clocks.view())
        })
    }
}

/// `A` and `B` of all stages: elements with their bits, row by row, of `B` column by column.
struct Operands {
    of: Products,
    a: Vec<(u32, f64)>,
    b: Vec<(u32, f64)>,
}

impl Operands {
    fn new(of: Products, mut number: impl FnMut() -> f64) -> Operands {
        let depth = ROW_BYTES as usize / of.bytes();
        let mut matrix = |rows: u32| {
            let elements = 0..(STAGES * rows) as usize * depth;
            elements.map(|_| of.round(number())).collect()
        };
        let (a, b) = (matrix(ROWS), matrix(COLUMNS));
        Operands { of, a, b }
    }

    /// Shared memory, swizzled: piece `p` of a row of number `r` lies in place `p ^ (r % 8)`.
    fn image(&self) -> Vec<Piece> {
        const PIECE: usize = size_of::<Piece>();
        let mut image = vec![Piece::zeroed(); PIECES as usize];
        let bytes: &mut [u8] = cast_slice_mut(&mut image);
        let size = self.of.bytes();
        for (i, (bits, _)) in self.a.iter().chain(&self.b).enumerate() {
            let (row, byte) = (i * size / ROW_BYTES as usize, i * size % ROW_BYTES as usize);
            let place = (byte / PIECE) ^ (row % 8);
            let at = row * ROW_BYTES as usize + place * PIECE + byte % PIECE;
            bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        image
    }

    /// Returns the values that a block writes after so many steps.
    fn expected(&self, steps: u32) -> Vec<Expected> {
        let added = added(steps, STAGES);
        let mut all = vec![[0.0; 2]; (ROWS * COLUMNS) as usize];
        let depth = ROW_BYTES as usize / self.of.bytes();
        let stages = self
            .a
            .chunks(ROWS as usize * depth)
            .zip(self.b.chunks(COLUMNS as usize * depth));
        let adds = |(a, times): (&[(_, f64)], f64)| times > 0.0 && a.iter().any(|it| it.1 != 0.0);
        for ((a, b), times) in stages
            .zip(added)
            .filter(|((a, _), times)| adds((a, *times)))
        {
            let pairs = a
                .chunks(depth)
                .flat_map(|row| b.chunks(depth).map(move |column| (row, column)));
            for (sum, (row, column)) in all.iter_mut().zip(pairs) {
                for ((_, a), (_, b)) in row.iter().zip(column) {
                    sum[0] += times * a * b;
                    sum[1] += times * (a * b).abs();
                }
            }
        }
        let of_place = |place: u32| {
            let (element, thread) = (place / THREADS, place % THREADS);
            let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (element % 4 / 2);
            let column = 8 * (element / 4) + 2 * (thread % 4) + element % 2;
            let [value, size] = all[(row * COLUMNS + column) as usize];
            Expected {
                value,
                tolerance: self.of.tolerance(size),
            }
        };
        (0..THREADS * SUMS).map(of_place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Products; 6] = [
        Products::Bf16,
        Products::F16,
        Products::Tf32,
        Products::E4m3,
        Products::E5m2,
        Products::S8,
    ];

    /// Normal numbers by another way: the sum of twelve.
    fn normal() -> impl FnMut() -> f64 {
        let mut random = fastrand::Rng::with_seed(7);
        move || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    /// Compares all bits that are finite numbers with the format's definition.
    #[test]
    fn numbers_of_8_bits_are_rounded_to_the_nearest() {
        for (narrow, infinite) in [(E4M3, 0x7F), (E5M2, 0x7C)] {
            let value = |bits: u32| {
                let (exponent, fraction) = (bits >> narrow.fraction, bits % (1 << narrow.fraction));
                let fraction = f64::from(fraction) / f64::from(1 << narrow.fraction);
                match exponent {
                    0 => fraction * f64::from(narrow.least).exp2(),
                    _ => (1.0 + fraction) * f64::from(narrow.least - 1 + exponent as i32).exp2(),
                }
            };
            for bits in 0..infinite {
                assert_eq!(narrow.round(value(bits)), (bits, value(bits)));
                let negative = (bits | 0x80, -value(bits));
                assert_eq!(narrow.round(-value(bits)), negative);
            }
            for bits in 0..infinite - 1 {
                let (low, high) = (value(bits), value(bits + 1));
                let even = bits + bits % 2;
                assert_eq!(narrow.round((low + high) / 2.0).0, even);
                assert_eq!(narrow.round(0.4 * low + 0.6 * high).0, bits + 1);
            }
            assert_eq!(narrow.round(1e9).0, infinite - 1);
        }
    }

    /// Sums of a step more or less are none of the expected ones, of any type.
    #[test]
    fn a_step_that_is_missing_is_found() {
        for products in ALL {
            let operands = Operands::new(products, normal());
            let [fewer, expected] = [35, 36].map(|steps| operands.expected(steps));
            let values = |of: &[Expected]| of.iter().map(|it| it.value).collect::<Vec<_>>();
            let check = |found: Vec<f64>| check_each(found.into_iter(), expected.iter().copied());
            assert!(check(values(&expected)).is_ok());
            assert!(check(values(&fewer)).is_err(), "{products:?}");
            let far = values(&fewer).into_iter().zip(&expected);
            let far = far.filter(|(found, it)| (found - it.value).abs() > it.tolerance);
            assert!(far.count() * 4 > 3 * expected.len(), "{products:?}");
        }
    }

    #[test]
    fn the_last_sums_have_the_steps_since_they_began() {
        assert_eq!(added(1, 4), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(added(32, 4), [8.0; 4]);
        assert_eq!(added(34, 4), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(added(34, 1), [2.0]);
    }
}
