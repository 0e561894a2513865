//! How a warp reads what it multiplies from shared memory.
//!
//! Rows there are 128 bytes, whose pieces of 16 bytes are permuted: piece `i` of row `r` lies in place `i ^ (r % 8)`. The order of
//! the 16 products of an instruction does not matter, as long as `A` and `B` have the same. So operand `j` of the lanes of pair `p`
//! is number `4 p + (p ^ j)`: of the 16 lanes that shared memory serves at a time no two read from the same banks, neither where
//! the numbers are in a row nor where they are in a column.

use cuda_std::mbarrier::Barrier;
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma::TensorMap;

use super::COLUMNS;

/// Bytes of a row.
pub const ROW_BYTES: u32 = 128;
/// Elements of a row.
pub const ROW: u32 = 16;
/// Bytes of 8 rows, after which the permutation begins again.
const EIGHT_ROWS: usize = 8 * ROW_BYTES as usize;

/// The running lane's part of 8 rows and 16 numbers.
#[derive(Clone, Copy)]
pub struct Lane {
    /// Its row of `A` and of sums, and its column of `B`.
    pub row: u32,
    /// Which of the row's lanes it is.
    pub pair: u32,
}

impl Lane {
    /// The running one.
    #[inline(always)]
    pub fn running() -> Lane {
        let lane = warp::lane_id();
        Lane {
            row: lane / 4,
            pair: lane % 4,
        }
    }

    /// Operand 0's number. That of operand `j` differs from it in the bits of `j`.
    #[inline(always)]
    fn number(self) -> u32 {
        5 * self.pair
    }

    /// Where operand 0 is, if the numbers are in a row.
    #[inline(always)]
    pub fn place_in_row(self) -> u32 {
        self.row * ROW_BYTES + ((self.number() * 8) ^ (self.row * 16))
    }

    /// Where it is, if they are in a column.
    #[inline(always)]
    fn place_in_column(self) -> u32 {
        let permuted = (self.row / 2) ^ (self.number() % 8);
        self.number() * ROW_BYTES + permuted * 16 + self.row % 2 * 8
    }
}

/// A lane's place in a stage.
#[derive(Clone, Copy)]
pub struct Place {
    /// Where stages begin, aligned to 1024 bytes.
    pub start: *const u8,
    /// Bytes from there on.
    pub offset: u32,
}

impl Place {
    /// The number so many bytes behind the place that differs from this one in some bits.
    ///
    /// # Safety
    /// It is in the stage, which may be read.
    #[inline(always)]
    unsafe fn number(self, bits: u32, behind: usize) -> f64 {
        let place = self.start.wrapping_add((self.offset ^ bits) as usize);
        // Volatile, so that it stays in front of products that do without it.
        // SAFETY: the caller's contract.
        unsafe { place.wrapping_add(behind).cast::<f64>().read_volatile() }
    }

    /// The lane's operands of eight rows.
    ///
    /// # Safety
    /// As for [`Place::number`].
    #[inline(always)]
    unsafe fn of_rows(self, eighth: usize) -> [f64; 4] {
        // SAFETY: the caller's contract.
        let number = |j: u32| unsafe { self.number(8 * j, eighth * EIGHT_ROWS) };
        [number(0), number(1), number(2), number(3)]
    }
}

/// The lane's part of 16 rows of `A`, of which these are the numbers.
///
/// # Safety
/// The rows' stage may be read.
#[inline(always)]
pub unsafe fn left(place: Place, number: usize) -> [f64; 8] {
    // SAFETY: the caller's contract.
    let rows = unsafe { [place.of_rows(2 * number), place.of_rows(2 * number + 1)] };
    core::array::from_fn(|i| rows[i % 2][i / 2])
}

/// How `B` lies in memory.
pub trait Right {
    /// Starts to copy a tile, whose first column and first number these are.
    ///
    /// # Safety
    /// As for [`TensorMap::load`]; the map has boxes of a tile, or of 16 of its columns where `B` is given by rows.
    unsafe fn load(map: &TensorMap, column: u32, along: u32, to: SharedPtr<u8>, full: Barrier);

    /// Where the lane's first operand lies in a tile whose columns begin with this one, a multiple of 16.
    fn place(lane: Lane, column: u32) -> u32;

    /// The lane's part of the eighth column from a place on, and the next seven, or of as many columns further on.
    ///
    /// # Safety
    /// The stage may be read.
    unsafe fn right(place: Place, eighth: usize) -> [f64; 4];
}

/// `B` is given as `n` rows of `k` elements. A tile comes as one box.
#[derive(Clone, Copy, Debug)]
pub enum ByColumns {}

impl Right for ByColumns {
    #[inline(always)]
    unsafe fn load(map: &TensorMap, column: u32, along: u32, to: SharedPtr<u8>, full: Barrier) {
        // SAFETY: the caller's contract.
        unsafe { map.load([along as i32, column as i32], to, full) };
    }

    #[inline(always)]
    fn place(lane: Lane, column: u32) -> u32 {
        column * ROW_BYTES + lane.place_in_row()
    }

    #[inline(always)]
    unsafe fn right(place: Place, eighth: usize) -> [f64; 4] {
        // SAFETY: the caller's contract.
        unsafe { place.of_rows(eighth) }
    }
}

/// `B` is given as `k` rows of `n` elements. A tile comes as boxes of 16 columns.
#[derive(Clone, Copy, Debug)]
pub enum ByRows {}

/// Bytes of a box.
const BOX_BYTES: u32 = ROW * ROW_BYTES;

impl Right for ByRows {
    #[inline(always)]
    unsafe fn load(map: &TensorMap, column: u32, along: u32, to: SharedPtr<u8>, full: Barrier) {
        for part in 0..COLUMNS / ROW {
            let corner = [(column + part * ROW) as i32, along as i32];
            // SAFETY: the caller's contract.
            unsafe { map.load(corner, to.byte_add(part * BOX_BYTES), full) };
        }
    }

    #[inline(always)]
    fn place(lane: Lane, column: u32) -> u32 {
        column / ROW * BOX_BYTES + lane.place_in_column()
    }

    #[inline(always)]
    unsafe fn right(place: Place, eighth: usize) -> [f64; 4] {
        // Eight columns further on in a box, and a row that differs in the bits of j and is permuted by them.
        let bits = |j: u32| (eighth as u32 % 2 * 64) ^ (j * (ROW_BYTES + 16));
        // SAFETY: the caller's contract.
        let number = |j: u32| unsafe { place.number(bits(j), eighth / 2 * BOX_BYTES as usize) };
        [number(0), number(1), number(2), number(3)]
    }
}
