//! Instructions that round in a given direction, and others that no operator of Rust stands for.
//!
//! A rounding in the instruction's name also keeps `ptxas` from contracting it.

use core::arch::asm;

macro_rules! instruction {
    (
        $name:ident($($x:ident: $ty:ty = $register:ident),*) -> $result:ty = $out:ident:
        $($mnemonic:literal)+
    ) => {
        #[inline(always)]
        pub(crate) fn $name($($x: $ty),*) -> $result {
            let result;
            // SAFETY: the instruction computes one register from others.
            unsafe {
                asm!(
                    concat!($($mnemonic,)+ " {result}", $(", {", stringify!($x), "}",)* ";"),
                    result = out($out) result,
                    $($x = in($register) $x,)*
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    };
}

/// An instruction for each rounding, whose letter stands between the two parts of the mnemonic.
macro_rules! rounded {
    ($(
        $name:ident($($x:ident: $ty:ty = $register:ident),*) -> $result:ty = $out:ident:
        $operation:literal $types:literal;
    )*) => { pastey::paste! {$(
        instruction!([<$name _rn>]($($x: $ty = $register),*) -> $result = $out: $operation "n" $types);
        instruction!([<$name _rz>]($($x: $ty = $register),*) -> $result = $out: $operation "z" $types);
        instruction!([<$name _rd>]($($x: $ty = $register),*) -> $result = $out: $operation "m" $types);
        instruction!([<$name _ru>]($($x: $ty = $register),*) -> $result = $out: $operation "p" $types);
    )*}};
}

rounded! {
    fadd(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "add.r" ".f32";
    fsub(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "sub.r" ".f32";
    fmul(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "mul.r" ".f32";
    fdiv(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "div.r" ".f32";
    frcp(x: f32 = reg32) -> f32 = reg32: "rcp.r" ".f32";
    fsqrt(x: f32 = reg32) -> f32 = reg32: "sqrt.r" ".f32";
    fmaf(x: f32 = reg32, y: f32 = reg32, z: f32 = reg32) -> f32 = reg32: "fma.r" ".f32";
    dadd(x: f64 = reg64, y: f64 = reg64) -> f64 = reg64: "add.r" ".f64";
    dmul(x: f64 = reg64, y: f64 = reg64) -> f64 = reg64: "mul.r" ".f64";
    ddiv(x: f64 = reg64, y: f64 = reg64) -> f64 = reg64: "div.r" ".f64";
    drcp(x: f64 = reg64) -> f64 = reg64: "rcp.r" ".f64";
    dsqrt(x: f64 = reg64) -> f64 = reg64: "sqrt.r" ".f64";
    fma(x: f64 = reg64, y: f64 = reg64, z: f64 = reg64) -> f64 = reg64: "fma.r" ".f64";

    double2float(x: f64 = reg64) -> f32 = reg32: "cvt.r" ".f32.f64";
    int2float(x: i32 = reg32) -> f32 = reg32: "cvt.r" ".f32.s32";
    uint2float(x: i32 = reg32) -> f32 = reg32: "cvt.r" ".f32.u32";
    ll2float(x: i64 = reg64) -> f32 = reg32: "cvt.r" ".f32.s64";
    ull2float(x: i64 = reg64) -> f32 = reg32: "cvt.r" ".f32.u64";
    ll2double(x: i64 = reg64) -> f64 = reg64: "cvt.r" ".f64.s64";
    ull2double(x: i64 = reg64) -> f64 = reg64: "cvt.r" ".f64.u64";

    float2int(x: f32 = reg32) -> i32 = reg32: "cvt.r" "i.s32.f32";
    float2uint(x: f32 = reg32) -> i32 = reg32: "cvt.r" "i.u32.f32";
    float2ll(x: f32 = reg32) -> i64 = reg64: "cvt.r" "i.s64.f32";
    float2ull(x: f32 = reg32) -> i64 = reg64: "cvt.r" "i.u64.f32";
    double2int(x: f64 = reg64) -> i32 = reg32: "cvt.r" "i.s32.f64";
    double2uint(x: f64 = reg64) -> i32 = reg32: "cvt.r" "i.u32.f64";
    double2ll(x: f64 = reg64) -> i64 = reg64: "cvt.r" "i.s64.f64";
    double2ull(x: f64 = reg64) -> i64 = reg64: "cvt.r" "i.u64.f64";
}

instruction!(fmaxf(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "max.f32");
instruction!(fminf(x: f32 = reg32, y: f32 = reg32) -> f32 = reg32: "min.f32");
instruction!(fmax(x: f64 = reg64, y: f64 = reg64) -> f64 = reg64: "max.f64");
instruction!(fmin(x: f64 = reg64, y: f64 = reg64) -> f64 = reg64: "min.f64");

instruction!(byte_perm(x: i32 = reg32, y: i32 = reg32, z: i32 = reg32) -> i32 = reg32: "prmt.b32");
