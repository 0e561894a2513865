//! Reports of checked launches to the checker.

use ptx::{Order as PtxOrder, Scope as PtxScope};

use super::access::{Access, Act, Host, Space};
use super::checked_atomics;
use super::failure::Cause;
use super::lanewise::Values;
use super::op::{Context, Op};
use super::partial_words;
use super::registers::LANES;
use super::root::Root;
use super::shared_operand::SharedOperand;
use super::undefined;
use crate::check::{
    self, AccessKind, Accessors, BlockId, Checker, Copy, CopyRole, Missing, Order, Part, Scope,
    Strength, TensorAct, TensorCells, Unwritten, Verb,
};
use crate::finding_kind::FindingKind;
use crate::memory::{Contents, Fault, Lanes};

/// Bits of an instruction's number in a function; the function's number is above them.
const INSTRUCTION_BITS: u32 = 18;

/// After how many accesses the clock is asked where a launch has a limit of time.
const ACCESSES_PER_LOOK: u32 = 64;

/// The number of an instruction in its module.
pub(crate) fn site(function: u32, instruction: u32) -> u32 {
    function << INSTRUCTION_BITS | instruction & ((1 << INSTRUCTION_BITS) - 1)
}

/// The function and the instruction of a number.
pub(crate) fn of_site(site: u32) -> (u32, u32) {
    (
        site >> INSTRUCTION_BITS,
        site & ((1 << INSTRUCTION_BITS) - 1),
    )
}

/// Tells the checker of an access that is about to be made. Gives whether it may be.
///
/// # Safety
/// The lanes have been resolved to `host`; the slots are of their kinds.
#[cold]
pub(super) unsafe fn check(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
    host: &Host<'_>,
) -> bool {
    if is_over(context, op) {
        return false;
    }
    if let Some(bytes) = access.part_bytes {
        // SAFETY: the contract of this function.
        return unsafe { partial_words::check(context, op, access, (space, host), lanes, bytes) };
    }
    // SAFETY: the contract of this function.
    let parts = unsafe { partial_words::placed(context, access, lanes) };
    let parts = parts.as_ref();
    let parts = parts.map(|(addresses, bytes)| Lanes::new(addresses, lanes.mask, *bytes));
    let lanes = parts.as_ref().unwrap_or(lanes);
    let fault = stray(context, op, access, space, lanes)
        .or_else(|| beyond_lent(context, access, space, lanes))
        .or_else(|| writes_fixed(context, access, space, lanes));
    if let Some(fault) = fault {
        context.fault(Cause::Fault(fault), op.instruction);
        return false;
    }
    let strength = strength(access.order, access.scope);
    meet_devices(context, access, strength);
    match access.act {
        Act::CopyTo => true,
        Act::CopyFrom { to, to_offset } => {
            // SAFETY: the slot holds addresses.
            let to = unsafe { context.slot::<u64>(to) }.map(|it| it.wrapping_add_signed(to_offset));
            let whole = Lanes::new(&to, lanes.mask, lanes.bytes);
            copy(context, op, Some(lanes), &whole)
        }
        // SAFETY: the operation is the one that this function was given, of a verified program, here and below.
        Act::Load { .. } => unsafe {
            tell(
                context,
                op,
                access,
                (space, host),
                lanes,
                AccessKind::Read(strength),
            )
        },
        // SAFETY: as above.
        Act::Store => unsafe {
            tell(
                context,
                op,
                access,
                (space, host),
                lanes,
                AccessKind::Write(strength),
            )
        },
        // SAFETY: as above.
        Act::Atomic(atomic) => unsafe {
            checked_atomics::tell(context, op, (access, &atomic), (space, host), lanes)
        },
    }
}

/// Returns whether the launch has failed, or its time is over: a check may compare an access with hundreds of earlier ones,
/// byte by byte and lane by lane.
#[inline]
fn is_over(context: &mut Context<'_>, op: &Op) -> bool {
    let Some(checking) = &mut context.at.checking else {
        return false;
    };
    checking.accesses = checking.accesses.wrapping_add(1);
    if !checking.accesses.is_multiple_of(ACCESSES_PER_LOOK) {
        return context.at.fault.is_some();
    }
    context.is_over(op.instruction)
}

