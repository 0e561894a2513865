//! The handlers of a panic. Which of the three, `CudaBuilder::panics` says: it leaves a record, it has the driver
//! write a message, or it is a trap, and then nothing comes here.

use core::intrinsics;
use core::panic::PanicInfo;

/// Whether it is the message. ptx-builder says so.
#[expect(unexpected_cfgs, reason = "only ptx-builder sets it")]
const MESSAGE: bool = cfg!(ptx_std_panics = "message");

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    if MESSAGE {
        message::say(info);
    } else {
        record::leave(info);
    }
    intrinsics::abort()
}

/// A record in memory of the host, which can still read it when the trap has ended all else.
///
/// This is the coldest code of any kernel, and ptx-builder puts it into each function that panics, since a
/// call would cost the kernel more registers than most have. So it uses few at a time.
mod record {
    use core::arch::asm;
    use core::panic::{Location, PanicInfo};

    use super::super::registers;

    /// The record that `cuda_loader::panic` reads.
    #[repr(C)]
    struct Record {
        /// 0 until all of it is written.
        complete: u32,
        block: [u32; 3],
        thread: [u32; 3],
        /// The kind of panic: ptx-builder knows it by the function that is called.
        kind: u32,
        /// Where the place lies: ptx-builder puts all of a module side by side.
        place: *const Location<'static>,
    }

    #[inline(always)]
    pub(super) fn leave(info: &PanicInfo<'_>) {
        let record = host();
        if record.is_null() {
            return;
        }
        if !is_first() {
            // The first one ends the grid.
            // SAFETY: the thread does nothing more.
            unsafe { asm!("exit;", options(noreturn, nostack)) }
        }
        let place = info
            .location()
            .map_or(core::ptr::null(), core::ptr::from_ref);
        macro_rules! write {
            ($($field:ident $([$index:literal])? = $value:expr;)*) => {$(
                // One after the other: no value is fetched before the last is written, so that all can
                // have one register. ptxas does not look beyond a loop.
                // SAFETY: the host keeps the record for as long as kernels run, and one thread has it.
                unsafe {
                    while (&raw const (*record).complete).read_volatile() != 0 {}
                    (&raw mut (*record).$field $([$index])?).write_volatile($value);
                }
            )*};
        }
        write! {
            place = place.cast();
            kind = kind();
            block[0] = registers::block_idx_x();
            block[1] = registers::block_idx_y();
            block[2] = registers::block_idx_z();
            thread[0] = registers::thread_idx_x();
            thread[1] = registers::thread_idx_y();
            thread[2] = registers::thread_idx_z();
        }
        // SAFETY: as above. A barrier for this thread's own writes.
        unsafe {
            asm!("membar.sys;", options(nostack, preserves_flags));
            (&raw mut (*record).complete).write_volatile(1);
            asm!("membar.sys;", options(nostack, preserves_flags));
        }
    }

    /// The record, or null where nobody asks for one. ptx-builder declares the variable.
    #[inline(always)]
    fn host() -> *mut Record {
        let record;
        // SAFETY: reads a variable.
        unsafe {
            asm!(
                "ld.volatile.global.b64 {record}, [__ptx_std_panic];",
                record = out(reg64) record,
                options(nostack, preserves_flags)
            );
        }
        record
    }

    /// Whether no other thread panicked before.
    #[inline(always)]
    fn is_first() -> bool {
        let others: u32;
        // SAFETY: a variable that only this changes.
        unsafe {
            asm!(
                "atom.relaxed.gpu.global.exch.b32 {others}, [__ptx_std_panic+8], 1;",
                others = out(reg32) others,
                options(nostack, preserves_flags)
            );
        }
        others == 0
    }

    /// ptx-builder writes it in place of the name.
    #[inline(always)]
    fn kind() -> u32 {
        let kind;
        // SAFETY: a number.
        unsafe {
            asm!(
                "mov.b32 {kind}, __ptx_std_panic_kind;",
                kind = out(reg32) kind,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        kind
    }
}

/// The driver's own way of failing: the host sees an error at its next call, and on standard error the
/// message with file, line, block and thread.
mod message {
    use core::fmt::Write;
    use core::panic::PanicInfo;

    use super::super::__assertfail;
    use crate::io::Text;

    pub(super) fn say(info: &PanicInfo<'_>) {
        let mut message = Text::<512>::new();
        let mut file = Text::<256>::new();
        // Neither fails: what does not fit is left out.
        let _ = write!(message, "{}", info.message());
        let line = info.location().map_or(0, |location| {
            let _ = file.write_str(location.file());
            location.line()
        });
        // SAFETY: three texts that end with a 0 byte, of characters of one byte.
        unsafe {
            __assertfail(message.as_ptr(), file.as_ptr(), line, c"kernel".as_ptr(), 1);
        }
    }
}
