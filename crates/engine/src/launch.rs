//! Launches.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::check::undefined::Registers;
use crate::check::{self, Finding, Hold, Operation};
use crate::count::{Counts, Scope, Tallied, Tally};
use crate::coverage;
use crate::exec::code::Code;
use crate::exec::failed_polls::FailedPolls;
use crate::exec::failure::{Cause, Failed, Failure};
use crate::exec::options::{Options, Shape};
use crate::exec::peer_progress::PeerProgress;
use crate::exec::pool::POOL;
use crate::exec::queue::Queue;
use crate::exec::stepper::Stepper;
use crate::exec::surroundings::{Checking, Deadline, Launch as Launched, Parameters};
use crate::exec::worker::Crew;
use crate::exec::workspace::Workspace;
use crate::exec::{directed, worker};
use crate::finding_kind::Severity;
use crate::launch_error::LaunchError;
use crate::limits::{LimitError, Limits, MAX_BLOCK, MAX_CLUSTER, MAX_GRID, MAX_THREADS};
use crate::memory::free_bytes;
use crate::module::Kernel;

/// The checks of a launch: what is known of the devices' memory, and when the launch runs.
pub struct Checks<'c> {
    /// Of the devices.
    pub checker: &'c mut (dyn Hold + 'static),
    /// The launch, among what else the streams of the devices do.
    pub operation: Operation,
    /// Which of the kernel's parameters are pointers through which it says that it does not write.
    pub fixed: Vec<usize>,
    /// The bytes that pointers among the kernel's parameters may reach, by the parameters' numbers, where those are fewer than the
    /// whole of an allocation.
    pub lent: Vec<(usize, Range<u64>)>,
    /// Takes the [benign](Severity::Benign) findings. Without it they end the launch as all others do.
    pub benign: Option<&'c mut Vec<Finding>>,
}

/// The companion of a launch.
pub(crate) enum Beside<'b> {
    Nothing,
    /// Adds up what it does.
    Counts(&'b Mutex<Tally>),
    /// Stops it.
    Debugger(&'b Stepper<'b>),
}

/// The bytes, with some value for those that have none: the padding of a structure.
fn initialised(mut bytes: Vec<MaybeUninit<u8>>) -> Vec<u8> {
    let (start, len, capacity) = (bytes.as_mut_ptr(), bytes.len(), bytes.capacity());
    // SAFETY: it does nothing. The compiler has to take it that it wrote to the bytes, which it knows.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    unsafe {
        std::arch::asm!("/* {} */", in(reg) start, options(nostack, preserves_flags));
    }
    std::mem::forget(bytes);
    // SAFETY: the vector's own parts, of bytes that have been written.
    unsafe { Vec::from_raw_parts(start.cast(), len, capacity) }
}

impl Kernel {
    /// The parameters of a launch as PTX lays them out. Bytes of padding have any value.
    ///
    /// # Safety
    /// There is an address for each parameter, and at each as many bytes as it has.
    pub unsafe fn pack(&self, addresses: &[*const u8]) -> Vec<u8> {
        let mut packed = vec![MaybeUninit::new(0); self.code.parameter_bytes() as usize];
        for (parameter, address) in self.code.parameters.iter().zip(addresses) {
            let to = &mut packed[parameter.offset as usize..][..parameter.bytes as usize];
            // SAFETY: at each address there are as many bytes as the parameter has, by the contract of `pack`.
            unsafe {
                to.as_mut_ptr()
                    .copy_from_nonoverlapping(address.cast(), to.len())
            };
        }
        initialised(packed)
    }

    /// Runs the kernel once for each thread of the grid, and returns when all have ended. A grid with
    /// no blocks or a block with no threads runs nothing. `print` is given what the kernel prints. With
    /// checks it runs on one core, so that a finding is the same each time, and ends with the first. Launches of other
    /// devices have their turn on their own host threads while its threads only wait.
    ///
    /// # Errors
    /// See [`LaunchError`]; what a GPU would not launch is not run at all. Blocks that have not begun when a thread fails are not run.
    pub fn launch(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
    ) -> Result<(), LaunchError> {
        self.run(shape, options, parameters, print, checks, Beside::Nothing)
    }

    /// As [`Kernel::launch`], and counts what it does.
    ///
    /// # Errors
    /// As for [`Kernel::launch`].
    pub fn count(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
    ) -> Result<Counts, LaunchError> {
        let tallied = self.tally(shape, options, parameters, print, checks)?;
        Ok(tallied.counts())
    }