/// Corrects the fault of an access that meets freed memory: it is out of bounds where its pointer was made from a
/// buffer that lives, and it met what was freed there by chance.
#[cold]
pub(super) fn by_root(
    context: &Context<'_>,
    op: &Op,
    access: &Access,
    lanes: &Lanes<'_>,
    fault: Fault,
) -> Fault {
    if fault.kind != FindingKind::UseAfterFree {
        return fault;
    }
    stray(context, op, access, Space::Global, lanes).unwrap_or(fault)
}

/// Memory that is there, and reached by a pointer that was made from other memory.
fn stray(
    context: &Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> Option<Fault> {
    let launch = context.at.launch;
    let root = match (space, access.root?) {
        (Space::Global, Root::Parameter(offset)) => launch.parameter(offset, 8, false) as u64,
        (Space::Global, Root::Variable(address) | Root::Constant(address)) => address,
        (Space::Shared, Root::Shared(offset)) => return context.at.layout.stray(offset, lanes),
        (Space::Shared, Root::Part(instruction)) => {
            let by = site(context.at.function_index(), instruction);
            let parts = context.at.checking.as_ref()?.parts.get(&context.at.block)?;
            return parts.stray(by, &context.at.layout, lanes);
        }
        (Space::Local, Root::Local(offset)) => {
            let root = context.at.local.frame + offset;
            return context.at.frames().stray(root.into(), lanes);
        }
        _ => return None,
    };
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &*context.at.met.add(op.aux as usize) };
    launch.memory.stray(root, lanes, met)
}

/// An access beyond the bytes that its parameter was lent, in an allocation that has more.
fn beyond_lent(
    context: &Context<'_>,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> Option<Fault> {
    let lent = &context.at.checking.as_ref()?.lent;
    let Root::Parameter(offset) = access.root.filter(|_| space == Space::Global)? else {
        return None;
    };
    let (_, bytes) = lent.iter().find(|(of, _)| *of == offset)?;
    let end = |address: u64| address.saturating_add(lanes.bytes.into());
    let (lane, address) = lanes
        .each()
        .find(|&(_, address)| address < bytes.start || end(address) > bytes.end)?;
    let memory = context.at.launch.memory;
    let mut fault = memory.fault(FindingKind::OutOfBounds, lane, address, lanes.bytes);
    fault.place.lies_in(bytes);
    Some(fault)
}

/// A write by a pointer that was made from a `&`, or from a variable that nobody writes.
fn writes_fixed(
    context: &Context<'_>,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> Option<Fault> {
    let is_write = !matches!(access.act, Act::Load { .. } | Act::CopyFrom { .. });
    let fixed = &context.at.checking.as_ref()?.fixed;
    let kind = match access.root? {
        Root::Parameter(offset) if is_write && fixed.contains(&offset) => {
            FindingKind::SharedReferenceWrite
        }
        Root::Constant(_) => FindingKind::ConstantWrite,
        _ => return None,
    };
    if space != Space::Global {
        return None;
    }
    let (lane, address) = lanes.each().next()?;
    let memory = context.at.launch.memory;
    Some(memory.fault(kind, lane, address, lanes.bytes))
}

/// An access as the checker is told of it, without the values of a store.
pub(super) fn told<'a>(
    context: &Context<'_>,
    op: &Op,
    access: &Access,
    lanes: &'a Lanes<'a>,
    what: AccessKind,
) -> check::Access<'a> {
    let unwritten = match &access.act {
        Act::Load { .. } => Unwritten::Carried,
        Act::Atomic(it) if it.exchanges || it.compares => Unwritten::Carried,
        _ => Unwritten::Found,
    };
    check::Access {
        instruction: site(context.at.function_index(), op.instruction),
        what,
        element_bytes: access.element,
        lanes,
        unwritten,
        stored: None,
    }
}

/// Lanes of the warp that runs, of a checked launch.
pub(super) fn accessors(context: &Context<'_>, mask: u32) -> Option<Accessors> {
    let who = who(context)?;
    Some(Accessors { mask, ..who })
}

/// How an access may meet others.
pub(super) fn strength_of(access: &Access) -> Strength {
    Strength::Strong(order(access.order), scope(access.scope))
}

