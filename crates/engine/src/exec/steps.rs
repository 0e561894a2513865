//! Where each instruction begins, in a program that is made for a debugger.

use ptx::Body;

use super::registers::Kind;

/// The steps of a function, which a debugger stops at.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Those of each block, rising.
    pub(crate) of_blocks: Vec<Vec<Step>>,
    /// The slot of each register, where it has one: no other register's.
    pub(crate) slots: Vec<Option<(u32, Kind)>>,
    /// The steps that write each register: a block, and the index of one of its steps.
    pub(crate) writes: Vec<Vec<(u32, u32)>>,
}

impl Steps {
    pub(crate) fn new(
        body: &Body,
        of_blocks: Vec<Vec<Step>>,
        slots: Vec<Option<(u32, Kind)>>,
    ) -> Steps {
        let mut writes = vec![Vec::new(); body.registers.len()];
        for (block, steps) in (0..).zip(&of_blocks) {
            for (index, step) in (0..).zip(steps) {
                for register in body.instructions[step.instruction as usize].definitions() {
                    writes[register.0 as usize].push((block, index));
                }
            }
        }
        Steps {
            of_blocks,
            slots,
            writes,
        }
    }
}

/// An instruction as a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Of the function.
    pub(crate) instruction: u32,
    /// Its first operation, of the function; the next step's where it has none.
    pub(crate) first: u32,
}

impl Step {
    pub(crate) fn new(instruction: usize, first: usize) -> Step {
        Step {
            instruction: instruction as u32,
            first: first as u32,
        }
    }
}
