//! The requirements on a kernel's parameters, on the host and on the GPU alike.
//!
//! `#[kernel]` compares their types with it when either is compiled, and writes how they lie in memory into
//! the kernel's digest, by which a launch knows the PTX that was made of the kernel's own source.

use core::marker::PhantomData;
use core::num::Wrapping;

use bytemuck::NoUninit;
use half::{bf16, f16};
pub use ptx_std_macros::SafeValue;

#[doc(hidden)]
pub use crate::own::Own;

/// A value that a kernel which is a safe function takes by value: plain data, which two compilers lay out
/// alike, without references to the host's memory.
///
/// Numbers, `bool`, `char` and arrays of them are such values, as is all that is [`bytemuck::NoUninit`] or
/// `Pod`, and what derives the trait: a struct of such values, which has to be `#[repr(C)]`, and an enum without fields,
/// which has to have an integer's representation.
///
/// ```
/// use cuda_std::prelude::*;
///
/// #[derive(Clone, Copy, SafeValue)]
/// #[repr(u8)]
/// pub enum Edge {
///     Clamp,
///     Wrap,
/// }
///
/// #[derive(Clone, Copy, SafeValue)]
/// #[repr(C)]
/// pub struct Step {
///     by: f32,
///     length: f32,
///     edge: Edge,
/// }
///
/// #[kernel]
/// pub fn advance(mut x: Output<f32>, with: Step) {
///     for (_, x) in x.own() {
///         *x = match with.edge {
///             Edge::Clamp => (*x + with.by).min(with.length),
///             Edge::Wrap => (*x + with.by).rem_euclid(with.length),
///         };
///     }
/// }
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # let advanced = |edge| {
/// #     let mut x = [1.0, 2.0, 3.0_f32];
/// #     let step = Step { by: 1.5, length: 4.0, edge };
/// #     // SAFETY: the array outlives the launch, and the kernel is safe.
/// #     let arguments = unsafe { (SliceMut::from_raw(x.as_mut_ptr(), 3), step) };
/// #     simt::Launch::new(shape).run(&|| unsafe { advance::call(&arguments) }).map(|()| x)
/// # };
/// # assert_eq!(advanced(Edge::Clamp)?, [2.5, 3.5, 4.0]);
/// # assert_eq!(advanced(Edge::Wrap)?, [2.5, 3.5, 0.5]);
///
/// fn passed<T: SafeValue>(_: T) -> usize {
///     size_of::<T>()
/// }
/// assert_eq!(passed(Step { by: 1.0, length: 4.0, edge: Edge::Wrap }), 12);
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// For any other `Copy` value the kernel is an `unsafe fn`, and whoever launches it vouches for the layout.
///
/// # Safety
/// All compilers lay the type out alike, and a value of it refers to no memory.
#[diagnostic::on_unimplemented(
    message = "a kernel that is a safe function cannot take `{Self}` by value",
    label = "not known to be laid out alike on host and GPU, without references",
    note = "`#[derive(SafeValue)]` makes sure of it, of a struct with `#[repr(C)]` and of an enum without fields with \
            `#[repr(u32)]`; without it the kernel is an `unsafe fn`"
)]
pub unsafe trait SafeValue: Copy + 'static {}
// SAFETY: its derive asks for `repr(C)`, and a reference is none.
#[diagnostic::do_not_recommend]
unsafe impl<T: NoUninit> SafeValue for T {}

/// The layout of a type, for `#[kernel]`: `Layout::<T>::DIGEST`. Of [`Known`] types it says which they are, of
/// all others ([`OtherLayout`]) the size: what else host and GPU may see differently, such as the alignment of a
/// vector of `glam`, harms nobody.
#[doc(hidden)]
pub struct Layout<T>(PhantomData<T>);

impl<T: Known> Layout<T> {
    /// The type's own.
    pub const DIGEST: u64 = T::DIGEST;
}

/// The constant of all types that are not [`Known`].
#[doc(hidden)]
pub trait OtherLayout {
    /// Of the size.
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
    digest(&[number, size_of::<T>() as u64])
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

/// Checks the bounds of a kernel that are constants, while the kernel is compiled. `#[kernel]` itself checks those that
/// are written as numbers.
///
/// # Panics
/// If a block has no threads or more than 1024, if a block that is required has more than `max_threads`, and if no
/// block is to fit.
#[doc(hidden)]
#[track_caller]
pub const fn check_bounds(
    max_threads: Option<u64>,
    min_blocks: Option<u64>,
    block: Option<[u64; 3]>,
) {
    const MAX_THREADS: u64 = 1024;
    if let Some(threads) = max_threads
        && (threads == 0 || threads > MAX_THREADS)
    {
        refuse(
            "max_threads is ",
            threads,
            "; a block has 1 to 1024 threads",
        );
    }
    if let Some(blocks) = min_blocks
        && (blocks == 0 || blocks > u32::MAX as u64)
    {
        refuse(
            "min_blocks is ",
            blocks,
            "; at least 1 block is to fit on a multiprocessor",
        );
    }
    let Some([x, y, z]) = block else { return };
    let threads = x.saturating_mul(y).saturating_mul(z);
    if threads == 0 || threads > MAX_THREADS {
        refuse("a block has 1 to 1024 threads; this one has ", threads, "");
    }
    if let Some(max_threads) = max_threads
        && threads > max_threads
    {
        refuse(
            "max_threads admits fewer threads than the block has: ",
            threads,
            "",
        );
    }
}

/// Panics with a number in the message, which `panic!` itself does not format in a constant.
#[track_caller]
const fn refuse(before: &str, number: u64, after: &str) -> ! {
    // 20 digits of u64::MAX.
    let mut digits = [b'0'; 20];
    let (mut rest, mut first) = (number, digits.len());
    while first == digits.len() || rest != 0 {
        first -= 1;
        digits[first] += (rest % 10) as u8;
        rest /= 10;
    }
    let mut text = [0; 128];
    let number = digits.split_at(first).1;
    let mut length = 0;
    let parts = [before.as_bytes(), number, after.as_bytes()];
    let mut part = 0;
    while part < parts.len() {
        let mut byte = 0;
        while byte < parts[part].len() {
            text[length] = parts[part][byte];
            length += 1;
            byte += 1;
        }
        part += 1;
    }
    match core::str::from_utf8(text.split_at(length).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => unreachable!(),
    }
}
