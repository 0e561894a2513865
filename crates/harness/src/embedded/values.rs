//! Values that kernels are given, and the comparison of what they wrote.

use bytemuck::bytes_of;
use cuda_std::launch::{Slice, SliceMut};

use crate::driver::{Device, DeviceBuffer, DeviceValue, DriverError};
use crate::vector::Real;
use crate::workload::PointError;

/// Elements behind an output that no kernel may touch.
const GUARD: usize = 8;

/// Numbers from -1 to 1, the same for the same `n`.
pub(super) fn random<T: Real>(n: usize) -> Vec<T> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    (0..n)
        .map(|_| T::from_f64(random.f64() * 2.0 - 1.0))
        .collect()
}

/// Whole numbers below `2^bits` in magnitude, of either sign, the same for the same `n`: where sums of their products have far fewer
/// bits than the type they are exact, and nothing may be lost of them.
pub(super) fn whole<T: Real>(n: usize, bits: u32) -> Vec<T> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    let most = 1i64 << bits;
    (0..n)
        .map(|_| T::from_f64(random.i64(-most..most) as f64))
        .collect()
}

/// The distance from 1 to the next number: twice what a rounding changes at most.
pub(super) fn epsilon<T: Real>() -> f64 {
    if T::NAME == "f32" {
        f64::from(f32::EPSILON)
    } else {
        f64::EPSILON
    }
}

/// The least number above 0: what rounding a number of that size changes at most, twice.
pub(super) fn least<T: Real>() -> f64 {
    if T::NAME == "f32" {
        f64::from(f32::from_bits(1))
    } else {
        f64::from_bits(1)
    }
}

/// An array that a kernel is to write. Nothing has, so a kernel that reads it is reported where memory is
/// checked; all bits are set.
pub(super) struct Output<T: DeviceValue> {
    buffer: DeviceBuffer<T>,
    len: usize,
}

impl<T: DeviceValue> Output<T> {
    pub(super) fn new(device: &Device, len: usize) -> Result<Self, DriverError> {
        let buffer = device.buffer_uninitialized(len + GUARD)?;
        Ok(Output { buffer, len })
    }

    pub(super) fn view(&mut self) -> SliceMut<'_, T> {
        self.buffer.slice_mut(..self.len)
    }

    /// Writes what the kernel reads before it writes.
    pub(super) fn write(&mut self, values: &[T]) -> Result<(), DriverError> {
        self.buffer.write(0, values)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns what the kernel wrote, for another one.
    pub(super) fn slice(&self) -> Slice<'_, T> {
        self.buffer.slice(..self.len)
    }

    /// Some of what the kernel wrote, from element `first` on.
    pub(super) fn read(&self, first: usize, values: &mut [T]) -> Result<(), DriverError> {
        self.buffer.read(first, values)
    }

    /// Fails if an element behind the last was written.
    pub(super) fn check_guard(&self) -> Result<(), PointError> {
        let mut guard = [T::zeroed(); GUARD];
        self.read(self.len, &mut guard)?;
        match guard.iter().position(is_written) {
            Some(i) => Err(format!("element {} of {} was written", self.len + i, self.len).into()),
            None => Ok(()),
        }
    }

    /// Reads what the kernel wrote: every element, and nothing behind them.
    pub(super) fn values(&self) -> Result<Vec<T>, PointError> {
        let (len, values) = (self.len, self.contents()?);
        match values.iter().position(|value| !is_written(value)) {
            Some(i) => Err(format!("element {i} of {len} was not written").into()),
            None => Ok(values),
        }
    }

    /// The array, with nothing written behind it: of a type whose results may have all bits set, as -1 has. What was not
    /// written is found where it is compared with anything else.
    pub(super) fn contents(&self) -> Result<Vec<T>, PointError> {
        self.check_guard()?;
        let mut values = self.buffer.to_vec()?;
        values.truncate(self.len);
        Ok(values)
    }
}

