//! How a result is cut into tiles.

use gemm_kernels::pipeline::{self, STAGES_128, STAGES_256, shared_bytes};
use gemm_kernels::small;

/// The numbers are the places in [`Kernels`](crate::product::Kernels).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tiling {
    /// 128 rows, 256 columns.
    Columns256 = 0,
    /// 128 rows, 128 columns.
    Columns128 = 1,
    /// 64 rows, 128 columns.
    Small = 2,
}

impl Tiling {
    pub(crate) fn rows(self) -> u32 {
        match self {
            Tiling::Columns256 | Tiling::Columns128 => pipeline::ROWS,
            Tiling::Small => small::ROWS,
        }
    }

    pub(crate) fn columns(self) -> u32 {
        match self {
            Tiling::Columns256 => 256,
            Tiling::Columns128 => 128,
            Tiling::Small => small::COLUMNS,
        }
    }

    /// Threads per block.
    pub(crate) fn threads(self) -> u32 {
        match self {
            Tiling::Columns256 | Tiling::Columns128 => pipeline::THREADS,
            Tiling::Small => small::THREADS,
        }
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(self) -> u32 {
        match self {
            Tiling::Columns256 => shared_bytes(256, STAGES_256),
            Tiling::Columns128 => shared_bytes(128, STAGES_128),
            Tiling::Small => small::SHARED_BYTES,
        }
    }

    /// Tiles of a result of `m` x `n`.
    pub(crate) fn tiles(self, [m, n]: [u32; 2]) -> u64 {
        u64::from(m.div_ceil(self.rows())) * u64::from(n.div_ceil(self.columns()))
    }

    /// Blocks of a launch on a device that runs so many at a time. Those of small tiles do not go on to others.
    pub(crate) fn blocks(self, result: [u32; 2], at_once: u32) -> u64 {
        match self {
            Tiling::Columns256 | Tiling::Columns128 => self.tiles(result).min(at_once.into()),
            Tiling::Small => self.tiles(result),
        }
    }

    /// The one with which the last block is done first. Blocks take tiles in turns, so what counts is how many one of them
    /// takes, and how long each takes.
    pub(crate) fn best(result: [u32; 2], steps: u32, at_once: u32) -> Tiling {
        let all = [Tiling::Columns256, Tiling::Columns128, Tiling::Small];
        let cost = |tiling: &Tiling| tiling.cost(result, steps, at_once);
        all.into_iter().min_by_key(cost).expect("three")
    }

    /// In hundredths of what a step of 256 columns takes on an H200, 0.66 us. One of 128 columns takes 0.57 times as long (8192 x 8192 x
    /// 8192: 715 to 817 TFLOP/s); one of a small tile 0.33 times (1024 x 1024 x 4096 takes 10.3 us longer than 1024 x 1024 x 1024).
    /// Small tiles also begin and end one after the other, which takes as long as four steps.
    fn cost(self, result: [u32; 2], steps: u32, at_once: u32) -> u64 {
        let turns = self.tiles(result).div_ceil(at_once.max(1).into());
        let steps = u64::from(steps);
        match self {
            Tiling::Columns256 => turns * 100 * steps,
            Tiling::Columns128 => turns * 57 * steps,
            Tiling::Small => turns * 33 * steps + turns.saturating_sub(1) * 400,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tiles_are_made_small() {
        let best = |n: u32, steps: u32| Tiling::best([n, n], steps, 132);
        assert_eq!(best(8192, 128), Tiling::Columns256);
        assert_eq!(best(1024, 16), Tiling::Small);
        assert_eq!(best(512, 8), Tiling::Small);
        // 128 tiles of 256 columns are one turn, 256 narrow ones two, and 512 small ones four.
        assert_eq!(best(2048, 32), Tiling::Columns256);
        // 60 x 128 columns: 120 tiles are one turn, 240 small ones two.
        assert_eq!(Tiling::best([256, 7680], 32, 132), Tiling::Columns128);
    }

    #[test]
    fn tiles_cover_the_edges() {
        assert_eq!(Tiling::Columns256.tiles([129, 257]), 4);
        assert_eq!(Tiling::Columns128.tiles([128, 128]), 1);
        assert_eq!(Tiling::Columns128.tiles([0, 128]), 0);
        assert_eq!(Tiling::Columns256.blocks([8192, 8192], 132), 132);
        assert_eq!(Tiling::Small.tiles([129, 128]), 3);
        assert_eq!(Tiling::Small.blocks([8192, 8192], 132), 128 * 64);
    }
}
