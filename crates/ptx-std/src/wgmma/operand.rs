//! Operands in shared memory: element types, swizzles and descriptors.

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

use super::Marker;
use crate::shared::SharedPtr;

/// `f32` of which 10 bits of the significand are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Tf32(pub f32);

/// A float of 8 bits: 4 of the exponent, 3 of the significand, no infinities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct E4m3(pub u8);

/// A float of 8 bits: 5 of the exponent, 2 of the significand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct E5m2(pub u8);

/// The element type of operands.
///
/// ```
/// use cuda_std::wgmma::{E4m3, E5m2, Element, Tf32};
/// use cuda_std::{bf16, f16};
///
/// assert_eq!([bf16::DEPTH, f16::DEPTH, Tf32::DEPTH], [16, 16, 8]);
/// assert_eq!([E4m3::DEPTH, E5m2::DEPTH, i8::DEPTH], [32, 32, 32]);
/// let whole: <i8 as Element>::Sum = 127 * 127 * 1024;
/// let real: <E5m2 as Element>::Sum = 0.5;
/// assert_eq!((whole, real), (16_516_096_i32, 0.5_f32));
/// ```
pub trait Element: Copy {
    /// In which sums are kept.
    type Sum;
    /// Elements along the inner dimension of one instruction, which are 32 bytes.
    const DEPTH: u32 = 32 / size_of::<Self>() as u32;
}

macro_rules! elements {
    ($($ty:ty => $sum:ty;)*) => {$(
        impl Element for $ty {
            type Sum = $sum;
        }
    )*};
}

elements! {
    bf16 => f32;
    f16 => f32;
    Tf32 => f32;
    E4m3 => f32;
    E5m2 => f32;
    i8 => i32;
}

/// How the 16-byte pieces of a tile are permuted, so that neither rows nor columns meet in a bank.
///
/// ```
/// use cuda_std::wgmma::{Swizzle, Swizzle32, Swizzle64, Swizzle128};
///
/// assert_eq!([Swizzle32::SPAN, Swizzle64::SPAN, Swizzle128::SPAN], [32, 64, 128]);
/// assert_eq!([Swizzle32::ALIGN, Swizzle64::ALIGN, Swizzle128::ALIGN], [256, 512, 1024]);
/// ```
pub trait Swizzle {
    /// Bytes within which pieces are permuted: a row of a tile.
    const SPAN: u32;
    /// As descriptors say it.
    #[doc(hidden)]
    const MODE: u64;
    /// Eight rows, after which the pattern repeats: what tiles are aligned to.
    const ALIGN: u32 = 8 * Self::SPAN;
}

macro_rules! swizzles {
    ($($name:ident = $span:literal, $mode:literal;)*) => {$(
        #[doc = concat!("Pieces are permuted within ", $span, " bytes.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Swizzle for $name {
            const SPAN: u32 = $span;
            const MODE: u64 = $mode;
        }
    )*};
}

swizzles! {
    Swizzle128 = 128, 1;
    Swizzle64 = 64, 2;
    Swizzle32 = 32, 3;
}

/// A matrix in shared memory, as instructions take it: a [`KMajor`] or a [`MnMajor`].
///
/// ```
/// use cuda_std::wgmma::{KMajor, MnMajor, SharedOperand, Swizzle128};
/// use cuda_std::{bf16, shared::SharedPtr};
///
/// fn operand<T>(operand: impl SharedOperand<T>) -> impl SharedOperand<T> {
///     operand
/// }
/// let tile: SharedPtr<bf16> = SharedPtr::from_address(0x400);
/// let _ = operand(KMajor::<_, Swizzle128>::new(tile));
/// let _ = operand(MnMajor::<_, Swizzle128, 64>::new(tile));
/// ```
pub trait SharedOperand<T>: Copy {
    /// 0 if neighbours along the inner dimension lie side by side, else 1.
    #[doc(hidden)]
    const TRANSPOSED: u8;
    #[doc(hidden)]
    fn descriptor(self) -> u64;
}

/// Bits of a descriptor that holds `address`, the distances in bytes of pieces along the two dimensions, and how it is swizzled.
const fn descriptor(address: u32, leading: u32, stride: u32, mode: u64) -> u64 {
    const fn field(bytes: u32) -> u64 {
        ((bytes & 0x3_FFFF) >> 4) as u64
    }
    field(address) | field(leading) << 16 | field(stride) << 32 | mode << 62
}

