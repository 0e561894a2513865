//! The shared memory of one block.

use std::cell::{RefCell, UnsafeCell};

use cuda_std::emulation::SharedArray;

/// Bytes of arrays that a block may declare on any GPU; more must be dynamic.
const STATIC_LIMIT: usize = 48 * 1024;

/// The bytes of fresh shared memory: NaN as floats, and never a plausible index.
const POISON: u8 = 0xFF;

#[repr(C, align(128))]
struct Chunk([u8; 128]);

/// Shared memory at addresses that stay, since each part is allocated once.
pub(crate) struct BlockMemory {
    dynamic: Part,
    dynamic_bytes: usize,
    limit: usize,
    arrays: RefCell<Vec<(SharedArray, Part)>>,
}

type Part = Box<[UnsafeCell<Chunk>]>;

impl BlockMemory {
    /// With so many bytes of dynamic shared memory, of `limit` in all.
    pub(crate) fn new(dynamic_bytes: u32, limit: u32) -> BlockMemory {
        BlockMemory {
            dynamic: part(dynamic_bytes as usize),
            dynamic_bytes: dynamic_bytes as usize,
            limit: limit as usize,
            arrays: RefCell::default(),
        }
    }

    pub(crate) fn dynamic(&self) -> (*mut u8, usize) {
        (start(&self.dynamic), self.dynamic_bytes)
    }

    /// Bytes that the block has.
    pub(crate) fn bytes(&self) -> usize {
        let arrays = self.arrays.borrow();
        self.dynamic_bytes + arrays.iter().map(|(array, _)| array.bytes()).sum::<usize>()
    }

    /// The memory of a declaration, made when a thread first asks for it.
    ///
    /// # Panics
    /// If the block would have more than a GPU allows.
    pub(crate) fn array(&self, array: SharedArray) -> *mut u8 {
        let (all, dynamic, limit) = (self.bytes(), self.dynamic_bytes, self.limit);
        let mut arrays = self.arrays.borrow_mut();
        if let Some((_, part)) = arrays.iter().find(|(other, _)| *other == array) {
            return start(part);
        }
        let bytes = all - dynamic + array.bytes();
        assert!(
            bytes <= STATIC_LIMIT,
            "shared arrays of {bytes} bytes; a block may declare {STATIC_LIMIT}, and have more as \
             dynamic shared memory"
        );
        assert!(
            bytes + dynamic <= limit,
            "shared arrays of {bytes} bytes and {dynamic} of dynamic shared memory; a block of \
             this device has {limit}"
        );
        let part = part(array.bytes());
        let start = start(&part);
        arrays.push((array, part));
        start
    }
}

fn part(bytes: usize) -> Part {
    let chunks = bytes.div_ceil(128);
    (0..chunks)
        .map(|_| UnsafeCell::new(Chunk([POISON; 128])))
        .collect()
}

fn start(part: &Part) -> *mut u8 {
    // Through the cells, so that what threads write there is allowed.
    part.as_ptr().cast_mut().cast()
}
