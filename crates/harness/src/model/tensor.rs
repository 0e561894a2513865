//! Tensor cores: the types whose matrices they multiply, and how fast.

use occupancy::ComputeCapability;

use super::FlopsPerSec;

/// The type of the matrices that tensor cores multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TensorType {
    /// 16 bits, of which 10 are the fraction's.
    F16,
    /// 16 bits with the exponent of an f32.
    Bf16,
    /// An f32 with a fraction of 10 bits.
    Tf32,
    /// 64 bits.
    F64,
    /// 8 bits of floating point, e4m3 or e5m2.
    F8,
    /// 8 bits of an integer, with a sign or without.
    I8,
}

impl TensorType {
    /// All of them.
    pub const ALL: [TensorType; 6] = [
        TensorType::F16,
        TensorType::Bf16,
        TensorType::Tf32,
        TensorType::F64,
        TensorType::F8,
        TensorType::I8,
    ];

    /// Its name on charts.
    pub fn name(self) -> &'static str {
        match self {
            TensorType::F16 => "f16",
            TensorType::Bf16 => "bf16",
            TensorType::Tf32 => "tf32",
            TensorType::F64 => "f64",
            TensorType::F8 => "f8",
            TensorType::I8 => "i8",
        }
    }

    /// That of a type of PTX, such as `e4m3`; none of those that the roofs' model does not know.
    pub fn of_ptx(element: &str) -> Option<TensorType> {
        Some(match element {
            "f16" | "f16x2" => TensorType::F16,
            "bf16" | "bf16x2" => TensorType::Bf16,
            "tf32" => TensorType::Tf32,
            "f64" => TensorType::F64,
            "e4m3" | "e5m2" => TensorType::F8,
            "s8" | "u8" => TensorType::I8,
            _ => return None,
        })
    }
}

/// The rate at which tensor cores multiply dense matrices of each type, where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorRoofs([Option<FlopsPerSec>; TensorType::ALL.len()]);

impl TensorRoofs {
    /// Those of a device without tensor cores, or of which nothing is known.
    pub const NONE: TensorRoofs = TensorRoofs([None; TensorType::ALL.len()]);

    /// The data sheet's, for the board of an architecture that [`Gpu::named`](super::Gpu::named) knows. Nothing is
    /// known of other architectures.
    ///
    /// Sources: NVIDIA's data sheets of H200 (2024), A100 (2021) and L40S (2023), without sparsity.
    pub fn of(capability: ComputeCapability) -> TensorRoofs {
        let tera = match (capability.major(), capability.minor()) {
            (9, 0) => [989.4, 989.4, 494.7, 66.9, 1978.9, 1978.9],
            (8, 0) => [312.0, 312.0, 156.0, 19.5, f64::NAN, 624.0],
            (8, 9) => [362.05, 362.05, 183.2, f64::NAN, 733.0, 733.0],
            _ => return TensorRoofs::NONE,
        };
        TensorRoofs(tera.map(|tera| (!tera.is_nan()).then_some(FlopsPerSec(tera * 1e12))))
    }

    /// That of a type.
    pub fn get(&self, of: TensorType) -> Option<FlopsPerSec> {
        self.0[of as usize]
    }

    /// The highest.
    pub fn highest(&self) -> Option<FlopsPerSec> {
        let all = self.0.iter().flatten().copied();
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_the_data_sheets_rate() {
        let of = |major, minor, element| {
            TensorRoofs::of(ComputeCapability::new(major, minor))
                .get(element)
                .map(|it| it.tera())
        };
        assert_eq!(of(8, 0, TensorType::F16), Some(312.0));
        assert_eq!(of(8, 0, TensorType::F8), None);
        assert_eq!(of(9, 0, TensorType::Tf32), Some(494.7));
        assert_eq!(of(9, 0, TensorType::I8), Some(1978.9));
        assert_eq!(of(7, 0, TensorType::F16), None);
        for (at, element) in TensorType::ALL.into_iter().enumerate() {
            assert_eq!(element as usize, at);
        }
        assert_eq!(TensorType::of_ptx("e5m2"), Some(TensorType::F8));
        assert_eq!(TensorType::of_ptx("e2m1"), None);
    }
}
