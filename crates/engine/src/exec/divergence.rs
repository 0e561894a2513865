//! Threads that go separate ways where they must stay together: which divergence is an error, and its message.
//!
//! A warp may leave a block before a barrier. But an aligned barrier is for whole warps: all lanes that a
//! warp began with come to the same instruction. Lanes that meet in a warp all bring a mask that names
//! them. It may name lanes that have left or have never been, which nobody waits for; a shuffle must not read
//! them.

use super::activation::{Group, lanes_of_warp};
use super::barriers::Waiting;
use super::checked::of_site;
use super::code::Code;
use super::failure::{Cause, Failed};
use super::op::Context;
use super::program::{BarrierAction, Gate, Meeting};
use super::registers::{FULL, LANES, lanes_of};
use super::shuffle::read_by;
use super::surroundings::coordinates;
use super::warp::Warp;
use crate::check::Thread;
use crate::finding_kind::FindingKind;

/// Barriers of a block.
const BARRIERS: u32 = 16;

/// Some threads of a block.
struct Party {
    count: u32,
    first: [u32; 3],
}

impl Party {
    /// `masks` are those of warps, by their index.
    fn new(masks: impl IntoIterator<Item = (u32, u32)>, context: &Context<'_>) -> Party {
        let (mut count, mut first) = (0, u64::MAX);
        for (warp, mask) in masks.into_iter().filter(|it| it.1 != 0) {
            count += mask.count_ones();
            first = first.min(u64::from(warp * 32 + mask.trailing_zeros()));
        }
        Party {
            count,
            first: coordinates(first, context.at.launch.block),
        }
    }

    /// That they wait, and for what.
    fn wait(&self, what: &str) -> String {
        let Party { count, first } = self;
        match count {
            1 => format!("thread {first:?} waits {what}"),
            _ => format!("{count} threads, the first {first:?}, wait {what}"),
        }
    }
}

/// A finding in the block that runs, said of one of its threads.
fn found(text: String, warp: u32, lane: u32, context: &Context<'_>) -> Box<Failed> {
    failed(
        Cause::wrong(FindingKind::Divergence, text),
        warp,
        lane,
        context,
    )
}

/// A failure of a thread of the block that runs.
pub(super) fn failed(cause: Cause, warp: u32, lane: u32, context: &Context<'_>) -> Box<Failed> {
    let block = context.at.block_index;
    let thread = u64::from(warp * 32 + lane);
    Box::new(Failed {
        cause,
        thread: Thread {
            block,
            thread: coordinates(thread, context.at.launch.block),
        },
        function: context.at.function().to_owned(),
        instruction: 0,
    })
}

fn place(site: u32, code: &Code<'_>) -> String {
    let (function, instruction) = of_site(site);
    code.place(function, instruction)
}

impl Meeting {
    /// Its name, with the article.
    fn name(self) -> &'static str {
        match self {
            Meeting::Sync => "a Sync",
            Meeting::Shuffle(_) => "a Shuffle",
            Meeting::Vote(_) => "a Vote",
            Meeting::Match(_) => "a Match",
            Meeting::Reduction(_) => "a Reduction",
            Meeting::Election => "an Election",
            Meeting::Matrix(_) => "an instruction on matrices",
            Meeting::Products(_) => "a wait for products",
            Meeting::Cluster(_) | Meeting::ClusterByLane => "a wait for the cluster",
        }
    }
}

// Lanes that meet in a warp.
impl Warp {
    /// Whether a group may come to a gate with the mask that its lanes bring.
    ///
    /// # Errors
    /// The mask does not name a lane of the group, or one that a shuffle reads.
    pub(super) fn check_meeting(
        &self,
        gate: &Gate,
        (group, members): (&Group, u32),
        code: &Code<'_>,
        context: &Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let unnamed = group.mask & !members;
        if unnamed != 0 {
            let lane = unnamed.trailing_zeros();
            let thread = context.at.thread_index(lane as usize);
            let (name, place) = (gate.meeting.name(), place(self.site_of_gate(group), code));
            let text = format!(
                "thread {thread:?}: lane {lane} comes to {name} with the mask {members:#010x}, which does \
                 not name it, at {place}"
            );
            return Err(found(text, self.index, lane, context));
        }
        // A full mask names each lane that a shuffle may read; whether they come shows when all have.
        match members {
            FULL => Ok(()),
            _ => self.check_sources(gate, (group, members), |_| true, code, context),
        }
    }

