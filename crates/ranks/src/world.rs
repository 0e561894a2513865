//! Which rank this process is, as its launcher says.

mod launcher;
pub(crate) mod secret;

use std::env;
use std::num::NonZeroU16;

use launcher::Launcher;
use secret::Secret;

/// Which rank this process is, and of how many, as the environment variables of its launcher say.
///
/// ```
/// use ranks::{World, WorldError};
///
/// // What `mpirun -n 4` of Open MPI says to its second process.
/// let world = World::of(|name| match name {
///     "OMPI_COMM_WORLD_RANK" => Some("1".to_owned()),
///     "OMPI_COMM_WORLD_SIZE" => Some("4".to_owned()),
///     "OMPI_COMM_WORLD_LOCAL_RANK" => Some("1".to_owned()),
///     _ => None,
/// })?.expect("a launcher");
/// assert_eq!((world.rank(), world.size(), world.local_rank()), (1, 4, 1));
/// assert_eq!(world.launcher(), "Open MPI");
/// // It names neither the run nor an address of rank 0.
/// assert_eq!((world.job(), world.master()), (None, None));
/// // Without a launcher there is none.
/// assert_eq!(World::of(|_| None)?, None);
/// # Ok::<(), WorldError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    rank: usize,
    size: usize,
    local_rank: usize,
    launcher: &'static str,
    job: Option<String>,
    master: Option<(String, u16)>,
    secret: Option<Secret>,
}

/// A fault of the environment variables of a launcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// One of two variables is set.
    #[error("{set} is set, and {missing} is not: start all ranks by a launcher, or unset {set}")]
    HalfSet {
        /// The variable that is set.
        set: &'static str,
        /// The variable that is not.
        missing: &'static str,
    },

    /// A variable is no number, or one that cannot be.
    #[error("{variable}={value:?}: expected {expected}")]
    Unusable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The values that are expected.
        expected: String,
    },

    /// Two launchers say different things.
    #[error(
        "{first} says rank {} of {}, and {second} rank {} of {}: unset the variables of one of them",
        .ranks[0].0, .ranks[0].1, .ranks[1].0, .ranks[1].1
    )]
    Disagreeing {
        /// A launcher.
        first: &'static str,
        /// Another launcher.
        second: &'static str,
        /// Rank and number of ranks, as each of them says.
        ranks: [(usize, usize); 2],
    },
}

impl World {
    /// Which rank this process is, by its environment; `None` where no launcher started it.
    ///
    /// A job of Slurm is no launcher, but `srun` in it is. Where ranks are started by a launcher that Slurm has
    /// started, as `mpirun` in a job, the ranks are its own.
    ///
    /// ```
    /// use ranks::World;
    ///
    /// match World::from_env()? {
    ///     Some(world) => println!("rank {} of {}, by {}", world.rank(), world.size(), world.launcher()),
    ///     None => println!("one process, which drives all devices"),
    /// }
    /// # Ok::<(), ranks::WorldError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError`]: variables are half set, are no numbers or contradict each other.
    pub fn from_env() -> Result<Option<World>, WorldError> {
        World::of(|name| env::var(name).ok())
    }

    /// As [`World::from_env`], where `lookup` is asked for the variables.
    ///
    /// # Errors
    /// As [`World::from_env`].
    pub fn of(lookup: impl Fn(&str) -> Option<String>) -> Result<Option<World>, WorldError> {
        let lookup = |name: &str| lookup(name).filter(|it| !it.is_empty());
        let Some(found) = launcher::of(&lookup)? else {
            return Ok(None);
        };
        let local_rank = launcher::local_rank(&lookup, found)?;
        let (launcher, rank, size) = found;
        let job: Vec<String> = launcher.job.iter().filter_map(|it| lookup(it)).collect();
        Ok(Some(World {
            rank,
            size,
            local_rank: local_rank.unwrap_or(rank),
            launcher: launcher.name,
            job: (!job.is_empty()).then(|| as_file_name(&job.join("."))),
            master: master(&lookup, launcher)?,
            secret: Secret::of(&lookup),
        }))
    }

    /// A rank of so many, for programs that know it by themselves.
    ///
    /// ```
    /// use ranks::World;
    ///
    /// let world = World::new(2, 3)?;
    /// assert_eq!((world.rank(), world.size(), world.local_rank()), (2, 3, 2));
    /// assert_eq!(
    ///     World::new(3, 3).unwrap_err().to_string(),
    ///     "rank=\"3\": expected a number from 0 to 2"
    /// );
    /// # Ok::<(), ranks::WorldError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Unusable`]: the rank is not below the number of ranks.
    pub fn new(rank: usize, size: usize) -> Result<World, WorldError> {
        if rank >= size {
            return Err(launcher::unusable("rank", rank.to_string(), Some(size)));
        }
        Ok(World {
            rank,
            size,
            local_rank: rank,
            launcher: "this program",
            job: None,
            master: None,
            secret: None,
        })
    }

