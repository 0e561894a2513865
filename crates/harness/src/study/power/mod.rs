//! Power iteration, with a look at the residual and a checkpoint every few steps: with everything
//! waited for, and with the device never kept waiting.

mod checkpoint;
mod device;
mod folder_lock;
mod shared;
#[cfg(test)]
mod tests;
mod writer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fmt, fs, io, thread};

use serde::Serialize;
use tracing::trace_span;

pub use checkpoint::Checkpoint;
use checkpoint::named;
use device::{Iteration, Look, Steps, finish};
use folder_lock::FolderLock;
pub(crate) use shared::{SharedRun, power_shared, step_alone_us};
use writer::{Counts, Shared, Writer};

use super::StudyError;
use super::rounds::rounded;
use crate::driver::Device;
use crate::driver::trace::captured;

/// The mode of the iteration's steps, copies and files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerMode {
    /// Copy, wait, write, go on.
    Baseline,
    /// Copies, their waits and the files go on beside the next steps.
    Async,
    /// As async, with the steps in graphs.
    Graph,
}

impl fmt::Display for PowerMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PowerMode::Baseline => "baseline",
            PowerMode::Async => "async",
            PowerMode::Graph => "graph",
        })
    }
}

/// The problem that is iterated, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerPlan {
    /// Rows and columns of the matrix, of `f64`.
    pub dim: usize,
    /// The gap between the greatest eigenvalue, which is 1, and the next.
    pub dominance: f64,
    /// Maximum number of steps.
    pub max_steps: u64,
    /// Steps from one look at the residual to the next.
    pub check_every: u64,
    /// A residual below this ends the iteration.
    pub tolerance: f64,
    /// The seed of the matrix and the first vector.
    pub seed: u64,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<PathBuf>,
}

/// How far the iteration is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Rayleigh's quotient.
    pub eigenvalue: f64,
    /// `‖A x - eigenvalue x‖` of the vector of length 1.
    pub residual: f64,
}

/// The result of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerRow {
    /// `baseline`, `async` or `graph`.
    pub mode: String,
    /// Rows and columns.
    pub dim: usize,
    /// Steps before this run.
    pub resumed_at: u64,
    /// Steps until the residual was below the tolerance.
    pub steps: u64,
    /// Rayleigh's quotient.
    pub eigenvalue: f64,
    /// Its distance from the matrix's eigenvalue.
    pub error: f64,
    /// The residual.
    pub residual: f64,
    /// Whether the residual came below the tolerance.
    pub converged: bool,
    /// Milliseconds until the result was known and every checkpoint on the disk.
    pub total_ms: f64,
    /// Of these, milliseconds of the steps on the device, those included that it is at when the host sees the last look.
    pub loop_ms: f64,
    /// Microseconds per step: `loop_ms` over all of its steps, which are more than `steps`.
    pub step_us: f64,
    /// Checkpoints written, each in two forms.
    pub checkpoints: u64,
    /// Checkpoints that newer ones overtook on a slow disk.
    pub superseded: u64,
    /// The device that ran it.
    pub device: String,
    /// Whether the eigenvalue agreed with the matrix's, and the newest checkpoint with the result.
    pub checked: bool,
}

