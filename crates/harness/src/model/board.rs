//! The boards whose data sheets are known: one row per board.

use occupancy::ComputeCapability;

use super::{BytesPerSec, FlopsPerSec, Gpu, Precision, TensorRoofs, TensorType};

/// A board as it is sold, with the figures of its data sheet.
///
/// Boards of one compute capability differ in all of them, so a board is known by the name that the driver calls it,
/// and a board without a row has no data sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Board {
    /// Its name on the command line, such as `h200`.
    pub short: &'static str,
    /// The driver's name of it.
    pub name: &'static str,
    /// The product, as the data sheet calls it.
    pub product: &'static str,
    /// Its compute capability.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Their highest clock.
    pub clock_hz: f64,
    /// Memory bandwidth.
    pub memory: BytesPerSec,
    /// Rates of multiply-add without tensor cores, TFLOP/s.
    fma: &'static [(Precision, f64)],
    /// Rates of tensor cores without sparsity, TFLOP/s.
    tensor: &'static [(TensorType, f64)],
}

/// Sources: NVIDIA's data sheets of H200 (2024), H100 (2023), H100 PCIe and A100 (2021), GH200 (2024), L40S and L4
/// (2023) and HGX B200 (2025); for `f16` and `bf16` without tensor cores "NVIDIA H100 Tensor Core GPU Architecture"
/// (2022) and "NVIDIA A100 Tensor Core GPU Architecture" (2020); for the RTX 4090 "NVIDIA Ada GPU Architecture" (2023).
/// Highest clocks as the driver tells them, or else the boost clock of the product brief. Rates are rounded as they are
/// there: 67 TFLOP/s is 132 multiprocessors x 128 lanes x 2 x 1.98 GHz = 66.9. Rates of tensor cores are half of those
/// that a data sheet has for sparse matrices. Of two rates of a type, for sums in `f16` and in `f32`, the higher.
///
/// The first board of a capability is the one that an emulator of this capability stands for.
#[rustfmt::skip] // A table.
pub(super) const BOARDS: &[Board] = &[
    Board {
        short: "h200", name: "NVIDIA H200", product: "H200 SXM",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.98e9,
        memory: BytesPerSec(4.8e12), fma: HOPPER_SXM.0, tensor: HOPPER_SXM.1,
    },
    Board {
        short: "h200-nvl", name: "NVIDIA H200 NVL", product: "H200 NVL",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.785e9,
        memory: BytesPerSec(4.8e12), fma: HOPPER_NVL.0, tensor: HOPPER_NVL.1,
    },
    Board {
        short: "gh200", name: "NVIDIA GH200 480GB", product: "GH200",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.98e9,
        memory: BytesPerSec(4.0e12), fma: HOPPER_SXM.0, tensor: HOPPER_SXM.1,
    },
    Board {
        short: "gh200-144gb", name: "NVIDIA GH200 144G HBM3e", product: "GH200 144 GB",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.98e9,
        memory: BytesPerSec(4.9e12), fma: HOPPER_SXM.0, tensor: HOPPER_SXM.1,
    },
    Board {
        short: "h100", name: "NVIDIA H100 80GB HBM3", product: "H100 SXM",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.98e9,
        memory: BytesPerSec(3.35e12), fma: HOPPER_SXM.0, tensor: HOPPER_SXM.1,
    },
    Board {
        short: "h100-nvl", name: "NVIDIA H100 NVL", product: "H100 NVL",
        capability: ComputeCapability::new(9, 0), multiprocessors: 132, clock_hz: 1.785e9,
        memory: BytesPerSec(3.9e12), fma: HOPPER_NVL.0, tensor: HOPPER_NVL.1,
    },
    Board {
        short: "h100-pcie", name: "NVIDIA H100 PCIe", product: "H100 PCIe",
        capability: ComputeCapability::new(9, 0), multiprocessors: 114, clock_hz: 1.755e9,
        memory: BytesPerSec(2.0e12),
        fma: &[(Precision::F32, 51.0), (Precision::F64, 26.0)],
        tensor: &[
            (TensorType::F16, 756.5), (TensorType::Bf16, 756.5), (TensorType::Tf32, 378.0),
            (TensorType::F64, 51.0), (TensorType::F8, 1513.0), (TensorType::I8, 1513.0),
        ],
    },
    Board {
        short: "a100", name: "NVIDIA A100-SXM4-80GB", product: "A100 80GB SXM",
        capability: ComputeCapability::new(8, 0), multiprocessors: 108, clock_hz: 1.41e9,
        memory: BytesPerSec(2.039e12), fma: A100.0, tensor: A100.1,
    },
    Board {
        short: "a100-pcie", name: "NVIDIA A100 80GB PCIe", product: "A100 80GB PCIe",
        capability: ComputeCapability::new(8, 0), multiprocessors: 108, clock_hz: 1.41e9,
        memory: BytesPerSec(1.935e12), fma: A100.0, tensor: A100.1,
    },
    Board {
        short: "a100-40gb", name: "NVIDIA A100-SXM4-40GB", product: "A100 40GB SXM",
        capability: ComputeCapability::new(8, 0), multiprocessors: 108, clock_hz: 1.41e9,
        memory: BytesPerSec(1.555e12), fma: A100.0, tensor: A100.1,
    },
    Board {
        short: "a100-pcie-40gb", name: "NVIDIA A100-PCIE-40GB", product: "A100 40GB PCIe",
        capability: ComputeCapability::new(8, 0), multiprocessors: 108, clock_hz: 1.41e9,
        memory: BytesPerSec(1.555e12), fma: A100.0, tensor: A100.1,
    },
    Board {
        short: "l40s", name: "NVIDIA L40S", product: "L40S",
        capability: ComputeCapability::new(8, 9), multiprocessors: 142, clock_hz: 2.52e9,
        memory: BytesPerSec(864e9),
        fma: &[(Precision::F32, 91.6)],
        tensor: &[
            (TensorType::F16, 362.05), (TensorType::Bf16, 362.05), (TensorType::Tf32, 183.2),
            (TensorType::F8, 733.0), (TensorType::I8, 733.0),
        ],
    },
    Board {
        short: "l4", name: "NVIDIA L4", product: "L4",
        capability: ComputeCapability::new(8, 9), multiprocessors: 58, clock_hz: 2.04e9,
        memory: BytesPerSec(300e9),
        fma: &[(Precision::F32, 30.3)],
        tensor: &[
            (TensorType::F16, 121.0), (TensorType::Bf16, 121.0), (TensorType::Tf32, 60.0),
            (TensorType::F8, 242.5), (TensorType::I8, 242.5),
        ],
    },
    Board {
        short: "rtx4090", name: "NVIDIA GeForce RTX 4090", product: "GeForce RTX 4090",
        capability: ComputeCapability::new(8, 9), multiprocessors: 128, clock_hz: 2.52e9,
        memory: BytesPerSec(1.008e12),
        fma: &[(Precision::F32, 82.6)],
        tensor: &[
            (TensorType::F16, 330.3), (TensorType::Bf16, 165.2), (TensorType::Tf32, 82.6),
            (TensorType::F8, 660.6), (TensorType::I8, 660.6),
        ],
    },
    Board {
        short: "b200", name: "NVIDIA B200", product: "HGX B200",
        capability: ComputeCapability::new(10, 0), multiprocessors: 148, clock_hz: 1.965e9,
        memory: BytesPerSec(7.7e12),
        fma: &[(Precision::F32, 75.0), (Precision::F64, 37.0)],
        tensor: &[
            (TensorType::F16, 2250.0), (TensorType::Bf16, 2250.0), (TensorType::Tf32, 1100.0),
            (TensorType::F64, 37.0), (TensorType::F8, 4500.0), (TensorType::I8, 4500.0),
        ],
    },
];

