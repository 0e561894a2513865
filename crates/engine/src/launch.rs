//! Launches.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use crate::check::{self, Agent, Checker, Finding, Operation, Side};
use crate::exec::checked::of_site;
use crate::exec::failure::{Failed, Failure, Thread};
use crate::exec::surroundings::{Checking, Launch as Launched, coordinates};
use crate::exec::worker::{Code, Crew};
use crate::exec::{directed, worker};
use crate::memory::{FaultClass, Shared};
use crate::module::{Kernel, SHARED_GAP, parameter_offsets};
use crate::schedule::Schedule;

/// The shape of a launch, in the order x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
}

/// How a launch is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Who goes first.
    pub schedule: Schedule,
    /// How many blocks of instructions a warp may go through.
    pub steps: u64,
    /// How many blocks may have begun and not ended, on all cores together: what the GPU holds.
    pub resident_blocks: u64,
    /// The host's cores that run blocks.
    pub cores: usize,
    /// The multiprocessors that `%smid` and `%nsmid` tell of.
    pub multiprocessors: u32,
}

impl Default for Options {
    /// All cores, 2^28 steps, as many blocks as an H200 can hold.
    fn default() -> Options {
        Options {
            schedule: Schedule::InOrder,
            steps: 1 << 28,
            resident_blocks: 132 * 32,
            cores: cores(),
            multiprocessors: 132,
        }
    }
}

/// The host's cores. The system is asked once: it reads files to say, which takes longer than a small launch.
fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    *CORES
}

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// A thread failed.
    #[error("{kernel}: {thread}: {failure}, at {place}")]
    Thread {
        /// The kernel.
        kernel: String,
        /// Which thread.
        thread: Thread,
        /// What went wrong.
        failure: Box<Failure>,
        /// File and line, or the PTX's line.
        place: String,
    },
    /// Threads do what they must not.
    #[error("{kernel}: {text}")]
    Found {
        /// The kernel.
        kernel: String,
        /// What, with both places.
        text: String,
        /// The same for programs, of what takes checks to find.
        finding: Option<Box<Finding>>,
    },
    /// Not as many bytes of parameters as the kernel has.
    #[error("{kernel} has {expected} bytes of parameters; {given} were given")]
    Parameters {
        /// The kernel.
        kernel: String,
        /// How many it has.
        expected: u32,
        /// How many were given.
        given: usize,
    },
    /// The kernel has an instruction that the engine does not execute.
    #[error(transparent)]
    Unsupported(#[from] crate::Unsupported),
}

/// The checks of a launch: what is known of the device's memory, and when the launch runs.
pub struct Checks<'c> {
    /// Of the device.
    pub checker: &'c mut Checker,
    /// The launch, among what else the streams of the device do.
    pub operation: Operation,
}

impl Kernel {
    /// The parameters of a launch as PTX lays them out.
    ///
    /// # Safety
    /// There is an address for each parameter, and at each as many bytes as it has.
    pub unsafe fn pack(&self, addresses: &[*const u8]) -> Vec<u8> {
        let function = self.code.function();
        let (offsets, bytes) = parameter_offsets(function);
        let mut packed = vec![0; bytes as usize];
        for ((parameter, offset), address) in function.parameters.iter().zip(offsets).zip(addresses)
        {
            let to = &mut packed[offset as usize..][..parameter.bytes as usize];
            // SAFETY: the caller's contract.
            unsafe { to.as_mut_ptr().copy_from_nonoverlapping(*address, to.len()) };
        }
        packed
    }

