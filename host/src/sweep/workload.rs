//! What is measured at a point: a kernel over elements of one type, and the check of its output.

use cuda_std::launch::Entry;
use cuda_std::packed::F16x2;
use kernels_gpu::polynomial::{Element, Polynomial};

use super::check::first_mismatch;
use super::{Point, SweepError};
use crate::driver::{Device, DeviceBuffer, DeviceValue};
use crate::measure::{Sampler, Samples, Sampling};
use crate::model::Precision;

/// The points of one precision, with their memory allocated.
pub(super) trait Workload {
    /// Times a point's kernel and compares its output with the reference.
    fn sample(
        &mut self,
        device: &Device,
        sampler: &mut Sampler<'_>,
        point: &Point,
        sampling: Sampling,
    ) -> Result<Samples, SweepError>;
}

/// Checks the points of a precision against the device's limits, and allocates for the largest.
pub(super) fn workload<'p>(
    device: &Device,
    precision: Precision,
    points: impl Iterator<Item = &'p Point> + Clone,
    x: Option<f64>,
) -> Result<Box<dyn Workload>, SweepError> {
    Ok(match precision {
        Precision::F32 => Box::new(Buffers::<f32>::new(device, points, x)?),
        Precision::F64 => Box::new(Buffers::<f64>::new(device, points, x)?),
        Precision::F16x2 => Box::new(Buffers::<F16x2>::new(device, points, x)?),
    })
}

struct Buffers<T: DeviceValue> {
    x: DeviceBuffer<T>,
    y: DeviceBuffer<T>,
    /// Each number of `x`.
    number: f64,
}

impl<T: Element + DeviceValue> Buffers<T> {
    fn new<'p>(
        device: &Device,
        points: impl Iterator<Item = &'p Point> + Clone,
        x: Option<f64>,
    ) -> Result<Self, SweepError> {
        for point in points.clone() {
            check::<T>(device, point)?;
        }
        let asked = x.unwrap_or(T::X);
        let element = T::from_f64(asked);
        let number = element.numbers().next().expect("an element has a number");
        if number.is_infinite() || (number == 0.0 && asked != 0.0) {
            return Err(SweepError::NotHeld {
                x: asked,
                value: number,
                dtype: T::NAME,
            });
        }
        let k = points.clone().map(|point| point.k).max().unwrap_or(0);
        let result = sum_of_powers(number.abs(), k);
        if result.is_nan() || result > T::GREATEST {
            return Err(SweepError::Overflow {
                x: asked,
                k,
                result,
                dtype: T::NAME,
            });
        }
        let elements = points.map(Point::elements).max().unwrap_or(0) as usize;
        Ok(Buffers {
            x: device.buffer_filled(elements, element)?,
            y: device.buffer_uninitialized(elements)?,
            number,
        })
    }
}

impl<T: Element + DeviceValue> Workload for Buffers<T> {
    fn sample(
        &mut self,
        device: &Device,
        sampler: &mut Sampler<'_>,
        point: &Point,
        sampling: Sampling,
    ) -> Result<Samples, SweepError> {
        let prepared = device.prepare(kernel::<T>(point)?, point.shape(device.properties()))?;
        let elements = point.elements() as usize;
        self.y.poison()?;
        // SAFETY: x and y hold at least so many elements (`new` allocates for the largest point),
        // are apart, aligned as device allocations are, and live past `sample`, which synchronises;
        // no k is 0 (`check`).
        let samples = unsafe {
            let arguments = (
                self.x.slice(..elements),
                self.y.slice_mut(..elements),
                point.k,
            );
            sampler.sample(&prepared, &arguments, point.cache, sampling)
        }?;
        first_mismatch(&self.y, elements, self.number, point.k)?.map_err(|mismatch| {
            SweepError::Wrong {
                point: Box::new(*point),
                mismatch,
            }
        })?;
        Ok(samples)
    }
}

/// x + x^2 + .. + x^k in a time that does not grow with k.
fn sum_of_powers(x: f64, k: u32) -> f64 {
    let k = f64::from(k);
    if x == 1.0 {
        return k;
    }
    x * (k * x.ln()).exp_m1() / (x - 1.0)
}

fn kernel<T: Element>(point: &Point) -> Result<Entry<Polynomial<T>>, SweepError> {
    let Point { vector, ilp, .. } = *point;
    T::kernel(point.form, vector, ilp).ok_or(SweepError::Work { vector, ilp })
}

/// Whether the device allows the point's launch, and its numbers fill elements.
fn check<T: Element>(device: &Device, point: &Point) -> Result<(), SweepError> {
    if !point.n.is_multiple_of(point.precision.numbers().into()) {
        return Err(SweepError::Odd {
            n: point.n,
            dtype: T::NAME,
        });
    }
    device.prepare(kernel::<T>(point)?, point.shape(device.properties()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::sum_of_powers;
    use kernels_gpu::polynomial::reference;

    #[test]
    fn the_sum_of_powers_is_that_of_the_reference() {
        for x in [0.0, 1e-3, 0.5, 0.9, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.01, 3.0] {
            for k in [1, 2, 3, 10, 100, 500] {
                let (found, expected) = (sum_of_powers(x, k), reference::<f64>(x, k).scale);
                let error = (found - expected).abs();
                assert!(error <= 1e-6 * expected, "{x}, {k}: {found}, {expected}");
            }
        }
        assert_eq!(sum_of_powers(1.01, u32::MAX), f64::INFINITY);
    }
}
