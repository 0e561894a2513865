//! Copies of boxes of tensors between global and shared memory (TMA), which one thread starts and which go on
//! by themselves. They need `sm_90`.
//!
//! The host describes a tensor and the box that a copy brings, by a [`TensorMap`]
//! (`ridgepoint_driver::tensor_map`), which a kernel takes as `&TensorMap`. A kernel says where the box
//! begins. Elements outside of the tensor come as zeros, and are left out when they are written: ragged edges need
//! no code. But along the dense dimension pieces of 16 bytes are left out, and not less: where the tensor ends within one, a
//! store writes all of it, zeros behind the end (so an H200 does).
//!
//! A load completes on an [`mbarrier`](crate::mbarrier), to which the thread has announced the bytes of the box, all
//! of them, also at an edge. Stores are waited for in groups, as those of [`async_copy`](crate::async_copy) are.
//! Data that ordinary instructions have written to shared memory is stored after [`fence_shared`] and a
//! barrier: copies see memory by a path of their own (the asynchronous proxy).
//!
//! ```
//! use cuda_std::mbarrier::{Barrier, Parity, fence_init};
//! use cuda_std::prelude::*;
//! use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
//! use cuda_std::tma::{self, TensorMap};
//!
//! /// Stores twice the elements of a matrix, and adds as much to the sum of all such launches.
//! ///
//! /// # Safety
//! /// The maps are of matrices of the same size and of boxes of 32 columns and 4 rows; a block has 128 threads and
//! /// 512 bytes of dynamic shared memory, and the grid as many blocks along x and y as there are boxes.
//! #[kernel]
//! pub unsafe fn double(from: &TensorMap, to: &TensorMap, sum: &TensorMap) {
//!     let values: *mut f32 = dynamic_shared_mem();
//!     let tile = SharedPtr::new(values);
//!     let corner = [32 * thread::block_idx_x() as i32, 4 * thread::block_idx_y() as i32];
//!     let own = thread::thread_idx_x();
//!     // SAFETY: one thread makes the barrier and starts copies; all wait for the box before they change it,
//!     // and make that visible to the stores.
//!     unsafe {
//!         let barrier = Barrier::at(SharedPtr::new(shared_array![u64; 1]));
//!         if own == 0 {
//!             from.prefetch();
//!             barrier.init(1);
//!             fence_init();
//!             barrier.arrive_expect(512); // All of the box, also at an edge.
//!             from.load(corner, tile, barrier);
//!             sum.prefetch_box(corner);
//!         }
//!         thread::sync_threads();
//!         barrier.wait(Parity::EVEN);
//!         *values.add(own as usize) *= 2.0;
//!         tma::fence_shared();
//!         thread::sync_threads();
//!         if own == 0 {
//!             to.store(corner, tile);
//!             tma::commit_group();
//!             sum.store_add(corner, tile);
//!             tma::commit_group();
//!             tma::wait_group::<1>(); // The first store is written,
//!             tma::wait_group_read::<0>(); // and the second one has been read: `tile` is free.
//!         }
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(double::PARAMETERS.len(), 3);
//! ```
//!
//! Rows of bytes need no map:
//!
//! ```
//! use cuda_std::mbarrier::{Barrier, Parity, fence_init};
//! use cuda_std::prelude::*;
//! use cuda_std::shared::SharedPtr;
//! use cuda_std::tma;
//!
//! /// Squares 64 elements in place, and copies them.
//! ///
//! /// # Safety
//! /// A block of 64 threads; `x` and `y` have 64 elements, aligned to 16 bytes.
//! #[kernel]
//! pub unsafe fn square_and_copy(x: *mut f32, y: *mut f32) {
//!     let (word, tile) = (shared_array![u64; 1], SharedPtr::new(shared_array![f32; 64]));
//!     let own = thread::thread_idx_x();
//!     // SAFETY: copies begin behind fence and barrier, and what they bring is stored after the wait.
//!     unsafe {
//!         *x.add(own as usize) *= *x.add(own as usize);
//!         tma::fence_global(); // The copy reads what this thread wrote.
//!         let barrier = Barrier::at(SharedPtr::new(word));
//!         if own == 0 {
//!             barrier.init(1);
//!             fence_init();
//!         }
//!         thread::sync_threads();
//!         if own == 0 {
//!             barrier.arrive_expect(256);
//!             tma::load_bytes(x.cast_const(), tile, 256, barrier);
//!             barrier.wait(Parity::EVEN);
//!             tma::store_bytes(tile, y, 256);
//!             tma::commit_group();
//!             tma::wait_group_read::<0>();
//!         }
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(square_and_copy::PARAMETERS.len(), 2);
//! ```

