//! The memory that CUPTI puts records into.

use std::ptr;

use crate::library::Functions;
use crate::record::Record;

/// Words of 8 bytes of a buffer: 1 MiB, some 5000 records.
const WORDS: usize = 1 << 17;

/// Gives CUPTI an empty buffer.
///
/// # Safety
/// All three are places to write to.
pub(crate) unsafe extern "C" fn requested(
    buffer: *mut *mut u8,
    size: *mut usize,
    records: *mut usize,
) {
    let words = Box::into_raw(vec![0u64; WORDS].into_boxed_slice());
    // SAFETY: the caller's contract.
    unsafe {
        *buffer = words.cast();
        *size = WORDS * size_of::<u64>();
        *records = 0;
    }
}

/// Hands over each record of a buffer, where there are functions to find them by, and frees it.
///
/// # Safety
/// The buffer is one of `requested`, with so many valid bytes of records. CUPTI has given it back.
pub(crate) unsafe fn read(
    functions: Option<&Functions>,
    buffer: *mut u8,
    valid: usize,
    mut each: impl FnMut(*const Record),
) {
    if let Some(functions) = functions {
        let mut record = ptr::null_mut();
        // SAFETY: the caller's contract; CUPTI sets `record` to the next one, or says that it was the last.
        while unsafe { (functions.next_record)(buffer, valid, &mut record) } == 0 {
            each(record);
        }
    }
    // SAFETY: `requested` made it of so many words.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(buffer.cast::<u64>(), WORDS)) });
}
