//! Compares a kernel's output with the float64 reference.

use kernels_gpu::polynomial::{Element, reference};

use crate::driver::{DeviceBuffer, DeviceValue, DriverError};

/// A number that is not what the reference says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "number {index} is {actual:e}, the float64 reference says {expected:e}, and the error is \
     {error:e} where {allowed:e} is allowed"
)]
pub struct Mismatch {
    /// Its index.
    pub index: u64,
    /// What the kernel wrote.
    pub actual: f64,
    /// What it should be.
    pub expected: f64,
    /// The difference.
    pub error: f64,
    /// The largest difference that rounding explains.
    pub allowed: f64,
}

/// Compares the numbers of the first `elements` of `output`, the polynomial of degree `k` at `x`, in
/// order. `Ok(Err(_))` is the first that is wrong.
pub(super) fn first_mismatch<T: Element + DeviceValue>(
    output: &DeviceBuffer<T>,
    elements: usize,
    x: f64,
    k: u32,
) -> Result<Result<(), Mismatch>, DriverError> {
    const CHUNK: usize = 1 << 22;
    let expected = reference::<T>(x, k);
    let mut values = vec![T::zeroed(); elements.min(CHUNK)];
    let mut index = 0;
    for first in (0..elements).step_by(CHUNK) {
        let values = &mut values[..CHUNK.min(elements - first)];
        output.read(first, values)?;
        for actual in values.iter().flat_map(|value| value.numbers()) {
            let error = (actual - expected.value).abs();
            if error.is_nan() || error > expected.error {
                return Ok(Err(Mismatch {
                    index,
                    actual,
                    expected: expected.value,
                    error,
                    allowed: expected.error,
                }));
            }
            index += 1;
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Device;

    #[test]
    fn the_first_wrong_element_is_named() {
        let device = Device::emulator(Default::default());
        let right = reference::<f32>(0.5, 3).value as f32;
        let mut values = vec![right; 1000];
        let check = |values: &[f32]| {
            let output = device.buffer_from(values).expect("memory");
            first_mismatch(&output, values.len(), 0.5, 3).expect("readable")
        };
        assert_eq!(check(&values), Ok(()));
        values[998] = f32::NAN;
        assert_eq!(check(&values).expect_err("a NaN").index, 998);
        values[7] += 1e-5;
        let mismatch = check(&values).expect_err("an error");
        assert_eq!(mismatch.index, 7);
        assert!(mismatch.error > mismatch.allowed);
    }
}