use bytemuck::{Pod, Zeroable};
use ptx_std_macros::gpu_only;

use crate::mbarrier::Barrier;
use crate::shared::SharedPtr;

/// A tensor in global memory and the box of it that copies bring. The 128 bytes are the driver's own.
///
/// ```
/// use cuda_std::tma::TensorMap;
///
/// // A launch takes it from a buffer, and only the driver knows what the bits say.
/// let map = TensorMap::from_bits([7; 16]);
/// assert_eq!(map.to_bits(), [7; 16]);
/// assert_eq!((size_of::<TensorMap>(), align_of::<TensorMap>()), (128, 64));
/// ```
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct TensorMap([u64; 16]);

impl TensorMap {
    /// The map of these bits, as the driver writes them.
    pub const fn from_bits(bits: [u64; 16]) -> TensorMap {
        TensorMap(bits)
    }

    /// Its bits.
    pub const fn to_bits(self) -> [u64; 16] {
        self.0
    }

    /// Brings the map near, so that the first copy by it does not wait for it.
    ///
    /// # Safety
    /// The map lies in global memory, and is one that `cuTensorMapEncodeTiled` has made.
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn prefetch(&self) {
        crate::arch::tensor::prefetch_map(self);
    }

    /// Starts to copy the box that begins at `corner` to `to`; it completes on `barrier`. The coordinates count
    /// elements, that of the dense dimension first, and may lie outside of the tensor.
    ///
    /// # Safety
    /// The map has as many dimensions as `corner`. The box fits at `to`, which is aligned to 128 bytes, or to 8
    /// rows of the span if it is swizzled, and nothing else touches it until the phase of `barrier` has ended; to that phase the box's
    /// bytes have been announced, or are before it can end.
    #[inline(always)]
    pub unsafe fn load<T, const D: usize>(
        &self,
        corner: [i32; D],
        to: SharedPtr<T>,
        barrier: Barrier,
    ) where
        [i32; D]: Corner,
    {
        // SAFETY: the caller's contract.
        unsafe { corner.load(self, to.cast(), barrier) };
    }

    /// The same for several blocks of the cluster at once, bit n of `blocks` for block n: the box comes to the same place of
    /// each one's shared memory, and completes on the same barrier of each.
    ///
    /// ```
    /// use cuda_std::cluster::{self, BlockRank};
    /// use cuda_std::mbarrier::Ring;
    /// use cuda_std::prelude::*;
    /// use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
    /// use cuda_std::tma::TensorMap;
    ///
    /// /// Sums of the columns of a matrix, of which block 0 and block 1 of a cluster each bring half of every stage,
    /// /// to both.
    /// ///
    /// /// # Safety
    /// /// Clusters of 2 blocks of 64 threads, with 1024 bytes of dynamic shared memory; the map is of a matrix of 32 columns
    /// /// and of boxes of 32 columns and 2 rows; `y` has room for 32 elements of each block.
    /// #[kernel]
    /// pub unsafe fn shared_loads(x: &TensorMap, rows: u32, y: *mut f32) {
    ///     let tiles: *mut [f32; 128] = dynamic_shared_mem(); // Two stages of 4 rows.
    ///     let (thread, rank) = (thread::thread_idx_x(), cluster::rank().0);
    ///     // SAFETY: the rings are made in front of the cluster's barrier, and no block ends before all are done.
    ///     unsafe {
    ///         let ring = Ring::<2>::new(SharedPtr::new(shared_array![u64; 4]));
    ///         if thread == 0 {
    ///             ring.init(1, 2); // Both blocks empty a stage before either fills it.
    ///         }
    ///         cluster::sync();
    ///         if thread == 32 {
    ///             let mut producer = ring.producer();
    ///             for row in (0..rows as i32).step_by(4) {
    ///                 let free = producer.acquire();
    ///                 let half = SharedPtr::new(tiles.add(free.stage() as usize)).cast::<f32>().add(64 * rank);
    ///                 let full = free.expect(512); // Of both halves.
    ///                 x.load_multicast([0, row + 2 * rank as i32], half, full, 0b11);
    ///             }
    ///         } else if thread < 32 {
    ///             let mut consumer = ring.consumer();
    ///             let mut sum = 0.0;
    ///             for _ in (0..rows).step_by(4) {
    ///                 let full = consumer.wait();
    ///                 let tile = &*tiles.add(full.stage() as usize);
    ///                 sum += tile.iter().skip(thread as usize).step_by(32).sum::<f32>();
    ///                 warp::sync_warp(warp::FULL_MASK);
    ///                 // Lane n tells block n that this block has read the stage.
    ///                 if thread < 2 { full.release_to(BlockRank(thread)) } else { full.leave() }
    ///             }
    ///             *y.add((32 * thread::block_idx_x() + thread) as usize) = sum;
    ///         }
    ///         cluster::sync();
    ///     }
    /// }
    /// # use cuda_std::launch::Kernel;
    /// # assert_eq!(shared_loads::PARAMETERS.len(), 3);
    /// ```
    ///
    /// # Safety
    /// As for [`TensorMap::load`], in each of the blocks, none of which has ended.
    #[inline(always)]
    pub unsafe fn load_multicast<T, const D: usize>(
        &self,
        corner: [i32; D],
        to: SharedPtr<T>,
        barrier: Barrier,
        blocks: u16,
    ) where
        [i32; D]: Corner,
    {
        // SAFETY: the caller's contract.
        unsafe { corner.load_multicast(self, to.cast(), barrier, blocks) };
    }

