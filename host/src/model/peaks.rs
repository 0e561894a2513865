//! What the hardware can do at most, from its data sheet and from its parts.

use super::{BytesPerSec, FlopsPerSec, Precision};

/// Arithmetic that a multiprocessor has so many lanes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Add, multiply, multiply-add of `f32`.
    F32,
    /// Add, multiply, multiply-add of `f64`.
    F64,
    /// The same of `f16` in pairs.
    F16x2,
    /// The same of `bf16` in pairs.
    Bf16x2,
    /// Multiply and multiply-add of 32-bit integers.
    I32,
    /// Reciprocal, square root, logarithm, exponential, sine of `f32`, approximate.
    Special,
}

impl From<Precision> for Arithmetic {
    fn from(precision: Precision) -> Arithmetic {
        match precision {
            Precision::F32 => Arithmetic::F32,
            Precision::F64 => Arithmetic::F64,
            Precision::F16x2 => Arithmetic::F16x2,
        }
    }
}

/// Results a clock of a multiprocessor of compute capability `major.minor`: the table "Throughput of
/// Native Arithmetic Instructions" of NVIDIA's CUDA C++ Programming Guide. `None` for what is not
/// known.
pub fn lanes_per_multiprocessor(capability: (u32, u32), arithmetic: Arithmetic) -> Option<u32> {
    Some(match (arithmetic, capability) {
        (Arithmetic::F32, (7, 0 | 2 | 5) | (8, 0)) => 64,
        (Arithmetic::F32, (8, 6 | 7 | 9) | (9, 0) | (10, 0 | 3) | (12, _)) => 128,
        (Arithmetic::F64, (7, 0 | 2) | (8, 0)) => 32,
        (Arithmetic::F64, (9, 0) | (10, 0)) => 64,
        (Arithmetic::F64, (7, 5) | (8, 6 | 7 | 9) | (10, 3) | (12, _)) => 2,
        (Arithmetic::F16x2, (7, 0 | 2 | 5)) | (Arithmetic::Bf16x2, (8, 0)) => 128,
        (Arithmetic::F16x2, (8 | 9, 0)) | (Arithmetic::Bf16x2, (9, 0)) => 256,
        (Arithmetic::I32, (7..=9, _)) => 64,
        (Arithmetic::Special, (7..=9, _)) => 16,
        _ => return None,
    })
}

/// Peaks that NVIDIA's data sheet states for a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datasheet {
    /// The product, as the data sheet calls it.
    pub product: &'static str,
    /// Memory bandwidth.
    pub memory: BytesPerSec,
    f32_peak: FlopsPerSec,
    f64_peak: FlopsPerSec,
    f16_peak: FlopsPerSec,
}

/// Sources: NVIDIA H200 data sheet (2024), NVIDIA H100 data sheet (2023), and for f16 without tensor
/// cores "NVIDIA H100 Tensor Core GPU Architecture" (2022). The rates are rounded as they are there:
/// 67 TFLOP/s is 132 multiprocessors x 128 lanes x 2 x 1.98 GHz = 66.9.
const DATASHEETS: [(&str, Datasheet); 3] = [
    ("H200", sheet("H200 SXM", 4.8e12)),
    ("GH200", sheet("GH200", 4.0e12)),
    ("H100", sheet("H100 SXM", 3.35e12)),
];

const fn sheet(product: &'static str, bytes_per_sec: f64) -> Datasheet {
    Datasheet {
        product,
        memory: BytesPerSec(bytes_per_sec),
        f32_peak: FlopsPerSec(67e12),
        f64_peak: FlopsPerSec(33.5e12),
        f16_peak: FlopsPerSec(133.8e12),
    }
}

impl Datasheet {
    /// The data sheet of the GPU that the driver calls `name`, where it is known. The PCIe and NVL
    /// boards of the H100 have other figures and are not.
    pub fn of(name: &str) -> Option<Datasheet> {
        let mut words = name.split_whitespace();
        if name.contains("PCIe") || name.contains("NVL") {
            return None;
        }
        words.find_map(|word| {
            DATASHEETS
                .iter()
                .find(|(model, _)| *model == word)
                .map(|(_, sheet)| *sheet)
        })
    }

    /// The peak rate of multiply-add.
    pub fn peak(&self, precision: Precision) -> FlopsPerSec {
        match precision {
            Precision::F32 => self.f32_peak,
            Precision::F64 => self.f64_peak,
            Precision::F16x2 => self.f16_peak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_apart_by_the_drivers_name() {
        let product = |name| Datasheet::of(name).map(|sheet| sheet.product);
        assert_eq!(product("NVIDIA H200"), Some("H200 SXM"));
        assert_eq!(product("NVIDIA H100 80GB HBM3"), Some("H100 SXM"));
        assert_eq!(product("NVIDIA H100 PCIe"), None);
        assert_eq!(product("NVIDIA H200 NVL"), None);
        assert_eq!(product("NVIDIA GeForce RTX 4090"), None);
    }
}
