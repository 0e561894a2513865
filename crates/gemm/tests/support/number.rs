//! The numbers that elements are made from and compared as: for the tests, and for the workload of `benches/workloads`.

use cuda_std::wgmma::{E4m3, Tf32};
use cuda_std::{bf16, f16};

/// An element of a matrix.
pub(crate) trait Number: Copy {
    /// The greatest error of rounding to it, relative to the value.
    const UNIT: f64;
    /// The greatest error of rounding to a subnormal number, where results may be so small.
    const SUBNORMAL: f64 = 0.0;
    /// By how much a sum of products may be off because it is rounded or cut off at each step, relative to the sum of their sizes.
    const SUM: f64 = 1.0 / 524_288.0;
    /// The same for each product of a sum.
    const EACH: f64 = 0.0;
    /// The nearest that there is.
    fn from_f64(value: f64) -> Self;
    /// Its value.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($ty:ty, [$unit:expr, $subnormal:expr], $from:expr, $to:expr;)*) => {$(
        impl Number for $ty {
            const UNIT: f64 = $unit;
            const SUBNORMAL: f64 = $subnormal;
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
    bf16, [1.0 / 256.0, 0.0], bf16::from_f64, bf16::to_f64;
    f16, [1.0 / 2048.0, 1.0 / 33_554_432.0], f16::from_f64, f16::to_f64;
    f32, [1.0 / 16_777_216.0, 0.0], |value| value as f32, f64::from;
    // Bits that the tensor cores leave out are 0.
    Tf32, [0.0, 0.0], |value| Tf32(f32::from_bits((value as f32).to_bits() & !0x1FFF)), |Tf32(value)| f64::from(value);
}

impl Number for f64 {
    const UNIT: f64 = f64::EPSILON;
    const SUM: f64 = 8.0 * f64::EPSILON;
    // The reference's sums are rounded, too, to half of it.
    const EACH: f64 = f64::EPSILON;

    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }
}

impl Number for E4m3 {
    const UNIT: f64 = 1.0 / 16.0;
    // The 32 products of an instruction are aligned to the greatest, and about 14 bits of them are kept.
    const SUM: f64 = 1.0 / 512.0;

    fn from_f64(value: f64) -> Self {
        let sign = u8::from(value.is_sign_negative()) << 7;
        if value.is_nan() {
            return E4m3(0x7F | sign);
        }
        let size = value.abs().min(448.0);
        let exponent = size.log2().floor().max(-6.0);
        let eighths = (size / (exponent - 3.0).exp2()).round_ties_even() as u8;
        // A significand that is rounded up to 16 eighths carries into the exponent.
        E4m3(sign | (((exponent as i8 + 6) as u8) << 3).wrapping_add(eighths))
    }

    fn to_f64(self) -> f64 {
        let (exponent, eighths) = (self.0 >> 3 & 15, f64::from(self.0 & 7));
        let size = match (exponent, self.0 & 7) {
            (15, 7) => f64::NAN,
            (0, _) => eighths / 512.0,
            _ => (8.0 + eighths) * (f64::from(exponent) - 10.0).exp2(),
        };
        if self.0 & 0x80 == 0 { size } else { -size }
    }
}

/// By how much a sum of `terms` products of `T`, rounded to `R`, may differ from `value`, whose terms' sizes add up to `size`: sums are
/// rounded or cut off at each step, to 24 bits or few less, and the result once. Of the products measured on an H200 that of
/// `tf32` with k = 8192 has the greatest difference, 1.04 * `size` / 2^20: its 1,024 steps are cut off.
pub(crate) fn bound<T: Number, R: Number>(value: f64, size: f64, terms: usize) -> f64 {
    (value.abs() * R::UNIT).max(R::SUBNORMAL) + size * (T::SUM + terms as f64 * T::EACH)
}
