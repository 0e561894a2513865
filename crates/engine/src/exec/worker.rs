//! A host thread that runs blocks of a launch.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ptx::SpecialRegister;

use super::block::{Block, Progress};
use super::cluster::{self, Cluster};
use super::director::Director;
use super::endless::{Endless, Limit, Progress as Extent};
use super::failed_polls::Core;
use super::failure::{Cause, Failed, Failure};
use super::op::{self, Context, Op, each_lane};
use super::options::Options;
use super::peer_progress::PeerProgress;
use super::program::{Parameter, Program};
use super::queue::Queue;
use super::register_pool;
use super::registers::{FULL, Kind, LANES};
use super::surroundings::axis;
use super::surroundings::{Checking, Held, Launch, Local, Surroundings, coordinates};
use super::unlowered::Unlowered;
use super::warp::{LOOKS, TURNS};
use crate::count::Tally;
use crate::memory::windows;
use crate::memory::{Cached, Shared};
use crate::schedule::Choices;

/// As [`Options::steps`], where threads wait at mbarriers: nobody can end a phase but those who wait, too.
const MOST_UNMET: u64 = 1 << 17;

/// As [`Options::steps`], for each that has begun, where all of them wait and there is a block that has no room to begin:
/// nobody else can write what they wait for.
const MOST_HELD_UP: u64 = 1 << 18;

/// As [`Options::steps`], for each that has begun, where all of them go around in circles and nobody else can begin.
const MOST_STANDING: u64 = 1 << 14;

/// After how many blocks the clock is asked where a launch has a limit of time.
const BLOCKS_PER_LOOK: u8 = 8;

/// How long all have stood still, at most, before they count as waiting for ever: another host thread may launch meanwhile
/// what they wait for.
const MOST_GRACE: Duration = Duration::from_millis(400);

/// The same, for each step that a warp may go through.
const GRACE_NS: u64 = 2;

/// With so many steps a launch that waits ends within a second anyway.
const FEW_STEPS: u64 = 1 << 16;

/// How those that have begun have waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// How often in a row they have had their turns and only waited.
    pub(crate) in_vain: u64,
    /// How often each of them has looked then.
    pub(crate) looks_of_each: u64,
    /// Whether one waits at an mbarrier.
    pub(crate) is_unmet: bool,
}

/// What is left of a launch that does not end.
pub(crate) struct Rest {
    /// The first block that has not begun, where there is no room for it.
    pub(crate) not_begun: Option<u64>,
    /// Of the blocks that have begun: see [`Queue::progress`].
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// The functions of a module, which are lowered when they are called first.
pub(crate) trait Functions: Sync {
    /// Returns the program of a function.
    ///
    /// # Errors
    /// It has an instruction that the engine does not execute.
    fn program(&self, function: u32) -> Result<Arc<Program>, Unlowered>;

    /// Whether there is a function of this number, and it has a body.
    fn has_body(&self, function: u32) -> bool;

    /// Returns the file and line of an instruction.
    fn place_in(&self, function: u32, instruction: u32) -> String;
}

/// The code of a kernel, as one host thread uses it.
pub(crate) struct Code<'l> {
    functions: &'l dyn Functions,
    kernel: Arc<Program>,
    pub(crate) run: Runners,
    steps: u64,
    finds_divergence: bool,
    /// After how many steps each that has begun gives up, where all of them have waited for as long as they may.
    gives_up: Cell<Option<Limit>>,
    /// Whether warps remember what they come to.
    remembers: Cell<bool>,
    /// Since when all stand still.
    standing: Cell<Option<Instant>>,
    /// Blocks that have ended, as far as they are counted.
    ended: Cell<u8>,
    /// When the launch ends, and how long it may take.
    deadline: Option<(Instant, Duration)>,
    /// The core that it runs on, among others.
    pub(crate) core: Core<'l>,
    /// The launches of other devices for which it may wait.
    pub(crate) peers: PeerProgress<'l>,
    /// Who decides where the order is free; none: the lowest goes first.
    pub(crate) director: Option<Director<'l>>,
    /// For each program the allocations that its accesses met last.
    met: RefCell<HashMap<*const Program, Box<[Cached]>>>,
}

