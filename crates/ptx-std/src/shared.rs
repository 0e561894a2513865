//! Shared memory: a block's own, on the multiprocessor.
//!
//! The contents when a block begins are undefined; the emulator fills it with `0xFF` bytes, which
//! are NaN as floats. Threads see each other's writes after [`sync_threads`](crate::thread::sync_threads).
//!
//! Four ways to have some, all compiled to the GPU's shared loads and stores:
//!
//! - [`shared_tile!`](crate::shared_tile), numbers that the block fills together and then reads, without `unsafe`;
//! - [`shared_array!`](crate::shared_array), an array of fixed size wherever the kernel needs it;
//! - [`#[address_space(shared)]`](crate::address_space) on a `static mut`, as in Rust-CUDA;
//! - [`dynamic_shared_mem`], whose size the launch gives, or its parts by [`DynamicShared`].
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::shared::dynamic_shared_mem;
//!
//! #[address_space(shared)]
//! static mut LARGEST: [u32; 2] = [0; 2];
//!
//! let kernel = || {
//!     let (thread, threads) = (thread::thread_idx_x() as usize, thread::block_threads() as usize);
//!     let sums = shared_array![u32; 64];
//!     let squares: *mut u32 = dynamic_shared_mem();
//!     // SAFETY: each thread writes elements of its own, and reads others' behind the barrier.
//!     unsafe {
//!         *sums.add(thread) = 1 + thread as u32;
//!         *squares.add(thread) = (thread * thread) as u32;
//!         if thread == threads - 1 {
//!             *LARGEST = [threads as u32; 2];
//!         }
//!         thread::sync_threads();
//!         assert_eq!(*sums.add(63), LARGEST[0]);
//!         assert_eq!(*squares.add(63), 63 * 63);
//!     }
//! };
//! # let shape = simt::Shape { grid: [2, 1, 1], block: [64, 1, 1], dynamic_shared: 256 };
//! # simt::Launch::new(shape).run(&kernel)?;
//! # Ok::<(), simt::LaunchError>(())
//! ```

mod pointer;
mod tile;

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

pub use pointer::SharedPtr;
pub use tile::SharedTile;

use crate::arch;

/// The block's dynamic shared memory, as many bytes as the launch gave, aligned to 128 bytes. All
/// calls give the same memory.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const {
        assert!(
            align_of::<T>() <= 128,
            "dynamic shared memory is aligned to 128 bytes"
        )
    };
    arch::dynamic_shared().cast()
}

/// The block's dynamic shared memory, dealt out in parts that lie one behind another.
///
/// A launch that is checked knows the parts: an access by a pointer into one that leads into another is
/// out of bounds. On a GPU a part is an address and costs nothing else but the comparison of its end
/// with what the launch gave.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::DynamicShared;
///
/// #[kernel]
/// pub unsafe fn convolve(taps: &[f32], x: &[f32], mut y: Output<f32>) {
///     let mut shared = DynamicShared::new();
///     let weights: *mut f32 = shared.take(taps.len());
///     let tile: *mut f32 = shared.take(thread::block_dim_x() as usize + taps.len());
///     // ..
/// #   assert_eq!(tile, weights.wrapping_add(taps.len()));
/// #   y.own_with(x).for_each(|(x, y)| *y = *x);
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let (x, mut y) = ([1.0_f32; 32], [0.0_f32; 32]);
/// # // SAFETY: the arrays outlive the launch.
/// # let arguments = unsafe { (Slice::from_raw(x.as_ptr(), 3), Slice::from_raw(x.as_ptr(), 32), SliceMut::from_raw(y.as_mut_ptr(), 32)) };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 4 * (3 + 35) };
/// # // SAFETY: as above.
/// # simt::Launch::new(shape).run(&|| unsafe { convolve::call(&arguments) })?;
/// # assert_eq!(x, y);
/// # let smaller = simt::Shape { dynamic_shared: 100, ..shape };
/// # // SAFETY: as above.
/// # assert!(simt::Launch::new(smaller).run(&|| unsafe { convolve::call(&arguments) }).is_err());
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[derive(Debug, Default)]
pub struct DynamicShared {
    bytes: usize,
    parts: u32,
}

impl DynamicShared {
    /// All of it. Each value deals out the same memory from its beginning.
    #[inline(always)]
    pub const fn new() -> DynamicShared {
        DynamicShared { bytes: 0, parts: 0 }
    }

    /// The next part, for `len` elements, aligned as they are. Every thread of the block that takes the same
    /// parts is given the same memory.
    ///
    /// # Panics
    /// The launch gave less dynamic shared memory than all parts take.
    #[inline(always)]
    #[track_caller]
    pub fn take<T>(&mut self, len: usize) -> *mut T {
        let start = self.bytes.next_multiple_of(align_of::<T>());
        let bytes = len.saturating_mul(size_of::<T>());
        let end = start.saturating_add(bytes);
        assert!(
            end <= arch::dynamic_smem_size() as usize,
            "the launch gave less dynamic shared memory than its parts take"
        );
        let part = dynamic_shared_mem::<T>().wrapping_byte_add(start);
        // Less than 2^32, as all of it is.
        let part = arch::shared_part(part.cast(), self.parts, bytes as u32, size_of::<T>() as u32);
        (self.bytes, self.parts) = (end, self.parts + 1);
        part.cast()
    }
}

