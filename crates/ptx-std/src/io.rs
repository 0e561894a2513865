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
    let mut pieces = Pieces(Text::new());
    // Writing into memory does not fail; a `Display` that does has its say up to there.
    let _ = fmt::Write::write_fmt(&mut pieces, arguments);
    pieces.show();
}

/// Prints when it is full.
struct Pieces(Text<1024>);

impl Pieces {
    fn show(&mut self) {
        arch::print(&self.0.bytes[..=self.0.len]);
        self.0 = Text::new();
    }
}

impl fmt::Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while !rest.is_empty() {
            rest = &rest[self.0.push(rest)..];
            if !rest.is_empty() {
                self.show();
            }
        }
        Ok(())
    }
}

/// Text of up to `N` - 1 bytes and the 0 byte that ends it. Leaves out what does not fit.
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) fn new() -> Self {
        Text {
            bytes: [0; N],
            len: 0,
        }
    }

    #[cfg(target_arch = "nvptx64")]
    pub(crate) fn as_ptr(&self) -> *const core::ffi::c_char {
        self.bytes.as_ptr().cast()
    }

    /// Appends the characters that fit, and says how many bytes that was.
    fn push(&mut self, text: &str) -> usize {
        let fits = text.floor_char_boundary(N - 1 - self.len);
        for &byte in &text.as_bytes()[..fits] {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        fits
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}
