//! The functions beside an H200: `hardware.txt`, made by `hardware.py`, has, for each instruction, the types of its result and its operands
//! and a digest of the GPU's results for 65536 tuples of operands, which are made here as they were there.
//!
//! Types: `w` and `d` are registers of 32 and 64 bits, `h` of 16, `p` a predicate; of operands `f`, `d`, `h`, `i`, `s`, `l` name
//! the first lines, values at which something changes; `H` is every value of 16 bits.
//!
//! Left out are approximations, `fns` of the least offset, `bfe` and `bfi` of 64 bits with operands beyond 255, where the
//! GPU's results are not the ISA's, and `cvt.rna.satfinite.tf32`, which makes finite numbers of some NaN there.

use std::collections::BTreeMap;

use super::super::bits::{self, Excess::*, Permutation};
use super::super::float::{self, Class, Rounding::*};
use super::super::half::{self, Bf16, F16, Half};
use super::super::integer;
use super::super::{atomic, compare, convert, fp8};

const COUNT: u64 = 65536;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

type Case = fn([u64; 4]) -> u64;

/// SplitMix64's.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An operand: a listed value, one with other lower bits, or any.
fn operand(edges: &BTreeMap<char, Vec<u64>>, ty: char, i: u64, place: u64) -> u64 {
    if ty == 'H' {
        return i;
    }
    let choice = mix((4 * i + place + 1).wrapping_mul(GOLDEN));
    let random = mix(choice.wrapping_add(GOLDEN));
    let edge = edges[&ty][(choice >> 8) as usize % edges[&ty].len()];
    let (all, lower) = match ty {
        'f' => (u64::from(u32::MAX), (1 << 23) - 1),
        'd' => (u64::MAX, (1 << 52) - 1),
        'h' => (0xffff, 0x3ff),
        'i' => (u64::from(u32::MAX), 0xff),
        's' => (0xffff, 0xf),
        _ => (u64::MAX, 0xff),
    };
    match choice & 3 {
        0 => random & all,
        3 => edge ^ random & lower,
        _ => edge,
    }
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

fn h(x: u64) -> u16 {
    x as u16
}

fn w(x: u64) -> u32 {
    x as u32
}

fn s(x: u64) -> i32 {
    x as i32
}

/// The bits of a result.
trait Bits {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty: |$x:ident| $bits:expr;)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
        }
    )*};
}

bits! {
    f32: |x| x.to_bits().into();
    f64: |x| x.to_bits();
    u8: |x| x.into();
    i8: |x| u64::from(i16::from(x).cast_unsigned());
    u16: |x| x.into();
    i16: |x| x.cast_unsigned().into();
    u32: |x| x.into();
    i32: |x| x.cast_unsigned().into();
    u64: |x| x;
    i64: |x| x.cast_unsigned();
    bool: |x| x.into();
}

/// `.ftz` of a function of `f32`.
fn ftz<const N: usize>(operands: [u64; N], function: impl Fn([f32; N]) -> f32) -> f32 {
    float::flush(function(operands.map(|x| float::flush(f(x)))))
}

/// `.ftz` of a function of `f16`.
fn ftz16<const N: usize>(operands: [u64; N], function: impl Fn([u16; N]) -> u16) -> u16 {
    half::flush::<F16>(function(operands.map(|x| half::flush::<F16>(h(x)))))
}

fn upper_and_lower(upper: u16, lower: u16) -> u32 {
    u32::from(upper) << 16 | u32::from(lower)
}

fn all_ones(holds: bool) -> u32 {
    u32::from(holds).wrapping_neg()
}

fn f16(x: u64) -> f32 {
    convert::f32_from_half::<F16>(h(x))
}

fn bf16(x: u64) -> f32 {
    convert::f32_from_half::<Bf16>(h(x))
}

macro_rules! cases {
    ($($key:literal $([$a:ident $($b:ident $($c:ident $($e:ident)?)?)?])? => $value:expr;)*) => {
        &[$(($key, |operands: [u64; 4]| -> u64 {
            $(let $a = operands[0]; $(let $b = operands[1]; $(let $c = operands[2]; $(let $e = operands[3];)?)?)?)?
            Bits::bits($value)
        })),*]
    };
}