    /// Runs the kernel once for each thread of the grid, and returns when all have ended. A grid with
    /// no blocks or a block with no threads runs nothing. `print` is given what the kernel prints. With
    /// checks it runs on one core, so that a finding is the same each time, and ends with the first.
    ///
    /// # Errors
    /// See [`LaunchError`]. Blocks that have not begun when a thread fails are not run.
    pub fn launch(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
    ) -> Result<(), LaunchError> {
        let expected = parameter_offsets(self.code.function()).1;
        if expected as usize != parameters.len() {
            let (kernel, given) = (self.name().to_owned(), parameters.len());
            return Err(LaunchError::Parameters {
                kernel,
                expected,
                given,
            });
        }
        let program = self.code.kernel()?;
        let _running = self.code.memory().running();
        let launch = Launched {
            grid: shape.grid,
            block: shape.block,
            static_shared: self.static_shared(),
            dynamic_shared: shape.dynamic_shared,
            parameters: parameters.to_vec(),
            memory: self.code.memory(),
            print,
            started: Instant::now(),
            multiprocessors: options.multiprocessors,
        };
        if launch.blocks() == 0 || launch.threads_per_block() == 0 {
            return Ok(());
        }
        let layout = Shared::new(&self.code.shared, shape.dynamic_shared, SHARED_GAP);
        let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let failure: Mutex<Option<Box<Failed>>> = Mutex::new(None);
        let choices = options.schedule.choices();
        let cores = match choices {
            None if checks.is_none() => options.cores as u64,
            _ => 1,
        };
        let workers = cores.min(launch.blocks()).max(1);
        // Of 2048 threads a multiprocessor.
        let by_threads = (2048 / u64::from(launch.threads_per_block())).max(1);
        let by_threads = by_threads * u64::from(options.multiprocessors);
        let resident = match options.resident_blocks {
            u64::MAX => launch.blocks(),
            most => most.min(by_threads),
        };
        let resident = resident.div_ceil(workers) as usize;
        let work = |checking| {
            let code = Code::new(&self.code, program.clone(), options.steps, choices.as_ref());
            let next = || {
                let index = next.fetch_add(1, Ordering::Relaxed);
                (index < launch.blocks()).then_some(index)
            };
            let crew = Crew {
                launch: &launch,
                layout: &layout,
                code: &code,
                resident,
            };
            let ran = match &code.director {
                None => worker::work(&crew, checking, &next, &stop),
                Some(director) => directed::work(&crew, checking, director),
            };
            if let Err(failed) = ran {
                stop.store(true, Ordering::Relaxed);
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(failed);
            }
        };
        match checks {
            Some(Checks { checker, operation }) => {
                let shape = check::Shape {
                    program: self.code.number(),
                    threads: launch.threads_per_block(),
                    blocks_per_cluster: 1,
                };
                let id = checker.launch(operation, shape);
                work(Some(Checking {
                    checker: &mut *checker,
                    launch: id,
                    block: None,
                }));
                checker.end_launch(id);
            }
            None => std::thread::scope(|scope| {
                for _ in 1..workers {
                    // Where there are no more threads, those that there are do its work.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, || work(None));
                }
                work(None);
            }),
        }
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failed) => Err(self.error(*failed, shape)),
            None => Ok(()),
        }
    }

    /// A failure as the host is told of it.
    fn error(&self, failed: Failed, shape: Shape) -> LaunchError {
        let (code, kernel) = (&self.code, self.name().to_owned());
        let function = code.function_of(&failed.function).unwrap_or(u32::MAX);
        let place = code.place_in(function, failed.instruction);
        let access = code.access_of(function, failed.instruction);
        let thread = failed.thread;
        match failed.failure {
            Failure::Check(mut finding) => {
                let (function, instruction) = of_site(finding.now.instruction);
                if let Some((_, bytes)) = code.access_of(function, instruction) {
                    finding.place.count_elements_of(bytes);
                }
                let text = finding.text(|side| self.whom(side, shape));
                LaunchError::Found {
                    kernel,
                    text,
                    finding: Some(finding),
                }
            }
            Failure::Memory(mut fault) => {
                let (verb, bytes) = access.unwrap_or(("reaches", 1));
                fault.place.count_elements_of(bytes);
                let (class, at) = (fault.class.name(), &fault.place);
                let mut text = format!("{class}: {thread} {verb} {at} at {place}");
                if fault.class == FaultClass::Misaligned {
                    text += &format!(", with an alignment of {} bytes", fault.bytes);
                }
                LaunchError::Found {
                    kernel,
                    text,
                    finding: None,
                }
            }
            failure @ Failure::Stuck { .. } => LaunchError::Found {
                kernel,
                text: format!("{failure}, at {place}"),
                finding: None,
            },
            failure => LaunchError::Thread {
                kernel,
                thread,
                failure: Box::new(failure),
                place,
            },
        }
    }

    /// Who a side of a finding is, and where its instruction is from.
    fn whom(&self, side: &Side, shape: Shape) -> (String, String) {
        let (function, instruction) = of_site(side.instruction);
        let is_own = side.program == self.code.number();
        let who = match side.agent {
            Agent::Thread { block, thread } if is_own => Thread {
                block: coordinates(block, shape.grid),
                thread: coordinates(thread.into(), shape.block),
            }
            .to_string(),
            agent => agent.to_string(),
        };
        let place = match side.agent {
            Agent::Host => "the host's own code".to_owned(),
            _ if is_own => self.code.place_in(function, instruction),
            _ => "another module".to_owned(),
        };
        (who, place)
    }
}
