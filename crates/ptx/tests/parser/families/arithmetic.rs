//! Integers, floats, comparison and logic.

use ptx::*;

use super::{imm, no, yes};
use crate::common::{one, reg};

#[test]
fn integers() {
    let sum = |ty, saturate, carry_in, carry_out, b| IntegerSum {
        ty,
        saturate,
        carry_in,
        carry_out,
        d: Reg(0),
        a: reg(1),
        b,
    };
    assert_eq!(
        one("add.sat.s32 r1, r2, -5;"),
        Operation::IntegerAdd(sum(Type::S32, true, false, false, imm(0xffff_fffb)))
    );
    assert_eq!(
        one("addc.cc.u32 r1, r2, 0x10U;"),
        Operation::IntegerAdd(sum(Type::U32, false, true, true, imm(16)))
    );
    assert_eq!(
        one("subc.u64 d1, d2, d3;"),
        Operation::IntegerSub(sum(Type::U64, false, true, false, reg(2)))
    );
    assert_eq!(
        one("mad.wide.s32 d1, r2, -1, d3;"),
        Operation::IntegerMad(IntegerMad {
            ty: Type::S32,
            half: Half::Wide,
            saturate: false,
            carry_in: false,
            carry_out: false,
            d: Reg(0),
            a: reg(1),
            b: imm(0xffff_ffff),
            c: reg(2)
        })
    );
    assert_eq!(
        one("mul.hi.u64 d1, d2, d3;"),
        Operation::IntegerMul(IntegerMul {
            ty: Type::U64,
            half: Half::Hi,
            d: Reg(0),
            a: reg(1),
            b: reg(2)
        })
    );
    assert_eq!(
        one("min.relu.s16x2 r1, r2, r3;"),
        Operation::IntegerMin(IntegerMinMax {
            ty: Type::S16x2,
            relu: true,
            d: Reg(0),
            a: reg(1),
            b: reg(2)
        })
    );
    assert_eq!(
        one("popc.b64 r1, d1;"),
        Operation::Popc(Count {
            ty: Type::B64,
            d: Reg(0),
            a: reg(1)
        })
    );
    assert_eq!(
        one("bfind.shiftamt.s64 r1, d2;"),
        Operation::Bfind(Bfind {
            ty: Type::S64,
            shift_amount: true,
            d: Reg(0),
            a: reg(1)
        })
    );
    assert_eq!(
        one("bfi.b64 d1, d2, d3, 4, r5;"),
        Operation::Bfi(Bfi {
            ty: Type::B64,
            d: Reg(0),
            a: reg(1),
            b: reg(2),
            position: imm(4),
            length: reg(3)
        })
    );
    assert_eq!(
        one("dp2a.hi.s32.u32 r1, r2, r3, r4;"),
        Operation::Dp2a(DotProduct {
            a_type: Type::S32,
            b_type: Type::U32,
            half: Half::Hi,
            d: Reg(0),
            a: reg(1),
            b: reg(2),
            c: reg(3)
        })
    );
}

#[test]
fn floats() {
    let binary = |ty, source, rounding, ftz, saturate, b| FloatBinary {
        ty,
        source,
        rounding,
        ftz,
        saturate,
        d: Reg(0),
        a: reg(1),
        b,
    };
    assert_eq!(
        one("add.rn.ftz.sat.f32 f1, f2, 1.0;"),
        Operation::FloatAdd(binary(
            Type::F32,
            Type::F32,
            Some(Rounding::Rn),
            true,
            true,
            imm(0x3f80_0000)
        ))
    );
    assert_eq!(
        one("sub.f32.bf16 f1, h2, f3;"),
        Operation::FloatSub(binary(Type::F32, Type::Bf16, None, false, false, reg(2)))
    );
    assert_eq!(
        one("mul.f64 g1, g2, 0dC000000000000000;"),
        Operation::FloatMul(binary(
            Type::F64,
            Type::F64,
            None,
            false,
            false,
            imm((-2.0f64).to_bits())
        ))
    );
    let Operation::Fma(fma) = one("fma.rn.ftz.relu.f16x2 r1, r2, r3, r4;") else {
        panic!()
    };
    assert_eq!(
        (fma.ty, fma.rounding, fma.ftz, fma.relu, fma.saturate),
        (Type::F16x2, Rounding::Rn, true, true, false)
    );
    // `mad` of floats is `fma`.
    assert_eq!(
        one("mad.rz.f32 f1, f2, f3, f4;"),
        one("fma.rz.f32 f1, f2, f3, f4;")
    );
    let precision = |text: &str| match one(text) {
        Operation::FloatDiv(div) => div.precision,
        Operation::Rcp(root) | Operation::Sqrt(root) => root.precision,
        other => panic!("{other:?}"),
    };
    assert_eq!(precision("div.full.ftz.f32 f1, f2, f3;"), Precision::Full);
    assert_eq!(
        precision("rcp.approx.ftz.f64 g1, g2;"),
        Precision::Approximate
    );
    assert_eq!(
        precision("sqrt.rp.f64 g1, g2;"),
        Precision::Rounded(Rounding::Rp)
    );
    let Operation::FloatMax(max) = one("max.NaN.xorsign.abs.f32 f1, f2, f3;") else {
        panic!()
    };
    assert!(max.nan && max.xorsign_abs && !max.abs && max.c.is_none());
    let Operation::FloatMin(min) = one("min.ftz.NaN.abs.f32 f1, f2, f3, 0f40000000;") else {
        panic!()
    };
    assert!(min.nan && min.ftz && !min.xorsign_abs && min.abs);
    assert_eq!(min.c, Some(imm(0x4000_0000)));
    assert_eq!(
        one("testp.notanumber.f64 p1, g1;"),
        Operation::Testp(Testp {
            ty: Type::F64,
            test: FloatTest::NotANumber,
            p: Reg(0),
            a: reg(1)
        })
    );
    assert_eq!(
        one("ex2.approx.ftz.bf16x2 r1, r2;"),
        Operation::Ex2(FloatUnary {
            ty: Type::Bf16x2,
            ftz: true,
            d: Reg(0),
            a: reg(1)
        })
    );
}

