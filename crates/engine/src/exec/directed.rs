//! Runs blocks of a launch as a director says, one warp at a time.

use super::block::Block;
use super::code::Waits;
use super::director::{Director, Point, Says};
use super::failure::Failed;
use super::op::Context;
use super::pending_blocks::PendingBlocks;
use super::registers::LANES;
use super::stops::Stop;
use super::surroundings::{Checking, Held};
use super::warp::LOOKS;
use super::worker::{Crew, Rest};
use crate::count::Tally;
use crate::schedule::{Choice, Open};

/// How many blocks that could begin are told of.
const MOST_TOLD: usize = 64;

/// Who could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its name: the first thread, counted through the grid.
    pub(crate) thread: u64,
    pub(crate) block: u64,
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A lane of the warp that ran.
    Lane(u32),
    /// The lane of a warp of a block that has begun.
    Warp { slot: usize, warp: usize, lane: u32 },
    /// A block that has not.
    New(u64),
}

/// Those of whom one goes on.
#[derive(Clone, Copy)]
pub(crate) struct Among<'a> {
    pub(crate) point: Point,
    /// The block that ran last.
    pub(crate) here: Option<u64>,
    /// How many blocks have begun.
    pub(crate) begun: usize,
    /// Lanes of the warp that ran.
    pub(crate) own: &'a [Candidate],
    /// Other warps, the next one first; and last the one that ran, where it waits no longer.
    pub(crate) others: &'a [Candidate],
}

/// Runs all blocks.
///
/// # Errors
/// A thread failed.
pub(crate) fn work<'s, 'l>(
    crew: &'s Crew<'s, 'l>,
    checking: Option<Checking<'l>>,
    counting: Option<&'l mut Tally>,
    director: &'s Director<'l>,
) -> Result<(), Box<Failed>> {
    let blocks = crew.launch.blocks();
    // Where all may not run at once they begin in order: else earlier ones could be waited for by all.
    let order = match crew.launch.held {
        Held::AsPromised(held) if held < blocks => 0,
        _ => director.order(),
    };
    let mut stage = Stage {
        crew,
        director,
        context: crew.context(checking, counting),
        resident: Vec::new(),
        spare: Vec::new(),
        ended: Vec::new(),
        pending: PendingBlocks::new(blocks, order),
        order,
        slot: 0,
        warp: None,
        done: 0,
        in_vain: 0,
    };
    let mut point = Point::Free;
    while stage.goes_on(point) {
        point = stage.run()?;
    }
    assert_nothing_is_left(stage.resident.len(), stage.pending.lowest());
    Ok(())
}

/// Nothing has been found wrong, and nobody can go on: then all work is done.
fn assert_nothing_is_left(resident: usize, pending: Option<u64>) {
    assert!(
        resident == 0 && pending.is_none(),
        "internal error: a schedule has ended with {resident} blocks that have not; first that has not begun: {pending:?}"
    );
}

struct Stage<'s, 'l> {
    crew: &'s Crew<'s, 'l>,
    director: &'s Director<'l>,
    context: Context<'l>,
    /// In the order in which they have begun.
    resident: Vec<Block>,
    spare: Vec<Block>,
    /// Of clusters that have not ended.
    ended: Vec<Block>,
    pending: PendingBlocks,
    /// That in which blocks begin; 0 is by their indices.
    order: u64,
    /// The block that runs, or the place where the next one is looked for.
    slot: usize,
    /// The warp that runs; none where its block has ended.
    warp: Option<usize>,
    /// How many blocks have begun and ended.
    done: u64,
    /// How often in a row warps have let others go first that wait for what those write.
    in_vain: u64,
}

