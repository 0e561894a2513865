//! What the pipeline's kernel computes of a chunk, its input, and the check of its output.

use std::cell::OnceCell;

use cuda_std::launch::{Entry, Slice, SliceMut};
use kernels_gpu::matmul::{self, TILE};
use kernels_gpu::polynomial::{Element, Form, Polynomial, Reference, reference};
use serde::Serialize;

use super::{Plan, StudyError};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};

/// What is computed of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Work {
    /// A polynomial of this degree of each element: the degree is the kernel's weight.
    Horner(u32),
    /// The chunk's rows times a matrix of the batch's size, which stays on the device.
    Matmul,
}

/// Elements after which the input repeats itself.
const PERIOD: usize = 1021;
/// Threads a block of the polynomial.
const BLOCK: u32 = 256;
/// Elements a thread of the polynomial.
const WIDTH: u32 = 4;

impl Work {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Work::Horner(degree) => format!("horner {degree}"),
            Work::Matmul => "matmul".to_owned(),
        }
    }
}

/// Element `i` of piece `piece`: at most a half, so that no polynomial grows.
pub(super) fn input(piece: usize, i: usize) -> f32 {
    value(place(piece, i))
}

fn place(piece: usize, i: usize) -> usize {
    (i + 97 * piece) % PERIOD
}

fn value(place: usize) -> f32 {
    place as f32 / (2 * PERIOD) as f32
}

/// A kernel that is ready for the chunks of a plan.
pub(super) struct Worker<'d> {
    plan: Plan,
    kind: Kind<'d>,
}

enum Kind<'d> {
    /// The kernel, its degree, and the reference of each value of the input, once it is needed.
    Horner(Prepared<'d, Polynomial<f32>>, u32, OnceCell<Vec<Reference>>),
    Matmul(Prepared<'d, matmul::matmul>, DeviceBuffer<f32>),
}

impl<'d> Worker<'d> {
    pub(super) fn new(device: &'d Device, plan: Plan, work: Work) -> Result<Self, DriverError> {
        let kind = match work {
            Work::Horner(degree) => {
                let entry: Entry<Polynomial<f32>> =
                    f32::kernel(Form::Horner, WIDTH, 1).expect("there is one of this width");
                let threads = plan.chunk().div_ceil(WIDTH as usize) as u64;
                Kind::Horner(
                    device.prepare(entry, LaunchConfig::linear(threads, BLOCK))?,
                    degree,
                    OnceCell::new(),
                )
            }
            Work::Matmul => {
                let threads = |extent: usize, axis: usize| {
                    extent as u64 / TILE as u64 * u64::from(matmul::BLOCK[axis])
                };
                let shape = LaunchConfig::tiles(
                    [threads(plan.size, 0), threads(plan.size / plan.chunks, 1)],
                    matmul::BLOCK,
                );
                let matrix: Vec<f32> = (0..plan.elements()).map(|i| input(0, i)).collect();
                let prepared = device.prepare(matmul::matmul::entry(), shape)?;
                Kind::Matmul(prepared, device.buffer_from(&matrix)?)
            }
        };
        Ok(Worker { plan, kind })
    }

    /// Puts the kernel into the stream.
    ///
    /// # Safety
    /// Both are a chunk long, and live until the stream has been waited for; nothing else writes
    /// them meanwhile.
    pub(super) unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        from: Slice<'_, f32>,
        to: SliceMut<'_, f32>,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller vouches for the chunks; the matrix lives as long as `self`.
        unsafe {
            match &self.kind {
                Kind::Horner(prepared, degree, _) => prepared.launch(stream, &(from, to, *degree)),
                Kind::Matmul(prepared, matrix) => {
                    let inner = self.plan.size as u32;
                    prepared.launch(stream, &(from, matrix.slice(..), to, inner))
                }
            }
        }
    }

    /// Compares the output of a piece with the float64 reference: every element of a polynomial,
    /// and a few of a product.
    pub(super) fn check(&self, piece: usize, output: &[f32]) -> Result<(), StudyError> {
        match &self.kind {
            Kind::Horner(_, degree, expected) => {
                let reference = |place| reference::<f32>(value(place).into(), *degree);
                let expected = expected.get_or_init(|| (0..PERIOD).map(reference).collect());
                output.iter().enumerate().try_for_each(|(i, &actual)| {
                    let expected = expected[place(piece, i)];
                    let what = format_args!("piece {piece}, element {i}");
                    StudyError::check(what, actual.into(), expected.value, expected.error)
                })
            }
            Kind::Matmul(..) => {
                let size = self.plan.size;
                // Steps that meet other rows and columns each time.
                (0..output.len())
                    .step_by(output.len() / 7 + 1)
                    .try_for_each(|i| {
                        let (row, column) = (i / size, i % size);
                        let terms = (0..size).map(|k| {
                            f64::from(input(piece, row * size + k))
                                * f64::from(input(0, k * size + column))
                        });
                        let expected: f64 = terms.sum();
                        let what = format_args!("piece {piece}, row {row}, column {column}");
                        StudyError::check(what, output[i].into(), expected, 1e-4 * expected)
                    })
            }
        }
    }
}
