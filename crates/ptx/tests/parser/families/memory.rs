//! Loads, stores, atomics and asynchronous copies.

use ptx::*;

use super::{at, imm, yes};
use crate::common::{one, reg};

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
