//! Printing from kernels. The host shows it when it next synchronises with the GPU; the emulator
//! at once.

use core::fmt;

use crate::arch;

#[cfg(target_arch = "nvptx64")]
pub use arch::{__assertfail, vprintf};

/// Prints as std's `print!` does. One call is one piece of output, whatever other threads print,
/// up to 1023 bytes; longer text comes in several pieces.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::print_arguments(::core::format_args!($($argument)*))
    };
}

/// Prints as std's `println!` does. See [`print!`](crate::print).
#[macro_export]
macro_rules! println {
    () => {
        $crate::print!("\n")
    };
    ($($argument:tt)*) => {
        $crate::print!("{}\n", ::core::format_args!($($argument)*))
    };
}

#[doc(hidden)]
pub fn print_arguments(arguments: fmt::Arguments<'_>) {
    let mut pieces = Pieces {
        bytes: [0; PIECE],
        len: 0,
    };
    // Writing into memory does not fail; a `Display` that does has its say up to there.
    let _ = fmt::Write::write_fmt(&mut pieces, arguments);
    pieces.show();
}

const PIECE: usize = 1024;

/// Text under way, always with room for the 0 byte that ends it.
struct Pieces {
    bytes: [u8; PIECE],
    len: usize,
}

impl Pieces {
    fn show(&mut self) {
        self.bytes[self.len] = 0;
        arch::print(&self.bytes[..=self.len]);
        self.len = 0;
    }
}

impl fmt::Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.len == PIECE - 1 {
                self.show();
            }
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        Ok(())
    }
}