    /// This process, counted from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// This process among those of its host, counted from 0. Where the launcher does not say it, all ranks count as one
    /// host's. [`World::device_of`] says which of the host's devices is its own.
    pub fn local_rank(&self) -> usize {
        self.local_rank
    }

    /// Which of `devices` devices that this process sees is its own, counted from 0; `None` where it sees none.
    ///
    /// A process that sees all devices of its host has the one of its number. One that sees fewer has been given them by
    /// its launcher, as by `srun --gpus-per-task=1`, and each process counts its own from 0. [`run_process`](crate::run_process)
    /// refuses GPUs that two processes have taken.
    ///
    /// ```
    /// use ranks::World;
    ///
    /// let world = World::new(2, 3)?;
    /// assert_eq!([8, 2, 1, 0].map(|devices| world.device_of(devices)), [Some(2), Some(0), Some(0), None]);
    /// # Ok::<(), ranks::WorldError>(())
    /// ```
    pub fn device_of(&self, devices: usize) -> Option<usize> {
        self.local_rank.checked_rem(devices)
    }

    /// Who started the ranks: "Slurm", "Open MPI", "MPI (PMI)" or "torchrun".
    pub fn launcher(&self) -> &'static str {
        self.launcher
    }

    /// The launcher's name for this run, if it has one. Files of the run may have it in their names.
    pub fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// The secret by which rank 0 knows the others where they meet at an address, if `RIDGEPOINT_SECRET` or `RIDGEPOINT_SECRET_FILE`
    /// say it.
    pub(crate) fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    /// Where rank 0 can be found, if `MASTER_ADDR` and `MASTER_PORT` say it and the port is not the launcher's own.
    pub fn master(&self) -> Option<(&str, u16)> {
        let (host, port) = self.master.as_ref()?;
        Some((host, *port))
    }
}

