//! How many blocks of a function a multiprocessor holds.

use std::sync::Arc;

use crate::function::Function;
use crate::handles::{Handle, look};
use crate::launch::blocks_of_multiprocessor;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// `CUoccupancyB2DSize`: the dynamic shared memory that blocks of so many threads need.
pub(crate) type SharedOfBlock = unsafe extern "C" fn(i32) -> usize;

fn blocks(function: Handle, threads: i32, shared: usize) -> Answer<i32> {
    let function: Arc<Function> = look(function)?;
    let (kernel, _) = function.kernel()?;
    let threads = u32::try_from(threads)
        .ok()
        .filter(|&it| it > 0)
        .ok_or(Status::INVALID_VALUE)?;
    let shared = u32::try_from(shared).map_err(|_| Status::INVALID_VALUE)?;
    Ok(blocks_of_multiprocessor(&kernel, threads, shared) as i32)
}

/// Blocks of the whole device, and threads per block, with which a multiprocessor has the most threads.
fn best(
    function: Handle,
    of_block: Option<SharedOfBlock>,
    shared: usize,
    limit: i32,
) -> Answer<(i32, i32)> {
    const WARP: usize = 32;
    let own = look::<Function>(function)?
        .kernel()?
        .0
        .max_threads()
        .unwrap_or(1024)
        .min(1024) as i32;
    let most = if limit > 0 { own.min(limit) } else { own };
    let mut best = (0, 0, 0);
    for threads in (WARP as i32..=most.max(WARP as i32)).rev().step_by(WARP) {
        let bytes = match of_block {
            // SAFETY: the program's function, for this call.
            Some(of_block) => unsafe { of_block(threads) },
            None => shared,
        };
        let blocks = blocks(function, threads, bytes)?;
        if blocks * threads > best.0 {
            best = (blocks * threads, blocks, threads);
        }
    }
    Ok((best.1 * settings().multiprocessors as i32, best.2))
}

/// Bytes of dynamic shared memory that each of so many blocks of a multiprocessor may have.
fn shared_of_each(function: Handle, blocks: i32) -> Answer<usize> {
    let multiprocessor = &settings().multiprocessor;
    let blocks = u32::try_from(blocks)
        .ok()
        .filter(|&it| it > 0)
        .ok_or(Status::INVALID_VALUE)?;
    let own = look::<Function>(function)?.kernel()?.0.static_shared();
    let unit = multiprocessor.shared_unit_bytes;
    let each = multiprocessor.shared_bytes / blocks / unit * unit;
    let left = each.saturating_sub(own + multiprocessor.reserved_shared_bytes_per_block);
    Ok(left.min(multiprocessor.max_shared_bytes_per_block) as usize)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out};
    use crate::launch_calls::{Config, product};

    /// Writes the best grid and block.
    fn put_best(grid: Out<i32>, block: Out<i32>, best: (i32, i32)) -> Answer {
        grid.put(best.0)?;
        block.put(best.1)
    }

    driver! {
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(to: Out<i32>, function: Handle, threads: i32, shared: usize) {
            to.put(blocks(function, threads, shared)?)
        }
        fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: Out<i32>, function: Handle, threads: i32, shared: usize, _flags: u32) {
            to.put(blocks(function, threads, shared)?)
        }
        fn cuOccupancyMaxPotentialBlockSize(
            grid: Out<i32>, block: Out<i32>, function: Handle, of_block: Option<SharedOfBlock>, shared: usize, limit: i32,
        ) {
            put_best(grid, block, best(function, of_block, shared, limit)?)
        }
        fn cuOccupancyMaxPotentialBlockSizeWithFlags(
            grid: Out<i32>, block: Out<i32>, function: Handle, of_block: Option<SharedOfBlock>, shared: usize, limit: i32,
            _flags: u32,
        ) {
            put_best(grid, block, best(function, of_block, shared, limit)?)
        }
        fn cuOccupancyAvailableDynamicSMemPerBlock(to: Out<usize>, function: Handle, blocks: i32, _threads: i32) {
            to.put(shared_of_each(function, blocks)?)
        }
        fn cuOccupancyMaxActiveClusters(to: Out<i32>, function: Handle, config: In<Config>) {
            let config = config.get()?;
            let each = blocks(function, product(config.block) as i32, config.shared as usize)?;
            let all = each.unsigned_abs() * settings().multiprocessors;
            to.put((all / config.together()?.blocks_per_cluster()) as i32)
        }
        fn cuOccupancyMaxPotentialClusterSize(to: Out<i32>, function: Handle, _config: In<Config>) {
            let function = look::<Function>(function)?;
            to.put(if function.allows_large_clusters() { 16 } else { 8 })
        }
    }
}
