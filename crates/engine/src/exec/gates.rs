//! Instructions across the lanes of a warp: shuffles, votes, matches, reductions, `bar.warp.sync`.

use super::activation::Group;
use super::checked;
use super::cluster;
use super::code::Code;
use super::failure::Failed;
use super::op::{Context, Op, lanes_where};
use super::program::{Gate, Meeting};
use super::registers::{FULL, Kind, LANES, lanes_of};
use super::undefined;
use super::warp::Warp;
use super::wgmma;
use crate::check::undefined::Value;

impl Warp {
    /// Whether a group may pass a gate. If not, it is kept until the lanes for which it waits come.
    ///
    /// # Errors
    /// Lanes must not meet so; only where that is looked for.
    pub(super) fn pass(
        &mut self,
        gate: &Gate,
        group: &mut Group,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<bool, Box<Failed>> {
        if gate.meeting == Meeting::ClusterByLane {
            let may_go_on = cluster::may_go_on(context, group.mask);
            if !may_go_on {
                let instruction = self.instruction_of_gate(group);
                self.let_warps_go(*group, instruction, code, context)?;
            }
            return Ok(may_go_on);
        }
        // SAFETY: the slot holds words.
        let masks = unsafe { context.slot::<u32>(gate.members) };
        let first = group.mask.trailing_zeros() as usize;
        let members = masks[first];
        let same = lanes_where(|lane| masks[lane] == members) & group.mask;
        if same != group.mask {
            // Where they only wait, nobody can go on.
            if code.finds_divergence() && gate.meeting != Meeting::Sync {
                self.check_masks(gate, (group, same), code, context)?;
            }
            self.ready.push(Group {
                mask: group.mask & !same,
                ..*group
            });
            group.mask = same;
        }
        // A whole warp with the mask of a whole warp may do anything.
        if code.finds_divergence() && group.mask & members != FULL {
            self.check_meeting(gate, (group, members), code, context)?;
        }
        if members & self.live & !group.mask == 0 {
            let may_go_on = match gate.meeting {
                Meeting::Products(but) => wgmma::may_go_on(context, but),
                Meeting::Cluster(_) => cluster::may_go_on(context, group.mask),
                _ => true,
            };
            if !may_go_on {
                let instruction = self.instruction_of_gate(group);
                self.let_warps_go(*group, instruction, code, context)?;
                return Ok(false);
            }
            if gate.meeting == Meeting::Sync {
                checked::sync_warp(context, group.mask);
            }
            if code.finds_divergence() && group.mask != FULL {
                let come = |lane| group.mask >> lane & 1 == 1;
                self.check_sources(gate, (group, members), come, code, context)?;
            }
            return Ok(true);
        }
        self.gated.push((*group, members));
        self.open_gates(code, context)?;
        Ok(false)
    }

    /// Lets groups go on whose lanes have all come to gates of one kind.
    ///
    /// # Errors
    /// A shuffle reads a lane that has left; only where that is looked for.
    pub(super) fn open_gates(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let mut place = 0;
        while place < self.gated.len() {
            let (group, members) = self.gated[place];
            let meeting = self.gate(&group).meeting;
            let meets = |warp: &Warp, other: &(Group, u32)| {
                other.1 == members && warp.gate(&other.0).meeting == meeting
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
            if code.finds_divergence() && there != FULL {
                for (group, members) in &opened {
                    self.enter(group.activation, context);
                    let come = |lane| there >> lane & 1 == 1;
                    self.check_sources(self.gate(group), (group, *members), come, code, context)?;
                }
            }
            self.exchange(opened, context);
            place = 0;
        }
        Ok(())
    }

    /// The instruction at which a group waits for lanes of its warp.
    pub(super) fn site_of_gate(&self, group: &Group) -> u32 {
        let program = &self.activations.get(group.activation).program;
        checked::site(program.index, self.instruction_of_gate(group))
    }

    /// The same, as the group's function numbers it.
    fn instruction_of_gate(&self, group: &Group) -> u32 {
        let program = &self.activations.get(group.activation).program;
        let first = program.blocks[group.at.block as usize].start as usize;
        program.ops[first].instruction
    }

    pub(super) fn gate(&self, group: &Group) -> &Gate {
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
        if self.gate(&merged[0]).meeting == Meeting::Sync {
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
        let undefined = self.given(&merged, context);
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
                    run_step(context, op, (slot, undefined.as_ref()));
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

impl Warp {
    /// The undefined bits of the values that groups give each other.
    fn given(&mut self, groups: &[Group], context: &mut Context<'_>) -> Option<Value> {
        if !context.at.tracks {
            return None;
        }
        let mut all = Value::default();
        for group in groups {
            let (slot, _) = self.gate(group).source?;
            self.enter(group.activation, context);
            if let Some(own) = undefined::of(context, slot, group.mask) {
                lanes_of(group.mask)
                    .for_each(|lane| all.set(lane, own.bits[lane], own.origins[lane]));
            }
        }
        Some(all)
    }
}

/// Runs the operation of a group, whose source has the others' values, too.
///
/// # Safety
/// It is one of the program, which the context has entered.
unsafe fn run_step(
    context: &mut Context<'_>,
    ops: &[Op],
    (slot, undefined): (u32, Option<&Value>),
) {
    let (Some(value), Some(op)) = (undefined, ops.first()) else {
        // SAFETY: the contract of this function.
        return unsafe { super::op::run_masked(context, ops) };
    };
    let before = undefined::of(context, slot, FULL).unwrap_or_default();
    undefined::set(context, slot, FULL, value);
    // SAFETY: the contract of this function.
    unsafe { undefined::run(context, std::slice::from_ref(op)) };
    // What is the operation's own result is so in the lanes that run.
    let after = undefined::of(context, slot, context.mask).unwrap_or_default();
    undefined::set(context, slot, FULL, &before);
    undefined::set(context, slot, context.mask, &after);
}

/// The bits of a slot's lanes.
///
/// # Safety
/// It is of this kind.
pub(super) unsafe fn read(context: &Context<'_>, slot: u32, kind: Kind) -> [u128; LANES] {
    // SAFETY: the slots are those of a verified program, of their kinds.
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
pub(super) unsafe fn write(
    context: &mut Context<'_>,
    slot: u32,
    kind: Kind,
    values: &[u128; LANES],
) {
    // SAFETY: the slots are those of a verified program, of their kinds.
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