#[track_caller]
fn check_alignment(address: u32, bytes: u32) {
    assert!(
        address.is_multiple_of(bytes),
        "a swizzled tile is aligned to eight of its rows"
    );
}

/// A tile whose rows are [`Swizzle::SPAN`] bytes along the inner dimension: of `A` a row for each row, of `B` one
/// for each column. Other tiles may lie behind it.
///
/// ```
/// use cuda_std::shared::SharedPtr;
/// use cuda_std::wgmma::{KMajor, Swizzle128};
///
/// let start: SharedPtr<cuda_std::bf16> = SharedPtr::from_address(0x400);
/// let first = KMajor::<_, Swizzle128>::new(start);
/// // Behind 64 rows of 128 bytes lies the next tile, and step 3 is 96 bytes into each row.
/// let next = KMajor::<_, Swizzle128>::new(start.byte_add(64 * 128));
/// assert_eq!(format!("{:?}", first.tile::<64>(1)), format!("{next:?}"));
/// assert_ne!(format!("{:?}", next.step::<3>()), format!("{next:?}"));
/// ```
#[derive(Debug)]
pub struct KMajor<T, S> {
    descriptor: u64,
    marker: Marker<T, S>,
}

impl<T, S> Clone for KMajor<T, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for KMajor<T, S> {}

impl<T: Element, S: Swizzle> KMajor<T, S> {
    /// The tile at this place.
    ///
    /// # Panics
    /// It is not aligned to [`Swizzle::ALIGN`] bytes.
    #[inline(always)]
    #[track_caller]
    pub fn new(tile: SharedPtr<T>) -> Self {
        check_alignment(tile.address(), S::ALIGN);
        KMajor {
            // The leading distance is not used: a row is one piece.
            descriptor: descriptor(tile.address(), 16, S::ALIGN, S::MODE),
            marker: Marker::default(),
        }
    }

    /// Of tiles of `ROWS` rows, a multiple of 8, that lie behind each other from here on, the one of this number.
    #[inline(always)]
    #[must_use]
    pub fn tile<const ROWS: u32>(self, number: u32) -> Self {
        const { assert!(ROWS.is_multiple_of(8), "a tile has a multiple of 8 rows") };
        self.further(number * (ROWS * S::SPAN))
    }

    /// The operand of the instruction of number `STEP` along the inner dimension: 32 bytes of each row.
    #[inline(always)]
    #[must_use]
    pub fn step<const STEP: u32>(self) -> Self {
        const { assert!(32 * STEP < S::SPAN, "the row has no such step") };
        self.further(32 * STEP)
    }

    #[inline(always)]
    fn further(self, bytes: u32) -> Self {
        KMajor {
            descriptor: self.descriptor + u64::from(bytes >> 4),
            ..self
        }
    }
}

impl<T: Element, S: Swizzle> SharedOperand<T> for KMajor<T, S> {
    const TRANSPOSED: u8 = 0;

    #[inline(always)]
    fn descriptor(self) -> u64 {
        self.descriptor
    }
}

/// A tile of 16-bit elements whose rows are [`Swizzle::SPAN`] bytes along the rows or columns of the result: `DEPTH` rows, one for
/// each element of the inner dimension, and behind them those of the next columns.
///
/// ```
/// use cuda_std::shared::SharedPtr;
/// use cuda_std::wgmma::{MnMajor, Swizzle128};
///
/// let start: SharedPtr<cuda_std::bf16> = SharedPtr::from_address(0x400);
/// let first = MnMajor::<_, Swizzle128, 64>::new(start);
/// // 64 rows of 64 columns, 128 bytes, and behind them the next 64 columns. Step 1 begins at row 16.
/// let next = MnMajor::<_, Swizzle128, 64>::new(start.byte_add(64 * 128));
/// assert_eq!(format!("{:?}", first.tile::<64>(1)), format!("{next:?}"));
/// let row_16 = MnMajor::<_, Swizzle128, 64>::new(start.byte_add(16 * 128));
/// assert_eq!(format!("{:?}", first.step::<1>()), format!("{row_16:?}"));
/// ```
#[derive(Debug)]
pub struct MnMajor<T, S, const DEPTH: u32> {
    descriptor: u64,
    marker: Marker<T, S>,
}