/// Runs the iteration, from the newest checkpoint of the folder if `resume` is one, and checks the
/// result. `on_progress` is told of each look, and may end the iteration with it; its checkpoint is
/// written then.
///
/// # Errors
/// [`StudyError::HasCheckpoints`]: the folder has some, and `resume` is none; [`StudyError::InUse`]: another run writes
/// to it; [`StudyError::NoSteps`]: `resume` is at the last step already; [`StudyError::Io`]: a checkpoint cannot be written;
/// [`StudyError::Wrong`], [`StudyError::Checkpoint`]: the eigenvalue is not the matrix's, or the newest
/// checkpoint not the result; [`StudyError::Driver`]: there is too little memory, or the device refuses a
/// launch, a copy or a capture.
pub fn power(
    device: &Device,
    plan: &PowerPlan,
    mode: PowerMode,
    resume: Option<&Checkpoint>,
    on_progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<PowerRow, StudyError> {
    let _folder = prepare_folder(plan, resume)?;
    let vector = resume.map(|from| &from.vector[..]);
    let mut iteration = trace_span!("make the matrix", color = "gray", payload = plan.dim as u64)
        .in_scope(|| Iteration::alone(device, plan, vector))?;
    let first = resume.map_or(0, |from| from.step);
    let mut on_progress = |progress| Ok(on_progress(progress));
    let ran = captured(|| run(&mut iteration, plan, mode, first, &mut on_progress))?;
    let result = &ran.result;
    Ok(PowerRow {
        mode: mode.to_string(),
        dim: plan.dim,
        resumed_at: first,
        steps: result.step,
        eigenvalue: result.eigenvalue,
        error: (result.eigenvalue - 1.0).abs(),
        residual: result.residual,
        converged: result.residual < plan.tolerance,
        total_ms: rounded(ran.total_ms),
        loop_ms: rounded(ran.loop_ms),
        step_us: rounded(ran.step_us),
        checkpoints: ran.counts.written,
        superseded: ran.counts.superseded,
        device: device.properties().name.clone(),
        checked: true,
    })
}

/// Makes the plan's folder ready for checkpoints, of this run alone until what it returns is dropped.
fn prepare_folder(
    plan: &PowerPlan,
    resume: Option<&Checkpoint>,
) -> Result<Option<FolderLock>, StudyError> {
    let Some(folder) = &plan.checkpoints else {
        return Ok(None);
    };
    fs::create_dir_all(folder).map_err(|error| not_created(folder, error))?;
    let lock = FolderLock::of(folder)?;
    checkpoint::tidy(folder)?;
    match resume.is_none() && Checkpoint::newest(folder)?.is_some() {
        true => Err(StudyError::HasCheckpoints(folder.clone())),
        false => Ok(Some(lock)),
    }
}

/// Says what is in the place of the folder, if it is that.
fn not_created(folder: &Path, error: io::Error) -> io::Error {
    match folder.exists() && !folder.is_dir() {
        true => named("create the folder", folder)(io::Error::new(
            io::ErrorKind::NotADirectory,
            "it is a file; checkpoints need a folder",
        )),
        false => named("create the folder", folder)(error),
    }
}

/// The result of an iteration, which has been checked.
struct Ran {
    result: Checkpoint,
    counts: Counts,
    total_ms: f64,
    loop_ms: f64,
    /// Of all steps in `loop_ms`.
    step_us: f64,
}

/// Runs an iteration from step `first` on.
fn run<S: Steps>(
    iteration: &mut Iteration<'_, S>,
    plan: &PowerPlan,
    mode: PowerMode,
    first: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<Ran, StudyError> {
    if mode == PowerMode::Graph {
        iteration.capture()?;
    }
    let began = Instant::now();
    let (start, before) = (iteration.stream.record()?, iteration.given);
    let mut watch = Watch {
        plan,
        on_progress,
        last: None,
    };
    let counts = match mode {
        PowerMode::Baseline => baseline(iteration, first, &mut watch),
        PowerMode::Async | PowerMode::Graph => overlapped(iteration, first, &mut watch),
    }?;
    if let Some(folder) = &plan.checkpoints {
        checkpoint::keep_names(folder)?;
    }
    let total_ms = began.elapsed().as_secs_f64() * 1e3;
    let loop_ms = match iteration.end()? {
        Some(end) => end.milliseconds_since(&start)?,
        None => 0.0,
    };
    let result = watch.last.ok_or(StudyError::NoSteps {
        from: first,
        last: plan.max_steps,
    })?;
    check(plan, &result)?;
    Ok(Ran {
        result,
        counts,
        total_ms,
        loop_ms,
        step_us: loop_ms * 1e3 / (iteration.given - before) as f64,
    })
}

/// Is told of each look, and says whether the iteration goes on.
type OnProgress<'a> = dyn FnMut(Progress) -> Result<ControlFlow<()>, StudyError> + 'a;

/// The state of the iteration so far.
struct Watch<'a> {
    plan: &'a PowerPlan,
    on_progress: &'a mut OnProgress<'a>,
    last: Option<Checkpoint>,
}

impl Watch<'_> {
    /// Takes a look in, and says whether it is the last.
    fn see(&mut self, step: u64, look: &Look) -> Result<bool, StudyError> {
        let checkpoint = look.checkpoint(self.plan, step);
        let asked = (self.on_progress)(Progress {
            step,
            eigenvalue: checkpoint.eigenvalue,
            residual: checkpoint.residual,
        })?;
        let is_last = checkpoint.residual < self.plan.tolerance || asked.is_break();
        self.last = Some(checkpoint);
        Ok(is_last)
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.last.as_ref().expect("it has seen one")
    }
}

/// The steps at which the iteration is looked at. The vector at `max_steps` is looked at too.
fn looks(plan: &PowerPlan, first: u64) -> impl Iterator<Item = u64> + use<> {
    (first..=plan.max_steps).step_by(plan.check_every as usize)
}

