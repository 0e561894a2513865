//! Movement and conversions.

use ptx::*;

use super::imm;
use crate::common::{one, reg};

#[test]
fn movement() {
    assert_eq!(
        one("mov.u32 r1, %ctaid.y;"),
        Operation::Mov(Mov {
            ty: Type::U32,
            d: Reg(0),
            a: Operand::Special(SpecialRegister::Ctaid(Axis::Y))
        })
    );
    assert_eq!(
        one("mov.u64 d1, data+16;"),
        Operation::Mov(Mov {
            ty: Type::U64,
            d: Reg(0),
            a: Operand::Symbol {
                symbol: Symbol::Module(0),
                offset: 16
            }
        })
    );
    assert_eq!(
        one("mov.b32 r1, {h1, -1};"),
        Operation::Pack(Pack {
            ty: Type::B32,
            d: Reg(0),
            a: vec![reg(1), imm(0xffff)]
        })
    );
    assert_eq!(
        one("mov.b64 {_, r1}, d1;"),
        Operation::Unpack(Unpack {
            ty: Type::B64,
            d: vec![None, Some(Reg(0))],
            a: reg(1)
        })
    );
    assert_eq!(
        one("shfl.sync.bfly.b32 r1|p1, r2, 1, 0x1f, -1;"),
        Operation::Shfl(Shfl {
            mask: Some(imm(0xffff_ffff)),
            mode: ShuffleMode::Butterfly,
            d: Some(Reg(0)),
            p: Some(Reg(1)),
            a: reg(2),
            b: imm(1),
            c: imm(31)
        })
    );
    assert_eq!(
        one("prmt.b32.rc16 r1, r2, r3, r4;"),
        Operation::Prmt(Prmt {
            mode: Some(PrmtMode::Rc16),
            d: Reg(0),
            a: reg(1),
            b: reg(2),
            c: reg(3)
        })
    );
    assert_eq!(
        one("cvta.to.shared.u64 d1, d2;"),
        Operation::Cvta(Cvta {
            direction: CvtaDirection::FromGeneric,
            space: Space::Shared,
            ty: Type::U64,
            d: Reg(0),
            a: reg(1)
        })
    );
}

#[test]
fn conversions() {
    let cvt = |to, from| Cvt {
        to,
        from,
        rounding: None,
        ftz: false,
        saturation: None,
        relu: false,
        d: Reg(0),
        a: reg(1),
        b: None,
        random: None,
    };
    assert_eq!(
        one("cvt.s64.s32 d1, r1;"),
        Operation::Cvt(cvt(Type::S64, Type::S32))
    );
    assert_eq!(
        one("cvt.rni.ftz.sat.u8.f32 r1, f1;"),
        Operation::Cvt(Cvt {
            rounding: Some(Rounding::Rni),
            ftz: true,
            saturation: Some(Saturation::Sat),
            ..cvt(Type::U8, Type::F32)
        })
    );
    assert_eq!(
        one("cvt.rn.satfinite.relu.e4m3x2.f32 h1, f1, f2;"),
        Operation::Cvt(Cvt {
            rounding: Some(Rounding::Rn),
            saturation: Some(Saturation::Satfinite),
            relu: true,
            b: Some(reg(2)),
            ..cvt(Type::E4m3x2, Type::F32)
        })
    );
    assert_eq!(
        one("cvt.rs.f16x2.f32 r1, f1, f2, r2;"),
        Operation::Cvt(Cvt {
            rounding: Some(Rounding::Rs),
            b: Some(reg(2)),
            random: Some(reg(3)),
            ..cvt(Type::F16x2, Type::F32)
        })
    );
    assert_eq!(
        one("cvt.pack.sat.u8.s32.b32 r1, r2, r3, r4;"),
        Operation::CvtPack(CvtPack {
            to: Type::U8,
            from: Type::S32,
            d: Reg(0),
            a: reg(1),
            b: reg(2),
            c: Some(reg(3))
        })
    );
}
