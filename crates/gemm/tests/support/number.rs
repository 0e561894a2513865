//! What elements are made from and compared as: for the tests, and for the workload of `benches/workloads`.

use cuda_std::wgmma::Tf32;
use cuda_std::{bf16, f16};

/// An element of a matrix.
pub(crate) trait Number: Copy {
    /// What rounding to it costs at most, relative to the value.
    const UNIT: f64;
    /// The nearest that there is.
    fn from_f64(value: f64) -> Self;
    /// Its value.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($ty:ty, $unit:expr, $from:expr, $to:expr;)*) => {$(
        impl Number for $ty {
            const UNIT: f64 = $unit;
            fn from_f64(value: f64) -> Self {
                ($from)(value)
            }
            fn to_f64(self) -> f64 {
                ($to)(self)
            }
        }
    )*};
}

numbers! {
    bf16, 1.0 / 256.0, bf16::from_f64, bf16::to_f64;
    f16, 1.0 / 2048.0, f16::from_f64, f16::to_f64;
    f32, 1.0 / 16_777_216.0, |value| value as f32, f64::from;
    // Bits that the tensor cores leave out are 0.
    Tf32, 0.0, |value| Tf32(f32::from_bits((value as f32).to_bits() & !0x1FFF)), |Tf32(value)| f64::from(value);
}

/// By how much a sum of products may differ from `value`, whose terms' sizes add up to `size`: sums are rounded or
/// cut off at each step, to 24 bits or few less, and the result once to `R`. Of the products measured on an H200 that of
/// `tf32` with k = 8192 has the greatest difference, 1.04 * `size` / 2^20: its 1,024 steps are cut off.
pub(crate) fn bound<R: Number>(value: f64, size: f64) -> f64 {
    value.abs() * R::UNIT + size / f64::from(1 << 19)
}
