//! Matrices spread over the lanes of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::failure::Cause;
use super::op::{Context, Op, each_lane};
use super::registers::{FULL, Kind, LANES};
use crate::arith::tensor::{Element, Sum, add_differences, add_products};

/// A product of matrices in registers: `d = a * b + c`.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: Factor,
    pub(crate) b: Factor,
    pub(crate) c: Summand,
    pub(crate) d: Summand,
    /// Whether single bits are told apart, instead of multiplied.
    pub(crate) differences: bool,
}

/// A factor's elements and the slots of its registers.
#[derive(Debug)]
pub(crate) struct Factor {
    pub(crate) of: Element,
    pub(crate) slots: Vec<u32>,
}

/// A sum's.
#[derive(Debug)]
pub(crate) struct Summand {
    pub(crate) of: Sum,
    pub(crate) slots: Vec<u32>,
}

/// The row of lane's group of four, and its place in that.
#[inline(always)]
fn place(lane: usize) -> (usize, usize) {
    (lane / 4, lane % 4)
}

impl Factor {
    /// The elements of a slot: each lane's, packed.
    ///
    /// # Safety
    /// The slot is one of the factor's, of the running program.
    #[inline(always)]
    unsafe fn lanes(&self, context: &Context<'_>, slot: u32) -> [u64; LANES] {
        // SAFETY: the slots are those of a verified program, of their kinds: only f64 lies in slots of 64 bits.
        unsafe {
            match self.of {
                Element::F64 => *context.slot(slot),
                _ => context.slot::<u32>(slot).map(u64::from),
            }
        }
    }

    fn per_register(&self) -> usize {
        (32 / self.of.bits().min(32)) as usize
    }

    /// The left factor, row by row, `k` columns.
    ///
    /// # Safety
    /// The slots are those of the running program.
    #[inline(always)]
    pub(crate) unsafe fn left(&self, context: &Context<'_>, rows: usize, k: usize) -> Vec<f64> {
        let (each, bits) = (self.per_register(), self.of.bits());
        let mut all = vec![0.0; rows * k];
        for (index, &slot) in self.slots.iter().enumerate() {
            // Registers take turns between the upper and the lower 8 rows, where there are 16.
            let (half, part) = match rows {
                8 => (0, index),
                _ => (index % 2, index / 2),
            };
            // SAFETY: the slots are those of a verified program, of their kinds.
            let lanes = unsafe { self.lanes(context, slot) };
            for (lane, packed) in lanes.into_iter().enumerate() {
                let (row, four) = place(lane);
                let start = (row + 8 * half) * k + part * 4 * each + four * each;
                for element in 0..each {
                    all[start + element] = self.of.number(packed >> (element as u32 * bits));
                }
            }
        }
        all
    }

    /// The right factor, row by row, 8 columns.
    ///
    /// # Safety
    /// The slots are those of the running program.
    #[inline(always)]
    unsafe fn right(&self, context: &Context<'_>, k: usize) -> Vec<f64> {
        let (each, bits) = (self.per_register(), self.of.bits());
        let mut all = vec![0.0; k * 8];
        for (index, &slot) in self.slots.iter().enumerate() {
            // SAFETY: the slots are those of a verified program, of their kinds.
            let lanes = unsafe { self.lanes(context, slot) };
            for (lane, packed) in lanes.into_iter().enumerate() {
                let (column, four) = place(lane);
                let row = index * 4 * each + four * each;
                for element in 0..each {
                    all[(row + element) * 8 + column] =
                        self.of.number(packed >> (element as u32 * bits));
                }
            }
        }
        all
    }
}

impl Summand {
    /// Calls `visit` with the slot of each element, its lane, the bits below it, its row and its column: a
    /// register has two columns of `f16`, and one of others; every other one is 8 rows further down.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(u32, usize, u32, usize, usize)) {
        let packs = self.of == Sum::F16;
        for (index, &slot) in self.slots.iter().enumerate() {
            let first = if packs { 2 * index } else { index };
            for half in 0..1 + usize::from(packs) {
                let element = first + half;
                let (down, right) = (element / 2 % 2 * 8, element / 4 * 8 + element % 2);
                for lane in 0..LANES {
                    let (row, four) = place(lane);
                    visit(slot, lane, 16 * half as u32, row + down, 2 * four + right);
                }
            }
        }
    }

    /// Row by row, `n` columns.
    ///
    /// # Safety
    /// The slots are those of the running program.
    #[inline(always)]
    pub(crate) unsafe fn numbers(&self, context: &Context<'_>, rows: usize, n: usize) -> Vec<f64> {
        let mut all = vec![0.0; rows * n];
        let of = self.of;
        self.each(|slot, lane, below, row, column| {
            // SAFETY: the slots are those of a verified program, of their kinds.
            let bits = unsafe {
                match of {
                    Sum::F64 => context.slot::<u64>(slot)[lane],
                    _ => u64::from(context.slot::<u32>(slot)[lane] >> below),
                }
            };
            all[row * n + column] = of.number(bits);
        });
        all
    }

    /// Stores sums, row by row.
    ///
    /// # Safety
    /// The slots are those of the running program.
    #[inline(always)]
    pub(crate) unsafe fn store(&self, context: &mut Context<'_>, sums: &[f64], n: usize) {
        let of = self.of;
        self.each(|slot, lane, below, row, column| {
            let bits = of.rounded(sums[row * n + column]);
            // SAFETY: the slots are those of a verified program, of their kinds.
            unsafe {
                match of {
                    Sum::F64 => context.slot_mut::<u64>(slot)[lane] = bits,
                    Sum::F16 => {
                        let word = &mut context.slot_mut::<u32>(slot)[lane];
                        *word = *word & !(0xffff << below) | (bits as u32) << below;
                    }
                    _ => context.slot_mut::<u32>(slot)[lane] = bits as u32,
                }
            }
        });
    }
}

