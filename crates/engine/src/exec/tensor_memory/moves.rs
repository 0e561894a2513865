//! `tcgen05.ld` and `tcgen05.st`: between tensor memory and the registers of a warp.

use ptx::Tcgen05Shape;

use super::super::checked;
use super::super::failure::Cause;
use super::super::op::{Context, Op};
use super::super::registers::LANES;
use super::super::shared_operand::Address;
use super::super::{undefined, wgmma};
use super::{LANES_OF_WARP, memory};
use crate::check::{TensorAct, TensorCells};

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Load,
    Store,
}

/// A load or a store.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) direction: Direction,
    pub(crate) shape: Tcgen05Shape,
    pub(crate) repeats: u32,
    /// Whether a register has 16 bits of two columns.
    pub(crate) is_packed: bool,
    pub(crate) address: Address,
    /// Columns to the second half.
    pub(crate) split: u32,
    /// A register each.
    pub(crate) slots: Vec<u32>,
    /// The registers that a load writes.
    pub(crate) written: Vec<u32>,
}

/// Where a thread's register is: the lane, from the first of the shape on, and the column, with that of its half.
fn place(shape: Tcgen05Shape, thread: usize, register: usize) -> (usize, usize, bool) {
    let (four, part) = (thread / 4, thread % 4);
    match shape {
        Tcgen05Shape::L32x32b => (thread, register, false),
        Tcgen05Shape::L16x64b => (part % 2 * 8 + four, part / 2 + 2 * register, false),
        Tcgen05Shape::L16x128b => (four + 8 * (register % 2), part + register / 2 * 4, false),
        Tcgen05Shape::L16x256b => {
            let column = 2 * part + register % 2 + register / 4 * 8;
            (four + register / 2 % 2 * 8, column, false)
        }
        Tcgen05Shape::L16x32bx2 => (thread % 16, register, thread >= 16),
    }
}

impl Move {
    fn lanes(&self) -> u32 {
        match self.shape {
            Tcgen05Shape::L32x32b => 32,
            _ => 16,
        }
    }

    /// Columns of each half.
    fn columns(&self) -> u32 {
        let bits = match self.shape {
            Tcgen05Shape::L32x32b | Tcgen05Shape::L16x32bx2 => 1,
            Tcgen05Shape::L16x64b => 2,
            Tcgen05Shape::L16x128b => 4,
            Tcgen05Shape::L16x256b => 8,
        };
        bits * self.repeats * if self.is_packed { 2 } else { 1 }
    }

    /// # Safety
    /// The slots are those of the running program.
    pub(super) unsafe fn execute(&self, context: &mut Context<'_>, op: &Op) -> Result<(), Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let addresses: [u32; LANES] =
            std::array::from_fn(|lane| unsafe { self.address.of(context, lane) as u32 });
        let address = addresses[0];
        if let Some(lane) = (1..LANES).find(|&lane| addresses[lane] != address) {
            return Err(Cause::misuse(format!(
                "lanes 0 and {lane} give two addresses of tensor memory, {address:#x} and {:#x}",
                addresses[lane]
            )));
        }
        let (lane, column) = (address >> 16, address & 0xffff);
        let first = context.at.warp % 4 * LANES_OF_WARP;
        let is_own = lane == first || self.lanes() == 16 && lane == first + 16;
        if !is_own {
            return Err(Cause::misuse(format!(
                "warp {} moves {} lanes of tensor memory from lane {lane} on; its own are {first} to {}",
                context.at.warp,
                self.lanes(),
                first + LANES_OF_WARP - 1
            )));
        }
        let count = self.columns();
        memory(context).check(column, count)?;
        let mut cells = vec![TensorCells::new(lane, self.lanes(), column, count)];
        if self.shape == Tcgen05Shape::L16x32bx2 {
            memory(context).check(column + self.split, count)?;
            cells.push(TensorCells::new(lane, 16, column + self.split, count));
        }
        // SAFETY: the slots are those of a verified program, of their kinds.
        let equal = unsafe { self.equal(context, (lane, column), &cells) };
        let act = match self.direction {
            Direction::Load => TensorAct::Load,
            Direction::Store => TensorAct::Store { equal: &equal },
        };
        checked::tensor(context, op, 0, act, &cells)?;
        // SAFETY: the slots are those of a verified program, of their kinds.
        unsafe { self.carry_out(context, (lane, column)) };
        if self.direction == Direction::Load {
            wgmma::remember_loads(context, op, &self.written);
            self.define(context, op, (lane, column));
        }
        Ok(())
    }

