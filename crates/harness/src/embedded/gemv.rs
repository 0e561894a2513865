//! A matrix times a vector.

use kernels_gpu::gemv;

use super::checked::{Checked, OfSize};
use super::values::{Expected, Given, whole};
use crate::driver::LaunchConfig;
use crate::model::{Operation, Precision, Work};
use crate::vector::{Product, Real};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// `y = A x` of a square matrix in row-major order: two operations per element of the matrix, which is read once.
#[derive(Clone, Copy, Debug)]
pub struct Gemv;

impl Workload for Gemv {
    fn name(&self) -> &str {
        "gemv"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("size", [1024, 2048, 4096, 8192])
                .within(1..=1 << 16)
                .on_emulator([64, 256])
                .help("rows and columns of a matrix"),
            Axis::types([Precision::F32, Precision::F64]).visits([Precision::F32]),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let size = at.size("size");
        match at.dtype() {
            Precision::F64 => case::<f64>(at, size, size, Precision::F64),
            _ => case::<f32>(at, size, size, Precision::F32),
        }
    }
}

/// Additions of a row beside those of its products: in each thread those of a vector's elements and of a warp, and in
/// the first warp those of all warps.
fn additions<T: Real>(columns: usize) -> usize {
    let width = match columns.is_multiple_of(T::WIDTH) {
        true => T::WIDTH,
        false => 1,
    };
    gemv::BLOCK as usize * (width - 1 + 5) + 32 * 9
}

/// Bits of whole numbers of which products add up exactly, in rows of some thousand.
pub(super) fn exact_bits<T: Real>() -> u32 {
    if T::NAME == "f32" { 5 } else { 19 }
}

/// The most rows in a check: each takes a block, whatever its length.
const MAX: usize = 1000;

/// Columns of which a block's threads take one vector each, and some of them a second.
pub(super) const UNEVEN: usize = 1284;

/// The axis of checks that says which of the sizes is `n`.
const LONG: &str = "long";

pub(super) fn checked() -> Vec<Checked> {
    let all = [
        of_type::<f32>(Precision::F32),
        of_type::<f64>(Precision::F64),
    ];
    all.into_iter().map(|it| it.at(LONG, [0, 1, 2])).collect()
}

/// Of few rows of `n` elements, and of many rows of few elements.
fn of_type<T: Real>(precision: Precision) -> Checked {
    let shapes = OfSize::elements(T::gemv().name(), move |at| {
        let n = at.size("n");
        let (rows, columns) = match at.whole(LONG) {
            0 => (3, n),
            1 => (n.clamp(1, MAX), 5),
            // More than one turn of the loop over what is left, and fewer than one of that over several vectors.
            _ => (1, UNEVEN),
        };
        case::<T>(at, rows, columns, precision)
    });
    Checked::of_size(shapes)
}

fn case<'d, T: Real>(
    at: &Point<'d>,
    rows: usize,
    columns: usize,
    precision: Precision,
) -> Result<Case<'d>, PointError> {
    let arrays = at
        .launch(T::gemv(), LaunchConfig::blocks(rows as u64, gemv::BLOCK))
        .arrays(move |device| {
            let numbers = whole::<T>((rows + 1) * columns, exact_bits::<T>());
            let given = Given::new(device, numbers, columns, rows)?;
            Ok((given, Product::<T>::new(device, rows as u32)?))
        })
        .check(move |(it, _)| {
            let (x, a) = it.here();
            it.out.check((0..rows).map(|row| {
                let row = &a[row * columns..][..columns];
                let terms = row.iter().zip(x).map(|(&a, &x)| a.into() * x.into());
                Expected::exactly(terms.sum())
            }))
        });
    // SAFETY: device allocations are aligned.
    let case = unsafe {
        arrays.enqueue(|(it, product), _, stream| {
            product.launch(stream, it.y.slice(..), it.x.slice(..), it.out.view())
        })
    };
    let sums = rows * additions::<T>(columns);
    Ok(case
        .reads::<T>((rows + 1) * columns)
        .writes::<T>(rows)
        .operations(precision, Operation::Fma, rows * columns)
        .overhead(Work::default().operations(precision, Operation::Add, sums as f64))
        // Of the matrix; what of x is read again comes from a cache.
        .loads(16, gemv::IN_FLIGHT as u32))
}
