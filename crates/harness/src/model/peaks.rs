//! What the hardware can do at most, by its data sheet.

use occupancy::Arithmetic;

use super::{BytesPerSec, FlopsPerSec, Precision};

impl From<Precision> for Arithmetic {
    fn from(precision: Precision) -> Arithmetic {
        match precision {
            Precision::F32 => Arithmetic::F32,
            Precision::F64 => Arithmetic::F64,
            Precision::F16x2 => Arithmetic::F16x2,
        }
    }
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
