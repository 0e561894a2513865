//! A warp: its groups of lanes and what they wait for.
//!
//! The group that is furthest back runs; groups that meet go on together. A group that goes on for
//! long lets the others go first, so that lanes may wait for lanes of their own warp.

use std::sync::Arc;

use super::activation::{Activation, Activations, Caller, Group, lanes_of_warp};
use super::builtin;
use super::checked;
use super::failure::{Failed, Failure};
use super::op::Context;
use super::program::{Barrier, BarrierAction, Call, Callee, Gate, Point, Program, Then, Words};
use super::registers::{FULL, Kind, LANES, lanes_of};
use super::worker::Code;
use crate::check::Who;
use crate::memory::{self, Label};

/// How many blocks of instructions a group may go through before others have their turn.
const TURN: u32 = 1 << 12;

/// How many groups of a warp may run before other warps have their turn.
const TURNS: u32 = 64;

/// How often a warp may look at what others may write before they have their turn.
const LOOKS: u32 = 32;

/// How deep calls may be nested.
const MOST_CALLS: u32 = 1 << 12;

/// Bytes between frames of local memory that belong to nobody.
const GAP: u32 = 64;

/// The threads of a warp.
pub(crate) struct Warp {
    pub(crate) index: u32,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    pub(crate) activations: Activations,
    ready: Vec<Group>,
    /// Groups before a gate, and the lanes that meet there.
    gated: Vec<(Group, u32)>,
    /// Groups at a barrier of the block.
    pub(crate) waiting: Vec<Waiting>,
    /// Local memory, a thread's after another's.
    local: Vec<u64>,
    local_bytes: u32,
    frames: memory::Local,
    /// Blocks of instructions that it has gone through.
    pub(crate) steps: u64,
    /// Turns of its groups since it let others go first, under a director.
    turns: u32,
    /// How often it did.
    pub(crate) yields: u32,
    /// Whether the group that ran last asks who goes on.
    asks: bool,
}

/// A group at a barrier of the block.
pub(crate) struct Waiting {
    pub(crate) group: Group,
    pub(crate) barrier: Barrier,
    /// Which of the 16.
    pub(crate) id: u32,
    /// How many threads it wants; none for all of the block.
    pub(crate) threads: Option<u32>,
}

