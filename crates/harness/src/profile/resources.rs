//! A kernel's needs of a multiprocessor.

use std::fmt;

use ::occupancy::ComputeCapability;
use cuda_builder::resources::Report;
use serde::{Deserialize, Serialize};

use crate::driver::LaunchConfig;
use crate::model::OccupancyRow;
use crate::table::listed;

/// Registers, spills and occupancy, by `ptxas` and the limits of an architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resources {
    /// The architecture of the code: 90 for `sm_90`.
    pub arch: u32,
    /// The architecture of the GPU whose limits the occupancy is of, where the code is another's: 89 for `sm_89`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupancy_arch: Option<u32>,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes that a thread writes to local memory for want of registers.
    pub spill_store_bytes: u32,
    /// Bytes that it reads back.
    pub spill_load_bytes: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u32,
    /// Active warps over the most there can be, 0 to 1; none where the architecture is not known, or the
    /// block cannot run there.
    pub occupancy: Option<f64>,
    /// Resources that allow no more.
    pub limited_by: Vec<String>,
}

impl Resources {
    /// Those of a kernel in such a launch on such a GPU, where the report has it: the registers are those of the
    /// report's code, and the limits are the GPU's.
    pub fn of(
        report: &Report,
        kernel: &str,
        config: LaunchConfig,
        gpu: ComputeCapability,
    ) -> Option<Resources> {
        let kernel = report.kernels.iter().find(|it| it.name == kernel)?;
        let shared_bytes = kernel.static_shared_bytes + config.dynamic_shared;
        let block = config.block_threads() as u32;
        let name = gpu.arch();
        let arch: u32 = name.strip_prefix("sm_")?.parse().ok()?;
        let row = OccupancyRow::new(arch, kernel.registers, shared_bytes, block).ok();
        let row = row.filter(|row| row.refused.is_none());
        Some(Resources {
            arch: report.arch,
            occupancy_arch: (arch != report.arch).then_some(arch),
            registers: kernel.registers,
            spill_store_bytes: kernel.spill_store_bytes,
            spill_load_bytes: kernel.spill_load_bytes,
            shared_bytes,
            occupancy: row.as_ref().map(|row| row.percent() / 100.0),
            limited_by: row.map_or(Vec::new(), |row| {
                row.limited_by.iter().map(|it| (*it).to_owned()).collect()
            }),
        })
    }
}

/// In one line, for people.
impl fmt::Display for Resources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} registers, ",
            match self.occupancy_arch {
                None => format!("sm_{}", self.arch),
                Some(_) => format!("code for sm_{}", self.arch),
            },
            self.registers
        )?;
        match self.spill_store_bytes + self.spill_load_bytes {
            0 => write!(formatter, "no spills")?,
            bytes => write!(formatter, "{bytes} bytes of spills")?,
        }
        if self.shared_bytes > 0 {
            write!(formatter, ", {} bytes of shared memory", self.shared_bytes)?;
        }
        let Some(occupancy) = self.occupancy else {
            return Ok(());
        };
        write!(formatter, ", {:.0} % occupancy", 100.0 * occupancy)?;
        if let Some(arch) = self.occupancy_arch {
            write!(formatter, " on sm_{arch}")?;
        }
        match &self.limited_by[..] {
            [] => Ok(()),
            limits => write!(
                formatter,
                " (limited by {})",
                listed(limits).replace('_', " ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use cuda_builder::resources::KernelResources;

    use super::*;

    #[test]
    fn occupancy_is_the_gpus_and_registers_are_the_codes() {
        let report = Report {
            arch: 90,
            key: String::new(),
            kernels: vec![KernelResources {
                name: "turn".to_owned(),
                registers: 64,
                ..KernelResources::default()
            }],
        };
        let of = |arch| {
            let config = LaunchConfig::linear(1 << 20, 1024);
            let gpu = ComputeCapability::from_arch(arch);
            Resources::of(&report, "turn", config, gpu).expect("known")
        };
        let own = of(90);
        assert_eq!((own.occupancy, own.occupancy_arch), (Some(0.5), None));
        assert!(own.to_string().starts_with("sm_90: 64 registers"));
        // 32 of 48 warps.
        let other = of(89);
        assert!(
            other
                .occupancy
                .is_some_and(|it| (it - 2.0 / 3.0).abs() < 1e-9)
        );
        let text = other.to_string();
        assert!(
            text.starts_with("code for sm_90: 64 registers")
                && text.contains("67 % occupancy on sm_89"),
            "{text}"
        );
    }
}
