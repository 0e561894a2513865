//! A function that lanes of a warp are in.

use std::sync::Arc;

use super::failure::{Cause, Failure};
use super::program::{Point, Program};
use super::registers::{FULL, Registers};
use crate::memory::Cached;

/// A function that lanes of a warp have called together, and its registers.
pub(crate) struct Activation {
    pub(crate) program: Arc<Program>,
    pub(crate) registers: Registers,
    /// Lanes that have not returned.
    pub(crate) lanes: u32,
    /// The lanes that have gone through each block of instructions, for a debugger: else it is empty.
    pub(crate) passed: Vec<u32>,
    /// Where its local memory begins in each thread's.
    pub(crate) local: u32,
    /// The allocations that the program's accesses met last.
    pub(crate) met: *mut Cached,
    /// Who called; none for the kernel.
    pub(crate) caller: Option<Caller>,
    /// How many calls deep it is.
    pub(crate) depth: u32,
}

/// Where an activation returns to.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// The activation, an index.
    pub(crate) activation: u32,
    /// Where the call stands, at the end of its block.
    pub(crate) call: Point,
    /// Where its lanes go on.
    pub(crate) next: Point,
}

/// Lanes of a warp that have come to the same operation of the same activation. It fits two vector registers: a larger one is
/// stored and loaded in parts that a CPU does not forward, which takes 10 % of a small kernel's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) activation: u32,
    pub(crate) at: Point,
    pub(crate) mask: u32,
    /// How often it has had its turn: those that had fewer go first.
    pub(crate) turns: u32,
    /// The part of its turn that it has spent: blocks of instructions, and looks at what others write.
    pub(crate) spent: u32,
    pub(crate) looks: u32,
    /// Whether it stands at an access of which has been decided who goes on.
    pub(crate) is_decided: bool,
}

const _: () = assert!(size_of::<Group>() <= 32);

/// The activations of a warp, first of all the kernel's, which stays from block to block. Freed places are
/// taken again.
#[derive(Default)]
pub(crate) struct Activations {
    all: Vec<Option<Activation>>,
    free: Vec<u32>,
    /// Registers of functions that were left, by the address of their program.
    spare: Vec<(Arc<Program>, Registers)>,
    /// Those of the kernel in the launch before, which hold nothing that this one can use.
    stale: Option<(Arc<Program>, Registers)>,
    /// Bytes of all registers but those.
    bytes: u64,
}

/// Bytes of registers of the functions that a warp is in, or has been in.
const MOST_REGISTER_BYTES: u64 = 256 << 20;

impl Activations {
    pub(crate) fn get(&self, index: u32) -> &Activation {
        self.all[index as usize].as_ref().expect("lanes are in it")
    }

    /// Those that lanes are in, with their numbers.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &Activation)> {
        let all = self.all.iter().enumerate();
        all.filter_map(|(index, it)| Some((index, it.as_ref()?)))
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> &mut Activation {
        self.all[index as usize].as_mut().expect("lanes are in it")
    }

    /// Registers for the kernel, which are to be filled as new ones.
    pub(crate) fn registers_of_kernel(&mut self, program: &Arc<Program>) -> Registers {
        let stale = self.stale.take_if(|it| Arc::ptr_eq(&it.0, program));
        let registers = stale.map_or_else(|| Registers::new(program.register_bytes), |it| it.1);
        self.bytes += registers.size();
        registers
    }

    /// Registers for a function, with whether they are to be filled as new ones.
    ///
    /// # Errors
    /// The functions that the warp is in have too many, or so many bytes are not free.
    pub(crate) fn registers(&mut self, program: &Arc<Program>) -> Result<(Registers, bool), Cause> {
        let spare = self.spare.iter().position(|it| Arc::ptr_eq(&it.0, program));
        if let Some(place) = spare {
            return Ok((self.spare.swap_remove(place).1, false));
        }
        let actual = self.bytes + u64::from(program.register_bytes);
        let limit = MOST_REGISTER_BYTES;
        let too_many = Cause::Failure(Failure::Registers { actual, limit });
        if actual > limit {
            return Err(too_many);
        }
        let registers = Registers::try_new(program.register_bytes).ok_or(too_many)?;
        self.bytes += registers.size();
        Ok((registers, true))
    }

    /// Forgets the launch, but for the kernel's registers.
    pub(crate) fn rest(&mut self) {
        let kernel = self.all.first_mut().and_then(Option::take);
        self.stale = kernel.map(|it| (it.program, it.registers));
        self.all.clear();
        self.free.clear();
        self.spare.clear();
        self.bytes = 0;
    }

    pub(crate) fn add(&mut self, activation: Activation) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.all[index as usize] = Some(activation);
                index
            }
            None => {
                self.all.push(Some(activation));
                self.all.len() as u32 - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, index: u32) {
        let place = self.all.get_mut(index as usize).and_then(Option::take);
        let activation = place.expect("lanes were in it");
        self.spare.push((activation.program, activation.registers));
        self.free.push(index);
    }

    /// The kernel's for a new block, with whether there is one. Of functions there are none any more.
    pub(crate) fn begin_again(&mut self, lanes: u32) -> bool {
        for index in 1..self.all.len() as u32 {
            if self.all[index as usize].is_some() {
                self.remove(index);
            }
        }
        let kernel = self.all.first_mut().and_then(Option::as_mut);
        let begin = |it: &mut Activation| {
            it.lanes = lanes;
            it.passed.fill(0);
        };
        kernel.map(begin).is_some()
    }

    /// Whether a group is further back than another: in its function or, where they are in
    /// different ones, in the function that called both.
    pub(crate) fn is_behind(&self, one: &Group, other: &Group) -> bool {
        if one.activation == other.activation {
            return one.at < other.at;
        }
        let (mut a, mut b) = ((one.activation, one.at), (other.activation, other.at));
        let (depth_of_one, depth_of_other) = (self.get(a.0).depth, self.get(b.0).depth);
        let (mut of_a, mut of_b) = (depth_of_one, depth_of_other);
        while a.0 != b.0 {
            let (up, depth) = match of_a >= of_b {
                true => (&mut a, &mut of_a),
                false => (&mut b, &mut of_b),
            };
            let Some(caller) = &self.get(up.0).caller else {
                break;
            };
            *up = (caller.activation, caller.call);
            *depth -= 1;
        }
        // Of two at the same call, whoever is in it is further back than who has yet to make it.
        a.1 < b.1 || a.1 == b.1 && depth_of_one > depth_of_other
    }
}

/// Lanes of a block that exist: its last warp may have fewer.
pub(crate) fn lanes_of_warp(warp: u32, threads: u32) -> u32 {
    let left = threads - warp * 32;
    match left {
        0..32 => (1 << left) - 1,
        _ => FULL,
    }
}
