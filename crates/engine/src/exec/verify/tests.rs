//! Programs that are wrong in one place, each of which must be refused.

use std::sync::Arc;

use crate::Module;
use crate::exec::access::Act;
use crate::exec::bulk::{Global, Way};
use crate::exec::mbarrier::{Act as MbarrierAct, Phase};
use crate::exec::op::Op;
use crate::exec::program::{BarrierAction, Callee, Draft, Gate, Parameter, Program, Then, Words};
use crate::exec::registers::Kind;
use crate::exec::signature::{Aux, Signature};
use crate::exec::tensor_memory::{Instruction, Left as TensorLeft};
use crate::exec::wgmma::Left;
use crate::lower;
use crate::memory::Memory;

/// A kernel and functions with what has slots, tables and targets of each kind.
const PTX: &str = "
.version 8.6
.target sm_100a
.address_size 64
.shared .align 128 .b8 tile[4096];
.visible .func (.param .b32 r) f(.param .b32 a, .param .b64 b)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [a];
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<8>;
    .reg .b16 %h<4>;
    .reg .b32 %r<40>;
    .reg .b64 %d<12>;
    .reg .b128 %q<4>;
    .reg .f32 %f<72>;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r4, %r3, %r1, %r2;
    mul.wide.u32 %d2, %r4, 4;
    add.s64 %d3, %d1, %d2;
    setp.lt.u32 %p1, %r4, %r1;
    not.pred %p2, %p1;
    and.pred %p3, %p1, %p2;
    selp.b32 %r5, %r1, %r2, %p3;
    add.cc.u32 %r6, %r4, %r5;
    addc.u32 %r7, %r6, 0;
    bfi.b32 %r8, %r6, %r7, %r2, %r1;
    ld.global.u32 %r9, [%d3];
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d1];
    ld.global.v2.u64 {%d4, %d5}, [%d1];
    ld.global.b128 %q1, [%d1];
    ld.global.u8 %h1, [%d1];
    st.global.u32 [%d3], %r9;
    st.global.v2.u32 [%d3], {%r10, %r11};
    atom.global.cas.b32 %r14, [%d3], %r9, %r10;
    atom.global.add.u64 %d6, [%d3], %d4;
    red.global.add.u32 [%d3], 1;
    shfl.sync.bfly.b32 %r15|%p4, %r9, 1, 31, -1;
    shfl.sync.idx.b32 %r16|%p4, %r9, %r2, %r1, -1;
    vote.sync.ballot.b32 %r17, %p1, -1;
    vote.sync.any.pred %p5, %p1, -1;
    match.any.sync.b32 %r18, %r9, -1;
    match.all.sync.b64 %r19|%p5, %d4, -1;
    redux.sync.add.s32 %r20, %r9, -1;
    activemask.b32 %r21;
    elect.sync %r22|%p6, -1;
    vadd4.u32.u32.u32 %r23, %r9, %r10, %r11;
    mov.u64 %d7, tile;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r24, %r25, %r26, %r27}, [%d7];
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%d7], {%r24, %r25};
    movmatrix.sync.aligned.m8n8.trans.b16 %r28, %r24;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
        {%r24, %r25, %r26, %r27}, {%r24, %r25}, {%f1, %f2, %f3, %f4};
    mbarrier.init.shared.b64 [%d7], 1;
    mbarrier.arrive.shared.b64 %d8, [%d7];
    mbarrier.try_wait.shared.b64 %p7, [%d7], %d8;
    mbarrier.try_wait.parity.shared.b64 %p7, [%d7], %r1;
    mbarrier.expect_tx.relaxed.cta.shared.b64 [%d7], %r1;
    cp.async.ca.shared.global [%d7], [%d1], 16;
    cp.async.ca.shared.global [%d7], [%d1], 16, %r1;
    cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d7], %r1;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d7+16], [%d1], %r1, [%d7];
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%d7], [%d1, {%r1, %r2}], [%d7];
    tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f1, %f2, %f2}];
    sust.b.2d.v2.b32.clamp [%d1, {%r1, %r2}], {%r9, %r10};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d4, %d5, 1, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r24, %r25, %r26, %r27}, %d5, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%d7], %r1;
    tcgen05.st.sync.aligned.32x32b.x2.b32 [%d2], {%r24, %r25};
    tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r24, %r25}, [%d2];
    tcgen05.cp.cta_group::1.128x256b [%d2], %d4;
    tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%d2], %d4, %d5, %r8, [%d2], [%d3], %p1;
    tcgen05.mma.cta_group::1.kind::f16 [%d2], [%d3], %d5, %r8, {%r9, %r10, %r11, %r12}, %p1;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%d7], %h1;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, %r1;
    add.f32 %f5, %f1, %f2;
    @%p1 bra L1;
    barrier.red.popc.u32 %r29, 0, %p1;
    barrier.red.and.pred %p7, 1, 64, %p1;