/// Where a warp has stopped for a director.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At an access. It could go on.
    Asks,
    /// It waits or has ended.
    Waits,
    /// It has had its turn, and lets others go first.
    Yields,
    /// The block has ended.
    Ended,
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
            turns: 0,
            yields: 0,
            asks: false,
        }
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
        self.activations.clear();
        self.ready.clear();
        self.gated.clear();
        self.waiting.clear();
        self.frames = memory::Local::new(GAP);
        self.steps = 0;
        (self.turns, self.yields, self.asks) = (0, 0, false);
        let activation = self.activate(code.kernel(), self.live, None, code, context);
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
        loop {
            let Some(group) = self.next(code, context) else {
                return Ok(match self.gated.is_empty() {
                    true => Pause::AtBarrier,
                    false => Pause::Stuck,
                });
            };
            turns += 1;
            context.at.looks = group.looks;
            self.run_group(group, code, context)?;
            has_looked |= context.at.looks > LOOKS;
            if turns >= TURNS {
                return Ok(match has_looked {
                    true => Pause::Looking,
                    false => Pause::Turn,
                });
            }
        }
    }

    /// Runs groups until a decision is asked for or the warp can go on no further.
    ///
    /// # Errors
    /// A thread failed.
    pub(crate) fn run_directed(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Stop, Box<Failed>> {
        context.at.warp = self.index;
        loop {
            let Some(group) = self.next(code, context) else {
                return Ok(Stop::Waits);
            };
            context.at.looks = group.looks;
            self.run_group(group, code, context)?;
            if std::mem::take(&mut self.asks) {
                return Ok(Stop::Asks);
            }
            // Lanes may wait for lanes of their warp, which go first.
            let turns = |group: &Group| group.turns;
            let is_round = self.ready.iter().map(turns).min() == self.ready.iter().map(turns).max();
            if self.turns >= TURNS && is_round {
                self.turns = 0;
                self.yields += 1;
                return Ok(Stop::Yields);
            }
        }
    }

    /// Whether any of its lanes can go on.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether a lane can go on.
    pub(crate) fn is_at(&self, lane: u32) -> bool {
        self.ready.iter().any(|group| group.mask >> lane & 1 != 0)
    }

    /// The first lane of the group that goes next.
    pub(crate) fn next_lane(&self) -> Option<u32> {
        let first = self.first()?;
        Some(self.ready[first].mask.trailing_zeros())
    }

    /// Lanes that could go on instead of the group that asks: the first of each other group, and each of
    /// its own that could go ahead.
    pub(crate) fn alternatives(&self) -> Vec<u32> {
        let Some(asking) = self.asking() else {
            return Vec::new();
        };
        let own = self.ready[asking].mask;
        let own = if own.count_ones() > 1 { own } else { 0 };
        let others = self.ready.iter().enumerate().filter(|it| it.0 != asking);
        let others = others.map(|(_, group)| group.mask.trailing_zeros());
        others
            .chain(lanes_of(own).map(|lane| lane as u32))
            .collect()
    }

    /// The group that asked last.
    fn asking(&self) -> Option<usize> {
        self.ready.iter().rposition(|group| group.is_decided)
    }

    /// Lets a lane go ahead of those with which it asks.
    pub(crate) fn part(&mut self, lane: u32) {
        if let Some(asking) = self.asking()
            && let asking = &mut self.ready[asking]
            && asking.mask >> lane & 1 != 0
            && asking.mask != 1 << lane
        {
            let alone = Group {
                mask: 1 << lane,
                ..*asking
            };
            asking.mask &= !alone.mask;
            self.ready.push(alone);
        }
    }

    /// Makes the group of a lane the next, until it waits or has had its turn. Gives whether there is one.
    pub(crate) fn favour(&mut self, lane: u32) -> bool {
        let is_there = |group: &Group| group.mask >> lane & 1 != 0;
        let Some(place) = self.ready.iter().position(is_there) else {
            return false;
        };
        if self.first() != Some(place) {
            let turns = self.ready[place].turns;
            for (_, other) in self.ready.iter_mut().enumerate().filter(|it| it.0 != place) {
                other.turns = other.turns.max(turns + 1);
            }
        }
        true
    }

    /// Whether all of its threads have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.live == 0
    }

    /// Who waits for what.
    pub(crate) fn waits(&self) -> Vec<String> {
        let index = self.index;
        let at_barrier = self.waiting.iter().map(|it| {
            let (id, mask) = (it.id, it.group.mask);
            format!("lanes {mask:#010x} of warp {index} wait at barrier {id}")
        });
        let gated = self.gated.iter().map(|(group, members)| {
            let mask = group.mask;
            format!("lanes {mask:#010x} of warp {index} wait for the lanes {members:#010x}")
        });
        at_barrier.chain(gated).collect()
    }

    /// Function and instruction of one that waits.
    pub(crate) fn first_wait(&self) -> Option<(String, u32)> {
        let gated = self.gated.iter().map(|it| &it.0);
        let group = gated
            .chain(self.waiting.iter().map(|it| &it.group))
            .next()?;
        let program = &self.activations.get(group.activation).program;
        let block = program.blocks.get(group.at.block as usize)?;
        Some((program.name.clone(), block.instruction))
    }

    /// Takes the group that goes next, with all that have come as far.
    fn next(&mut self, code: &Code<'_>, context: &mut Context<'_>) -> Option<Group> {
        if self.ready.is_empty() {
            // Lanes may have ended for which others wait.
            self.open_gates(context);
        }
        let first = self.first()?;
        let mut group = self.ready.swap_remove(first);
        self.merge(&mut group, code);
        Some(group)
    }

    /// The group that goes next: of those that had the fewest turns the one that is furthest back.
    fn first(&self) -> Option<usize> {
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

    fn run_group(
        &mut self,
        mut group: Group,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let mut program = self.enter(group.activation, context);
        loop {
            let block = &program.blocks[group.at.block as usize];
            if group.at.op == 0
                && let Some(gate) = &block.gate
            {
                self.merge(&mut group, code);
                match self.pass(gate, &mut group, context) {
                    true => {}
                    false => return Ok(()),
                }
            }
            let start = block.start + group.at.op;
            let asked_at = match &code.director {
                None => None,
                Some(director) => director.asks_at(&program, start..block.end, group.is_decided),
            };
            let end = asked_at.unwrap_or(block.end);
            let ops = &program.ops[start as usize..end as usize];
            context.mask = group.mask;
            // SAFETY: the operations were lowered for this program's registers.
            unsafe {
                match group.mask == FULL {
                    true => (code.run.full)(context, ops),
                    false => (code.run.masked)(context, ops),
                }
            };
            if let Some(fault) = context.at.fault.take() {
                return Err(fault);
            }
            self.steps += 1;
            group.spent += 1;
            let instruction = block.instruction;
            group.is_decided = asked_at.is_some();
            if group.is_decided {
                group.at.op = end - block.start;
                self.asks = true;
                return self.interrupt(group, code, context, instruction);
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
                    group = self.branch(group, lanes, *taken, *otherwise);
                }
                Then::Switch { index, targets } => {
                    // SAFETY: the slot holds words.
                    let index = unsafe { *context.slot::<u32>(*index) };
                    group = self.switch(group, &index, targets);
                }
                Then::Barrier { barrier, next } => {
                    group.at = Point::start_of(*next);
                    match self.come_to(barrier, group, context) {
                        Some(on) => group = on,
                        None => return Ok(()),
                    }
                }
                Then::Call { call, next } => {
                    let next = Point::start_of(*next);
                    group = self.call(group, call, next, code, context, instruction)?;
                    program = self.enter(group.activation, context);
                }
                Then::Return => match self.leave(group) {
                    Some(caller) => {
                        group = caller;
                        program = self.enter(group.activation, context);
                    }
                    None => {
                        self.open_gates(context);
                        return Ok(());
                    }
                },
                Then::Exit => {
                    self.end(group);
                    self.open_gates(context);
                    return Ok(());
                }
                Then::Trap => {
                    return Err(Box::new(context.failed(Failure::Trap, instruction)));
                }
            }
            let goes_first = |other: &Group| {
                other.turns <= group.turns && !self.activations.is_behind(&group, other)
            };
            let has_had_its_turn = group.spent >= TURN || context.at.looks > LOOKS;
            if has_had_its_turn || self.ready.iter().any(goes_first) {
                return self.interrupt(group, code, context, instruction);
            }
        }
    }

    /// Lets others go first. What a group has spent of its turn it keeps, however often it is interrupted.
    fn interrupt(
        &mut self,
        mut group: Group,
        code: &Code<'_>,
        context: &Context<'_>,
        instruction: u32,
    ) -> Result<(), Box<Failed>> {
        let limit = code.most_steps();
        if self.steps > limit {
            let failure = Failure::Steps { limit };
            return Err(Box::new(context.failed(failure, instruction)));
        }
        group.looks = context.at.looks;
        if group.spent >= TURN || group.looks > LOOKS {
            self.turns += if group.looks > LOOKS { TURNS } else { 1 };
            group.turns += 1;
            (group.spent, group.looks) = (0, 0);
        }
        self.ready.push(group);
        Ok(())
    }

    /// Makes an activation the one that runs.
    fn enter(&mut self, activation: u32, context: &mut Context<'_>) -> Arc<Program> {
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
        Arc::clone(&activation.program)
    }

    /// Splits a group at a branch; the part that is further back goes on.
    fn branch(&mut self, mut group: Group, lanes: u32, taken: u32, otherwise: u32) -> Group {
        let rest = group.mask & !lanes;
        let (on, other) = match (lanes, rest) {
            (_, 0) => ((taken, lanes), None),
            (0, _) => ((otherwise, rest), None),
            _ if taken < otherwise => ((taken, lanes), Some((otherwise, rest))),
            _ => ((otherwise, rest), Some((taken, lanes))),
        };
        if let Some((block, mask)) = other {
            self.ready.push(Group {
                at: Point::start_of(block),
                mask,
                ..group
            });
        }
        group.at = Point::start_of(on.0);
        group.mask = on.1;
        group
    }

    fn switch(&mut self, mut group: Group, index: &[u32; LANES], targets: &[u32]) -> Group {
        let target = |lane: usize| {
            let index = (index[lane] as usize).min(targets.len() - 1);
            targets[index]
        };
        let mut rest = group.mask;
        let mut parts: Vec<(u32, u32)> = Vec::new();
        while rest != 0 {
            let block = target(rest.trailing_zeros() as usize);
            let lanes = lanes_of(rest)
                .filter(|&lane| target(lane) == block)
                .fold(0, |mask, lane| mask | 1 << lane);
            parts.push((block, lanes));
            rest &= !lanes;
        }
        parts.sort_unstable();
        for &(block, mask) in &parts[1..] {
            self.ready.push(Group {
                at: Point::start_of(block),
                mask,
                ..group
            });
        }
        (group.at, group.mask) = (Point::start_of(parts[0].0), parts[0].1);
        group
    }
}

