//! The emulated driver's shared library, which is inside of this program: it is found without a search, whichever way the
//! program was installed.
//!
//! Cargo builds the library beside this package's dependencies, because this package depends on it. The assembler puts the
//! file in, and not `include_bytes!`: nothing is built where code is only checked, and then there is no file.

use std::slice;

core::arch::global_asm!(
    ".pushsection .rodata.ridgepoint_libcuda,\"a\"",
    ".globl ridgepoint_libcuda_start",
    ".hidden ridgepoint_libcuda_start",
    "ridgepoint_libcuda_start:",
    concat!(
        ".incbin \"",
        env!("OUT_DIR"),
        "/../../../deps/libridgepoint_libcuda.so\""
    ),
    ".globl ridgepoint_libcuda_end",
    ".hidden ridgepoint_libcuda_end",
    "ridgepoint_libcuda_end:",
    ".byte 0",
    ".popsection",
);

unsafe extern "C" {
    static ridgepoint_libcuda_start: u8;
    static ridgepoint_libcuda_end: u8;
}

/// The bytes of the library.
pub(super) fn bytes() -> &'static [u8] {
    let (start, end) = (
        &raw const ridgepoint_libcuda_start,
        &raw const ridgepoint_libcuda_end,
    );
    // SAFETY: the assembler has put the file between the two symbols, above, where nothing is written.
    unsafe { slice::from_raw_parts(start, end.addr() - start.addr()) }
}
