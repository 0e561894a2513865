//! The instructions of random programs: a row for each kind, with its class.
//!
//! `<a|b>` is one of these. `$r`, `$d`, `$h`, `$p` are registers of 32, 64, 16 bits and predicates that are read;
//! capitals are written, and those of one row are different registers. `$i` and `$j` are a register or a number of
//! 32 and 64 bits, `$k` a number up to 70, `$b` one of 8 bits. `$n` is as `$r`, but no float's: where an operand is wider than the
//! instruction's type, or a shift's count narrower, and a float instruction wrote its register, ptxas makes an integer of the
//! float at every level of optimisation (`add.f32 %r2, ..; st.b8 [..], %r2` is `FADD; F2I.U8.TRUNC; STG.E.U8`), though PTX ISA
//! 9.4.1 says that the bits are chopped. `;` separates instructions.
//!
//! The kernel's own registers: `%kt` the thread's index in the block, `%ks` and `%kg` 64 bytes of its own in shared and global
//! memory, `%kl` in local memory, `%kx` 16 bytes in shared memory that others read, `%kb` where those of thread 0 are. `%t`, `%u`,
//! `%v`, `%q` are for between the instructions of a row.

use super::Class;

/// Nature of a row, beside its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Any thread may execute it by itself, and a guard may stand before it.
    Free,
    /// As [`Nature::Free`], and the result is a float of 32 bits, which may be NaN.
    Float32,
    /// A float of 64 bits.
    Float64,
    /// `f16`.
    Float16,
    /// As [`Nature::Free`], but without a guard, which ptxas (CUDA 13.0, `sm_90`) gets wrong. Of a guarded `set` to `.f32` it
    /// guards the comparison and converts what the register then holds to `f32`, the old value too where the guard is false:
    /// `@P0 SEL R10, RZ, 0xffffffff, !P1; IABS R11, R10; I2FP.F32.S32 R11, R11`. Of `testp` it leaves the guard out:
    /// `@%p2 testp.finite.f32 %p1, %r1` is `LOP3.LUT R9, R9, 0x7fffffff, RZ, 0xc0, !PT; ISETP.GE.U32.AND P0, PT, R9, 0x7f800000, PT`.
    Unguarded,
    /// Bits of a NaN go to memory or to where no row tells them apart.
    Nan,
    /// All threads of the block execute it together.
    Together,
    /// Functions do not have it: it needs the kernel's own registers.
    Own,
}

use Class::{
    Approximate, Atomic, Bfloat, Bits, Bounded, Compare, Constant, Convert, Float, Half, Integer,
    Local, Match, Memory, Packed, Predicate, Reduce, Shared, Shuffle, Special, Video, Vote,
};
use Nature::{Float16, Float32, Float64, Free, Nan, Own, Together, Unguarded};

