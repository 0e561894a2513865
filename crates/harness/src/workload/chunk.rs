//! Work on a chunk of numbers that comes from the host and goes back there.

use cuda_std::launch::{Slice, SliceMut};

use super::PointError;
use crate::driver::{DriverError, Stream};

/// A launch that makes as many `f32` of those in another array, and what they should be.
pub struct Chunk<'d> {
    launch: Box<Launch<'d>>,
    check: Box<Check<'d>>,
}

type Launch<'d> =
    dyn Fn(&Stream<'_>, Slice<'_, f32>, SliceMut<'_, f32>) -> Result<(), DriverError> + 'd;

type Check<'d> = dyn Fn(usize, &[f32]) -> Result<(), PointError> + 'd;

impl<'d> Chunk<'d> {
    /// `launch` puts the kernel into the stream. `check` compares what it made of a chunk that begins with so
    /// many numbers of the input left out.
    ///
    /// # Safety
    /// The launch keeps the kernel's contract for all arrays of as many numbers that are apart.
    pub unsafe fn new(
        launch: impl Fn(&Stream<'_>, Slice<'_, f32>, SliceMut<'_, f32>) -> Result<(), DriverError> + 'd,
        check: impl Fn(usize, &[f32]) -> Result<(), PointError> + 'd,
    ) -> Chunk<'d> {
        Chunk {
            launch: Box::new(launch),
            check: Box::new(check),
        }
    }

    /// Puts the kernel into the stream.
    ///
    /// # Safety
    /// Both are a chunk long, and live until the stream has been waited for; nothing else writes
    /// them meanwhile.
    pub(crate) unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        from: Slice<'_, f32>,
        to: SliceMut<'_, f32>,
    ) -> Result<(), DriverError> {
        (self.launch)(stream, from, to)
    }

    /// Compares with the reference what was made of a chunk that begins with number `first` of the input.
    pub(crate) fn check(&self, first: usize, output: &[f32]) -> Result<(), PointError> {
        (self.check)(first, output)
    }
}
