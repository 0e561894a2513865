//! In which order blocks take the tiles of the result.

/// Tiles along `m` that are taken together: 16 tiles of 128 rows, which with as many columns as the other blocks
/// work on at the time fit in the L2 cache.
const GROUP: u32 = 16;

/// The tiles of a result, `rows` x `columns` of them.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Tiles along `m`.
    pub rows: u32,
    /// Tiles along `n`.
    pub columns: u32,
}

impl Tiles {
    /// How many there are.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.rows * self.columns
    }

    /// Row and column of the tile that is taken as the one of this number: a group of rows column by column, then the next
    /// group. Blocks of neighbouring numbers run at the same time, and read the same rows of `A` and columns of `B`.
    #[inline(always)]
    pub fn at(self, number: u32) -> (u32, u32) {
        // At least 1, which tells the compiler that no division is by 0.
        let in_group = (GROUP * self.columns).max(1);
        let group = number / in_group;
        let within = number - group * in_group;
        let first = group * GROUP;
        let rows = (self.rows - first).clamp(1, GROUP);
        let column = within / rows;
        (first + (within - column * rows), column)
    }
}