/// All rows.
pub(super) const ROWS: &[(Class, Nature, &str)] = &[
    (Integer, Free, "<add|sub>.<u|s>32 $R, $r, $i"),
    (Integer, Free, "<add|sub>.sat.s32 $R, $r, $i"),
    (Integer, Free, "<add|sub>.<u|s>64 $D, $d, $j"),
    (Integer, Free, "<add|sub>.<u|s>16 $H, $h, $h"),
    (Integer, Free, "mul.<lo|hi>.<u|s>32 $R, $r, $i"),
    (Integer, Free, "mul.<lo|hi>.<u|s>64 $D, $d, $j"),
    (Integer, Free, "mul.<lo|hi>.<u|s>16 $H, $h, $h"),
    (Integer, Free, "mul.wide.<u|s>32 $D, $r, $i"),
    (Integer, Free, "mul.wide.<u|s>16 $R, $h, $h"),
    (Integer, Free, "mul24.<lo|hi>.<u|s>32 $R, $r, $i"),
    (Integer, Free, "mad24.<lo|hi>.<u|s>32 $R, $r, $i, $r"),
    (Integer, Free, "mad24.hi.sat.s32 $R, $r, $r, $r"),
    (Integer, Free, "mad.<lo|hi>.<u|s>32 $R, $r, $i, $r"),
    (Integer, Free, "mad.hi.sat.s32 $R, $r, $r, $r"),
    (Integer, Free, "mad.<lo|hi>.<u|s>64 $D, $d, $j, $d"),
    (Integer, Free, "mad.<lo|hi>.<u|s>16 $H, $h, $h, $h"),
    (Integer, Free, "mad.wide.<u|s>32 $D, $r, $i, $d"),
    (Integer, Free, "mad.wide.<u|s>16 $R, $h, $h, $r"),
    (Integer, Free, "sad.<u|s>32 $R, $r, $i, $r"),
    (Integer, Free, "sad.<u|s>64 $D, $d, $d, $d"),
    (Integer, Free, "sad.<u|s>16 $H, $h, $h, $h"),
    (
        Integer,
        Free,
        "or.b32 %t0, $i, 1; <div|rem>.u32 $R, $r, %t0",
    ),
    (
        Integer,
        Free,
        "or.b32 %t0, $r, 1; shr.s32 %t1, $r, 1; <div|rem>.s32 $R, %t1, %t0",
    ),
    (
        Integer,
        Free,
        "or.b64 %u0, $j, 1; <div|rem>.u64 $D, $d, %u0",
    ),
    (
        Integer,
        Free,
        "or.b64 %u0, $d, 1; shr.s64 %u1, $d, 1; <div|rem>.s64 $D, %u1, %u0",
    ),
    (
        Integer,
        Free,
        "or.b16 %v0, $h, 1; <div|rem>.u16 $H, $h, %v0",
    ),
    (
        Integer,
        Free,
        "or.b16 %v0, $h, 1; shr.s16 %v1, $h, 1; <div|rem>.s16 $H, %v1, %v0",
    ),
    (
        Integer,
        Free,
        "<div|rem>.u32 $R, $r, <3|7|10|641|65537|0x80000001>",
    ),
    (Integer, Free, "<abs|neg>.s32 $R, $r"),
    (Integer, Free, "<abs|neg>.s64 $D, $d"),
    // Of -2^15 ptxas keeps 2^15 where the result is extended: `neg.s16; mul.wide.s16` has no extension between the two.
    (
        Integer,
        Free,
        "max.s16 %v0, $h, -32767; <abs|neg>.s16 $H, %v0",
    ),
    (Integer, Free, "<min|max>.<u|s>32 $R, $r, $i"),
    (Integer, Free, "<min|max>.<u|s>64 $D, $d, $j"),
    (Integer, Free, "<min|max>.<u|s>16 $H, $h, $h"),
    (Integer, Free, "<min|max>.relu.s32 $R, $r, $r"),
    (Bits, Free, "<and|or|xor>.b32 $R, $r, $i"),
    (Bits, Free, "<and|or|xor>.b64 $D, $d, $j"),
    (Bits, Free, "<and|or|xor>.b16 $H, $h, $h"),
    (Bits, Free, "<not|cnot>.b32 $R, $r"),
    (Bits, Free, "<not|cnot>.b64 $D, $d"),
    (Bits, Free, "<not|cnot>.b16 $H, $h"),
    (Bits, Free, "lop3.b32 $R, $r, $r, $r, $b"),
    (Bits, Free, "shf.<l|r>.<clamp|wrap>.b32 $R, $r, $r, <$r|$k>"),
    (Bits, Free, "<shl.b|shr.u|shr.s>32 $R, $r, <$r|$k>"),
    (Bits, Free, "<shl.b|shr.u|shr.s>64 $D, $d, <$n|$k>"),
    (Bits, Free, "<shl.b|shr.u|shr.s>16 $H, $h, <$r|$k>"),
    (Bits, Free, "<popc|clz>.b32 $R, $r"),
    (Bits, Free, "<popc|clz>.b64 $R, $d"),
    (Bits, Free, "brev.b32 $R, $r"),
    (Bits, Free, "brev.b64 $D, $d"),
    (Bits, Free, "bfind<|.shiftamt>.<u|s>32 $R, $r"),
    (Bits, Free, "bfind<|.shiftamt>.<u|s>64 $R, $d"),
    (
        Bits,
        Free,
        "and.b32 %t0, $r, 31; fns.b32 $R, $r, %t0, <-3|-1|0|1|2|5>",
    ),
    (Bits, Free, "bfe.u32 $R, $r, $k, $k"),
    // ptxas makes -1 of a `bfe.s32` whose position it knows and is 32 or more, whatever the sign is. It does not know `%kt`.
    (Bits, Free, "bfe.s32 $R, $r, <0|1|2|7|8|13|16|24|30|31>, $k"),
    (
        Bits,
        Own,
        "add.u32 %t0, $r, %kt; and.b32 %t0, %t0, 63; and.b32 %t1, $r, 255; bfe.<u|s>32 $R, $r, %t0, %t1",
    ),
    (Bits, Free, "bfe.<u|s>64 $D, $d, $k, $k"),
    (
        Bits,
        Free,
        "and.b32 %t0, $r, 255; and.b32 %t1, $r, 127; bfe.<u|s>64 $D, $d, %t0, %t1",
    ),
    // Of a length and a position that it knows ptxas takes the length modulo 32 (a mask of 12 ones for 44).
    (
        Bits,
        Free,
        "bfi.b32 $R, $r, $r, $k, <0|1|2|7|8|13|16|24|30|31>",
    ),
    (
        Bits,
        Own,
        "add.u32 %t0, $r, %kt; and.b32 %t0, %t0, 63; and.b32 %t1, $r, 63; bfi.b32 $R, $r, $r, %t0, %t1",
    ),
    (Bits, Free, "bfi.b64 $D, $d, $d, $k, $k"),
    (Bits, Free, "szext.<clamp|wrap>.<u|s>32 $R, $r, <$r|$k>"),
    (Bits, Free, "bmsk.<clamp|wrap>.b32 $R, <$r|$k>, <$r|$k>"),
    (Bits, Free, "prmt.b32 $R, $r, $r, $i"),
    (
        Bits,
        Free,
        "prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16> $R, $r, $r, $r",
    ),
    (Bits, Free, "mov.b64 $D, {$r, $r}"),
    (Bits, Free, "mov.b64 {$R, $R}, $d"),
    (Bits, Free, "mov.b32 $R, {$h, $h}"),
    (Bits, Free, "mov.b32 {$H, $H}, $r"),
    (Bits, Free, "mov.b64 $D, {$h, $h, $h, $h}"),
    (Bits, Free, "mov.b64 {$H, $H, $H, $H}, $d"),
    (Packed, Free, "<add|min|max>.<u|s>16x2 $R, $r, $r"),
    (Packed, Free, "<min|max>.relu.s16x2 $R, $r, $r"),
    (Packed, Free, "dp4a.<u|s>32.<u|s>32 $R, $r, $r, $r"),
    (Packed, Free, "dp2a.<lo|hi>.<u|s>32.<u|s>32 $R, $r, $r, $r"),
    (
        Video,
        Free,
        "v<add|sub|absdiff|min|max>.<u|s>32.<u|s>32.<u|s>32<|.sat> $R, $r<|.b0|.b3|.h0|.h1>, $r<|.b1|.b2|.h0|.h1>",
    ),
    (
        Video,
        Free,
        "v<add|sub|absdiff|min|max>.<u|s>32.<u|s>32.<u|s>32<|.sat>.<add|min|max> $R, $r<|.b0|.h1>, $r<|.b1|.h0>, $r",
    ),
    (
        Video,
        Free,
        "v<shl|shr>.<u|s>32.<u|s>32.u32<|.sat>.<clamp|wrap> $R, $r<|.b0|.h1>, $r",
    ),
    (
        Video,
        Free,
        "vmad.<u|s>32.<u|s>32.<u|s>32<|.sat><|.shr7|.shr15> $R, $r<|.b0|.h1>, $r<|.b1|.h0>, $r",
    ),
    (
        Video,
        Free,
        "vset.<u|s>32.<u|s>32.<eq|ne|lt|le|gt|ge> $R, $r<|.b0|.h1>, $r",
    ),
    (
        Video,
        Free,
        "v<add|sub|avrg|absdiff|min|max><2|4>.<u|s>32.<u|s>32.<u|s>32<|.sat> $R, $r, $r, $r",
    ),
    (
        Video,
        Free,
        "vset<2|4>.<u|s>32.<u|s>32.<eq|ne|lt|le|gt|ge> $R, $r, $r, $r",
    ),
    (
        Float,
        Float32,
        "<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 $R, $r, $r",
    ),
    (
        Float,
        Float32,
        "fma<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 $R, $r, $r, $r",
    ),
    (
        Float,
        Float32,
        "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f32 $R, $r, $r",
    ),
    (Float, Float32, "<abs|neg><|.ftz>.f32 $R, $r"),
    (Float, Float32, "div<.rn|.rz|.rm|.rp><|.ftz>.f32 $R, $r, $r"),
    (
        Float,
        Float32,
        "<rcp|sqrt><.rn|.rz|.rm|.rp><|.ftz>.f32 $R, $r",
    ),
    (Float, Float32, "copysign.f32 $R, $r, $r"),
    (
        Float,
        Unguarded,
        "testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 $P, $r",
    ),
    (
        Float,
        Float64,
        "<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 $D, $d, $d",
    ),
    (Float, Float64, "fma<.rn|.rz|.rm|.rp>.f64 $D, $d, $d, $d"),
    (Float, Float64, "<min|max>.f64 $D, $d, $d"),
    (Float, Float64, "<abs|neg>.f64 $D, $d"),
    (Float, Float64, "div<.rn|.rz|.rm|.rp>.f64 $D, $d, $d"),
    (Float, Float64, "<rcp|sqrt><.rn|.rz|.rm|.rp>.f64 $D, $d"),
    (Float, Float64, "copysign.f64 $D, $d, $d"),
    (
        Float,
        Unguarded,
        "testp.<finite|infinite|number|notanumber|normal|subnormal>.f64 $P, $d",
    ),
    (
        Half,
        Free,
        "<add|sub|mul><|.rn><|.ftz><|.sat>.f16 $H, $h, $h",
    ),
    (
        Half,
        Free,
        "<add|sub|mul><|.rn><|.ftz><|.sat>.f16x2 $R, $r, $r",
    ),
    (Half, Free, "fma.rn<|.ftz><|.sat|.relu>.f16 $H, $h, $h, $h"),
    (
        Half,
        Free,
        "fma.rn<|.ftz><|.sat|.relu>.f16x2 $R, $r, $r, $r",
    ),
    // Of an operand and itself ptxas makes a copy, which keeps a NaN's bits.
    (
        Half,
        Float16,
        "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16 $H, $h, $h",
    ),
    (
        Half,
        Free,
        "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16x2 $R, $r, $r",
    ),
    (Half, Nan, "<abs|neg><|.ftz>.f16 $H, $h"),
    (Half, Nan, "<abs|neg><|.ftz>.f16x2 $R, $r"),
    (Bfloat, Free, "<add|sub|mul>.rn.bf16 $H, $h, $h"),
    (Bfloat, Free, "<add|sub|mul>.rn.bf16x2 $R, $r, $r"),
    (Bfloat, Free, "fma.rn<|.relu>.bf16 $H, $h, $h, $h"),
    (Bfloat, Free, "fma.rn<|.relu>.bf16x2 $R, $r, $r, $r"),
    (
        Bfloat,
        Free,
        "<min|max><|.NaN><|.xorsign.abs>.bf16 $H, $h, $h",
    ),
    (
        Bfloat,
        Free,
        "<min|max><|.NaN><|.xorsign.abs>.bf16x2 $R, $r, $r",
    ),
    (Bfloat, Nan, "<abs|neg>.bf16x2 $R, $r"),
    (Compare, Free, "setp.<eq|ne|lt|le|gt|ge>.<u|s>32 $P, $r, $i"),
    (Compare, Free, "setp.<lo|ls|hi|hs>.u32 $P, $r, $i"),
    (Compare, Free, "setp.<eq|ne|lt|le|gt|ge>.<u|s>64 $P, $d, $j"),
    (Compare, Free, "setp.<eq|ne|lt|le|gt|ge>.<u|s>16 $P, $h, $h"),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<u|s>32 $P|$P, $r, $i, <|!>$p",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 $P, $r, $r",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.f64 $P|$P, $d, $d, $p",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16 $P, $h, $h",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16x2 $P|$P, $r, $r",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16 $P, $h, $h",
    ),
    (
        Compare,
        Free,
        "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16x2 $P|$P, $r, $r",
    ),
    (
        Compare,
        Free,
        "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.<u|s>32 $R, $r, $i",
    ),
    (
        Compare,
        Unguarded,
        "set.<eq|ne|lt|le|gt|ge>.f32.<u|s>32 $R, $r, $i",
    ),
    (
        Compare,
        Free,
        "set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.u32.s32 $R, $r, $r, <|!>$p",
    ),
    (
        Compare,
        Unguarded,
        "set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.f32.s32 $R, $r, $r, <|!>$p",
    ),
    (
        Compare,
        Free,
        "set.<eq|ne|lt|leu|gtu|ge|num|nan><|.ftz>.<u32|s32>.f32 $R, $r, $r",
    ),
    (
        Compare,
        Unguarded,
        "set.<eq|ne|lt|leu|gtu|ge|num|nan><|.ftz>.f32.f32 $R, $r, $r",
    ),
    (
        Compare,
        Free,
        "set.<eq|ne|lt|leu|gtu|ge|num|nan>.<u32|s32>.f64 $R, $d, $d",
    ),
    (
        Compare,
        Unguarded,
        "set.<eq|ne|lt|leu|gtu|ge|num|nan>.f32.f64 $R, $d, $d",
    ),
    (
        Compare,
        Free,
        "set.<eq|ne|lt|leu|gtu|ge|num|nan><|.ftz>.f16x2.f16x2 $R, $r, $r",
    ),
    (Compare, Free, "selp.b32 $R, $r, $i, $p"),
    (Compare, Free, "selp.b64 $D, $d, $j, $p"),
    (Compare, Free, "selp.b16 $H, $h, $h, $p"),
    (Compare, Free, "slct.b32.s32 $R, $r, $i, $r"),
    (Compare, Free, "slct<|.ftz>.b32.f32 $R, $r, $r, $r"),
    (Compare, Free, "slct.b64.<s|f>32 $D, $d, $d, $r"),
    (Predicate, Free, "<and|or|xor>.pred $P, $p, $p"),
    (Predicate, Free, "<not|mov>.pred $P, $p"),
    (Predicate, Free, "selp.b32 $R, 1, 0, $p"),
    (Convert, Free, "cvt.<u|s><8|16|32>.<u|s>32 $R, $r"),
    (Convert, Free, "cvt<|.sat>.<u|s><8|16|32>.<u|s>64 $R, $d"),
    (Convert, Free, "cvt.<u|s>64.<u|s><8|16|32> $D, $r"),
    (Convert, Free, "cvt<|.sat>.<u|s>16.<u|s>32 $H, $r"),
    (Convert, Free, "cvt.<u|s>32.<u|s><8|16> $R, $h"),
    (
        Convert,
        Free,
        "cvt.sat.<u8.u|s8.s|u8.s|s8.u|u16.s|s16.u|u16.u|s16.s|u32.s|s32.u>32 $R, $r",
    ),
    (Convert, Free, "cvt.sat.u64.s<8|16|32> $D, $r"),
    (Convert, Free, "cvt.sat.u32.s<8|16> $R, $h"),
    (Convert, Free, "cvt.pack.sat.<u|s>16.s32 $R, $r, $r"),
    (Convert, Free, "cvt.pack.sat.<u|s>8.s32.b32 $R, $r, $r, $r"),
    (
        Convert,
        Free,
        "cvt<.rn|.rz|.rm|.rp><|.sat>.f32.<u|s><8|16|32> $R, $r",
    ),
    (Convert, Free, "cvt<.rn|.rz|.rm|.rp>.f32.<u|s>64 $R, $d"),
    (
        Convert,
        Free,
        "cvt<.rn|.rz|.rm|.rp>.f64.<u|s><8|16|32> $D, $r",
    ),
    (Convert, Free, "cvt<.rn|.rz|.rm|.rp>.f64.<u|s>64 $D, $d"),
    (Convert, Free, "cvt<.rn|.rz|.rm|.rp>.f16.<u|s>32 $H, $r"),
    (Convert, Free, "cvt<.rn|.rz|.rm|.rp>.f16.<u|s>64 $H, $d"),
    (
        Convert,
        Free,
        "cvt<.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.<u|s><8|16|32>.f32 $R, $r",
    ),
    (
        Convert,
        Free,
        "cvt<.rni|.rzi|.rmi|.rpi><|.ftz>.<u|s>64.f32 $D, $r",
    ),
    (
        Convert,
        Free,
        "cvt<.rni|.rzi|.rmi|.rpi>.<u|s><8|16|32>.f64 $R, $d",
    ),
    (Convert, Free, "cvt<.rni|.rzi|.rmi|.rpi>.<u|s>64.f64 $D, $d"),
    (
        Convert,
        Free,
        "cvt<.rni|.rzi|.rmi|.rpi>.<u|s><8|16|32>.f16 $R, $h",
    ),
    (Convert, Free, "cvt<.rni|.rzi|.rmi|.rpi>.<u|s>64.f16 $D, $h"),
    (Convert, Float64, "cvt<|.ftz><|.sat>.f64.f32 $D, $r"),
    (
        Convert,
        Float32,
        "cvt<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32.f64 $R, $d",
    ),
    (
        Convert,
        Float32,
        "cvt<.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.f32.f32 $R, $r",
    ),
    (Convert, Float64, "cvt<.rni|.rzi|.rmi|.rpi>.f64.f64 $D, $d"),
    (Convert, Float32, "cvt<|.ftz><|.sat>.f32.f16 $R, $h"),
    (Convert, Float64, "cvt.f64.f16 $D, $h"),
    (
        Convert,
        Free,
        "cvt<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f16.f32 $H, $r",
    ),
    (Convert, Free, "cvt<.rn|.rz|.rm|.rp>.f16.f64 $H, $d"),
    (Convert, Free, "cvt<.rni|.rzi|.rmi|.rpi>.f16.f16 $H, $h"),
    (Convert, Float32, "cvt.f32.bf16 $R, $h"),
    (Convert, Free, "cvt.<rn|rz><|.relu>.bf16.f32 $H, $r"),
    (
        Convert,
        Free,
        "cvt.<rn|rz><|.relu>.<f16x2|bf16x2>.f32 $R, $r, $r",
    ),
    // Of a result that goes to memory as 8 bits ptxas makes an integer (`F2IP.U8.F32.TRUNC`) unless something is between.
    (
        Convert,
        Free,
        "cvt.<rna|rn|rz|rn.relu|rz.relu>.tf32.f32 %t0, $r; xor.b32 $R, %t0, 1",
    ),
    (
        Convert,
        Free,
        "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32 $H, $r, $r",
    ),
    (
        Convert,
        Free,
        "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2 $H, $r",
    ),
    (Convert, Free, "cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2> $R, $h"),
    (
        Shuffle,
        Together,
        "shfl.sync.<up|down|bfly|idx>.b32 $R|$P, $r, <$r|$k>, <0|31|0x1c1f|0x181f|0x1c00|0x100f|7>, 0xffffffff",
    ),
    // Segments of a power of two lanes: any others are an error to the checks.
    (
        Shuffle,
        Together,
        "and.b32 %t0, $r, 7; shl.b32 %t0, 0x1f00, %t0; and.b32 %t0, %t0, 0x1f00; and.b32 %t1, $r, 31; or.b32 %t0, %t0, %t1; \
         shfl.sync.<up|down|bfly|idx>.b32 $R|$P, $r, $r, %t0, 0xffffffff",
    ),
    (
        Vote,
        Together,
        "vote.sync.<all|any|uni>.pred $P, <|!>$p, 0xffffffff",
    ),
    (
        Vote,
        Together,
        "vote.sync.ballot.b32 $R, <|!>$p, 0xffffffff",
    ),
    (Vote, Together, "bar.red.popc.u32 $R, 0, <|!>$p"),
    (Vote, Together, "bar.red.<and|or>.pred $P, 0, <|!>$p"),
    (
        Match,
        Together,
        "and.b32 %t0, $r, <0|1|3|0x80000007|-1>; match.any.sync.b32 $R, %t0, 0xffffffff",
    ),
    (
        Match,
        Together,
        "and.b32 %t0, $r, <0|1|3>; match.all.sync.b32 $R|$P, %t0, 0xffffffff",
    ),
    (
        Match,
        Together,
        "and.b64 %u0, $d, <0|1|3|0x8000000000000001>; match.any.sync.b64 $R, %u0, 0xffffffff",
    ),
    (
        Match,
        Together,
        "and.b64 %u0, $d, <0|1|3>; match.all.sync.b64 $R|$P, %u0, 0xffffffff",
    ),
    (
        Reduce,
        Together,
        "redux.sync.<add|min|max>.<u|s>32 $R, $r, 0xffffffff",
    ),
    (
        Reduce,
        Together,
        "redux.sync.<and|or|xor>.b32 $R, $r, 0xffffffff",
    ),
    (
        Shared,
        Together,
        "st.shared.b32 [%kx], $r; bar.sync 0; xor.b32 %t0, %kt, <1|2|7|31|32|63>; shl.b32 %t0, %t0, 4; add.u32 %t0, %t0, %kb; ld.shared.b32 $R, [%t0]; bar.sync 0",
    ),
    (
        Shared,
        Together,
        "st.shared.v2.b64 [%kx], {$d, $d}; bar.sync 0; add.u32 %t0, %kt, <1|5|33>; and.b32 %t0, %t0, 63; shl.b32 %t0, %t0, 4; add.u32 %t0, %t0, %kb; ld.shared.v2.b64 {$D, $D}, [%t0]; bar.sync 0",
    ),
    (
        Shared,
        Together,
        "st.shared.b32 [%kx], <0|-1>; bar.sync 0; and.b32 %t0, %kt, <0|1|3>; shl.b32 %t0, %t0, 4; add.u32 %t0, %t0, %kb; red.shared.<add.u32|min.s32|max.u32|and.b32|or.b32|xor.b32> [%t0], $r; bar.sync 0; ld.shared.b32 $R, [%t0]; bar.sync 0",
    ),
    (
        Shared,
        Own,
        "st.shared.<b8|b16|b32> [%ks+<0|4|8|12|32|60>], $n",
    ),
    (Shared, Own, "ld.shared.<u8|s8> $R, [%ks+<0|1|2|3|7|13|63>]"),
    (
        Shared,
        Own,
        "ld.shared.<u16|s16|b16> $R, [%ks+<0|2|6|12|62>]",
    ),
    (
        Shared,
        Own,
        "ld.shared.<u32|s32|b32|f32> $R, [%ks+<0|4|8|60>]",
    ),
    (
        Shared,
        Own,
        "ld.shared.<u8|s8|u16|s16|u32|s32|b64> $D, [%ks+<0|8|16|32>]",
    ),
    (Shared, Own, "st.shared.v2.b32 [%ks+<0|8|16|24>], {$r, $r}"),
    (
        Shared,
        Own,
        "st.shared.v4.b32 [%ks+<0|16|32>], {$r, $r, $r, $r}",
    ),
    (
        Shared,
        Own,
        "ld.shared.v4.b32 {$R, $R, $R, $R}, [%ks+<0|16|32>]",
    ),
    (Shared, Own, "ld.shared.v2.b64 {$D, $D}, [%ks+<0|16|32>]"),
    (
        Shared,
        Own,
        "ld.shared.v4.<b16|u16|s16> {$H, $H, $H, $H}, [%ks+<0|8|16>]",
    ),
    (
        Shared,
        Own,
        "ld.shared.v4.<u8|s8> {$R, $R, $R, $R}, [%ks+<0|4|20>]",
    ),
    (
        Shared,
        Own,
        "cvt.u64.u32 %u0, %ks; cvta.shared.u64 %u0, %u0; st.b64 [%u0+<0|8>], $d; ld.v2.b32 {$R, $R}, [%u0+<0|8|16>]",
    ),
    (
        Local,
        Own,
        "and.b32 %t0, $r, 3; shl.b32 %t0, %t0, 4; cvt.u64.u32 %u0, %t0; add.u64 %u0, %u0, %kl; st.local.v4.b32 [%u0], {$r, $r, $r, $r}",
    ),
    (
        Local,
        Own,
        "and.b32 %t0, $r, 3; shl.b32 %t0, %t0, 4; cvt.u64.u32 %u0, %t0; add.u64 %u0, %u0, %kl; ld.local.v4.b32 {$R, $R, $R, $R}, [%u0]",
    ),
    (
        Local,
        Own,
        "st.local.<b8|b16|b32> [%kl+<0|4|28>], $n; ld.local.<b64|u8|s8|u16|s16|u32|s32> $D, [%kl+<0|8|24>]",
    ),
    (
        Local,
        Own,
        "cvta.local.u64 %u0, %kl; st.v2.b64 [%u0+<0|16|48>], {$d, $d}; ld.<b32|u8|s16> $R, [%u0+<0|4|20|60>]",
    ),
    (
        Memory,
        Own,
        "st.global<|.wb|.cg|.cs|.wt>.<b8|b16|b32> [%kg+<0|4|8|12|60>], $n",
    ),
    (
        Memory,
        Own,
        "ld.global<|.ca|.cg|.cs|.lu|.cv>.<u8|s8> $R, [%kg+<0|1|2|3|7|63>]",
    ),
    (Memory, Own, "ld.global.<u16|s16> $R, [%kg+<0|2|6|62>]"),
    (
        Memory,
        Own,
        "ld.global<|.ca|.cg|.cs>.<b64|u8|s8|u16|s16|u32|s32> $D, [%kg+<0|8|56>]",
    ),
    (
        Memory,
        Own,
        "st.global.v2.<b32|u32|f32> [%kg+<0|8|24>], {$r, $r}",
    ),
    (
        Memory,
        Own,
        "st.global.v4.<b32|f32> [%kg+<0|16|48>], {$r, $r, $r, $r}",
    ),
    (
        Memory,
        Own,
        "ld.global.v4.b32 {$R, $R, $R, $R}, [%kg+<0|16|48>]",
    ),
    (Memory, Own, "ld.global.v2.b64 {$D, $D}, [%kg+<0|16|48>]"),
    (
        Memory,
        Own,
        "ld.global.v2.<b16|u16> {$H, $H}, [%kg+<0|4|12>]",
    ),
    (Memory, Own, "ld.global.v2.<u8|s8> {$R, $R}, [%kg+<0|2|6>]"),
    (
        Memory,
        Own,
        "st.volatile.global.b32 [%kg], $r; ld.volatile.global.b64 $D, [%kg]",
    ),
    (
        Memory,
        Own,
        "cvta.global.u64 %u0, %kg; st.b16 [%u0+<0|2|8>], $h; ld.b32 $R, [%u0+<0|4|8>]",
    ),
    (
        Constant,
        Own,
        "and.b32 %t0, $r, 15; shl.b32 %t0, %t0, 2; cvt.u64.u32 %u0, %t0; mov.u64 %u1, table; add.u64 %u0, %u0, %u1; ld.const.<b32|u8|s16> $R, [%u0]",
    ),
    (Constant, Own, "ld.const.v2.b64 {$D, $D}, [table+<0|16|48>]"),
    (
        Atomic,
        Own,
        "atom.shared.<add.u32|add.s32|min.u32|min.s32|max.u32|max.s32|inc.u32|dec.u32|and.b32|or.b32|xor.b32|exch.b32> $R, [%ks+<0|4>], $r",
    ),
    (Atomic, Own, "atom.shared.cas.b32 $R, [%ks], <0|$r>, $r"),
    (
        Atomic,
        Own,
        "atom.shared.<add.u64|min.u64|min.s64|max.u64|max.s64|and.b64|or.b64|xor.b64|exch.b64> $D, [%ks+<8|16>], $d",
    ),
    (
        Atomic,
        Own,
        "red.shared.<add.u32|inc.u32|max.s32> [%ks+8], $r",
    ),
    (
        Atomic,
        Own,
        "atom.global.<add.u32|min.s32|max.u32|inc.u32|dec.u32|and.b32|or.b32|xor.b32|exch.b32> $R, [%kg+<0|4>], $r",
    ),
    (
        Atomic,
        Own,
        "atom.global.<add.u64|min.u64|max.s64|xor.b64|exch.b64> $D, [%kg+8], $d",
    ),
    (Atomic, Own, "atom.global.cas.b64 $D, [%kg+8], <0|$d>, $d"),
    (Atomic, Own, "atom.global.cas.b16 $H, [%kg+2], $h, $h"),
    (
        Atomic,
        Nan,
        "atom.<shared.add.f32 $R, [%ks]|global.add.f32 $R, [%kg]>, $r",
    ),
    (
        Atomic,
        Nan,
        "atom.<shared.add.f64 $D, [%ks]|global.add.f64 $D, [%kg]>, $d",
    ),
    (
        Atomic,
        Nan,
        "atom.global.add.noftz.<f16x2|bf16x2> $R, [%kg+12], $r",
    ),
    (
        Special,
        Free,
        "mov.u32 $R, %<tid.x|tid.y|ntid.x|ntid.z|ctaid.x|ctaid.y|nctaid.x|nctaid.y|laneid>",
    ),
    (Special, Free, "mov.u32 $R, %lanemask_<eq|lt|le|gt|ge>"),
    (Special, Free, "mov.u32 $R, WARP_SZ"),
    (
        Approximate,
        Float32,
        "<ex2|lg2|rcp|rsqrt|sqrt>.approx<|.ftz>.f32 $R, $r",
    ),
    (Bounded, Float32, "<sin|cos>.approx<|.ftz>.f32 $R, $r"),
    (Bounded, Float32, "tanh.approx.f32 $R, $r"),
    (Bounded, Free, "tanh.approx.f16 $H, $h"),
    (Bounded, Free, "tanh.approx.<f16x2|bf16x2> $R, $r"),
    (
        Approximate,
        Float32,
        "div.<approx|full><|.ftz>.f32 $R, $r, $r",
    ),
    (Approximate, Float64, "<rcp|rsqrt>.approx.ftz.f64 $D, $d"),
    (Approximate, Free, "ex2.approx.f16 $H, $h"),
    (Approximate, Free, "ex2.approx.f16x2 $R, $r"),
    (Approximate, Free, "ex2.approx.ftz.bf16x2 $R, $r"),
];