/// Whether any bit is not as [`Output::new`] left it. Results of the emulator and of GPUs that are NaN
/// have bits that are not set.
fn is_written<T: DeviceValue>(value: &T) -> bool {
    bytes_of(value).iter().any(|&byte| byte != 0xFF)
}

impl<T: DeviceValue + Into<f64>> Output<T> {
    /// Fails unless the kernel wrote as many numbers as expected, each near.
    pub(super) fn check(
        &self,
        expected: impl ExactSizeIterator<Item = Expected>,
    ) -> Result<(), PointError> {
        check_each(self.values()?.into_iter().map(Into::into), expected)
    }
}

/// Numbers in two arrays, and what a kernel makes of them.
pub(super) struct Given<T: Real> {
    here: Vec<T>,
    len: usize,
    pub(super) x: DeviceBuffer<T>,
    pub(super) y: DeviceBuffer<T>,
    pub(super) out: Output<T>,
}

impl<T: Real> Given<T> {
    /// The first `len` of the numbers are x, and the others y.
    pub(super) fn new(
        device: &Device,
        here: Vec<T>,
        len: usize,
        out: usize,
    ) -> Result<Self, DriverError> {
        let (x, y) = here.split_at(len);
        Ok(Given {
            x: device.buffer_from(x)?,
            y: device.buffer_from(y)?,
            out: Output::new(device, out)?,
            len,
            here,
        })
    }

    /// x and y.
    pub(super) fn here(&self) -> (&[T], &[T]) {
        self.here.split_at(self.len)
    }
}

/// The value that a number should have, and by how much it may differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) value: f64,
    pub(super) tolerance: f64,
}

impl Expected {
    /// This value and no other.
    pub(super) fn exactly(value: f64) -> Expected {
        let tolerance = 0.0;
        Expected { value, tolerance }
    }

    /// Fails unless `actual` is near, or both are the same infinity or NaN.
    pub(super) fn check(self, what: &str, actual: f64) -> Result<(), PointError> {
        let Expected { value, tolerance } = self;
        let same = actual == value || (actual.is_nan() && value.is_nan());
        if same || (value.is_finite() && (actual - value).abs() <= tolerance) {
            return Ok(());
        }
        Err(format!("{what} is {actual:e}, not {value:e} to {tolerance:e}").into())
    }
}

/// Fails unless there are as many numbers as expected, each near.
pub(super) fn check_each(
    actual: impl ExactSizeIterator<Item = f64>,
    expected: impl ExactSizeIterator<Item = Expected>,
) -> Result<(), PointError> {
    if actual.len() != expected.len() {
        return Err(format!("{} elements, not {}", actual.len(), expected.len()).into());
    }
    let mut pairs = actual.zip(expected).enumerate();
    pairs.try_for_each(|(i, (actual, expected))| expected.check(&format!("element {i}"), actual))
}

/// Fails unless what has passed, in cycles and in nanoseconds, was written and is a difference of two readings: no launch takes
/// hours, and the clocks have begun long before it.
pub(super) fn check_passed(passed: &[u64]) -> Result<(), PointError> {
    const HOURS: u64 = 10_000_000_000_000;
    match passed.iter().find(|&&it| it > HOURS) {
        Some(it) => Err(format!("a launch took {it} cycles or nanoseconds").into()),
        None => Ok(()),
    }
}

/// Fails unless the bits are the same.
pub(super) fn check_same<T: DeviceValue + std::fmt::Debug>(
    actual: &[T],
    expected: &[T],
) -> Result<(), PointError> {
    if actual.len() != expected.len() {
        return Err(format!("{} elements, not {}", actual.len(), expected.len()).into());
    }
    let differs = |(actual, expected): (&T, &T)| bytes_of(actual) != bytes_of(expected);
    match actual.iter().zip(expected).position(differs) {
        Some(i) => Err(format!("element {i} is {:?}, not {:?}", actual[i], expected[i]).into()),
        None => Ok(()),
    }
}
