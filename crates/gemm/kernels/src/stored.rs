//! Element types of results, and how sums become rows of them in shared memory.

use cuda_std::mma::{Plain, store_matrices};
use cuda_std::packed::{Bf16x2, F16x2};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::{unroll, vector};

use crate::operand::ROW_BYTES;

/// Columns of a block of sums that [`Stored::stage`] takes.
pub const BLOCK: u32 = 16;

/// An element type of results.
pub trait Stored: Copy {
    /// A sum, rounded.
    fn round(sum: f32) -> Self;

    /// An element of the result.
    fn widen(self) -> f32;

    /// Writes 16 columns of a warp's 16 rows of sums, eight per lane as an accumulator has them, into a strip: the block of number
    /// `NUMBER` in its rows.
    ///
    /// # Safety
    /// All lanes of the warp reach the same call. The strip has [`BLOCK`] more columns than lie in front of the block, and nobody
    /// else touches them.
    unsafe fn stage<const NUMBER: u32>(strip: Strip, sums: [f32; 8]);

    /// Stores two neighbours with one instruction.
    ///
    /// # Safety
    /// The place has room for both, and is aligned to them together.
    unsafe fn store_pair(place: *mut Self, pair: [Self; 2]);
}

/// A strip of a result in shared memory: rows of 128 bytes, whose pieces of 16 bytes are permuted as copies by a map that swizzles
/// expect them. It is aligned to 1024 bytes.
#[derive(Clone, Copy)]
pub struct Strip {
    /// Its place.
    pub start: SharedPtr<u8>,
    /// The same place for stores.
    pub pointer: *mut u8,
    /// The first of the warp's 16 rows, a multiple of 16.
    pub row: u32,
}

impl Strip {
    /// How many bytes behind the start a piece of a row lies.
    #[inline(always)]
    fn piece(row: u32, piece: u32) -> u32 {
        row * ROW_BYTES + ((piece ^ (row % 8)) << 4)
    }
}

macro_rules! halves {
    ($($ty:ty: $packed:ty;)*) => {$(
        impl Stored for $ty {
            #[inline(always)]
            fn round(sum: f32) -> $ty {
                <$packed>::from_f32(sum, 0.0).low()
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                <$packed>::splat(self).to_f32s().0
            }

            #[inline(always)]
            unsafe fn stage<const NUMBER: u32>(strip: Strip, sums: [f32; 8]) {
                // Lane l gives row l % 8 of matrix l / 8: two matrices below each other, then the two beside them.
                let lane = thread::thread_idx_x() % 32;
                let at = Strip::piece(strip.row + lane % 16, 2 * NUMBER + lane / 16);
                let pack = |low: usize| <$packed>::from_f32(sums[low], sums[low + 1]).to_bits();
                let matrices = [pack(0), pack(2), pack(4), pack(6)];
                // SAFETY: the row is in the strip, and no other lane's.
                unsafe { store_matrices::<_, Plain, _>(strip.start.byte_add(at), matrices) };
            }

            #[inline(always)]
            unsafe fn store_pair(place: *mut $ty, [low, high]: [$ty; 2]) {
                // SAFETY: the caller's contract.
                unsafe { *place.cast() = <$packed>::new(low, high).to_bits() };
            }
        }
    )*};
}

halves! {
    bf16: Bf16x2;
    f16: F16x2;
}

impl Stored for f32 {
    #[inline(always)]
    fn round(sum: f32) -> f32 {
        sum
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    unsafe fn stage<const NUMBER: u32>(strip: Strip, sums: [f32; 8]) {
        // A lane has two neighbours in each of two rows, 8 apart, and the same 8 columns further on.
        let lane = thread::thread_idx_x() % 32;
        unroll!(PAIR in 0..4 => {
            const BESIDE: u32 = PAIR as u32 / 2;
            const BELOW: u32 = PAIR as u32 % 2;
            let piece = Strip::piece(strip.row + lane / 4 + 8 * BELOW, 4 * NUMBER + 2 * BESIDE + lane % 4 / 2);
            let place = strip.pointer.wrapping_add((piece + 8 * (lane % 2)) as usize);
            // SAFETY: two elements of the strip, aligned to 8 bytes, which no other lane writes.
            unsafe { vector::store::<f32, 2>(place.cast(), [sums[2 * PAIR], sums[2 * PAIR + 1]]) };
        });
    }

    #[inline(always)]
    unsafe fn store_pair(place: *mut f32, pair: [f32; 2]) {
        // SAFETY: the caller's contract.
        unsafe { vector::store::<f32, 2>(place, pair) };
    }
}
