//! The GPU's own instructions, through LLVM's intrinsics.
//!
//! Barriers, shuffles, votes and matches go through intrinsics and never through `asm!`, which is
//! not `convergent`: the compiler may copy it into both arms of a branch.

pub(crate) mod async_copy;
pub(crate) mod atomic;
pub(crate) mod float;
pub(crate) mod intrinsics;
mod memory;
pub(crate) mod misc;
pub(crate) mod packed;
pub(crate) mod ptr;
mod registers;
mod warp;

use core::fmt::Write;
use core::intrinsics::abort;

pub(crate) use memory::*;
pub use memory::{__assertfail, vprintf};
pub(crate) use registers::*;
pub(crate) use warp::*;

/// Says what happened where, by the driver's own way of failing: the host sees an error at its next
/// call, and on standard error the message with file, line, block and thread.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let mut message = crate::io::Text::<512>::new();
    let mut file = crate::io::Text::<256>::new();
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
    abort()
}