/// Executes a product.
///
/// # Safety
/// `aux` is the index of a product of the running program.
#[inline(always)]
pub(crate) unsafe fn product(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) {
        return;
    }
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let product = unsafe { &(&*context.at.program).products[op.aux as usize] };
    let Product { m, n, k, .. } = *product;
    // SAFETY: the slots are those of this program.
    unsafe {
        let a = product.a.left(context, m, k);
        let b = product.b.right(context, k);
        let mut sums = product.c.numbers(context, m, n);
        match product.differences {
            false => add_products(&mut sums, &a, &b, n, k),
            true => add_differences(&mut sums, &a, &b, n, k),
        }
        product.d.store(context, &sums, n);
    }
}

/// Whether all lanes of the warp execute an instruction that is for whole warps; where not, that is a fault.
#[inline(always)]
pub(crate) fn is_whole(context: &mut Context<'_>, op: &Op) -> bool {
    if context.mask == FULL {
        return true;
    }
    let text = format!(
        "lanes {:#010x} alone come to an instruction that all of a warp execute together",
        context.mask
    );
    context.fault(Cause::misuse(text), op.instruction);
    false
}

/// Words of a row of 8 elements of 16 bits.
const ROW: usize = 4;

/// The element at a row and a column of a matrix whose rows lanes hold, 8 lanes from the first on.
fn element(rows: &[u128; LANES], first: usize, row: usize, column: usize) -> u32 {
    (rows[first + row] >> (16 * column)) as u32 & 0xffff
}

/// Spreads matrices whose rows lanes hold, in `a`, over the registers of the slots that follow each other in
/// the program's list from `aux` on: what `ldmatrix` gives.
///
/// # Safety
/// `a` holds 128 bits a lane; the list's slots are words.
pub(crate) unsafe fn spread(context: &mut Context<'_>, op: &Op, is_transposed: bool) {
    if !is_whole(context, op) || context.at.fault.is_some() {
        return;
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let rows = *unsafe { context.slot::<u128>(op.a) };
    for matrix in 0..op.b as usize {
        // SAFETY: as for products.
        let slot = unsafe { (&*context.at.program).lists[op.aux as usize + matrix] };
        let words = each_lane(|lane| {
            let (row, pair) = (lane / ROW, 2 * (lane % ROW));
            let at = |of: usize| match is_transposed {
                false => element(&rows, 8 * matrix, row, pair + of),
                true => element(&rows, 8 * matrix, pair + of, row),
            };
            at(0) | at(1) << 16
        });
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { *context.slot_mut(slot) = words };
    }
}

/// The same of matrices of 16 by 16 bytes, transposed, two registers each.
///
/// # Safety
/// As for [`spread`].
pub(crate) unsafe fn spread_bytes(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) || context.at.fault.is_some() {
        return;
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let rows = *unsafe { context.slot::<u128>(op.a) };
    for register in 0..op.b as usize {
        // SAFETY: as for products.
        let slot = unsafe { (&*context.at.program).lists[op.aux as usize + register] };
        let words = each_lane(|lane| {
            let first = register / 2 * 16 + lane % ROW * 4;
            let column = lane / ROW + register % 2 * 8;
            u32::from_le_bytes(std::array::from_fn(|byte| {
                rows[first + byte].to_le_bytes()[column]
            }))
        });
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { *context.slot_mut(slot) = words };
    }
}

/// The rows that `stmatrix` stores of matrices of 16 by 8 bytes, transposed: 8 of 16 bytes.
///
/// # Safety
/// As for [`gather`].
pub(crate) unsafe fn gather_bytes(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) {
        return;
    }
    let mut rows = [0u128; LANES];
    for matrix in 0..op.b as usize {
        // SAFETY: as for products; the slots are those of a verified program, of their kinds.
        let words = unsafe {
            let slot = (&*context.at.program).lists[op.aux as usize + matrix];
            *context.slot::<u32>(slot)
        };
        for (lane, word) in words.into_iter().enumerate() {
            for (index, byte) in word.to_le_bytes().into_iter().enumerate() {
                let row = 8 * matrix + 2 * (lane % ROW) + index % 2;
                let column = lane / ROW + index / 2 * 8;
                rows[row] |= u128::from(byte) << (8 * column);
            }
        }
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = rows };
}

