//! Runs the threads of one block on one core, warp by warp.
//!
//! Each thread runs on a fiber. One that ends without having waited hands its fiber to the
//! next thread of its warp, so a kernel without barriers needs one fiber and never switches.
//! One that waits is parked with its fiber until what it waits for has come.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};

use corosensei::stack::Stack;
use cuda_std::emulation::{Access, Coordinates, Lane, WARP_SIZE, enter};

use crate::check::{self, Who};
use crate::error::{Location, Thread};
use crate::fiber::{Fiber, Inside};
use crate::source::line;
use crate::thread::ThreadHooks;
use crate::wait::{self, Answer, Wait};
use crate::warp::{Parked, Slot, Warp};
use crate::worker::{BlockParts, Worker};
use crate::{LaunchError, coordinates, place};

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Some of its threads went on.
    Ran,
    /// All that could went on and only waste time until others, perhaps of other blocks, go on.
    Spins,
    /// All its threads have ended, or one has failed.
    Ended,
}

/// A block under way.
pub(crate) struct LiveBlock<'a> {
    // Before `block`, which the fibers point to.
    warps: Vec<Warp>,
    block: Box<Block<'a>>,
    progress: Progress,
}

impl<'a> LiveBlock<'a> {
    pub(crate) fn new(worker: &'a Worker<'a>, index: u64) -> Result<Self, LaunchError> {
        let block = Block::new(worker, index)?;
        Ok(LiveBlock {
            warps: (0..block.fresh.len()).map(Warp::new).collect(),
            block: Box::new(block),
            progress: Progress::Ran,
        })
    }

    pub(crate) fn spins(&self) -> bool {
        self.progress == Progress::Spins
    }

    /// What became of the block.
    pub(crate) fn end(self) -> Result<(), LaunchError> {
        let LiveBlock { warps, block, .. } = self;
        // Unwinds the threads that a failure has left waiting, while the block is still there.
        drop(warps);
        block.worker.take_back(block.parts);
        match block.failure.into_inner() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Lets some threads go on.
    pub(crate) fn advance(&mut self) -> Progress {
        self.progress = self.go_on();
        self.progress
    }

    fn go_on(&mut self) -> Progress {
        if self.block.has_failed() {
            return Progress::Ended;
        }
        let ready = self.warps.iter().filter(|warp| warp.is_ready).count();
        if ready > 0 {
            let chosen = self.block.worker.order.borrow_mut().choose(ready);
            let mut ready = (0..self.warps.len()).filter(|&warp| self.warps[warp].is_ready);
            let warp = ready.nth(chosen).unwrap_or_default();
            self.warps[warp].advance(&self.block);
            return Progress::Ran;
        }
        let parked = || self.warps.iter().flat_map(|warp| &warp.parked);
        if parked().any(|one| wait::way_given(one).is_some()) {
            self.take_turns();
            return Progress::Spins;
        }
        self.block.meet_unwritten();
        if parked().next().is_none() || self.block.has_failed() {
            return Progress::Ended;
        }
        match wait::meeting(parked()) {
            Some(meeting) => self.pass_barrier(&meeting),
            None => self.stuck(),
        }
        Progress::Ran
    }

    fn pass_barrier(&mut self, meeting: &wait::Meeting) {
        let block = &*self.block;
        if block.worker.launch.options.checks.divergence
            && let Some(what) = block.divergence(meeting)
        {
            block.fail(LaunchError::Diverged {
                block: block.index,
                what,
            });
            return;
        }
        if let Some(watch) = &block.parts.watch {
            watch.borrow_mut().barrier();
        }
        block.worker.went_on();
        for warp in &mut self.warps {
            for parked in &warp.parked {
                parked.answer(Answer::Tally(meeting.tally));
            }
            warp.is_ready = true;
        }
    }

    /// Lets the threads go on that have given way.
    fn take_turns(&mut self) {
        for warp in &mut self.warps {
            for parked in &warp.parked {
                if let Some(answer) = wait::way_given(parked) {
                    parked.answer(answer);
                }
            }
            warp.is_ready = true;
        }
    }

    /// Says who waits for what.
    fn stuck(&mut self) {
        let block = &*self.block;
        let mut parked: Vec<Parked> = Vec::new();
        for warp in &mut self.warps {
            parked.append(&mut warp.parked);
        }
        let groups = wait::groups(parked.iter());
        let shape = block.worker.launch.shape.block;
        let texts: Vec<_> = groups.iter().map(|group| group.describe(shape)).collect();
        let waiting = texts.join("; ");
        let away = groups.iter().find_map(|group| block.away(group, &parked));
        self.warps[0].parked = parked;
        let index = block.index;
        block.fail(match away {
            Some(away) if block.worker.launch.options.checks.divergence => LaunchError::Diverged {
                block: index,
                what: format!("{waiting}; {away}"),
            },
            _ => LaunchError::Stuck {
                block: index,
                waiting,
            },
        });
    }
}

/// What the threads of a block share while it runs.
pub(crate) struct Block<'a> {
    pub(crate) worker: &'a Worker<'a>,
    pub(crate) index: [u32; 3],
    pub(crate) linear: u32,
    /// Of each warp the lanes that have not begun, and those that have ended.
    fresh: Vec<Cell<u32>>,
    ended: Vec<Cell<u32>>,
    pub(crate) parts: BlockParts,
    failure: RefCell<Option<LaunchError>>,
}

