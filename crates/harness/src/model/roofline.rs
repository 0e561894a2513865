//! The roofline: what bandwidth and arithmetic rate allow at an arithmetic intensity.
//!
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance
//! model", CACM 52(4), 2009.

use occupancy::Arithmetic;
use serde::Serialize;

use super::{Board, BytesPerSec, FlopsPerByte, FlopsPerSec, Gpu, Precision, TensorRoofs};

/// A roof that can limit a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Limit {
    /// Memory bandwidth times arithmetic intensity.
    #[serde(rename = "memory")]
    Memory,
    /// The rate of fused multiply-adds.
    #[serde(rename = "fma")]
    Fma,
    /// The rate of adds and multiplies that cannot fuse: on a GPU half of the FMA rate, because each
    /// takes the instruction slot of a multiply-add and does half of its work.
    #[serde(rename = "add+mul")]
    AddMul,
    /// The rate of multiply-adds of integers.
    #[serde(rename = "integer")]
    Integer,
    /// The rate of special functions: reciprocals, roots, powers, logarithms, sines.
    #[serde(rename = "special")]
    Special,
    /// The rate of products of matrices on tensor cores.
    #[serde(rename = "tensor")]
    Tensor,
}

impl Limit {
    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Fma => "fma",
            Limit::AddMul => "add+mul",
            Limit::Integer => "integer",
            Limit::Special => "special",
            Limit::Tensor => "tensor",
        }
    }
}

/// The roofs of a device for one precision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Roofs {
    /// Memory bandwidth.
    pub memory: BytesPerSec,
    /// Rate of fused multiply-adds.
    pub fma: FlopsPerSec,
    /// Rate of adds and multiplies that cannot fuse.
    pub add_mul: FlopsPerSec,
    /// Rate of special functions, where it is known.
    pub special: Option<FlopsPerSec>,
    /// Rates of tensor cores: as measured, or else as the data sheet has them.
    pub tensor: TensorRoofs,
    /// The rate of 100 % in `percent_peak`.
    pub peak: FlopsPerSec,
}

/// The lowest roof at some arithmetic intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Roof {
    /// Which one it is.
    pub limit: Limit,
    /// The rate that it allows there.
    pub value: FlopsPerSec,
}

impl Roofs {
    /// The roofs of a GPU: of its parts, lanes x 2 x clock, and what the data sheet of its [`Board`] states where the board
    /// is known. `None` for a compute capability of which the lanes are not known.
    pub fn of(gpu: &Gpu, precision: Precision) -> Option<Roofs> {
        let lanes = gpu.capability.lanes(precision.into())?;
        let rate =
            |lanes| FlopsPerSec(f64::from(gpu.multiprocessors) * f64::from(lanes) * gpu.clock_hz);
        let fma = FlopsPerSec(2.0 * rate(lanes).0);
        let special = gpu.capability.lanes(Arithmetic::Special).map(rate);
        let board = Board::of(&gpu.name);
        Some(Roofs {
            memory: board.map_or(gpu.memory, |board| board.memory),
            fma,
            // One operation in the instruction slot of two.
            add_mul: FlopsPerSec(fma.0 / 2.0),
            special,
            tensor: board.map_or(TensorRoofs::NONE, Board::tensor_roofs),
            peak: board.and_then(|board| board.peak(precision)).unwrap_or(fma),
        })
    }

    /// The flat roof of a kernel whose arithmetic is of this kind: of tensor cores the highest.
    pub fn ceiling(&self, arithmetic: Limit) -> FlopsPerSec {
        match arithmetic {
            Limit::AddMul => self.add_mul,
            Limit::Special => self.special.unwrap_or(self.add_mul),
            Limit::Tensor => self.tensor.highest().unwrap_or(self.fma),
            Limit::Fma | Limit::Integer | Limit::Memory => self.fma,
        }
    }

    /// The intensity at which memory and arithmetic of this kind take the same time.
    pub fn ridge_point(&self, arithmetic: Limit) -> FlopsPerByte {
        self.ceiling(arithmetic) / self.memory
    }

    /// The roof over a kernel of this intensity, whose arithmetic alone has the rate of `ceiling`.
    pub fn limiting(&self, intensity: FlopsPerByte, ceiling: (Limit, FlopsPerSec)) -> Roof {
        let (arithmetic, ceiling) = ceiling;
        let slope = intensity * self.memory;
        if slope < ceiling {
            Roof {
                limit: Limit::Memory,
                value: slope,
            }
        } else {
            Roof {
                limit: arithmetic,
                value: ceiling,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use occupancy::ComputeCapability;

    use super::*;

    fn h200() -> Gpu {
        Gpu {
            name: "NVIDIA H200".to_owned(),
            capability: ComputeCapability::new(9, 0),
            multiprocessors: 132,
            clock_hz: 1.98e9,
            memory: BytesPerSec(4.814e12),
        }
    }

    #[test]
    fn the_roofs_of_an_h200_are_those_of_its_data_sheet() {
        let f32_roofs = Roofs::of(&h200(), Precision::F32).expect("a GPU");
        assert_eq!(f32_roofs.memory, BytesPerSec(4.8e12));
        assert_eq!(f32_roofs.peak, FlopsPerSec(67e12));
        assert!((f32_roofs.fma.tera() - 66.9).abs() < 0.01);
        assert!((f32_roofs.ceiling(Limit::AddMul).tera() - 33.45).abs() < 0.01);
        let f64_roofs = Roofs::of(&h200(), Precision::F64).expect("a GPU");
        assert!((f64_roofs.fma.tera() - 33.45).abs() < 0.01);
    }

    #[test]
    fn integers_have_64_lanes_of_an_h200s_multiprocessor() {
        let roofs = Roofs::of(&h200(), Precision::I32).expect("a GPU");
        assert!((roofs.ceiling(Limit::Integer).tera() - 33.45).abs() < 0.01);
        assert_eq!(roofs.peak, roofs.fma);
        assert_eq!(Precision::I32.rate(roofs.fma), "33.45 Top/s");
    }

    #[test]
    fn another_gpus_roofs_come_from_its_parts() {
        let mut gpu = h200();
        gpu.name = "NVIDIA Test".to_owned();
        let roofs = Roofs::of(&gpu, Precision::F32).expect("a GPU");
        assert!((roofs.memory.tera() - 4.81).abs() < 0.01);
        assert_eq!(roofs.peak, roofs.fma);
    }

    #[test]
    fn the_limiting_roof_changes_at_the_ridge_point() {
        let roofs = Roofs {
            memory: BytesPerSec(4e12),
            fma: FlopsPerSec(64e12),
            add_mul: FlopsPerSec(32e12),
            special: Some(FlopsPerSec(8e12)),
            tensor: TensorRoofs::NONE,
            peak: FlopsPerSec(64e12),
        };
        assert_eq!(roofs.ridge_point(Limit::Fma), FlopsPerByte(16.0));
        assert_eq!(roofs.ridge_point(Limit::AddMul), FlopsPerByte(8.0));
        let at = |intensity, arithmetic| {
            let ceiling = (arithmetic, roofs.ceiling(arithmetic));
            roofs.limiting(FlopsPerByte(intensity), ceiling)
        };
        assert_eq!(at(7.9, Limit::AddMul).limit, Limit::Memory);
        assert_eq!(at(8.0, Limit::AddMul).limit, Limit::AddMul);
        assert_eq!(at(8.0, Limit::Fma).limit, Limit::Memory);
        assert_eq!(at(8.0, Limit::Fma).value, FlopsPerSec(32e12));
        assert_eq!(at(100.0, Limit::Fma).value, FlopsPerSec(64e12));
    }
}
