//! Where ranks are: on which devices, in one process or in the processes of a launcher.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use ranks::{Limits, Rank, RunError, World, run_process, run_threads};

use super::locked;
use crate::cli::device_list::DeviceList;
use crate::cli::option_values::{real, refuse_without_effect};
use crate::cli::tracing::Process;
use crate::cli::{Failure, driver_failure};
use crate::driver::{Device, DeviceChoice};
use crate::report::counted;

/// Emulated devices where there is no GPU and none is named.
const EMULATED: u32 = 2;

#[derive(Args)]
pub(in crate::cli) struct Places {
    /// Devices that share the work, such as cuda:0,cuda:1 or cpu:0,cpu:1; all is every GPU, or two emulated devices where there is none.
    /// Under srun, mpirun or torchrun each process takes one of them
    #[arg(long, value_name = "LIST", conflicts_with = "device")]
    devices: Option<DeviceList>,

    /// Directory in which the processes of a launcher find each other: all of them must see it
    #[arg(long, value_name = "DIR")]
    rendezvous: Option<PathBuf>,

    /// Seconds after which a silent device or process is lost, and the others end [default: 10]
    #[arg(long, value_name = "SECONDS",
          value_parser = real("a number from 0.1 to 3600, such as 10", |it| (0.1..=3600.0).contains(&it)))]
    fault_timeout: Option<f64>,
}

impl Places {
    /// Whether devices are named.
    ///
    /// # Errors
    /// They are not, and an option is given that is of several devices alone.
    pub(super) fn are_given(&self) -> Result<bool, Failure> {
        let given = [
            ("--rendezvous", self.rendezvous.is_some()),
            ("--fault-timeout", self.fault_timeout.is_some()),
        ];
        match self.devices {
            Some(_) => Ok(true),
            None => refuse_without_effect(&given, "without --devices").map(|()| false),
        }
    }

    /// The launcher's world, if there is one of several processes, or of one that is to meet them: a number of processes that
    /// happens to be 1 changes nothing else. A single process without a rendezvous drives all devices, as under `srun` in a shell of
    /// `salloc`.
    ///
    /// # Errors
    /// The launcher's variables contradict each other, or processes are to meet and no launcher has started this one.
    pub(in crate::cli) fn world(&self) -> Result<Option<World>, Failure> {
        let world = World::from_env().map_err(|error| Failure::Usage(error.to_string()))?;
        if world.is_none() && self.rendezvous.is_some() {
            return Err(Failure::Usage(
                "--rendezvous: no launcher has started this process, so that no other would come: put srun, mpirun or torchrun before \
                 the command, also in the script of a Slurm job"
                    .to_owned(),
            ));
        }
        Ok(world.filter(|world| world.size() > 1 || self.rendezvous.is_some()))
    }

    /// Which of a launcher's processes this one is.
    pub(in crate::cli) fn process(&self) -> Result<Process, Failure> {
        Ok(match self.world()?.is_none_or(|world| world.rank() == 0) {
            true => Process::First,
            false => Process::Other,
        })
    }

    /// The devices of this process: all that are named, or the one of its rank.
    pub(in crate::cli) fn open(&self, world: Option<&World>) -> Result<Vec<Device>, Failure> {
        let emulated = world.map_or(EMULATED, |world| world.size() as u32);
        let all = match &self.devices {
            Some(devices) => devices.choices(emulated)?,
            None => DeviceList::All.choices(emulated)?,
        };
        let own = match world {
            None => all,
            Some(world) => vec![of_process(world, &all)?],
        };
        let open = |choice: &DeviceChoice| crate::kernels::open(choice).map_err(driver_failure);
        own.iter().map(open).collect()
    }

    /// Does `work` for each rank of this process: a thread for each of the devices, or this process's own with the only device.
    pub(in crate::cli) fn run(
        &self,
        world: Option<&World>,
        devices: &[Device],
        work: impl Fn(&Rank<'_>) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        let given = self.fault_timeout.map(Duration::from_secs_f64);
        let limits = given.map_or_else(Limits::default, Limits::of);
        // Why a rank has failed, in full.
        let failures = Mutex::new(Vec::new());
        let told = |rank: Rank<'_>| {
            work(&rank).map_err(|failure| {
                let text = failure.text();
                locked(&failures).push((rank.rank(), failure));
                text
            })
        };
        let ran = match world {
            None => run_threads(devices, limits, told).map(|_| ()),
            Some(world) => {
                run_process(world, self.rendezvous.as_deref(), &devices[0], limits, told)
            }
        };
        let failed = |error: RunError<String>| match error {
            RunError::Failed { rank, error } => {
                let own = locked(&failures).extract_if(.., |it| it.0 == rank).next();
                match own {
                    Some((_, Failure::Failed(text))) => {
                        Failure::Failed(format!("rank {rank}: {text}"))
                    }
                    Some((_, other)) => other,
                    None => Failure::Failed(format!("rank {rank}: {error}")),
                }
            }
            other => Failure::failed(other),
        };
        ran.map_err(failed)
    }
}

/// The device of a launcher's process. GPUs that are fewer than the host's processes are those that the launcher lets this one
/// see; `run_process` refuses a GPU that two have. Emulated devices are named, or as many as there are processes.
fn of_process(world: &World, all: &[DeviceChoice]) -> Result<DeviceChoice, Failure> {
    let local = world.local_rank();
    let are_gpus = all.iter().all(|it| matches!(it, DeviceChoice::Cuda(_)));
    let own = match are_gpus {
        true => world.device_of(all.len()),
        false => Some(local),
    };
    own.and_then(|own| all.get(own)).cloned().ok_or_else(|| {
        Failure::Usage(format!(
            "rank {} is process {local} of its host, counted from 0, which has {}: start no more processes per host than it has devices",
            world.rank(),
            counted(all.len() as u64, "device"),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_takes_the_gpu_of_its_number_or_one_that_its_launcher_has_given_it() {
        let second = World::new(1, 2).expect("a rank");
        let gpus: Vec<_> = (0..8).map(DeviceChoice::Cuda).collect();
        let of = |all: &[DeviceChoice]| of_process(&second, all).map_err(|it| it.text());
        assert_eq!(of(&gpus), Ok(DeviceChoice::Cuda(1)));
        // srun --gpus-per-task=1
        assert_eq!(of(&gpus[..1]), Ok(DeviceChoice::Cuda(0)));
        let emulated: Vec<_> = (0..2).map(DeviceChoice::CpuNumber).collect();
        assert_eq!(of(&emulated), Ok(DeviceChoice::CpuNumber(1)));
        let error = of(&emulated[..1]).expect_err("one device for two");
        assert!(
            error.starts_with("rank 1 is process 1 of its host"),
            "{error}"
        );
    }
}