/// The block's memory for the declaration `SITE`, `N` elements: what [`shared_array!`] stands for.
///
/// [`shared_array!`]: crate::shared_array
#[doc(hidden)]
#[inline(always)]
pub fn array<T, const N: usize, const SITE: u64>() -> *mut T {
    const {
        assert!(
            align_of::<T>() <= 16,
            "shared arrays are aligned to 16 bytes"
        )
    };
    arch::shared_array::<T, N, SITE>()
}

/// A type that shared memory holds a value of before anybody has written one: any bits are a value of it, and
/// threads share it without `unsafe`. A `static` of it may do without `mut`.
///
/// ```
/// use core::mem::MaybeUninit;
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use cuda_std::prelude::*;
///
/// #[address_space(shared)]
/// static COUNTS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
/// #[address_space(shared)]
/// static TILE: MaybeUninit<[f32; 32]> = MaybeUninit::uninit();
///
/// fn bytes<T: shared::AnyBits>(_: &T) -> usize {
///     size_of::<T>()
/// }
///
/// let kernel = || {
///     let thread = thread::thread_idx_x() as usize;
///     if let Some(count) = COUNTS.get(thread) {
///         count.store(0, Ordering::Relaxed);
///     }
///     thread::sync_threads();
///     COUNTS[thread % 4].fetch_add(1, Ordering::Relaxed);
///     thread::sync_threads();
///     assert_eq!(COUNTS[thread % 4].load(Ordering::Relaxed), 8);
///     assert_eq!(bytes(&*TILE), 128);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// Every pattern of bits is a value of the type, with which its safe methods can do no harm.
#[diagnostic::on_unimplemented(
    message = "a shared `static` of `{Self}` would be read before it is written",
    label = "shared memory has no initial value, and not all bits are a value of this type",
    note = "declare a `static mut`, or use `MaybeUninit` or an atomic"
)]
pub unsafe trait AnyBits: Sync {}

macro_rules! any_bits {
    ($($atomic:ident),*) => {$(
        // SAFETY: the bits of a number.
        unsafe impl AnyBits for core::sync::atomic::$atomic {}
    )*};
}

any_bits!(
    AtomicI8,
    AtomicI16,
    AtomicI32,
    AtomicI64,
    AtomicIsize,
    AtomicU8,
    AtomicU16,
    AtomicU32,
    AtomicU64,
    AtomicUsize
);

// SAFETY: it says nothing of its bits.
unsafe impl<T: Sync> AnyBits for MaybeUninit<T> {}
// SAFETY: as its elements.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {}

/// A `static mut` that `#[address_space(shared)]` has put into shared memory. Use it as the array
/// or value it holds: `TILE[i] = x`.
///
/// The static's own address is not the shared memory's: take `&raw mut *TILE`, never
/// `&raw mut TILE`.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::Static;
///
/// #[address_space(shared)]
/// static mut TILE: [f32; 32] = [0.0; 32];
///
/// /// The first element of a tile, whichever static it is.
/// fn first<const SITE: u64>(tile: &Static<[f32; 32], SITE>) -> f32 {
///     tile[0]
/// }
///
/// let kernel = || {
///     // SAFETY: each thread writes its own element, and reads another's behind the barrier.
///     unsafe {
///         TILE[thread::thread_idx_x() as usize] = 1.5;
///         thread::sync_threads();
///         assert_eq!(first(&*&raw const TILE), 1.5);
///     }
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub struct Static<T, const SITE: u64>(PhantomData<T>);

impl<T, const SITE: u64> Static<T, SITE> {
    /// The static of the declaration `SITE`.
    ///
    /// # Safety
    /// Only `#[address_space(shared)]` calls it, once for each declaration and with a `SITE` of the
    /// declaration's own: whoever holds the value reads and writes the block's memory for `SITE`
    /// as a `T`, which begins uninitialised.
    #[doc(hidden)]
    pub const unsafe fn new() -> Self {
        Static(PhantomData)
    }
}

impl<T, const SITE: u64> Deref for Static<T, SITE> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the block's memory for this static, as long as the block lives; a `static mut`
        // is used by those who see to it that no other thread writes meanwhile and that it has been written,
        // any other is `AnyBits`, for which the macro asks.
        unsafe { &*array::<T, 1, SITE>() }
    }
}

impl<T, const SITE: u64> DerefMut for Static<T, SITE> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *array::<T, 1, SITE>() }
    }
}
