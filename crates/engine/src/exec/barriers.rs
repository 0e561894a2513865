//! Barriers of the block, as one of its warps comes to them.

use super::activation::Group;
use super::op::Context;
use super::program::{Barrier, BarrierAction};
use super::registers::{FULL, LANES};
use super::warp::Warp;
use crate::check::Who;

/// A group at a barrier of the block.
pub(crate) struct Waiting {
    pub(crate) group: Group,
    pub(crate) barrier: Barrier,
    /// Which of the 16.
    pub(crate) id: u32,
    /// How many threads it wants; none for all of the block.
    pub(crate) threads: Option<u32>,
}

impl Warp {
    /// Brings a group to a barrier; it goes on at once where it need not wait.
    pub(super) fn come_to(
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