L1:
    ts: .branchtargets L2, L3;
    brx.idx %r1, ts;
L2:
    {
    .param .b32 p0;
    .param .b64 p1;
    .param .b32 taken;
    st.param.b32 [p0], %r1;
    st.param.b64 [p1], %d1;
    call.uni (taken), f, (p0, p1);
    ld.param.b32 %r30, [taken];
    mov.u64 %d9, f;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
    call (taken), %d9, (p0, p1), proto;
    }
L3:
    ret;
}
";

/// Decodes a function of the module.
fn draft(function: &str) -> Draft {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("it can be loaded");
    let kernel = module.kernel("k").expect("the kernel");
    let index = kernel.code.function_of(function).expect("the function");
    lower::decode(&kernel.code.lowering(), index).expect("it can be decoded")
}

/// Why a draft is refused, once something of it has been changed.
fn refusal(function: &str, change: impl FnOnce(&mut Draft)) -> Option<String> {
    let mut draft = draft(function);
    change(&mut draft);
    Program::verified(draft).err().map(|fault| fault.why)
}

/// Returns values that are no slot of a kind: beyond the registers, within a slot, a slot of another kind.
fn no_slots(draft: &Draft, kind: Kind) -> Vec<u32> {
    let bytes = draft.decoded.register_bytes;
    let mut all = vec![bytes, u32::MAX, u32::MAX - 127, bytes - 64 + 4];
    let starts = (0..bytes).step_by(4);
    let own: Vec<u32> = starts
        .clone()
        .filter(|&slot| draft.decoded.slots.has(slot, kind))
        .take(2)
        .collect();
    all.extend(own.iter().map(|slot| slot + 4));
    for other in [Kind::Predicate, Kind::Word, Kind::Double, Kind::Quad] {
        if other != kind {
            let slot = starts
                .clone()
                .find(|&it| draft.decoded.slots.has(it, other));
            all.extend(slot);
        }
    }
    all
}

/// Sets a slot, which a function finds, to each that is none of its kind; every time that must be refused.
fn corrupt(function: &str, kind: Kind, slot: impl Fn(&mut Draft) -> &mut u32) {
    for wrong in no_slots(&draft(function), kind) {
        let why = refusal(function, |draft| *slot(draft) = wrong);
        assert!(why.is_some(), "a slot of {kind:?} at {wrong} was taken");
    }
}

#[test]
fn what_lowering_makes_is_taken() {
    for function in ["k", "f"] {
        assert_eq!(refusal(function, |_| {}), None);
    }
}

/// An operation: of the blocks, or of what a launch runs.
fn op_of(draft: &mut Draft, list: usize, index: usize) -> &mut Op {
    match list {
        0 => &mut draft.decoded.ops[index],
        _ => &mut draft.decoded.launch_ops[index],
    }
}