// Instructions across lanes.
impl Warp {
    /// Whether a group may pass a gate. If not, it is kept until the lanes for which it waits come.
    fn pass(&mut self, gate: &Gate, group: &mut Group, context: &mut Context<'_>) -> bool {
        // SAFETY: the slot holds words.
        let masks = unsafe { *context.slot::<u32>(gate.members) };
        let first = group.mask.trailing_zeros() as usize;
        let members = masks[first];
        let same = lanes_of(group.mask)
            .filter(|&lane| masks[lane] == members)
            .fold(0, |mask, lane| mask | 1 << lane);
        if same != group.mask {
            self.ready.push(Group {
                mask: group.mask & !same,
                ..*group
            });
            group.mask = same;
        }
        if members & self.live & !group.mask == 0 {
            if gate.orders_memory {
                checked::sync_warp(context, group.mask);
            }
            return true;
        }
        self.gated.push((*group, members));
        self.open_gates(context);
        false
    }

    /// Lets groups go on whose lanes have all come to gates of one key.
    fn open_gates(&mut self, context: &mut Context<'_>) {
        let mut place = 0;
        while place < self.gated.len() {
            let (group, members) = self.gated[place];
            let key = self.gate(&group).key;
            let meets = |warp: &Warp, other: &(Group, u32)| {
                other.1 == members && warp.gate(&other.0).key == key
            };
            let there = self
                .gated
                .iter()
                .filter(|it| meets(self, it))
                .fold(0, |mask, it| mask | it.0.mask);
            if members & self.live & !there != 0 {
                place += 1;
                continue;
            }
            let (opened, rest) = std::mem::take(&mut self.gated)
                .into_iter()
                .partition(|it| meets(self, it));
            self.gated = rest;
            self.exchange(opened, context);
            place = 0;
        }
    }

