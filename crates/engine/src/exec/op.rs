//! Decoded instructions, and the context in which they execute.

use std::hint::black_box;

use super::registers::{Bits, FULL, Kind, LANES, Lane};
use super::signature::{Executed, Predicate, Run};
use super::spread::Spread;
use super::surroundings::Surroundings;
use super::undefined;
pub(crate) use crate::memory::each_lane;

/// A decoded instruction. Operands are slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) run: Run,
    /// Kind of the slot of which it writes all lanes whatever the mask. `None`: it looks at the mask by itself.
    pub(crate) writes: Option<Kind>,
    /// The destination.
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    /// Further data for its handler.
    pub(crate) aux: u64,
    /// The instruction of the function, for reports.
    pub(crate) instruction: u32,
    /// Whether it reads or writes what other threads may see.
    pub(crate) accesses_memory: bool,
    /// How what is undefined of its sources spreads.
    pub(crate) spread: Spread,
}

const _: () = assert!(size_of::<Op>() == 40);

/// The warp that executes.
pub(crate) struct Context<'l> {
    /// Of the activation that runs.
    pub(crate) registers: *mut u8,
    /// The lanes that run.
    pub(crate) mask: u32,
    /// The state outside of the registers: memory, the block, the launch.
    pub(crate) at: Surroundings<'l>,
}

impl Context<'_> {
    /// The lanes of a slot.
    ///
    /// # Safety
    /// The slot holds lanes of this type, and lies in the registers.
    #[inline(always)]
    pub(crate) unsafe fn slot<T: Copy>(&self, slot: u32) -> &[T; LANES] {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots; slots are aligned to 64 bytes.
        unsafe { &*self.registers.add(slot as usize).cast() }
    }

    /// As [`Context::slot`], to write.
    ///
    /// # Safety
    /// As for [`Context::slot`].
    #[inline(always)]
    pub(crate) unsafe fn slot_mut<T: Copy>(&mut self, slot: u32) -> &mut [T; LANES] {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots; the registers are this
        // warp's alone.
        unsafe { &mut *self.registers.add(slot as usize).cast() }
    }

    /// The lanes for which a predicate is true; of others than the running ones it says nothing.
    ///
    /// # Safety
    /// The slot holds a predicate.
    #[inline(always)]
    pub(crate) unsafe fn predicate(&self, slot: u32) -> u32 {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { *self.registers.add(slot as usize).cast() }
    }

    /// Sets a predicate of all lanes.
    ///
    /// # Safety
    /// The slot holds a predicate.
    #[inline(always)]
    pub(crate) unsafe fn set_predicate(&mut self, slot: u32, lanes: u32) {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { *self.registers.add(slot as usize).cast() = lanes };
    }

    /// Sets a predicate of the running lanes.
    ///
    /// # Safety
    /// The slot holds a predicate.
    #[inline(always)]
    pub(crate) unsafe fn set_predicate_of_running(&mut self, slot: u32, lanes: u32) {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        let before = unsafe { self.predicate(slot) };
        let after = before & !self.mask | lanes & self.mask;
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { self.set_predicate(slot, after) };
    }

    /// Sets the running lanes of a slot.
    ///
    /// # Safety
    /// As for [`Context::slot`].
    #[inline(always)]
    pub(crate) unsafe fn set_running<T: Bits>(&mut self, slot: u32, lanes: &[T; LANES]) {
        let mask = self.mask;
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        let all = unsafe { self.slot_mut::<T>(slot) };
        if mask == FULL {
            *all = *lanes;
        } else {
            keep(all, lanes, mask);
        }
    }
}

/// Takes the lanes of a mask from `new`.
#[inline(always)]
fn keep<T: Bits>(all: &mut [T; LANES], new: &[T; LANES], mask: u32) {
    // Through memory, else LLVM makes selects of it: one per lane, or masked stores, which cannot be forwarded to loads.
    let takes = black_box(each_lane(|lane| T::filled(mask >> lane & 1 == 1)));
    *all = each_lane(|lane| all[lane] & !takes[lane] | new[lane] & takes[lane]);
}

