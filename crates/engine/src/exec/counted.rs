//! What counted launches note of accesses and copies.

use super::access::{Access, Act, Space};
use super::bulk;
use super::op::{Context, Op};
use crate::check::Part;
use crate::count::{self, Copied, Reached, Way};
use crate::memory::Lanes;

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
    let way = match access.act {
        Act::Load { .. } | Act::CopyFrom { .. } => Way::Read,
        Act::Store | Act::CopyTo => Way::Write,
        Act::Atomic(_) => Way::Both,
    };
    // SAFETY: there is one for each access of the program.
    let met = unsafe { &*context.at.met.add(op.aux as usize) };
    let reached = Reached {
        access: op.aux as usize,
        instruction: op.instruction,
        space,
        way,
        lanes,
        start: met.start(),
    };
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    if let Some(tally) = &mut context.at.counting {
        tally.reach(program, &reached);
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
    if let Some(tally) = &mut context.at.counting {
        tally.copy(program, &copied);
    }
}
