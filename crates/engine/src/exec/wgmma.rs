//! `wgmma`: products of matrices by four warps, from shared memory. Each warp has 16 rows of the sum.
//!
//! They are done where they are issued. What an accumulator holds until the warp waits for its group, and that
//! shared memory is read until then, the checks know. A wait lets nobody go on before all four warps have
//! committed what is waited for.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use super::checked;
use super::failure::{Cause, Wrong};
use super::fragment::{Factor, Summand, is_whole};
use super::matrix_descriptor::Layout;
use super::op::{Context, Op};
use super::registers::LANES;
use crate::arith::tensor::{Element, add_products};
use crate::check::{Missing, Verb};
use crate::finding_kind::FindingKind;

/// Warps that multiply together.
const WARPS: u32 = 4;

/// Rows of a warp.
const ROWS: usize = 16;

/// `d = a * b + d`.
#[derive(Debug)]
pub(crate) struct Wgmma {
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: Left,
    pub(crate) b: Matrix,
    pub(crate) d: Summand,
    /// Whether d is added, a slot of a predicate.
    pub(crate) adds: u32,
    /// Whether one of the factors is negated.
    pub(crate) negates: bool,
    /// The registers of d, and those of a.
    pub(crate) written: Vec<u32>,
    pub(crate) read: Vec<u32>,
    /// The instructions that may have written one of its registers with no fence since, and the register's name.
    pub(crate) unfenced: Vec<(u32, String)>,
}

#[derive(Debug)]
pub(crate) enum Left {
    Registers(Factor),
    Shared(Matrix),
}

/// A factor in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub(crate) of: Element,
    /// A slot of 64 bits.
    pub(crate) descriptor: u32,
    /// Whether elements along k follow each other, and not those along m or n.
    pub(crate) is_along_k: bool,
}

/// The products of a warp.
#[derive(Debug, Default)]
pub(crate) struct Products {
    has_fenced: bool,
    /// Registers that a product writes, or reads: in which group, by which instruction.
    flights: HashMap<(u32, u32), Flight>,
    /// The instructions that have written registers of products since the last fence.
    written: HashSet<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    group: u32,
    site: u32,
    is_written: bool,
}

impl Products {
    /// Begins a new block.
    pub(crate) fn clear(&mut self) {
        self.has_fenced = false;
        self.flights.clear();
        self.written.clear();
    }
}

impl Matrix {
    /// Its elements, from `first` on along m or n, by `(across, k)`; and where they lie, 16 bytes at a time.
    ///
    /// # Safety
    /// The slot is one of the running program.
    unsafe fn each(
        &self,
        context: &Context<'_>,
        part: (usize, usize),
        k: usize,
        visit: impl FnMut(usize, usize, f64),
    ) -> Result<Vec<u64>, Cause> {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        let descriptor = unsafe { context.slot::<u64>(self.descriptor)[0] };
        let layout = Layout::of(descriptor).map_err(Cause::misuse)?;
        layout.each(context, (self.of, self.is_along_k), part, k, visit)
    }
}

/// Executes a product of a warp.
///
/// # Safety
/// `aux` is the index of a product of the running program.
#[inline(always)]
pub(crate) unsafe fn multiply(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) || context.is_over(op.instruction) {
        return;
    }
    // SAFETY: the slots are those of a verified program, of their kinds.
    if let Err(failure) = unsafe { try_multiply(context, op) } {
        context.fault(failure, op.instruction);
    }
}