/// Tells the checker of an access.
///
/// # Safety
/// The lanes have been resolved to `host`; the slots are of their kinds.
pub(super) unsafe fn tell(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    (space, host): (Space, &Host<'_>),
    lanes: &Lanes<'_>,
    what: AccessKind,
) -> bool {
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let values = unsafe { Values::new(context, access, host) };
    let Some(who) = accessors(context, lanes.mask) else {
        return true;
    };
    let told = check::Access {
        stored: matches!(access.act, Act::Store).then_some(&values as &dyn check::Stored),
        ..told(context, op, access, lanes, what)
    };
    let place = undefined::place(context, space, who);
    let changed = match (&access.act, place) {
        (Act::Atomic(atomic), Some(place)) => {
            let of = (access, atomic);
            let begins = contents(context, op, space, lanes);
            match undefined::before_atomic(context, of, place, (who, &told), begins) {
                Some(changed) => Some(changed),
                None => return false,
            }
        }
        _ => None,
    };
    let checked = tell_checker(context, op, access, space, (who, &told));
    if !found(context, op.instruction, checked) {
        return false;
    }
    if let Some(place) = place {
        let told = (who, &told);
        match (&access.act, changed) {
            (Act::Load { .. }, _) => undefined::loaded(context, access, place, told),
            (Act::Store, _) if context.at.tracks => {
                undefined::stored(context, access, place, told);
            }
            (_, Some(changed)) => {
                undefined::after_atomic(context, access, place, told, changed);
            }
            _ => {}
        }
    }
    true
}

/// The contents of the memory that lanes reach, before anybody writes to it.
pub(super) fn contents(
    context: &Context<'_>,
    op: &Op,
    space: Space,
    lanes: &Lanes<'_>,
) -> Contents {
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &*context.at.met.add(op.aux as usize) };
    let (first, last) = lanes.span();
    match space {
        Space::Global if met.covers(first, last) => met.contents,
        _ => Contents::Undefined,
    }
}

/// Tells the checker itself of an access.
pub(super) fn tell_checker(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    (who, told): (Accessors, &check::Access<'_>),
) -> check::Checked {
    let Some(checking) = &mut context.at.checking else {
        return Ok(());
    };
    match space {
        Space::Global => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &mut *context.at.met.add(op.aux as usize) };
            let (checker, memory) = (&mut checking.checker, context.at.launch.memory);
            match access.act {
                Act::Load {
                    is_read_only: true, ..
                } => checker.read_only(memory, met, who, told),
                _ => checker.global(memory, met, who, told),
            }
        }
        Space::Shared => {
            let owner = context.at.owner.unwrap_or(who.block);
            checking.checker.shared_of(owner, who, told)
        }
        Space::Local => {
            // SAFETY: the warp's own, which has entered.
            let frames = unsafe { &*context.at.local.frames };
            checking.checker.local(who, told, frames)
        }
        Space::Parameters | Space::Generic | Space::Cluster => Ok(()),
    }
}

/// Lets launches of other devices have their turn between what was written for them to see and what comes next.
fn meet_devices(context: &mut Context<'_>, access: &Access, strength: Strength) {
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    if std::mem::take(&mut checking.has_told) {
        checking.checker.pass();
    }
    let is_for_all = matches!(strength, Strength::Strong(_, Scope::System));
    let is_write = matches!(access.act, Act::Store | Act::Atomic(_));
    checking.has_told = is_for_all && is_write && context.at.launch.memory.has_peers();
}

/// Tells the checker of zeros that a copy of lanes writes. Gives whether it may.
///
/// # Safety
/// The access is a [`Act::CopyFrom`], whose slot holds addresses.
pub(super) unsafe fn copy_zeros(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    mask: u32,
) -> bool {
    let Act::CopyFrom { to, to_offset } = access.act else {
        return true;
    };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let to = unsafe { context.slot::<u64>(to) }.map(|it| it.wrapping_add_signed(to_offset));
    copy(context, op, None, &Lanes::new(&to, mask, access.element))
}