/// `d = f(a)` in each lane.
///
/// # Safety
/// The slots hold lanes of these types.
#[inline(always)]
pub(crate) unsafe fn unary<A: Lane, D: Lane>(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(A) -> D,
) -> Executed<D::Slot, A::Slot> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let a = unsafe { context.slot::<A::Slot>(op.a) };
    let d = each_lane(|lane| f(A::of(a[lane])).slot());
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = d };
    Executed::YES
}

/// `d = f(a, b)` in each lane.
///
/// # Safety
/// The slots hold lanes of these types.
#[inline(always)]
pub(crate) unsafe fn binary<A: Lane, B: Lane, D: Lane>(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(A, B) -> D,
) -> Executed<D::Slot, A::Slot, B::Slot> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let a = unsafe { context.slot::<A::Slot>(op.a) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let b = unsafe { context.slot::<B::Slot>(op.b) };
    let d = each_lane(|lane| f(A::of(a[lane]), B::of(b[lane])).slot());
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = d };
    Executed::YES
}

/// `d = f(a, b, c)` in each lane.
///
/// # Safety
/// The slots hold lanes of these types.
#[inline(always)]
pub(crate) unsafe fn ternary<A: Lane, B: Lane, C: Lane, D: Lane>(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(A, B, C) -> D,
) -> Executed<D::Slot, A::Slot, B::Slot, C::Slot> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let a = unsafe { context.slot::<A::Slot>(op.a) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let b = unsafe { context.slot::<B::Slot>(op.b) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let c = unsafe { context.slot::<C::Slot>(op.c) };
    let d = each_lane(|lane| f(A::of(a[lane]), B::of(b[lane]), C::of(c[lane])).slot());
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = d };
    Executed::YES
}

/// A predicate of each lane from two values.
///
/// # Safety
/// The slots hold lanes of these types.
#[inline(always)]
pub(crate) unsafe fn compare<A: Lane, B: Lane>(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(A, B) -> bool,
) -> Executed<Predicate, A::Slot, B::Slot> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let a = unsafe { context.slot::<A::Slot>(op.a) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let b = unsafe { context.slot::<B::Slot>(op.b) };
    let lanes = lanes_where(|lane| f(A::of(a[lane]), B::of(b[lane])));
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { context.set_predicate(op.d, lanes) };
    Executed::YES
}

/// A predicate of a mask of lanes from another.
///
/// # Safety
/// The slots hold predicates.
#[inline(always)]
pub(crate) unsafe fn predicates(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(u32) -> u32,
) -> Executed<Predicate, Predicate> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let lanes = f(context.predicate(op.a));
        context.set_predicate(op.d, lanes);
    }
    Executed::YES
}

/// A predicate of a mask of lanes from two others.
///
/// # Safety
/// The slots hold predicates.
#[inline(always)]
pub(crate) unsafe fn both_predicates(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(u32, u32) -> u32,
) -> Executed<Predicate, Predicate, Predicate> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let lanes = f(context.predicate(op.a), context.predicate(op.b));
        context.set_predicate(op.d, lanes);
    }
    Executed::YES
}

/// The lanes of which something is true, without a branch a lane.
#[inline(always)]
pub(crate) fn lanes_where(is_true: impl Fn(usize) -> bool) -> u32 {
    signs(&each_lane(|lane| u32::from(is_true(lane)).wrapping_neg()))
}

/// The highest bit of each lane.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(crate) fn signs(lanes: &[u32; LANES]) -> u32 {
    use std::arch::x86_64::{_mm_loadu_ps, _mm_movemask_ps};
    let mut mask = 0;
    for index in (0..LANES).step_by(4) {
        // SAFETY: SSE is part of x86-64; four words are read.
        let bits = unsafe { _mm_movemask_ps(_mm_loadu_ps(lanes.as_ptr().add(index).cast())) };
        mask |= (bits as u32) << index;
    }
    mask
}

/// The highest bit of each lane.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn signs(lanes: &[u32; LANES]) -> u32 {
    let bits = lanes.iter().enumerate();
    bits.fold(0, |mask, (lane, bits)| mask | (bits >> 31) << lane)
}