#[test]
fn every_slot_of_every_operation_is_verified() {
    let all = draft("k");
    let mut verified = 0;
    for list in 0..2 {
        for (index, signature) in all.signatures[list].iter().enumerate() {
            let Signature { d, a, b, c, aux } = *signature;
            for (field, kind) in [d, a, b, c].into_iter().enumerate() {
                let Some(kind) = kind else { continue };
                verified += 1;
                corrupt("k", kind, |draft| {
                    let op = op_of(draft, list, index);
                    match field {
                        0 => &mut op.d,
                        1 => &mut op.a,
                        2 => &mut op.b,
                        _ => &mut op.c,
                    }
                });
            }
            let wrong: Vec<u64> = match aux {
                Aux::Number => continue,
                Aux::Slot(kind) => {
                    let slots = no_slots(&all, kind).into_iter().map(u64::from);
                    slots.chain([1 << 32, u64::MAX]).collect()
                }
                Aux::Above(bits) => {
                    let slots = no_slots(&all, Kind::Predicate).into_iter();
                    slots
                        .map(|slot| u64::from(slot) << bits)
                        .chain([u64::MAX])
                        .collect()
                }
                Aux::Access(_) | Aux::Index(_) | Aux::List => vec![1000, 1 << 32, u64::MAX],
            };
            for wrong in wrong {
                verified += 1;
                let why = refusal("k", |draft| op_of(draft, list, index).aux = wrong);
                assert!(why.is_some(), "{aux:?} took {wrong}");
            }
        }
    }
    assert!(verified > 200, "{verified} fields");
}

#[test]
fn a_result_that_is_kept_is_of_the_handlers_kind() {
    let all = draft("k");
    for (index, signature) in all.signatures[0].iter().enumerate() {
        for kind in [Kind::Predicate, Kind::Word, Kind::Double, Kind::Quad] {
            let why = refusal("k", |draft| draft.decoded.ops[index].writes = Some(kind));
            assert_eq!(
                why.is_some(),
                signature.d != Some(kind),
                "{signature:?}, {kind:?}"
            );
        }
    }
}

#[test]
fn accesses_are_those_that_their_handler_executes() {
    let count = draft("k").decoded.accesses.len();
    assert!(count > 10, "{count} accesses");
    for index in 0..count {
        let all = draft("k");
        let access = &all.decoded.accesses[index];
        for (at, data) in access.data.iter().enumerate() {
            if data.slot.is_some() {
                corrupt("k", data.kind, |draft| {
                    draft.decoded.accesses[index].data[at]
                        .slot
                        .as_mut()
                        .expect("a slot")
                });
            }
        }
        match access.act {
            Act::CopyFrom { .. } => corrupt("k", Kind::Double, |draft| {
                match &mut draft.decoded.accesses[index].act {
                    Act::CopyFrom { to, .. } => to,
                    _ => panic!("another access"),
                }
            }),
            Act::Atomic(atomic) => {
                for operand in 0..2 {
                    corrupt("k", atomic.kind, |draft| {
                        match &mut draft.decoded.accesses[index].act {
                            Act::Atomic(atomic) => match operand {
                                0 => &mut atomic.operands[0],
                                _ => &mut atomic.comparand,
                            },
                            _ => panic!("another access"),
                        }
                    });
                }
            }
            Act::Load { .. } | Act::Store | Act::CopyTo => {}
        }
        if let Some(reach) = &access.image {
            for at in 0..reach.coordinates.len() {
                corrupt("k", Kind::Word, |draft| {
                    let access = &mut draft.decoded.accesses[index];
                    let reach = access.image.as_mut().expect("of an image");
                    &mut reach.coordinates[at]
                });
            }
            if reach.layer.is_some() {
                corrupt("k", Kind::Word, |draft| {
                    let access = &mut draft.decoded.accesses[index];
                    let reach = access.image.as_mut().expect("of an image");
                    reach.layer.as_mut().expect("a layer")
                });
            }
            let why = refusal("k", |draft| draft.decoded.accesses[index].image = None);
            assert!(why.expect("refused").contains("none of Image"));
        }
        for element in [0, 3, 32, u32::MAX] {
            let why = refusal("k", |draft| draft.decoded.accesses[index].element = element);
            assert!(why.is_some(), "elements of {element} bytes");
        }
        let why = refusal("k", |draft| draft.decoded.accesses[index].data.clear());
        assert!(why.is_some(), "no elements");
    }
    // What is moved as one row is of the bytes and elements that its handler is made for.
    let index = |draft: &Draft| {
        let mut all = draft.decoded.accesses.iter();
        let found = all.position(|it| (it.element, it.data.len()) == (4, 4));
        found.expect("a vector of four words")
    };
    for change in [
        |draft: &mut Draft, index: usize| draft.decoded.accesses[index].element = 8,
        |draft: &mut Draft, index: usize| draft.decoded.accesses[index].data.truncate(2),
        |draft: &mut Draft, index: usize| draft.decoded.accesses[index].act = Act::Store,
        |draft: &mut Draft, index: usize| {
            draft.decoded.accesses[index].order = ptx::Order::Acquire;
        },
    ] {
        let why = refusal("k", |draft| change(draft, index(draft)));
        let why = why.expect("it must be refused");
        assert!(why.contains("none of Load"), "{why}");
    }
}

