//! Conversions to and from packed floats, and those of few bits.

use ptx::{Cvt, CvtFour, Rounding as Named, Saturation, Type};

use super::convert::{Step, Steps, step};
use super::handler::{handler, rare};
use super::modifiers::{Modifiers, rounding};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::directed::Format;
use crate::arith::float::Rounding;
use crate::arith::half::{self, Bf16, F16, Half};
use crate::arith::{convert, fp8};
use crate::exec::op::{binary, ternary, unary};
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

impl Lowering<'_> {
    /// The steps of a conversion that is not of one integer or float to another.
    pub(super) fn narrowed(&self, it: &Cvt) -> Steps {
        let run = match (it.from, it.to) {
            (Type::F32, Type::F16x2 | Type::Bf16x2) => return packed(it),
            (Type::F32, Type::Tf32) => return tf32(it),
            (Type::F32, Type::Ue8m0x2) | (Type::Bf16x2, Type::Ue8m0x2) => return to_scale(it),
            (Type::Ue8m0x2, Type::Bf16x2) if it.rounding == Some(Named::Rn) && is_plain(it) => {
                rare!(|c, op| unary(c, op, |a: u16| both(a, fp8::bf16_from_ue8m0)))
            }
            (from, Type::F16x2) if is_few(from) => return to_halves(it),
            (_, to) if is_few(to) => return few_bits(it),
            _ => return Err("the types"),
        };
        Ok(vec![step(run, kind(it.to))])
    }
}

impl Lowering<'_> {
    /// Four numbers of `f32` to four of few bits: of the random bits the upper half is that of the upper two, the
    /// lower half that of the others.
    pub(super) fn cvt_four(&mut self, it: &CvtFour) -> Lowered<()> {
        macro_rules! of {
            ($format:expr) => {
                rare!(|c, op| ternary(c, op, |a: f32, b: f32, random: u32| {
                    randomly_few([a, b], random, Modifiers::of(op.aux), $format)
                }))
            };
        }
        let run = match it.to {
            Type::E4m3x4 => of!(fp8::E4M3),
            Type::E5m2x4 => of!(fp8::E5M2),
            Type::E2m3x4 => of!(fp8::E2M3),
            Type::E3m2x4 => of!(fp8::E3M2),
            _ => {
                return Err(
                    "which of the random bits each number takes is in no text of the PTX ISA"
                        .to_owned(),
                );
            }
        };
        let how = if it.relu {
            Modifiers::RELU
        } else {
            Modifiers::NONE
        };
        let random = self.read(&it.random, Kind::Word)?;
        let above = rare!(|c, op| unary(c, op, |a: u32| a >> 16));
        let upper = self.value(above, Kind::Word, [random, 0, 0], 0);
        let mut pairs = [0; 2];
        for ((pair, of), random) in pairs.iter_mut().zip(it.a.chunks(2)).zip([upper, random]) {
            let (a, b) = (
                self.read(&of[0], Kind::Word)?,
                self.read(&of[1], Kind::Word)?,
            );
            *pair = self.value(run, Kind::Word, [a, b, random], how.aux());
        }
        let join = rare!(|c, op| binary(c, op, |a: u32, b: u32| a << 16 | b));
        self.finish_in(join, (it.d, Kind::Word), [pairs[0], pairs[1], 0], 0)
    }
}

/// Two numbers of a format in 16 bits, both rounded by the lower 16 random bits.
fn randomly_few(numbers: [f32; 2], random: u32, how: Modifiers, format: Format) -> u32 {
    let [upper, lower] = numbers.map(|x| {
        u32::from(fp8::encode_random(
            how.bounded(x),
            format,
            random & 0xFFFF,
            16,
        ))
    });
    upper << 8 | lower
}

/// Whether there is no modifier but the rounding.
fn is_plain(it: &Cvt) -> bool {
    !it.ftz && !it.relu && it.saturation.is_none() && it.b.is_none() && it.random.is_none()
}

/// A function of each byte, the results side by side.
fn both(bytes: u16, f: impl Fn(u8) -> u16) -> u32 {
    u32::from(f((bytes >> 8) as u8)) << 16 | u32::from(f(bytes as u8))
}