/// The opposite: what `stmatrix` stores.
///
/// # Safety
/// `d` holds 128 bits a lane; the list's slots are words.
pub(crate) unsafe fn gather(context: &mut Context<'_>, op: &Op, is_transposed: bool) {
    if !is_whole(context, op) {
        return;
    }
    let mut rows = [0u128; LANES];
    for matrix in 0..op.b as usize {
        // SAFETY: as for products; the slots are those of a verified program, of their kinds.
        let words = unsafe {
            let slot = (&*context.at.program).lists[op.aux as usize + matrix];
            *context.slot::<u32>(slot)
        };
        for (lane, word) in words.into_iter().enumerate() {
            for of in 0..2 {
                let (row, column) = match is_transposed {
                    false => (lane / ROW, 2 * (lane % ROW) + of),
                    true => (2 * (lane % ROW) + of, lane / ROW),
                };
                let element = u128::from(word >> (16 * of) & 0xffff);
                rows[8 * matrix + row] |= element << (16 * column);
            }
        }
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = rows };
}

/// A matrix of 8 by 8 elements of 16 bits, transposed: `movmatrix`.
///
/// # Safety
/// The slots hold words.
pub(crate) unsafe fn transpose(context: &mut Context<'_>, op: &Op) {
    if !is_whole(context, op) {
        return;
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let words = *unsafe { context.slot::<u32>(op.a) };
    let at =
        |row: usize, column: usize| words[row * ROW + column / 2] >> (16 * (column % 2)) & 0xffff;
    let turned = each_lane(|lane| {
        let (row, pair) = (lane / ROW, 2 * (lane % ROW));
        at(pair, row) | at(pair + 1, row) << 16
    });
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = turned };
}

/// The element that lane 0 has first of a fragment of `wmma`, and those of the other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Its line; four lanes each are on the next one.
    pub(crate) line: u8,
    /// Its place on the line.
    pub(crate) along: u8,
    /// Elements on the line from one of the four lanes to the next.
    pub(crate) run: u8,
    /// Bits of an element.
    pub(crate) bits: u8,
    /// Whether the elements of a line follow each other in memory; where not, lines do.
    pub(crate) is_adjacent: bool,
}

impl Start {
    /// Packs it into an operation's number.
    pub(crate) fn encode(self) -> u64 {
        let bytes = [
            self.line,
            self.along,
            self.run,
            self.bits,
            self.is_adjacent.into(),
            0,
            0,
            0,
        ];
        u64::from_le_bytes(bytes)
    }

    fn decode(number: u64) -> Start {
        let [line, along, run, bits, is_adjacent, ..] = number.to_le_bytes();
        Start {
            line,
            along,
            run,
            bits,
            is_adjacent: is_adjacent != 0,
        }
    }
}

/// The address of each lane's first element: from the matrix's, in `a`, and the elements from line to line, or from place to place, in `b`.
///
/// # Safety
/// `d` and `a` hold 64 bits a lane, `b` words.
pub(crate) unsafe fn addresses(context: &mut Context<'_>, op: &Op) {
    let start = Start::decode(op.aux);
    // SAFETY: the slots are the program's own, of these kinds: `exec::verify`, slots.
    let (base, stride) = unsafe { (*context.slot::<u64>(op.a), *context.slot::<u32>(op.b)) };
    let addresses = each_lane(|lane| {
        let (line, four) = place(lane);
        let line = line as u64 + u64::from(start.line);
        let along = four as u64 * u64::from(start.run) + u64::from(start.along);
        let (far, near) = match start.is_adjacent {
            true => (line, along),
            false => (along, line),
        };
        let element = far * u64::from(stride[lane]) + near;
        base[lane].wrapping_add(element * u64::from(start.bits) / 8)
    });
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { *context.slot_mut(op.d) = addresses };
}

/// The kind of a factor's registers.
pub(crate) fn kind_of(element: Element) -> Kind {
    match element {
        Element::F64 => Kind::Double,
        _ => Kind::Word,
    }
}

/// The kind of a sum's registers.
pub(crate) fn kind_of_sum(sum: Sum) -> Kind {
    match sum {
        Sum::F64 => Kind::Double,
        _ => Kind::Word,
    }
}