/// Compiled for this processor.
pub(crate) struct Runners {
    pub(crate) full: unsafe fn(&mut Context<'_>, &[Op]),
    pub(crate) masked: unsafe fn(&mut Context<'_>, &[Op]),
}

impl<'l> Code<'l> {
    pub(crate) fn new(
        functions: &'l dyn Functions,
        kernel: Arc<Program>,
        core: Core<'l>,
        peers: PeerProgress<'l>,
        options: &Options,
        choices: Option<&'l Choices>,
    ) -> Self {
        Code {
            functions,
            kernel,
            run: Runners::of_this_processor(),
            steps: options.steps,
            finds_divergence: options.divergence,
            gives_up: Cell::new(None),
            remembers: Cell::new(false),
            standing: Cell::new(None),
            ended: Cell::new(0),
            deadline: options
                .time
                .and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))),
            core,
            peers,
            director: choices.map(Director::new),
            met: RefCell::default(),
        }
    }

    pub(crate) fn kernel(&self) -> &Arc<Program> {
        &self.kernel
    }

    /// Whether threads that go separate ways where they must not are a failure.
    pub(crate) fn finds_divergence(&self) -> bool {
        self.finds_divergence
    }

    /// Says how those that have begun have waited. What those wait that cannot go on, they wait together.
    pub(crate) fn has_waited(
        &self,
        waits: Waits,
        is_held_up: impl FnOnce() -> bool,
        stands_still: impl FnOnce() -> bool,
    ) {
        let together = match waits.is_unmet {
            true => MOST_UNMET.min(self.steps),
            false => self.steps,
        };
        let each = MOST_HELD_UP.min(self.steps);
        // The limit of few steps comes soon enough.
        let may_stand = self.steps > FEW_STEPS;
        let has_looked = |least| may_stand && waits.looks_of_each > least;
        self.remembers.set(has_looked(MOST_STANDING / 2));
        let waits_for_ever = waits.in_vain > together / LOOKS;
        self.gives_up
            .set(if waits_for_ever || self.peers.failed().is_some() {
                Some(Limit::Steps(self.steps))
            } else if waits.looks_of_each > each && is_held_up() {
                Some(Limit::Steps(each))
            } else if has_looked(MOST_STANDING) && stands_still() {
                Some(Limit::Standstill)
            } else {
                None
            });
    }

    /// Says whether all stand still, and gives whether they have for so long that nobody will come.
    fn has_stood(&self, does: bool) -> bool {
        if !does {
            self.standing.set(None);
            return false;
        }
        let since = self.standing.get().unwrap_or_else(Instant::now);
        self.standing.set(Some(since));
        let grace = Duration::from_nanos(self.steps.saturating_mul(GRACE_NS));
        since.elapsed() >= grace.min(MOST_GRACE)
    }

    /// Whether warps remember what they come to: after a while of waiting.
    pub(crate) fn remembers(&self) -> bool {
        self.remembers.get()
    }

    /// What ends the launch where a warp goes on that has gone through so many steps.
    pub(crate) fn limit_of(&self, steps: u64) -> Option<Limit> {
        let of_steps = || (steps > self.steps).then_some(Limit::Steps(self.steps));
        self.gives_up
            .get()
            .or_else(of_steps)
            .or_else(|| self.late())
    }

    /// The time that the launch may take, where it is over.
    pub(crate) fn late(&self) -> Option<Limit> {
        let (deadline, limit) = self.deadline?;
        (Instant::now() >= deadline).then_some(Limit::Time(limit))
    }

    /// File and line of an instruction.
    pub(crate) fn place(&self, function: u32, instruction: u32) -> String {
        self.functions.place_in(function, instruction)
    }

    /// The function at an address that a kernel calls.
    pub(crate) fn function_at(&self, address: u64) -> Option<u32> {
        (windows::of(address) == windows::FUNCTIONS)
            .then_some((address & windows::OFFSET) / 16)
            .map(|index| index as u32)
            .filter(|&index| self.functions.has_body(index))
    }

    /// A function of the module, lowered when it is called first.
    ///
    /// # Errors
    /// It has an instruction that the engine does not execute.
    pub(crate) fn program(&self, function: u32) -> Result<Arc<Program>, Cause> {
        self.functions
            .program(function)
            .map_err(|error| Failure::Unlowered(error).into())
    }

    /// Where a program's accesses remember the allocations that they met.
    pub(crate) fn met(&self, program: &Arc<Program>) -> *mut Cached {
        let mut all = self.met.borrow_mut();
        let met = all
            .entry(Arc::as_ptr(program))
            .or_insert_with(|| vec![Cached::default(); program.accesses.len()].into_boxed_slice());
        met.as_mut_ptr()
    }

    /// Sets the registers that an activation begins with: all of them where they are new, else those
    /// that differ from block to block.
    pub(crate) fn fill(
        &self,
        program: &Program,
        registers: *mut u8,
        is_new: bool,
        context: &mut Context<'_>,
    ) {
        context.registers = registers;
        context.mask = FULL;
        for &(special, slot) in &program.block_specials {
            let value = match special {
                SpecialRegister::Ctaid(of) => context.at.block_index[axis(of)],
                special if cluster::is_special(special) => cluster::special(context, special),
                _ => (context.at.block % u64::from(context.at.launch.multiprocessors)) as u32,
            };
            // SAFETY: the slot holds words, or a predicate.
            unsafe {
                match special {
                    SpecialRegister::IsExplicitCluster => context.set_predicate(slot, value),
                    _ => *context.slot_mut(slot) = [value; LANES],
                }
            };
        }
        if !is_new {
            return;
        }
        for &(special, slot) in &program.launch_specials {
            let value = fixed(special, context);
            // SAFETY: the slot holds words.
            unsafe { *context.slot_mut(slot) = value };
        }
        for constant in &program.constants {
            // SAFETY: the slot is of its kind.
            unsafe { broadcast(context, constant.slot, constant.kind, constant.bits) };
        }
        for parameter in &program.parameters {
            if let Parameter::Launch {
                offset,
                bytes,
                signed,
                slot,
                kind,
            } = *parameter
            {
                let bits = context.at.launch.parameter(offset, bytes, signed);
                // SAFETY: the slot is of its kind.
                unsafe { broadcast(context, slot, kind, bits) };
            }
        }
        // SAFETY: they were lowered for these registers.
        unsafe { (self.run.full)(context, &program.launch_ops) };
    }
}