impl<'a> Block<'a> {
    fn new(worker: &'a Worker<'a>, index: u64) -> Result<Self, LaunchError> {
        let threads = worker.launch.shape.threads();
        let lanes = (0..threads.div_ceil(WARP_SIZE)).map(|warp| {
            let count = (threads - warp * WARP_SIZE).min(WARP_SIZE);
            Cell::new(u32::MAX >> (WARP_SIZE - count))
        });
        let fresh: Vec<_> = lanes.collect();
        // Grids of more blocks would not end in this life.
        let linear = index as u32;
        Ok(Block {
            worker,
            index: coordinates(index, worker.launch.shape.grid),
            linear,
            ended: fresh.iter().map(|_| Cell::new(0)).collect(),
            fresh,
            parts: worker.parts(linear)?,
            failure: RefCell::new(None),
        })
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// The launch fails. Where a thread has read what nobody has written, this may come of it, and
    /// the others go on to the next barrier first: perhaps one of them writes it, too late.
    pub(crate) fn fail(&self, failure: LaunchError) {
        let is_race = matches!(failure, LaunchError::Race { .. });
        let watch = self.parts.watch.as_ref();
        if is_race || watch.is_none_or(|watch| watch.borrow().unwritten.is_none()) {
            self.failure.borrow_mut().get_or_insert(failure);
        }
    }

    /// Fails where a thread has read since the last barrier what nobody has written.
    fn meet_unwritten(&self) {
        let watch = self.parts.watch.as_ref();
        let unwritten = watch.and_then(|watch| watch.borrow_mut().unwritten.take());
        if let Some(unwritten) = unwritten {
            self.fail(unwritten);
        }
    }

    pub(crate) fn who(&self, thread: u32) -> Who {
        Who {
            thread,
            block: self.linear,
        }
    }

    pub(crate) fn thread(&self, thread: u32) -> Thread {
        check::thread(&self.worker.launch.shape, self.linear, thread)
    }

    /// Looks at an access, where memory is checked.
    #[inline]
    pub(crate) fn look_at(&self, thread: u32, access: &Access) -> Result<(), LaunchError> {
        match (&self.worker.watch, &self.parts.watch) {
            (Some(launch), Some(watch)) => {
                let who = self.who(thread);
                let mut watch = watch.borrow_mut();
                watch.access(&mut launch.borrow_mut(), &self.parts.memory, who, access)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn misaligned(&self, thread: u32, access: &Access) -> LaunchError {
        let address = access.address;
        let unknown = Location::Unknown { address };
        LaunchError::Misaligned {
            location: self.worker.watch.as_ref().map_or(unknown, |watch| {
                watch.borrow().location(&self.parts.memory, address)
            }),
            alignment: access.alignment,
            access: check::access_by(self.thread(thread), access),
        }
    }

    /// Why a barrier is none of the whole block.
    fn divergence(&self, meeting: &wait::Meeting) -> Option<String> {
        let shape = self.worker.launch.shape.block;
        let (thread, place) = meeting.first;
        let mut ended =
            (0..self.worker.launch.shape.threads()).filter(|&thread| self.has_ended(thread));
        if let Some(first) = ended.next() {
            return Some(format!(
                "{} threads wait at the barrier at {}, and {}, the first {:?}, have left",
                meeting.tally.threads,
                line(place),
                ended.count() + 1,
                coordinates(first.into(), shape),
            ));
        }
        let (other, elsewhere) = meeting.elsewhere?;
        Some(format!(
            "thread {:?} waits at the barrier at {}, and thread {:?} at the one at {}",
            coordinates(thread.into(), shape),
            line(place),
            coordinates(other.into(), shape),
            line(elsewhere),
        ))
    }

    /// The lanes of the warp that have ended.
    pub(crate) fn ended(&self, warp: usize) -> u32 {
        self.ended[warp].get()
    }

    fn has_ended(&self, thread: u32) -> bool {
        self.ended((thread / WARP_SIZE) as usize) >> (thread % WARP_SIZE) & 1 == 1
    }

    /// The first of the lanes that a group waits for which has left, or is at a barrier.
    fn away(&self, group: &wait::Group, parked: &[Parked]) -> Option<String> {
        let (warp, _) = group.exchange?;
        let missing = group.missing();
        (0..WARP_SIZE).find_map(|lane| {
            let thread = warp * WARP_SIZE + lane;
            if missing >> lane & 1 == 0 {
                None
            } else if thread >= self.worker.launch.shape.threads() {
                Some(format!("there is no lane {lane} in warp {warp}"))
            } else if self.has_ended(thread) {
                Some(format!("lane {lane} of warp {warp} has left"))
            } else {
                let waits = parked.iter().find(|parked| parked.thread() == thread)?;
                let at_barrier = matches!(waits.wait(), Wait::Barrier { .. });
                at_barrier.then(|| format!("lane {lane} of warp {warp} is at the barrier"))
            }
        })
    }

    /// Whether a thread of the warp is to begin.
    pub(crate) fn has_fresh(&self, warp: usize) -> bool {
        self.fresh[warp].get() != 0 && !self.has_failed()
    }

    /// A fiber that runs one thread of the warp after another until one waits.
    pub(crate) fn fiber(&self, warp: usize) -> Result<Fiber<Slot>, LaunchError> {
        let stack = self.worker.stack()?;
        let range = stack.limit().get()..stack.base().get();
        let block: *const Block<'a> = self;
        let block: *const Block<'static> = block.cast();
        Ok(Fiber::new(stack, Slot::default(), move |fiber| {
            // SAFETY: the `LiveBlock`, which alone resumes the fiber, owns the block and drops
            // every fiber first.
            let block = unsafe { &*block };
            block.run_threads(fiber, warp, &range);
        }))
    }

    fn run_threads(&self, fiber: &Inside<Slot>, warp: usize, stack: &Range<usize>) {
        let launch = self.worker.launch;
        let kernel = self.worker.kernel;
        let captured = (&raw const *kernel).addr();
        let captured = captured..captured + size_of_val(kernel);
        loop {
            let fresh = self.fresh[warp].get();
            if fresh == 0 || self.has_failed() {
                return;
            }
            let lane = self.worker.order.borrow_mut().lane(fresh);
            self.fresh[warp].set(fresh & !(1 << lane));
            let thread = warp as u32 * WARP_SIZE + lane;
            fiber.shared().thread.set(thread);
            let hooks = ThreadHooks::new(self, fiber);
            let lane_of_grid = Lane {
                coordinates: Coordinates {
                    thread_idx: coordinates(thread.into(), launch.shape.block),
                    block_idx: self.index,
                    block_dim: launch.shape.block,
                    grid_dim: launch.shape.grid,
                },
                unwatched: [stack.clone(), launch.arguments.clone(), captured.clone()],
                fuel: Cell::new(hooks.fuel()),
                hooks: &hooks,
                gate: fiber.gate(),
            };
            let ended = enter(&lane_of_grid, || {
                panic::catch_unwind(AssertUnwindSafe(kernel))
            });
            self.worker.went_on();
            self.ended[warp].set(self.ended[warp].get() | 1 << lane);
            if let Err(payload) = ended {
                self.fail(LaunchError::Panicked {
                    thread: self.thread(thread),
                    message: message(&*payload),
                    place: place::take(),
                });
                // Perhaps the fiber is dropped, and no thread may begin on it.
                return;
            }
            if self.worker.order.borrow_mut().surprises() {
                return;
            }
        }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").to_owned()
}