    /// Whether cells have the values already that a store writes to them, in a checked launch.
    ///
    /// # Safety
    /// As for [`Move::execute`].
    unsafe fn equal(
        &self,
        context: &mut Context<'_>,
        place: (u32, u32),
        cells: &[TensorCells],
    ) -> Vec<bool> {
        if self.direction == Direction::Load || context.at.checking.is_none() {
            return Vec::new();
        }
        let memory = memory(context);
        let mut differ = [false; TensorCells::ALL];
        for (register, &slot) in self.slots.iter().enumerate() {
            // SAFETY: the slot is the program's own, of words: `exec::verify`, slots.
            let values = *unsafe { context.slot::<u32>(slot) };
            let places = self.places(register, place);
            for ((lane, column), value) in places.into_iter().zip(values) {
                let is_equal = match self.is_packed {
                    false => *memory.word(lane, column) == value,
                    true => {
                        *memory.word(lane, column) == value & 0xffff
                            && *memory.word(lane, column + 1) == value >> 16
                    }
                };
                if !is_equal {
                    let columns = column..=column + u32::from(self.is_packed);
                    let cells = columns.map(|it| TensorCells::new(lane as u32, 16, it, 1));
                    cells
                        .flat_map(TensorCells::each)
                        .for_each(|at| differ[at] = true);
                }
            }
        }
        let all = cells.iter().flat_map(|it| it.each());
        all.map(|at| !differ[at]).collect()
    }

    /// The lane and the column of each thread's register.
    fn places(&self, register: usize, (lane, column): (u32, u32)) -> [(usize, u32); LANES] {
        std::array::from_fn(|thread| {
            let (down, right, is_second) = place(self.shape, thread, register);
            let right = right as u32 * if self.is_packed { 2 } else { 1 };
            let half = if is_second { self.split } else { 0 };
            (lane as usize + down, column + right + half)
        })
    }

    /// Tells the checks that a load's values are undefined where nobody has written them.
    fn define(&self, context: &mut Context<'_>, op: &Op, (lane, column): (u32, u32)) {
        for (register, &slot) in self.slots.iter().enumerate() {
            let places = self.places(register, (lane, column));
            undefined::tensor_loaded(context, op, slot, (&places, self.is_packed));
        }
    }

    /// # Safety
    /// As for [`Move::execute`].
    unsafe fn carry_out(&self, context: &mut Context<'_>, from: (u32, u32)) {
        let memory = memory(context);
        for (register, &slot) in self.slots.iter().enumerate() {
            let places = self.places(register, from);
            // SAFETY: the slot is the program's own, of words: `exec::verify`, slots.
            let values = unsafe { context.slot_mut::<u32>(slot) };
            for (value, (lane, at)) in values.iter_mut().zip(places) {
                match (self.direction, self.is_packed) {
                    (Direction::Load, false) => *value = *memory.word(lane, at),
                    (Direction::Store, false) => *memory.word(lane, at) = *value,
                    (Direction::Load, true) => {
                        let low = *memory.word(lane, at) & 0xffff;
                        *value = low | *memory.word(lane, at + 1) << 16;
                    }
                    (Direction::Store, true) => {
                        *memory.word(lane, at) = *value & 0xffff;
                        *memory.word(lane, at + 1) = *value >> 16;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_shape_has_each_place_once() {
        let shapes = [
            (Tcgen05Shape::L32x32b, 32, 1),
            (Tcgen05Shape::L16x64b, 16, 2),
            (Tcgen05Shape::L16x128b, 16, 4),
            (Tcgen05Shape::L16x256b, 16, 8),
        ];
        for (shape, lanes, columns) in shapes {
            for repeats in [1, 2, 8] {
                let registers = shape.registers() * repeats;
                let all: BTreeSet<_> = (0..32)
                    .flat_map(|thread| (0..registers).map(move |register| (thread, register)))
                    .map(|(thread, register)| place(shape, thread, register))
                    .collect();
                assert_eq!(all.len(), 32 * registers, "{shape:?}");
                assert!(
                    all.iter()
                        .all(|&(lane, column, _)| lane < lanes && column < columns * repeats),
                    "{shape:?}"
                );
            }
        }
    }
}
