//! Movement and conversions.

use ptx::*;

use super::imm;
use crate::common::{body, error, one, reg};

/// As tinygrad writes it.
#[test]
fn elements_of_arrays_are_counted_in_brackets() {
    let variables = ".shared .align 8 .b64 S[4][2]; .shared .v4 .f32 V[2];";
    let body = body(&format!(
        "{variables} mov.u64 d1, S[3]; mov.u64 d1, data[-1]; mov.u64 d1, V[1];
        ld.global.b8 r1, data[2]; st.shared.u32 S[1], r1;"
    ));
    let offset = |it: &Instruction| match &it.operation {
        Operation::Mov(Mov {
            a: Operand::Symbol { offset, .. },
            ..
        }) => *offset,
        Operation::Ld(ld) => ld.address.offset,
        Operation::St(st) => st.address.offset,
        other => panic!("{other:?}"),
    };
    let offsets: Vec<i64> = body.instructions.iter().map(offset).collect();
    assert_eq!(offsets, [24, -1, 16, 2, 8]);
    for (bad, why) in [
        ("mov.u64 d1, d1[1];", "expected `;`"),
        ("mov.u64 d1, data[r1];", "expected a constant"),
        ("mov.u64 d1, data[1.5];", "an index is an integer"),
        (
            "mov.u64 d1, callee[1];",
            "expected a variable in front of brackets",
        ),
        ("ld.global.u32 r1, data;", "expected `[`"),
    ] {
        let said = error(bad);
        assert!(said.contains(why), "{bad}: {said}");
    }
}

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