/// The address that PyTorch's launchers name.
fn master(
    lookup: &impl Fn(&str) -> Option<String>,
    launcher: &Launcher,
) -> Result<Option<(String, u16)>, WorldError> {
    const HOST: &str = "MASTER_ADDR";
    const PORT: &str = "MASTER_PORT";
    // torchrun's agent listens at that port itself.
    let is_taken = lookup("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|it| it == "True");
    if launcher.name == launcher::TORCHRUN && is_taken {
        return Ok(None);
    }
    let half = |set, missing| Err(WorldError::HalfSet { set, missing });
    match (lookup(HOST), lookup(PORT)) {
        (None, None) => Ok(None),
        (Some(_), None) => half(HOST, PORT),
        (None, Some(_)) => half(PORT, HOST),
        (Some(host), Some(port)) => match port.parse::<NonZeroU16>() {
            Ok(number) => Ok(Some((host, number.get()))),
            Err(_) => Err(WorldError::Unusable {
                variable: PORT,
                value: port,
                expected: format!("a number from 1 to {}", u16::MAX),
            }),
        },
    }
}

/// A job's name as a part of a file's.
fn as_file_name(job: &str) -> String {
    let plain = |it: char| match it.is_ascii_alphanumeric() || "._-".contains(it) {
        true => it,
        false => '_',
    };
    job.chars().map(plain).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<World>, WorldError> {
        World::of(|name| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn ranks(variables: &[(&str, &str)]) -> Option<(usize, usize, usize, &'static str)> {
        let world = of(variables).expect("a world that can be")?;
        Some((world.rank, world.size, world.local_rank, world.launcher))
    }

    const STEP: [(&str, &str); 5] = [
        ("SLURM_JOB_ID", "77"),
        ("SLURM_STEP_ID", "3"),
        ("SLURM_PROCID", "5"),
        ("SLURM_NTASKS", "8"),
        ("SLURM_LOCALID", "1"),
    ];

    #[test]
    fn each_launcher_is_understood() {
        assert_eq!(ranks(&STEP), Some((5, 8, 1, "Slurm")));
        assert_eq!(
            of(&STEP).expect("a world").expect("one").job(),
            Some("77.3")
        );
        let hydra = [
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "2"),
            ("MPI_LOCALRANKID", "0"),
        ];
        assert_eq!(ranks(&hydra), Some((1, 2, 0, "MPI (PMI)")));
        let torch = [
            ("RANK", "2"),
            ("WORLD_SIZE", "4"),
            ("LOCAL_RANK", "0"),
            ("MASTER_ADDR", "node-1"),
            ("MASTER_PORT", "29500"),
        ];
        assert_eq!(ranks(&torch), Some((2, 4, 0, "torchrun")));
        let world = of(&torch).expect("a world").expect("one");
        assert_eq!(world.master(), Some(("node-1", 29500)));
        let agent = [&torch[..], &[("TORCHELASTIC_USE_AGENT_STORE", "True")]].concat();
        assert_eq!(of(&agent).expect("a world").expect("one").master(), None);
    }

    #[test]
    fn a_job_of_slurm_without_srun_is_no_launcher() {
        // salloc; sbatch's script; the shell that salloc starts as a step of its own.
        let allocation = [("SLURM_JOB_ID", "77"), ("SLURM_NTASKS", "8")];
        assert_eq!(ranks(&allocation), None);
        let script = [&allocation[..], &[("SLURM_PROCID", "0")]].concat();
        assert_eq!(ranks(&script), None);
        for special in ["4294967290", "4294967291"] {
            let shell = [&script[..], &[("SLURM_STEP_ID", special)]].concat();
            assert_eq!(ranks(&shell), None);
        }
    }

    #[test]
    fn the_launcher_that_slurm_started_says_who_the_ranks_are() {
        let open_mpi = [
            ("OMPI_COMM_WORLD_RANK", "0"),
            ("OMPI_COMM_WORLD_SIZE", "16"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        ];
        let nested = [&STEP[..], &open_mpi].concat();
        assert_eq!(ranks(&nested), Some((0, 16, 0, "Open MPI")));
        let torch = [("RANK", "9"), ("WORLD_SIZE", "16"), ("LOCAL_RANK", "1")];
        let elastic = [&nested[..], &torch, &[("TORCHELASTIC_RUN_ID", "a b/c")]].concat();
        assert_eq!(ranks(&elastic), Some((9, 16, 1, "torchrun")));
        assert_eq!(
            of(&elastic).expect("a world").expect("one").job(),
            Some("a_b_c")
        );
        let error = of(&[&open_mpi[..], &torch].concat()).expect_err("they disagree");
        assert_eq!(
            error.to_string(),
            "torchrun says rank 9 of 16, and Open MPI rank 0 of 16: unset the variables of one of them"
        );
        let same = [&open_mpi[..], &[("PMI_RANK", "0"), ("PMI_SIZE", "16")]].concat();
        assert_eq!(ranks(&same), Some((0, 16, 0, "Open MPI")));
    }

    /// The variables that Slurm 22.05 sets on the second of two hosts with `srun --mpi=pmi2`, and a script that prepares for PyTorch.
    #[test]
    fn slurm_knows_the_place_on_its_host_of_tasks_that_other_variables_number() {
        let pmi2 = [("PMI_RANK", "5"), ("PMI_SIZE", "8"), ("PMI_JOBID", "77.3")];
        let direct = [&STEP[..], &pmi2].concat();
        assert_eq!(ranks(&direct), Some((5, 8, 1, "MPI (PMI)")));
        let torch = [&STEP[..], &[("RANK", "5"), ("WORLD_SIZE", "8")]].concat();
        assert_eq!(ranks(&torch), Some((5, 8, 1, "torchrun")));
        // Hydra's proxies are tasks of a step, and its ranks are not.
        let hydra = [&STEP[..], &[("PMI_RANK", "5"), ("PMI_SIZE", "9")]].concat();
        assert_eq!(ranks(&hydra), Some((5, 9, 5, "MPI (PMI)")));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_variable_its_value_and_the_limit() {
        let refused = |variables: &[(&str, &str)]| of(variables).expect_err("refused").to_string();
        assert_eq!(
            refused(&[("PMI_RANK", "2"), ("PMI_SIZE", "2")]),
            "PMI_RANK=\"2\": expected a number from 0 to 1"
        );
        assert_eq!(
            refused(&[("PMI_RANK", "0"), ("PMI_SIZE", "0")]),
            "PMI_SIZE=\"0\": expected a number from 1 to 1000000"
        );
        assert_eq!(
            refused(&[("RANK", "two"), ("WORLD_SIZE", "2")]),
            "RANK=\"two\": expected a number from 0 to 1"
        );
        assert_eq!(
            refused(&[("WORLD_SIZE", "2")]),
            "WORLD_SIZE is set, and RANK is not: start all ranks by a launcher, or unset WORLD_SIZE"
        );
        let step = [("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "0")];
        assert!(refused(&step).starts_with("SLURM_PROCID is set, and SLURM_NTASKS is not"));
        let ranks = [("RANK", "0"), ("WORLD_SIZE", "2")];
        let with = |more: &[(&'static str, &'static str)]| refused(&[&ranks[..], more].concat());
        assert_eq!(
            with(&[("LOCAL_RANK", "2")]),
            "LOCAL_RANK=\"2\": expected a number from 0 to 1"
        );
        assert!(with(&[("MASTER_ADDR", "a")]).starts_with("MASTER_ADDR is set, and MASTER_PORT"));
        for port in ["0", "x", "65536"] {
            let error = with(&[("MASTER_ADDR", "a"), ("MASTER_PORT", port)]);
            assert!(error.starts_with("MASTER_PORT="), "{error}");
        }
    }
}
