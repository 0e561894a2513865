//! Memory read, written and combined in vectors of 16 bytes: an element is a vector.

use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::{Vector, pattern_vector, read_u1};
use kernels_gpu::studied::{axpys, scales};

use super::values::{Output, check_same};
use super::{Case, launch};
use crate::ceilings::memory::{self, FACTOR, UNROLLS, sum_of_words};
use crate::driver::{DeviceBuffer, LaunchConfig};

/// Threads a block, and blocks in the grid.
const LAUNCHES: [(u32, u64); 4] = [(32, 1), (64, 3), (256, 2), (256, 40)];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for unroll in UNROLLS {
        // What writes one vector at a time takes no second one.
        let grid = if unroll == 1 { Grid::Covers } else { Grid::Any };
        cases.push(read(memory::reads(unroll)));
        let writes = memory::writes(unroll);
        cases.push(put(writes, grid, |it| (it.y.view(), it.n), |x, _| x));
        let copies = memory::copies(unroll);
        cases.push(put(
            copies,
            grid,
            |it| (it.x.slice(..), it.y.view()),
            |x, _| x,
        ));
        cases.push(put(
            memory::scales(unroll),
            grid,
            |it| one(it),
            |x, _| FACTOR * x,
        ));
        cases.push(put(
            memory::triads(unroll),
            grid,
            |it| two(it),
            |x, z| FACTOR.mul_add(z, x),
        ));
        let scale =
            scales(unroll).map(|entry| put(entry, Grid::Any, |it| one(it), |x, _| FACTOR * x));
        let axpy = axpys(unroll)
            .map(|entry| put(entry, Grid::Any, |it| two(it), |x, z| FACTOR.mul_add(x, z)));
        cases.extend(scale.into_iter().chain(axpy));
    }
    cases
}

/// What grids a kernel takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grid {
    /// With at least a thread for each vector.
    Covers,
    Any,
}

impl Grid {
    fn shapes(self, n: usize) -> impl Iterator<Item = LaunchConfig> {
        LAUNCHES.into_iter().map(move |(block, grid)| match self {
            Grid::Any => LaunchConfig::blocks(grid, block),
            Grid::Covers => LaunchConfig::blocks(
                LaunchConfig::linear(n as u64, block).grid[0].max(grid),
                block,
            ),
        })
    }
}

struct Arrays {
    n: u64,
    x: DeviceBuffer<Vector>,
    z: DeviceBuffer<Vector>,
    y: Output<Vector>,
}

/// The arguments of kernels that read x.
fn one(it: &mut Arrays) -> (Slice<'_, Vector>, SliceMut<'_, Vector>, f32) {
    (it.x.slice(..), it.y.view(), FACTOR)
}

type Two<'a> = (
    Slice<'a, Vector>,
    Slice<'a, Vector>,
    SliceMut<'a, Vector>,
    f32,
);

/// The arguments of kernels that read x and z.
fn two(it: &mut Arrays) -> Two<'_> {
    (it.x.slice(..), it.z.slice(..), it.y.view(), FACTOR)
}

/// A kernel that writes `of` each element of x and of z.
fn put<S: Signature>(
    entry: Entry<S>,
    grid: Grid,
    arguments: fn(&mut Arrays) -> S::Arguments<'_>,
    of: fn(f32, f32) -> f32,
) -> Case {
    Case::new(entry.name(), move |device, n| {
        let x: Vec<Vector> = (0..n).map(pattern_vector).collect();
        let z: Vec<Vector> = (n..2 * n).map(pattern_vector).collect();
        let combined =
            |(x, z): (&Vector, &Vector)| std::array::from_fn(|lane| of(x[lane], z[lane]));
        let expected: Vec<Vector> = x.iter().zip(&z).map(combined).collect();
        for shape in grid.shapes(n) {
            let mut arrays = Arrays {
                n: n as u64,
                x: device.buffer_from(&x)?,
                z: device.buffer_from(&z)?,
                y: Output::new(device, n)?,
            };
            // SAFETY: the arrays have n vectors, are apart, and aligned as device allocations are.
            unsafe { launch(device, entry, shape, arguments(&mut arrays)) }?;
            check_same(&arrays.y.values()?, &expected)?;
        }
        Ok(())
    })
}

fn read(entry: Entry<read_u1>) -> Case {
    Case::new(entry.name(), move |device, n| {
        let x: Vec<Vector> = (0..n).map(pattern_vector).collect();
        let words = x.as_flattened().iter().map(|x| x.to_bits());
        let expected = words.fold(0, u32::wrapping_add);
        let from = device.buffer_from(&x)?;
        for shape in Grid::Any.shapes(n) {
            let warps = shape.grid[0] * shape.block_threads() / u64::from(WARP);
            let mut sums = Output::new(device, warps as usize)?;
            // SAFETY: there is a place for each warp, and blocks are whole warps.
            unsafe { launch(device, entry, shape, (from.slice(..), sums.view())) }?;
            check_same(&[sum_of_words(&sums.values()?)], &[expected])?;
        }
        Ok(())
    })
}