/// # Safety
/// As for [`multiply`].
#[inline(always)]
unsafe fn try_multiply(context: &mut Context<'_>, op: &Op) -> Result<(), Cause> {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let it = unsafe { &(&*context.at.program).wgmmas[op.aux as usize] };
    may_multiply(context)?;
    find_unfenced(context, op, it);
    let (n, k) = (it.n, it.k);
    let first = (context.at.warp % WARPS) as usize * ROWS;
    let mut b = vec![0.0; k * n];
    // SAFETY: the slots are those of this program.
    unsafe {
        let mut chunks = it.b.each(context, (0, n), k, |across, depth, number| {
            b[depth * n + across] = number;
        })?;
        let mut a = match &it.a {
            Left::Registers(factor) => factor.left(context, ROWS, k),
            Left::Shared(matrix) => {
                let mut a = vec![0.0; ROWS * k];
                let own = matrix.each(context, (first, ROWS), k, |across, depth, number| {
                    a[across * k + depth] = number;
                })?;
                chunks.extend(own);
                a
            }
        };
        if it.negates {
            a.iter_mut().for_each(|number| *number = -*number);
        }
        checked::product(context, op, &chunks)?;
        // The same for all lanes.
        let mut sums = match context.predicate(it.adds) & 1 {
            0 => vec![0.0; ROWS * n],
            _ => it.d.numbers(context, ROWS, n),
        };
        add_products(&mut sums, &a, &b, n, k);
        it.d.store(context, &sums, n);
    }
    remember(context, op, it);
    Ok(())
}

/// Whether the warp may issue a product.
fn may_multiply(context: &mut Context<'_>) -> Result<(), Cause> {
    let (warp, threads) = (context.at.warp, context.at.launch.threads_per_block());
    if (warp / WARPS + 1) * WARPS * LANES as u32 > threads {
        let text = format!("warp {warp} of a block of {threads} threads has no warpgroup of four");
        return Err(Cause::misuse(text));
    }
    match products(context).has_fenced {
        true => Ok(()),
        false => {
            let text = "a `wgmma` of a warp that has made no `wgmma.fence`";
            Err(Cause::misuse(text.to_owned()))
        }
    }
}

/// Remembers that an instruction has written a register that a product may use before the next fence.
pub(crate) fn written(context: &mut Context<'_>, op: &Op) {
    if context.at.checking.is_some() {
        let site = checked::site(context.at.function_index(), op.instruction);
        products(context).written.insert(site);
    }
}

/// Finds a register of a product that something else has written since the last fence.
fn find_unfenced(context: &mut Context<'_>, op: &Op, it: &Wgmma) {
    let function = context.at.function_index();
    let site = |instruction: u32| checked::site(function, instruction);
    let written = &products(context).written;
    let mut unfenced = it.unfenced.iter();
    if let Some((writer, name)) = unfenced.find(|(writer, _)| written.contains(&site(*writer))) {
        let missing = Missing::ProductFence;
        checked::without(context, op, missing, site(*writer), (Verb::Read, name));
    }
}

/// Remembers which registers a product has in flight, in a checked launch.
fn remember(context: &mut Context<'_>, op: &Op, it: &Wgmma) {
    if context.at.checking.is_none() {
        return;
    }
    let group = groups(context)[context.at.warp as usize].load(Ordering::Relaxed);
    let function = context.at.function_index();
    let flight = |is_written| Flight {
        group,
        site: checked::site(function, op.instruction),
        is_written,
    };
    let flights = &mut products(context).flights;
    let read = it.read.iter().map(|&it| ((function, it), flight(false)));
    flights.extend(read);
    let written = it.written.iter().map(|&it| ((function, it), flight(true)));
    flights.extend(written);
}

/// The group of the registers that loads of tensor memory write: none of `wgmma` has so many before it.
const LOADS: u32 = u32::MAX;

/// Remembers which registers a load of tensor memory has in flight, in a checked launch.
pub(super) fn remember_loads(context: &mut Context<'_>, op: &Op, written: &[u32]) {
    if context.at.checking.is_none() {
        return;
    }
    let function = context.at.function_index();
    let flight = Flight {
        group: LOADS,
        site: checked::site(function, op.instruction),
        is_written: true,
    };
    let written = written.iter().map(|&it| ((function, it), flight));
    products(context).flights.extend(written);
}

/// The warp has waited for its loads of tensor memory.
pub(super) fn forget_loads(context: &mut Context<'_>) {
    let flights = &mut products(context).flights;
    flights.retain(|_, flight| flight.group != LOADS);
}

