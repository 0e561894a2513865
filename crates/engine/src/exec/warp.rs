//! A warp: its groups of lanes and what they wait for.
//!
//! The group that is furthest back runs; groups that meet go on together. A group that goes on for
//! long lets the others go first, so that lanes may wait for lanes of their own warp.

use std::sync::Arc;

use super::activation::{Activations, Group, lanes_of_warp};
use super::barriers::Waiting;
use super::cluster;
use super::code::Code;
use super::endless::Limit;
use super::failure::{Failed, Failure};
use super::op::Context;
use super::program::{Point, Program, Then};
use super::recurrence::Recurrence;
use super::registers::{FULL, LANES, lanes_of};
use super::stops::Directed;
use super::surroundings::Look;
use super::undefined;
use super::wgmma::Products;
use crate::memory;

/// How many blocks of instructions a group may go through before others have their turn.
pub(super) const TURN: u32 = 1 << 12;

/// How many groups of a warp may run before other warps have their turn.
pub(super) const TURNS: u64 = 64;

/// How often a warp may look at what others may write before they have their turn.
pub(super) const LOOKS: u32 = 32;

/// Bytes between frames of local memory that belong to nobody.
const GAP: u32 = 64;

/// The threads of a warp.
pub(crate) struct Warp {
    pub(crate) index: u32,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    pub(crate) activations: Activations,
    pub(super) ready: Vec<Group>,
    /// Groups before a gate, and the lanes that meet there.
    pub(super) gated: Vec<(Group, u32)>,
    /// Groups at a barrier of the block.
    pub(crate) waiting: Vec<Waiting>,
    /// Local memory, a thread's after another's.
    pub(super) local: Vec<u64>,
    pub(super) local_bytes: u32,
    pub(super) frames: memory::Local,
    /// Blocks of instructions that it has gone through.
    pub(crate) steps: u64,
    /// How many of them it went through in its last turn, if it waits.
    pub(super) waited: u64,
    /// How many those were when it last looked at what others may write.
    looked: u64,
    /// The last of these looks.
    look: Option<Look>,
    /// The phase of the cluster's barrier at which each lane has arrived and not waited.
    awaited: [Option<u32>; LANES],
    /// The products that it has computed with other warps.
    products: Products,
    /// How it has come on under a director.
    pub(super) directed: Directed,
    /// Whether it comes to anything new.
    pub(super) recurrence: Recurrence,
}

/// Why a warp has stopped for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// All of its threads have ended or wait at a barrier of the block.
    AtBarrier,
    /// It has had its turn.
    Turn,
    /// It has had its turn, and waits for what others write as far as one can see.
    Looking,
    /// Lanes wait for lanes of the warp that will not come by themselves.
    Stuck,
}

impl Warp {
    /// Room for a warp.
    pub(crate) fn new() -> Warp {
        Warp {
            index: 0,
            live: 0,
            activations: Activations::default(),
            ready: Vec::new(),
            gated: Vec::new(),
            waiting: Vec::new(),
            frames: memory::Local::new(GAP),
            local: Vec::new(),
            local_bytes: 0,
            steps: 0,
            waited: 0,
            looked: 0,
            look: None,
            awaited: [None; LANES],
            products: Products::default(),
            directed: Directed::default(),
            recurrence: Recurrence::default(),
        }
    }

    /// Forgets the launch that it was of.
    pub(crate) fn rest(&mut self) {
        self.activations.rest();
        (self.local, self.local_bytes) = (Vec::new(), 0);
    }

    /// Begins the kernel in a new block.
    pub(crate) fn begin(
        &mut self,
        index: u32,
        threads: u32,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) {
        self.index = index;
        self.live = lanes_of_warp(index, threads);
        self.ready.clear();
        self.gated.clear();
        self.waiting.clear();
        self.frames.clear();
        self.products.clear();
        self.awaited = [None; LANES];
        (self.steps, self.waited, self.looked) = (0, 0, 0);
        self.directed = Directed::default();
        self.look = None;
        self.recurrence.forget();
        context.at.warp = index;
        let activation = self.begin_kernel(code, context);
        self.ready.push(Group {
            activation,
            at: Point::start_of(0),
            mask: self.live,
            turns: 0,
            spent: 0,
            looks: 0,
            is_decided: false,
        });
    }

    /// Runs groups until none can go on or the warp has had its turn.
    ///
    /// # Errors
    /// A thread failed.
    pub(crate) fn run(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Pause, Box<Failed>> {
        context.at.warp = self.index;
        let (mut turns, mut has_looked) = (0, false);
        let before = self.steps;
        self.waited = 0;
        loop {
            let Some(group) = self.next(code, context)? else {
                return Ok(match self.gated.is_empty() {
                    true => Pause::AtBarrier,
                    false => Pause::Stuck,
                });
            };
            turns += 1;
            context.at.looks = group.looks;
            self.run_group(group, code, context)?;
            has_looked |= context.at.looks > LOOKS;
            if turns >= TURNS || has_looked && context.at.keeps_others_waiting() {
                if !has_looked {
                    return Ok(Pause::Turn);
                }
                self.waited = self.steps - before;
                if code.remembers() {
                    self.remember();
                }
                return Ok(Pause::Looking);
            }
        }
    }

    /// Forgets the steps of its last turn, if it waits.
    pub(crate) fn forget_waiting(&mut self) {
        self.steps -= std::mem::take(&mut self.waited);
        self.looked = self.looked.min(self.steps);
        self.directed.since = self.directed.since.min(self.steps);
    }

    /// Whether all of its threads have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.live == 0
    }

