//! Element types, widths of tiles, and how `B` lies in memory.

use cuda_std::mbarrier::Barrier;
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{
    E4m3, Element, Instruction, KMajor, MnMajor, N64, N128, N256, Shape, SharedOperand, Swizzle,
    Swizzle128, Tf32,
};

use crate::stored::Stored;
use crate::team::Team;

/// Bytes of a row of a tile: what a swizzle permutes.
pub const ROW_BYTES: u32 = Swizzle128::SPAN;

/// Elements of a row of a tile.
pub const fn row<T>() -> u32 {
    ROW_BYTES / size_of::<T>() as u32
}

/// An element type of `A` and `B`.
pub trait Operand: Element<Sum = f32> {
    /// The result's.
    type Result: Stored;
}

/// One of 16 bits, of which `B` may be given by rows.
pub trait Half: Operand {}

impl Operand for bf16 {
    type Result = bf16;
}

impl Operand for f16 {
    type Result = f16;
}

impl Operand for Tf32 {
    type Result = f32;
}

impl Operand for E4m3 {
    type Result = bf16;
}

impl Half for bf16 {}
impl Half for f16 {}

/// How many columns a tile of the result has.
pub trait Width: Shape {
    /// The sum of this number, in `0..COLUMNS / 2`.
    fn sum(sums: &Self::Registers<f32>, number: usize) -> f32;

    /// The same, to be changed.
    fn sum_mut(sums: &mut Self::Registers<f32>, number: usize) -> &mut f32;

    /// Of tiles of as many columns the one of this number.
    fn tile_of<T: Operand, B: Right<T>>(tiles: B::Tile, number: u32) -> B::Tile;
}

macro_rules! widths {
    ($($shape:ident $columns:literal $registers:literal;)*) => {$(
        impl Width for $shape {
            #[inline(always)]
            fn sum(sums: &[f32; $registers], number: usize) -> f32 {
                sums[number]
            }

            #[inline(always)]
            fn sum_mut(sums: &mut [f32; $registers], number: usize) -> &mut f32 {
                &mut sums[number]
            }

            #[inline(always)]
            fn tile_of<T: Operand, B: Right<T>>(tiles: B::Tile, number: u32) -> B::Tile {
                B::tile::<$columns>(tiles, number)
            }
        }
    )*};
}

widths! {
    N64 64 32;
    N128 128 64;
    N256 256 128;
}

/// How `B` lies in memory.
pub trait Right<T: Operand> {
    /// Its tiles in shared memory.
    type Tile: SharedOperand<T>;

    /// The tiles from a place on, one of `COLUMNS` columns behind the other.
    fn tiles(place: SharedPtr<T>) -> Self::Tile;

    /// The tile of this number.
    fn tile<const COLUMNS: u32>(tiles: Self::Tile, number: u32) -> Self::Tile;

    /// Returns the operand of the instruction of this number along the inner dimension.
    fn step<const STEP: u32>(tile: Self::Tile) -> Self::Tile;

    /// Starts to copy the running block's part of the tile whose first column and first element along the inner dimension these
    /// are, to the same place of all blocks of its team. `to` is where the whole tile begins.
    ///
    /// # Safety
    /// As for [`Team::load`]; the map has boxes of half a tile's columns, or of 64 columns where it is given by rows.
    unsafe fn load<N: Shape>(
        map: &TensorMap,
        column: u32,
        along: u32,
        to: SharedPtr<T>,
        full: Barrier,
        team: Team,
    );
}

/// `B` is given as `n` rows of `k` elements. A tile comes as two boxes, of which each block of a pair brings one.
#[derive(Clone, Copy, Debug)]
pub enum ByColumns {}

impl<T: Operand> Right<T> for ByColumns {
    type Tile = KMajor<T, Swizzle128>;

    #[inline(always)]
    fn tiles(place: SharedPtr<T>) -> Self::Tile {
        KMajor::new(place)
    }

    #[inline(always)]
    fn tile<const COLUMNS: u32>(tiles: Self::Tile, number: u32) -> Self::Tile {
        tiles.tile::<COLUMNS>(number)
    }

    #[inline(always)]
    fn step<const STEP: u32>(tile: Self::Tile) -> Self::Tile {
        tile.step::<STEP>()
    }

    #[inline(always)]
    unsafe fn load<N: Shape>(
        map: &TensorMap,
        column: u32,
        along: u32,
        to: SharedPtr<T>,
        full: Barrier,
        team: Team,
    ) {
        let boxes = team.part(Team::PAIR);
        for number in team.rank * boxes..(team.rank + 1) * boxes {
            let first = number * (N::COLUMNS / Team::PAIR);
            let corner = [along as i32, (column + first) as i32];
            // SAFETY: the caller's contract.
            unsafe { team.load(map, corner, to.byte_add(first * ROW_BYTES), full) };
        }
    }
}

/// `B` is given as `k` rows of `n` elements. A tile comes as boxes of 64 columns.
#[derive(Clone, Copy, Debug)]
pub enum ByRows {}

/// Rows of a tile that is given by rows: elements of 16 bits alone are multiplied so.
const DEPTH: u32 = 64;

impl<T: Half> Right<T> for ByRows {
    type Tile = MnMajor<T, Swizzle128, DEPTH>;

    #[inline(always)]
    fn tiles(place: SharedPtr<T>) -> Self::Tile {
        MnMajor::new(place)
    }

    #[inline(always)]
    fn tile<const COLUMNS: u32>(tiles: Self::Tile, number: u32) -> Self::Tile {
        tiles.tile::<COLUMNS>(number)
    }

    #[inline(always)]
    fn step<const STEP: u32>(tile: Self::Tile) -> Self::Tile {
        tile.step::<STEP>()
    }

    #[inline(always)]
    unsafe fn load<N: Shape>(
        map: &TensorMap,
        column: u32,
        along: u32,
        to: SharedPtr<T>,
        full: Barrier,
        team: Team,
    ) {
        let boxes = team.part(N::COLUMNS / row::<T>());
        for number in team.rank * boxes..(team.rank + 1) * boxes {
            let first = column + number * row::<T>();
            let to = to.byte_add(number * DEPTH * ROW_BYTES);
            // SAFETY: the caller's contract.
            unsafe { team.load(map, [first as i32, along as i32], to, full) };
        }
    }
}

/// The factors of a kernel: `N` columns at a time of elements of type `T`.
pub trait Tile<T: Operand>: Width + Instruction<T> {}
impl<T: Operand, N: Width + Instruction<T>> Tile<T> for N {}
