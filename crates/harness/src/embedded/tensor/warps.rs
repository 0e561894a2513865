//! Products by `mma.sync`: each warp has its operands in registers.

use std::marker::PhantomData;

use cuda_std::bf16;
use cuda_std::launch::Entry;
use cuda_std::mma::{Element, F64x16};
use kernels_hopper::tensor::{ResidentInWarps, WARP_THREADS, mma_bf16, mma_f64, mma_f64_k16};

use super::super::values::{Expected, Output, check_each};
use super::{added, axes, numbers};
use crate::driver::{DeviceValue, LaunchConfig};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Products by `mma.sync`, of elements `T`.
pub(crate) struct WarpProducts<T>(PhantomData<fn() -> T>);

/// An element type of [`WarpProducts`], and how its kernel has it.
pub(crate) trait InWarp:
    Element<A: DeviceValue, B: DeviceValue, Sums: DeviceValue> + 'static
{
    /// Rows of a part of the left factor.
    const ROWS: usize;
    /// Elements of its rows.
    const DEPTH: usize;
    /// Elements in a register, or in the two of an `f64`.
    const PACKED: usize;
    /// How many parts a warp has of each factor.
    const PARTS: [usize; 2];
    /// Tolerance of the sums, which are cut off: a share of their terms' sizes.
    const TOLERANCE: f64;

    fn entry() -> Entry<ResidentInWarps<Self>>;
    fn round(number: f64) -> f64;
    /// From a lane's elements, register by register.
    fn a(elements: &[f64]) -> Self::A;
    fn b(elements: &[f64]) -> Self::B;
    fn sums(sums: Self::Sums) -> Vec<f64>;
}

fn halves<const N: usize>(elements: &[f64]) -> [u32; N] {
    let bits = |i: usize| u32::from(bf16::from_f64(elements[i]).to_bits());
    std::array::from_fn(|register| bits(2 * register) | bits(2 * register + 1) << 16)
}

impl InWarp for bf16 {
    const ROWS: usize = 16;
    const DEPTH: usize = 16;
    const PACKED: usize = 2;
    const PARTS: [usize; 2] = [4, 8];
    /// An instruction adds 8 products to a sum twice, and cuts it off to 24 bits each time: 64 times between two beginnings.
    const TOLERANCE: f64 = 64.0 / (1 << 23) as f64;

    fn entry() -> Entry<ResidentInWarps<bf16>> {
        mma_bf16::entry().with_signature()
    }

    fn round(number: f64) -> f64 {
        bf16::from_f64(number).to_f64()
    }

    fn a(elements: &[f64]) -> [u32; 4] {
        halves(elements)
    }

    fn b(elements: &[f64]) -> [u32; 2] {
        halves(elements)
    }

    fn sums(sums: [f32; 4]) -> Vec<f64> {
        sums.map(f64::from).to_vec()
    }
}

/// Sums of `f64` are rounded at each step.
const F64_TOLERANCE: f64 = 1.0 / (1u64 << 46) as f64;

impl InWarp for f64 {
    const ROWS: usize = 8;
    const DEPTH: usize = 4;
    const PACKED: usize = 1;
    const PARTS: [usize; 2] = [4, 8];
    const TOLERANCE: f64 = F64_TOLERANCE;

    fn entry() -> Entry<ResidentInWarps<f64>> {
        mma_f64::entry().with_signature()
    }

    fn round(number: f64) -> f64 {
        number
    }

    fn a(elements: &[f64]) -> f64 {
        elements[0]
    }

    fn b(elements: &[f64]) -> f64 {
        elements[0]
    }

    fn sums(sums: [f64; 2]) -> Vec<f64> {
        sums.to_vec()
    }
}

impl InWarp for F64x16 {
    const ROWS: usize = 16;
    const DEPTH: usize = 16;
    const PACKED: usize = 1;
    const PARTS: [usize; 2] = [2, 4];
    const TOLERANCE: f64 = F64_TOLERANCE;

    fn entry() -> Entry<ResidentInWarps<F64x16>> {
        mma_f64_k16::entry().with_signature()
    }

    fn round(number: f64) -> f64 {
        number
    }

    fn a(elements: &[f64]) -> [f64; 8] {
        std::array::from_fn(|i| elements[i])
    }

    fn b(elements: &[f64]) -> [f64; 4] {
        std::array::from_fn(|i| elements[i])
    }

    fn sums(sums: [f64; 4]) -> Vec<f64> {
        sums.to_vec()
    }
}

/// Columns of a part of the right factor.
const PART_COLUMNS: usize = 8;
const LANES: usize = 32;

impl<T: InWarp> WarpProducts<T> {
    pub(crate) const NEW: WarpProducts<T> = WarpProducts(PhantomData);

    /// Operations of a step of a block.
    pub(crate) fn operations() -> f64 {
        let warps = WARP_THREADS as usize / LANES;
        let [a, b] = T::PARTS;
        (2 * warps * a * b * T::ROWS * PART_COLUMNS * T::DEPTH) as f64
    }
}

