//! CUPTI's records as they lie in memory.
//!
//! The leading fields alone are declared: CUPTI 12 and 13 have them at the same places
//! (`CUpti_ActivityKernel9` and 10, `CUpti_ActivityMemcpy6`, `CUpti_ActivityMemset4`), and only add
//! others behind them. Records are aligned to 8 bytes, so no field has to be packed.

use std::ffi::{CStr, c_char};

use crate::activity::{Direction, Launch, StreamId, Work};

/// `CUpti_ActivityKind`.
pub(crate) const MEMCPY: u32 = 1;
pub(crate) const MEMSET: u32 = 2;
/// Kernels, without keeping them from running at the same time.
pub(crate) const CONCURRENT_KERNEL: u32 = 10;

/// The beginning of every record.
#[repr(C)]
pub(crate) struct Record {
    kind: u32,
}

#[repr(C)]
pub(crate) struct Kernel {
    pub(crate) kind: u32,
    pub(crate) cache: [u8; 2],
    pub(crate) registers: u16,
    pub(crate) partitioned: [u32; 2],
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) completed: u64,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) static_shared: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) local: [u32; 2],
    pub(crate) correlation: u32,
    pub(crate) grid_id: i64,
    pub(crate) name: *const c_char,
}

/// A copy or a fill, whose fields lie alike.
#[repr(C)]
pub(crate) struct Transfer {
    pub(crate) kind: u32,
    /// Of a copy; else the value.
    pub(crate) copy_kind: u8,
    /// Of a copy: the kinds of memory that are read and written, flags.
    pub(crate) detail: [u8; 3],
    pub(crate) bytes: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) correlation: u32,
}

/// The record's kind.
///
/// # Safety
/// `record` is one of CUPTI's.
pub(crate) unsafe fn kind(record: *const Record) -> u32 {
    // SAFETY: every record begins with its kind.
    unsafe { (*record).kind }
}

/// A record as far as it is read: times are in nanoseconds of CUPTI's clock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) stream: StreamId,
    pub(crate) work: Work,
}

/// The record's fields, if it is of a known kind.
///
/// # Safety
/// `record` is one of CUPTI's, of the kind that it says.
pub(crate) unsafe fn read(record: *const Record) -> Option<Fields> {
    // SAFETY: the caller's contract.
    match unsafe { kind(record) } {
        // SAFETY: by its kind it is a kernel's, which begins with these fields.
        CONCURRENT_KERNEL => Some(unsafe { kernel(&*record.cast()) }),
        // SAFETY: likewise a copy's or a fill's.
        MEMCPY | MEMSET => Some(transfer(unsafe { &*record.cast() })),
        _ => None,
    }
}

/// # Safety
/// The name ends with a zero.
unsafe fn kernel(record: &Kernel) -> Fields {
    // SAFETY: the caller's contract.
    let name = unsafe { CStr::from_ptr(record.name) };
    Fields {
        start: record.start,
        end: record.end,
        stream: StreamId {
            context: record.context,
            stream: record.stream,
        },
        work: Work::Kernel {
            name: name.to_string_lossy().into(),
            launch: Launch {
                grid: record.grid,
                block: record.block,
                registers: u32::from(record.registers),
                shared: record.static_shared + record.dynamic_shared,
            },
        },
    }
}

fn transfer(record: &Transfer) -> Fields {
    let bytes = record.bytes;
    // `CUpti_ActivityMemcpyKind`.
    let direction = match record.copy_kind {
        1 => Direction::ToDevice,
        2 => Direction::FromDevice,
        _ => Direction::Other,
    };
    Fields {
        start: record.start,
        end: record.end,
        stream: StreamId {
            context: record.context,
            stream: record.stream,
        },
        work: match record.kind {
            MEMCPY => Work::Copy { direction, bytes },
            _ => Work::Fill { bytes },
        },
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The numbers are those of `offsetof` in C, by the headers of CUPTI 12.9 and 13.0.
    #[test]
    fn fields_lie_where_the_headers_have_them() {
        let kernel = [
            offset_of!(Kernel, registers),
            offset_of!(Kernel, start),
            offset_of!(Kernel, end),
            offset_of!(Kernel, context),
            offset_of!(Kernel, stream),
            offset_of!(Kernel, grid),
            offset_of!(Kernel, block),
            offset_of!(Kernel, static_shared),
            offset_of!(Kernel, dynamic_shared),
            offset_of!(Kernel, name),
        ];
        assert_eq!(kernel, [6, 16, 24, 44, 48, 52, 64, 76, 80, 104]);
        let transfer = [
            offset_of!(Transfer, copy_kind),
            offset_of!(Transfer, bytes),
            offset_of!(Transfer, start),
            offset_of!(Transfer, end),
            offset_of!(Transfer, context),
            offset_of!(Transfer, stream),
        ];
        assert_eq!(transfer, [4, 8, 16, 24, 36, 40]);
    }

    #[test]
    fn a_record_is_read_by_its_kind() {
        let mut record = Transfer {
            kind: MEMCPY,
            copy_kind: 2,
            detail: [0; 3],
            bytes: 4096,
            start: 7,
            end: 9,
            device: 0,
            context: 1,
            stream: 13,
            correlation: 0,
        };
        let work_of = |record: &Transfer| {
            // SAFETY: the record is as its kind says; of other kinds nothing more is read.
            unsafe { read((&raw const *record).cast()) }.map(|fields| fields.work)
        };
        let copy = |direction| {
            Some(Work::Copy {
                direction,
                bytes: 4096,
            })
        };
        assert_eq!(work_of(&record), copy(Direction::FromDevice));
        record.copy_kind = 1;
        assert_eq!(work_of(&record), copy(Direction::ToDevice));
        record.copy_kind = 8;
        assert_eq!(work_of(&record), copy(Direction::Other));
        record.kind = MEMSET;
        assert_eq!(work_of(&record), Some(Work::Fill { bytes: 4096 }));
        record.kind = 5;
        assert_eq!(work_of(&record), None);
    }
}