/// The rates of boards that differ in their memory alone: without tensor cores, and of them.
type Rates = (&'static [(Precision, f64)], &'static [(TensorType, f64)]);

#[rustfmt::skip] // A table.
const HOPPER_SXM: Rates = (
    &[
        (Precision::F32, 67.0), (Precision::F64, 33.5),
        (Precision::F16x2, 133.8), (Precision::Bf16x2, 133.8),
    ],
    &[
        (TensorType::F16, 989.4), (TensorType::Bf16, 989.4), (TensorType::Tf32, 494.7),
        (TensorType::F64, 66.9), (TensorType::F8, 1978.9), (TensorType::I8, 1978.9),
    ],
);

#[rustfmt::skip] // A table.
const HOPPER_NVL: Rates = (
    &[(Precision::F32, 60.0), (Precision::F64, 30.0)],
    &[
        (TensorType::F16, 835.5), (TensorType::Bf16, 835.5), (TensorType::Tf32, 417.5),
        (TensorType::F64, 60.0), (TensorType::F8, 1670.5), (TensorType::I8, 1670.5),
    ],
);

#[rustfmt::skip] // A table.
const A100: Rates = (
    &[
        (Precision::F32, 19.5), (Precision::F64, 9.7),
        (Precision::F16x2, 78.0), (Precision::Bf16x2, 39.0),
    ],
    &[
        (TensorType::F16, 312.0), (TensorType::Bf16, 312.0), (TensorType::Tf32, 156.0),
        (TensorType::F64, 19.5), (TensorType::I8, 624.0),
    ],
);

