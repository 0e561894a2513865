//! Ranks as threads of one process.

use std::any::Any;
use std::borrow::Borrow;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use ridgepoint_driver::Device;

use crate::control::{Control, connected};
use crate::error::{Fault, RankError, system};
use crate::limits::Limits;
use crate::rank::Rank;

/// Why ranks that ran together failed.
///
/// ```
/// use ranks::{Limits, RunError, run_threads};
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
/// let devices = (0..3).map(open).collect::<Result<Vec<_>, _>>()?;
/// let result = run_threads(&devices, Limits::default(), |rank| match rank.rank() {
///     1 => Err("no disk".to_owned()),
///     _ => rank.control().barrier().map_err(|error| error.to_string()),
/// });
/// let Err(RunError::Failed { rank: 1, error }) = result else {
///     panic!("rank 1 is the first to fail");
/// };
/// assert_eq!(error, "no disk");
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError<E> {
    /// The ranks did not come together.
    #[error(transparent)]
    Meeting(RankError),

    /// A rank failed. Where the ranks are threads of this process, it is the one that failed first.
    #[error("rank {rank}: {error}")]
    Failed {
        /// Which one.
        rank: usize,
        /// Its error.
        error: E,
    },

    /// A rank panicked.
    #[error("rank {rank} panicked: {message}")]
    Panicked {
        /// Which one.
        rank: usize,
        /// The panic's message.
        message: String,
    },
}

/// Runs `work` for each device on a thread of its own: the devices' ranks are their places. When one fails
/// or panics, it is lost to the others.
///
/// ```
/// use ranks::{Limits, RankError, Reduction, run_threads};
/// use ridgepoint_driver::{Device, DeviceChoice, Stream};
///
/// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
/// let devices = (0..4).map(open).collect::<Result<Vec<_>, _>>()?;
/// let sums = run_threads(&devices, Limits::default(), |rank| {
///     let communicator = rank.communicator()?;
///     let stream = Stream::new(rank.device())?;
///     let mut sum = rank.device().buffer_filled(100, 1.5f32)?;
///     // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
///     unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut sum, ..) }?;
///     communicator.synchronize(&stream)?;
///     Ok::<_, RankError>(sum.to_vec()?)
/// })?;
/// assert_eq!(sums, vec![vec![6.0; 100]; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError::Failed`], [`RunError::Panicked`]: a rank did, the first if there are several.
/// [`RunError::Meeting`]: there is no device, or the system gives no thread.
pub fn run_threads<T: Send, E: Display + Send>(
    devices: &[impl Borrow<Device> + Sync],
    limits: Limits,
    work: impl Fn(Rank<'_>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, RunError<E>> {
    if devices.is_empty() {
        let none = "no devices: there is a rank for each, and none to begin with";
        return Err(RunError::Meeting(RankError::Disagreeing(none.to_owned())));
    }
    let (controls, hub) = connected(devices.len(), limits);
    let results = thread::scope(|scope| {
        let work = &work;
        let mut threads = Vec::with_capacity(devices.len());
        for (device, control) in devices.iter().zip(controls) {
            let named = thread::Builder::new().name(format!("rank-{}", control.rank()));
            // A thread that cannot be started drops its connection: the others do not wait for it.
            threads.push(named.spawn_scoped(scope, move || run(device.borrow(), control, work)));
        }
        let join = |thread: std::io::Result<thread::ScopedJoinHandle<'_, Ended<T, E>>>| {
            let thread = thread.map_err(system("start the thread of a rank"))?;
            Ok(thread.join().unwrap_or_else(Ended::Panicked))
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    let first = match hub.fault() {
        Some(Fault::Lost { rank, .. }) => Some(rank),
        _ => None,
    };
    gathered(results, first)
}

/// How a rank's thread ended.
enum Ended<T, E> {
    Done(T),
    Failed(E),
    Panicked(Box<dyn Any + Send>),
}

fn run<T, E: Display>(
    device: &Device,
    control: Control,
    work: impl Fn(Rank<'_>) -> Result<T, E>,
) -> Ended<T, E> {
    let rank = Rank::new(device, control.clone());
    // What a panic leaves behind is dropped with the rank, or as it is for any thread.
    match catch_unwind(AssertUnwindSafe(|| work(rank))) {
        Ok(Ok(result)) => Ended::Done(result),
        Ok(Err(error)) => {
            control.fail(&error.to_string());
            Ended::Failed(error)
        }
        Err(panic) => {
            control.fail(&format!("it panicked: {}", message(&*panic)));
            Ended::Panicked(panic)
        }
    }
}

/// The results in the order of the ranks, or what the first fault was.
fn gathered<T, E>(
    results: Vec<Result<Ended<T, E>, RankError>>,
    first: Option<usize>,
) -> Result<Vec<T>, RunError<E>> {
    let mut done = Vec::with_capacity(results.len());
    let mut failed: Option<(usize, RunError<E>)> = None;
    for (rank, result) in results.into_iter().enumerate() {
        let error = match result {
            Ok(Ended::Done(result)) => {
                done.push(result);
                continue;
            }
            Ok(Ended::Failed(error)) => RunError::Failed { rank, error },
            Ok(Ended::Panicked(panic)) => RunError::Panicked {
                rank,
                message: message(&*panic),
            },
            Err(error) => RunError::Meeting(error),
        };
        if failed.is_none() || first == Some(rank) {
            failed = Some((rank, error));
        }
    }
    match failed {
        None => Ok(done),
        Some((_, error)) => Err(error),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
