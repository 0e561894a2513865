//! `wgmma`: products of matrices by four warps, from shared memory. Each warp has 16 rows of the sum.
//!
//! They are done where they are issued. What an accumulator holds until the warp waits for its group, and that
//! shared memory is read until then, the checks know. A wait lets nobody go on before all four warps have
//! committed what is waited for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::checked;
use super::failure::{Cause, Wrong};
use super::fragment::{Factor, Summand, is_whole};
use super::op::{Context, Op};
use super::registers::LANES;
use super::tensor_map::Swizzle;
use crate::arith::tensor::{Element, add_products};
use crate::check::Verb;
use crate::finding_kind::FindingKind;
use crate::memory::Fault;

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
    }
}

/// Where a matrix lies in shared memory, by its descriptor.
struct Layout {
    start: u64,
    leading: u64,
    stride: u64,
    swizzle: Swizzle,
    /// Bytes of a swizzled row; 16 where there is none.
    row: u64,
}

impl Layout {
    fn of(descriptor: u64) -> Result<Layout, String> {
        let part = |from: u32| (descriptor >> from & 0x3fff) << 4;
        let (swizzle, row) = match descriptor >> 62 {
            0 => (Swizzle::None, 16),
            1 => (Swizzle::By128, 128),
            2 => (Swizzle::By64, 64),
            _ => (Swizzle::By32, 32),
        };
        match descriptor >> 49 & 7 {
            0 => Ok(Layout {
                start: part(0),
                leading: part(16),
                stride: part(32),
                swizzle,
                row,
            }),
            base => Err(format!(
                "a matrix descriptor with the base offset {base}: matrices begin at multiples of 8 rows here"
            )),
        }
    }

    /// Where 16 bytes begin: those of the element at `across` (along m or n) and `k`, and of what follows it.
    /// `each` elements are 16 bytes.
    fn chunk(&self, is_along_k: bool, across: u64, k: u64, each: u64) -> u64 {
        let wide = self.row / 16 * each;
        let offset = match (is_along_k, self.swizzle) {
            (true, Swizzle::None) => {
                across % 8 * 16 + across / 8 * self.stride + k / each * self.leading
            }
            (true, _) => across % 8 * self.row + across / 8 * self.stride + k / each * 16,
            (false, Swizzle::None) => {
                across / each * self.stride + k % 8 * 16 + k / 8 * self.leading
            }
            (false, _) => {
                across % wide / each * 16
                    + across / wide * self.leading
                    + k % 8 * self.row
                    + k / 8 * self.stride
            }
        };
        self.swizzle.of(self.start + offset)
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
        (first, count): (usize, usize),
        k: usize,
        mut visit: impl FnMut(usize, usize, f64),
    ) -> Result<Vec<u64>, Cause> {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        let descriptor = unsafe { context.slot::<u64>(self.descriptor)[0] };
        let layout = Layout::of(descriptor).map_err(Cause::misuse)?;
        let bits = self.of.bits();
        let each = (128 / bits) as usize;
        let (outer, inner) = match self.is_along_k {
            true => (count, k),
            false => (k, count),
        };
        let mut chunks = Vec::with_capacity(outer * inner / each);
        for outer in 0..outer {
            for begin in (0..inner).step_by(each) {
                let (across, depth) = match self.is_along_k {
                    true => (outer, begin),
                    false => (begin, outer),
                };
                let at = layout.chunk(
                    self.is_along_k,
                    (first + across) as u64,
                    depth as u64,
                    each as u64,
                );
                if !context.at.layout.holds(at, at + 15) {
                    return Err(Cause::Fault(Fault {
                        kind: FindingKind::OutOfBounds,
                        lane: 0,
                        bytes: 16,
                        place: Box::new(context.at.layout.place(at)),
                    }));
                }
                let from = context.at.shared.wrapping_add(at as usize).cast::<u128>();
                // SAFETY: in bounds, as seen above; one host thread executes the block.
                let packed = unsafe { from.read_unaligned() };
                for element in 0..each {
                    let number = self.of.number((packed >> (element as u32 * bits)) as u64);
                    match self.is_along_k {
                        true => visit(across, depth + element, number),
                        false => visit(across + element, depth, number),
                    }
                }
                chunks.push(at);
            }
        }
        Ok(chunks)
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
        products(context).has_fenced = true;
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
