//! `--devices`: a study on several devices, each with a rank that is a thread or a process.

mod norm;
mod power;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ranks::{Limits, Rank, RunError, World, run_process, run_threads};

pub(super) use norm::run as norm;
pub(super) use power::run as power;

use super::lists::real;
use super::study::{Common, Rows, study_failure};
use super::{Failure, driver_failure, modes};
use crate::driver::{Device, DeviceChoice, DriverError, gpus};
use crate::report::counted;
use crate::study::StudyError;
use crate::study::devices::{
    DevicesRow, Exchange, Growth, Model, Team, measured_link,
};

/// Emulated devices where there is no GPU and none is named.
const EMULATED: u32 = 2;
/// Numbers of devices that are predicted.
const PREDICTED: [usize; 3] = [4, 8, 16];

#[derive(Args)]
pub(super) struct Arguments {
    /// Devices that share the work, such as cuda:0,cuda:1 or cpu:0,cpu:1; all is every GPU, or two emulated devices where there is none.
    /// Under srun, mpirun or torchrun each process takes one of them
    #[arg(long, value_name = "LIST", value_parser = listed, conflicts_with = "device")]
    devices: Option<Listed>,

    /// How the devices exchange their parts of the vector [default: all that the devices can]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = modes::exchange(), requires = "devices")]
    exchange: Vec<Exchange>,

    /// What grows with the number of devices
    #[arg(long, value_name = "SCALING", value_parser = modes::growth(), default_value = "strong")]
    scaling: Growth,

    /// Directory that the processes of a launcher find each other in, which all of them see
    #[arg(long, value_name = "DIR", requires = "devices")]
    rendezvous: Option<PathBuf>,

    /// Seconds after which a silent device or process is lost, and the others end
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0,
          value_parser = real("a number from 0.1 to 3600, such as 10", |it| (0.1..=3600.0).contains(&it)))]
    fault_timeout: f64,
}

/// What `--devices` names.
#[derive(Clone, Debug, PartialEq)]
enum Listed {
    All,
    These(Vec<DeviceChoice>),
}

fn listed(text: &str) -> Result<Listed, String> {
    if text == "all" {
        return Ok(Listed::All);
    }
    let these = text.split(',').map(str::parse).collect::<Result<Vec<DeviceChoice>, _>>()?;
    match these.iter().enumerate().find(|(i, it)| these[..*i].contains(it)) {
        Some((_, twice)) => Err(format!("{twice} is named twice: a device has one rank")),
        None => Ok(Listed::These(these)),
    }
}

impl Arguments {
    /// Whether the study is one of several devices.
    pub(super) fn are_given(&self) -> bool {
        self.devices.is_some()
    }

    fn limits(&self) -> Limits {
        Limits::of(Duration::from_secs_f64(self.fault_timeout))
    }

    /// The devices of this process: all that are named, or the one of its rank.
    fn open(&self, world: Option<&World>) -> Result<Vec<Device>, Failure> {
        let all = match &self.devices {
            Some(Listed::These(these)) => these.clone(),
            Some(Listed::All) | None => every(world)?,
        };
        let own = match world {
            None => all,
            Some(world) => {
                let local = world.local_rank();
                let own = all.get(local).cloned().ok_or_else(|| {
                    Failure::Usage(format!(
                        "rank {} is process {local} of its host, and there are {} there: start as many processes per host",
                        world.rank(),
                        counted(all.len() as u64, "device"),
                    ))
                })?;
                vec![own]
            }
        };
        let open = |choice: &DeviceChoice| crate::kernels::open(choice).map_err(driver_failure);
        own.iter().map(open).collect()
    }

    /// The exchanges that are asked for, or all that are possible.
    fn exchanges(&self, team: &Team<'_, '_>) -> Result<Vec<Exchange>, StudyError> {
        const ALL: [Exchange; 3] = [Exchange::Gather, Exchange::Graph, Exchange::Peer];
        if self.exchange.is_empty() {
            return Ok(ALL.into_iter().filter(|&it| team.can(it)).collect());
        }
        match self.exchange.iter().find(|&&it| !team.can(it)) {
            Some(Exchange::Graph) => Err(StudyError::Refused(
                "--exchange graph: emulated devices have no collectives in graphs; choose gather or peer".to_owned(),
            )),
            Some(other) => Err(StudyError::Refused(format!(
                "--exchange {other}: the devices belong to several processes, which do not reach each other's memory; choose gather or \
                 graph, or name all devices in one process"
            ))),
            None => Ok(self.exchange.clone()),
        }
    }

    /// Numbers of devices that are measured, of so many: powers of two, and all.
    fn counts(&self, all: usize) -> Vec<usize> {
        let powers = (1..).map(|power| 1 << power).take_while(|&count| count < all);
        powers.chain([all]).collect()
    }
}

/// Every GPU, or emulated devices: one for each process of a launcher.
fn every(world: Option<&World>) -> Result<Vec<DeviceChoice>, Failure> {
    match gpus() {
        Ok(all) => Ok((0..all.len() as u32).map(DeviceChoice::Cuda).collect()),
        Err(DriverError::NoDriver(_) | DriverError::NoGpu) => {
            let count = world.map_or(EMULATED, |world| world.size() as u32);
            Ok((0..count).map(DeviceChoice::CpuNumber).collect())
        }
        Err(error) => Err(driver_failure(error)),
    }
}

/// The launcher's world, if there is one of several processes.
fn world() -> Result<Option<World>, Failure> {
    let world = World::from_env().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(world.filter(|world| world.size() > 1))
}

fn run_failure(error: RunError<StudyError>) -> Failure {
    match error {
        RunError::Failed { rank, error } => match study_failure(error) {
            Failure::Usage(message) => Failure::Usage(message),
            Failure::Failed(message) => Failure::Failed(format!("rank {rank}: {message}")),
            other => other,
        },
        other => Failure::failed(other),
    }
}