impl Stage<'_, '_> {
    /// Runs the warp that has control until it loses it.
    fn run(&mut self) -> Result<Point, Box<Failed>> {
        let warp = self.warp.expect("one has control");
        let ran = self.resident[self.slot].run_one(warp, self.crew.code, &mut self.context);
        let stop = ran.map_err(|failed| self.crew.explained(failed, || self.rest()))?;
        if stop == Stop::FailedPolls
            && let Some(checking) = &mut self.context.at.checking
        {
            checking.checker.pass();
        }
        let peers = &self.crew.code.peers;
        self.in_vain = match stop {
            Stop::FailedPolls if peers.may_help() => {
                self.resident[self.slot].forget_waiting();
                self.in_vain
            }
            // One that works may be asked often, and others look meanwhile.
            Stop::Asks if !self.resident[self.slot].warps()[warp].is_looking() => 0,
            Stop::Asks => self.in_vain,
            Stop::FailedPolls => self.in_vain + 1,
            Stop::Waits | Stop::Yields | Stop::Ended => {
                self.crew.code.core.moves();
                peers.made_progress();
                0
            }
        };
        if std::mem::take(&mut self.context.at.has_ended_phase) {
            self.in_vain = 0;
        }
        let begun = self.resident.len() * self.resident[self.slot].warps().len();
        let waits = Waits {
            in_vain: self.in_vain,
            looks_of_each: self.in_vain.saturating_mul(LOOKS.into()) / begun as u64,
            is_unmet: self.context.at.unmet.is_some(),
            has_read_time: self.context.at.has_read_time,
        };
        let is_held_up = || self.cannot_begin().is_some();
        // Who could begin has its turn before long.
        let others_may_begin = || self.may_begin() && self.pending.lowest().is_some();
        let stands_still = || self.crew.stand_still(&self.resident, others_may_begin);
        self.crew.code.has_waited(waits, is_held_up, stands_still);
        Ok(match stop {
            Stop::Asks => Point::Access,
            Stop::Yields | Stop::FailedPolls => Point::Yields,
            Stop::Waits => Point::Free,
            Stop::Ended => {
                let block = self.resident.remove(self.slot);
                let left = self.crew.end(block, &mut self.ended);
                self.spare.extend(left);
                self.warp = None;
                self.done += 1;
                self.crew.is_in_time(&self.context, || self.rest())?;
                Point::Free
            }
        })
    }

    /// Gives control to whoever goes on. Nobody does where all blocks have ended.
    fn goes_on(&mut self, point: Point) -> bool {
        let at = self.director.number(point);
        let chosen = match self.director.says(at, point) {
            Says::Default => None,
            Says::Thread(thread) => {
                let found = self.find(thread, point);
                if found.is_none() {
                    self.director.missed(Choice { at, thread });
                }
                found
            }
            Says::Any => self.of_a_seed(point),
            Says::Tell => {
                self.tell(at, point);
                None
            }
        };
        if let Some(chosen) = chosen {
            self.director.made(at, chosen.thread);
            self.give(chosen);
            return true;
        }
        if point == Point::Access {
            return true;
        }
        match self.others(point, 1).first().copied() {
            Some(next) => self.give(next),
            // It lets others go first, and there are none.
            None => return point == Point::Yields,
        }
        true
    }

    fn give(&mut self, to: Candidate) {
        match to.place {
            Place::Lane(lane) => {
                let block = &mut self.resident[self.slot];
                let warp = block.warp_mut(self.warp.expect("it ran"));
                warp.part(lane);
                warp.favour(lane);
            }
            Place::Warp { slot, warp, lane } => {
                self.resident[slot].warp_mut(warp).favour(lane);
                (self.slot, self.warp) = (slot, Some(warp));
            }
            Place::New(block) => {
                let crew = self.crew;
                let begun = crew.begin(block, &mut self.spare, &mut self.context);
                for it in &begun {
                    self.pending.begin(it.number());
                }
                self.resident.extend(begun);
                let within = to.thread % u64::from(crew.launch.threads_per_block());
                let warp = within as usize / LANES;
                let slot = self.resident.iter().position(|it| it.number() == block);
                (self.slot, self.warp) = (slot.expect("it has begun"), Some(warp));
            }
        }
    }