#[test]
fn entries_of_tables_are_verified() {
    for (which, kind) in [Kind::Word; 3].into_iter().enumerate() {
        corrupt("k", kind, |draft| {
            let product = &mut draft.decoded.products[0];
            [&mut product.a.slots, &mut product.b.slots]
                .into_iter()
                .chain([&mut product.d.slots])
                .nth(which)
                .and_then(|it| it.last_mut())
                .expect("a slot")
        });
    }
    corrupt("k", Kind::Word, |draft| {
        draft.decoded.lists.last_mut().expect("a slot")
    });
    corrupt("k", Kind::Double, |draft| {
        &mut draft.decoded.wgmmas[0].b.descriptor
    });
    corrupt("k", Kind::Predicate, |draft| {
        &mut draft.decoded.wgmmas[0].adds
    });
    corrupt("k", Kind::Word, |draft| {
        &mut draft.decoded.wgmmas[0].d.slots[3]
    });
    corrupt("k", Kind::Double, |draft| {
        match &mut draft.decoded.wgmmas[0].a {
            Left::Shared(matrix) => &mut matrix.descriptor,
            Left::Registers(_) => panic!("registers"),
        }
    });
    corrupt("k", Kind::Word, |draft| {
        match &mut draft.decoded.wgmmas[1].a {
            Left::Registers(factor) => &mut factor.slots[3],
            Left::Shared(_) => panic!("a descriptor"),
        }
    });
    mbarriers();
    bulks();
    tensor_memory();
}

fn tensor_memory() {
    type Slot = fn(&mut Instruction) -> Option<&mut u32>;
    let slots: [(Kind, Slot); 17] = [
        (Kind::Double, |it| match it {
            Instruction::Allocate { to, .. } => Some(&mut to.slot),
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Allocate { columns, .. } | Instruction::Free { columns, .. } => {
                Some(columns)
            }
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Free { address, .. } => Some(address),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Move(it) => Some(&mut it.address.slot),
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Move(it) => it.slots.last_mut(),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Copy(it) => Some(&mut it.address.slot),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Copy(it) => Some(&mut it.descriptor),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Commit { mbarrier, .. } => Some(&mut mbarrier.slot),
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Commit { multicast, .. } => multicast.as_mut(),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Multiply(it) => Some(&mut it.d.slot),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Multiply(it) => match &mut it.a {
                TensorLeft::Shared(slot) => Some(slot),
                TensorLeft::Tensor(address) => Some(&mut address.slot),
            },
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Multiply(it) => Some(&mut it.b),
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Multiply(it) => Some(&mut it.descriptor),
            _ => None,
        }),
        (Kind::Word, |it| match it {
            Instruction::Multiply(it) => it.disabled.last_mut(),
            _ => None,
        }),
        (Kind::Predicate, |it| match it {
            Instruction::Multiply(it) => Some(&mut it.adds),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Multiply(it) => it.scales.as_mut().map(|it| &mut it.a.slot),
            _ => None,
        }),
        (Kind::Double, |it| match it {
            Instruction::Multiply(it) => it.scales.as_mut().map(|it| &mut it.b.slot),
            _ => None,
        }),
    ];
    let count = draft("k").decoded.tensor_memory.len();
    assert_eq!(count, 8);
    for (kind, slot) in slots {
        let having: Vec<usize> = (0..count)
            .filter(|&index| slot(&mut draft("k").decoded.tensor_memory[index]).is_some())
            .collect();
        assert!(!having.is_empty(), "no instruction has it");
        for index in having {
            corrupt("k", kind, |draft| {
                slot(&mut draft.decoded.tensor_memory[index]).expect("it has one")
            });
        }
    }
    let index = |draft: &Draft| {
        let mut all = draft.decoded.tensor_memory.iter();
        all.position(|it| matches!(it, Instruction::Move(_)))
            .expect("a move")
    };
    let why = refusal("k", |draft| {
        let index = index(draft);
        if let Instruction::Move(it) = &mut draft.decoded.tensor_memory[index] {
            it.slots.pop();
        }
    });
    assert!(why.is_some_and(|it| it.contains("registers")));
}