#[rustfmt::skip]
const CASES: &[(&str, Case)] = cases! {
    "add.rn.f32" [a b] => float::add(f(a), f(b), Nearest);
    "add.rz.f32" [a b] => float::add(f(a), f(b), Zero);
    "add.rm.f32" [a b] => float::add(f(a), f(b), Down);
    "add.rp.f32" [a b] => float::add(f(a), f(b), Up);
    "add.rn.ftz.f32" [a b] => ftz([a, b], |[a, b]| float::add(a, b, Nearest));
    "add.rn.ftz.sat.f32" [a b] => float::saturate(ftz([a, b], |[a, b]| float::add(a, b, Nearest)));
    "add.rm.ftz.f32" [a b] => ftz([a, b], |[a, b]| float::add(a, b, Down));
    "sub.rn.f32" [a b] => float::sub(f(a), f(b), Nearest);
    "sub.rm.f32" [a b] => float::sub(f(a), f(b), Down);
    "mul.rn.f32" [a b] => float::mul(f(a), f(b), Nearest);
    "mul.rz.f32" [a b] => float::mul(f(a), f(b), Zero);
    "mul.rm.f32" [a b] => float::mul(f(a), f(b), Down);
    "mul.rp.f32" [a b] => float::mul(f(a), f(b), Up);
    "mul.rn.ftz.f32" [a b] => float::mul_ftz(f(a), f(b), Nearest);
    "mul.rz.ftz.f32" [a b] => float::mul_ftz(f(a), f(b), Zero);
    "mul.rp.ftz.f32" [a b] => float::mul_ftz(f(a), f(b), Up);
    "mul.rn.sat.f32" [a b] => float::saturate(float::mul(f(a), f(b), Nearest));
    "div.rn.f32" [a b] => float::div(f(a), f(b), Nearest);
    "div.rz.f32" [a b] => float::div(f(a), f(b), Zero);
    "div.rm.f32" [a b] => float::div(f(a), f(b), Down);
    "div.rp.f32" [a b] => float::div(f(a), f(b), Up);
    "div.rn.ftz.f32" [a b] => float::div_ftz(f(a), f(b), Nearest);
    "min.f32" [a b] => float::min(f(a), f(b));
    "max.f32" [a b] => float::max(f(a), f(b));
    "min.ftz.f32" [a b] => ftz([a, b], |[a, b]| float::min(a, b));
    "min.NaN.f32" [a b] => float::min_nan(f(a), f(b));
    "max.NaN.f32" [a b] => float::max_nan(f(a), f(b));
    "min.xorsign.abs.f32" [a b] => float::xorsign_abs(f(a), f(b), float::min);
    "max.NaN.xorsign.abs.f32" [a b] => float::xorsign_abs(f(a), f(b), float::max_nan);
    "copysign.f32" [a b] => float::copysign(f(a), f(b));
    "set.lt.u32.f32" [a b] => all_ones(compare::lt(f(a), f(b)));
    "set.geu.f32.f32" [a b] => if compare::geu(f(a), f(b)) { 1.0f32 } else { 0.0 };
    "set.ne.ftz.u32.f32" [a b] => all_ones(compare::ne(float::flush(f(a)), float::flush(f(b))));
    "set.nan.u32.f32" [a b] => all_ones(compare::nan(f(a), f(b)));
    "cvt.rn.f16x2.f32" [a b] => upper_and_lower(half::from_f32::<F16>(f(a), Nearest), half::from_f32::<F16>(f(b), Nearest));
    "cvt.rz.f16x2.f32" [a b] => upper_and_lower(half::from_f32::<F16>(f(a), Zero), half::from_f32::<F16>(f(b), Zero));
    "cvt.rn.relu.f16x2.f32" [a b] => half::packed([upper_and_lower(half::from_f32::<F16>(f(a), Nearest), half::from_f32::<F16>(f(b), Nearest))], |[x]| half::relu::<F16>(x));
    "cvt.rn.bf16x2.f32" [a b] => upper_and_lower(half::from_f32::<Bf16>(f(a), Nearest), half::from_f32::<Bf16>(f(b), Nearest));
    "cvt.rz.relu.bf16x2.f32" [a b] => half::packed([upper_and_lower(half::from_f32::<Bf16>(f(a), Zero), half::from_f32::<Bf16>(f(b), Zero))], |[x]| half::relu::<Bf16>(x));
    "cvt.rn.satfinite.f16x2.f32" [a b] => half::packed([upper_and_lower(half::from_f32::<F16>(f(a), Nearest), half::from_f32::<F16>(f(b), Nearest))], |[x]| half::satfinite::<F16>(x));
    "cvt.rz.satfinite.bf16x2.f32" [a b] => half::packed([upper_and_lower(half::from_f32::<Bf16>(f(a), Zero), half::from_f32::<Bf16>(f(b), Zero))], |[x]| half::satfinite::<Bf16>(x));
    "fma.rn.f32" [a b c] => float::fma(f(a), f(b), f(c), Nearest);
    "fma.rz.f32" [a b c] => float::fma(f(a), f(b), f(c), Zero);
    "fma.rm.f32" [a b c] => float::fma(f(a), f(b), f(c), Down);
    "fma.rp.f32" [a b c] => float::fma(f(a), f(b), f(c), Up);
    "fma.rn.ftz.f32" [a b c] => float::fma_ftz(f(a), f(b), f(c), Nearest);
    "fma.rn.ftz.sat.f32" [a b c] => float::saturate(float::fma_ftz(f(a), f(b), f(c), Nearest));
    "fma.rz.ftz.f32" [a b c] => float::fma_ftz(f(a), f(b), f(c), Zero);
    "slct.u32.f32" [a b c] => compare::slct_f32(w(a), w(b), f(c));
    "slct.ftz.u32.f32" [a b c] => compare::slct_f32(w(a), w(b), float::flush(f(c)));
    "rcp.rn.f32" [a] => float::rcp(f(a), Nearest);
    "rcp.rz.f32" [a] => float::rcp(f(a), Zero);
    "rcp.rm.ftz.f32" [a] => ftz([a], |[a]| float::rcp(a, Down));
    "sqrt.rn.f32" [a] => float::sqrt(f(a), Nearest);
    "sqrt.rz.f32" [a] => float::sqrt(f(a), Zero);
    "sqrt.rp.f32" [a] => float::sqrt(f(a), Up);
    "sqrt.rn.ftz.f32" [a] => ftz([a], |[a]| float::sqrt(a, Nearest));
    "neg.f32" [a] => float::neg(f(a));
    "abs.f32" [a] => float::abs(f(a));
    "neg.ftz.f32" [a] => ftz([a], |[a]| float::neg(a));
    "abs.ftz.f32" [a] => ftz([a], |[a]| float::abs(a));
    "cvt.rni.f32.f32" [a] => convert::round_to_integral(f(a), Nearest);
    "cvt.rzi.f32.f32" [a] => convert::round_to_integral(f(a), Zero);
    "cvt.rmi.ftz.f32.f32" [a] => ftz([a], |[a]| convert::round_to_integral(a, Down));
    "cvt.rpi.f32.f32" [a] => convert::round_to_integral(f(a), Up);
    "cvt.sat.f32.f32" [a] => float::saturate(f(a));
    "cvt.ftz.f32.f32" [a] => ftz([a], |[a]| float::canonical(a));
    "cvt.rni.s32.f32" [a] => convert::to_integer::<_, i32>(f(a), Nearest);
    "cvt.rzi.s32.f32" [a] => convert::to_integer::<_, i32>(f(a), Zero);
    "cvt.rmi.s32.f32" [a] => convert::to_integer::<_, i32>(f(a), Down);
    "cvt.rpi.u32.f32" [a] => convert::to_integer::<_, u32>(f(a), Up);
    "cvt.rzi.ftz.u32.f32" [a] => convert::to_integer::<_, u32>(float::flush(f(a)), Zero);
    "cvt.rpi.ftz.s32.f32" [a] => convert::to_integer::<_, i32>(float::flush(f(a)), Up);
    "cvt.rna.tf32.f32" [a] => convert::tf32(f(a), NearestAway);
    "cvt.rn.tf32.f32" [a] => convert::tf32(f(a), Nearest);
    "cvt.rz.tf32.f32" [a] => convert::tf32(f(a), Zero);
    "cvt.rn.relu.tf32.f32" [a] => convert::tf32(float::relu(f(a)), Nearest);
    "cvt.rn.f16.f32" [a] => half::from_f32::<F16>(f(a), Nearest);
    "cvt.rz.f16.f32" [a] => half::from_f32::<F16>(f(a), Zero);
    "cvt.rm.f16.f32" [a] => half::from_f32::<F16>(f(a), Down);
    "cvt.rp.f16.f32" [a] => half::from_f32::<F16>(f(a), Up);
    "cvt.rn.ftz.f16.f32" [a] => half::from_f32::<F16>(float::flush(f(a)), Nearest);
    "cvt.rn.sat.f16.f32" [a] => half::saturate::<F16>(half::from_f32::<F16>(f(a), Nearest));
    "cvt.rn.bf16.f32" [a] => half::from_f32::<Bf16>(f(a), Nearest);
    "cvt.rz.bf16.f32" [a] => half::from_f32::<Bf16>(f(a), Zero);
    "cvt.rn.relu.bf16.f32" [a] => half::relu::<Bf16>(half::from_f32::<Bf16>(f(a), Nearest));
    "cvt.rn.satfinite.bf16.f32" [a] => half::satfinite::<Bf16>(half::from_f32::<Bf16>(f(a), Nearest));
    "cvt.rm.bf16.f32" [a] => half::from_f32::<Bf16>(f(a), Down);
    "cvt.rzi.s16.f32" [a] => convert::to_integer::<_, i16>(f(a), Zero);
    "cvt.rni.u16.f32" [a] => convert::to_integer::<_, u16>(f(a), Nearest);
    "cvt.rmi.s8.f32" [a] => convert::to_integer::<_, i8>(f(a), Down);
    "cvt.rpi.u8.f32" [a] => convert::to_integer::<_, u8>(f(a), Up);
    "cvt.f64.f32" [a] => convert::f64_from_f32(f(a));
    "cvt.ftz.f64.f32" [a] => convert::f64_from_f32(ftz([a], |[a]| float::canonical(a)));
    "cvt.rzi.s64.f32" [a] => convert::to_integer::<_, i64>(f(a), Zero);
    "cvt.rni.u64.f32" [a] => convert::to_integer::<_, u64>(f(a), Nearest);
    "cvt.rn.satfinite.e4m3x2.f32" [a b] => u16::from_be_bytes([a, b].map(|x| fp8::encode(f(x), fp8::E4M3)));
    "cvt.rn.satfinite.e5m2x2.f32" [a b] => u16::from_be_bytes([a, b].map(|x| fp8::encode(f(x), fp8::E5M2)));
    "cvt.rn.satfinite.relu.e4m3x2.f32" [a b] => u16::from_be_bytes([a, b].map(|x| fp8::encode(float::relu(f(x)), fp8::E4M3)));
    "testp.finite.f32" [a] => float::testp(f(a), Class::Finite);
    "testp.infinite.f32" [a] => float::testp(f(a), Class::Infinite);
    "testp.number.f32" [a] => float::testp(f(a), Class::Number);
    "testp.notanumber.f32" [a] => float::testp(f(a), Class::NotANumber);
    "testp.normal.f32" [a] => float::testp(f(a), Class::Normal);
    "testp.subnormal.f32" [a] => float::testp(f(a), Class::Subnormal);
    "add.rn.f64" [a b] => float::add(d(a), d(b), Nearest);
    "add.rz.f64" [a b] => float::add(d(a), d(b), Zero);
    "add.rm.f64" [a b] => float::add(d(a), d(b), Down);
    "sub.rp.f64" [a b] => float::sub(d(a), d(b), Up);
    "mul.rn.f64" [a b] => float::mul(d(a), d(b), Nearest);
    "mul.rz.f64" [a b] => float::mul(d(a), d(b), Zero);
    "mul.rm.f64" [a b] => float::mul(d(a), d(b), Down);
    "mul.rp.f64" [a b] => float::mul(d(a), d(b), Up);
    "div.rn.f64" [a b] => float::div(d(a), d(b), Nearest);
    "div.rz.f64" [a b] => float::div(d(a), d(b), Zero);
    "div.rm.f64" [a b] => float::div(d(a), d(b), Down);
    "div.rp.f64" [a b] => float::div(d(a), d(b), Up);
    "min.f64" [a b] => float::min(d(a), d(b));
    "max.f64" [a b] => float::max(d(a), d(b));
    "copysign.f64" [a b] => float::copysign(d(a), d(b));
    "fma.rn.f64" [a b c] => float::fma(d(a), d(b), d(c), Nearest);
    "fma.rz.f64" [a b c] => float::fma(d(a), d(b), d(c), Zero);
    "fma.rm.f64" [a b c] => float::fma(d(a), d(b), d(c), Down);
    "fma.rp.f64" [a b c] => float::fma(d(a), d(b), d(c), Up);
    "rcp.rn.f64" [a] => float::rcp(d(a), Nearest);
    "rcp.rz.f64" [a] => float::rcp(d(a), Zero);
    "sqrt.rn.f64" [a] => float::sqrt(d(a), Nearest);
    "sqrt.rm.f64" [a] => float::sqrt(d(a), Down);
    "sqrt.rp.f64" [a] => float::sqrt(d(a), Up);
    "neg.f64" [a] => float::neg(d(a));
    "abs.f64" [a] => float::abs(d(a));
    "cvt.rni.f64.f64" [a] => convert::round_to_integral(d(a), Nearest);
    "cvt.rmi.f64.f64" [a] => convert::round_to_integral(d(a), Down);
    "cvt.sat.f64.f64" [a] => float::saturate(d(a));
    "cvt.rzi.s64.f64" [a] => convert::to_integer::<_, i64>(d(a), Zero);
    "cvt.rni.u64.f64" [a] => convert::to_integer::<_, u64>(d(a), Nearest);
    "cvt.rn.f32.f64" [a] => convert::f32_from_f64(d(a), Nearest);
    "cvt.rz.f32.f64" [a] => convert::f32_from_f64(d(a), Zero);
    "cvt.rm.f32.f64" [a] => convert::f32_from_f64(d(a), Down);
    "cvt.rp.ftz.f32.f64" [a] => float::flush(convert::f32_from_f64(d(a), Up));
    "cvt.rn.sat.f32.f64" [a] => float::saturate(convert::f32_from_f64(d(a), Nearest));
    "cvt.rzi.s32.f64" [a] => convert::to_integer::<_, i32>(d(a), Zero);
    "cvt.rmi.u32.f64" [a] => convert::to_integer::<_, u32>(d(a), Down);
    "cvt.rn.f16.f64" [a] => half::from_f64::<F16>(d(a), Nearest);
    "cvt.rz.f16.f64" [a] => half::from_f64::<F16>(d(a), Zero);
    "cvt.rn.bf16.f64" [a] => half::from_f64::<Bf16>(d(a), Nearest);
    "cvt.rzi.s16.f64" [a] => convert::to_integer::<_, i16>(d(a), Zero);
    "cvt.rzi.u8.f64" [a] => convert::to_integer::<_, u8>(d(a), Zero);
    "add.rn.f16" [a b] => half::add::<F16>(h(a), h(b));
    "sub.rn.f16" [a b] => half::sub::<F16>(h(a), h(b));
    "mul.rn.f16" [a b] => half::mul::<F16>(h(a), h(b));
    "add.rn.ftz.f16" [a b] => ftz16([a, b], |[a, b]| half::add::<F16>(a, b));
    "add.rn.sat.f16" [a b] => half::saturate::<F16>(half::add::<F16>(h(a), h(b)));
    "mul.rn.ftz.sat.f16" [a b] => half::saturate::<F16>(half::mul_ftz(h(a), h(b)));
    "add.rn.bf16" [a b] => half::add::<Bf16>(h(a), h(b));
    "sub.rn.bf16" [a b] => half::sub::<Bf16>(h(a), h(b));
    "mul.rn.bf16" [a b] => half::mul::<Bf16>(h(a), h(b));
    "min.f16" [a b] => half::min::<F16>(h(a), h(b));
    "max.f16" [a b] => half::max::<F16>(h(a), h(b));
    "min.ftz.f16" [a b] => ftz16([a, b], |[a, b]| half::min::<F16>(a, b));
    "min.NaN.f16" [a b] => half::min_nan::<F16>(h(a), h(b));
    "max.NaN.xorsign.abs.f16" [a b] => half::xorsign_abs::<F16>(h(a), h(b), half::max_nan::<F16>);
    "min.xorsign.abs.f16" [a b] => half::xorsign_abs::<F16>(h(a), h(b), half::min::<F16>);
    "min.bf16" [a b] => half::min::<Bf16>(h(a), h(b));
    "max.NaN.bf16" [a b] => half::max_nan::<Bf16>(h(a), h(b));
    "min.xorsign.abs.bf16" [a b] => half::xorsign_abs::<Bf16>(h(a), h(b), half::min::<Bf16>);
    "fma.rn.f16" [a b c] => half::fma::<F16>(h(a), h(b), h(c));
    "fma.rn.ftz.f16" [a b c] => half::fma_ftz(h(a), h(b), h(c));
    "fma.rn.sat.f16" [a b c] => half::saturate::<F16>(half::fma::<F16>(h(a), h(b), h(c)));
    "fma.rn.relu.f16" [a b c] => half::relu::<F16>(half::fma::<F16>(h(a), h(b), h(c)));
    "fma.rn.ftz.relu.f16" [a b c] => half::relu::<F16>(half::fma_ftz(h(a), h(b), h(c)));
    "fma.rn.oob.f16" [a b c] => half::or_out_of_bounds(h(a), h(b), half::fma::<F16>(h(a), h(b), h(c)));
    "fma.rn.oob.relu.f16" [a b c] => half::or_out_of_bounds(h(a), h(b), half::relu::<F16>(half::fma::<F16>(h(a), h(b), h(c))));
    "fma.rn.oob.bf16" [a b c] => half::or_out_of_bounds(h(a), h(b), half::fma::<Bf16>(h(a), h(b), h(c)));
    "fma.rn.bf16" [a b c] => half::fma::<Bf16>(h(a), h(b), h(c));
    "fma.rn.relu.bf16" [a b c] => half::relu::<Bf16>(half::fma::<Bf16>(h(a), h(b), h(c)));
    "neg.f16" [a] => half::neg::<F16>(h(a));
    "abs.f16" [a] => half::abs::<F16>(h(a));
    "neg.ftz.f16" [a] => ftz16([a], |[a]| half::neg::<F16>(a));
    "abs.ftz.f16" [a] => ftz16([a], |[a]| half::abs::<F16>(a));
    "neg.bf16" [a] => half::neg::<Bf16>(h(a));
    "abs.bf16" [a] => half::abs::<Bf16>(h(a));
    "cvt.rni.f16.f16" [a] => half::from_f32::<F16>(convert::round_to_integral(f16(a), Nearest), Nearest);
    "cvt.rn.bf16.f16" [a] => half::from_f32::<Bf16>(f16(a), Nearest);
    "cvt.rz.f16.bf16" [a] => half::from_f32::<F16>(bf16(a), Zero);
    "cvt.rn.f16.bf16" [a] => half::from_f32::<F16>(bf16(a), Nearest);
    "cvt.rzi.s16.f16" [a] => convert::to_integer::<_, i16>(f16(a), Zero);
    "cvt.rni.u8.f16" [a] => convert::to_integer::<_, u8>(f16(a), Nearest);
    "cvt.rn.f16.u16" [a] => convert::half_from_integer::<u16, F16>(h(a), Nearest);
    "cvt.rz.f16.s16" [a] => convert::half_from_integer::<i16, F16>(a as i16, Zero);
    "cvt.rn.bf16.u16" [a] => convert::half_from_integer::<u16, Bf16>(h(a), Nearest);
    "cvt.rn.f16.s8" [a] => convert::half_from_integer::<i8, F16>(a as i8, Nearest);
    "cvt.sat.f16.f16" [a] => half::saturate::<F16>(h(a));
    "cvt.s8.s16" [a] => convert::integer::<i16, i8>(a as i16);
    "cvt.sat.u8.s16" [a] => convert::integer_sat::<i16, u8>(a as i16);
    "cvt.sat.s8.u16" [a] => convert::integer_sat::<u16, i8>(h(a));
    "cvt.f32.f16" [a] => f16(a);
    "cvt.f32.bf16" [a] => bf16(a);
    "cvt.ftz.f32.f16" [a] => float::flush(f16(a));
    "cvt.rzi.s32.f16" [a] => convert::to_integer::<_, i32>(f16(a), Zero);
    "cvt.rmi.u32.bf16" [a] => convert::to_integer::<_, u32>(bf16(a), Down);
    "cvt.rn.f16x2.e4m3x2" [a] => upper_and_lower(fp8::decode((a >> 8) as u8, fp8::E4M3), fp8::decode(a as u8, fp8::E4M3));
    "cvt.rn.f16x2.e5m2x2" [a] => upper_and_lower(fp8::decode((a >> 8) as u8, fp8::E5M2), fp8::decode(a as u8, fp8::E5M2));
    "cvt.rn.relu.f16x2.e4m3x2" [a] => half::packed([upper_and_lower(fp8::decode((a >> 8) as u8, fp8::E4M3), fp8::decode(a as u8, fp8::E4M3))], |[x]| half::relu::<F16>(x));
    "cvt.sat.u32.s16" [a] => convert::integer_sat::<i16, u32>(a as i16);
    "cvt.s32.s8" [a] => convert::integer::<i8, i32>(a as i8);
    "cvt.f64.f16" [a] => convert::f64_from_half::<F16>(h(a));
    "cvt.rzi.s64.f16" [a] => convert::to_integer::<_, i64>(f16(a), Zero);
    "cvt.rzi.u64.bf16" [a] => convert::to_integer::<_, u64>(bf16(a), Zero);
    "setp.lt.f16" [a b] => compare::lt(f16(a), f16(b));
    "setp.neu.f16" [a b] => compare::neu(f16(a), f16(b));
    "setp.ge.ftz.f16" [a b] => compare::ge(F16::to_f32(half::flush::<F16>(h(a))), F16::to_f32(half::flush::<F16>(h(b))));
    "setp.lt.bf16" [a b] => compare::lt(bf16(a), bf16(b));
    "add.f16x2" [a b] => half::packed([w(a), w(b)], |[a, b]| half::add::<F16>(a, b));
    "add.bf16x2" [a b] => half::packed([w(a), w(b)], |[a, b]| half::add::<Bf16>(a, b));
    "mul.bf16x2" [a b] => half::packed([w(a), w(b)], |[a, b]| half::mul::<Bf16>(a, b));
    "min.s32" [a b] => integer::min(s(a), s(b));
    "add.sat.s32" [a b] => integer::add_sat(s(a), s(b));
    "sub.sat.s32" [a b] => integer::sub_sat(s(a), s(b));
    "mul.lo.s32" [a b] => integer::mul_lo(s(a), s(b));
    "mul.hi.s32" [a b] => integer::mul_hi(s(a), s(b));
    "mul.hi.u32" [a b] => integer::mul_hi(w(a), w(b));
    "mul24.lo.u32" [a b] => integer::mul24_lo(w(a), w(b));
    "mul24.hi.u32" [a b] => integer::mul24_hi(w(a), w(b));
    "mul24.lo.s32" [a b] => integer::mul24_lo(s(a), s(b));
    "mul24.hi.s32" [a b] => integer::mul24_hi(s(a), s(b));
    "div.u32" [a b] => integer::div(w(a), w(b));
    "div.s32" [a b] => integer::div(s(a), s(b));
    "rem.u32" [a b] => integer::rem(w(a), w(b));
    "rem.s32" [a b] => integer::rem(s(a), s(b));
    "shl.b32" [a b] => bits::shl(w(a), w(b));
    "shr.u32" [a b] => bits::shr(w(a), w(b));
    "shr.s32" [a b] => bits::shr(s(a), w(b));
    "szext.clamp.s32" [a b] => bits::szext(s(a), w(b), Clamp);
    "szext.wrap.s32" [a b] => bits::szext(s(a), w(b), Wrap);
    "szext.clamp.u32" [a b] => bits::szext(w(a), w(b), Clamp);
    "bmsk.clamp.b32" [a b] => bits::bmsk(w(a), w(b), Clamp);
    "bmsk.wrap.b32" [a b] => bits::bmsk(w(a), w(b), Wrap);
    "add.u16x2" [a b] => integer::packed::<u16>(w(a), w(b), integer::add);
    "min.s16x2" [a b] => integer::packed::<i16>(w(a), w(b), integer::min);
    "max.u16x2" [a b] => integer::packed::<u16>(w(a), w(b), integer::max);
    "max.relu.s16x2" [a b] => integer::packed::<i16>(w(a), w(b), |a, b| integer::relu(integer::max(a, b)));
    "min.relu.s32" [a b] => integer::relu(integer::min(s(a), s(b)));
    "max.relu.s32" [a b] => integer::relu(integer::max(s(a), s(b)));
    "cvt.pack.sat.u16.s32" [a b] => convert::pack::<u32>(s(a), s(b), 0, 16);
    "cvt.pack.sat.s16.s32" [a b] => convert::pack::<i32>(s(a), s(b), 0, 16);
    "mad.lo.u32" [a b c] => integer::mad_lo(w(a), w(b), w(c));
    "mad.hi.s32" [a b c] => integer::mad_hi(s(a), s(b), s(c));
    "mad.hi.u32" [a b c] => integer::mad_hi(w(a), w(b), w(c));
    "mad.hi.sat.s32" [a b c] => integer::mad_hi_sat(s(a), s(b), s(c));
    "mad24.lo.s32" [a b c] => integer::mad24_lo(s(a), s(b), s(c));
    "mad24.hi.u32" [a b c] => integer::mad24_hi(w(a), w(b), w(c));
    "mad24.hi.sat.s32" [a b c] => integer::mad24_hi_sat(s(a), s(b), s(c));
    "sad.s32" [a b c] => integer::sad(s(a), s(b), s(c));
    "sad.u32" [a b c] => integer::sad(w(a), w(b), w(c));
    "bfe.u32" [a b c] => bits::bfe(w(a), w(b), w(c));
    "bfe.s32" [a b c] => bits::bfe(s(a), w(b), w(c));
    "shf.l.clamp.b32" [a b c] => bits::shf_l(w(a), w(b), w(c), Clamp);
    "shf.l.wrap.b32" [a b c] => bits::shf_l(w(a), w(b), w(c), Wrap);
    "shf.r.clamp.b32" [a b c] => bits::shf_r(w(a), w(b), w(c), Clamp);
    "shf.r.wrap.b32" [a b c] => bits::shf_r(w(a), w(b), w(c), Wrap);
    "prmt.b32" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::Named);
    "prmt.b32.f4e" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::Forward4);
    "prmt.b32.b4e" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::Backward4);
    "prmt.b32.rc8" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::Replicate8);
    "prmt.b32.ecl" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::ClampLeft);
    "prmt.b32.ecr" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::ClampRight);
    "prmt.b32.rc16" [a b c] => bits::prmt(w(a), w(b), w(c), Permutation::Replicate16);
    "dp4a.u32.u32" [a b c] => integer::dp4a::<u8, u8>(w(a), w(b), w(c));
    "dp4a.s32.u32" [a b c] => integer::dp4a::<i8, u8>(w(a), w(b), w(c));
    "dp4a.u32.s32" [a b c] => integer::dp4a::<u8, i8>(w(a), w(b), w(c));
    "dp4a.s32.s32" [a b c] => integer::dp4a::<i8, i8>(w(a), w(b), w(c));
    "dp2a.lo.s32.u32" [a b c] => integer::dp2a_lo::<i16, u8>(w(a), w(b), w(c));
    "dp2a.hi.u32.s32" [a b c] => integer::dp2a_hi::<u16, i8>(w(a), w(b), w(c));
    "fma.rn.f16x2" [a b c] => half::packed([w(a), w(b), w(c)], |[a, b, c]| half::fma::<F16>(a, b, c));
    "fma.rn.bf16x2" [a b c] => half::packed([w(a), w(b), w(c)], |[a, b, c]| half::fma::<Bf16>(a, b, c));
    "slct.b32.s32" [a b c] => compare::slct(w(a), w(b), s(c));
    "cvt.pack.sat.s8.s32.b32" [a b c] => convert::pack::<i32>(s(a), s(b), w(c), 8);
    "cvt.pack.sat.u8.s32.b32" [a b c] => convert::pack::<u32>(s(a), s(b), w(c), 8);
    "bfi.b32" [a b c e] => bits::bfi(w(a), w(b), w(c), w(e));
    "abs.s32" [a] => integer::abs(s(a));
    "neg.s32" [a] => integer::neg(s(a));
    "cnot.b32" [a] => bits::cnot(w(a));
    "popc.b32" [a] => bits::popc(w(a));
    "clz.b32" [a] => bits::clz(w(a));
    "brev.b32" [a] => bits::brev(w(a));
    "bfind.u32" [a] => bits::bfind(w(a));
    "bfind.s32" [a] => bits::bfind(s(a));
    "bfind.shiftamt.u32" [a] => bits::bfind_shiftamt(w(a));
    "bfind.shiftamt.s32" [a] => bits::bfind_shiftamt(s(a));
    "cvt.rn.f32.u32" [a] => convert::from_integer::<_, f32>(w(a), Nearest);
    "cvt.rz.f32.s32" [a] => convert::from_integer::<_, f32>(s(a), Zero);
    "cvt.rp.f32.u32" [a] => convert::from_integer::<_, f32>(w(a), Up);
    "cvt.rm.f32.s32" [a] => convert::from_integer::<_, f32>(s(a), Down);
    "cvt.rn.f16.s32" [a] => convert::half_from_integer::<_, F16>(s(a), Nearest);
    "cvt.rz.f16.u32" [a] => convert::half_from_integer::<_, F16>(w(a), Zero);
    "cvt.rn.bf16.s32" [a] => convert::half_from_integer::<_, Bf16>(s(a), Nearest);
    "cvt.sat.s16.s32" [a] => convert::integer_sat::<_, i16>(s(a));
    "cvt.sat.u16.s32" [a] => convert::integer_sat::<_, u16>(s(a));
    "cvt.sat.s8.u32" [a] => convert::integer_sat::<_, i8>(w(a));
    "cvt.u8.u32" [a] => convert::integer::<_, u8>(w(a));
    "cvt.rn.f64.s32" [a] => convert::from_integer::<_, f64>(s(a), Nearest);
    "cvt.s64.s32" [a] => convert::integer::<_, i64>(s(a));
    "cvt.sat.u64.s32" [a] => convert::integer_sat::<_, u64>(s(a));
    "mad.lo.s16" [a b c] => integer::mad_lo(h(a), h(b), h(c));
    "div.u16" [a b] => integer::div(h(a), h(b));
    "div.s16" [a b] => integer::div(a as i16, b as i16);
    "rem.s16" [a b] => integer::rem(a as i16, b as i16);
    "rem.u16" [a b] => integer::rem(h(a), h(b));
    "mul.hi.s16" [a b] => integer::mul_hi(a as i16, b as i16);
    "mul.hi.u16" [a b] => integer::mul_hi(h(a), h(b));
    "shl.b16" [a b] => bits::shl(h(a), w(b));
    "shr.s16" [a b] => bits::shr(a as i16, w(b));
    "shl.b64" [a b] => bits::shl(a, w(b));
    "shr.s64" [a b] => bits::shr(a as i64, w(b));
    "mul.hi.s64" [a b] => integer::mul_hi(a as i64, b as i64);
    "mul.hi.u64" [a b] => integer::mul_hi(a, b);
    "div.u64" [a b] => integer::div(a, b);
    "div.s64" [a b] => integer::div(a as i64, b as i64);
    "rem.u64" [a b] => integer::rem(a, b);
    "rem.s64" [a b] => integer::rem(a as i64, b as i64);
    "min.s64" [a b] => integer::min(a as i64, b as i64);
    "cvt.rn.f16.u64" [a] => convert::half_from_integer::<_, F16>(a, Nearest);
    "cvt.rn.bf16.s64" [a] => convert::half_from_integer::<_, Bf16>(a as i64, Nearest);
    "cvt.rm.bf16.u64" [a] => convert::half_from_integer::<_, Bf16>(a, Down);
    "abs.s64" [a] => integer::abs(a as i64);
    "brev.b64" [a] => bits::brev(a);
    "cvt.rn.f64.u64" [a] => convert::from_integer::<_, f64>(a, Nearest);
    "cvt.rz.f64.s64" [a] => convert::from_integer::<_, f64>(a as i64, Zero);
    "cvt.rp.f64.u64" [a] => convert::from_integer::<_, f64>(a, Up);
    "popc.b64" [a] => bits::popc(a);
    "clz.b64" [a] => bits::clz(a);
    "bfind.s64" [a] => bits::bfind(a as i64);
    "bfind.shiftamt.u64" [a] => bits::bfind_shiftamt(a);
    "cvt.rn.f32.u64" [a] => convert::from_integer::<_, f32>(a, Nearest);
    "cvt.rz.f32.s64" [a] => convert::from_integer::<_, f32>(a as i64, Zero);
    "cvt.sat.s32.s64" [a] => convert::integer_sat::<_, i32>(a as i64);
    "cvt.sat.u32.s64" [a] => convert::integer_sat::<_, u32>(a as i64);
    "cvt.sat.s32.u64" [a] => convert::integer_sat::<_, i32>(a);
    "atom.global.add.f32" [a b] => atomic::add_f32_global(f(a), f(b));
    "atom.shared.add.f32" [a b] => atomic::add_f32_shared(f(a), f(b));
    "atom.global.inc.u32" [a b] => atomic::inc(w(a), w(b));
    "atom.global.dec.u32" [a b] => atomic::dec(w(a), w(b));
    "atom.global.add.noftz.f16x2" [a b] => half::packed([w(a), w(b)], |[a, b]| half::add::<F16>(a, b));
    "atom.global.add.noftz.bf16x2" [a b] => half::packed([w(a), w(b)], |[a, b]| half::add::<Bf16>(a, b));
    "atom.global.add.f64" [a b] => atomic::add_f64(d(a), d(b));
};

