//! What a kernel needs of a multiprocessor.

use cuda_builder::resources::KernelResources;
use serde::{Deserialize, Serialize};

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
    /// Of a kernel in blocks of so many threads with so much dynamic shared memory.
    pub fn new(arch: u32, kernel: &KernelResources, block: u32, dynamic_shared: u32) -> Resources {
        let shared_bytes = kernel.static_shared_bytes + dynamic_shared;
        let row = OccupancyRow::new(arch, kernel.registers, shared_bytes, block).ok();
        let row = row.filter(|row| row.refused.is_none());
        Resources {
            arch,
            registers: kernel.registers,
            spill_store_bytes: kernel.spill_store_bytes,
            spill_load_bytes: kernel.spill_load_bytes,
            shared_bytes,
            occupancy: row.as_ref().map(|row| row.percent() / 100.0),
            limited_by: row.map_or(Vec::new(), |row| {
                row.limited_by.iter().map(|it| (*it).to_owned()).collect()
            }),
        }
    }
}
