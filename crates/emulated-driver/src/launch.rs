//! A launch: executed at once, checked, and under seeds where they are asked for.

use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;

use debugger::Debugger;
use engine::{Checks, Failure, Kernel, LaunchError, Options, Schedule, Shape};

use recorder::Recorder;

use crate::context::current;
use crate::counts;
use crate::debug::{self, Again, Debugged};
use crate::findings::{Cause, found, launched};
use crate::function::{Function, REGISTERS};
use crate::handles::Handle;
use crate::launch_calls::{Attributes, Together, Value, product};
use crate::order::{self, Lane};
use crate::parameters::name_buffers;
use crate::repeat::{self, Ran};
use crate::report::Launched;
use crate::settings::{OnFinding, settings};
use crate::status::{Answer, Status};

/// A launch.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    /// The function's.
    pub(crate) handle: Handle,
    pub(crate) shape: Shape,
    pub(crate) parameters: Vec<u8>,
    pub(crate) together: Together,
}

/// Blocks of a kernel that a multiprocessor holds.
pub(crate) fn blocks_of_multiprocessor(kernel: &Kernel, threads: u32, dynamic_shared: u32) -> u32 {
    let needs = occupancy::Kernel {
        registers_per_thread: REGISTERS,
        static_shared_bytes: kernel.static_shared(),
        dynamic_shared_bytes: dynamic_shared,
        max_threads_per_block: kernel.max_threads(),
    };
    let held = settings().multiprocessor.occupancy(&needs, threads);
    held.map_or(0, |it| it.blocks)
}