    /// Brings the box into the L2 cache.
    ///
    /// # Safety
    /// As for [`TensorMap::prefetch`], and the map has as many dimensions as `corner`.
    #[inline(always)]
    pub unsafe fn prefetch_box<const D: usize>(&self, corner: [i32; D])
    where
        [i32; D]: Corner,
    {
        // SAFETY: the caller's contract.
        unsafe { corner.prefetch(self) };
    }

    /// Starts to store the box at `from`, which begins at `corner` of the tensor. It belongs to the thread's
    /// next [group](commit_group).
    ///
    /// # Safety
    /// The map has as many dimensions as `corner`. `from` has a whole box, aligned as for [`TensorMap::load`], which [`fence_shared`]
    /// has made visible and which nothing changes until the group [has been read](wait_group_read). Nothing else touches those elements of
    /// the tensor until the group has been waited for, or the kernel has ended.
    #[inline(always)]
    pub unsafe fn store<T, const D: usize>(&self, corner: [i32; D], from: SharedPtr<T>)
    where
        [i32; D]: Corner,
    {
        // SAFETY: the caller's contract.
        unsafe { corner.store(self, from.cast()) };
    }

    /// The same, but adds to what the tensor holds, each element as one atomic operation.
    ///
    /// # Safety
    /// As for [`TensorMap::store`], but that others may add to the same elements.
    #[inline(always)]
    pub unsafe fn store_add<T, const D: usize>(&self, corner: [i32; D], from: SharedPtr<T>)
    where
        [i32; D]: Corner,
    {
        // SAFETY: the caller's contract.
        unsafe { corner.store_add(self, from.cast()) };
    }
}