/// Tells the checker of a copy of lanes: from nowhere, of zeros.
fn copy(context: &mut Context<'_>, op: &Op, from: Option<&Lanes<'_>>, to: &Lanes<'_>) -> bool {
    let warp = context.at.warp;
    let instruction = site(context.at.function_index(), op.instruction);
    let Some(checking) = &mut context.at.checking else {
        return true;
    };
    let who = Accessors {
        block: checking.block(),
        warp,
        mask: to.mask,
    };
    if let Err(fault) = context.at.layout.resolve(to) {
        context.fault(Cause::Fault(fault), op.instruction);
        return false;
    }
    let copy = Copy {
        instruction,
        to,
        from,
    };
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &mut *context.at.met.add(op.aux as usize) };
    let checked = checking
        .checker
        .copy(context.at.launch.memory, met, who, &copy);
    found(context, op.instruction, checked)
}

/// Keeps a finding as the launch's failure. Gives whether there was none.
pub(super) fn found(context: &mut Context<'_>, instruction: u32, checked: check::Checked) -> bool {
    match checked {
        Ok(()) => true,
        Err(stop) => {
            context.fault(stop.into(), instruction);
            false
        }
    }
}

/// Tells of a fence, by the numbers of its order and its scope.
pub(crate) fn fence(context: &mut Context<'_>, of: u32, among: u32) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        let of = match of {
            of if of == PtxOrder::Acquire as u32 => Order::Acquire,
            of if of == PtxOrder::Release as u32 => Order::Release,
            of if of == PtxOrder::AcquireRelease as u32 => Order::AcquireRelease,
            _ => Order::SequentiallyConsistent,
        };
        let among = match among {
            it if it == PtxScope::Block as u32 => Scope::Block,
            it if it == PtxScope::Cluster as u32 => Scope::Cluster,
            it if it == PtxScope::Device as u32 => Scope::Device,
            _ => Scope::System,
        };
        checking.checker.fence(who, of, among);
    }
}

/// Tells that the running lanes let launches begin that depend on theirs.
pub(crate) fn let_dependents_begin(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.let_dependents_begin(who);
    }
}

/// Tells that the running lanes wait for the launch that theirs depends on.
pub(crate) fn wait_for_launch(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.wait_for_launch(who);
    }
}

/// Tells that the running lanes end a group of copies.
pub(crate) fn commit(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.commit(who);
    }
}

/// Tells that the running lanes wait for their copies, but for the newest groups.
pub(crate) fn wait(context: &mut Context<'_>, but: Option<u32>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.wait(who, but);
    }
}

/// Tells that lanes of the warp have met.
pub(crate) fn sync_warp(context: &mut Context<'_>, mask: u32) {
    let warp = context.at.warp;
    if let Some(checking) = &mut context.at.checking {
        let block = checking.block();
        checking.checker.sync_warp(Accessors { block, warp, mask });
    }
}

/// Tells of a proxy fence of the running lanes.
pub(crate) fn proxy_fence(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.proxy_fence(who);
    }
}

/// Tells that the running lanes end a group of bulk copies.
pub(crate) fn bulk_commit(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.bulk_commit(who);
    }
}

/// Tells that the running lanes wait for their bulk copies, but for the newest groups: until they are done, or
/// until they have read.
pub(crate) fn bulk_wait(context: &mut Context<'_>, but: u32, only_reads: bool) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.bulk_wait(who, but, only_reads);
    }
}

/// Tells the checker of an access to shared memory of a block.
pub(super) type OfShared =
    fn(&mut Checker, BlockId, Accessors, &check::Access<'_>) -> check::Checked;

/// Tells, by `tell`, of what a lane does with 8 bytes of shared memory, an mbarrier or others.
pub(super) fn shared_word(
    context: &mut Context<'_>,
    op: &Op,
    lane: usize,
    spot: &SharedOperand,
    what: AccessKind,
    tell: OfShared,
) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let who = lane_alone(context, lane);
    if let (Some(checking), Some(who), Some(owner)) = (&mut context.at.checking, who, spot.owner) {
        let mut addresses = [0; LANES];
        addresses[lane] = spot.offset;
        let access = check::Access {
            instruction,
            what,
            element_bytes: 8,
            lanes: &Lanes::new(&addresses, 1 << lane, 8),
            unwritten: Unwritten::Found,
            stored: None,
        };
        tell(checking.checker, owner, who, &access)?;
    }
    Ok(())
}

