//! How many blocks and clusters fit.

use std::ffi::c_int;

use crate::arguments::{In, Out};
use crate::driver;
use crate::launch::RuntimeConfig;
use crate::program::function;

runtime! {
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(to: Out<c_int>, host: usize, block: c_int, dynamic: usize) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(host)?, block, dynamic, 0)
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: Out<c_int>, host: usize, block: c_int, dynamic: usize, flags: u32,
    ) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(host)?, block, dynamic, flags)
    }
    fn cudaOccupancyAvailableDynamicSMemPerBlock(to: Out<usize>, host: usize, blocks: c_int, block: c_int) {
        driver::cuOccupancyAvailableDynamicSMemPerBlock(to, function(host)?, blocks, block)
    }
    fn cudaOccupancyMaxActiveClusters(to: Out<c_int>, host: usize, config: In<RuntimeConfig>) {
        let config = config.get()?.of_driver();
        driver::cuOccupancyMaxActiveClusters(to, function(host)?, In::of(&config))
    }
    fn cudaOccupancyMaxPotentialClusterSize(to: Out<c_int>, host: usize, config: In<RuntimeConfig>) {
        let config = config.get()?.of_driver();
        driver::cuOccupancyMaxPotentialClusterSize(to, function(host)?, In::of(&config))
    }
}