    fn gate(&self, group: &Group) -> &Gate {
        let program = &self.activations.get(group.activation).program;
        let gate = &program.blocks[group.at.block as usize].gate;
        gate.as_ref().expect("it waits at one")
    }

    /// Makes groups that have met ready. Those at different instructions each execute theirs with the
    /// others' values in the lanes that are not theirs.
    fn exchange(&mut self, groups: Vec<(Group, u32)>, context: &mut Context<'_>) {
        let mut merged: Vec<Group> = Vec::new();
        for (group, _) in groups {
            let same = merged
                .iter_mut()
                .find(|it| (it.activation, it.at) == (group.activation, group.at));
            match same {
                Some(it) => it.mask |= group.mask,
                None => merged.push(group),
            }
        }
        if let [one] = merged[..] {
            self.ready.push(one);
            return;
        }
        let all = merged.iter().fold(0, |mask, group| mask | group.mask);
        if self.gate(&merged[0]).orders_memory {
            checked::sync_warp(context, all);
        }
        let mut values = [0u128; LANES];
        for group in &merged {
            if let Some((slot, kind)) = self.gate(group).source {
                self.enter(group.activation, context);
                // SAFETY: the slot is of this kind.
                let own = unsafe { read(context, slot, kind) };
                lanes_of(group.mask).for_each(|lane| values[lane] = own[lane]);
            }
        }
        for mut group in merged {
            let source = self.gate(&group).source;
            let program = self.enter(group.activation, context);
            let block = &program.blocks[group.at.block as usize];
            let op = &program.ops
                [block.start as usize..(block.start as usize + 1).min(block.end as usize)];
            context.mask = group.mask;
            if let Some((slot, kind)) = source {
                // SAFETY: the slot is of this kind; what it held is put back in lanes of others.
                unsafe {
                    let before = read(context, slot, kind);
                    let mut given = before;
                    lanes_of(all).for_each(|lane| given[lane] = values[lane]);
                    write(context, slot, kind, &given);
                    super::op::run_masked(context, op);
                    let mut after = read(context, slot, kind);
                    lanes_of(!group.mask).for_each(|lane| after[lane] = before[lane]);
                    write(context, slot, kind, &after);
                }
            } else {
                // SAFETY: lowered for these registers.
                unsafe { super::op::run_masked(context, op) };
            }
            group.at.op = 1;
            self.ready.push(group);
        }
    }
}

