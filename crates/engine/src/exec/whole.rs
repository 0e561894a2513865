//! Blocks of instructions of a group that nobody leads.

use super::activation::Group;
use super::code::Code;
use super::op::Context;
use super::program::{Block, Point, Program, Then};
use super::registers::{FULL, LANES};
use super::warp::{LOOKS, TURN, Warp};

impl Warp {
    /// Runs a group that is not whole to the end of its block.
    pub(super) fn run_block(
        &mut self,
        group: &mut Group,
        program: &Program,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) {
        let block = &program.blocks[group.at.block as usize];
        let start = block.start + group.at.op;
        let ops = &program.ops[start as usize..block.end as usize];
        context.mask = group.mask;
        // SAFETY: the operations were lowered for this program's registers.
        unsafe { code.run.masked(context)(context, ops) };
        self.steps += 1;
        group.spent += 1;
    }

    /// Runs a whole warp from block to block for as long as it stays whole and no gate is in its way, without a
    /// director: no other group of the warp may go first. It stops at the end of a block, after which its
    /// caller decides what follows, when it has had its turn or has spent as much as `look_at` of it.
    // By itself, so that little has to be kept in memory from block to block.
    #[inline(never)]
    pub(super) fn run_whole(
        &mut self,
        group: &mut Group,
        program: &Program,
        look_at: u32,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) {
        let stop_at = look_at.min(TURN);
        let (run, blocks) = (code.run.full(context), &program.blocks[..]);
        let (mut at, mut spent) = (group.at, group.spent);
        context.mask = FULL;
        loop {
            let first = &blocks[at.block as usize];
            let last = &blocks[first.through as usize];
            let ops = &program.ops[(first.start + at.op) as usize..last.end as usize];
            // SAFETY: the operations were lowered for this program's registers.
            unsafe { run(context, ops) };
            spent += first.through - at.block + 1;
            if at.block != first.through {
                if let Some(tally) = &mut context.at.counting {
                    tally.run_through(program, at.block..first.through);
                }
                at = Point::start_of(first.through);
            }
            // How it ends may depend on what is undefined, which its caller looks at.
            if context.at.tracks {
                break;
            }
            let Some((next, takers)) = last.next_of_whole(context) else {
                break;
            };
            let is_open = match &blocks[next as usize].gate {
                None => true,
                Some(gate) => gate.is_for_all,
            };
            let has_had_its_turn = spent >= stop_at || context.at.looks > LOOKS;
            if !is_open || has_had_its_turn || context.at.fault.is_some() {
                break;
            }
            if let Some(tally) = &mut context.at.counting {
                tally.run_whole(program, at.block, takers);
            }
            at = Point::start_of(next);
        }
        self.steps += u64::from(spent - group.spent);
        (group.at, group.spent) = (at, spent);
    }
}

impl Block {
    /// Where a whole warp goes on, and how many lanes take a branch to get there; none where it does not stay whole, or
    /// does something else than go on.
    #[inline(always)]
    fn next_of_whole(&self, context: &Context<'_>) -> Option<(u32, u32)> {
        match self.then {
            Then::Jump(next) => Some((next, 0)),
            Then::Branch {
                predicate,
                wanted,
                taken,
                otherwise,
            } => {
                // SAFETY: the slot holds a predicate.
                let lanes = unsafe { context.predicate(predicate) };
                match if wanted { lanes } else { !lanes } {
                    FULL => Some((taken, LANES as u32)),
                    0 => Some((otherwise, 0)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::exec::program::{Gate, Meeting};

    fn block(ops: Range<u32>, gate: Option<bool>, then: Then) -> Block {
        Block {
            start: ops.start,
            end: ops.end,
            gate: gate.map(|is_for_all| Gate {
                members: 0,
                is_for_all,
                source: None,
                meeting: Meeting::Sync,
                from: None,
            }),
            through: 0,
            then,
            instruction: 0,
            issues: 0..0,
        }
    }

    #[test]
    fn a_whole_warp_stops_where_it_may_have_to_wait_or_to_choose() {
        let branch = Then::Branch {
            predicate: 0,
            wanted: true,
            taken: 4,
            otherwise: 5,
        };
        let mut blocks = [
            block(0..2, None, Then::Jump(1)),
            block(2..4, Some(true), Then::Jump(2)),
            block(4..5, None, branch),
            // Another block comes next than the one behind it.
            block(5..6, None, Then::Jump(5)),
            block(6..7, None, Then::Jump(5)),
            // Not for all.
            block(7..8, Some(false), Then::Jump(6)),
            block(8..9, None, Then::Exit),
        ];
        Block::link(&mut blocks);
        let through = blocks.map(|it| it.through);
        assert_eq!(through, [2, 2, 2, 3, 4, 6, 6]);
    }
}
