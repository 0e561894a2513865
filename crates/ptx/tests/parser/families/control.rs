//! Branches, calls and synchronisation.

use ptx::*;

use super::{at, imm, no, yes};
use crate::common::{body, one, reg};

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
