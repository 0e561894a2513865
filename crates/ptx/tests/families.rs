//! Each family of instructions: text to typed values.

mod common;

use common::{body, module, one, reg};
use ptx::*;

const fn imm(bits: u64) -> Operand {
    Operand::Immediate(bits)
}

const fn yes(value: Operand) -> Predicate {
    Predicate {
        value,
        negated: false,
    }
}

const fn no(value: Operand) -> Predicate {
    Predicate {
        value,
        negated: true,
    }
}

const fn at(register: u32, offset: i64) -> Address {
    Address {
        base: Base::Register(Reg(register)),
        offset,
    }
}

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
        Operation::Popc(Unary {
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
        Operation::Shr(Binary {
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
fn movement() {
    assert_eq!(
        one("mov.u32 r1, %ctaid.y;"),
        Operation::Mov(Unary {
            ty: Type::U32,
            d: Reg(0),
            a: Operand::Special(SpecialRegister::Ctaid(Axis::Y))
        })
    );
    assert_eq!(
        one("mov.u64 d1, data+16;"),
        Operation::Mov(Unary {
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

#[test]
fn loads_and_stores() {
    let none = CacheHints {
        operator: None,
        level1: None,
        level2: None,
        prefetch: None,
        policy: None,
    };
    assert_eq!(
        one("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.v2.f32 {f1, _}, [d1+-8], d2;"),
        Operation::Ld(Box::new(Ld {
            space: Space::Global,
            order: Order::Weak,
            scope: None,
            read_only: true,
            unified: false,
            hints: CacheHints {
                level1: Some(Eviction::NoAllocate),
                prefetch: Some(PrefetchSize::Bytes128),
                policy: Some(reg(2)),
                ..none.clone()
            },
            ty: Type::F32,
            d: vec![Some(Reg(0)), None],
            address: at(1, -8)
        }))
    );
    let Operation::Ld(load) = one("ld.mmio.relaxed.sys.global.u32 r1, [data+4];") else {
        panic!()
    };
    assert_eq!((load.order, load.scope), (Order::Mmio, Some(Scope::System)));
    assert_eq!(
        load.address,
        Address {
            base: Base::Symbol(Symbol::Module(0)),
            offset: 4
        }
    );
    let Operation::Ld(load) = one("ld.param.u64 d1, [p];") else {
        panic!()
    };
    assert_eq!(
        (load.space, load.address.base),
        (Space::Param, Base::Symbol(Symbol::Parameter(0)))
    );
    assert_eq!(
        one("st.release.cta.shared::cta.u8 [r1], 7;"),
        Operation::St(Box::new(St {
            space: Space::Shared,
            order: Order::Release,
            scope: Some(Scope::Block),
            hints: none,
            ty: Type::U8,
            address: at(0, 0),
            a: vec![imm(7)]
        }))
    );
    assert_eq!(
        one("prefetch.global.L2::evict_last [d1];"),
        Operation::Prefetch(Prefetch {
            space: Space::Global,
            level: Some(CacheLevel::L2),
            eviction: Some(Eviction::Last),
            address: at(0, 0)
        })
    );
}

#[test]
fn atomics() {
    assert_eq!(
        one("atom.acquire.sys.shared.cas.b32 r1, [r2+4], 1, r3;"),
        Operation::Atom(Box::new(Atom {
            space: Space::Shared,
            order: Some(Order::Acquire),
            scope: Scope::System,
            operator: AtomicOperator::CompareAndSwap,
            ty: Type::B32,
            noftz: false,
            policy: None,
            d: vec![Some(Reg(0))],
            address: at(1, 4),
            comparand: Some(imm(1)),
            a: vec![reg(2)]
        }))
    );
    let Operation::Atom(vector) = one("atom.global.v2.f32.add {f1, f2}, [d1], {f3, f4};") else {
        panic!()
    };
    assert_eq!((vector.d.len(), &vector.a[..]), (2, &[reg(3), reg(4)][..]));
    assert_eq!((vector.order, vector.scope), (None, Scope::Device));
    let Operation::Red(red) = one("red.global.add.noftz.bf16x2 [d1], r1;") else {
        panic!()
    };
    assert_eq!(
        (red.ty, red.noftz, red.space),
        (Type::Bf16x2, true, Space::Global)
    );
    let Operation::RedAsync(red) = one(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r1], r2, [r3];",
    ) else {
        panic!()
    };
    assert_eq!(
        (red.space, red.mbarrier),
        (Space::SharedCluster, Some(at(2, 0)))
    );
}

#[test]
fn control() {
    let body = body(
        "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
         table: .branchtargets A, B;
         @!p1 bra.uni B;
         brx.idx r1, table;
         A: { .param .b32 x; .param .b32 y; call.uni (y), callee, (x); call (y), d1, (x), prototype; }
         B: exit;",
    );
    let [branch, indexed, direct, indirect, exit] = &body.instructions[..] else {
        panic!("{body:?}")
    };
    assert_eq!(
        branch.guard,
        Some(Guard {
            register: Reg(0),
            negated: true
        })
    );
    let Operation::Branch(Branch {
        uniform: true,
        target,
    }) = branch.operation
    else {
        panic!()
    };
    assert_eq!(
        body.labels[target.0 as usize],
        Label {
            name: "B".to_owned(),
            position: 4
        }
    );
    assert_eq!(
        indexed.operation,
        Operation::BranchIndexed(BranchIndexed {
            uniform: false,
            index: reg(1),
            targets: 0
        })
    );
    assert_eq!(
        body.branch_targets[0]
            .labels
            .iter()
            .map(|label| body.labels[label.0 as usize].position)
            .collect::<Vec<_>>(),
        [2, 4]
    );
    assert_eq!(
        direct.operation,
        Operation::Call(Box::new(Call {
            uniform: true,
            callee: Callee::Direct(FunctionId(0)),
            returns: vec![Returned::Variable(Symbol::Body(1))],
            arguments: vec![Operand::Symbol {
                symbol: Symbol::Body(0),
                offset: 0
            }]
        }))
    );
    let Operation::Call(call) = &indirect.operation else {
        panic!()
    };
    assert_eq!(
        call.callee,
        Callee::Indirect {
            address: reg(2),
            targets: Some(IndirectTargets::Prototype(0))
        }
    );
    assert_eq!(indirect.uses(), [Reg(2)]);
    assert!(
        branch.is_branch()
            && branch.falls_through()
            && !indexed.falls_through()
            && exit.is_terminator()
            && !direct.is_terminator()
    );
}

#[test]
fn synchronisation() {
    assert_eq!(
        one("bar.red.and.pred p1, 1, !p2;"),
        Operation::Barrier(Barrier {
            aligned: true,
            action: BarrierAction::And {
                p: Reg(0),
                predicate: no(reg(1))
            },
            id: imm(1),
            threads: None
        })
    );
    assert_eq!(
        one("barrier.red.popc.u32 r1, 0, 64, p1;"),
        Operation::Barrier(Barrier {
            aligned: false,
            action: BarrierAction::Popc {
                d: Reg(0),
                predicate: yes(reg(1))
            },
            id: imm(0),
            threads: Some(imm(64))
        })
    );
    let fence = |order, scope| {
        Operation::Fence(Fence::Thread {
            order,
            scope,
            restrict: None,
        })
    };
    assert_eq!(
        one("membar.gl;"),
        fence(Order::SequentiallyConsistent, Scope::Device)
    );
    assert_eq!(
        one("fence.acq_rel.cta;"),
        fence(Order::AcquireRelease, Scope::Block)
    );
    assert_eq!(
        one("fence.proxy.async.shared::cta;"),
        Operation::Fence(Fence::Proxy(Proxy::AsyncShared))
    );
    assert_eq!(
        one("vote.sync.ballot.b32 r1, !p1, -1;"),
        Operation::Vote(Vote {
            mask: Some(imm(0xffff_ffff)),
            mode: VoteMode::Ballot,
            d: Reg(0),
            a: no(reg(1))
        })
    );
    assert_eq!(
        one("match.all.sync.b64 r1|p1, d1, r2;"),
        Operation::Match(Match {
            mode: MatchMode::All,
            ty: Type::B64,
            d: Some(Reg(0)),
            p: Some(Reg(1)),
            a: reg(2),
            mask: reg(3)
        })
    );
    assert_eq!(
        one("redux.sync.max.abs.NaN.f32 f1, f2, -1;"),
        Operation::Redux(Redux {
            operator: ReduxOperator::Max,
            ty: Type::F32,
            abs: true,
            nan: true,
            d: Reg(0),
            a: reg(1),
            mask: imm(0xffff_ffff)
        })
    );
    let Operation::MbarrierArrive(arrive) =
        one("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [r1], 1024;")
    else {
        panic!()
    };
    assert_eq!(
        (arrive.expect_tx, arrive.count, arrive.state, arrive.drop),
        (Some(imm(1024)), None, None, false)
    );
    let Operation::MbarrierWait(wait) =
        one("mbarrier.try_wait.parity.shared.b64 p1, [r1+8], r2, 100;")
    else {
        panic!()
    };
    assert_eq!(
        (wait.suspend, wait.phase, wait.time),
        (true, Phase::Parity(reg(2)), Some(imm(100)))
    );
    assert_eq!(
        (wait.order, wait.scope, wait.address),
        (Order::Acquire, Scope::Block, at(1, 8))
    );
    assert!(matches!(
        one("mbarrier.expect_tx.relaxed.cta.shared.b64 [r1], 64;"),
        Operation::MbarrierTransaction(MbarrierTransaction {
            complete: false,
            ..
        })
    ));
}

#[test]
fn asynchronous_copies() {
    let Operation::CpAsync(copy) =
        one("cp.async.cg.shared.global.L2::cache_hint.L2::64B [r1], [d1+16], 16, 12, d2;")
    else {
        panic!()
    };
    assert_eq!(
        (copy.size, copy.source_size, copy.policy),
        (16, Some(imm(12)), Some(reg(2)))
    );
    assert_eq!(
        (copy.destination, copy.source, copy.cache),
        (at(0, 0), at(1, 16), CacheOperator::Cg)
    );
    let Operation::CpAsync(copy) = one("cp.async.ca.shared.global [r1], [d1], 4, p1;") else {
        panic!()
    };
    assert_eq!(
        (copy.source_size, copy.ignore_source),
        (None, Some(yes(reg(2))))
    );
    let Operation::CpAsyncBulk(bulk) = one(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r1], [d1], r2, [r3], h1;",
    ) else {
        panic!()
    };
    assert_eq!(
        (bulk.destination_space, bulk.source_space),
        (Space::SharedCluster, Space::Global)
    );
    assert_eq!(
        (bulk.completion, bulk.multicast),
        (Completion::Mbarrier(at(3, 0)), Some(reg(4)))
    );
    let Operation::CpAsyncBulkTensor(load) = one(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [r1], [d1, {r2, r3, 0}], [r4], {h1};",
    ) else {
        panic!()
    };
    assert_eq!(
        load.copy,
        TensorCopy::Load {
            space: Space::SharedCluster,
            destination: at(0, 0)
        }
    );
    assert_eq!(
        (load.dimensions, load.mode, load.tensor_map),
        (3, TensorMode::Im2col, at(1, 0))
    );
    assert_eq!(
        (&load.coordinates[..], &load.offsets[..]),
        (&[reg(2), reg(3), imm(0)][..], &[reg(5)][..])
    );
    let Operation::CpAsyncBulkTensor(reduce) =
        one("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [d1, {r1}], [r2];")
    else {
        panic!()
    };
    assert_eq!(
        reduce.copy,
        TensorCopy::Reduce {
            source: at(2, 0),
            operator: AtomicOperator::Add
        }
    );
    assert_eq!(reduce.completion, Some(Completion::Group));
    assert_eq!(
        one("cp.async.bulk.wait_group.read 2;"),
        Operation::CpAsyncBulkWaitGroup(CpAsyncBulkWaitGroup {
            groups: 2,
            read: true
        })
    );
}

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
    let Operation::Other(other) = one("tcgen05.wait::ld.sync.aligned;") else {
        panic!()
    };
    assert_eq!(other.modifiers, ["wait::ld", "sync", "aligned"]);
}

#[test]
fn constants() {
    let value = |text: &str, ty: &str| match one(&format!(
        "mov.{ty} {}, {text};",
        if ty.ends_with("64") { "d1" } else { "r1" }
    )) {
        Operation::Mov(Unary {
            a: Operand::Immediate(bits),
            ..
        }) => bits,
        other => panic!("{other:?}"),
    };
    for (text, bits) in [
        ("017", 15),
        ("0b101U", 5),
        ("0xFFFFFFFFF", 0xffff_ffff),
        ("-1", 0xffff_ffff),
        ("(1 << 4) | 3 + 2 * 4", 27),
        ("~0 & 0xF0", 0xf0),
        ("WARP_SZ / 2 - 1", 15),
        ("1 ? 2 : 3", 2),
        ("!0 + (3 > 2) + (7 == 7 && 0)", 2),
        ("(.u64) -1 >> 60", 15),
        ("(.s64) -16 >> 2", 0xffff_fffc),
        ("-7 / 2", 0xffff_fffd),
        ("0", 0),
    ] {
        assert_eq!(value(text, "u32"), bits, "{text}");
    }
    assert_eq!(value("1.5", "b64"), 1.5f64.to_bits());
    assert_eq!(value("0xFFFFFFFFFFFFFFFF >> 4", "u64"), u64::MAX >> 4);
}

#[test]
fn places_of_instructions() {
    let instructions = "add.u32 r1,\n  r2, 1; /* a\n comment */ @p1 ret;";
    let (text, body) = (common::text(instructions), body(instructions));
    let [first, second] = &body.instructions[..] else {
        panic!()
    };
    assert_eq!(
        (first.line, first.text(&text)),
        (common::LINES_BEFORE + 1, "add.u32 r1,\n  r2, 1;")
    );
    assert_eq!(
        (second.line, second.text(&text)),
        (common::LINES_BEFORE + 3, "@p1 ret;")
    );
    assert_eq!(
        (second.uses(), second.definitions()),
        (vec![Reg(2)], vec![])
    );
}

#[test]
fn scopes() {
    let body = body(
        "mov.u32 r1, 1;
         { .reg .u64 r1; .reg .v2 .f32 v; mov.u64 r1, 2; mov.b64 r1, v; add.f32 v.y, v.x, v.x; bra X; bra OUT; X: ret; }
         { X: bra X; { bra X; } }
         mov.u32 r1, 3;
         OUT: ",
    );
    let target = |index: usize| match body.instructions[index].operation {
        Operation::Branch(Branch { target, .. }) => body.labels[target.0 as usize].position,
        ref other => panic!("{other:?}"),
    };
    assert_eq!([4, 5, 7, 8].map(target), [6, 10, 7, 7]);
    let defined =
        |index: usize| &body.registers[body.instructions[index].definitions()[0].0 as usize];
    assert_eq!((defined(0).ty, defined(1).ty), (Type::B32, Type::U64));
    assert_eq!(
        body.instructions[0].definitions(),
        body.instructions[9].definitions()
    );
    assert_eq!(
        defined(3),
        &Register {
            name: "v.y".to_owned(),
            ty: Type::F32
        }
    );
    assert!(matches!(&body.instructions[2].operation, Operation::Pack(pack) if pack.a.len() == 2));
}

#[test]
fn guards_and_locations() {
    let module = module(
        ".file 1 \"a.rs\"
         .loc 1 10 3
         mov.u32 r1, 1;
         .loc 1 5 7, function_name $name+2, inlined_at 1 10 3
         mov.u32 r1, 2;
         .loc 1 10 3
         mov.u32 r1, 3; }
         .section .debug_str { $name: .b8 95,95,105,110
         .b8 0 }
         .func last() {",
    );
    let body = module.functions[1].body.as_ref().expect("a body");
    let locations: Vec<_> = body
        .instructions
        .iter()
        .map(|instruction| instruction.location)
        .collect();
    assert_eq!(locations, [Some(0), Some(1), Some(0)]);
    assert_eq!(
        body.locations[1],
        Location {
            file: 1,
            line: 5,
            column: 7,
            function: Some("in".to_owned()),
            inlined_at: Some(0)
        }
    );
    assert_eq!(module.file(1), Some("a.rs"));
}
