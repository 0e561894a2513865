//! How a result is cut into tiles.

use gemm_kernels::pipeline::{self, STAGES_128, STAGES_256, shared_bytes};
use gemm_kernels::small;
use gemm_kernels::team::Team;

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

    /// The launch's blocks and how many of them make a cluster, on a device that runs so many blocks at a time. Blocks of small
    /// tiles do not go on to others. Of the others two share tiles of `B`, unless the rows that they add to an odd number of tiles take
    /// longer, or each has one tile alone: on an H100 2048 x 2048 x 2048 gains nothing by it (709 TFLOP/s, and 712 without).
    pub(crate) fn blocks(self, [m, n]: [u32; 2], at_once: u32) -> (u64, u32) {
        let tiles = self.tiles([m, n]);
        if self == Tiling::Small {
            return (tiles, 1);
        }
        let (single, paired) = (at_once.max(1), at_once / Team::PAIR * Team::PAIR);
        let rows = m.div_ceil(self.rows());
        let even =
            u64::from(rows.next_multiple_of(Team::PAIR)) * u64::from(n.div_ceil(self.columns()));
        let is_slower = paired == 0 || even.div_ceil(paired.into()) > tiles.div_ceil(single.into());
        match rows < Team::PAIR || tiles <= single.into() || is_slower {
            true => (tiles.min(single.into()), 1),
            false => (even.min(paired.into()), Team::PAIR),
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
        assert_eq!(Tiling::Columns256.blocks([8192, 8192], 132), (132, 2));
        assert_eq!(Tiling::Small.tiles([129, 128]), 3);
        assert_eq!(Tiling::Small.blocks([8192, 8192], 132), (128 * 64, 1));
    }

    #[test]
    fn blocks_share_tiles_where_nobody_waits_for_it() {
        let blocks = |m: u32, n: u32| Tiling::Columns256.blocks([m, n], 132);
        assert_eq!(blocks(8192, 8192), (132, 2));
        // One turn.
        assert_eq!(blocks(2048, 2048), (128, 1));
        // A row of tiles, which a second one would double.
        assert_eq!(blocks(128, 65_536), (132, 1));
        // 264 tiles in three rows: four would be a third turn.
        assert_eq!(blocks(384, 22_528), (132, 1));
        assert_eq!(blocks(384, 16_384), (132, 2));
        assert_eq!(blocks(0, 256), (0, 1));
        assert_eq!(Tiling::Columns256.blocks([512, 512], 1), (1, 1));
        // Of an odd number of multiprocessors one is left over: eight tiles take two turns of five or of four, three of three.
        assert_eq!(Tiling::Columns256.blocks([512, 512], 5), (4, 2));
        assert_eq!(Tiling::Columns256.blocks([512, 512], 3), (3, 1));
    }
}