fn mbarriers() {
    let count = draft("k").decoded.mbarriers.len();
    assert_eq!(count, 5);
    for index in 0..count {
        corrupt("k", Kind::Double, |draft| {
            &mut draft.decoded.mbarriers[index].at.slot
        });
        let kind = match draft("k").decoded.mbarriers[index].act {
            MbarrierAct::Arrive(_)
            | MbarrierAct::Wait {
                phase: Phase::Of(_),
                ..
            } => Kind::Double,
            _ => Kind::Word,
        };
        corrupt("k", kind, |draft| {
            match &mut draft.decoded.mbarriers[index].act {
                MbarrierAct::Init { count: slot }
                | MbarrierAct::Expect { bytes: slot }
                | MbarrierAct::Complete { bytes: slot } => slot,
                MbarrierAct::Arrive(arrival) => arrival.state.as_mut().expect("a state"),
                MbarrierAct::Wait {
                    phase: Phase::Of(slot) | Phase::Parity(slot),
                    ..
                } => slot,
                _ => panic!("without a slot"),
            }
        });
        if let MbarrierAct::Wait { .. } = draft("k").decoded.mbarriers[index].act {
            corrupt("k", Kind::Predicate, |draft| {
                match &mut draft.decoded.mbarriers[index].act {
                    MbarrierAct::Wait { p, .. } => p,
                    _ => panic!("another"),
                }
            });
        }
    }
}

fn bulks() {
    let count = draft("k").decoded.bulks.len();
    assert_eq!(count, 3);
    for index in 0..count {
        corrupt("k", Kind::Double, |draft| {
            &mut draft.decoded.bulks[index].shared.slot
        });
        corrupt("k", Kind::Double, |draft| {
            match &mut draft.decoded.bulks[index].global {
                Global::Adjacent { at, .. } => &mut at.slot,
                Global::Tensor { map, .. } => &mut map.slot,
                Global::Zeros => panic!("nowhere"),
            }
        });
        corrupt("k", Kind::Word, |draft| {
            match &mut draft.decoded.bulks[index].global {
                Global::Adjacent { bytes, .. } => bytes,
                Global::Tensor { coordinates, .. } => &mut coordinates[1],
                Global::Zeros => panic!("nowhere"),
            }
        });
        if let Way::Load { .. } = draft("k").decoded.bulks[index].way {
            corrupt("k", Kind::Double, |draft| {
                match &mut draft.decoded.bulks[index].way {
                    Way::Load { mbarrier, .. } => &mut mbarrier.slot,
                    _ => panic!("another"),
                }
            });
        }
    }
}

