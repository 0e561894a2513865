//! The instructions: for each number of columns and element type one from shared memory and one from registers.

use bytemuck::Zeroable;
use half::{bf16, f16};
use ptx_std_macros::gpu_only;

use super::{E4m3, E5m2, Element, Tf32};

/// How many columns an [`Accumulator`](super::Accumulator) has.
pub trait Shape: Sized {
    /// The columns.
    const COLUMNS: u32;
    /// The elements of one thread: half as many.
    type Registers<S: Zeroable + Copy>: Zeroable + Copy;

    /// No instruction, but one that the compiler takes to change every register.
    #[doc(hidden)]
    fn pin<S: Zeroable + Copy>(registers: &mut Self::Registers<S>);
}

/// A number of columns that products of `T` have.
pub trait Instruction<T: Element<Sum: Zeroable + Copy>>: Shape {
    /// Adds a product of operands in shared memory.
    ///
    /// # Safety
    /// As for [`InFlight::multiply`](super::InFlight::multiply), and the registers are not touched until it has
    /// been waited for.
    #[doc(hidden)]
    unsafe fn multiply_shared<const A: u8, const B: u8>(
        sums: &mut Self::Registers<T::Sum>,
        a: u64,
        b: u64,
        keep: u32,
    );

    /// Adds a product of registers and an operand in shared memory.
    ///
    /// # Safety
    /// As for [`Instruction::multiply_shared`].
    #[doc(hidden)]
    unsafe fn multiply_registers<const B: u8>(
        sums: &mut Self::Registers<T::Sum>,
        a: [u32; 4],
        b: u64,
        keep: u32,
    );
}

macro_rules! shapes {
    ($(
        $(#[$doc:meta])*
        $name:ident = $columns:literal, $registers:literal: $first:literal $($rest:literal)*;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Shape for $name {
            const COLUMNS: u32 = $columns;
            type Registers<S: Zeroable + Copy> = [S; $registers];

            #[gpu_only]
            #[inline(always)]
            fn pin<S: Zeroable + Copy>(registers: &mut [S; $registers]) {
                const { assert!(size_of::<S>() == 4, "a register has 4 bytes") };
                // SAFETY: a sum has the 4 bytes of an `f32`, of which any bits are one.
                let registers = unsafe { &mut *core::ptr::from_mut(registers).cast::<[f32; $registers]>() };
                // SAFETY: no instruction.
                unsafe {
                    core::arch::asm!(
                        concat!("// {", $first, "}", $(" {", $rest, "}",)*),
                        inout(reg32) registers[$first],
                        $(inout(reg32) registers[$rest],)*
                        options(nostack)
                    );
                }
            }
        }

        instructions! { $name $columns $registers [$first $($rest)*]
            bf16: "k16.f32.bf16.bf16", ", 1, 1", (", {ta}, {tb}"), (", {tb}");
            f16: "k16.f32.f16.f16", ", 1, 1", (", {ta}, {tb}"), (", {tb}");
            Tf32: "k8.f32.tf32.tf32", ", 1, 1", (" // {ta} {tb}"), (" // {tb}");
            E4m3: "k32.f32.e4m3.e4m3", ", 1, 1", (" // {ta} {tb}"), (" // {tb}");
            E5m2: "k32.f32.e5m2.e5m2", ", 1, 1", (" // {ta} {tb}"), (" // {tb}");
            i8: "k32.s32.s8.s8", "", (" // {ta} {tb}"), (" // {tb}");
        }
    )*};
}

macro_rules! instructions {
    ($name:ident $columns:literal $registers:literal $indices:tt
        $($element:ty: $types:literal, $scales:literal, ($both:literal), ($second:literal);)*
    ) => {$(
        instruction!(
            $name $columns $registers $indices $element, $types, $scales, $both, $second
        );
    )*};
}

macro_rules! instruction {
    ($name:ident $columns:literal $registers:literal [$first:literal $($rest:literal)*]
        $element:ty, $types:literal, $scales:literal, $both:literal, $second:literal
    ) => {
        impl Instruction<$element> for $name {
            #[gpu_only]
            #[inline(always)]
            unsafe fn multiply_shared<const A: u8, const B: u8>(
                sums: &mut [<$element as Element>::Sum; $registers],
                a: u64,
                b: u64,
                keep: u32,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    core::arch::asm!(
                        "{{",
                        ".reg .pred keep;",
                        "setp.ne.b32 keep, {keep}, 0;",
                        concat!(
                            "wgmma.mma_async.sync.aligned.m64n", $columns, $types,
                            " {{{", $first, "}", $(", {", $rest, "}",)*
                            "}}, {a}, {b}, keep", $scales, $both
                        ),
                        ";",
                        "}}",
                        inout(reg32) sums[$first],
                        $(inout(reg32) sums[$rest],)*
                        keep = in(reg32) keep,
                        a = in(reg64) a,
                        b = in(reg64) b,
                        ta = const A,
                        tb = const B,
                        options(nostack)
                    );
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn multiply_registers<const B: u8>(
                sums: &mut [<$element as Element>::Sum; $registers],
                a: [u32; 4],
                b: u64,
                keep: u32,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    core::arch::asm!(
                        "{{",
                        ".reg .pred keep;",
                        "setp.ne.b32 keep, {keep}, 0;",
                        concat!(
                            "wgmma.mma_async.sync.aligned.m64n", $columns, $types,
                            " {{{", $first, "}", $(", {", $rest, "}",)*
                            "}}, {{{a0}, {a1}, {a2}, {a3}}}, {b}, keep", $scales, $second
                        ),
                        ";",
                        "}}",
                        inout(reg32) sums[$first],
                        $(inout(reg32) sums[$rest],)*
                        keep = in(reg32) keep,
                        a0 = in(reg32) a[0],
                        a1 = in(reg32) a[1],
                        a2 = in(reg32) a[2],
                        a3 = in(reg32) a[3],
                        b = in(reg64) b,
                        tb = const B,
                        options(nostack)
                    );
                }
            }
        }
    };
}

shapes! {
    /// 8 columns.
    N8 = 8, 4: 0 1 2 3;
    /// 16 columns.
    N16 = 16, 8: 0 1 2 3 4 5 6 7;
    /// 32 columns.
    N32 = 32, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    /// 64 columns.
    N64 = 64, 32: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31;
    /// 96 columns.
    N96 = 96, 48: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47;
    /// 128 columns.
    N128 = 128, 64: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63;
    /// 192 columns.
    N192 = 192, 96: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95;
    /// 256 columns.
    N256 = 256, 128: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127;
}