impl Board {
    /// The board that the driver calls `name`, and no other: a part of a GPU has a longer name.
    pub fn of(name: &str) -> Option<&'static Board> {
        BOARDS.iter().find(|board| board.name == name)
    }

    /// The board of a short name such as `h200`.
    pub fn named(short: &str) -> Option<&'static Board> {
        BOARDS.iter().find(|board| board.short == short)
    }

    /// The short names of all boards, as a list for people.
    pub fn names() -> String {
        let names: Vec<_> = BOARDS.iter().map(|board| board.short).collect();
        names.join(", ")
    }

    /// The data sheet's rate of multiply-add without tensor cores, if it states one.
    pub fn peak(&self, precision: Precision) -> Option<FlopsPerSec> {
        let found = self.fma.iter().find(|(of, _)| *of == precision);
        found.map(|(_, tera)| FlopsPerSec(tera * 1e12))
    }

    /// The data sheet's rates of tensor cores.
    pub fn tensor_roofs(&self) -> TensorRoofs {
        TensorRoofs::of_sheet(self.tensor)
    }

    /// The board that an emulator of this capability stands for: an H200 where none of it is known.
    fn of_capability(capability: ComputeCapability) -> &'static Board {
        let mut all = BOARDS.iter();
        all.find(|board| board.capability == capability)
            .unwrap_or(&BOARDS[0])
    }
}

impl From<&Board> for Gpu {
    fn from(board: &Board) -> Gpu {
        Gpu {
            name: board.name.to_owned(),
            capability: board.capability,
            multiprocessors: board.multiprocessors,
            clock_hz: board.clock_hz,
            memory: board.memory,
        }
    }
}

impl Gpu {
    /// A GPU that need not be present, by a short name such as `h200`.
    ///
    /// # Errors
    /// In words: there is no board of this name, and the names that there are.
    pub fn named(name: &str) -> Result<Gpu, String> {
        let board = Board::named(name).ok_or_else(|| unknown(name))?;
        Ok(board.into())
    }

    /// A GPU that need not be present, by the driver's name.
    ///
    /// # Errors
    /// In words: there is no board of this name, and the names that there are.
    pub fn of_the_drivers_name(name: &str) -> Result<Gpu, String> {
        let board = Board::of(name).ok_or_else(|| unknown(name))?;
        Ok(board.into())
    }

    /// The GPU that an emulator of this capability stands for: an H200 where none of it is known.
    pub(super) fn of_capability(capability: ComputeCapability) -> Gpu {
        Board::of_capability(capability).into()
    }
}