impl<T: InWarp> Workload for WarpProducts<T> {
    fn name(&self) -> &str {
        T::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        axes()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let (blocks, steps) = (at.size("blocks"), at.whole("steps") as u32);
        let parts = Parts::<T>::new(numbers(at));
        let (a, b) = (parts.left(), parts.right());
        let sums = T::PARTS[0] * T::PARTS[1] * WARP_THREADS as usize;
        let arrays = at
            .launch(
                T::entry(),
                LaunchConfig::blocks(blocks as u64, WARP_THREADS),
            )
            .arrays(move |device| {
                Ok((
                    (device.buffer_from(&a)?, device.buffer_from(&b)?),
                    Output::<T::Sums>::new(device, blocks * sums)?,
                    Output::<[u64; 2]>::new(device, blocks)?,
                ))
            })
            .check(move |(_, found, clocks)| {
                clocks.values()?;
                let expected = parts.expected(added(steps, 1)[0]);
                let of_block = expected.len() * WARP_THREADS as usize / LANES;
                let found = found.values()?.into_iter().flat_map(T::sums);
                let found: Vec<f64> = found.collect();
                let of_place = |i: usize| {
                    let each = found.len() / blocks / sums;
                    let (place, element) = (i % of_block / each, i % each);
                    let (part, lane) = (place / WARP_THREADS as usize, place % LANES);
                    expected[(part * LANES + lane) * each + element]
                };
                let wanted = (0..found.len()).map(of_place);
                check_each(found.iter().copied(), wanted)
            })
            .counters(|(_, _, clocks)| Ok(clocks.values()?[0]));
        // SAFETY: there are 32 places of each part, sums for each thread, and a clock for each block.
        Ok(unsafe {
            arrays.arguments_unchecked(move |((a, b), sums, clocks)| {
                (a.slice(..), b.slice(..), steps, sums.view(), clocks.view())
            })
        })
    }
}

/// Both factors, part by part: rows of the left one, columns of the right one.
struct Parts<T> {
    a: Vec<f64>,
    b: Vec<f64>,
    element: PhantomData<T>,
}

impl<T: InWarp> Parts<T> {
    fn new(mut number: impl FnMut() -> f64) -> Parts<T> {
        let mut factor = |parts: usize, rows: usize| {
            let elements = 0..parts * rows * T::DEPTH;
            elements.map(|_| T::round(number())).collect()
        };
        Parts {
            a: factor(T::PARTS[0], T::ROWS),
            b: factor(T::PARTS[1], PART_COLUMNS),
            element: PhantomData,
        }
    }

    /// Registers take turns between the upper and the lower 8 rows, where there are 16.
    fn left(&self) -> Vec<T::A> {
        let halves = T::ROWS / 8;
        let of_lane = |part: &[f64], lane: usize| {
            let registers = halves * T::DEPTH / 4 / T::PACKED;
            let element = |i: usize| {
                let (register, within) = (i / T::PACKED, i % T::PACKED);
                let row = lane / 4 + 8 * (register % halves);
                part[row * T::DEPTH + (register / halves * 4 + lane % 4) * T::PACKED + within]
            };
            let elements: Vec<f64> = (0..registers * T::PACKED).map(element).collect();
            T::a(&elements)
        };
        let parts = self.a.chunks(T::ROWS * T::DEPTH);
        parts
            .flat_map(|part| (0..LANES).map(move |lane| of_lane(part, lane)))
            .collect()
    }

    fn right(&self) -> Vec<T::B> {
        let of_lane = |part: &[f64], lane: usize| {
            let element = |i: usize| {
                let (register, within) = (i / T::PACKED, i % T::PACKED);
                part[lane / 4 * T::DEPTH + (register * 4 + lane % 4) * T::PACKED + within]
            };
            let elements: Vec<f64> = (0..T::DEPTH / 4).map(element).collect();
            T::b(&elements)
        };
        let parts = self.b.chunks(PART_COLUMNS * T::DEPTH);
        parts
            .flat_map(|part| (0..LANES).map(move |lane| of_lane(part, lane)))
            .collect()
    }

    /// Returns the values that each lane of a warp has of each pair of parts, all products added so many times.
    fn expected(&self, times: f64) -> Vec<Expected> {
        let mut all = Vec::new();
        for a in self.a.chunks(T::ROWS * T::DEPTH) {
            for b in self.b.chunks(PART_COLUMNS * T::DEPTH) {
                for lane in 0..LANES {
                    for element in 0..T::ROWS / 4 {
                        let (row, column) =
                            (lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2);
                        let (row, column) = (&a[row * T::DEPTH..], &b[column * T::DEPTH..]);
                        let products = row.iter().zip(column).take(T::DEPTH).map(|(a, b)| a * b);
                        let (value, size) = products
                            .fold((0.0, 0.0), |(sum, size), it| (sum + it, size + it.abs()));
                        all.push(Expected {
                            value: times * value,
                            tolerance: times * size * T::TOLERANCE,
                        });
                    }
                }
            }
        }
        all
    }
}
