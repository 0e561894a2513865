//! The threads of one block.
//!
//! A thread that ends without having waited hands its stack to the next, so a kernel without barriers
//! needs one stack and never switches.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};
use cuda_std::emulation::{Coordinates, FUEL, Lane, WARP_SIZE, enter};

use crate::grid::Stacks;
use crate::lane::LaneHooks;
use crate::memory::BlockMemory;
use crate::overflow::{self, Running};
use crate::wait::{self, Answer, Wait};
use crate::{Launch, LaunchError, Thread, coordinates, panics};

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All that could go on have, and wait for threads that are perhaps of other blocks.
    Spins,
    /// All its threads have ended.
    Ended,
}

/// The state that the threads of a block share while it runs. The body of each thread refers to it.
struct Block<'a> {
    launch: &'a Launch<'a>,
    kernel: &'a dyn Fn(),
    index: [u32; 3],
    memory: BlockMemory,
}

/// A block that has begun.
pub(crate) struct LiveBlock<'a> {
    // Before `block`, which the coroutines refer to.
    parked: Vec<Parked>,
    block: Box<Block<'a>>,
    /// Steps that its threads have spent on waiting for a turn, since one ended or met others.
    pub(crate) idle: u64,
    pub(crate) has_begun: bool,
}

type Body = Coroutine<Answer, Wait, Result<(), LaunchError>, DefaultStack>;

/// A thread that waits.
struct Parked {
    thread: u32,
    coroutine: Body,
    /// Whose stack the coroutine's is.
    running: Running,
    wait: Wait,
}

