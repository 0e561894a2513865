//! Address spaces, by the instructions that know them.

use core::arch::asm;

use crate::ptr::AddressSpace;

macro_rules! by_space {
    ($space:expr, $instruction:ident) => {
        match $space {
            AddressSpace::Global => $instruction!("global"),
            AddressSpace::Shared => $instruction!("shared"),
            AddressSpace::Constant => $instruction!("const"),
            AddressSpace::Local => $instruction!("local"),
        }
    };
}

#[inline(always)]
pub(crate) fn is_in(pointer: *const u8, space: AddressSpace) -> bool {
    let answer: u32;
    macro_rules! isspacep {
        ($space:literal) => {
            // SAFETY: the address is looked at, not what is there.
            unsafe {
                asm!(
                    "{{",
                    ".reg .pred inside;",
                    concat!("isspacep.", $space, " inside, {pointer};"),
                    "selp.u32 {answer}, 1, 0, inside;",
                    "}}",
                    pointer = in(reg64) pointer,
                    answer = out(reg32) answer,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
        };
    }
    by_space!(space, isspacep);
    answer != 0
}

macro_rules! conversion {
    ($name:ident $prefix:literal) => {
        #[inline(always)]
        pub(crate) fn $name(pointer: *const u8, space: AddressSpace) -> *const u8 {
            let converted;
            macro_rules! cvta {
                                        ($space:literal) => {
                                            // SAFETY: the address is converted; nothing there is accessed.
                                            unsafe {
                                                asm!(
                                                    concat!($prefix, $space, ".u64 {}, {};"),
                                                    out(reg64) converted,
                                                    in(reg64) pointer,
                                                    options(pure, nomem, nostack, preserves_flags)
                                                )
                                            }
                                        };
                                    }
            by_space!(space, cvta);
            converted
        }
    };
}

conversion!(to_specific "cvta.to.");
conversion!(to_generic "cvta.");