#[test]
fn results_are_the_gpus() {
    let text = include_str!("hardware.txt");
    let mut edges = BTreeMap::new();
    let mut digests = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [_, operands, name, digest] if digest.len() == 16 && name.contains('.') => {
                digests.insert(
                    name,
                    (operands, u64::from_str_radix(digest, 16).expect(line)),
                );
            }
            [ty, ref values @ ..] => {
                let values = values
                    .iter()
                    .map(|x| u64::from_str_radix(x, 16).expect(line));
                edges.insert(ty.chars().next().expect(line), values.collect());
            }
            [] => {}
        }
    }
    let mut failures = Vec::new();
    for (name, case) in CASES {
        let Some((operands, expected)) = digests.get(name) else {
            failures.push(format!("{name} was not measured"));
            continue;
        };
        let types: Vec<char> = operands.chars().collect();
        let digest = (0..COUNT).map(|i| {
            let mut values = [0; 4];
            for (place, &ty) in types.iter().enumerate() {
                values[place] = operand(&edges, ty, i, place as u64);
            }
            mix(case(values).wrapping_add(i.wrapping_mul(GOLDEN)))
        });
        if digest.fold(0, u64::wrapping_add) != *expected {
            failures.push((*name).to_owned());
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}: {}",
        failures.len(),
        CASES.len(),
        failures.join(" ")
    );
}
