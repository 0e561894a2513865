//! Barriers of the block, as one of its warps comes to them.

use super::activation::Group;
use super::checked;
use super::code::Code;
use super::failure::Failed;
use super::op::Context;
use super::program::{Barrier, BarrierAction};
use super::registers::{FULL, LANES, lanes_of};
use super::undefined;
use super::warp::Warp;
use crate::check::Accessors;

/// A group at a barrier of the block.
pub(crate) struct Waiting {
    pub(crate) group: Group,
    pub(crate) barrier: Barrier,
    /// Which of the 16.
    pub(crate) id: u32,
    /// How many threads it wants; none for all of the block.
    pub(crate) threads: Option<u32>,
    /// The instruction, numbered in its module.
    pub(super) site: u32,
}

impl Warp {
    /// Brings a group to the barrier of an instruction; it goes on at once where it need not wait.
    ///
    /// # Errors
    /// There is no such barrier; only where that is looked for.
    pub(super) fn come_to(
        &mut self,
        barrier: &Barrier,
        mut group: Group,
        instruction: u32,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Option<Group>, Box<Failed>> {
        let waits = !matches!(barrier.action, BarrierAction::Arrive);
        let mut rest = group.mask;
        while rest != 0 {
            // SAFETY: the slots hold words.
            let (id, threads, mask) = unsafe {
                let (id, mask) = alike(context.slot(barrier.id), rest);
                match barrier.threads.map(|slot| alike(context.slot(slot), mask)) {
                    Some((threads, mask)) => (id, Some(threads), mask),
                    None => (id, None, mask),
                }
            };
            rest &= !mask;
            // Who waits for no number of threads waits for all.
            let threads = threads.filter(|&threads| threads != 0 || !waits);
            let waiting = Waiting {
                group: Group { mask, ..group },
                barrier: *barrier,
                id,
                threads,
                site: checked::site(context.at.function_index(), instruction),
            };
            if code.finds_divergence() {
                waiting.check(self.index, code, context)?;
            }
            if threads.is_some() || !waits {
                self.tell_of_arrival(mask, id, context);
            }
            self.waiting.push(waiting);
        }
        group.turns = 0;
        Ok((!waits).then_some(group))
    }

    /// Tells the checks of lanes that have come to a barrier of some threads.
    fn tell_of_arrival(&self, mask: u32, id: u32, context: &mut Context<'_>) {
        if let Some(checking) = &mut context.at.checking {
            let who = Accessors {
                block: checking.block(),
                warp: self.index,
                mask,
            };
            checking.checker.arrive(who, id);
        }
    }

    /// Lets the groups at a barrier go on; a reduction has given `count` threads with a true predicate,
    /// of `of`.
    pub(crate) fn release(&mut self, id: u32, count: u32, of: u32, context: &mut Context<'_>) {
        use super::program::BarrierReduction::{And, Count, Or};
        while let Some(place) = self.waiting.iter().position(|it| it.id == id) {
            let Waiting {
                mut group,
                barrier,
                threads,
                ..
            } = self.waiting.remove(place);
            let waits = !matches!(barrier.action, BarrierAction::Arrive);
            if let Some(checking) = context
                .at
                .checking
                .as_mut()
                .filter(|_| threads.is_some() && waits)
            {
                let who = Accessors {
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
                    undefined::written(context, destination, group.mask);
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

/// The word of the first lane of a mask, and the lanes of it that have the same.
fn alike(words: &[u32; LANES], mask: u32) -> (u32, u32) {
    let first = words[mask.trailing_zeros() as usize];
    if *words == [first; LANES] {
        return (first, mask);
    }
    let same = lanes_of(mask).filter(|&lane| words[lane] == first);
    (first, same.fold(0, |mask, lane| mask | 1 << lane))
}
