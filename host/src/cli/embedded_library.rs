//! Shared libraries that are inside of this program: they are found without a search, whichever way the program was
//! installed.
//!
//! Cargo builds a library beside this package's dependencies, because this package depends on it. The assembler puts the
//! file in, and not `include_bytes!`: nothing is built where code is only checked, and then there is no file. rustc does not know of
//! that file, so that this package is not compiled incrementally (`Cargo.toml`).

/// Defines a function that returns the bytes of the library with this crate's name.
macro_rules! embedded_library {
    ($(#[$docs:meta])* $visibility:vis fn $function:ident() = $library:literal, $start:ident, $end:ident) => {
        core::arch::global_asm!(
            concat!(".pushsection .rodata.", $library, ",\"a\""),
            concat!(".globl ", stringify!($start)),
            concat!(".hidden ", stringify!($start)),
            concat!(stringify!($start), ":"),
            concat!(".incbin \"", env!("OUT_DIR"), "/../../../deps/lib", $library, ".so\""),
            concat!(".globl ", stringify!($end)),
            concat!(".hidden ", stringify!($end)),
            concat!(stringify!($end), ":"),
            ".byte 0",
            ".popsection",
        );

        unsafe extern "C" {
            static $start: u8;
            static $end: u8;
        }

        $(#[$docs])*
        $visibility fn $function() -> &'static [u8] {
            let (start, end) = (&raw const $start, &raw const $end);
            // SAFETY: the assembler has put the file between the two symbols, above, where nothing is written.
            unsafe { std::slice::from_raw_parts(start, end.addr() - start.addr()) }
        }
    };
}

embedded_library! {
    /// The emulated driver, as `libcuda.so.1`.
    pub(super) fn emulated_driver() = "ridgepoint_libcuda", ridgepoint_libcuda_start, ridgepoint_libcuda_end
}

embedded_library! {
    /// The CUDA runtime over the driver, for programs of nvcc.
    pub(super) fn runtime() = "ridgepoint_libcudart", ridgepoint_libcudart_start, ridgepoint_libcudart_end
}

embedded_library! {
    /// The library that NVIDIA's driver loads into a program that is recorded.
    pub(super) fn injection() = "ridgepoint_injection", ridgepoint_injection_start, ridgepoint_injection_end
}
