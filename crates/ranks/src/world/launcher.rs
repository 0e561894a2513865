//! The launchers that are known, by their environment variables.

use super::WorldError;

/// The variables of a launcher.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Launcher {
    pub(super) name: &'static str,
    rank: &'static str,
    /// The first that is set counts.
    size: &'static [&'static str],
    pub(super) local_rank: &'static str,
    /// Those that name the run, as far as they are set.
    pub(super) job: &'static [&'static str],
}

pub(super) const TORCHRUN: &str = "torchrun";

const TORCH: Launcher = Launcher {
    name: TORCHRUN,
    rank: "RANK",
    size: &["WORLD_SIZE"],
    local_rank: "LOCAL_RANK",
    job: &["TORCHELASTIC_RUN_ID"],
};

const OPEN_MPI: Launcher = Launcher {
    name: "Open MPI",
    rank: "OMPI_COMM_WORLD_RANK",
    size: &["OMPI_COMM_WORLD_SIZE"],
    local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
    job: &["PMIX_NAMESPACE"],
};

const PMI: Launcher = Launcher {
    name: "MPI (PMI)",
    rank: "PMI_RANK",
    size: &["PMI_SIZE"],
    local_rank: "MPI_LOCALRANKID",
    job: &["PMI_JOBID"],
};

const SLURM: Launcher = Launcher {
    name: "Slurm",
    rank: "SLURM_PROCID",
    // A job's number of tasks may be in the environment of a step that has another.
    size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
    local_rank: "SLURM_LOCALID",
    job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
};

/// More ranks than any machine has devices.
const MOST_RANKS: usize = 1_000_000;

/// The launcher of this process, its rank, and how many there are.
pub(super) fn of(
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<Option<(&'static Launcher, usize, usize)>, WorldError> {
    let torch = ranks(lookup, &TORCH)?;
    // torchrun starts the ranks itself, whoever has started it.
    if torch.is_some() && lookup("TORCHELASTIC_RUN_ID").is_some() {
        return Ok(torch);
    }
    let inner = [torch, ranks(lookup, &OPEN_MPI)?, ranks(lookup, &PMI)?];
    let mut inner = inner.into_iter().flatten();
    let Some(first) = inner.next() else {
        return step_of_srun(lookup);
    };
    let others = |other: &(&Launcher, usize, usize)| (other.1, other.2) != (first.1, first.2);
    match inner.find(others) {
        None => Ok(Some(first)),
        Some(other) => Err(WorldError::Disagreeing {
            first: first.0.name,
            second: other.0.name,
            ranks: [(first.1, first.2), (other.1, other.2)],
        }),
    }
}

/// The rank among those of its host, as the launcher says, or as Slurm does where the ranks are the tasks of its step:
/// `srun --mpi=pmi2` sets PMI's variables, which have none for that, and so do scripts that set those of torchrun.
pub(super) fn local_rank(
    lookup: &impl Fn(&str) -> Option<String>,
    (launcher, rank, size): (&Launcher, usize, usize),
) -> Result<Option<usize>, WorldError> {
    let own = number(lookup, launcher.local_rank, Some(size))?;
    if own.is_some() {
        return Ok(own);
    }
    match step_of_srun(lookup)? {
        Some((_, task, tasks)) if (task, tasks) == (rank, size) => {
            number(lookup, SLURM.local_rank, Some(size))
        }
        _ => Ok(None),
    }
}

/// A variable's number, if it is set: below `below`, or from 1 to [`MOST_RANKS`].
pub(super) fn number(
    lookup: &impl Fn(&str) -> Option<String>,
    variable: &'static str,
    below: Option<usize>,
) -> Result<Option<usize>, WorldError> {
    let Some(value) = lookup(variable) else {
        return Ok(None);
    };
    let allowed = match below {
        Some(below) => 0..below,
        None => 1..MOST_RANKS + 1,
    };
    match value.trim().parse() {
        Ok(number) if allowed.contains(&number) => Ok(Some(number)),
        _ => Err(unusable(variable, value, below)),
    }
}

pub(super) fn unusable(variable: &'static str, value: String, below: Option<usize>) -> WorldError {
    let expected = match below {
        Some(below) => format!("a number from 0 to {}", below.saturating_sub(1)),
        None => format!("a number from 1 to {MOST_RANKS}"),
    };
    WorldError::Unusable {
        variable,
        value,
        expected,
    }
}

/// Returns the ranks that a launcher says, if it is there.
fn ranks(
    lookup: &impl Fn(&str) -> Option<String>,
    launcher: &'static Launcher,
) -> Result<Option<(&'static Launcher, usize, usize)>, WorldError> {
    let is_set = |name: &&&str| lookup(name).is_some();
    let size = launcher.size.iter().find(is_set).copied();
    let last = launcher.size[launcher.size.len() - 1];
    let (rank, size) = match (lookup(launcher.rank), size) {
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(WorldError::HalfSet {
                set: launcher.rank,
                missing: last,
            });
        }
        (None, Some(set)) => {
            return Err(WorldError::HalfSet {
                set,
                missing: launcher.rank,
            });
        }
        (Some(_), Some(variable)) => {
            let size = number(lookup, variable, None)?.unwrap_or(0);
            (
                number(lookup, launcher.rank, Some(size))?.unwrap_or(0),
                size,
            )
        }
    };
    Ok(Some((launcher, rank, size)))
}

/// A task of `srun`. Slurm sets its variables in jobs without `srun`, too: in the script of `sbatch`, and in the shell of
/// `salloc`, which is a step with one of the last numbers.
fn step_of_srun(
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<Option<(&'static Launcher, usize, usize)>, WorldError> {
    const FIRST_SPECIAL: u32 = 0xffff_fff0;
    let step = lookup("SLURM_STEP_ID").or_else(|| lookup("SLURM_STEPID"));
    let number = step.and_then(|it| it.parse::<u32>().ok());
    match number.is_some_and(|it| it < FIRST_SPECIAL) {
        true => ranks(lookup, &SLURM),
        false => Ok(None),
    }
}