    /// As [`Kernel::count`], for who adds up many launches: [`Tallied::add_to`] takes a few microseconds, less than
    /// to make and add a launch's own [`Counts`].
    ///
    /// # Errors
    /// As for [`Kernel::launch`].
    pub fn tally(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
    ) -> Result<Tallied<'_>, LaunchError> {
        let sum = Mutex::default();
        self.run(
            shape,
            options,
            parameters,
            print,
            checks,
            Beside::Counts(&sum),
        )?;
        let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Tallied::new(&*self.code, (shape.grid, shape.block), sum))
    }

    pub(crate) fn run(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
        beside: Beside<'_>,
    ) -> Result<(), LaunchError> {
        let expected = self.code.parameter_bytes();
        if expected as usize != parameters.len() {
            let (kernel, given) = (self.name().to_owned(), parameters.len());
            return Err(LaunchError::Parameters {
                kernel,
                expected,
                given,
            });
        }
        let program = self.code.kernel()?;
        if shape.grid.contains(&0) || shape.block.contains(&0) {
            return Ok(());
        }
        self.check_limits(shape, &options, program.frame.bytes)?;
        let _running = self.code.memory().running();
        let is_cooperative = options.resident_blocks == u64::MAX;
        let workspace = (is_cooperative && self.code.asks_for_workspace)
            .then(|| Workspace::new(self.code.memory()));
        let launch = Launched {
            grid: shape.grid,
            block: shape.block,
            static_shared: self.static_shared(),
            dynamic_shared: shape.dynamic_shared,
            parameters: Parameters::new(parameters),
            parameter_bounds: &self.code.parameters,
            panic_record: options
                .panic_record
                .unwrap_or_else(|| self.code.panic_record()),
            memory: self.code.memory(),
            print,
            started: Instant::now(),
            multiprocessors: options.multiprocessors,
            held: options.held(shape, checks.is_some()),
            is_apart: options.is_apart,
            cluster: self.cluster(shape, &options)?,
            workspace: workspace.as_ref().map_or(0, Workspace::address),
            deadline: options.time.and_then(Deadline::after),
            full_heap: OnceLock::new(),
        };
        let layout = self.code.layout(shape.dynamic_shared);
        let together = launch.together();
        let queue = Queue::new(launch.blocks() / together, launch.held.blocks() / together);
        let failure: Mutex<Option<Box<Failed>>> = Mutex::new(None);
        let choices = options.schedule.choices();
        let (counts, stepper) = match beside {
            Beside::Nothing => (None, None),
            Beside::Counts(sum) => (Some(sum), None),
            Beside::Debugger(stepper) => (None, Some(stepper)),
        };
        let cores = match (&choices, stepper) {
            (None, None) if checks.is_none() => options.cores as u64,
            _ => 1,
        };
        let workers = cores.min(launch.blocks() / together).max(1);
        self.check_registers(&launch, program.register_bytes, workers)?;
        let polls = FailedPolls::new(workers as usize);
        let run = |checking: Option<Checking<'_>>, counting: Option<&mut Tally>| {
            let code = Code::new(
                &*self.code,
                program.clone(),
                polls.join(),
                PeerProgress::new(self.code.memory(), options.steps),
                &options,
                (choices.as_ref(), stepper),
            );
            let crew = Crew {
                launch: &launch,
                layout: &layout,
                code: &code,
            };
            match &code.director {
                None => worker::work(&crew, checking, counting, &queue),
                Some(director) => directed::work(&crew, checking, counting, director),
            }
        };
        let is_covered = coverage::is_asked_for();
        let covered = is_covered.then(Mutex::default);
        let (counts, scope) = match counts {
            Some(_) => (counts, Scope::All),
            None => (covered.as_ref(), Scope::Blocks),
        };
        let work = |checking| {
            let mut tally = counts.map(|_| Tally::of(scope));
            let ran = run(checking, tally.as_mut());
            if let (Some(sum), Some(tally)) = (counts, tally) {
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum.add(tally);
            }
            if let Err(failed) = ran {
                queue.stop();
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(failed);
            }
        };
        let mut lost = Ok(());
        match checks {
            Some(Checks {
                checker,
                operation,
                fixed,
                lent,
                benign,
            }) => {
                let offset = |it: usize| self.code.parameters.get(it).map(|it| it.offset);
                let checked = check::Shape {
                    program: self.code.number(),
                    threads: launch.threads_per_block(),
                    device: launch.memory.device(),
                    is_joined: launch.memory.has_peers(),
                    blocks_per_cluster: together,
                    ends_with: match benign {
                        Some(_) => Severity::Error,
                        None => Severity::Benign,
                    },
                };
                let id = checker.launch(operation, checked);
                work(Some(Checking {
                    checker: &mut *checker,
                    launch: id,
                    block: None,
                    accesses: 0,
                    has_told: false,
                    fixed: fixed.into_iter().filter_map(offset).collect(),
                    lent: lent
                        .into_iter()
                        .filter_map(|(it, bytes)| Some((offset(it)?, bytes)))
                        .collect(),
                    undefined: Registers::default(),
                    parts: BTreeMap::new(),
                }));
                if !queue.has_stopped() {
                    lost = checker
                        .results(self.code.memory(), id)
                        .and_then(|()| checker.leaks(self.code.memory(), id, self.code.number()));
                }
                if let Some(benign) = benign {
                    let found = checker.take_benign(id).into_iter();
                    benign.extend(found.map(|it| *self.named(it, shape)));
                }
                checker.end_launch(id);
            }
            None => POOL.run(workers as usize - 1, &|| work(None)),
        }
        if let (true, Some(sum)) = (is_covered, counts) {
            let sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            let kernel = (self.code.index(), self.name());
            coverage::launched(self.code.number(), kernel, &sum);
        }
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failed) if failed.cause == Cause::Failure(Failure::Abandoned) => {
                Err(self.error(*failed, shape))
            }
            Some(mut failed) => {
                launch.memory.fail();
                // It has asked for the workspace of a grid, and there is none.
                let asks_in_vain = self.code.asks_for_workspace && !is_cooperative;
                if asks_in_vain && failed.cause == Cause::Failure(Failure::Trap) {
                    failed.cause = Failure::NotCooperative.into();
                }
                Err(self.error(*failed, shape))
            }
            None => lost.map_err(|finding| self.found(finding, shape)),
        }
    }

    /// The most threads of a block that it is compiled for, if it says so (`.maxntid`).
    pub fn max_threads(&self) -> Option<u32> {
        let most = self.code.function().directives.maxntid?;
        Some(
            most.iter()
                .fold(1, |all, &extent| all.saturating_mul(extent)),
        )
    }

    /// The block that it is compiled for, if it says so (`.reqntid`).
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.code.function().directives.reqntid
    }

    /// Refuses a launch that no GPU makes.
    fn check_limits(&self, shape: Shape, options: &Options, local: u32) -> Result<(), LimitError> {
        const DEVICE: &str = "a GPU";
        let own = self.max_threads().unwrap_or(u32::MAX);
        let limits = Limits {
            kernel: self.name(),
            device: DEVICE,
            threads: &[(MAX_THREADS, DEVICE), (own, "its .maxntid")],
            block: MAX_BLOCK,
            required_block: self.required_block(),
            grid: MAX_GRID,
            shared: options.shared_per_block,
            own_shared: self.static_shared(),
            local,
        };
        let grid = shape.grid.map(u64::from);
        limits.check(grid, shape.block, shape.dynamic_shared)?;
        Ok(())
    }

    /// How many blocks begin together as a cluster; 0 where the kernel knows of none.
    fn cluster(&self, shape: Shape, options: &Options) -> Result<u64, LaunchError> {
        let directives = &self.code.function().directives;
        let [x, y, z] = directives.reqnctapercluster.unwrap_or(options.cluster);
        let blocks = u64::from(x);
        let refused = |text: String| LaunchError::Cluster {
            kernel: self.name().to_owned(),
            text,
        };
        if (y, z) != (1, 1) || !(1..=MAX_CLUSTER).contains(&x) {
            return Err(refused(format!(
                "clusters of {x} x {y} x {z} blocks; the emulator has 1 to {MAX_CLUSTER} along x"
            )));
        }
        if !shape.grid[0].is_multiple_of(x) {
            let grid = shape.grid[0];
            return Err(refused(format!(
                "clusters of {x} blocks, in a grid of {grid} along x"
            )));
        }
        Ok(match blocks {
            1 if !self.code.needs_clusters => 0,
            _ => blocks,
        })
    }

    /// Refuses a launch whose first blocks need more memory for registers than is free.
    fn check_registers(
        &self,
        launch: &Launched<'_>,
        bytes: u32,
        workers: u64,
    ) -> Result<(), LaunchError> {
        // To ask the system takes longer than a small launch.
        const LARGE: u64 = 64 << 20;
        let warps =
            workers * launch.together() * u64::from(launch.threads_per_block().div_ceil(32));
        let actual = warps * u64::from(bytes);
        if actual < LARGE {
            return Ok(());
        }
        match free_bytes() {
            free if actual > free => Err(LaunchError::Registers {
                kernel: self.name().to_owned(),
                actual,
                free,
            }),
            _ => Ok(()),
        }
    }
}