/// Runs instructions for a full warp.
///
/// # Safety
/// As for their handlers.
#[inline(always)]
pub(crate) unsafe fn run_full(context: &mut Context<'_>, ops: &[Op]) {
    for op in ops {
        // SAFETY: the operations are those of a verified program, which the context has entered.
        unsafe { (op.run)(context, op) };
    }
}

/// Runs instructions of a checked launch, for a full warp.
///
/// # Safety
/// As for their handlers; the operations are the running program's.
#[inline(always)]
pub(crate) unsafe fn watch_full(context: &mut Context<'_>, ops: &[Op]) {
    // SAFETY: the operations are those of a verified program, which the context has entered.
    unsafe { watch::<false>(context, ops) };
}

/// The same for the lanes of the context's mask.
///
/// # Safety
/// As for [`watch_full`].
#[inline(always)]
pub(crate) unsafe fn watch_masked(context: &mut Context<'_>, ops: &[Op]) {
    // SAFETY: the operations are those of a verified program, which the context has entered.
    unsafe { watch::<true>(context, ops) };
}

/// Runs instructions, and steps through those that have to do with what nobody has written.
///
/// # Safety
/// As for [`watch_full`].
// A closure in place of `IS_MASKED` would be compiled by itself, for any processor.
#[inline(always)]
unsafe fn watch<const IS_MASKED: bool>(context: &mut Context<'_>, ops: &[Op]) {
    let mut rest = ops.iter();
    loop {
        if !context.at.tracks {
            for op in rest.by_ref() {
                // SAFETY: the contract of this function.
                unsafe { run::<IS_MASKED>(context, op) };
                if context.at.tracks {
                    break;
                }
            }
        }
        let rest_of_all = rest.as_slice();
        if rest_of_all.is_empty() {
            return;
        }
        let unconcerned = undefined::unconcerned(context, rest_of_all);
        for op in rest.by_ref().take(unconcerned) {
            // SAFETY: the contract of this function.
            unsafe { run::<IS_MASKED>(context, op) };
        }
        // Where several in a row may be concerned, they are not told apart.
        let steps = rest.len().min(if unconcerned == 0 { 8 } else { 1 });
        let (stepped, left) = rest.as_slice().split_at(steps);
        // SAFETY: the operations are those of a verified program, which the context has entered.
        unsafe { undefined::run(context, stepped) };
        rest = left.iter();
    }
}

/// Runs one instruction.
///
/// # Safety
/// As for [`watch_full`].
#[inline(always)]
unsafe fn run<const IS_MASKED: bool>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the operations are those of a verified program, which the context has entered.
    unsafe {
        match IS_MASKED {
            true => run_masked(context, std::slice::from_ref(op)),
            false => (op.run)(context, op),
        }
    }
}

/// Runs instructions for the lanes of the context's mask.
///
/// # Safety
/// As for their handlers.
#[inline(always)]
pub(crate) unsafe fn run_masked(context: &mut Context<'_>, ops: &[Op]) {
    for op in ops {
        // SAFETY: the operations are those of a verified program, which the context has entered.
        unsafe {
            match op.writes {
                None => (op.run)(context, op),
                Some(Kind::Predicate) => {
                    let before = context.predicate(op.d);
                    (op.run)(context, op);
                    let after = context.predicate(op.d);
                    context.set_predicate(op.d, before);
                    context.set_predicate_of_running(op.d, after);
                }
                Some(Kind::Word) => run_keeping::<u32>(context, op),
                Some(Kind::Double) => run_keeping::<u64>(context, op),
                Some(Kind::Quad) => run_keeping::<u128>(context, op),
            }
        }
    }
}

/// # Safety
/// The destination holds lanes of this type.
#[inline(always)]
unsafe fn run_keeping<T: Bits>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let before = unsafe { *context.slot::<T>(op.d) };
    // SAFETY: the operations are those of a verified program, which the context has entered.
    unsafe { (op.run)(context, op) };
    let mask = context.mask;
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let after = unsafe { context.slot_mut::<T>(op.d) };
    keep(after, &before, !mask);
}