    fn of_a_seed(&self, point: Point) -> Option<Candidate> {
        let (own, others) = (self.own(point), self.others(point, 1));
        let chosen = self.director.choose(&Among {
            point,
            here: self.warp.map(|_| self.resident[self.slot].number()),
            begun: self.resident.len(),
            own: &own,
            others: &others,
        });
        // The next one by the indices is nobody's choice.
        let is_default = |it: &Candidate| others.first() == Some(it) && self.order == 0;
        chosen.filter(|it| point == Point::Access || !is_default(it))
    }

    /// Tells of those that could go on instead of the default.
    fn tell(&self, at: u64, point: Point) {
        let mut others = self.others(point, MOST_TOLD);
        if self.may_begin() && self.pending.next().nth(MOST_TOLD).is_some() {
            self.director.is_partial();
        }
        let preempts = point == Point::Access;
        if !preempts && !others.is_empty() {
            others.remove(0);
        }
        let own = self.own(point);
        let threads: Vec<u64> = others.iter().chain(&own).map(|it| it.thread).collect();
        if !threads.is_empty() {
            let open = Open {
                at,
                preempts,
                threads,
            };
            self.director.open(open);
        }
    }

    /// A thread that can go on.
    fn find(&self, thread: u64, point: Point) -> Option<Candidate> {
        let threads = u64::from(self.crew.launch.threads_per_block());
        let (block, within) = (thread / threads, thread % threads);
        let (warp, lane) = (within as usize / LANES, (within % LANES as u64) as u32);
        let Some(slot) = self.resident.iter().position(|it| it.number() == block) else {
            let is_new = self.may_begin() && self.pending.contains(block)
                || self.waited_for(point) == Some(block);
            let place = Place::New(block);
            let new = Candidate {
                thread,
                block,
                place,
            };
            return is_new.then_some(new);
        };
        match point {
            Point::Access if self.has_run(slot, warp) => {
                return self.own(point).into_iter().find(|it| it.thread == thread);
            }
            Point::Yields if self.has_run(slot, warp) => return None,
            _ => {}
        }
        let place = Place::Warp { slot, warp, lane };
        self.resident[slot].warps()[warp]
            .is_at(lane)
            .then_some(Candidate {
                thread,
                block,
                place,
            })
    }

    /// Lanes of the warp that ran which could go on at an access, instead of those that ran.
    fn own(&self, point: Point) -> Vec<Candidate> {
        let Some(index) = self.warp.filter(|_| point == Point::Access) else {
            return Vec::new();
        };
        let block = &self.resident[self.slot];
        let lanes = block.warps()[index].alternatives();
        let candidate = |lane| Candidate {
            thread: self.thread(block.number(), index, lane),
            block: block.number(),
            place: Place::Lane(lane),
        };
        lanes.into_iter().map(candidate).collect()
    }

    /// Warps that could go on instead of the one that ran, the next one first, and blocks that could begin,
    /// at most so many. Where one lets others go first, those that have done so least often. The one that ran can
    /// itself where it came last to a barrier, which let it go on with the others.
    fn others(&self, point: Point, most_new: usize) -> Vec<Candidate> {
        let new: Vec<u64> = match self.may_begin() {
            true => self.pending.next().take(most_new).collect(),
            false => self.waited_for(point).into_iter().collect(),
        };
        let mut begun: Vec<(u64, Candidate)> = self
            .turns(point)
            .filter_map(|(slot, warp)| self.candidate(slot, warp))
            .collect();
        if point == Point::Yields {
            let fewest = match new.is_empty() {
                true => begun.iter().map(|it| it.0).min().unwrap_or(0),
                false => 0,
            };
            begun.retain(|it| it.0 == fewest);
        }
        // A block begins with any of its warps.
        let warps = self.crew.launch.threads_per_block().div_ceil(32) as usize;
        let warp_of = |block, warp| Candidate {
            thread: self.thread(block, warp, 0),
            block,
            place: Place::New(block),
        };
        let new = new
            .into_iter()
            .flat_map(|block| (0..warps).map(move |warp| warp_of(block, warp)));
        begun.into_iter().map(|it| it.1).chain(new).collect()
    }