/// What a launch fixes for each thread of a warp.
fn fixed(special: SpecialRegister, context: &Context<'_>) -> [u32; LANES] {
    use SpecialRegister::{
        AggrSmemSize, DynamicSmemSize, Envreg, LanemaskEq, LanemaskGe, LanemaskGt, LanemaskLe,
        LanemaskLt, Nctaid, Nsmid, Ntid, Nwarpid, Tid, TotalSmemSize, Warpid,
    };
    let launch = context.at.launch;
    let all = |value| [value; LANES];
    let lanes = |f: fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
    match special {
        Tid(of) => {
            let first = coordinates(u64::from(context.at.warp) * 32, launch.block);
            let axis = axis(of);
            match u64::from(first[0]) + LANES as u64 <= u64::from(launch.block[0]) {
                // All of its threads lie in one row.
                true if axis == 0 => each_lane(|lane| first[0] + lane as u32),
                true => all(first[axis]),
                false => counted_on(first, launch.block).map(|thread| thread[axis]),
            }
        }
        Ntid(of) => all(launch.block[axis(of)]),
        Nctaid(of) => all(launch.grid[axis(of)]),
        Warpid => all(context.at.warp),
        Nwarpid => all(launch.threads_per_block().div_ceil(32)),
        Nsmid => all(launch.multiprocessors),
        LanemaskEq => lanes(|lane| 1 << lane),
        LanemaskLe => lanes(|lane| u32::MAX >> (31 - lane)),
        LanemaskLt => lanes(|lane| (1 << lane) - 1),
        LanemaskGe => lanes(|lane| u32::MAX << lane),
        LanemaskGt => lanes(|lane| u32::MAX << lane & !(1 << lane)),
        TotalSmemSize | AggrSmemSize => all(launch.static_shared + launch.dynamic_shared),
        DynamicSmemSize => all(launch.dynamic_shared),
        Envreg(1) => all((launch.workspace >> 32) as u32),
        Envreg(_) => all(launch.workspace as u32),
        _ => lanes(|lane| lane),
    }
}

/// The coordinates of a warp's threads, from the first one's: a division for each would take longer than
/// what small kernels do.
fn counted_on(first: [u32; 3], [width, height, _]: [u32; 3]) -> [[u32; 3]; LANES] {
    let mut next = first;
    let mut all = [first; LANES];
    for thread in &mut all {
        *thread = next;
        next[0] += 1;
        if next[0] == width {
            next = [0, next[1] + 1, next[2]];
        }
        if next[1] == height {
            next = [next[0], 0, next[2] + 1];
        }
    }
    all
}

/// Sets all lanes of a slot.
///
/// # Safety
/// The slot is of this kind.
unsafe fn broadcast(context: &mut Context<'_>, slot: u32, kind: Kind, bits: u128) {
    // SAFETY: the operations are those of a verified program, which the context has entered.
    unsafe {
        match kind {
            Kind::Predicate => context.set_predicate(slot, bits as u32),
            Kind::Word => *context.slot_mut(slot) = [bits as u32; LANES],
            Kind::Double => *context.slot_mut(slot) = [bits as u64; LANES],
            Kind::Quad => *context.slot_mut(slot) = [bits; LANES],
        }
    }
}

impl Runners {
    fn of_this_processor() -> Runners {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            // SAFETY: as for `run_masked`; the processor has been asked.
            unsafe fn masked(context: &mut Context<'_>, ops: &[Op]) {
                // SAFETY: the operations are those of a verified program, which the context has entered.
                unsafe { op::run_masked(context, ops) }
            }
            if crate::processor::has_vectors() {
                return Runners {
                    full: op::run_full,
                    masked,
                };
            }
        }
        Runners {
            full: op::run_full,
            masked: op::run_masked,
        }
    }
}

/// How many turns a block may have before another has one.
const IN_A_ROW: u32 = 16;

/// What blocks of a launch are run with.
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
                cluster: std::ptr::null(),
                awaited: std::ptr::null_mut(),
                owner: None,
                looks: 0,
                looked: None,
                unmet: None,
                has_ended_phase: false,
                checking,
                counting,
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
            Limit::Standstill => MOST_STANDING,
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
        let is_alone = memory.has_one_launch() && !memory.has_peers();
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
        let limit = if ended == 0 { self.code.late() } else { None };
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
            looks_of_each: u64::saturating_mul(in_vain, TURNS * LOOKS) / resident.len() as u64,
            is_unmet: context.at.unmet.is_some(),
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
