//! Printing from kernels. The host shows it when it next synchronises with the GPU; the emulator
//! at once.
//!
//! [`print!`](crate::print) and [`println!`](crate::println) do without formats of C. The driver's own function
//! is there on the GPU alone:
//!
//! ```
//! use cuda_std::gpu_only;
//!
//! #[gpu_only]
//! pub fn print_pair(x: u32, y: f64) {
//!     #[repr(C)]
//!     struct Pair(u32, f64);
//!     let pair = Pair(x, y);
//!     // SAFETY: the format takes what the structure has.
//!     unsafe { cuda_std::io::vprintf(c"%u: %f\n".as_ptr(), (&raw const pair).cast()) };
//! }
//! # let _ = print_pair;
//! ```

use core::fmt;

use crate::arch;

#[cfg(target_arch = "nvptx64")]
pub use arch::{__assertfail, vprintf};

/// Prints as std's `print!` does. One call is one piece of output, whatever other threads print,
/// up to 1023 bytes; longer text comes in several pieces.
///
/// ```
/// use cuda_std::{print, println, thread};
/// # let text = std::cell::RefCell::new(String::new());
///
/// let kernel = || {
///     if thread::first() {
///         print!("{} threads,", thread::grid_threads());
///         println!(" {} per block", thread::block_threads());
///         println!();
///     }
/// };
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).print(&|piece| text.borrow_mut().push_str(piece)).run(&kernel)?;
/// # assert_eq!(text.into_inner(), "64 threads, 32 per block\n\n");
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::print_arguments(::core::format_args!($($argument)*))
    };
}

/// Prints as std's `println!` does. See [`print!`](crate::print), which has an example.
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
        if let Some(text) = self.0.bytes.get(..=self.0.len) {
            arch::print(text);
        }
        self.0 = Text::new();
    }
}

impl fmt::Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.get(self.0.push(rest)..).unwrap_or_default();
            if !rest.is_empty() {
                self.show();
            }
        }
        Ok(())
    }
}

/// Text of up to `N` - 1 bytes and the 0 byte that ends it. Leaves out what does not fit. Without
/// checks that panic: a panic would print in turn.
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
        let free = self.bytes.get_mut(self.len..N - 1).unwrap_or_default();
        let fits = text.floor_char_boundary(free.len());
        for (byte, to) in text.bytes().take(fits).zip(free) {
            *to = byte;
        }
        self.len += fits;
        fits
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}
