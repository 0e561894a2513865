//! The pipeline's computation on a chunk, and its input.

use super::{Plan, StudyError};
use crate::driver::Device;
use crate::workload::{Chunk, Loaded, Point, PointError, Value, Workload};

/// A computation on a chunk: a workload that takes some.
#[derive(Clone, Copy)]
pub struct Work {
    workload: &'static dyn Workload,
    /// A polynomial's, which is the kernel's weight.
    degree: Option<u32>,
}

/// Elements after which the input repeats itself.
const PERIOD: usize = 1021;
/// Elements per thread of the polynomial.
const WIDTH: u32 = 4;

impl Work {
    /// Of one that is good for [chunks](crate::embedded::Use::Chunks); of a polynomial the first degree.
    pub fn new(workload: &'static dyn Workload) -> Work {
        let has_degree = workload.axes().iter().any(|axis| axis.name() == "k");
        Work {
            workload,
            degree: has_degree.then_some(1),
        }
    }

    /// A polynomial's of this degree, which is the kernel's weight; any other work as it is.
    #[must_use]
    pub fn of_degree(self, degree: u32) -> Work {
        Work {
            degree: self.degree.map(|_| degree),
            ..self
        }
    }

    /// Whether it is a polynomial's, of any degree.
    pub fn has_degree(self) -> bool {
        self.degree.is_some()
    }

    /// Its name in tables.
    pub fn name(self) -> String {
        let name = self.workload.name();
        match self.degree {
            Some(degree) => format!("{name} {degree}"),
            None => name.to_owned(),
        }
    }

    /// A kernel that is ready for the chunks of a plan.
    pub(super) fn chunk<'d>(
        self,
        device: &'d Device,
        loaded: &'d Loaded,
        plan: Plan,
    ) -> Result<Chunk<'d>, StudyError> {
        let whole = |number: usize| Value::Whole(number as u64);
        let values = vec![
            ("n", whole(plan.chunk())),
            ("size", whole(plan.size)),
            ("k", self.degree.unwrap_or(1).into()),
            ("vector", WIDTH.into()),
            ("ilp", 1.into()),
        ];
        let point = Point::new(device, loaded, self.workload, values);
        let input: Vec<f32> = (0..PERIOD).map(|i| input(0, i)).collect();
        self.workload
            .chunk(&point, &input)
            .map_err(|error| refused("", error))
    }
}

/// Compares the output of a piece with the reference.
pub(super) fn check(chunk: &Chunk<'_>, piece: usize, output: &[f32]) -> Result<(), StudyError> {
    let checked = chunk.check(first(piece), output);
    checked.map_err(|error| refused(&format!("piece {piece}: "), error))
}

fn refused(what: &str, error: PointError) -> StudyError {
    match error {
        PointError::Driver(error) => error.into(),
        PointError::Refused(reason) => StudyError::Refused(format!("{what}{reason}")),
    }
}

/// Element `i` of piece `piece`: at most a half, so that no polynomial grows.
pub(super) fn input(piece: usize, i: usize) -> f32 {
    ((first(piece) + i) % PERIOD) as f32 / (2 * PERIOD) as f32
}

/// Elements of the input that a piece leaves out.
fn first(piece: usize) -> usize {
    97 * piece % PERIOD
}
