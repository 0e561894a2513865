//! A host thread that runs blocks of a launch.

use std::sync::Arc;

use super::block::{Block, Progress};
use super::cluster::Cluster;
use super::code::{Code, MAX_STANDING, Waits};
use super::endless::{Endless, Limit, Progress as Extent};
use super::failure::{Cause, Failed, Failure};
use super::op::Context;
use super::queue::Queue;
use super::register_pool;
use super::surroundings::{Checking, Held, Launch, Local, Surroundings, coordinates};
use super::warp::{LOOKS, TURNS};
use crate::count::Tally;
use crate::memory::Shared;
use crate::memory::windows;

/// The progress of a launch that does not end.
pub(crate) struct Rest {
    /// The first block that has not begun, where there is no room for it.
    pub(crate) not_begun: Option<u64>,
    /// Of the blocks that have begun: see [`Queue::progress`].
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// After how many blocks the clock is asked where a launch has a limit of time.
const BLOCKS_PER_LOOK: u8 = 8;

/// How many turns a block may have before another has one.
const IN_A_ROW: u32 = 16;

/// The parts that blocks of a launch are run with.
pub(crate) struct Crew<'c, 'l> {
    pub(crate) launch: &'l Launch<'l>,
    pub(crate) layout: &'c Shared,
    pub(crate) code: &'c Code<'l>,
}

impl<'l> Crew<'_, 'l> {
    pub(crate) fn context(
        &self,
        checking: Option<Checking<'l>>,
        counting: Option<&'l mut Tally>,
    ) -> Context<'l> {
        Context {
            registers: std::ptr::null_mut(),
            mask: 0,
            at: Surroundings {
                launch: self.launch,
                layout: self.layout.clone(),
                block: 0,
                block_index: [0; 3],
                warp: 0,
                live: 0,
                shared: std::ptr::null_mut(),
                shared_window: windows::SHARED,
                local_window: (windows::LOCAL, 0),
                local: Local {
                    start: std::ptr::null_mut(),
                    bytes: 0,
                    frame: 0,
                    frames: std::ptr::null(),
                },
                program: Arc::as_ptr(self.code.kernel()),
                accesses: std::ptr::null(),
                met: std::ptr::null_mut(),
                products: std::ptr::null_mut(),
                groups: std::ptr::null(),
                tensor_memory: std::ptr::null_mut(),
                cluster: std::ptr::null(),
                awaited: std::ptr::null_mut(),
                owner: None,
                looks: 0,
                looked: None,
                unmet: None,
                has_ended_phase: false,
                has_read_time: false,
                checking,
                counting,
                tracks: false,
                fault: None,
            },
        }
    }

    /// The blocks that begin together with one of them, in the room of some that have ended.
    pub(crate) fn begin(
        &self,
        number: u64,
        spare: &mut Vec<Block>,
        context: &mut Context<'l>,
    ) -> Vec<Block> {
        let threads = self.launch.threads_per_block();
        let together = self.launch.together();
        let first = number / together * together;
        let seat = |number| {
            let room = || Block::new(threads, self.layout.bytes());
            let mut block = spare.pop().unwrap_or_else(room);
            block.seat(number, context);
            block
        };
        let mut blocks: Vec<Block> = (first..first + together).map(seat).collect();
        let of = (self.launch.cluster > 0)
            .then(|| Cluster::new(first, threads, blocks.iter().map(Block::memory)));
        for block in &mut blocks {
            block.begin(of.clone(), self.code, context);
        }
        blocks
    }

    fn shape(&self) -> register_pool::Shape {
        register_pool::Shape {
            program: Arc::clone(self.code.kernel()),
            threads: self.launch.threads_per_block(),
            shared: self.layout.bytes(),
        }
    }

    /// A block has ended: gives it, and those of its cluster that ended before, when nobody reaches their
    /// memory any more.
    pub(crate) fn end(&self, block: Block, ended: &mut Vec<Block>) -> Vec<Block> {
        let Some((first, is_last)) = block.leave() else {
            return vec![block];
        };
        ended.push(block);
        if !is_last {
            return Vec::new();
        }
        let cluster = first..first + self.launch.together();
        let is_of = |block: &mut Block| cluster.contains(&block.number());
        ended.extract_if(.., is_of).collect()
    }

    /// A failure, with how far the launch has come where a limit has ended it, or what a thread waits for that goes on for
    /// ever where there is a block that cannot begin.
    pub(crate) fn explained(
        &self,
        mut failed: Box<Failed>,
        rest: impl FnOnce() -> Rest,
    ) -> Box<Failed> {
        let Cause::Failure(Failure::Endless(endless)) = &mut failed.cause else {
            return failed;
        };
        let rest = rest();
        endless.progress = self.extent(&rest);
        let limit = match endless.limit {
            Limit::Steps(limit) => limit,
            Limit::Standstill => MAX_STANDING,
            Limit::Time(_) => return failed,
        };
        if !endless.is_looking {
            return failed;
        }
        if let Some(device) = self.code.peers.failed() {
            failed.cause = Failure::PeerFailed { device }.into();
        } else if let Some(block) = rest.not_begun {
            let (block, held) = (
                coordinates(block, self.launch.grid),
                self.launch.held.blocks(),
            );
            let failure = match self.launch.held {
                Held::ByDevice(_) => Failure::NotBegun { limit, block, held },
                Held::AsPromised(_) => Failure::NotPromised { limit, block },
            };
            failed.cause = failure.into();
        }
        failed
    }

    fn extent(&self, rest: &Rest) -> Extent {
        Extent {
            begun: rest.begun,
            ended: rest.ended,
            blocks: self.launch.blocks(),
        }
    }

    /// Whether all that have begun go around in circles, on all cores, nobody else can begin, and no other launch runs or
    /// has come for a while.
    pub(crate) fn stand_still(&self, blocks: &[Block], may_begin: impl FnOnce() -> bool) -> bool {
        let (core, memory) = (&self.code.core, self.launch.memory);
        let is_alone = self.launch.is_apart || memory.has_one_launch();
        let is_alone = is_alone && !memory.has_peers();
        let does = is_alone && blocks.iter().all(Block::recurs);
        if !does {
            core.moves();
        }
        self.code.has_stood(does && core.stands_still(may_begin()))
    }

    /// That the launch may go on after a block has ended: its time is not over. Blocks that take longer ask themselves.
    ///
    /// # Errors
    /// [`Cause::Unfinished`].
    pub(crate) fn is_in_time(
        &self,
        context: &Context<'_>,
        rest: impl FnOnce() -> Rest,
    ) -> Result<(), Box<Failed>> {
        // To ask the clock takes a part of what a small block does.
        let ended = (self.code.ended.get() + 1) % BLOCKS_PER_LOOK;
        self.code.ended.set(ended);
        let limit = if ended == 0 { self.launch.late() } else { None };
        let Some(limit) = limit else {
            return Ok(());
        };
        let progress = self.extent(&rest());
        if progress.ended == progress.blocks {
            return Ok(());
        }
        let unfinished = Cause::Unfinished(Box::new(Endless {
            limit,
            is_looking: false,
            awaited: None,
            progress,
        }));
        Err(Box::new(context.failed(unfinished, 0)))
    }
}