/// `.relu` and the like of a conversion.
fn modifiers(it: &Cvt, rounding: Rounding) -> Modifiers {
    Modifiers::rounded(rounding)
        .with(Modifiers::FTZ, it.ftz)
        .with(
            Modifiers::SATFINITE,
            it.saturation == Some(Saturation::Satfinite),
        )
        .with(Modifiers::RELU, it.relu)
}

/// Two of `f32` to two halves.
fn packed(it: &Cvt) -> Steps {
    if it.b.is_none() || it.saturation == Some(Saturation::Sat) {
        return Err("one source, or `.sat`");
    }
    if it.rounding == Some(Named::Rs) {
        return randomly(it);
    }
    if it.random.is_some() {
        return Err("random bits");
    }
    let how = modifiers(it, it.rounding.and_then(rounding).ok_or("the rounding")?);
    macro_rules! of {
        ($H:ty) => {
            match how == Modifiers::NONE {
                true => handler!(|c, op| binary(c, op, |a: f32, b: f32| {
                    pair(a, b, |x| half::from_f32::<$H>(x, Rounding::Nearest))
                })),
                false => rare!(|c, op| {
                    let how = Modifiers::of(op.aux);
                    binary(c, op, |a: f32, b: f32| {
                        pair(how.operand(a), how.operand(b), |x| {
                            how.half_bounded::<$H>(half::from_f32::<$H>(x, how.rounding()))
                        })
                    })
                }),
            }
        };
    }
    let run = if it.to == Type::F16x2 {
        of!(F16)
    } else {
        of!(Bf16)
    };
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux: how.aux(),
    }])
}

#[inline(always)]
fn pair(upper: f32, lower: f32, f: impl Fn(f32) -> u16) -> u32 {
    u32::from(f(upper)) << 16 | u32::from(f(lower))
}

/// As [`packed`], rounded by random bits: the upper half of them is that of the upper number.
fn randomly(it: &Cvt) -> Steps {
    if it.random.is_none() || it.ftz {
        return Err("`.rs` without random bits, or with `.ftz`");
    }
    let how = modifiers(it, Rounding::Nearest);
    macro_rules! of {
        ($H:ty) => {
            rare!(|c, op| {
                let how = Modifiers::of(op.aux);
                ternary(c, op, |a: f32, b: f32, random: u32| {
                    let upper = how.half_bounded::<$H>(half_random::<$H>(a, random >> 16));
                    let lower = how.half_bounded::<$H>(half_random::<$H>(b, random & 0xFFFF));
                    u32::from(upper) << 16 | u32::from(lower)
                })
            })
        };
    }
    let run = if it.to == Type::F16x2 {
        of!(F16)
    } else {
        of!(Bf16)
    };
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux: how.aux(),
    }])
}

fn half_random<H: Half>(x: f32, random: u32) -> u16 {
    let digits = 23 - H::FORMAT.fraction;
    fp8::half_random::<H>(x, random & ((1 << digits) - 1))
}

fn tf32(it: &Cvt) -> Steps {
    let how = match it.rounding {
        Some(Named::Rn | Named::Rna | Named::Rz) if !it.ftz => it.rounding.and_then(rounding),
        _ => None,
    };
    if it.b.is_some() || it.random.is_some() || it.saturation == Some(Saturation::Sat) {
        return Err("`.sat` or another source");
    }
    let how = modifiers(it, how.ok_or("the rounding")?);
    let run = handler!(|c, op| {
        let how = Modifiers::of(op.aux);
        unary(c, op, |a: f32| {
            let rounded = convert::tf32(how.bounded(a), how.rounding());
            match how.has(Modifiers::SATFINITE) {
                true => convert::tf32_satfinite(rounded),
                false => rounded,
            }
        })
    });
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux: how.aux(),
    }])
}

/// Whether a type is two floats of less than 16 bits, with a sign.
fn is_few(ty: Type) -> bool {
    matches!(
        ty,
        Type::E4m3x2 | Type::E5m2x2 | Type::E2m3x2 | Type::E3m2x2 | Type::E2m1x2
    )
}