fn baseline<S: Steps>(
    iteration: &mut Iteration<'_, S>,
    first: u64,
    watch: &mut Watch<'_>,
) -> Result<Counts, StudyError> {
    let _range = trace_span!("iterate", color = "blue").entered();
    let mut counts = Counts::default();
    for step in looks(watch.plan, first) {
        let _range = trace_span!("steps", color = "green", payload = step).entered();
        iteration.look(0)?;
        let look = iteration.read(0)?;
        iteration.check(&look)?;
        let is_last = watch.see(step, &look)?;
        iteration.recycle(look);
        if let Some(folder) = &watch.plan.checkpoints {
            watch.checkpoint().write(folder)?;
            counts.written += 1;
        }
        if is_last {
            break;
        }
        iteration.rest()?;
    }
    Ok(counts)
}

/// While the device is at the steps after one look, the host waits for the look before.
fn overlapped<S: Steps>(
    iteration: &mut Iteration<'_, S>,
    first: u64,
    watch: &mut Watch<'_>,
) -> Result<Counts, StudyError> {
    let shared = Shared::new();
    let folder = watch.plan.checkpoints.clone().unwrap_or_default();
    let (plan, writes) = (watch.plan, watch.plan.checkpoints.is_some());
    thread::scope(|scope| {
        let range = trace_span!("iterate", color = "blue").entered();
        let mut writer = writes.then(|| Writer::new(scope, &shared, &folder));
        let mut see =
            |iteration: &mut Iteration<'_, S>, (step, copy)| -> Result<bool, StudyError> {
                let look = trace_span!("wait for a look", color = "red", payload = step)
                    .in_scope(|| finish(copy))?;
                iteration.check(&look)?;
                let is_last = watch.see(step, &look)?;
                iteration.recycle(look);
                if let Some(writer) = &mut writer {
                    writer.submit(watch.checkpoint().clone())?;
                }
                Ok(is_last)
            };
        let mut under_way = None;
        for (slot, step) in (0..).zip(looks(plan, first)) {
            let _range = trace_span!("steps", color = "green", payload = step).entered();
            iteration.look(slot % 2)?;
            let copy = iteration.begin_read(slot % 2)?;
            iteration.rest()?;
            if let Some(before) = under_way.replace((step, copy))
                && see(iteration, before)?
            {
                under_way = None;
                break;
            }
        }
        if let Some(last) = under_way {
            see(iteration, last)?;
        }
        drop(range);
        match writer {
            Some(writer) => {
                trace_span!("wait for the disk", color = "orange").in_scope(|| Ok(writer.finish()?))
            }
            None => Ok(Counts::default()),
        }
    })
}

/// Compares the eigenvalue with the matrix's, and the newest checkpoint with the result.
fn check(plan: &PowerPlan, result: &Checkpoint) -> Result<(), StudyError> {
    const ALLOWED: f64 = 1e-10;
    if result.residual < plan.tolerance {
        // The quotient is nearer than the residual.
        let allowed = ALLOWED.max(plan.tolerance);
        StudyError::check("the eigenvalue", result.eigenvalue, 1.0, allowed)?;
    }
    let Some(folder) = &plan.checkpoints else {
        return Ok(());
    };
    match Checkpoint::newest(folder)? {
        Some(newest) if newest == *result => Ok(()),
        newest => Err(StudyError::Checkpoint {
            step: result.step,
            newest: newest.map(|newest| newest.step),
        }),
    }
}

impl From<io::Error> for StudyError {
    fn from(error: io::Error) -> Self {
        StudyError::Io(error.to_string())
    }
}

/// The newest checkpoint of the plan's folder, to go on from.
///
/// # Errors
/// [`StudyError::NoCheckpoint`]: there is none that is whole; [`StudyError::OtherMatrix`]: it is of another
/// matrix; [`StudyError::Io`]: the folder cannot be listed.
pub fn newest(plan: &PowerPlan) -> Result<Checkpoint, StudyError> {
    let folder = plan.checkpoints.clone().unwrap_or_default();
    let newest = Checkpoint::newest(&folder)?.ok_or(StudyError::NoCheckpoint(folder))?;
    let same = newest.vector.len() == plan.dim
        && newest.seed == plan.seed
        && newest.dominance == plan.dominance;
    if !same {
        return Err(StudyError::OtherMatrix {
            dim: newest.vector.len(),
            seed: newest.seed,
            dominance: newest.dominance,
        });
    }
    Ok(newest)
}