/// Tells that an mbarrier begins.
pub(super) fn begin_mbarrier(context: &mut Context<'_>, spot: &SharedOperand) {
    if let (Some(checking), Some(owner)) = (&mut context.at.checking, spot.owner) {
        checking.checker.begin_mbarrier(owner, spot.offset);
    }
}

/// Tells that a phase of an mbarrier ends.
pub(super) fn end_phase(context: &mut Context<'_>, spot: &SharedOperand) {
    if let (Some(checking), Some(owner)) = (&mut context.at.checking, spot.owner) {
        checking.checker.end_phase(owner, spot.offset);
    }
}

/// Whether a lane that asks for a phase that has ended is told so.
pub(super) fn may_know(context: &mut Context<'_>, lane: usize, spot: &SharedOperand) -> bool {
    let who = lane_alone(context, lane);
    match (&mut context.at.checking, who, spot.owner) {
        (Some(checking), Some(who), Some(owner)) => {
            checking.checker.may_know(owner, spot.offset, who)
        }
        _ => true,
    }
}

/// Whether copies of phases that have ended may still be under way.
pub(super) fn may_be_earlier(context: &mut Context<'_>, spot: &SharedOperand) -> bool {
    match (&mut context.at.checking, spot.owner) {
        (Some(checking), Some(owner)) => checking.checker.may_be_earlier(owner, spot.offset),
        _ => false,
    }
}

/// Tells that a wait at an mbarrier has succeeded.
pub(super) fn land(context: &mut Context<'_>, spot: &SharedOperand) {
    if let (Some(checking), Some(owner)) = (&mut context.at.checking, spot.owner) {
        checking.checker.land(owner, spot.offset);
    }
}

/// Tells that a lane's copies count at an mbarrier.
pub(super) fn copies_arrive(context: &mut Context<'_>, lane: usize, spot: &SharedOperand) {
    let who = lane_alone(context, lane);
    if let (Some(checking), Some(who), Some(owner)) = (&mut context.at.checking, who, spot.owner) {
        checking.checker.copies_arrive(who, owner, spot.offset);
    }
}

/// Tells of a copy to shared memory that an mbarrier counts.
pub(super) fn bulk_load(
    context: &mut Context<'_>,
    op: &Op,
    lane: usize,
    mbarrier: &SharedOperand,
    parts: &[Part],
) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let (who, memory) = (lane_alone(context, lane), context.at.launch.memory);
    if let (Some(checking), Some(who), Some(owner)) =
        (&mut context.at.checking, who, mbarrier.owner)
    {
        let told = (owner, mbarrier.offset);
        let checked = checking
            .checker
            .bulk_load(memory, who, told, instruction, parts);
        checked?;
    }
    Ok(())
}

/// Tells of a copy from shared memory.
pub(super) fn bulk_store(
    context: &mut Context<'_>,
    op: &Op,
    lane: usize,
    parts: &[Part],
    does: CopyRole,
) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let (who, memory) = (lane_alone(context, lane), context.at.launch.memory);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        let checked = checking
            .checker
            .bulk_store(memory, who, instruction, parts, does);
        checked?;
    }
    Ok(())
}

/// Tells that the running lanes arrive at the cluster's barrier.
pub(super) fn arrive_in_cluster(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.arrive_in_cluster(who);
    }
}

/// Tells that the running lanes go on from the cluster's barrier.
pub(super) fn leave_in_cluster(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.leave_in_cluster(who);
    }
}

/// Tells of a product of the warp, and where the 16 bytes lie that it reads.
pub(super) fn product(context: &mut Context<'_>, op: &Op, chunks: &[u64]) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        let checked = checking.checker.product(who, instruction, chunks);
        checked?;
    }
    Ok(())
}

/// Tells that the warp ends a group of products.
pub(super) fn commit_products(context: &mut Context<'_>) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.commit_products(who);
    }
}

/// Tells that the warp has waited for so many groups of products, of all that it has committed.
pub(super) fn wait_for_products(context: &mut Context<'_>, awaited: u32) {
    let who = who(context);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.wait_for_products(who, awaited);
    }
}

