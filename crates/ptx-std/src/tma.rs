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
//! What ordinary instructions have written to shared memory is stored after [`fence_shared`] and a
//! barrier: copies see memory by a path of their own (the asynchronous proxy).

use bytemuck::{Pod, Zeroable};
use ptx_std_macros::gpu_only;

use crate::mbarrier::Barrier;
use crate::shared::SharedPtr;

/// A tensor in global memory and the box of it that copies bring. The 128 bytes are the driver's own.
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