impl<T, S, const DEPTH: u32> Clone for MnMajor<T, S, DEPTH> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S, const DEPTH: u32> Copy for MnMajor<T, S, DEPTH> {}

impl<T: Element, S: Swizzle, const DEPTH: u32> MnMajor<T, S, DEPTH> {
    /// The tile at this place.
    ///
    /// # Panics
    /// It is not aligned to [`Swizzle::ALIGN`] bytes.
    #[inline(always)]
    #[track_caller]
    pub fn new(tile: SharedPtr<T>) -> Self {
        const {
            assert!(
                size_of::<T>() == 2,
                "elements of other sizes are multiplied from `KMajor` tiles alone"
            );
            assert!(
                DEPTH.is_multiple_of(16),
                "a tile has a multiple of 16 rows along the inner dimension"
            );
        };
        check_alignment(tile.address(), S::ALIGN);
        MnMajor {
            descriptor: descriptor(tile.address(), DEPTH * S::SPAN, S::ALIGN, S::MODE),
            marker: Marker::default(),
        }
    }

    /// Of tiles of `COLUMNS` columns, a multiple of a span's, that lie behind each other from here on, the one of this number.
    #[inline(always)]
    #[must_use]
    pub fn tile<const COLUMNS: u32>(self, number: u32) -> Self {
        const {
            assert!(
                (2 * COLUMNS).is_multiple_of(S::SPAN),
                "a tile has a multiple of a span's columns"
            )
        };
        self.further(number * (2 * COLUMNS * DEPTH))
    }

    /// The operand of the instruction of number `STEP` along the inner dimension: 16 rows.
    #[inline(always)]
    #[must_use]
    pub fn step<const STEP: u32>(self) -> Self {
        const { assert!(16 * STEP < DEPTH, "the tile has no such step") };
        self.further(16 * S::SPAN * STEP)
    }

    #[inline(always)]
    fn further(self, bytes: u32) -> Self {
        MnMajor {
            descriptor: self.descriptor + u64::from(bytes >> 4),
            ..self
        }
    }
}

impl<T: Element, S: Swizzle, const DEPTH: u32> SharedOperand<T> for MnMajor<T, S, DEPTH> {
    const TRANSPOSED: u8 = 1;

    #[inline(always)]
    fn descriptor(self) -> u64 {
        self.descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<T>(address: u32) -> SharedPtr<T> {
        SharedPtr::from_address(address)
    }

    #[test]
    fn descriptors_have_address_distances_and_swizzle() {
        let k_major = KMajor::<bf16, Swizzle128>::new(place(0x2_4400));
        assert_eq!(k_major.descriptor(), 0x4000_0040_0001_2440);
        assert_eq!(k_major.step::<3>().descriptor(), 0x4000_0040_0001_2446);
        // 64 rows of 128 bytes are 8192 bytes.
        let second = k_major.tile::<64>(2).descriptor();
        assert_eq!(second, 0x4000_0040_0001_2840);
        let narrow = KMajor::<i8, Swizzle32>::new(place(0x100));
        assert_eq!(narrow.descriptor(), 0xC000_0010_0001_0010);
        let mn_major = MnMajor::<f16, Swizzle128, 64>::new(place(0x400));
        assert_eq!(mn_major.descriptor(), 0x4000_0040_0200_0040);
        assert_eq!(mn_major.step::<1>().descriptor(), 0x4000_0040_0200_00C0);
        let next = mn_major.tile::<256>(1).descriptor();
        assert_eq!(next, 0x4000_0040_0200_0840);
    }

    #[test]
    #[should_panic(expected = "aligned to eight of its rows")]
    fn a_tile_that_is_not_aligned_is_refused() {
        KMajor::<bf16, Swizzle128>::new(place(0x200));
    }

    #[test]
    fn an_instruction_takes_32_bytes_along_the_inner_dimension() {
        let depths = [bf16::DEPTH, f16::DEPTH, Tf32::DEPTH, E4m3::DEPTH, i8::DEPTH];
        assert_eq!(depths, [16, 16, 8, 32, 32]);
    }
}