// Barriers of the block.
impl Warp {
    /// Brings a group to a barrier; it goes on at once where it need not wait.
    fn come_to(
        &mut self,
        barrier: &Barrier,
        mut group: Group,
        context: &mut Context<'_>,
    ) -> Option<Group> {
        // SAFETY: the slots hold words.
        let (id, threads) = unsafe {
            let lane = group.mask.trailing_zeros() as usize;
            let id = context.slot::<u32>(barrier.id)[lane];
            (
                id,
                barrier.threads.map(|slot| context.slot::<u32>(slot)[lane]),
            )
        };
        let waits = !matches!(barrier.action, BarrierAction::Arrive);
        if let Some(checking) = context
            .at
            .checking
            .as_mut()
            .filter(|_| threads.is_some() || !waits)
        {
            let who = Who {
                block: checking.block(),
                warp: self.index,
                mask: group.mask,
            };
            checking.checker.arrive(who, id);
        }
        let waiting = Waiting {
            group,
            barrier: *barrier,
            id,
            threads,
        };
        self.waiting.push(waiting);
        match barrier.action {
            BarrierAction::Arrive => {
                group.turns = 0;
                Some(group)
            }
            _ => None,
        }
    }

    /// Lets the groups at a barrier go on; a reduction has given `count` threads with a true predicate,
    /// of `of`.
    pub(crate) fn release(&mut self, id: u32, count: u32, of: u32, context: &mut Context<'_>) {
        use super::program::BarrierReduction::{And, Count, Or};
        let (released, rest) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|it| it.id == id);
        self.waiting = rest;
        let released: Vec<Waiting> = released;
        for Waiting {
            mut group,
            barrier,
            threads,
            ..
        } in released
        {
            let waits = !matches!(barrier.action, BarrierAction::Arrive);
            if let Some(checking) = context
                .at
                .checking
                .as_mut()
                .filter(|_| threads.is_some() && waits)
            {
                let who = Who {
                    block: checking.block(),
                    warp: self.index,
                    mask: group.mask,
                };
                checking.checker.leave(who, id);
            }
            match barrier.action {
                BarrierAction::Arrive => continue,
                BarrierAction::Sync => {}
                BarrierAction::Reduce {
                    operation,
                    destination,
                    ..
                } => {
                    self.enter(group.activation, context);
                    context.mask = group.mask;
                    let truth = |it: bool| if it { FULL } else { 0 };
                    // SAFETY: a count goes to a slot of words, the others to a predicate's.
                    unsafe {
                        match operation {
                            Count => context.set_running(destination, &[count; LANES]),
                            And => {
                                context.set_predicate_of_running(destination, truth(count == of))
                            }
                            Or => context.set_predicate_of_running(destination, truth(count > 0)),
                        }
                    }
                }
            }
            group.turns = 0;
            self.ready.push(group);
        }
    }

    /// How many threads with a true predicate have come to a barrier, and how many at all.
    pub(crate) fn reduced(&mut self, id: u32, context: &mut Context<'_>) -> (u32, u32) {
        let mut sums = (0, 0);
        for place in 0..self.waiting.len() {
            let Waiting {
                group,
                barrier,
                id: of,
                ..
            } = &self.waiting[place];
            let BarrierAction::Reduce {
                predicate, wanted, ..
            } = barrier.action
            else {
                continue;
            };
            if *of != id {
                continue;
            }
            let (activation, mask) = (group.activation, group.mask);
            self.enter(activation, context);
            // SAFETY: the slot holds a predicate.
            let lanes = unsafe { context.predicate(predicate) };
            let lanes = if wanted { lanes } else { !lanes } & mask;
            sums.0 += lanes.count_ones();
            sums.1 += mask.count_ones();
        }
        sums
    }
}

