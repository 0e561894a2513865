//! Matrices, and what is only taken apart.

use ptx::*;

use super::{at, imm};
use crate::common::{body, error, one, reg};

#[test]
fn matrices() {
    let Operation::Mma(mma) = one(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f1, f2, f3, f4}, {r1, r2}, {r3, r4}, {f1, f2, f3, f4}, r9, 0x1;",
    ) else {
        panic!()
    };
    assert_eq!(mma.shape, Shape { m: 16, n: 8, k: 16 });
    assert_eq!(
        mma.sparsity,
        Some(Sparsity {
            ordered: true,
            metadata: reg(8),
            selector: imm(1)
        })
    );
    assert_eq!(
        (mma.a_type, mma.d_type, mma.b_layout),
        (Type::Bf16, Type::F32, Layout::Column)
    );
    let Operation::Mma(scaled) = one(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {f1, f2, f3, f4}, {r1, r2, r3, r4}, {r5, r6}, {f1, f2, f3, f4}, r7, {0, 1}, r8, {2, 1};",
    ) else {
        panic!()
    };
    let scale = scaled.scale.expect("scales");
    assert_eq!((scale.vector, scale.ty), (Some(1), Type::Ue8m0));
    assert_eq!(
        scale.b,
        Scale {
            data: reg(11),
            byte_id: imm(2),
            thread_id: imm(1)
        }
    );
    let Operation::WgmmaMma(wgmma) =
        one("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {r1, r2}, d1, d2, p1, 1, -1, 0, 1;")
    else {
        panic!()
    };
    assert_eq!(
        (
            wgmma.scale_a,
            wgmma.scale_b,
            wgmma.transpose_a,
            wgmma.transpose_b
        ),
        (1, -1, false, true)
    );
    let accumulated = &body(
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {r1, r2}, d1, d2, p1, 1, 1, 0, 0;",
    )
    .instructions[0];
    assert_eq!(accumulated.definitions(), [Reg(0), Reg(1)]);
    assert_eq!(accumulated.uses(), [0, 1, 2, 3, 4].map(Reg));
    let Operation::WmmaMma(wmma) =
        one("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {f1}, {r1}, {r2}, {r3};")
    else {
        panic!()
    };
    assert_eq!(
        (wmma.d_type, wmma.a_type, wmma.c_type),
        (Type::F32, Type::F16, Type::F16)
    );
    let Operation::Ldmatrix(load) =
        one("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r1, r2}, [r3+16];")
    else {
        panic!()
    };
    assert_eq!(
        (load.count, load.transposed, load.d.len(), load.address),
        (2, true, 2, at(2, 16))
    );
}

#[test]
fn others_are_taken_apart() {
    let Operation::Other(other) = one("tex.2d.v4.f32.f32 {f1, f2, f3, f4}, [d1, {f5, f6}];") else {
        panic!()
    };
    assert_eq!(
        (other.name.as_str(), &other.modifiers[..]),
        ("tex", &["2d", "v4", "f32", "f32"].map(str::to_owned)[..])
    );
    let coordinates = Argument::List(vec![Argument::Value(reg(5)), Argument::Value(reg(6))]);
    assert_eq!(
        other.operands[1],
        Argument::Address(at(4, 0), vec![coordinates])
    );
    let Operation::Other(other) = one("tcgen05.shift.cta_group::1.down [r1];") else {
        panic!()
    };
    assert_eq!(other.modifiers, ["shift", "cta_group::1", "down"]);
}

#[test]
fn tensor_memory() {
    let load = "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {r1, r2}, [r3+8], 16;";
    assert_eq!(
        one(load),
        Operation::Tcgen05Load(Box::new(Tcgen05Load {
            shape: Tcgen05Shape::L16x32bx2,
            repeats: 2,
            pack: false,
            d: vec![Reg(0), Reg(1)],
            address: at(2, 8),
            split: Some(16),
        }))
    );
    let Operation::Tcgen05Mma(product) = one(
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [r1], [r2], d3, r4, [r5], [r6], !p1;",
    ) else {
        panic!()
    };
    assert_eq!(product.kind, Tcgen05Kind::Mxf4nvf4);
    assert_eq!(product.a, Tcgen05Left::TensorMemory(at(1, 0)));
    assert_eq!(product.scales.map(|it| it.block), Some(Some(16)));
    assert!(product.adds.negated);
    for (wrong, why) in [
        (
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r1}, [r3];",
            "takes 2 registers, and there are 1",
        ),
        (
            "tcgen05.ld.sync.aligned.16x256b.x64.b32 {r1}, [r3];",
            "repetitions",
        ),
        (
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r1}, [r3], 512;",
            "below 512",
        ),
        (
            "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {r1, r2, r3, r4}, [r5];",
            "one or two at once",
        ),
        (
            "tcgen05.alloc.cta_group::3.sync.aligned.b32 [d1], 64;",
            "cta_group",
        ),
        (
            "tcgen05.mma.cta_group::1 [r1], d2, d3, r4, p1;",
            "a kind such as",
        ),
    ] {
        let error = error(wrong);
        assert!(error.contains(why), "{wrong}: {error}");
    }
}
