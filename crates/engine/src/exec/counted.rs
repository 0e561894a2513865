//! Records of accesses and copies that counted launches make.

use super::access::{Access, Act, Space};
use super::bulk;
use super::op::{Context, Op};
use crate::check::Part;
use crate::count::{self, Copied, Reached, Row, Tally, Way};
use crate::memory::Lanes;

/// The tally, where accesses are counted.
#[inline(always)]
fn of_memory<'t>(counting: &'t mut Option<&mut Tally>) -> Option<&'t mut Tally> {
    counting.as_deref_mut().filter(|it| it.counts_memory())
}

/// Counts a row that is about to be loaded or stored, which has been resolved.
#[inline(always)]
pub(super) fn row(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    (address, bytes): (u64, u32),
) {
    let Some(tally) = of_memory(&mut context.at.counting) else {
        return;
    };
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    let row = Row {
        access: op.aux as usize,
        instruction: op.instruction,
        way: way(&access.act),
        address,
        bytes,
    };
    if space == Space::Shared {
        tally.reach_shared_row(program, &row);
        return;
    }
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &*context.at.met.add(op.aux as usize) };
    tally.reach_global_row(program, &row, met.start());
}

#[inline(always)]
fn way(act: &Act) -> Way {
    match act {
        Act::Load { .. } | Act::CopyFrom { .. } => Way::Read,
        Act::Store | Act::CopyTo => Way::Write,
        Act::Atomic(_) => Way::Both,
    }
}

/// Counts an access that is about to be made, whose lanes have been resolved.
#[cold]
#[inline(never)]
pub(super) fn access(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) {
    let space = match space {
        Space::Global => count::Space::Global,
        Space::Shared => count::Space::Shared,
        Space::Local => count::Space::Local,
        Space::Parameters | Space::Generic | Space::Cluster => count::Space::Parameters,
    };
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &*context.at.met.add(op.aux as usize) };
    let reached = Reached {
        access: op.aux as usize,
        instruction: op.instruction,
        space,
        way: way(&access.act),
        lanes,
        start: met.start(),
    };
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    if let Some(tally) = of_memory(&mut context.at.counting) {
        tally.reach(program, &reached);
    }
}

/// Counts the operations of a product whose sizes are in registers.
#[cold]
#[inline(never)]
pub(super) fn product(context: &mut Context<'_>, op: &Op, operations: u64) {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    if let Some(tally) = of_memory(&mut context.at.counting) {
        tally.product(program, op.instruction, operations);
    }
}

/// Counts a copy that is about to be made, whose parts have been resolved, from or to an allocation that begins
/// at `start`.
#[cold]
#[inline(never)]
pub(super) fn copy(
    context: &mut Context<'_>,
    op: &Op,
    way: &bulk::Way,
    (parts, start): (&[Part], u64),
    blocks: usize,
) {
    let way = match way {
        bulk::Way::Load { .. } => Way::Read,
        bulk::Way::Store => Way::Write,
        bulk::Way::Reduce { .. } => Way::Both,
    };
    let copied = Copied {
        copy: op.aux as usize,
        instruction: op.instruction,
        way,
        parts,
        blocks: blocks as u64,
        start,
    };
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    if let Some(tally) = of_memory(&mut context.at.counting) {
        tally.copy(program, &copied);
    }
}
