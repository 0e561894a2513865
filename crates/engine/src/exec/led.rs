//! Blocks of instructions of a group that a director or a debugger leads.

use super::activation::Group;
use super::code::Code;
use super::failure::{Cause, Failed, Failure};
use super::op::Context;
use super::program::Program;
use super::registers::FULL;
use super::stepper::{At, Next, Stepper};
use super::steps::Step;
use super::warp::Warp;

impl Warp {
    /// Runs a group to the end of its block, or to where a director asks: gives that operation.
    pub(super) fn run_led(
        &mut self,
        group: &mut Group,
        program: &Program,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Option<u32> {
        let block = &program.blocks[group.at.block as usize];
        let start = block.start + group.at.op;
        let asked_at = match &code.director {
            None => None,
            Some(director) => director.asks_at(program, start..block.end, group.is_decided),
        };
        let end = asked_at.unwrap_or(block.end);
        context.mask = group.mask;
        let part = Part {
            warp: self,
            group: *group,
            program,
            code,
        };
        match code.stepper {
            None => part.run(start, end, context),
            Some(stepper) => {
                part.step(start, end, asked_at.is_none(), stepper, context);
                if asked_at.is_none() {
                    let passed = &mut self.activations.get_mut(group.activation).passed;
                    passed[group.at.block as usize] |= group.mask;
                }
            }
        }
        self.steps += 1;
        group.spent += 1;
        asked_at
    }
}

/// A part of a block, as a group runs it.
struct Part<'a, 'l> {
    warp: &'a Warp,
    group: Group,
    program: &'a Program,
    code: &'a Code<'l>,
}

impl Part<'_, '_> {
    /// Runs operations of the program.
    fn run(&self, start: u32, end: u32, context: &mut Context<'_>) {
        let ops = &self.program.ops[start as usize..end as usize];
        // SAFETY: the operations were lowered for this program's registers.
        unsafe {
            match self.group.mask == FULL {
                true => self.code.run.full(context)(context, ops),
                false => self.code.run.masked(context)(context, ops),
            }
        }
    }

    /// The same from step to step, each of which the debugger may stop before, and behind which it is told of a fault.
    fn step(
        &self,
        start: u32,
        end: u32,
        is_whole: bool,
        stepper: &Stepper<'_>,
        context: &mut Context<'_>,
    ) {
        let steps = self.steps(start, end, is_whole);
        if stepper.sleeps_through(steps.len() as u64) {
            let before = stepper.position();
            self.run(start, end, context);
            stepper.pass(steps.len() as u64);
            if let Some(failed) = context.at.fault.take() {
                let is_of = |it: &Step| it.instruction == failed.instruction;
                let done = steps.iter().rposition(is_of).unwrap_or(0);
                self.failed(before + done as u64, failed, stepper, context);
            }
            return;
        }
        let mut at = start;
        for (index, step) in steps.iter().enumerate() {
            self.run(at, step.first, context);
            at = steps.get(index + 1).map_or(end, |next| next.first);
            let asked = self.at(stepper, stepper.position(), step.instruction, context);
            if stepper.ask(&asked) == Next::Abandon {
                self.abandon(step.instruction, context);
                return;
            }
            self.run(step.first, at, context);
            if let Some(failed) = context.at.fault.take() {
                self.failed(stepper.position(), failed, stepper, context);
                return;
            }
            stepper.pass(1);
        }
        self.run(at, end, context);
    }

    /// The steps that begin in a range of operations, and where that goes to the end of the block those behind its last
    /// operation.
    fn steps(&self, start: u32, end: u32, is_whole: bool) -> &[Step] {
        let steps = self.program.steps.as_ref();
        let steps = steps.map_or(&[][..], |it| &it.of_blocks[self.group.at.block as usize]);
        let from = steps.partition_point(|it| it.first < start);
        let to = match is_whole {
            true => steps.len(),
            false => steps.partition_point(|it| it.first < end),
        };
        &steps[from..to]
    }

    fn at<'a, 'c>(
        &'a self,
        stepper: &'a Stepper<'_>,
        position: u64,
        instruction: u32,
        context: &'a Context<'c>,
    ) -> At<'a, 'c> {
        At {
            position,
            instruction,
            group: self.group,
            warp: self.warp,
            program: self.program,
            context,
            stepper,
        }
    }

    /// Tells of a fault, and keeps it unless the debugger goes back from it.
    fn failed(
        &self,
        position: u64,
        failed: Box<Failed>,
        stepper: &Stepper<'_>,
        context: &mut Context<'_>,
    ) {
        let instruction = failed.instruction;
        let told = self.at(stepper, position, instruction, context);
        match stepper.tell(&told, &failed) {
            Next::Abandon => self.abandon(instruction, context),
            Next::At(_) => context.at.fault = Some(failed),
        }
    }

    fn abandon(&self, instruction: u32, context: &mut Context<'_>) {
        let cause = Cause::Failure(Failure::Abandoned);
        context.at.fault = Some(Box::new(context.failed(cause, instruction)));
    }
}
