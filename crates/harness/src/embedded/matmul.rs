//! A matrix times a matrix.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::matmul::{BLOCK, DEPTH, TILE, matmul};

use super::checked::{Checked, OfSize};
use super::values::{Expected, Given, random};
use crate::driver::{LaunchConfig, Stream};
use crate::model::{Operation, Precision};
use crate::workload::{Axis, Case, Chunk, Point, PointError, Workload};

/// `C = A B` of square matrices of `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Matmul;

impl Workload for Matmul {
    fn name(&self) -> &str {
        "matmul"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("size", [512, 1024, 2048, 4096])
                .within(1..=1 << 15)
                .on_emulator([64, 128, 256])
                .help("rows and columns of a matrix"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let size = at.size("size");
        if !size.is_multiple_of(TILE) {
            return Err(format!("size = {size}: matmul takes multiples of {TILE}").into());
        }
        case(at, [size; 3])
    }

    /// The numbers are rows of `size`, times a matrix of as many rows and columns.
    fn chunk<'d>(&self, at: &Point<'d>, input: &[f32]) -> Result<Chunk<'d>, PointError> {
        let size = at.size("size");
        let prepared = at
            .device()
            .prepare(matmul::entry(), tiles(at.size("n") / size, size))?;
        // Positive, so that sums lose no digits.
        let matrix: Vec<f32> = random::<f32>(size * size)
            .into_iter()
            .map(f32::abs)
            .collect();
        let there = at.device().buffer_from(&matrix)?;
        let input = input.to_vec();
        let check = move |first: usize, c: &[f32]| {
            // Steps that meet other rows and columns each time.
            (0..c.len()).step_by(c.len() / 7 + 1).try_for_each(|i| {
                let (row, column) = (i / size, i % size);
                let terms = (0..size).map(|k| {
                    let a = input[(first + row * size + k) % input.len()];
                    f64::from(a) * f64::from(matrix[k * size + column])
                });
                let value = terms.sum();
                let tolerance = 1e-4 * value;
                let what = format!("row {row}, column {column}");
                Expected { value, tolerance }.check(&what, c[i].into())
            })
        };
        // SAFETY: as in `times_matrix`; the arrays are a chunk long each.
        Ok(unsafe {
            let launch = move |stream: &Stream<'_>, a: Slice<'_, f32>, c: SliceMut<'_, f32>| {
                prepared.launch(stream, &(a, there.slice(..), c, size as u32))
            };
            Chunk::new(launch, check)
        })
    }
}

/// The most columns of a check whose rows are its size.
const MAX: usize = 1000;

/// The axis of checks that says which of the sizes is `n`.
const LONG: &str = "long";

pub(super) fn checked() -> Checked {
    let shapes = OfSize::elements(matmul::entry().name(), |at| {
        let n = at.size("n");
        case(
            at,
            match at.whole(LONG) {
                0 => [2 * TILE, n.min(MAX).next_multiple_of(DEPTH), 2 * TILE],
                _ => [TILE, DEPTH, n.max(1).next_multiple_of(TILE)],
            },
        )
    });
    Checked::of_size(shapes).at(LONG, [0, 1])
}

fn tiles(rows: usize, columns: usize) -> LaunchConfig {
    LaunchConfig {
        grid: [(columns / TILE) as u64, (rows / TILE) as u64, 1],
        block: [BLOCK[0], BLOCK[1], 1],
        dynamic_shared: 0,
    }
}

/// Sizes: rows, inner, columns.
fn case<'d>(at: &Point<'d>, sizes: [usize; 3]) -> Result<Case<'d>, PointError> {
    let [rows, inner, columns] = sizes;
    let arrays = at
        .launch(matmul::entry(), tiles(rows, columns))
        .arrays(move |device| {
            let numbers = random::<f32>((rows + columns) * inner);
            Given::new(device, numbers, rows * inner, rows * columns)
        })
        .check(move |it| {
            let (a, b) = it.here();
            let c = it.out.values()?;
            check_elements(a, b, &c, sizes)?;
            check_rows(a, b, &c, sizes)
        });
    // SAFETY: the sizes are multiples of TILE and DEPTH, and device allocations are aligned.
    let case = unsafe {
        arrays.arguments_unchecked(move |it| {
            let (a, b) = (it.x.slice(..), it.y.slice(..));
            (a, b, it.out.view(), inner as u32)
        })
    };
    Ok(case
        .reads::<f32>((rows + columns) * inner)
        .writes::<f32>(rows * columns)
        .operations(Precision::F32, Operation::Fma, rows * inner * columns))
}

/// Compares elements to the last bit: all of them of small products, and of others so many that the host has them
/// soon, in all rows and columns of tiles.
fn check_elements(
    a: &[f32],
    b: &[f32],
    c: &[f32],
    [_, inner, columns]: [usize; 3],
) -> Result<(), PointError> {
    const MAX_STEPS: usize = 1 << 25;
    let each = (c.len() * inner).div_ceil(MAX_STEPS).max(1);
    // An odd step meets every column where there is a power of two of them.
    let step = if each > 1 { each | 1 } else { 1 };
    (0..c.len()).step_by(step).try_for_each(|i| {
        let (row, column) = (i / columns, i % columns);
        let terms = a[row * inner..][..inner]
            .iter()
            .zip(b.iter().skip(column).step_by(columns));
        // In the kernel's order.
        let expected = terms.fold(0.0f32, |sum, (a, b)| a.mul_add(*b, sum));
        match c[i].to_bits() == expected.to_bits() {
            true => Ok(()),
            false => {
                Err(format!("row {row}, column {column} is {:?}, not {expected:?}", c[i]).into())
            }
        }
    })
}

/// Compares every row with the reference in float64, in a time that does not grow with the product's: C s is A (B s)
/// for signs s. R. Freivalds, "Probabilistic Machines Can Use Less Running Time", IFIP Congress 1977.
fn check_rows(
    a: &[f32],
    b: &[f32],
    c: &[f32],
    [rows, inner, columns]: [usize; 3],
) -> Result<(), PointError> {
    let mut random = fastrand::Rng::with_seed(columns as u64);
    let signs: Vec<f64> = (0..columns)
        .map(|_| if random.bool() { 1.0 } else { -1.0 })
        .collect();
    let times = |row: &[f32], with: &[f64]| -> f64 {
        row.iter()
            .zip(with)
            .map(|(&it, with)| f64::from(it) * with)
            .sum()
    };
    let of_b: Vec<f64> = b
        .chunks(columns.max(1))
        .map(|row| times(row, &signs))
        .collect();
    // An element is a sum of so many products of numbers from -1 to 1, and so is off by a tenth of that at most, as
    // roundings add up; those of elements have any sign.
    let tolerance = f64::from(f32::EPSILON) * inner as f64 * (columns as f64).sqrt();
    (0..rows).try_for_each(|row| {
        let expected = Expected {
            value: times(&a[row * inner..][..inner], &of_b),
            tolerance,
        };
        let actual = times(&c[row * columns..][..columns], &signs);
        expected.check(&format!("the signed sum of row {row}"), actual)
    })
}
