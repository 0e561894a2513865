//! A block: its warps, shared memory and barriers.

use std::cell::UnsafeCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::cluster::Cluster;
use super::code::Code;
use super::divergence;
use super::failure::{Cause, Failed};
use super::op::Context;
use super::program::BarrierAction;
use super::registers::{Registers, lanes_of};
use super::stops::Stop;
use super::surroundings::coordinates;
use super::tensor_memory::TensorMemory;
use super::warp::{Pause, Warp};
use crate::check::BlockId;
use crate::memory::windows;

/// A block that runs, or room for one.
pub(crate) struct Block {
    number: u64,
    index: [u32; 3],
    /// Its number for the checks.
    id: Option<BlockId>,
    warps: Vec<Warp>,
    shared: Registers,
    /// How many groups of products each warp has committed.
    groups: Vec<AtomicU32>,
    tensor_memory: UnsafeCell<TensorMemory>,
    cluster: Option<Rc<Cluster>>,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Ended,
    /// It goes on, and other blocks may have their turn.
    Turn,
    /// It waits for what other blocks write, as far as one can see.
    Looking,
}

impl Block {
    pub(crate) fn new(threads: u32, shared: u32) -> Block {
        Block {
            number: 0,
            index: [0; 3],
            id: None,
            warps: (0..threads.div_ceil(32)).map(|_| Warp::new()).collect(),
            // An atomic of a byte at the end reaches the whole word.
            shared: Registers::new(shared.next_multiple_of(4)),
            tensor_memory: UnsafeCell::default(),
            cluster: None,
            groups: (0..threads.div_ceil(32))
                .map(|_| AtomicU32::new(0))
                .collect(),
        }
    }

    /// Makes it the block of this number.
    pub(crate) fn seat(&mut self, number: u64, context: &mut Context<'_>) {
        self.number = number;
        self.index = coordinates(number, context.at.launch.grid);
        let at = &mut context.at;
        self.id = at
            .checking
            .as_mut()
            .map(|it| it.checker.begin_block(it.launch, number, &at.layout));
        self.cluster = None;
        // What nobody has written is none of the values that one expects.
        self.shared.fill(0xFF);
        self.groups
            .iter()
            .for_each(|it| it.store(0, Ordering::Relaxed));
        self.tensor_memory.get_mut().clear();
    }

    /// Forgets the launch that it was of.
    pub(crate) fn rest(&mut self) {
        self.cluster = None;
        self.warps.iter_mut().for_each(Warp::rest);
    }

    /// Its shared memory, and its number for the checks.
    pub(crate) fn memory(&self) -> (*mut u8, Option<BlockId>) {
        (self.shared.start(), self.id)
    }

    /// Brings its warps to their beginning.
    pub(crate) fn begin(
        &mut self,
        cluster: Option<Rc<Cluster>>,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) {
        self.cluster = cluster;
        self.enter(context);
        let threads = context.at.launch.threads_per_block();
        for (index, warp) in (0..).zip(&mut self.warps) {
            warp.begin(index, threads, code, context);
        }
    }

