//! Calls, returns and ends of threads.

use std::sync::Arc;

use super::activation::{Activation, Caller, Group};
use super::builtin;
use super::code::Code;
use super::failure::{Cause, Failed, Failure};
use super::op::Context;
use super::program::{Call, Callee, Point, Program, Then, Words};
use super::registers::{FULL, LANES, Registers, lanes_of};
use super::undefined;
use super::warp::Warp;
use crate::check::Accessors;
use crate::limits::MAX_LOCAL_BYTES;

/// How deep calls may be nested.
const MOST_CALLS: u32 = 1 << 12;

impl Warp {
    /// The kernel's activation for a new block: in the registers of the block before, if there was one.
    pub(super) fn begin_kernel(&mut self, code: &Code<'_>, context: &mut Context<'_>) -> u32 {
        const KERNEL: u32 = 0;
        if !self.activations.begin_again(self.live) {
            let registers = self.activations.registers_of_kernel(code.kernel());
            let registers = (registers, true);
            return self.activate(code.kernel(), registers, self.live, None, code, context);
        }
        let local = self.frame(code.kernel(), self.live, context);
        let kernel = self.activations.get_mut(KERNEL);
        kernel.local = local;
        undefined::begun(
            context,
            &kernel.program,
            kernel.registers.start(),
            self.live,
        );
        code.fill(&kernel.program, kernel.registers.start(), false, context);
        KERNEL
    }

