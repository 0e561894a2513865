//! Guards that choose nothing: those that are constant, and those of checks that panic.

use std::collections::BTreeSet;

use ptx::{Body, Guard, Operand, Operation, Reg};

use crate::lower::flow::{End, Piece};

/// The guards of a function.
pub(crate) struct Guards {
    fixed: BTreeSet<Reg>,
    traps: Vec<bool>,
}

impl Guards {
    /// Those of a body that has these basic blocks.
    pub(crate) fn of(body: &Body, pieces: &[Piece]) -> Guards {
        Guards {
            fixed: fixed(body),
            traps: traps(body, pieces),
        }
    }

    /// Whether a guard has the same value wherever it is looked at: Triton guards what it always executes by such ones.
    pub(crate) fn is_fixed(&self, guard: Guard) -> bool {
        self.fixed.contains(&guard.register)
    }

    /// Whether one of two ways always ends in a trap and the other does not: a check that panics.
    pub(crate) fn is_check(&self, taken: usize, otherwise: usize) -> bool {
        self.traps[taken] != self.traps[otherwise]
    }

    /// Whether all ways from a basic block end in a trap.
    pub(crate) fn traps(&self, piece: usize) -> bool {
        self.traps[piece]
    }
}

/// Which basic blocks lead to a trap, whichever way lanes go from there.
fn traps(body: &Body, pieces: &[Piece]) -> Vec<bool> {
    let mut traps: Vec<bool> = vec![false; pieces.len()];
    let is_trap = |end: &End| match end {
        End::By { instruction, .. } => {
            matches!(body.instructions[*instruction].operation, Operation::Trap)
        }
        _ => false,
    };
    loop {
        let leads = |piece: &Piece| {
            let targets = piece.end.targets();
            !targets.is_empty() && targets.iter().all(|&it| traps[it])
        };
        let next = pieces.iter().map(|it| is_trap(&it.end) || leads(it));
        let next: Vec<bool> = next.collect();
        if next == traps {
            return traps;
        }
        traps = next;
    }
}

/// Registers that are set to constants alone.
fn fixed(body: &Body) -> BTreeSet<Reg> {
    let guards = body.instructions.iter().filter_map(|it| it.guard);
    let mut fixed: BTreeSet<Reg> = guards.map(|it| it.register).collect();
    for instruction in &body.instructions {
        let is_constant = matches!(
            &instruction.operation,
            Operation::Mov(it) if matches!(it.a, Operand::Immediate(_))
        );
        if !is_constant {
            for register in instruction.definitions() {
                fixed.remove(&register);
            }
        }
    }
    fixed
}