    /// Runs its warps until all have ended or had their turns.
    ///
    /// # Errors
    /// A thread failed, or all wait.
    pub(crate) fn run(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Progress, Box<Failed>> {
        self.enter(context);
        loop {
            let (mut turns, mut looks, mut released) = (0, 0, false);
            for index in 0..self.warps.len() {
                if let Some(stepper) = code.stepper {
                    stepper.note(&self.warps);
                }
                let warp = &mut self.warps[index];
                if warp.has_ended() {
                    continue;
                }
                match warp.run(code, context)? {
                    Pause::AtBarrier | Pause::Stuck => {}
                    Pause::Turn => turns += 1,
                    Pause::Looking => looks += 1,
                }
                // Of more warps than a barrier wants, those go on that came first.
                if warp.waiting.iter().any(|it| it.threads.is_some()) {
                    released |= self.release(code, context)?;
                }
            }
            released |= self.release(code, context)?;
            if self.warps.iter().all(Warp::has_ended) {
                return self.end(context).map(|()| Progress::Ended);
            }
            match (turns, looks) {
                (0, 0) if !released => return Err(divergence::stuck(&self.warps, code, context)),
                (0, 1..) if !released => return Ok(Progress::Looking),
                (1.., _) => return Ok(Progress::Turn),
                _ => {}
            }
        }
    }

    /// Whether its warps that can go on by themselves come to nothing new.
    pub(crate) fn recurs(&self) -> bool {
        self.warps.iter().all(Warp::recurs)
    }

    /// Forgets the steps of its warps' last turns in which they looked for what others write.
    pub(crate) fn forget_waiting(&mut self) {
        self.warps.iter_mut().for_each(Warp::forget_waiting);
    }

    /// Runs one warp until a decision is asked for or it can go on no further.
    ///
    /// # Errors
    /// As for [`Block::run`].
    pub(crate) fn run_one(
        &mut self,
        warp: usize,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Stop, Box<Failed>> {
        self.enter(context);
        if let Some(stepper) = code.stepper {
            stepper.note(&self.warps);
        }
        let stop = self.warps[warp].run_directed(code, context)?;
        self.release(code, context)?;
        if self.warps.iter().all(Warp::has_ended) {
            return self.end(context).map(|()| Stop::Ended);
        }
        match self.warps.iter().any(Warp::is_ready) {
            true => Ok(stop),
            false => Err(divergence::stuck(&self.warps, code, context)),
        }
    }

    /// It has ended. Gives the first block of its cluster, where it has one, and whether all of that have ended.
    pub(crate) fn leave(&self) -> Option<(u64, bool)> {
        let cluster = self.cluster.as_ref()?;
        Some((cluster.first(), cluster.end(self.number)))
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn warps(&self) -> &[Warp] {
        &self.warps
    }

    pub(crate) fn warp_mut(&mut self, warp: usize) -> &mut Warp {
        &mut self.warps[warp]
    }

    fn enter(&self, context: &mut Context<'_>) {
        context.at.block = self.number;
        context.at.block_index = self.index;
        context.at.shared = self.shared.start();
        context.at.groups = self.groups.as_ptr();
        context.at.tensor_memory = self.tensor_memory.get();
        context.at.cluster = self.cluster.as_ref().map_or(std::ptr::null(), Rc::as_ptr);
        if self.cluster.is_some() {
            context.at.shared_window = windows::of_block(self.number);
        }
        if let (Some(checking), Some(id)) = (&mut context.at.checking, self.id) {
            checking.block = Some(id);
            context.at.shared_window = windows::of_block(self.number);
            context.at.local_window = windows::of_threads(self.number);
        }
        if let Some(tally) = &mut context.at.counting {
            tally.enter(self.number);
        }
    }

    /// Lets threads go on whose barrier all have come to. Gives whether there were any.
    fn release(&mut self, code: &Code<'_>, context: &mut Context<'_>) -> Result<bool, Box<Failed>> {
        let mut released = false;
        let waiting = self.warps.iter().flat_map(|warp| &warp.waiting);
        let waited_for = waiting.fold(0, |ids, it| ids | 1u32.checked_shl(it.id).unwrap_or(0));
        for id in lanes_of(waited_for).map(|id| id as u32) {
            if let Some(wanted) = self.is_complete(id) {
                released = true;
                if code.finds_divergence() {
                    divergence::check_barrier(&self.warps, id, code, context)?;
                }
                if let (Some(checking), None) = (&mut context.at.checking, wanted) {
                    let block = checking.block();
                    let checked = checking.checker.barrier(block);
                    checked.map_err(|stop| self.failed(stop.into(), context))?;
                }
                let (count, of) = self.warps.iter_mut().fold((0, 0), |sum, warp| {
                    let own = warp.reduced(id, context);
                    (sum.0 + own.0, sum.1 + own.1)
                });
                for warp in &mut self.warps {
                    context.at.warp = warp.index;
                    warp.release(id, count, of, context);
                }
            }
        }
        Ok(released)
    }

    fn end(&mut self, context: &mut Context<'_>) -> Result<(), Box<Failed>> {
        if let Some(tally) = &mut context.at.counting {
            tally.end();
        }
        let ended = match &mut context.at.checking {
            Some(checking) => {
                checking.parts.remove(&self.number);
                let block = checking.block();
                checking.checker.end_block(block)
            }
            None => Ok(()),
        };
        ended.map_err(|stop| self.failed(stop.into(), context))?;
        match self.tensor_memory.get_mut().left_behind() {
            None => Ok(()),
            Some(what) => Err(self.failed(Cause::misuse(what), context)),
        }
    }

    /// Whether as many threads have come to a barrier as it wants, one of which waits; and how many those
    /// are.
    fn is_complete(&self, id: u32) -> Option<Option<u32>> {
        let at = |warp: &Warp| {
            let waiting = warp.waiting.iter().filter(|it| it.id == id);
            waiting.fold(0, |mask, it| mask | it.group.mask)
        };
        let all = self
            .warps
            .iter()
            .flat_map(|warp| &warp.waiting)
            .filter(|it| it.id == id);
        let wanted = all.clone().map(|it| it.threads).next()?;
        let waits = all
            .clone()
            .any(|it| !matches!(it.barrier.action, BarrierAction::Arrive));
        let is_complete = match wanted {
            None => waits && self.warps.iter().all(|warp| warp.live & !at(warp) == 0),
            Some(wanted) => {
                // Threads that have ended count as come, with those of their warp that have.
                let come: u32 = self
                    .warps
                    .iter()
                    .map(|warp| match at(warp) {
                        0 => 0,
                        all if warp.live & !all == 0 => 32,
                        some => some.count_ones(),
                    })
                    .sum();
                come >= wanted
            }
        };
        is_complete.then_some(wanted)
    }

    /// A failure that is no instruction's own, of a thread that has not ended.
    fn failed(&self, cause: Cause, context: &Context<'_>) -> Box<Failed> {
        let warp = self.warps.iter().find(|warp| !warp.has_ended());
        let (warp, lane) = warp.map_or((0, 0), |it| (it.index, it.live.trailing_zeros()));
        divergence::failed(cause, warp, lane, context)
    }
}