/// The corner of a box, in a tensor of 1 to 5 dimensions.
///
/// ```
/// use cuda_std::mbarrier::Barrier;
/// use cuda_std::shared::SharedPtr;
/// use cuda_std::tma::{Corner, TensorMap};
///
/// /// Announces a box and starts to bring it, whatever the number of dimensions.
/// ///
/// /// # Safety
/// /// As for [`TensorMap::load`].
/// unsafe fn bring<const D: usize>(map: &TensorMap, corner: [i32; D], to: SharedPtr<f32>, bytes: u32, barrier: Barrier)
/// where
///     [i32; D]: Corner,
/// {
///     barrier.arrive_expect(bytes);
///     // SAFETY: the caller's contract.
///     unsafe { map.load(corner, to, barrier) };
/// }
/// # let _ = (bring::<1>, bring::<2>, bring::<3>, bring::<4>, bring::<5>);
/// ```
pub trait Corner: sealed::Sealed {
    #[doc(hidden)]
    unsafe fn load(self, map: &TensorMap, to: SharedPtr<u8>, barrier: Barrier);
    #[doc(hidden)]
    unsafe fn load_multicast(
        self,
        map: &TensorMap,
        to: SharedPtr<u8>,
        barrier: Barrier,
        blocks: u16,
    );
    #[doc(hidden)]
    unsafe fn prefetch(self, map: &TensorMap);
    #[doc(hidden)]
    unsafe fn store(self, map: &TensorMap, from: SharedPtr<u8>);
    #[doc(hidden)]
    unsafe fn store_add(self, map: &TensorMap, from: SharedPtr<u8>);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! corners {
    ($($dimensions:literal $module:ident;)*) => {$(
        impl sealed::Sealed for [i32; $dimensions] {}

        impl Corner for [i32; $dimensions] {
            #[gpu_only]
            #[inline(always)]
            unsafe fn load(self, map: &TensorMap, to: SharedPtr<u8>, barrier: Barrier) {
                // SAFETY: the caller's contract.
                unsafe {
                    crate::arch::tensor::$module::load(
                        map, self, to.address(), barrier.place().address(),
                    );
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn load_multicast(
                self,
                map: &TensorMap,
                to: SharedPtr<u8>,
                barrier: Barrier,
                blocks: u16,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    crate::arch::tensor::$module::load_multicast(
                        map, self, to.address(), barrier.place().address(), blocks,
                    );
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn prefetch(self, map: &TensorMap) {
                // SAFETY: the caller's contract.
                unsafe { crate::arch::tensor::$module::prefetch(map, self) };
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn store(self, map: &TensorMap, from: SharedPtr<u8>) {
                // SAFETY: the caller's contract.
                unsafe { crate::arch::tensor::$module::store(map, self, from.address()) };
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn store_add(self, map: &TensorMap, from: SharedPtr<u8>) {
                // SAFETY: the caller's contract.
                unsafe { crate::arch::tensor::$module::store_add(map, self, from.address()) };
            }
        }
    )*};
}

corners! {
    1 tma_1d;
    2 tma_2d;
    3 tma_3d;
    4 tma_4d;
    5 tma_5d;
}

/// Starts to copy `bytes` bytes, without a map; they complete on `barrier`.
///
/// # Safety
/// Both places and the count are multiples of 16 bytes. `from` is global memory that nothing writes, and `to` shared memory
/// that nothing touches, until the phase of `barrier` has ended, to which the bytes have been announced.
#[gpu_only]
#[inline(always)]
pub unsafe fn load_bytes<T>(from: *const T, to: SharedPtr<T>, bytes: u32, barrier: Barrier) {
    // SAFETY: the caller's contract.
    unsafe {
        crate::arch::tensor::bulk_load(to.address(), from.cast(), bytes, barrier.place().address());
    }
}

/// Starts to store `bytes` bytes, without a map, in the thread's next [group](commit_group).
///
/// # Safety
/// Both places and the count are multiples of 16 bytes; `from` has been made visible by [`fence_shared`] and stays
/// as it is until the group [has been read](wait_group_read); nothing else touches `to` until it has been waited for.
#[gpu_only]
#[inline(always)]
pub unsafe fn store_bytes<T>(from: SharedPtr<T>, to: *mut T, bytes: u32) {
    // SAFETY: the caller's contract.
    unsafe { crate::arch::tensor::bulk_store(to.cast(), from.address(), bytes) };
}

/// Makes a group of the stores that this thread has started since the group before.
#[gpu_only]
#[inline(always)]
pub fn commit_group() {
    crate::arch::tensor::bulk_commit();
}

/// Waits until no more than the latest `PENDING` groups of this thread are under way: all others are written.
#[gpu_only]
#[inline(always)]
pub fn wait_group<const PENDING: u32>() {
    crate::arch::tensor::bulk_wait::<PENDING>();
}

/// Waits until no more than the latest `PENDING` groups of this thread still read shared memory.
#[gpu_only]
#[inline(always)]
pub fn wait_group_read<const PENDING: u32>() {
    crate::arch::tensor::bulk_wait_read::<PENDING>();
}

/// Makes what this thread has written to shared memory by ordinary instructions visible to copies and to tensor cores,
/// which read it by a path of their own. A barrier follows where another thread starts them.
#[gpu_only]
#[inline(always)]
pub fn fence_shared() {
    crate::arch::tensor::fence_async_shared();
}

/// The same for global memory.
#[gpu_only]
#[inline(always)]
pub fn fence_global() {
    crate::arch::tensor::fence_async_global();
}