    /// Whether lanes of a group may bring different masks to a gate: that of `same` names no lane that brings another one.
    ///
    /// # Errors
    /// It names one.
    pub(super) fn check_masks(
        &self,
        gate: &Gate,
        (group, same): (&Group, u32),
        code: &Code<'_>,
        context: &Context<'_>,
    ) -> Result<(), Box<Failed>> {
        // SAFETY: the slot holds words.
        let masks = unsafe { context.slot::<u32>(gate.members) };
        let lane = same.trailing_zeros();
        let members = masks[lane as usize & 31];
        let others = members & group.mask & !same;
        if others == 0 {
            return Ok(());
        }
        let other = others.trailing_zeros();
        let thread = context.at.thread_index(lane as usize);
        let (name, place) = (gate.meeting.name(), place(self.site_of_gate(group), code));
        let text = format!(
            "thread {thread:?}: lane {lane} comes to {name} with the mask {members:#010x}, and lane {other}, which that \
             names, with the mask {:#010x}, at {place}",
            masks[other as usize & 31]
        );
        Err(found(text, self.index, lane, context))
    }

    /// Whether a shuffle reads only lanes that its mask names and that take part: a mask may name lanes that
    /// have left, but what they bring is undefined.
    ///
    /// # Errors
    /// It reads another.
    pub(super) fn check_sources(
        &self,
        gate: &Gate,
        (group, members): (&Group, u32),
        takes_part: impl Fn(u32) -> bool,
        code: &Code<'_>,
        context: &Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let (Meeting::Shuffle(mode), Some((b, c))) = (gate.meeting, gate.from) else {
            return Ok(());
        };
        // SAFETY: both hold words.
        let (amounts, bounds): (&[u32; LANES], &[u32; LANES]) =
            unsafe { (context.slot(b), context.slot(c)) };
        let begun = lanes_of_warp(self.index, context.at.launch.threads_per_block());
        for lane in lanes_of(group.mask) {
            let (from, is_within) = read_by(mode, lane as u32, amounts[lane], bounds[lane]);
            let is_in = |mask: u32| mask >> (from & 31) & 1 == 1;
            let why = match is_within {
                true if !is_in(members) => format!("its mask {members:#010x} does not name"),
                true if !is_in(begun) => format!("warp {} does not have", self.index),
                true if !takes_part(from & 31) => "has left".to_owned(),
                _ => continue,
            };
            let thread = context.at.thread_index(lane);
            let place = place(self.site_of_gate(group), code);
            let text = format!(
                "thread {thread:?}: lane {lane} shuffles from lane {from}, which {why}, at {place}"
            );
            return Err(found(text, self.index, lane as u32, context));
        }
        Ok(())
    }

    /// A lane that is at a barrier of the block, where others of its warp wait for it.
    fn lane_at_barrier(&self) -> Option<String> {
        let waiting = self.waiting.iter().filter(|it| it.waits());
        let at_barrier = waiting.fold(0, |mask, it| mask | it.group.mask);
        let awaited = self.gated.iter().find_map(|(_, members)| {
            let lanes = members & at_barrier;
            (lanes != 0).then_some(lanes.trailing_zeros())
        })?;
        let warp = self.index;
        Some(format!("lane {awaited} of warp {warp} is at the barrier"))
    }

    /// Where a group waits for lanes of its warp.
    fn at_gate(&self, group: &Group, members: u32, code: &Code<'_>) -> String {
        let (warp, name) = (self.index, self.gate(group).meeting.name());
        let place = place(self.site_of_gate(group), code);
        format!("in warp {warp} for {name} of the mask {members:#010x} at {place}")
    }
}

// The barriers of a block.
impl Waiting {
    /// Where it waits.
    fn text(&self, code: &Code<'_>) -> String {
        let place = place(self.site, code);
        match (self.id, self.threads) {
            (0, None) => format!("at the barrier at {place}"),
            (id, None) => format!("at barrier {id} at {place}"),
            (id, Some(threads)) => format!("at barrier {id} for {threads} threads at {place}"),
        }
    }

    fn waits(&self) -> bool {
        !matches!(self.barrier.action, BarrierAction::Arrive)
    }

    /// Whether there is such a barrier and the block may have as many threads as it wants.
    ///
    /// # Errors
    /// There is not, or it has not.
    pub(super) fn check(
        &self,
        warp: u32,
        code: &Code<'_>,
        context: &Context<'_>,
    ) -> Result<(), Box<Failed>> {
        let limit = context.at.launch.threads_per_block();
        let id = self.id;
        let why = match self.threads {
            _ if id >= BARRIERS => format!("comes to barrier {id}; the last is {}", BARRIERS - 1),
            Some(0) if !self.waits() => format!("arrives at barrier {id} for 0 threads"),
            Some(threads) if threads % 32 != 0 => {
                format!("comes to barrier {id} for {threads} threads, no multiple of 32")
            }
            Some(threads) if threads > limit.next_multiple_of(32) => {
                format!("comes to barrier {id} for {threads} threads; the block has {limit}")
            }
            _ => return Ok(()),
        };
        let lane = self.group.mask.trailing_zeros();
        let thread = context.at.thread_index(lane as usize);
        let text = format!("thread {thread:?} {why}, at {}", place(self.site, code));
        Err(found(text, warp, lane, context))
    }
}