// Calls.
impl Warp {
    fn activate(
        &mut self,
        program: &Arc<Program>,
        lanes: u32,
        caller: Option<Caller>,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> u32 {
        let (registers, is_new) = self.activations.registers(program);
        let local = self.frame(program, lanes, context);
        context.at.warp = self.index;
        code.fill(program, registers.start(), is_new, context);
        self.activations.add(Activation {
            program: Arc::clone(program),
            met: code.met(program),
            registers,
            lanes,
            local,
            caller,
        })
    }

    /// Local memory for an activation: its offset in each thread's.
    fn frame(&mut self, program: &Program, lanes: u32, context: &mut Context<'_>) -> u32 {
        if program.local_bytes == 0 {
            return 0;
        }
        let label = Label::new(&program.name, 1);
        let local = self.frames.push(
            lanes,
            program.local_bytes,
            program.local_alignment.max(16),
            &label,
        );
        let end = self.frames.bytes();
        if end > self.local_bytes {
            self.grow_local(end);
        }
        if let Some(checking) = &mut context.at.checking {
            let who = Who {
                block: checking.block(),
                warp: self.index,
                mask: lanes,
            };
            checking.checker.frame(who, local, program.local_bytes);
        }
        local
    }

    /// Ends the frames of lanes that leave a function.
    fn end_frame(&mut self, program: &Program, lanes: u32) {
        if program.local_bytes > 0 {
            self.frames.pop(lanes);
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

    fn call(
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
                    self.ready.push(Group {
                        mask: group.mask & !same,
                        at,
                        ..group
                    });
                    group.mask = same;
                }
                context.mask = same;
                let none = Failure::NoFunction { address };
                code.function_at(address)
                    .ok_or_else(|| Box::new(context.failed(none, instruction)))?
            }
        };
        let failed =
            |failure, context: &Context<'_>| Box::new(context.failed(failure, instruction));
        let program = code
            .program(function)
            .map_err(|failure| failed(failure, context))?;
        if self.activations.depth(group.activation) == MOST_CALLS {
            return Err(failed(Failure::Recursion { limit: MOST_CALLS }, context));
        }
        let caller = Caller {
            activation: group.activation,
            call: group.at,
            next,
            returns: call.returns.clone(),
        };
        let from = context.registers;
        let callee = self.activate(&program, group.mask, Some(caller), code, context);
        let to = self.activations.get(callee).registers.start();
        let taken = program.parameters.iter().filter_map(|it| match it {
            super::program::Parameter::Call(words) => Some(*words),
            super::program::Parameter::Launch { .. } => None,
        });
        for (given, taken) in call.arguments.iter().zip(taken) {
            // SAFETY: both are slots of words of their programs.
            unsafe { copy_words(from, *given, to, taken, FULL) };
        }
        Ok(Group {
            activation: callee,
            at: Point::start_of(0),
            ..group
        })
    }

