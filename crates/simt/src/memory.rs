//! The shared memory of one block.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Range;

use cuda_std::emulation::SharedArray;

use crate::LaunchError;

/// Bytes of arrays that a block may declare on any GPU; more must be dynamic.
const STATIC_LIMIT: usize = 48 * 1024;

/// Bytes between arrays, so that what goes past the end of one is not another.
const GAP: usize = 256;

/// Bytes for gaps and alignment beside a block's shared memory.
const MARGIN: usize = 64 * 1024;

/// What fresh shared memory holds: NaN as floats, and never a plausible index.
const POISON: u8 = 0xFF;

#[repr(C, align(128))]
struct Chunk([u8; 128]);

/// Shared memory at an address that stays: that of one block after another. What no block asks for
/// is never touched and takes no memory.
pub(crate) struct BlockMemory {
    chunks: Vec<MaybeUninit<UnsafeCell<Chunk>>>,
    limit: usize,
    used: Cell<usize>,
    dynamic_bytes: usize,
    arrays: RefCell<Vec<(SharedArray, usize)>>,
}

/// A part of a block's shared memory.
pub(crate) enum Part {
    Dynamic,
    Array(SharedArray),
}

impl BlockMemory {
    /// With so many bytes of dynamic shared memory, of `limit` in all.
    pub(crate) fn new(dynamic_bytes: u32, limit: u32) -> Result<Self, LaunchError> {
        let (dynamic_bytes, limit) = (dynamic_bytes as usize, limit as usize);
        let bytes = limit.max(dynamic_bytes) + MARGIN;
        let mut chunks = Vec::new();
        chunks
            .try_reserve_exact(bytes / 128)
            .map_err(|_| LaunchError::SharedMemory { bytes })?;
        // SAFETY: there is room for so many, and they need no initialisation.
        unsafe { chunks.set_len(bytes / 128) };
        let memory = BlockMemory {
            chunks,
            limit,
            used: Cell::new(0),
            dynamic_bytes,
            arrays: RefCell::new(Vec::new()),
        };
        memory.reset();
        Ok(memory)
    }

    /// Makes it that of another block.
    pub(crate) fn reset(&self) {
        self.arrays.borrow_mut().clear();
        self.used.set(0);
        self.take(self.dynamic_bytes);
    }

    /// The offset of so many bytes that nobody has yet.
    fn take(&self, bytes: usize) -> usize {
        let offset = self.used.get().next_multiple_of(128);
        let end = offset + bytes + GAP;
        assert!(end <= self.range().len(), "too many shared arrays");
        self.used.set(end);
        // SAFETY: inside the chunks, by the check; no thread knows of these bytes yet, or the block
        // that did has ended.
        unsafe { self.base().add(offset).write_bytes(POISON, bytes) };
        offset
    }

    fn base(&self) -> *mut u8 {
        self.chunks.as_ptr().cast_mut().cast()
    }

    /// All addresses that shared memory can have here.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.base().addr();
        start..start + size_of_val(&*self.chunks)
    }

    /// The addresses that this block has, with the gaps.
    pub(crate) fn used(&self) -> Range<usize> {
        let start = self.base().addr();
        start..start + self.used.get()
    }

    pub(crate) fn dynamic(&self) -> (*mut u8, usize) {
        (self.base(), self.dynamic_bytes)
    }

    /// Bytes that the block has.
    pub(crate) fn bytes(&self) -> usize {
        self.dynamic_bytes + array_bytes(&self.arrays.borrow())
    }

    /// The memory of a declaration, made when a thread first asks for it.
    ///
    /// # Panics
    /// If the block would have more than a GPU allows.
    pub(crate) fn array(&self, array: SharedArray) -> *mut u8 {
        let mut arrays = self.arrays.borrow_mut();
        if let Some((_, offset)) = arrays.iter().find(|(other, _)| *other == array) {
            return self.base().wrapping_add(*offset);
        }
        let bytes = array_bytes(&arrays) + array.bytes();
        assert!(
            bytes <= STATIC_LIMIT,
            "shared arrays of {bytes} bytes; a block may declare {STATIC_LIMIT}, and have more as \
             dynamic shared memory"
        );
        let (dynamic, limit) = (self.dynamic_bytes, self.limit);
        assert!(
            bytes + dynamic <= limit,
            "shared arrays of {bytes} bytes and {dynamic} of dynamic shared memory; a block of \
             this device has {limit}"
        );
        let offset = self.take(array.bytes());
        arrays.push((array, offset));
        self.base().wrapping_add(offset)
    }

    /// The part that the address belongs to, or that it is behind, and how far into it.
    pub(crate) fn part(&self, address: usize) -> (Part, usize) {
        let offset = address - self.range().start;
        let arrays = self.arrays.borrow();
        let before = arrays.iter().rev().find(|(_, start)| *start <= offset);
        match before {
            Some((array, start)) => (Part::Array(*array), offset - start),
            None => (Part::Dynamic, offset),
        }
    }
}

impl Part {
    pub(crate) fn bytes(&self, memory: &BlockMemory) -> usize {
        match self {
            Part::Dynamic => memory.dynamic_bytes,
            Part::Array(array) => array.bytes(),
        }
    }
}

fn array_bytes(arrays: &[(SharedArray, usize)]) -> usize {
    arrays.iter().map(|(array, _)| array.bytes()).sum()
}