/// Whether those that have come to a barrier, which is complete, may have come so.
///
/// # Errors
/// They want different numbers of threads, or a warp has come to it in part or at two places.
pub(super) fn check_barrier(
    warps: &[Warp],
    id: u32,
    code: &Code<'_>,
    context: &Context<'_>,
) -> Result<(), Box<Failed>> {
    let limit = context.at.launch.threads_per_block();
    let wanted = |it: &Waiting| it.threads.unwrap_or(limit).next_multiple_of(32);
    let mut first: Option<(&Warp, &Waiting)> = None;
    for warp in warps {
        let come = || warp.waiting.iter().filter(|it| it.id == id);
        let Some(own) = come().next() else { continue };
        let before = *first.get_or_insert((warp, own));
        let differs = come().find(|it| wanted(it) != wanted(before.1));
        if let Some(other) = differs {
            return Err(two_places(before, (warp, other), code, context));
        }
        let Some(aligned) = come().find(|it| it.barrier.aligned) else {
            continue;
        };
        let elsewhere =
            come().find(|it| it.site != aligned.site && it.group.mask & aligned.group.mask == 0);
        if let Some(other) = elsewhere {
            return Err(two_places((warp, aligned), (warp, other), code, context));
        }
        let mask = come().fold(0, |mask, it| mask | it.group.mask);
        if lanes_of_warp(warp.index, limit) & !mask != 0 {
            return Err(in_part(warps, (warp, aligned, mask), code, context));
        }
    }
    Ok(())
}

/// Two groups that must not come to one barrier.
fn two_places(
    one: (&Warp, &Waiting),
    other: (&Warp, &Waiting),
    code: &Code<'_>,
    context: &Context<'_>,
) -> Box<Failed> {
    let thread = |(warp, waiting): (&Warp, &Waiting)| {
        Party::new(
            [(warp.index, 1 << waiting.group.mask.trailing_zeros())],
            context,
        )
    };
    let (mut one, mut other) = (one, other);
    if one.0.index == other.0.index
        && other.1.group.mask.trailing_zeros() < one.1.group.mask.trailing_zeros()
    {
        (one, other) = (other, one);
    }
    let text = format!(
        "{}, and {}",
        thread(one).wait(&one.1.text(code)),
        thread(other).wait(&other.1.text(code))
    );
    let lane = one.1.group.mask.trailing_zeros();
    found(text, one.0.index, lane, context)
}

/// A warp of which some lanes have come to an aligned barrier.
fn in_part(
    warps: &[Warp],
    (warp, waiting, mask): (&Warp, &Waiting, u32),
    code: &Code<'_>,
    context: &Context<'_>,
) -> Box<Failed> {
    let here = warps.iter().flat_map(|warp| {
        let come = warp.waiting.iter().filter(|it| it.site == waiting.site);
        come.map(|it| (warp.index, it.group.mask))
    });
    let here = Party::new(here, context).count;
    let missing = lanes_of_warp(warp.index, context.at.launch.threads_per_block()) & !mask;
    let (missing, are) = match missing & !warp.live {
        0 => (missing, "are elsewhere"),
        left => (left, "have left"),
    };
    let Party { count, first } = Party::new([(warp.index, missing)], context);
    let (at, of) = (waiting.text(code), warp.index);
    let text =
        format!("{here} threads wait {at}, and {count} of warp {of}, the first {first:?}, {are}");
    found(text, of, mask.trailing_zeros(), context)
}

/// Who waits for what in a block where nobody can go on.
pub(super) fn stuck(warps: &[Warp], code: &Code<'_>, context: &Context<'_>) -> Box<Failed> {
    let mut parties: Vec<(String, Vec<(u32, u32)>)> = Vec::new();
    let mut join = |what: String, who: (u32, u32)| match parties.iter_mut().find(|it| it.0 == what)
    {
        Some((_, all)) => all.push(who),
        None => parties.push((what, vec![who])),
    };
    for warp in warps {
        for (group, members) in &warp.gated {
            join(
                warp.at_gate(group, *members, code),
                (warp.index, group.mask),
            );
        }
    }
    for warp in warps {
        for waiting in warp.waiting.iter().filter(|it| it.waits()) {
            join(waiting.text(code), (warp.index, waiting.group.mask));
        }
    }
    let texts = parties
        .iter()
        .map(|(what, who)| Party::new(who.iter().copied(), context).wait(what));
    let text = texts.collect::<Vec<_>>().join("; ");
    let first = parties.first().and_then(|it| it.1.first());
    let (warp, mask) = first.copied().unwrap_or((0, 1));
    let (kind, details) = match warps.iter().find_map(Warp::lane_at_barrier) {
        Some(absent) => (FindingKind::Divergence, format!("{text}; {absent}")),
        None => (FindingKind::Stuck, text),
    };
    failed(
        Cause::wrong(kind, details),
        warp,
        mask.trailing_zeros(),
        context,
    )
}