impl Launch {
    /// Refuses what a device does not launch, before it is put into a stream.
    pub(crate) fn check(&self) -> Answer {
        let (kernel, _) = self.function.kernel()?;
        if self.shape.grid.contains(&0) || self.shape.block.contains(&0) {
            return Err(Status::INVALID_VALUE);
        }
        let (shared, most) = (
            self.shape.dynamic_shared,
            self.function.dynamic_shared(&kernel),
        );
        if shared > most {
            let name = &self.function.named().name;
            let text = format!(
                "{name}: {shared} bytes of dynamic shared memory; a launch may have {most}, unless \
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is set to more"
            );
            launched(name, 0, true);
            found(&text, Some(self.launched(None)), Cause::Refused);
            return Err(Status::INVALID_VALUE);
        }
        if self.together.is_cooperative && self.blocks() > u64::from(self.resident_blocks(&kernel))
        {
            return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let cluster = self.together.cluster.into_iter();
        if cluster
            .zip(self.shape.grid)
            .any(|(its, grid)| !grid.is_multiple_of(its))
        {
            return Err(Status::INVALID_CLUSTER_SIZE);
        }
        const PORTABLE: u32 = 8;
        match product(self.together.cluster) {
            blocks if blocks > PORTABLE && !self.function.allows_large_clusters() => {
                Err(Status::INVALID_CLUSTER_SIZE)
            }
            _ => Ok(()),
        }
    }

    /// Refuses blocks of more threads than a kernel has, which a launch tells in words.
    pub(crate) fn check_block(&self) -> Answer {
        const MOST: u32 = 1024;
        let (kernel, _) = self.function.kernel()?;
        let most = kernel.max_threads().unwrap_or(MOST).min(MOST);
        match product(self.shape.block) > most {
            true => Err(Status::INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Returns it with an attribute set.
    ///
    /// # Errors
    /// As [`Together::set`] and [`Launch::check`].
    pub(crate) fn with_attribute(&self, id: u32, value: Value) -> Answer<Launch> {
        let mut launch = self.clone();
        launch.together.set(id, value.0)?;
        launch.check()?;
        Ok(launch)
    }

    /// Returns an attribute of it, or what a program has set.
    ///
    /// # Errors
    /// There is no such attribute.
    pub(crate) fn attribute(&self, id: u32, set: &Attributes) -> Answer<Value> {
        match self.together.get(id) {
            Some(words) => Value::of(id, words),
            None => set.get(id),
        }
    }

    /// Returns it with its blocks together as those of another launch.
    pub(crate) fn with_together_of(&self, other: &Launch) -> Launch {
        Launch {
            together: other.together,
            ..self.clone()
        }
    }

    fn blocks(&self) -> u64 {
        let extents = self.shape.grid.map(u64::from);
        extents
            .into_iter()
            .fold(1, |all: u64, it| all.saturating_mul(it))
    }

    /// Blocks that the device holds at once.
    fn resident_blocks(&self, kernel: &Kernel) -> u32 {
        let threads = product(self.shape.block);
        let each = blocks_of_multiprocessor(kernel, threads, self.shape.dynamic_shared);
        each * settings().multiprocessors
    }

    /// As a recording has it.
    pub(crate) fn recorded(&self, recorder: &Recorder) -> recording::Work {
        let shared = |kernel: &Kernel| [kernel.static_shared(), self.shape.dynamic_shared];
        recording::Work::Kernel(recording::Kernel {
            name: recorder.text(&self.function.named().name),
            grid: self.shape.grid,
            block: self.shape.block,
            registers: REGISTERS,
            shared: self.function.kernel().map_or([0; 2], |it| shared(&it.0)),
        })
    }

    /// Runs it, in order and under the seeds that are asked for.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        let (kernel, _) = self.function.kernel()?;
        name_buffers(&kernel, self.function.named(), &self.parameters);
        let name = &self.function.named().name;
        let ran = match debug::debugger() {
            None => {
                // What comes before the others is the launch itself.
                let overlaps = Cell::new(self.together.overlaps);
                let run = |schedule| self.once(&kernel, lane, (schedule, overlaps.take()), None);
                repeat::under_seeds(&run, name)
            }
            Some(debugger) => self.debug(debugger, &kernel, name, lane),
        };
        launched(name, ran.seeds, ran.failed.is_some());
        match ran.failed {
            None => Ok(()),
            Some((seed, error)) => self.failed(kernel.name(), &error, seed),
        }
    }

    /// Runs it under a debugger, in the one order that is asked for, as often as that goes back.
    fn debug(&self, debugger: &Debugger, kernel: &Kernel, name: &str, lane: &Lane) -> Ran {
        let seed = settings().seed;
        let schedule = seed.map_or(Schedule::InOrder, Schedule::Seeded);
        let run = |debugged: Debugged<'_>| {
            self.once(kernel, lane, (schedule.clone(), false), Some(debugged))
        };
        let ran = debugger.debug(kernel, name, &Again::new(&run));
        Ran {
            seeds: seed.map_or(0, |_| 1),
            failed: ran.err().map(|error| (seed, Box::new(error))),
        }
    }

    fn once(
        &self,
        kernel: &Kernel,
        lane: &Lane,
        (schedule, overlaps): (Schedule, bool),
        debugged: Option<Debugged<'_>>,
    ) -> Result<(), Box<LaunchError>> {
        let settings = settings();
        let options = Options {
            schedule,
            steps: settings.steps,
            time: settings.time,
            divergence: true,
            resident_blocks: match self.together.is_cooperative {
                true => u64::MAX,
                false => u64::from(self.resident_blocks(kernel).max(1)),
            },
            cluster: self.together.cluster,
            multiprocessors: settings.multiprocessors,
            shared_per_block: settings.multiprocessor.max_shared_bytes_per_block,
            ..Options::default()
        };
        let Some(mut known) = order::if_checked() else {
            return self.execute(kernel, options, None, debugged);
        };
        let operation = match overlaps {
            true => lane.enqueue_overlapping(&mut known),
            false => lane.enqueue(&mut known),
        };
        let seed = match options.schedule {
            Schedule::Seeded(seed) => Some(seed),
            _ => None,
        };
        let mut benign = Vec::new();
        let ran = self.execute(
            kernel,
            options,
            Some(Checks {
                checker: &mut known,
                operation,
                fixed: Vec::new(),
                lent: Vec::new(),
                benign: (!settings.is_strict).then_some(&mut benign),
            }),
            debugged,
        );
        let name = &self.function.named().name;
        for finding in &benign {
            found(
                &format!("{name}: {finding}"),
                Some(self.launched(seed)),
                Cause::Checks(finding),
            );
        }
        ran
    }

    fn execute(
        &self,
        kernel: &Kernel,
        options: Options,
        checks: Option<Checks<'_>>,
        debugged: Option<Debugged<'_>>,
    ) -> Result<(), Box<LaunchError>> {
        if let Some(Debugged { debugger, is_new }) = debugged {
            let print = |text: &str| {
                if is_new() {
                    print(text);
                }
            };
            let ran = kernel.debug(
                self.shape,
                options,
                &self.parameters,
                &print,
                checks,
                debugger,
            );
            return ran.map_err(Box::new);
        }
        // It was printed when the launch ran first.
        let is_again = settings().seed.is_none() && matches!(options.schedule, Schedule::Seeded(_));
        let print = |text: &str| {
            if !is_again {
                print(text);
            }
        };
        let ran = match settings().is_counted {
            false => kernel.launch(self.shape, options, &self.parameters, &print, checks),
            true => {
                let tallied = kernel.tally(self.shape, options, &self.parameters, &print, checks);
                tallied.map(|tallied| counts::add(kernel.name(), &tallied))
            }
        };
        ran.map_err(Box::new)
    }

    /// Says what was found, and gives the answer to it.
    fn failed(&self, entry: &str, error: &LaunchError, seed: Option<u64>) -> Answer {
        let status = status_of(error);
        let cause = match error {
            LaunchError::Found { finding, .. } => Cause::Checks(finding),
            LaunchError::Thread { .. } | LaunchError::Unfinished { .. } => Cause::Failure,
            _ => Cause::Refused,
        };
        let kernel = &self.function.named().name;
        // The engine knows of the entry what compilers of C++ and Rust have made of its name.
        let text = error
            .to_string()
            .replacen(&*engine::demangled(entry), kernel, 1);
        found(&text, Some(self.launched(seed)), cause);
        match settings().on_finding {
            _ if matches!(cause, Cause::Refused) => Err(status),
            OnFinding::Error => Err(status),
            OnFinding::Report => Ok(()),
            OnFinding::Sticky => {
                current()?.lose(status);
                Err(status)
            }
        }
    }
}

impl Launch {
    /// As a report has it.
    fn launched(&self, seed: Option<u64>) -> Launched {
        let Shape {
            grid,
            block,
            dynamic_shared,
        } = self.shape;
        Launched {
            kernel: self.function.named().name.clone(),
            grid,
            block,
            dynamic_shared,
            seed,
        }
    }
}

/// Writes what a kernel prints, behind what the program has printed by C.
fn print(text: &str) {
    // SAFETY: null is all streams of C.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let mut out = std::io::stdout().lock();
    // A program without standard output loses it.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The driver's answer to a launch that has failed.
fn status_of(error: &LaunchError) -> Status {
    match error {
        LaunchError::Thread { failure, .. } => match **failure {
            Failure::Assertion { .. } => Status::ASSERT,
            Failure::Trap | Failure::NotCooperative => Status::LAUNCH_FAILED,
            Failure::Endless(_) | Failure::NotBegun { .. } | Failure::NotPromised { .. } => {
                Status::LAUNCH_TIMEOUT
            }
            Failure::Unlowered(_) => Status::NOT_SUPPORTED,
            Failure::NoMemory { .. } | Failure::HeapFull(_) => Status::OUT_OF_MEMORY,
            _ => Status::LAUNCH_FAILED,
        },
        LaunchError::Unfinished { .. } => Status::LAUNCH_TIMEOUT,
        LaunchError::Found { .. } => Status::ILLEGAL_ADDRESS,
        LaunchError::Cluster { .. } => Status::INVALID_CLUSTER_SIZE,
        LaunchError::Registers { .. } => Status::OUT_OF_MEMORY,
        LaunchError::Unlowered(_) => Status::NOT_SUPPORTED,
        LaunchError::Limit(_) | LaunchError::Parameters { .. } => Status::INVALID_VALUE,
    }
}
