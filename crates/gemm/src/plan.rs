//! Which tiles a product is cut into.

use gemm_kernels::pipeline::{ROWS, STAGES_128, STAGES_256, shared_bytes};

/// How many columns a tile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Columns256,
    Columns128,
}

impl Width {
    pub(crate) fn columns(self) -> u32 {
        match self {
            Width::Columns256 => 256,
            Width::Columns128 => 128,
        }
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(self) -> u32 {
        match self {
            Width::Columns256 => shared_bytes(256, STAGES_256),
            Width::Columns128 => shared_bytes(128, STAGES_128),
        }
    }

    /// Tiles of a result of `m` x `n`.
    pub(crate) fn tiles(self, m: u32, n: u32) -> u64 {
        u64::from(m.div_ceil(ROWS)) * u64::from(n.div_ceil(self.columns()))
    }

    /// The width with which the last block is done first. The blocks take tiles in turns, so what counts is how
    /// many one of them takes, and how long each takes: one of 128 columns 0.57 times as long as one of 256
    /// (8192 x 8192 x 8192 on an H200: 715 to 817 TFLOP/s).
    pub(crate) fn best(m: u32, n: u32, blocks: u32) -> Width {
        let turns = |width: Width| width.tiles(m, n).div_ceil(u64::from(blocks.max(1)));
        let narrow = 57 * turns(Width::Columns128);
        match narrow < 100 * turns(Width::Columns256) {
            true => Width::Columns128,
            false => Width::Columns256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tiles_are_made_narrow() {
        assert_eq!(Width::best(8192, 8192, 132), Width::Columns256);
        assert_eq!(Width::best(1024, 1024, 132), Width::Columns128);
        // 128 tiles of 256 columns are one turn, 256 narrow ones two.
        assert_eq!(Width::best(2048, 2048, 132), Width::Columns256);
    }

    #[test]
    fn tiles_cover_the_edges() {
        assert_eq!(Width::Columns256.tiles(129, 257), 4);
        assert_eq!(Width::Columns128.tiles(128, 128), 1);
        assert_eq!(Width::Columns128.tiles(0, 128), 0);
    }
}
