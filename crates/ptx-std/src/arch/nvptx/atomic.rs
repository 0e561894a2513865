//! Atomic operations, each one instruction of the PTX memory model.
//!
//! The addresses are generic: no state space is named. ptx-builder names it where it knows it. Inline assembly without `nomem` is a
//! compiler barrier, so the compiler moves no memory access across any of these.
//!
//! A sequentially consistent operation is `fence.sc` and the operation with acquire semantics: the
//! fence does the releasing. This is the mapping that NVIDIA proved (Lustig, Sahasrabuddhe and
//! Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS 2019).

use core::arch::asm;
use core::sync::atomic::Ordering;

macro_rules! scopes {
    ($($module:ident = $scope:literal;)*) => {$(
        pub(crate) mod $module {
            use super::*;

            #[inline(always)]
            pub(crate) fn fence(ordering: Ordering) {
                // SAFETY: a fence accesses no memory.
                unsafe {
                    match ordering {
                        Ordering::Relaxed => {}
                        Ordering::Acquire | Ordering::Release | Ordering::AcqRel => {
                            asm!(concat!("fence.acq_rel.", $scope, ";"), options(nostack));
                        }
                        _ => asm!(concat!("fence.sc.", $scope, ";"), options(nostack)),
                    }
                }
            }

            access!($scope load_32 store_32 u32 reg32 "b32");
            access!($scope load_64 store_64 u64 reg64 "b64");

            pub(crate) mod u32 {
                use super::*;
                read_modify_write! { $scope u32 reg32
                    add = "add.u32" (value);
                    inc = "inc.u32" (limit);
                    dec = "dec.u32" (limit);
                    min = "min.u32" (value);
                    max = "max.u32" (value);
                    and = "and.b32" (value);
                    or = "or.b32" (value);
                    xor = "xor.b32" (value);
                    exch = "exch.b32" (value);
                    compare_and_swap = "cas.b32" (current, new);
                }
            }

            pub(crate) mod u64 {
                use super::*;
                read_modify_write! { $scope u64 reg64
                    add = "add.u64" (value);
                    min = "min.u64" (value);
                    max = "max.u64" (value);
                    and = "and.b64" (value);
                    or = "or.b64" (value);
                    xor = "xor.b64" (value);
                    exch = "exch.b64" (value);
                    compare_and_swap = "cas.b64" (current, new);
                }
            }

            pub(crate) mod i32 {
                use super::*;
                read_modify_write! { $scope i32 reg32
                    min = "min.s32" (value);
                    max = "max.s32" (value);
                }
            }

            pub(crate) mod i64 {
                use super::*;
                read_modify_write! { $scope i64 reg64
                    min = "min.s64" (value);
                    max = "max.s64" (value);
                }
            }

            pub(crate) mod f32 {
                use super::*;
                read_modify_write! { $scope f32 reg32
                    add = "add.f32" (value);
                }
            }

            pub(crate) mod f64 {
                use super::*;
                read_modify_write! { $scope f64 reg64
                    add = "add.f64" (value);
                }
            }
        }
    )*};
}

macro_rules! access {
    ($scope:literal $load:ident $store:ident $bits:ident $class:ident $width:literal) => {
        /// # Safety
        /// The pointer is valid for atomic reads.
        #[inline(always)]
        pub(crate) unsafe fn $load(pointer: *mut $bits, ordering: Ordering) -> $bits {
            macro_rules! load {
                ($semantics:literal) => {{
                    let value;
                    // SAFETY: the caller vouches for the pointer.
                    unsafe {
                        asm!(
                            concat!("ld.", $semantics, ".", $scope, ".", $width, " {}, [{}];"),
                            out($class) value,
                            in(reg64) pointer,
                            options(nostack)
                        );
                    }
                    value
                }};
            }
            match ordering {
                Ordering::Relaxed => load!("relaxed"),
                Ordering::Acquire => load!("acquire"),
                Ordering::Release | Ordering::AcqRel => panic!("there is no such atomic load"),
                _ => {
                    fence(ordering);
                    load!("acquire")
                }
            }
        }

        /// # Safety
        /// The pointer is valid for atomic writes.
        #[inline(always)]
        pub(crate) unsafe fn $store(pointer: *mut $bits, ordering: Ordering, value: $bits) {
            macro_rules! store {
                ($semantics:literal) => {
                    // SAFETY: the caller vouches for the pointer.
                    unsafe {
                        asm!(
                            concat!("st.", $semantics, ".", $scope, ".", $width, " [{}], {};"),
                            in(reg64) pointer,
                            in($class) value,
                            options(nostack)
                        )
                    }
                };
            }
            match ordering {
                Ordering::Relaxed => store!("relaxed"),
                Ordering::Release => store!("release"),
                Ordering::Acquire | Ordering::AcqRel => panic!("there is no such atomic store"),
                _ => {
                    fence(ordering);
                    store!("relaxed");
                }
            }
        }
    };
}

/// Functions that are one `atom` instruction whatever the ordering.
macro_rules! read_modify_write {
    ($scope:literal $type:ident $class:ident) => {};
    (
        $scope:literal $type:ident $class:ident
        $name:ident = $instruction:literal ($($operand:ident),*);
        $($rest:tt)*
    ) => {
        /// # Safety
        /// The pointer is valid for atomic reads and writes.
        #[inline(always)]
        pub(crate) unsafe fn $name(
            pointer: *mut $type,
            ordering: Ordering,
            $($operand: $type),*
        ) -> $type {
            macro_rules! atom {
                ($semantics:literal) => {{
                    let old;
                    // SAFETY: the caller vouches for the pointer.
                    unsafe {
                        asm!(
                            concat!(
                                "atom.", $semantics, ".", $scope, ".", $instruction,
                                " {old}, [{pointer}]", $(", {", stringify!($operand), "}",)* ";"
                            ),
                            old = out($class) old,
                            pointer = in(reg64) pointer,
                            $($operand = in($class) $operand,)*
                            options(nostack)
                        );
                    }
                    old
                }};
            }
            match ordering {
                Ordering::Relaxed => atom!("relaxed"),
                Ordering::Acquire => atom!("acquire"),
                Ordering::Release => atom!("release"),
                Ordering::AcqRel => atom!("acq_rel"),
                _ => {
                    fence(ordering);
                    atom!("acquire")
                }
            }
        }

        read_modify_write! { $scope $type $class $($rest)* }
    };
}

scopes! {
    block = "cta";
    device = "gpu";
    system = "sys";
}