#[test]
fn every_target_is_a_block() {
    let blocks = draft("k").decoded.blocks.len();
    let (mut jumps, mut splits, mut switches) = (0, 0, 0);
    for index in 0..blocks {
        for wrong in [blocks as u32, u32::MAX] {
            let refused = |change: &dyn Fn(&mut Then)| {
                let why = refusal("k", |draft| change(&mut draft.decoded.blocks[index].then));
                assert!(why.is_some(), "block {wrong} of {blocks}");
            };
            match &draft("k").decoded.blocks[index].then {
                Then::Jump(_) => {
                    jumps += 1;
                    refused(&|then| *then = Then::Jump(wrong));
                }
                Then::Branch { .. } => {
                    splits += 1;
                    refused(&|then| {
                        let Then::Branch { taken, .. } = then else {
                            return;
                        };
                        *taken = wrong;
                    });
                    refused(&|then| {
                        let Then::Branch { otherwise, .. } = then else {
                            return;
                        };
                        *otherwise = wrong;
                    });
                }
                Then::Switch { .. } => {
                    switches += 1;
                    refused(&|then| {
                        let Then::Switch { targets, .. } = then else {
                            return;
                        };
                        targets[1] = wrong;
                    });
                }
                Then::Barrier { .. } | Then::Call { .. } => refused(&|then| match then {
                    Then::Barrier { next, .. } | Then::Call { next, .. } => *next = wrong,
                    _ => {}
                }),
                Then::Return | Then::Exit | Then::Trap => {}
            }
            let why = refusal("k", |draft| draft.decoded.blocks[index].through = wrong);
            assert!(why.is_some(), "through {wrong}");
            let why = refusal("k", |draft| draft.decoded.blocks[index].end = 1 << 20);
            assert!(why.is_some(), "operations beyond the last");
        }
        let why = refusal("k", |draft| {
            let block = &mut draft.decoded.blocks[index];
            block.start = block.end + 1;
        });
        assert!(why.is_some(), "an end before the start");
    }
    assert!(jumps > 0 && splits > 0 && switches > 0);
}

/// The end of the first block of a kind.
fn end(draft: &mut Draft, is_meant: impl Fn(&Then) -> bool) -> &mut Then {
    let mut all = draft.decoded.blocks.iter_mut().map(|it| &mut it.then);
    all.find(|it| is_meant(it)).expect("a block that ends so")
}

#[test]
fn slots_of_the_ends_of_blocks_are_verified() {
    corrupt("k", Kind::Predicate, |draft| {
        match end(draft, |it| matches!(it, Then::Branch { .. })) {
            Then::Branch { predicate, .. } => predicate,
            _ => panic!("another"),
        }
    });
    corrupt("k", Kind::Word, |draft| {
        match end(draft, |it| matches!(it, Then::Switch { .. })) {
            Then::Switch { index, .. } => index,
            _ => panic!("another"),
        }
    });
    for (which, kind) in [Kind::Word, Kind::Word, Kind::Predicate]
        .into_iter()
        .enumerate()
    {
        corrupt("k", kind, |draft| {
            match end(draft, |it| matches!(it, Then::Barrier { .. })) {
                Then::Barrier { barrier, .. } => match &mut barrier.action {
                    _ if which == 0 => &mut barrier.id,
                    BarrierAction::Reduce { destination, .. } if which == 1 => destination,
                    BarrierAction::Reduce { predicate, .. } => predicate,
                    _ => panic!("another"),
                },
                _ => panic!("another"),
            }
        });
    }
    let is_indirect = |it: &Then| matches!(it, Then::Call { call, .. } if matches!(call.callee, Callee::Address(_)));
    corrupt("k", Kind::Double, |draft| match end(draft, is_indirect) {
        Then::Call { call, .. } => match &mut call.callee {
            Callee::Address(slot) => slot,
            _ => panic!("another"),
        },
        _ => panic!("another"),
    });
    for which in 0..3 {
        let words = |draft: &mut Draft, change: &dyn Fn(&mut Words)| match end(draft, |it| {
            matches!(it, Then::Call { .. })
        }) {
            Then::Call { call, .. } if which < 2 => change(&mut call.arguments[which]),
            Then::Call { call, .. } => change(&mut call.returns[0]),
            _ => panic!("another"),
        };
        refuses_words("k", words);
    }
}

