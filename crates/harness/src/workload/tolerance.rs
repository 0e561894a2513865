//! Compares what a kernel wrote with a reference.

use super::PointError;
use crate::driver::{DeviceBuffer, DeviceValue};

/// Compares each element with `expected` of its index: the difference may be `tolerance` times the
/// expected value, with 0.0 none at all.
///
/// # Errors
/// [`PointError::Refused`] names the first element that is not close, [`PointError::Driver`] what the
/// device refused.
pub fn close<T: DeviceValue + Into<f64>>(
    buffer: &DeviceBuffer<T>,
    tolerance: f64,
    expected: impl Fn(usize) -> f64,
) -> Result<(), PointError> {
    const CHUNK: usize = 1 << 22;
    let mut values = vec![T::zeroed(); buffer.len().min(CHUNK)];
    for first in (0..buffer.len()).step_by(CHUNK) {
        let values = &mut values[..CHUNK.min(buffer.len() - first)];
        buffer.read(first, values)?;
        for (index, &actual) in (first..).zip(values.iter()) {
            let (actual, expected): (f64, f64) = (actual.into(), expected(index));
            let error = (actual - expected).abs();
            // No difference is below NaN, and the same infinity is no difference.
            if actual != expected && (error.is_nan() || error > tolerance * expected.abs()) {
                return Err(PointError::Refused(format!(
                    "element {index} is {actual:e}, and the reference {expected:e}: the difference may \
                     be {:e}",
                    tolerance * expected.abs()
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Device;

    #[test]
    fn the_first_element_that_is_wrong_is_named() {
        let device = Device::emulator(Default::default());
        let check = |values: &[f32], tolerance| {
            let buffer = device.buffer_from(values).expect("memory");
            close(&buffer, tolerance, |i| i as f64).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[0.0, 1.0, 2.0], 0.0), Ok(()));
        assert_eq!(check(&[0.0, 1.0, 2.002], 0.01), Ok(()));
        for wrong in [2.5, f32::NAN, f32::INFINITY] {
            let error = check(&[0.0, 1.0, wrong, 7.0], 0.01).expect_err("wrong");
            assert!(
                error.contains("element 2 is") && error.contains("2e0"),
                "{error}"
            );
        }
        assert_eq!(check(&[], 0.0), Ok(()));
    }
}