    /// Returns a group's lanes to their caller, or ends them.
    fn leave(&mut self, group: Group) -> Option<Group> {
        let activation = self.activations.get_mut(group.activation);
        let Some(caller) = activation.caller.clone() else {
            self.end(group);
            return None;
        };
        activation.lanes &= !group.mask;
        let is_empty = activation.lanes == 0;
        let from = activation.registers.start();
        let program = Arc::clone(&activation.program);
        let to = self.activations.get(caller.activation).registers.start();
        for (given, taken) in program.returns.iter().zip(&caller.returns) {
            // SAFETY: both are slots of words of their programs.
            unsafe { copy_words(from, *given, to, *taken, group.mask) };
        }
        if is_empty {
            self.activations.remove(group.activation);
        }
        self.end_frame(&program, group.mask);
        Some(Group {
            activation: caller.activation,
            at: caller.next,
            ..group
        })
    }

    /// Ends a group's lanes, in all functions that they are in.
    fn end(&mut self, group: Group) {
        self.live &= !group.mask;
        let mut index = group.activation;
        loop {
            let activation = self.activations.get_mut(index);
            activation.lanes &= !group.mask;
            let is_empty = activation.lanes == 0;
            let caller = activation.caller.as_ref().map(|it| it.activation);
            let program = Arc::clone(&activation.program);
            self.end_frame(&program, group.mask);
            if is_empty {
                self.activations.remove(index);
            }
            match caller {
                Some(caller) => index = caller,
                None => break,
            }
        }
    }
}

/// Copies a parameter's words for the lanes of a mask.
///
/// # Safety
/// Both are slots of words in their registers.
unsafe fn copy_words(from: *mut u8, given: Words, to: *mut u8, taken: Words, mask: u32) {
    for word in 0..given.count.min(taken.count) {
        let offset = word * Kind::Word.bytes();
        // SAFETY: the caller's contract.
        unsafe {
            let given = *from
                .add((given.slot + offset) as usize)
                .cast::<[u32; LANES]>();
            let taken = &mut *to
                .add((taken.slot + offset) as usize)
                .cast::<[u32; LANES]>();
            lanes_of(mask).for_each(|lane| taken[lane] = given[lane]);
        }
    }
}

/// The bits of a slot's lanes.
///
/// # Safety
/// It is of this kind.
unsafe fn read(context: &Context<'_>, slot: u32, kind: Kind) -> [u128; LANES] {
    // SAFETY: the caller's contract.
    unsafe {
        match kind {
            Kind::Predicate => {
                let lanes = context.predicate(slot);
                std::array::from_fn(|lane| u128::from(lanes >> lane & 1))
            }
            Kind::Word => context.slot::<u32>(slot).map(u128::from),
            Kind::Double => context.slot::<u64>(slot).map(u128::from),
            Kind::Quad => *context.slot(slot),
        }
    }
}

/// # Safety
/// As for [`read`].
unsafe fn write(context: &mut Context<'_>, slot: u32, kind: Kind, values: &[u128; LANES]) {
    // SAFETY: the caller's contract.
    unsafe {
        match kind {
            Kind::Predicate => {
                let lanes = (0..LANES).fold(0, |mask, lane| mask | (values[lane] as u32) << lane);
                context.set_predicate(slot, lanes);
            }
            Kind::Word => *context.slot_mut(slot) = values.map(|value| value as u32),
            Kind::Double => *context.slot_mut(slot) = values.map(|value| value as u64),
            Kind::Quad => *context.slot_mut(slot) = *values,
        }
    }
}
