//! The code of a kernel as one host thread uses it, and the limits of its waits.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ptx::SpecialRegister;

use super::cluster;
use super::director::Director;
use super::endless::Limit;
use super::failed_polls::Core;
use super::failure::{Cause, Failure};
use super::op::{self, Context, Op, each_lane};
use super::options::Options;
use super::peer_progress::PeerProgress;
use super::program::{Parameter, Program};
use super::registers::{FULL, Kind, LANES};
use super::stepper::Stepper;
use super::surroundings::{Launch, axis, coordinates};
use super::unlowered::Unlowered;
use super::warp::LOOKS;
use crate::memory::{Cached, windows};
use crate::schedule::Choices;

/// As [`Options::steps`], where threads wait at mbarriers: only threads that wait themselves could end the phase.
const MAX_UNMET: u64 = 1 << 17;

/// As [`Options::steps`], for each that has begun, where all of them wait and there is a block that has no room to begin:
/// nobody else can write what they wait for.
const MAX_HELD_UP: u64 = 1 << 18;

/// As [`Options::steps`], for each that has begun, where all of them go around in circles and nobody else can begin.
pub(super) const MAX_STANDING: u64 = 1 << 14;

/// How long they wait beyond that where threads read the time, by which their waits may end.
const MAX_PATIENCE: Duration = Duration::from_secs(2);

/// How long all have stood still, at most, before they count as waiting for ever: another host thread may launch meanwhile
/// what they wait for.
const MAX_GRACE: Duration = Duration::from_millis(400);

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
    /// Whether one has read the time, and may wait no longer than it wants to.
    pub(crate) has_read_time: bool,
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
    /// Since when they have waited for longer than for the looks that each has.
    patient: Cell<Option<Instant>>,
    /// Blocks that have ended, as far as they are counted.
    pub(super) ended: Cell<u8>,
    /// The core that it runs on, among others.
    pub(crate) core: Core<'l>,
    /// The launches of other devices for which it may wait.
    pub(crate) peers: PeerProgress<'l>,
    /// Who decides where the order is free; none: the lowest goes first.
    pub(crate) director: Option<Director<'l>>,
    /// The steps of a launch that is debugged.
    pub(crate) stepper: Option<&'l Stepper<'l>>,
    /// Whether there is one of the two.
    pub(super) is_led: bool,
    /// For each program the allocations that its accesses met last.
    met: RefCell<HashMap<*const Program, Box<[Cached]>>>,
}

/// Compiled for this processor.
pub(crate) struct Runners {
    full: Runner,
    masked: Runner,
    /// The same of checked launches.
    watch_full: Runner,
    watch_masked: Runner,
}

/// Runs operations of the program that the context has entered.
type Runner = unsafe fn(&mut Context<'_>, &[Op]);

impl<'l> Code<'l> {
    pub(crate) fn new(
        functions: &'l dyn Functions,
        kernel: Arc<Program>,
        core: Core<'l>,
        peers: PeerProgress<'l>,
        options: &Options,
        (choices, stepper): (Option<&'l Choices>, Option<&'l Stepper<'l>>),
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
            patient: Cell::new(None),
            ended: Cell::new(0),
            core,
            peers,
            director: choices.map(Director::new),
            stepper,
            is_led: choices.is_some() || stepper.is_some(),
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

    /// Says how the blocks that have begun have waited. Those that cannot go on share one limit of waiting.
    pub(crate) fn has_waited(
        &self,
        waits: Waits,
        is_held_up: impl FnOnce() -> bool,
        stands_still: impl FnOnce() -> bool,
    ) {
        let together = match waits.is_unmet {
            true => MAX_UNMET.min(self.steps),
            false => self.steps,
        };
        let each = MAX_HELD_UP.min(self.steps);
        // The limit of few steps comes soon enough.
        let may_stand = self.steps > FEW_STEPS;
        let has_looked = |least| may_stand && waits.looks_of_each > least;
        self.remembers.set(has_looked(MAX_STANDING / 2));
        let waits_for_ever = waits.in_vain > together / u64::from(LOOKS);
        self.gives_up
            .set(if waits_for_ever || self.peers.failed().is_some() {
                Some(Limit::Steps(self.steps))
            } else if self.are_patient(&waits, each) && is_held_up() {
                Some(Limit::Steps(each))
            } else if has_looked(MAX_STANDING) && stands_still() {
                Some(Limit::Standstill)
            } else {
                None
            });
    }

    /// Whether each has looked for more than so often; for some time, where they read it.
    fn are_patient(&self, waits: &Waits, each: u64) -> bool {
        if waits.looks_of_each <= each {
            self.patient.set(None);
            return false;
        }
        let since = self.patient.get().unwrap_or_else(Instant::now);
        self.patient.set(Some(since));
        !waits.has_read_time || since.elapsed() >= MAX_PATIENCE
    }

    /// Says whether all stand still, and gives whether they have for so long that nobody will come.
    pub(super) fn has_stood(&self, does: bool) -> bool {
        if !does {
            self.standing.set(None);
            return false;
        }
        let since = self.standing.get().unwrap_or_else(Instant::now);
        self.standing.set(Some(since));
        let grace = Duration::from_nanos(self.steps.saturating_mul(GRACE_NS));
        since.elapsed() >= grace.min(MAX_GRACE)
    }

    /// Whether warps remember what they come to: after a while of waiting.
    pub(crate) fn remembers(&self) -> bool {
        self.remembers.get()
    }

    /// Returns the limit that ends the launch when a warp that has gone through `steps` steps goes on.
    pub(crate) fn limit_of(&self, steps: u64, launch: &Launch<'_>) -> Option<Limit> {
        let of_steps = || (steps > self.steps).then_some(Limit::Steps(self.steps));
        self.gives_up
            .get()
            .or_else(of_steps)
            .or_else(|| launch.late())
    }

    /// Returns how many steps of a program a group goes through at most before it asks for the limits of the launch.
    pub(super) fn steps_per_look(&self, program: &Program) -> u32 {
        self.steps.min(program.steps_per_look.into()) as u32
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

/// Returns the special register's values in the threads of a warp, which the launch fixes.
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
    /// For whole warps.
    #[inline(always)]
    pub(crate) fn full(&self, context: &Context<'_>) -> Runner {
        match context.at.checking {
            None => self.full,
            Some(_) => self.watch_full,
        }
    }

    /// For the lanes of the context's mask.
    #[inline(always)]
    pub(crate) fn masked(&self, context: &Context<'_>) -> Runner {
        match context.at.checking {
            None => self.masked,
            Some(_) => self.watch_masked,
        }
    }

    fn of_this_processor() -> Runners {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            // SAFETY: as for `run_masked`; the processor has been asked.
            unsafe fn masked(context: &mut Context<'_>, ops: &[Op]) {
                // SAFETY: the operations are those of a verified program, which the context has entered.
                unsafe { op::run_masked(context, ops) }
            }
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            // SAFETY: as for `masked`.
            unsafe fn watch_masked(context: &mut Context<'_>, ops: &[Op]) {
                // SAFETY: the operations are those of a verified program, which the context has entered.
                unsafe { op::watch_masked(context, ops) }
            }
            if crate::processor::has_vectors() {
                return Runners {
                    full: op::run_full,
                    masked,
                    watch_full: op::watch_full,
                    watch_masked,
                };
            }
        }
        Runners {
            full: op::run_full,
            masked: op::run_masked,
            watch_full: op::watch_full,
            watch_masked: op::watch_masked,
        }
    }
}