/// Runs blocks of a launch in order until there are no more, or another worker has failed.
///
/// # Errors
/// A thread failed.
pub(crate) fn work<'l>(
    crew: &Crew<'_, 'l>,
    checking: Option<Checking<'l>>,
    counting: Option<&'l mut Tally>,
    queue: &Queue,
) -> Result<(), Box<Failed>> {
    let mut context = crew.context(checking, counting);
    let mut resident: Vec<Block> = Vec::new();
    let shape = crew.shape();
    let mut spare: Vec<Block> = shape.take().into_iter().collect();
    let mut ended: Vec<Block> = Vec::new();
    let together = crew.launch.together();
    let core = &crew.code.core;
    let rest = || queue.rest(together);
    let (mut turn, mut in_vain, mut in_a_row) = (0, 0, 0);
    loop {
        if turn == resident.len() {
            if let Some(number) = queue.begin() {
                core.moves();
                resident.extend(crew.begin(number * together, &mut spare, &mut context));
            } else if resident.is_empty() && queue.is_empty() {
                if let Some(block) = spare.pop() {
                    shape.leave(block);
                }
                return Ok(());
            }
        }
        if queue.has_stopped() {
            return Ok(());
        }
        if resident.is_empty() {
            // Other cores have all the room. Nobody waits for the looks of this one.
            core.record();
            core.stands_still(true);
            std::thread::yield_now();
            continue;
        }
        turn %= resident.len();
        in_vain += 1;
        let is_held_up = || queue.held_up().is_some();
        let stands_still = || {
            let is_round = turn == 0;
            is_round && crew.stand_still(&resident, || !queue.is_empty() && !is_held_up())
        };
        let waits = Waits {
            in_vain,
            looks_of_each: u64::saturating_mul(in_vain, TURNS * u64::from(LOOKS))
                / resident.len() as u64,
            is_unmet: context.at.unmet.is_some(),
            has_read_time: context.at.has_read_time,
        };
        crew.code.has_waited(waits, is_held_up, stands_still);
        let ran = resident[turn].run(crew.code, &mut context);
        match ran.map_err(|failed| crew.explained(failed, rest))? {
            Progress::Ended => {
                let left = crew.end(resident.swap_remove(turn), &mut ended);
                if !left.is_empty() {
                    queue.end();
                }
                spare.extend(left);
                core.moves();
                crew.code.peers.made_progress();
                in_vain = 0;
                crew.is_in_time(&context, rest)?;
            }
            // It may wait all the same, with much to do between looks.
            Progress::Turn => {
                core.moves();
                crew.code.peers.made_progress();
                in_vain = 0;
                in_a_row += 1;
                if in_a_row > IN_A_ROW {
                    (turn, in_a_row) = (turn + 1, 0);
                }
            }
            // It may wait for a block that has not begun.
            Progress::Looking => {
                if let Some(checking) = &mut context.at.checking {
                    checking.checker.pass();
                }
                if crew.code.peers.may_help() || !core.record() {
                    resident[turn].forget_waiting();
                    in_vain -= 1;
                }
                turn += 1;
            }
        }
        if std::mem::take(&mut context.at.has_ended_phase) {
            in_vain = 0;
        }
    }
}
