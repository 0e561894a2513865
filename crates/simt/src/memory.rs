//! The shared memory of one block.

use std::cell::{RefCell, UnsafeCell};

use cuda_std::emulation::SharedArray;

/// Bytes of arrays that a block may declare on any GPU; more must be dynamic.
const STATIC_LIMIT: usize = 48 * 1024;

/// What fresh shared memory holds: NaN as floats, and never a plausible index.
const POISON: u8 = 0xFF;

#[repr(C, align(128))]
struct Chunk([u8; 128]);

/// Memory with an address that stays.
struct Region(Box<[UnsafeCell<Chunk>]>);

impl Region {
    fn new(bytes: usize) -> Self {
        Region(
            (0..bytes.div_ceil(size_of::<Chunk>()))
                .map(|_| UnsafeCell::new(Chunk([POISON; 128])))
                .collect(),
        )
    }

    fn address(&self) -> *mut u8 {
        self.0.as_ptr().cast_mut().cast()
    }
}

/// Fresh for each block.
pub(crate) struct BlockMemory {
    dynamic: Region,
    dynamic_bytes: usize,
    arrays: RefCell<Vec<(SharedArray, Region)>>,
}

impl BlockMemory {
    pub(crate) fn new(dynamic_bytes: u32) -> Self {
        BlockMemory {
            dynamic: Region::new(dynamic_bytes as usize),
            dynamic_bytes: dynamic_bytes as usize,
            arrays: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn dynamic(&self) -> (*mut u8, usize) {
        (self.dynamic.address(), self.dynamic_bytes)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.dynamic_bytes + array_bytes(&self.arrays.borrow())
    }

    /// The memory of a declaration, made when a thread first asks for it.
    ///
    /// # Panics
    /// If the declarations together exceed what a GPU allows.
    pub(crate) fn array(&self, array: SharedArray) -> *mut u8 {
        let mut arrays = self.arrays.borrow_mut();
        if let Some((_, region)) = arrays.iter().find(|(other, _)| *other == array) {
            return region.address();
        }
        let bytes = array_bytes(&arrays) + array.bytes;
        assert!(
            bytes <= STATIC_LIMIT,
            "shared arrays of {bytes} bytes; a block may declare {STATIC_LIMIT}, and have more as \
             dynamic shared memory"
        );
        let region = Region::new(array.bytes);
        let address = region.address();
        arrays.push((array, region));
        address
    }
}

fn array_bytes(arrays: &[(SharedArray, Region)]) -> usize {
    arrays.iter().map(|(array, _)| array.bytes).sum()
}