#[test]
fn comparison_and_logic() {
    assert_eq!(
        one("setp.geu.and.ftz.f32 p1|p2, f1, 0f00000000, !p3;"),
        Operation::Setp(Setp {
            ty: Type::F32,
            comparison: Comparison::Geu,
            combination: Some(Combination {
                operator: BooleanOperator::And,
                with: no(reg(3))
            }),
            ftz: true,
            p: Some(Reg(0)),
            q: Some(Reg(1)),
            a: reg(2),
            b: imm(0)
        })
    );
    let Operation::Set(set) = one("set.eq.f16x2.f16x2 r1, r2, r3;") else {
        panic!()
    };
    assert_eq!(
        (set.destination, set.source, set.comparison),
        (Type::F16x2, Type::F16x2, Comparison::Eq)
    );
    assert_eq!(
        one("selp.s64 d1, -1, d3, p1;"),
        Operation::Selp(Selp {
            ty: Type::S64,
            d: Reg(0),
            a: imm(u64::MAX),
            b: reg(1),
            c: yes(reg(2))
        })
    );
    assert_eq!(
        one("lop3.or.b32 _|p1, r1, r2, r3, 0xE8, p2;"),
        Operation::Lop3(Lop3 {
            table: 0xe8,
            d: None,
            p: Some(Reg(0)),
            a: reg(1),
            b: reg(2),
            c: reg(3),
            combination: Some(Combination {
                operator: BooleanOperator::Or,
                with: yes(reg(4))
            })
        })
    );
    assert_eq!(
        one("shf.r.clamp.b32 r1, r2, r3, 5;"),
        Operation::Shf(Shf {
            direction: Direction::Right,
            wrap: Wrap::Clamp,
            d: Reg(0),
            a: reg(1),
            b: reg(2),
            c: imm(5)
        })
    );
    assert_eq!(
        one("shr.s64 d1, d2, r1;"),
        Operation::Shr(Shift {
            ty: Type::S64,
            d: Reg(0),
            a: reg(1),
            b: reg(2)
        })
    );
    assert_eq!(
        one("or.pred p1, p2, 1;"),
        Operation::Or(Binary {
            ty: Type::Pred,
            d: Reg(0),
            a: reg(1),
            b: imm(1)
        })
    );
}

#[test]
fn video() {
    let Operation::Video(it) = one("vadd.s32.u32.s32.sat.min r1, r2.b3, -5, r3;") else {
        panic!()
    };
    assert_eq!(
        (it.operator, it.lanes, it.signed, it.saturates, it.second),
        (VideoOperator::Add, 1, true, true, Some(VideoSecond::Min))
    );
    assert_eq!((it.a.part, it.a.signed), (VideoPart::Byte(3), false));
    assert_eq!((it.b.value, it.b.signed), (imm(0xFFFF_FFFB), true));
    assert_eq!((it.d, it.part), (Reg(0), VideoPart::Whole));
    let Operation::Video(it) = one("vset4.u32.s32.lt.add r1.b20, r2.b0123, r3, r4;") else {
        panic!()
    };
    assert_eq!((it.lanes, it.comparison), (4, Some(Comparison::Lt)));
    assert_eq!(it.part, VideoPart::Bytes([Some(0), Some(2), None, None]));
    let backwards = [Some(3), Some(2), Some(1), Some(0)];
    assert_eq!(it.a.part, VideoPart::Bytes(backwards));
    let Operation::Video(it) = one("vmad.s32.u32.u32.sat.shr7 r1, -r2.h1, r3, -r4;") else {
        panic!()
    };
    let c = it.c.expect("a third operand");
    assert_eq!((it.a.negated, it.b.negated, c.negated), (true, false, true));
    assert_eq!(
        (it.scale, it.plus_one, it.a.part),
        (7, false, VideoPart::Half(1))
    );
}
