//! What a kernel needs of a multiprocessor.

use std::fmt;

use cuda_builder::resources::Report;
use serde::{Deserialize, Serialize};

use crate::driver::LaunchConfig;
use crate::model::OccupancyRow;

/// Registers, spills and occupancy, by `ptxas` and the limits of an architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// The architecture: 90 for `sm_90`.
    pub arch: u32,
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
    /// What allows no more.
    pub limited_by: Vec<String>,
}

impl Resources {
    /// Those of a kernel in such a launch, where the report has it.
    pub fn of(report: &Report, kernel: &str, config: LaunchConfig) -> Option<Resources> {
        let kernel = report.kernels.iter().find(|it| it.name == kernel)?;
        let shared_bytes = kernel.static_shared_bytes + config.dynamic_shared;
        let block = config.block_threads() as u32;
        let row = OccupancyRow::new(report.arch, kernel.registers, shared_bytes, block).ok();
        let row = row.filter(|row| row.refused.is_none());
        Some(Resources {
            arch: report.arch,
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
            "sm_{}: {} registers, ",
            self.arch, self.registers
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
        match &self.limited_by[..] {
            [] => Ok(()),
            limits => write!(
                formatter,
                " (limited by {})",
                limits.join(" and ").replace('_', " ")
            ),
        }
    }
}
