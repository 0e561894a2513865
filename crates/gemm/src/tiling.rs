//! How a result is cut into tiles, and who adds up what of one.

use gemm_kernels::pipeline::{ROWS, STAGES_128, STAGES_256, shared_bytes};

/// Tiles of 128 rows. The numbers are the places in [`Kernels`](crate::product::Kernels).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tiling {
    /// 256 columns.
    Columns256 = 0,
    /// 128 columns.
    Columns128 = 1,
    /// 128 columns, by two blocks, each of which adds up half of the terms.
    Split = 2,
}

impl Tiling {
    pub(crate) fn columns(self) -> u32 {
        match self {
            Tiling::Columns256 => 256,
            Tiling::Columns128 | Tiling::Split => 128,
        }
    }

    /// Blocks for each tile.
    pub(crate) fn split(self) -> u32 {
        match self {
            Tiling::Split => 2,
            Tiling::Columns256 | Tiling::Columns128 => 1,
        }
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(self) -> u32 {
        match self {
            Tiling::Columns256 => shared_bytes(256, STAGES_256),
            Tiling::Columns128 | Tiling::Split => shared_bytes(128, STAGES_128),
        }
    }

    /// Tiles of a result of `m` x `n`.
    pub(crate) fn tiles(self, [m, n]: [u32; 2]) -> u64 {
        u64::from(m.div_ceil(ROWS)) * u64::from(n.div_ceil(self.columns()))
    }

    /// Blocks of a launch on a device that runs so many at a time. Those that split tiles do not go on to others.
    pub(crate) fn blocks(self, result: [u32; 2], at_once: u32) -> u64 {
        match self {
            Tiling::Split => 2 * self.tiles(result),
            Tiling::Columns256 | Tiling::Columns128 => self.tiles(result).min(at_once.into()),
        }
    }

    /// The one with which the last block is done first. Blocks take tiles in turns, so what counts is how many one of them
    /// takes, and how long each takes.
    pub(crate) fn best(result: [u32; 2], steps: u32, at_once: u32) -> Tiling {
        let all = [Tiling::Columns256, Tiling::Columns128, Tiling::Split];
        let cost = |tiling: &Tiling| tiling.cost(result, steps, at_once);
        all.into_iter().min_by_key(cost).expect("three")
    }

    /// In hundredths of what a step of 256 columns takes. One of 128 columns takes 0.57 times as long (8192 x 8192 x 8192 on an H200:
    /// 715 to 817 TFLOP/s), and the exchange between two blocks about as long as two steps.
    fn cost(self, result: [u32; 2], steps: u32, at_once: u32) -> u64 {
        let turns = self
            .tiles(result)
            .div_ceil(u64::from((at_once / self.split()).max(1)));
        let steps = u64::from(steps.div_ceil(self.split()));
        match self {
            Tiling::Columns256 => turns * 100 * steps,
            Tiling::Columns128 => turns * 57 * steps,
            Tiling::Split => turns * (57 * steps + 200),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tiles_are_made_narrow_and_split() {
        let best = |n: u32, steps: u32| Tiling::best([n, n], steps, 132);
        assert_eq!(best(8192, 128), Tiling::Columns256);
        assert_eq!(best(1024, 16), Tiling::Split);
        // Half of four steps is less than the exchange.
        assert_eq!(best(1024, 4), Tiling::Columns128);
        // 128 tiles of 256 columns are one turn, 256 narrow ones two.
        assert_eq!(best(2048, 32), Tiling::Columns256);
    }

    #[test]
    fn tiles_cover_the_edges() {
        assert_eq!(Tiling::Columns256.tiles([129, 257]), 4);
        assert_eq!(Tiling::Columns128.tiles([128, 128]), 1);
        assert_eq!(Tiling::Columns128.tiles([0, 128]), 0);
        assert_eq!(Tiling::Columns256.blocks([8192, 8192], 132), 132);
        assert_eq!(Tiling::Split.blocks([129, 128], 132), 4);
    }
}