    fn activate(
        &mut self,
        program: &Arc<Program>,
        (registers, is_new): (Registers, bool),
        lanes: u32,
        caller: Option<Caller>,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> u32 {
        let local = self.frame(program, lanes, context);
        context.at.warp = self.index;
        undefined::begun(context, program, registers.start(), lanes);
        code.fill(program, registers.start(), is_new, context);
        self.activations.add(Activation {
            program: Arc::clone(program),
            met: code.met(program),
            registers,
            lanes,
            passed: match code.stepper {
                None => Vec::new(),
                Some(_) => vec![0; program.blocks.len()],
            },
            local,
            depth: caller.map_or(0, |it| self.activations.get(it.activation).depth + 1),
            caller,
        })
    }

    /// Local memory for an activation: its offset in each thread's.
    fn frame(&mut self, program: &Program, lanes: u32, context: &mut Context<'_>) -> u32 {
        if program.frame.bytes == 0 {
            return 0;
        }
        let local = self.frames.push(lanes, &program.frame);
        self.begin_local(lanes, (local, program.frame.bytes), context);
        local
    }

    /// Makes room for the local memory of some lanes, of which nothing is written yet: its offset and its bytes.
    pub(super) fn begin_local(
        &mut self,
        lanes: u32,
        (offset, bytes): (u32, u32),
        context: &mut Context<'_>,
    ) {
        let end = self.frames.bytes();
        if end > self.local_bytes {
            self.grow_local(end);
        }
        if let Some(checking) = &mut context.at.checking {
            let who = Accessors {
                block: checking.block(),
                warp: self.index,
                mask: lanes,
            };
            checking.checker.frame(who, offset, bytes);
        }
    }

    /// Makes room for `bytes` of local memory a thread.
    fn grow_local(&mut self, bytes: u32) {
        let bytes = bytes.next_multiple_of(16).max(self.local_bytes * 2);
        let mut grown = vec![u64::MAX; LANES * bytes as usize / 8];
        let before = self.local_bytes as usize / 8;
        for (lane, room) in grown.chunks_exact_mut(bytes as usize / 8).enumerate() {
            room[..before].copy_from_slice(&self.local[lane * before..][..before]);
        }
        self.local = grown;
        self.local_bytes = bytes;
    }

    pub(super) fn call(
        &mut self,
        mut group: Group,
        call: &Call,
        next: Point,
        code: &Code<'_>,
        context: &mut Context<'_>,
        instruction: u32,
    ) -> Result<Group, Box<Failed>> {
        let function = match call.callee {
            Callee::Builtin(which) => {
                context.mask = group.mask;
                builtin::call(which, call, context, instruction)
                    .map_err(|failure| Box::new(context.failed(failure, instruction)))?;
                if context.at.tracks {
                    undefined::returned(context, call, group.mask);
                }
                group.at = next;
                return Ok(group);
            }
            Callee::Stack(which) => {
                context.mask = group.mask;
                self.stack(which, call, context, instruction)?;
                if context.at.tracks {
                    undefined::returned(context, call, group.mask);
                }
                group.at = next;
                return Ok(group);
            }
            Callee::Function(function) => function,
            Callee::Address(slot) => {
                // SAFETY: the slot holds 64 bits.
                let addresses = unsafe { *context.slot::<u64>(slot) };
                let address = addresses[group.mask.trailing_zeros() as usize];
                let same = lanes_of(group.mask)
                    .filter(|&lane| addresses[lane] == address)
                    .fold(0, |mask, lane| mask | 1 << lane);
                if same != group.mask {
                    // The others come back to the call, behind the block's operations.
                    let program = &self.activations.get(group.activation).program;
                    let block = &program.blocks[group.at.block as usize];
                    let at = Point {
                        op: block.end - block.start,
                        ..group.at
                    };
                    if let Some(tally) = &mut context.at.counting {
                        tally.comes_back(&**program, group.at.block, group.mask & !same);
                    }
                    self.ready.push(Group {
                        mask: group.mask & !same,
                        at,
                        ..group
                    });
                    group.mask = same;
                }
                context.mask = same;
                let none = Failure::NoFunction { address }.into();
                code.function_at(address)
                    .ok_or_else(|| Box::new(context.failed(none, instruction)))?
            }
        };
        let failed =
            |cause: Cause, context: &Context<'_>| Box::new(context.failed(cause, instruction));
        let program = code
            .program(function)
            .map_err(|cause| failed(cause, context))?;
        if self.activations.get(group.activation).depth == MOST_CALLS {
            let too_deep = Failure::Recursion { limit: MOST_CALLS };
            return Err(failed(too_deep.into(), context));
        }
        let actual = match program.frame.bytes {
            0 => 0,
            bytes => self.frames.bytes().saturating_add(bytes),
        };
        if actual > MAX_LOCAL_BYTES {
            let limit = MAX_LOCAL_BYTES;
            let too_much = Failure::LocalMemory { actual, limit };
            return Err(failed(too_much.into(), context));
        }
        let caller = Caller {
            activation: group.activation,
            call: group.at,
            next,
        };
        let from = context.registers;
        let taken = program.parameters.iter().filter_map(|it| match it {
            super::program::Parameter::Call(words) => Some(*words),
            super::program::Parameter::Launch { .. } => None,
        });
        let (given, expected) = (call.arguments.len(), taken.clone().count());
        if given < expected {
            let text = format!(
                "a call of {} with {given} arguments; it takes {expected}",
                program.name
            );
            return Err(failed(Cause::misuse(text), context));
        }
        let registers = self.activations.registers(&program);
        let registers = registers.map_err(|cause| failed(cause, context))?;
        let callee = self.activate(&program, registers, group.mask, Some(caller), code, context);
        let to = self.activations.get(callee).registers.start();
        for (given, taken) in call.arguments.iter().zip(taken) {
            // SAFETY: both are slots of words of their programs.
            unsafe { copy_words(from, *given, to, taken, FULL) };
            undefined::passed(context, (from, *given), (to, taken), FULL);
        }
        Ok(Group {
            activation: callee,
            at: Point::start_of(0),
            ..group
        })
    }

    /// Returns a group's lanes to their caller, or ends them.
    pub(super) fn leave(&mut self, group: Group, context: &mut Context<'_>) -> Option<Group> {
        let activation = self.activations.get_mut(group.activation);
        let Some(caller) = activation.caller else {
            self.end(group);
            return None;
        };
        activation.lanes &= !group.mask;
        let is_empty = activation.lanes == 0;
        let from = activation.registers.start();
        let program = Arc::clone(&activation.program);
        let to = self.activations.get(caller.activation);
        if let Then::Call { call, .. } = &to.program.blocks[caller.call.block as usize].then {
            for (given, taken) in program.returns.iter().zip(&call.returns) {
                // SAFETY: both are slots of words of their programs.
                unsafe { copy_words(from, *given, to.registers.start(), *taken, group.mask) };
                let taken = (to.registers.start(), *taken);
                undefined::passed(context, (from, *given), taken, group.mask);
            }
        }
        if is_empty {
            self.activations.remove(group.activation);
            undefined::ended(context, from);
        }
        if program.frame.bytes > 0 {
            self.frames.pop(group.mask);
        }
        Some(Group {
            activation: caller.activation,
            at: caller.next,
            ..group
        })
    }

    /// Ends a group's lanes, in all functions that they are in.
    pub(super) fn end(&mut self, group: Group) {
        self.live &= !group.mask;
        let mut index = group.activation;
        loop {
            let activation = self.activations.get_mut(index);
            activation.lanes &= !group.mask;
            let is_empty = activation.lanes == 0;
            let caller = activation.caller;
            if activation.program.frame.bytes > 0 {
                self.frames.pop(group.mask);
            }
            let Some(caller) = caller else { break };
            if is_empty {
                self.activations.remove(index);
            }
            index = caller.activation;
        }
    }
}

/// Copies a parameter's words for the lanes of a mask.
///
/// # Safety
/// Both are words of programs whose registers these are.
unsafe fn copy_words(from: *mut u8, given: Words, to: *mut u8, taken: Words, mask: u32) {
    for index in 0..given.count.min(taken.count) {
        for lane in lanes_of(mask) {
            // SAFETY: the contract of this function.
            unsafe { set_word(to, taken, index, lane, word(from, given, index, lane)) };
        }
    }
}

/// A lane's word of a parameter.
///
/// # Safety
/// The words are those of a verified program, of which these are the registers; there are more than `index`.
pub(super) unsafe fn word(registers: *mut u8, words: Words, index: u32, lane: usize) -> u32 {
    let (slot, shift) = words.place(index);
    // SAFETY: the contract of this function.
    unsafe {
        let slot = registers.add(slot as usize);
        match words.is_double {
            true => ((*slot.cast::<[u64; LANES]>())[lane] >> shift) as u32,
            false => (*slot.cast::<[u32; LANES]>())[lane],
        }
    }
}

/// Gives a lane's word of a parameter a value.
///
/// # Safety
/// As for [`word`].
pub(super) unsafe fn set_word(
    registers: *mut u8,
    words: Words,
    index: u32,
    lane: usize,
    value: u32,
) {
    let (slot, shift) = words.place(index);
    // SAFETY: the contract of this function.
    unsafe {
        let slot = registers.add(slot as usize);
        match words.is_double {
            true => {
                let all = &mut (*slot.cast::<[u64; LANES]>())[lane];
                *all = *all & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
            }
            false => (*slot.cast::<[u32; LANES]>())[lane] = value,
        }
    }
}