/// Tells of what a lane, or its warp, does with tensor memory.
pub(super) fn tensor(
    context: &mut Context<'_>,
    op: &Op,
    lane: usize,
    act: TensorAct<'_>,
    cells: &[TensorCells],
) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let who = lane_alone(context, lane);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.tensor(who, instruction, act, cells)?;
    }
    Ok(())
}

/// Tells that the warp allocates columns of tensor memory, whose address is written to shared memory.
pub(super) fn allocate_columns(
    context: &mut Context<'_>,
    op: &Op,
    spot: &SharedOperand,
    cells: TensorCells,
) -> Result<(), Cause> {
    let instruction = site(context.at.function_index(), op.instruction);
    let who = lane_alone(context, 0);
    if let (Some(checking), Some(who), Some(owner)) = (&mut context.at.checking, who, spot.owner) {
        let place = (owner, spot.offset);
        checking
            .checker
            .allocate_columns(who, place, instruction, cells)?;
    }
    Ok(())
}

/// Tells that the warp frees columns of tensor memory.
pub(super) fn free_columns(
    context: &mut Context<'_>,
    op: &Op,
    cells: TensorCells,
) -> Result<(), Cause> {
    tensor(context, op, 0, TensorAct::Free, &[cells])
}

/// Tells that the warp reaches a register with something missing since the instruction `before`.
pub(super) fn without(
    context: &mut Context<'_>,
    op: &Op,
    missing: Missing,
    before: u32,
    (verb, name): (Verb, &str),
) {
    let instruction = site(context.at.function_index(), op.instruction);
    let who = who(context);
    let what = match verb {
        Verb::Write => AccessKind::Write(Strength::Weak),
        _ => AccessKind::Read(Strength::Weak),
    };
    let mut checked = Ok(());
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        let sites = (instruction, before);
        checked = checking.checker.without(missing, who, sites, (what, name));
    }
    found(context, op.instruction, checked);
}

/// Tells that the warp has waited for its loads, or its stores, of tensor memory.
pub(super) fn wait_for_tensor(context: &mut Context<'_>, is_of_loads: bool) {
    let who = lane_alone(context, 0);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        checking.checker.wait_for_tensor(who, is_of_loads);
    }
}

/// Tells that mbarriers will be told when all that a lane has begun in tensor memory is done.
pub(super) fn commit_tensor(context: &mut Context<'_>, lane: usize, told: &[SharedOperand]) {
    let who = lane_alone(context, lane);
    if let (Some(checking), Some(who)) = (&mut context.at.checking, who) {
        let told: Vec<_> = told
            .iter()
            .filter_map(|it| Some((it.owner?, it.offset)))
            .collect();
        checking.checker.commit_tensor(who, &told);
    }
}

fn lane_alone(context: &Context<'_>, lane: usize) -> Option<Accessors> {
    accessors(context, 1 << lane)
}

/// The running lanes.
pub(super) fn who(context: &Context<'_>) -> Option<Accessors> {
    let block = context.at.checking.as_ref()?.block();
    Some(Accessors {
        block,
        warp: context.at.warp,
        mask: context.mask,
    })
}

fn strength(of: PtxOrder, among: PtxScope) -> Strength {
    match of {
        PtxOrder::Weak => Strength::Weak,
        PtxOrder::Volatile | PtxOrder::Mmio => Strength::Strong(Order::Relaxed, Scope::System),
        of => Strength::Strong(order(of), scope(among)),
    }
}

pub(super) fn order(of: PtxOrder) -> Order {
    match of {
        PtxOrder::Weak | PtxOrder::Volatile | PtxOrder::Relaxed | PtxOrder::Mmio => Order::Relaxed,
        PtxOrder::Acquire => Order::Acquire,
        PtxOrder::Release => Order::Release,
        PtxOrder::AcquireRelease => Order::AcquireRelease,
        PtxOrder::SequentiallyConsistent => Order::SequentiallyConsistent,
    }
}

pub(super) fn scope(among: PtxScope) -> Scope {
    match among {
        PtxScope::Block => Scope::Block,
        PtxScope::Cluster => Scope::Cluster,
        PtxScope::Device => Scope::Device,
        PtxScope::System => Scope::System,
    }
}
