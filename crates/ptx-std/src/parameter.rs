//! What a kernel's parameters have to be, on the host and on the GPU alike.
//!
//! `#[kernel]` compares their types with it when either is compiled, and writes how they lie in memory into
//! the kernel's digest, by which a launch knows the PTX that was made of the kernel's own source.

use core::marker::PhantomData;
use core::num::Wrapping;

use bytemuck::NoUninit;
use half::{bf16, f16};

/// A value that a kernel which is a safe function takes by value: plain data, which two compilers lay out
/// alike, without references to the host's memory and without bytes that nobody has written.
///
/// Numbers, `bool`, `char` and arrays of them are such values, and a struct that derives
/// [`bytemuck::NoUninit`] or `Pod`, which asks for `#[repr(C)]`:
///
/// ```
/// use bytemuck::NoUninit;
/// use cuda_std::parameter::SafeValue;
/// use cuda_std::prelude::*;
///
/// #[derive(Clone, Copy, NoUninit)]
/// #[repr(C)]
/// pub struct Affine {
///     by: f32,
///     offset: f32,
/// }
///
/// #[kernel]
/// pub fn affine(with: Affine, mut y: Output<f32>) {
///     y.own().for_each(|(_, y)| *y = with.by * *y + with.offset);
/// }
///
/// fn passed<T: SafeValue>(value: T) -> usize {
///     bytemuck::bytes_of(&value).len()
/// }
/// assert_eq!(passed(Affine { by: 2.0, offset: 1.0 }), 8);
/// ```
///
/// For any other `Copy` value the kernel is an `unsafe fn`, and whoever launches it vouches for the layout.
#[diagnostic::on_unimplemented(
    message = "a kernel that is a safe function cannot take `{Self}` by value",
    label = "not known to be laid out alike on host and GPU, without references and padding",
    note = "of a struct, `#[derive(bytemuck::NoUninit)]` and `#[repr(C)]` make sure of it; without them the \
            kernel is an `unsafe fn`"
)]
pub trait SafeValue: NoUninit {}
#[diagnostic::do_not_recommend]
impl<T: NoUninit> SafeValue for T {}

/// The layout of a type, for `#[kernel]`: `Layout::<T>::DIGEST`. Of [`Known`] types it says which they are, of
/// all others ([`OtherLayout`]) size and alignment.
#[doc(hidden)]
pub struct Layout<T>(PhantomData<T>);

impl<T: Known> Layout<T> {
    /// The type's own.
    pub const DIGEST: u64 = T::DIGEST;
}

/// The constant of all types that are not [`Known`].
#[doc(hidden)]
pub trait OtherLayout {
    /// Of size and alignment.
    const DIGEST: u64;
}

impl<T> OtherLayout for Layout<T> {
    const DIGEST: u64 = layout::<T>(0);
}

/// A type of the language or of this crate, which no `cfg` of a kernel's author can make another of the same
/// size.
#[doc(hidden)]
pub trait Known {
    /// Differs from that of every other.
    const DIGEST: u64;
}

macro_rules! known {
    ($($ty:ty),*) => {
        known!(@ 1; $($ty),*);
    };
    (@ $number:expr; $first:ty $(, $rest:ty)*) => {
        impl Known for $first {
            const DIGEST: u64 = layout::<$first>($number);
        }
        known!(@ $number + 1; $($rest),*);
    };
    (@ $number:expr;) => {};
}

known!(
    bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f16, bf16, f32, f64
);

impl<T: Known, const N: usize> Known for [T; N] {
    const DIGEST: u64 = digest(&[N as u64, T::DIGEST]);
}

impl<T: Known> Known for Wrapping<T> {
    const DIGEST: u64 = T::DIGEST;
}

const fn layout<T>(number: u64) -> u64 {
    digest(&[number, size_of::<T>() as u64, align_of::<T>() as u64])
}

/// The digest of several numbers, in their order: FNV-1a over their bytes.
#[doc(hidden)]
pub const fn digest(numbers: &[u64]) -> u64 {
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    let mut next = 0;
    while next < numbers.len() {
        let bytes = numbers[next].to_le_bytes();
        let mut byte = 0;
        while byte < bytes.len() {
            hash = (hash ^ bytes[byte] as u64).wrapping_mul(0x0000_0100_0000_01B3);
            byte += 1;
        }
        next += 1;
    }
    hash
}
