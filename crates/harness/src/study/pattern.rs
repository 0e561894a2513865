//! A long random vector whose elements repeat: its norm, and what of it is normalized, are known without a second one.

use std::fmt;
use std::ops::Range;

use kernels_gpu::vector::reference_norm;

use super::StudyError;
use crate::driver::{Device, DeviceBuffer, DriverError};
use crate::vector::Real;

/// Random elements, which are repeated: the checks need not know more.
const PATTERN: usize = 1 << 16;

/// A vector of `n` elements from -1 to 1.
pub(super) struct Pattern<T> {
    values: Vec<T>,
    n: usize,
}

impl<T: Real> Pattern<T> {
    pub(super) fn new(n: usize) -> Pattern<T> {
        let mut random = fastrand::Rng::with_seed(42);
        let values = (0..PATTERN.min(n)).map(|_| T::from_f64(random.f64() * 2.0 - 1.0));
        Pattern {
            values: values.collect(),
            n,
        }
    }

    /// Some of its elements on a device.
    pub(super) fn part(
        &self,
        device: &Device,
        part: Range<usize>,
    ) -> Result<DeviceBuffer<T>, DriverError> {
        let mut x = device.buffer_zeroed(part.len())?;
        self.pieces(part, |place, values| x.write(place, values))?;
        Ok(x)
    }

    /// Calls `each` with the place in a part, and with the elements from there on, a piece after the other.
    fn pieces<E>(
        &self,
        part: Range<usize>,
        mut each: impl FnMut(usize, &[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = part.start;
        while next < part.end {
            let from = next % self.values.len();
            let len = (self.values.len() - from).min(part.end - next);
            each(next - part.start, &self.values[from..from + len])?;
            next += len;
        }
        Ok(())
    }

    /// Its norm in float64.
    fn norm(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let wide = self.values.iter().map(|&x| x.into());
        let (times, rest) = (self.n / self.values.len(), self.n % self.values.len());
        let (whole, part) = (
            reference_norm(wide.clone()),
            reference_norm(wide.take(rest)),
        );
        (times as f64 * whole * whole + part * part).sqrt()
    }

    /// Compares a norm, and every element of a part of the normalized vector, with the reference.
    pub(super) fn check(
        &self,
        mode: impl fmt::Display,
        norm: f64,
        part: Range<usize>,
        y: &DeviceBuffer<T>,
    ) -> Result<(), StudyError> {
        let length = self.norm();
        let allowed = if T::NAME == "f32" { 4e-7 } else { 1e-14 };
        StudyError::check("the norm", norm, length, allowed * length)?;
        let mut actual = vec![T::default(); self.values.len()];
        let first = part.start;
        self.pieces(part, |place, values| {
            let actual = &mut actual[..values.len()];
            y.read(place, actual)?;
            for (i, (&x, &y)) in values.iter().zip(&*actual).enumerate() {
                let expected = x.into() / length;
                let what = format_args!("{mode}: element {}", first + place + i);
                StudyError::check(what, y.into(), expected, allowed * expected.abs())?;
            }
            Ok(())
        })
    }
}