impl<'a> LiveBlock<'a> {
    pub(crate) fn new(launch: &'a Launch<'a>, kernel: &'a dyn Fn(), index: u64) -> LiveBlock<'a> {
        let memory = BlockMemory::new(launch.shape.dynamic_shared, launch.shared_per_block);
        LiveBlock {
            parked: Vec::new(),
            block: Box::new(Block {
                launch,
                kernel,
                index: coordinates(index, launch.shape.grid),
                memory,
            }),
            idle: 0,
            has_begun: false,
        }
    }

    /// Goes on until all threads have ended, or all wait for their turn.
    pub(crate) fn advance(&mut self, stacks: &mut Stacks) -> Result<Progress, LaunchError> {
        if !self.has_begun {
            self.has_begun = true;
            for thread in 0..self.block.launch.shape.threads() {
                self.begin(thread, stacks)?;
            }
        } else {
            self.take_turns(stacks)?;
        }
        loop {
            let mut has_met = false;
            for warp in 0..self.block.launch.shape.threads().div_ceil(WARP_SIZE) {
                while self.release(warp, stacks)? {
                    has_met = true;
                }
            }
            if self.parked.is_empty() {
                return Ok(Progress::Ended);
            }
            if let Some(tally) = wait::tally(self.parked.iter().map(|parked| parked.wait)) {
                self.go_on(stacks, |_| Some(Answer::Tally(tally)))?;
                has_met = true;
            }
            if has_met {
                self.idle = 0;
                continue;
            }
            if self
                .parked
                .iter()
                .any(|parked| matches!(parked.wait, Wait::Turn { .. }))
            {
                return Ok(Progress::Spins);
            }
            return Err(self.stuck());
        }
    }

    /// Of its threads that wait for a turn, the first, and where it is.
    pub(crate) fn spinning(&self) -> Option<(Thread, wait::At)> {
        self.parked.iter().find_map(|parked| match parked.wait {
            Wait::Turn { at, .. } => Some((self.block.thread(parked.thread), at)),
            _ => None,
        })
    }

    fn begin(&mut self, thread: u32, stacks: &mut Stacks) -> Result<(), LaunchError> {
        let block: *const Block<'a> = &raw const *self.block;
        let body = move |yielder: &_, _| {
            // SAFETY: the `LiveBlock` owns the block and drops every coroutine first.
            let block = unsafe { &*block };
            block.run(thread, yielder)
        };
        let stack = stacks.take()?;
        let running = Running {
            kernel: self.block.launch.kernel,
            thread: self.block.thread(thread),
            limit: stack.limit().get(),
        };
        // SAFETY: as above; whatever else the body has it owns.
        let coroutine = unsafe { Body::with_stack_unchecked(stack, body) };
        let begun = Parked {
            thread,
            coroutine,
            running,
            wait: Wait::Turn {
                steps: 0,
                at: std::panic::Location::caller(),
            },
        };
        if let Some(waits) = resume(begun, Answer::Turn, stacks)? {
            self.parked.push(waits);
        }
        Ok(())
    }

    /// Lets the threads go on that have given way.
    fn take_turns(&mut self, stacks: &mut Stacks) -> Result<(), LaunchError> {
        let spent = |parked: &Parked| match parked.wait {
            Wait::Turn { steps, .. } => u64::from(steps),
            _ => 0,
        };
        self.idle += self.parked.iter().map(spent).max().unwrap_or(0);
        let before = self.parked.len();
        self.go_on(stacks, |parked| {
            matches!(parked.wait, Wait::Turn { .. }).then_some(Answer::Turn)
        })?;
        if self.parked.len() < before {
            self.idle = 0;
        }
        Ok(())
    }

    /// Ends a wait of lanes of the warp, if there is one to end.
    fn release(&mut self, warp: u32, stacks: &mut Stacks) -> Result<bool, LaunchError> {
        let of_warp = |parked: &&Parked| parked.thread / WARP_SIZE == warp;
        let waits = self.parked.iter().filter(of_warp);
        let waits: Vec<_> = waits
            .map(|one| (one.thread % WARP_SIZE, one.wait))
            .collect();
        let Some((lanes, answer)) = wait::released(&waits) else {
            return Ok(false);
        };
        self.go_on(stacks, |parked| {
            let is_named = lanes >> (parked.thread % WARP_SIZE) & 1 == 1;
            (of_warp(&parked) && is_named).then_some(answer)
        })?;
        Ok(true)
    }

    /// Lets those threads go on for which there is an answer, each until it waits again or ends.
    fn go_on(
        &mut self,
        stacks: &mut Stacks,
        answer: impl Fn(&Parked) -> Option<Answer>,
    ) -> Result<(), LaunchError> {
        for parked in std::mem::take(&mut self.parked) {
            let still = match answer(&parked) {
                Some(answer) => resume(parked, answer, stacks)?,
                None => Some(parked),
            };
            self.parked.extend(still);
        }
        Ok(())
    }

    fn stuck(&self) -> LaunchError {
        let waits: Vec<_> = self
            .parked
            .iter()
            .map(|one| (one.thread, one.wait))
            .collect();
        LaunchError::Stuck {
            block: self.block.index,
            waiting: wait::describe(&waits, self.block.launch.shape.block),
        }
    }
}

/// Lets the thread go on. None once it has ended.
fn resume(
    mut parked: Parked,
    answer: Answer,
    stacks: &mut Stacks,
) -> Result<Option<Parked>, LaunchError> {
    let ran = overflow::within(parked.running, || parked.coroutine.resume(answer));
    match ran {
        CoroutineResult::Yield(wait) => Ok(Some(Parked { wait, ..parked })),
        CoroutineResult::Return(ended) => {
            stacks.give_back(parked.coroutine.into_stack());
            ended.map(|()| None)
        }
    }
}

impl Block<'_> {
    /// Runs one thread.
    fn run(
        &self,
        thread: u32,
        yielder: &corosensei::Yielder<Answer, Wait>,
    ) -> Result<(), LaunchError> {
        let shape = self.launch.shape;
        let hooks = LaneHooks {
            yielder,
            memory: &self.memory,
            print: self.launch.print,
        };
        let lane = Lane {
            coordinates: Coordinates {
                thread_idx: coordinates(thread.into(), shape.block),
                block_idx: self.index,
                block_dim: shape.block,
                grid_dim: shape.grid,
            },
            fuel: Cell::new(FUEL),
            hooks: &hooks,
        };
        let ended = enter(&lane, || panic::catch_unwind(AssertUnwindSafe(self.kernel)));
        ended.map_err(|payload| LaunchError::Panicked {
            thread: self.thread(thread),
            message: panics::message(&*payload),
            place: panics::place(),
        })
    }

    fn thread(&self, thread: u32) -> Thread {
        Thread {
            block: self.index,
            thread: coordinates(thread.into(), self.launch.shape.block),
        }
    }
}