/// The warp's products.
fn products<'c>(context: &'c mut Context<'_>) -> &'c mut Products {
    // SAFETY: the warp's own, which has entered.
    unsafe { &mut *context.at.products }
}

/// How many groups each warp of the block has committed.
fn groups<'c>(context: &'c Context<'_>) -> &'c [AtomicU32] {
    let warps = context.at.launch.threads_per_block().div_ceil(LANES as u32);
    // SAFETY: the block's, which has entered: one of each warp.
    unsafe { std::slice::from_raw_parts(context.at.groups, warps as usize) }
}

/// `wgmma.fence`.
pub(crate) fn fence(context: &mut Context<'_>, op: &Op) {
    if is_whole(context, op) {
        let products = products(context);
        products.has_fenced = true;
        products.written.clear();
    }
}

/// `wgmma.commit_group`.
pub(crate) fn commit(context: &mut Context<'_>, op: &Op) {
    if is_whole(context, op) {
        let warp = context.at.warp as usize;
        groups(context)[warp].fetch_add(1, Ordering::Relaxed);
        checked::commit_products(context);
    }
}

/// Whether all four warps have committed what a warp waits for that leaves `but` groups.
pub(crate) fn may_go_on(context: &Context<'_>, but: u32) -> bool {
    let (groups, warp) = (groups(context), context.at.warp as usize);
    let awaited = groups[warp].load(Ordering::Relaxed).saturating_sub(but);
    let first = warp / WARPS as usize * WARPS as usize;
    let others = groups.iter().skip(first).take(WARPS as usize);
    others
        .into_iter()
        .all(|it| it.load(Ordering::Relaxed) >= awaited)
}

/// `wgmma.wait_group`, when the warp may go on.
pub(crate) fn wait(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) || context.at.checking.is_none() {
        return;
    }
    let warp = context.at.warp as usize;
    let awaited = groups(context)[warp]
        .load(Ordering::Relaxed)
        .saturating_sub(op.a);
    products(context)
        .flights
        .retain(|_, flight| flight.group >= awaited);
    checked::wait_for_products(context, awaited);
}

/// The accesses of an instruction to registers that a product may have in flight.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) reads: Vec<(u32, String)>,
    pub(crate) writes: Vec<(u32, String)>,
    /// From the one to the other, where it only moves.
    pub(crate) moves: Option<(u32, u32)>,
}

/// Whether an instruction may reach its registers.
///
/// # Safety
/// `aux` is the index of a touch of the running program.
pub(crate) unsafe fn touch(context: &mut Context<'_>, op: &Op) {
    if context.at.checking.is_none() {
        return;
    }
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let it = unsafe { &(&*context.at.program).touches[op.aux as usize] };
    let function = context.at.function_index();
    let flights = &mut products(context).flights;
    if let Some((from, to)) = it.moves {
        match flights.get(&(function, from)).copied() {
            Some(flight) if flight.is_written => flights.insert((function, to), flight),
            _ => flights.remove(&(function, to)),
        };
        return;
    }
    let of = |register: u32| flights.get(&(function, register)).copied();
    let read = it.reads.iter().find_map(|(register, name)| {
        let flight = of(*register).filter(|it| it.is_written)?;
        Some((name, flight, Verb::Read))
    });
    let written = it
        .writes
        .iter()
        .find_map(|(register, name)| Some((name, of(*register)?, Verb::Write)));
    if let Some((name, flight, verb)) = read.or(written) {
        let by_product = match flight.is_written {
            true => Verb::Write,
            false => Verb::Read,
        };
        if flight.group == LOADS {
            let missing = Missing::WaitForLoad;
            checked::without(context, op, missing, flight.site, (verb, name));
            return;
        }
        let wrong = Wrong {
            kind: FindingKind::PendingRegister,
            place: None,
            verb,
            before: Some((flight.site, by_product)),
            details: name.clone(),
        };
        context.fault(Cause::Wrong(Box::new(wrong)), op.instruction);
    }
}