    /// All warps: those behind the one that ran in its block, the next blocks', those before it, and itself
    /// where it waits no longer.
    fn turns(&self, point: Point) -> impl Iterator<Item = (usize, usize)> {
        let (blocks, slot) = (self.resident.len(), self.slot);
        let warps = self.resident.first().map_or(0, |it| it.warps().len());
        let ran = self.warp;
        let behind = (ran.map_or(0, |warp| warp + 1)..warps).map(move |warp| (slot, warp));
        let next = (1..blocks).flat_map(move |step| {
            let slot = (slot + step) % blocks;
            (0..warps).map(move |warp| (slot, warp))
        });
        let before = (0..ran.unwrap_or(0)).map(move |warp| (slot, warp));
        let itself = ran.filter(|_| point == Point::Free);
        let itself = itself.map(move |warp| (slot, warp));
        // Where the block that ran has ended, the next one has its place.
        let all = behind.chain(next).chain(before).chain(itself);
        all.map(move |(slot, warp)| (slot % blocks, warp))
    }

    /// Whether it is the warp that ran.
    fn has_run(&self, slot: usize, warp: usize) -> bool {
        (slot, Some(warp)) == (self.slot, self.warp)
    }

    /// A warp that can go on, with how often it has let others go first.
    fn candidate(&self, slot: usize, warp: usize) -> Option<(u64, Candidate)> {
        let block = &self.resident[slot];
        let lane = block.warps()[warp].next_lane()?;
        let candidate = Candidate {
            thread: self.thread(block.number(), warp, lane),
            block: block.number(),
            place: Place::Warp { slot, warp, lane },
        };
        Some((block.warps()[warp].yields(), candidate))
    }

    fn may_begin(&self) -> bool {
        let together = self.crew.launch.together();
        let held = self.crew.launch.held.blocks().max(together);
        (self.resident.len() + self.ended.len()) as u64 + together <= held
    }

    /// Where a launch promises no more blocks than have begun: an earlier one, for which these may wait.
    fn waited_for(&self, point: Point) -> Option<u64> {
        let is_promise = matches!(self.crew.launch.held, Held::AsPromised(_));
        let lowest = self.pending.lowest().filter(|_| is_promise)?;
        let waits = |block: &Block| block.number() > lowest;
        (point == Point::Yields && self.resident.iter().any(waits)).then_some(lowest)
    }

    /// A block that waits for room.
    fn cannot_begin(&self) -> Option<u64> {
        let is_full = !self.may_begin() && self.waited_for(Point::Yields).is_none();
        self.pending.next().next().filter(|_| is_full)
    }

    fn rest(&self) -> Rest {
        Rest {
            not_begun: self.cannot_begin(),
            begun: self.done + self.resident.len() as u64,
            ended: self.done,
        }
    }

    /// The name of a thread. A grid may have more of them than there are names: then those that are far apart share one.
    fn thread(&self, block: u64, warp: usize, lane: u32) -> u64 {
        let threads = u64::from(self.crew.launch.threads_per_block());
        block
            .wrapping_mul(threads)
            .wrapping_add((warp * LANES) as u64 + u64::from(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::assert_nothing_is_left;

    #[test]
    fn a_schedule_ends_when_all_work_is_done() {
        assert_nothing_is_left(0, None);
        let fails = |resident, pending| {
            let ended = std::panic::catch_unwind(|| assert_nothing_is_left(resident, pending));
            assert!(ended.is_err(), "{resident} {pending:?}");
        };
        fails(1, None);
        fails(0, Some(3));
    }
}