/// Two numbers to floats of few bits.
fn few_bits(it: &Cvt) -> Steps {
    let is_finite = it.saturation == Some(Saturation::Satfinite);
    if it.rounding != Some(Named::Rn) || !is_finite || it.ftz || it.random.is_some() {
        return Err("a modifier");
    }
    let relu = if it.relu {
        Modifiers::RELU
    } else {
        Modifiers::NONE
    };
    macro_rules! of {
        ($format:expr, $bits:literal) => {
            match (it.from, it.b.is_some()) {
                (Type::F32, true) => {
                    rare!(|c, op| binary(c, op, |a, b| few::<$bits>([a, b], op.aux, $format)))
                }
                (Type::F16x2, false) => rare!(|c, op| unary(c, op, |a: u32| {
                    few::<$bits>(
                        [F16::to_f32((a >> 16) as u16), F16::to_f32(a as u16)],
                        op.aux,
                        $format,
                    )
                })),
                (Type::Bf16x2, false) => rare!(|c, op| unary(c, op, |a: u32| {
                    few::<$bits>(
                        [Bf16::to_f32((a >> 16) as u16), Bf16::to_f32(a as u16)],
                        op.aux,
                        $format,
                    )
                })),
                _ => return Err("the types"),
            }
        };
    }
    let run: Handler = match it.to {
        Type::E4m3x2 => of!(fp8::E4M3, 8),
        Type::E5m2x2 => of!(fp8::E5M2, 8),
        Type::E2m3x2 => of!(fp8::E2M3, 8),
        Type::E3m2x2 => of!(fp8::E3M2, 8),
        _ => of!(fp8::E2M1, 4),
    };
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux: relu.aux(),
    }])
}

/// Two numbers of a format, the first in the upper bits.
fn few<const BITS: u32>(numbers: [f32; 2], modifiers: u64, format: Format) -> u16 {
    let how = Modifiers::of(modifiers);
    let [upper, lower] = numbers.map(|x| u16::from(fp8::encode(how.bounded(x), format)));
    upper << BITS | lower
}

/// Two floats of few bits to `f16`.
fn to_halves(it: &Cvt) -> Steps {
    if it.rounding != Some(Named::Rn)
        || it.ftz
        || it.saturation.is_some()
        || it.b.is_some()
        || it.random.is_some()
    {
        return Err("a modifier");
    }
    macro_rules! of {
        ($format:expr, $bits:literal) => {
            rare!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a: u16| {
                    let mask = (1 << $bits) - 1;
                    let of = |bits: u16| {
                        u32::from(
                            how.half_bounded::<F16>(fp8::decode((bits & mask) as u8, $format)),
                        )
                    };
                    of(a >> $bits) << 16 | of(a)
                })
            })
        };
    }
    let run = match it.from {
        Type::E4m3x2 => of!(fp8::E4M3, 8),
        Type::E5m2x2 => of!(fp8::E5M2, 8),
        Type::E2m3x2 => of!(fp8::E2M3, 8),
        Type::E3m2x2 => of!(fp8::E3M2, 8),
        _ => of!(fp8::E2M1, 4),
    };
    let aux = if it.relu {
        Modifiers::RELU
    } else {
        Modifiers::NONE
    }
    .aux();
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux,
    }])
}

/// Two numbers to powers of two.
fn to_scale(it: &Cvt) -> Steps {
    if !matches!(it.rounding, Some(Named::Rz | Named::Rp))
        || it.ftz
        || it.relu
        || it.random.is_some()
    {
        return Err("a modifier");
    }
    let how = modifiers(it, it.rounding.and_then(rounding).ok_or("the rounding")?);
    let run = match (it.from, it.b.is_some(), it.saturation) {
        (_, _, Some(Saturation::Sat)) => return Err("`.sat`"),
        (Type::F32, true, _) => {
            rare!(|c, op| binary(c, op, |a, b| scales([a, b], Modifiers::of(op.aux))))
        }
        (Type::Bf16x2, false, _) => rare!(|c, op| unary(c, op, |a: u32| {
            scales(
                [Bf16::to_f32((a >> 16) as u16), Bf16::to_f32(a as u16)],
                Modifiers::of(op.aux),
            )
        })),
        _ => return Err("the types"),
    };
    Ok(vec![Step {
        run,
        kind: Kind::Word,
        aux: how.aux(),
    }])
}

fn scales(numbers: [f32; 2], how: Modifiers) -> u16 {
    let [upper, lower] = numbers.map(|x| match how.has(Modifiers::SATFINITE) {
        true => fp8::ue8m0_satfinite(x, how.rounding()),
        false => fp8::ue8m0(x, how.rounding()),
    });
    u16::from(upper) << 8 | u16::from(lower)
}