/// Words that do not all lie in slots of words must be refused.
fn refuses_words(function: &str, of: impl Fn(&mut Draft, &dyn Fn(&mut Words))) {
    let bytes = draft(function).decoded.register_bytes;
    for (count, by) in [(1 << 20, 0), (u32::MAX, 0), (1, 4), (1, bytes)] {
        let why = refusal(function, |draft| {
            of(draft, &|words| {
                words.count = count;
                words.slot += by;
            });
        });
        assert!(why.is_some(), "{count} words, {by} behind their slot");
    }
    for count in [1, 2, 3] {
        let why = refusal(function, |draft| {
            of(draft, &|words| {
                (words.count, words.is_double) = (count, true)
            });
        });
        assert!(why.is_some(), "{count} words in one slot of 64 bits");
    }
}

#[test]
fn what_an_activation_begins_with_is_verified() {
    corrupt("k", Kind::Word, |draft| {
        let mut all = draft.decoded.constants.iter_mut();
        &mut all
            .find(|it| it.kind == Kind::Word)
            .expect("a constant")
            .slot
    });
    corrupt("k", Kind::Word, |draft| {
        &mut draft.decoded.launch_specials[0].1
    });
    corrupt("k", Kind::Word, |draft| {
        &mut draft.decoded.block_specials[0].1
    });
    corrupt("k", Kind::Double, |draft| {
        match &mut draft.decoded.parameters[0] {
            Parameter::Launch { slot, .. } => slot,
            Parameter::Call(_) => panic!("a function's"),
        }
    });
    let why = refusal("k", |draft| match &mut draft.decoded.parameters[0] {
        Parameter::Launch { bytes, .. } => *bytes = 17,
        Parameter::Call(_) => panic!("a function's"),
    });
    assert!(why.is_some(), "17 bytes in a register");
    refuses_words("f", |draft, change| {
        match &mut draft.decoded.parameters[1] {
            Parameter::Call(words) => change(words),
            Parameter::Launch { .. } => panic!("a kernel's"),
        }
    });
    refuses_words("f", |draft, change| change(&mut draft.decoded.returns[0]));
    let why = refusal("k", |draft| draft.decoded.register_bytes += 64);
    assert!(why.is_some(), "more registers than slots");
}

#[test]
fn gates_are_verified() {
    fn gate(draft: &mut Draft, is_meant: impl Fn(&Gate) -> bool) -> &mut Gate {
        let mut all = draft
            .decoded
            .blocks
            .iter_mut()
            .filter_map(|it| it.gate.as_mut());
        all.find(|it| is_meant(it)).expect("a gate")
    }
    corrupt("k", Kind::Word, |draft| &mut gate(draft, |_| true).members);
    corrupt("k", Kind::Word, |draft| {
        let gate = gate(draft, |it| it.from.is_some());
        &mut gate.from.as_mut().expect("a shuffle").1
    });
    corrupt("k", Kind::Predicate, |draft| {
        let is_meant = |it: &Gate| matches!(it.source, Some((_, Kind::Predicate)));
        &mut gate(draft, is_meant).source.as_mut().expect("a vote").0
    });
}

#[test]
fn what_is_refused_says_where() {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("it can be loaded");
    let kernel = module.kernel("k").expect("the kernel");
    let mut draft = draft("k");
    let index = draft.decoded.ops.len() - 1;
    draft.decoded.ops[index].a = u32::MAX;
    draft.signatures[0][index].a = Some(Kind::Word);
    let instruction = draft.decoded.ops[index].instruction;
    let error = lower::verified(
        &kernel.code.lowering(),
        kernel.code.function_of("k").expect("k"),
        draft,
    );
    let crate::exec::unlowered::Unlowered::Internal(error) = error.expect_err("it must be refused")
    else {
        panic!("another error");
    };
    assert_eq!(
        (error.function.as_str(), error.instruction),
        ("k", Some(instruction))
    );
    assert!(error.line > 80, "line {}", error.line);
    assert!(
        error.to_string().contains("no slot of Word at 4294967295"),
        "{error}"
    );
}