fn unknown(name: &str) -> String {
    let names = Board::names();
    format!("{name:?} is not a GPU whose roofs are known: expected one of {names}")
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;

    use super::*;
    use crate::model::Roofs;

    fn gpu(name: &str, capability: ComputeCapability) -> Gpu {
        Gpu {
            name: name.to_owned(),
            capability,
            multiprocessors: 100,
            clock_hz: 2e9,
            memory: BytesPerSec(1e12),
        }
    }

    #[test]
    fn products_are_told_apart_by_the_drivers_name() {
        let product = |name| Board::of(name).map(|board| board.product);
        assert_eq!(product("NVIDIA H200"), Some("H200 SXM"));
        assert_eq!(product("NVIDIA H100 80GB HBM3"), Some("H100 SXM"));
        assert_eq!(product("NVIDIA H100 PCIe"), Some("H100 PCIe"));
        assert_eq!(product("NVIDIA H200 NVL"), Some("H200 NVL"));
        assert_eq!(product("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), None);
        assert_eq!(product("NVIDIA GeForce RTX 4090 Laptop GPU"), None);
        assert_eq!(product("NVIDIA GH200 96GB"), None);
    }

    #[test]
    fn a_board_has_its_own_data_sheet_and_never_another_ones() {
        let tensor = |name, capability| {
            let roofs = Roofs::of(&gpu(name, capability), Precision::F32).expect("lanes are known");
            (
                roofs.tensor.get(TensorType::F16).map(FlopsPerSec::tera),
                roofs.memory.tera(),
            )
        };
        let [hopper, ada] = [(9, 0), (8, 9)].map(|(a, b)| ComputeCapability::new(a, b));
        assert_eq!(tensor("NVIDIA L4", ada), (Some(121.0), 0.3));
        assert_eq!(tensor("NVIDIA GeForce RTX 4090", ada), (Some(330.3), 1.008));
        assert_eq!(tensor("NVIDIA L40S", ada), (Some(362.05), 0.864));
        assert_eq!(tensor("NVIDIA H100 PCIe", hopper), (Some(756.5), 2.0));
        assert_eq!(tensor("NVIDIA H100 80GB HBM3", hopper), (Some(989.4), 3.35));
        // Parts of a GPU, and boards that nobody has entered: their own memory, and no rates of tensor cores.
        let unknown = [
            ("NVIDIA L49", ada),
            ("NVIDIA RTX 6000 Ada Generation", ada),
            ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", hopper),
            ("NVIDIA H20", hopper),
        ];
        for (name, capability) in unknown {
            assert_eq!(tensor(name, capability), (None, 1.0), "{name}");
            let roofs = Roofs::of(&gpu(name, capability), Precision::F32).expect("known");
            assert_eq!(roofs.peak, roofs.fma, "{name}");
        }
    }

    /// A typing error of a row is seen: its rates are what its multiprocessors, lanes and clock come to.
    #[test]
    fn a_data_sheet_is_what_the_parts_come_to() {
        for board in BOARDS {
            for precision in Precision::ALL {
                let Some(roofs) = Roofs::of(&board.into(), precision) else {
                    continue;
                };
                let Some(sheet) = board.peak(precision) else {
                    continue;
                };
                let share = roofs.fma.0 / sheet.0;
                assert!((0.98..1.02).contains(&share), "{}: {share}", board.name);
            }
            let get = |element| board.tensor_roofs().get(element).expect("stated").0;
            let [half, byte] = [TensorType::Bf16, TensorType::I8].map(get);
            let share = byte / half;
            assert!((1.9..2.1).contains(&share) || board.short == "rtx4090");
        }
        assert!(BOARDS.iter().map(|it| it.name).all_unique());
        assert!(BOARDS.iter().map(|it| it.short).all_unique());
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = Gpu::named("b300").expect_err("unknown");
        let begin = "\"b300\" is not a GPU whose roofs are known: expected one of h200, h200-nvl, ";
        assert!(error.starts_with(begin), "{error}");
        assert!(error.ends_with(", rtx4090, b200"), "{error}");
    }
}
