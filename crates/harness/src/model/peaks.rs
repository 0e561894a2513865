//! What the hardware can do at most, by its data sheet.

use occupancy::{Arithmetic, ComputeCapability};

use super::{BytesPerSec, FlopsPerSec, Gpu, Precision};

impl From<Precision> for Arithmetic {
    fn from(precision: Precision) -> Arithmetic {
        match precision {
            Precision::F32 => Arithmetic::F32,
            Precision::F64 => Arithmetic::F64,
            Precision::F16x2 => Arithmetic::F16x2,
            Precision::Bf16x2 => Arithmetic::Bf16x2,
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

/// Sources: NVIDIA H200 data sheet (2024), NVIDIA H100 data sheet (2023), and for f16 and bf16 without tensor
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
            Precision::F16x2 | Precision::Bf16x2 => self.f16_peak,
        }
    }
}

/// Name on the command line, the driver's name, compute capability, multiprocessors, highest clocks of
/// multiprocessors and memory in Hz, and bits of the memory bus.
type Parts = (&'static str, &'static str, (u32, u32), u32, f64, f64, u32);

/// Sources: those of [`DATASHEETS`], "NVIDIA A100 Tensor Core GPU" (2021) and "NVIDIA L40S" (2023); clocks as the
/// driver tells them.
const PARTS: [Parts; 5] = [
    ("h200", "NVIDIA H200", (9, 0), 132, 1.98e9, 3.201e9, 6016),
    (
        "gh200",
        "NVIDIA GH200 480GB",
        (9, 0),
        132,
        1.98e9,
        2.619e9,
        6144,
    ),
    (
        "h100",
        "NVIDIA H100 80GB HBM3",
        (9, 0),
        132,
        1.98e9,
        2.619e9,
        5120,
    ),
    (
        "a100",
        "NVIDIA A100-SXM4-80GB",
        (8, 0),
        108,
        1.41e9,
        1.593e9,
        5120,
    ),
    ("l40s", "NVIDIA L40S", (8, 9), 142, 2.52e9, 9.001e9, 384),
];

impl Gpu {
    /// A GPU that need not be present, by a short name such as `h200`.
    ///
    /// # Errors
    /// In words: there is no GPU of this name in the table, and the names that there are.
    pub fn named(name: &str) -> Result<Gpu, String> {
        let found = PARTS.iter().find(|(it, ..)| *it == name);
        found.map(Gpu::of_parts).ok_or_else(|| unknown(name))
    }

    /// A GPU that need not be present, by the driver's name.
    ///
    /// # Errors
    /// In words: there is no GPU of this name in the table, and the names that there are.
    pub fn of_the_drivers_name(name: &str) -> Result<Gpu, String> {
        let found = PARTS.iter().find(|(_, it, ..)| *it == name);
        found.map(Gpu::of_parts).ok_or_else(|| unknown(name))
    }

    /// The first of an architecture, and an H200 for those of which none is known.
    pub(super) fn of_capability(capability: ComputeCapability) -> Gpu {
        let mut all = PARTS.iter().map(Gpu::of_parts);
        let found = all.find(|gpu| gpu.capability == capability);
        found.unwrap_or_else(|| Gpu::of_parts(&PARTS[0]))
    }

    fn of_parts(parts: &Parts) -> Gpu {
        let &(_, name, (major, minor), multiprocessors, clock_hz, memory_clock_hz, bits) = parts;
        Gpu {
            name: name.to_owned(),
            capability: ComputeCapability::new(major, minor),
            multiprocessors,
            clock_hz,
            memory_clock_hz,
            memory_bus_bits: bits,
        }
    }
}

fn unknown(name: &str) -> String {
    let names = PARTS.map(|(it, ..)| it).join(", ");
    format!("{name:?} is not a GPU whose roofs are known: expected one of {names}")
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

    #[test]
    fn named_gpus_have_their_data_sheets_bandwidth() {
        for (name, ..) in PARTS {
            let gpu = Gpu::named(name).expect("it is in the table");
            let from_parts = gpu.memory_clock_hz * 2.0 * f64::from(gpu.memory_bus_bits) / 8.0;
            let others = if name == "l40s" { 864e9 } else { 2.039e12 };
            let sheet = Datasheet::of(&gpu.name).map_or(others, |sheet| sheet.memory.0);
            assert!(
                (from_parts / sheet - 1.0).abs() < 0.01,
                "{name}: {from_parts}"
            );
        }
        let error = Gpu::named("b300").expect_err("unknown");
        assert_eq!(
            error,
            "\"b300\" is not a GPU whose roofs are known: expected one of h200, gh200, h100, a100, l40s"
        );
    }
}
