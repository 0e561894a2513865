//! Accesses of a whole warp to a row of memory, one lane's elements behind another's: moved at once.

use super::access::{Access, Space, access, observe};
use super::op::{Context, Op};
use super::registers::{FULL, LANES};
use crate::memory::Lanes;

/// What there is where a warp accesses memory.
enum Row {
    /// All of it is there, from here on.
    At(*mut u8),
    /// Something else than a row, or something that one must look up: for [`access`].
    Other,
    /// It must not be accessed, which has been said.
    Forbidden,
}

/// Loads `N` elements a lane.
///
/// # Safety
/// As for [`access`]; it is a weak load into `N` slots of `T`.
#[inline(always)]
pub(crate) unsafe fn load<T: Copy, const N: usize>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the caller's contract; the program outlives the call.
    let of = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the caller's contract.
    let from = match unsafe { row(context, op, of, size_of::<[T; N]>() as u64) } {
        Row::At(from) => from.cast::<[T; N]>(),
        // SAFETY: the caller's contract.
        Row::Other => return unsafe { access(context, op) },
        Row::Forbidden => return,
    };
    for (index, data) in of.data.iter().enumerate().take(N) {
        if let Some(slot) = data.slot {
            // SAFETY: the slot holds `T`; the row has `N` elements a lane, which may be unaligned for
            // an array.
            unsafe {
                let to = context.slot_mut::<T>(slot);
                for (lane, to) in to.iter_mut().enumerate() {
                    *to = from.add(lane).cast::<T>().add(index).read_unaligned();
                }
            }
        }
    }
}

/// Stores `N` elements a lane.
///
/// # Safety
/// As for [`access`]; it is a weak store from `N` slots of `T`.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy, const N: usize>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the caller's contract; the program outlives the call.
    let of = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the caller's contract.
    let to = match unsafe { row(context, op, of, size_of::<[T; N]>() as u64) } {
        Row::At(to) => to.cast::<[T; N]>(),
        // SAFETY: the caller's contract.
        Row::Other => return unsafe { access(context, op) },
        Row::Forbidden => return,
    };
    for (index, data) in of.data.iter().enumerate().take(N) {
        if let Some(slot) = data.slot {
            // SAFETY: as for loads.
            unsafe {
                let from = context.slot::<T>(slot);
                for (lane, from) in from.iter().enumerate() {
                    to.add(lane).cast::<T>().add(index).write_unaligned(*from);
                }
            }
        }
    }
}

/// The row that a warp accesses with `bytes` a lane.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
unsafe fn row(context: &mut Context<'_>, op: &Op, of: &Access, bytes: u64) -> Row {
    // SAFETY: the caller's contract.
    let base = unsafe { context.slot::<u64>(op.a) };
    if context.mask != FULL || !is_row(base, bytes) {
        return Row::Other;
    }
    let start = base[0].wrapping_add(of.offset as u64);
    let last = start.wrapping_add(LANES as u64 * bytes - 1);
    if start & (bytes - 1) != 0 {
        return Row::Other;
    }
    let (space, at) = match of.space {
        // Of the windows of generic addresses there is none that an access may have met.
        Space::Global | Space::Generic => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &*context.at.met.add(op.aux as usize) };
            let memory = context.at.launch.memory;
            if !memory.still_holds(met, start, last, of.act.direction()) {
                return Row::Other;
            }
            (
                Space::Global,
                std::ptr::with_exposed_provenance_mut(start as usize),
            )
        }
        Space::Shared if context.at.layout.holds(start, last) => (
            Space::Shared,
            context.at.shared.wrapping_add(start as usize),
        ),
        _ => return Row::Other,
    };
    if context.at.is_observed() {
        // SAFETY: the caller's contract; the row has been found.
        if !unsafe { observe_row(context, op, of, space, start) } {
            return Row::Forbidden;
        }
    }
    Row::At(at)
}

/// # Safety
/// The row has been resolved in the space.
#[cold]
unsafe fn observe_row(
    context: &mut Context<'_>,
    op: &Op,
    of: &Access,
    space: Space,
    start: u64,
) -> bool {
    let bytes = of.bytes();
    let addresses = std::array::from_fn(|lane| start + lane as u64 * u64::from(bytes));
    // SAFETY: the caller's contract.
    unsafe { observe(context, op, of, space, &Lanes::row(&addresses, bytes)) }
}

/// Without a branch, so that it takes a few vector instructions.
#[inline(always)]
fn is_row(addresses: &[u64; LANES], bytes: u64) -> bool {
    let first = addresses[0];
    let mut off = 0;
    for (lane, address) in addresses.iter().enumerate() {
        off |= address ^ first.wrapping_add(lane as u64 * bytes);
    }
    off == 0
}