    /// Takes the group that goes next, with all that have come as far.
    pub(super) fn next(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Option<Group>, Box<Failed>> {
        if self.ready.len() == 1 {
            return Ok(self.ready.pop());
        }
        if self.ready.is_empty() && !self.gated.is_empty() {
            // Lanes may have ended for which others wait.
            self.open_gates(code, context)?;
        }
        let Some(first) = self.first() else {
            return Ok(None);
        };
        let mut group = self.ready.swap_remove(first);
        self.merge(&mut group, code);
        Ok(Some(group))
    }

    /// The group that goes next: of those that had the fewest turns the one that is furthest back.
    pub(super) fn first(&self) -> Option<usize> {
        let mut first = 0;
        for other in 1..self.ready.len() {
            let (a, b) = (&self.ready[other], &self.ready[first]);
            let earlier = match a.turns == b.turns {
                true => self.activations.is_behind(a, b),
                false => a.turns < b.turns,
            };
            if earlier {
                first = other;
            }
        }
        (!self.ready.is_empty()).then_some(first)
    }

    /// Takes in the groups that are where this one is.
    fn merge(&mut self, group: &mut Group, code: &Code<'_>) {
        let (activation, at, turns) = (group.activation, group.at, group.turns);
        // Lanes that have gone ahead stay ahead.
        let may_meet = |other: &Group| code.director.is_none() || other.turns == turns;
        self.ready.retain(|other| {
            let meets = (other.activation, other.at) == (activation, at) && may_meet(other);
            if meets {
                group.mask |= other.mask;
                group.spent = group.spent.max(other.spent);
                group.looks = group.looks.max(other.looks);
            }
            !meets
        });
    }

    pub(super) fn run_group(
        &mut self,
        mut group: Group,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let mut program = self.enter(group.activation, context);
        context.at.looked = None;
        let mut look_at = group.spent + code.steps_per_look(program);
        loop {
            let block = &program.blocks[group.at.block as usize];
            if group.at.op == 0
                && let Some(gate) = &block.gate
                && !(gate.is_for_all && group.mask == FULL)
            {
                self.merge(&mut group, code);
                if !self.pass(gate, &mut group, code, context)? {
                    return Ok(());
                }
            }
            let asked_at = match (code.is_led, group.mask == FULL) {
                (false, true) => {
                    self.run_whole(&mut group, program, look_at, code, context);
                    None
                }
                (false, false) => {
                    self.run_block(&mut group, program, code, context);
                    None
                }
                (true, _) => self.run_led(&mut group, program, code, context),
            };
            if context.at.tracks && asked_at.is_none() {
                let block = &program.blocks[group.at.block as usize];
                undefined::at_end(context, &block.then, group.mask, block.instruction);
            }
            if context.at.fault.is_some() {
                return context.at.fault.take().map_or(Ok(()), Err);
            }
            let block = &program.blocks[group.at.block as usize];
            let instruction = block.instruction;
            group.is_decided = asked_at.is_some();
            if let Some(end) = asked_at {
                group.at.op = end - block.start;
                self.directed.asks = true;
                return self.interrupt(group, code, context, instruction);
            }
            if let Some(tally) = &mut context.at.counting {
                tally.run(program, group.at.block, group.mask);
            }
            match &block.then {
                Then::Jump(next) => group.at = Point::start_of(*next),
                Then::Branch {
                    predicate,
                    wanted,
                    taken,
                    otherwise,
                } => {
                    // SAFETY: the slot holds a predicate.
                    let lanes = unsafe { context.predicate(*predicate) };
                    let lanes = if *wanted { lanes } else { !lanes } & group.mask;
                    if let Some(tally) = &mut context.at.counting {
                        tally.branch(program, group.at.block, lanes, group.mask);
                    }
                    group = self.branch(group, lanes, *taken, *otherwise);
                }
                Then::Switch { index, targets } => {
                    // SAFETY: the slot holds words.
                    let index = unsafe { *context.slot::<u32>(*index) };
                    let before = group;
                    context.mask = group.mask;
                    group = self
                        .switch(group, &index, targets)
                        .map_err(|failure| Box::new(context.failed(failure, instruction)))?;
                    if let Some(tally) = &mut context.at.counting {
                        let target = |lane: usize| targets[index[lane] as usize];
                        let block = before.at.block;
                        tally.branch(program, block, group.mask, before.mask);
                        tally.switch(program, block, lanes_of(before.mask).map(target));
                    }
                }
                Then::Barrier { barrier, next } => {
                    group.at = Point::start_of(*next);
                    match self.come_to(barrier, group, instruction, code, context)? {
                        Some(on) => group = on,
                        None => return Ok(()),
                    }
                }
                Then::Call { call, next } => {
                    let next = Point::start_of(*next);
                    group = self.call(group, call, next, code, context, instruction)?;
                    program = self.enter(group.activation, context);
                    look_at = look_at.min(group.spent + code.steps_per_look(program));
                }
                Then::Return => match self.leave(group, context) {
                    Some(caller) => {
                        group = caller;
                        program = self.enter(group.activation, context);
                        look_at = look_at.min(group.spent + code.steps_per_look(program));
                    }
                    None => {
                        cluster::leave(context, group.mask);
                        return self.open_gates(code, context);
                    }
                },
                Then::Exit => {
                    self.end(group);
                    cluster::leave(context, group.mask);
                    return self.open_gates(code, context);
                }
                Then::Trap => {
                    let failure = match context.at.launch.full_heap.get() {
                        Some(full) => Failure::HeapFull(*full),
                        None => Failure::Trap,
                    };
                    return Err(Box::new(context.failed(failure.into(), instruction)));
                }
            }
            let has_had_its_turn = group.spent >= TURN || context.at.looks > LOOKS;
            if has_had_its_turn
                || !self.ready.is_empty() && self.is_overtaken(&mut group, code, context)
            {
                return self.interrupt(group, code, context, instruction);
            }
            if group.spent >= look_at {
                self.may_go_on(code, context, instruction)?;
                look_at = group.spent + code.steps_per_look(program);
            }
        }
    }

    /// Whether a group that is ready goes before this one. Those that wait where it has come to it takes in.
    fn is_overtaken(
        &mut self,
        group: &mut Group,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> bool {
        let mut has_met = false;
        for other in &self.ready {
            let meets = (other.activation, other.at, other.turns)
                == (group.activation, group.at, group.turns);
            if meets && code.director.is_none() {
                has_met = true;
            } else if other.turns <= group.turns && !self.activations.is_behind(group, other) {
                return true;
            }
        }
        if has_met {
            group.looks = context.at.looks;
            self.merge(group, code);
            context.at.looks = group.looks;
        }
        false
    }

    /// Lets others go first. What a group has spent of its turn it keeps, however often it is interrupted.
    fn interrupt(
        &mut self,
        mut group: Group,
        code: &Code<'_>,
        context: &mut Context<'_>,
        instruction: u32,
    ) -> Result<(), Box<Failed>> {
        self.may_go_on(code, context, instruction)?;
        group.looks = context.at.looks;
        if group.spent >= TURN || group.looks > LOOKS {
            self.directed.has_had_turn(group.looks > LOOKS);
            group.turns = group.turns.saturating_add(1);
            (group.spent, group.looks) = (0, 0);
        }
        self.ready.push(group);
        Ok(())
    }

    /// That no limit has ended the launch.
    fn may_go_on(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
        instruction: u32,
    ) -> Result<(), Box<Failed>> {
        self.look = context.at.looked.take().or(self.look);
        if context.at.looks > 0 {
            self.looked = self.steps;
        }
        let Some(limit) = code.limit_of(self.steps, context.at.launch) else {
            return Ok(());
        };
        let is_looking = self.is_looking();
        Err(match (context.at.unmet, limit) {
            (Some(unmet), Limit::Steps(_) | Limit::Standstill) if is_looking => {
                Box::new(context.failed(context.unmet(&unmet), unmet.instruction))
            }
            _ => {
                let look = self.look.filter(|_| is_looking);
                context.endless(limit, is_looking, (look, instruction))
            }
        })
    }

    /// Whether it has looked at what others may write within a turn.
    pub(crate) fn is_looking(&self) -> bool {
        self.steps - self.looked <= u64::from(TURN)
    }

    /// Puts a group back that waits for other warps at an instruction.
    ///
    /// # Errors
    /// It has waited for too long.
    pub(super) fn let_warps_go(
        &mut self,
        mut group: Group,
        instruction: u32,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Box<Failed>> {
        self.looked = self.steps;
        context.mask = group.mask;
        self.may_go_on(code, context, instruction)?;
        context.at.looks = LOOKS + 1;
        self.directed.has_had_turn(true);
        group.turns = group.turns.saturating_add(1);
        (group.spent, group.looks) = (0, 0);
        self.steps += 1;
        self.ready.push(group);
        Ok(())
    }

    /// Makes an activation the one that runs.
    pub(super) fn enter<'p>(&mut self, activation: u32, context: &mut Context<'_>) -> &'p Program {
        let activation = self.activations.get(activation);
        context.registers = activation.registers.start();
        context.at.local.start = self.local.as_mut_ptr().cast();
        context.at.local.bytes = self.local_bytes;
        context.at.live = self.live;
        context.at.local.frame = activation.local;
        context.at.local.frames = &raw const self.frames;
        context.at.program = Arc::as_ptr(&activation.program);
        context.at.accesses = activation.program.accesses.as_ptr();
        context.at.met = activation.met;
        context.at.products = &raw mut self.products;
        context.at.awaited = &raw mut self.awaited;
        // SAFETY: the module's code, which the launch borrows, keeps each program that it has given.
        unsafe { &*context.at.program }
    }
}
