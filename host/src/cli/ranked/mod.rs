//! `--devices`: a study on several devices, each with a rank that is a thread or a process.

mod norm;
mod power;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ranks::{Limits, Rank, RunError, World, run_process, run_threads};

pub(super) use norm::run as norm;
pub(super) use power::run as power;

use super::console::Console;
use super::interrupt::Interrupt;
use super::lists::{each_once, real};
use super::study::{Common, Rows, study_failure};
use super::{Failure, driver_failure, modes};
use crate::driver::{Device, DeviceChoice, DriverError, gpus};
use crate::report::counted;
use crate::study::StudyError;
use crate::study::devices::{DevicesRow, Exchange, Growth, Model, Team, measured_link};

/// Emulated devices where there is no GPU and none is named.
const EMULATED: u32 = 2;
/// Numbers of devices that are predicted.
const PREDICTED: [usize; 3] = [4, 8, 16];

#[derive(Args)]
pub(super) struct Ranked {
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
    let these = text
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<DeviceChoice>, _>>()?;
    match these
        .iter()
        .enumerate()
        .find(|(i, it)| these[..*i].contains(it))
    {
        Some((_, twice)) => Err(format!("{twice} is named twice: a device has one rank")),
        None => Ok(Listed::These(these)),
    }
}

impl Ranked {
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
    fn exchanges(&self, possible: Possible) -> Result<Vec<Exchange>, Failure> {
        const ALL: [Exchange; 3] = [Exchange::Gather, Exchange::Graph, Exchange::Peer];
        let asked = match self.exchange[..] {
            [] => {
                return Ok(ALL
                    .into_iter()
                    .filter(|&it| possible.refused(it).is_none())
                    .collect());
            }
            _ => each_once(self.exchange.clone()),
        };
        match asked
            .iter()
            .find_map(|&it| Some((it, possible.refused(it)?)))
        {
            Some((exchange, why)) => Err(Failure::Usage(format!("--exchange {exchange}: {why}"))),
            None => Ok(asked),
        }
    }
}

/// What an exchange depends on.
#[derive(Clone, Copy)]
struct Possible {
    in_one_process: bool,
    is_emulated: bool,
}

impl Possible {
    /// Why there is no such exchange.
    fn refused(self, exchange: Exchange) -> Option<&'static str> {
        match exchange {
            Exchange::Graph if self.is_emulated => {
                Some("emulated devices have no collectives in graphs; choose gather or peer")
            }
            Exchange::Peer if !self.in_one_process => Some(
                "the processes of a launcher do not reach each other's memory; choose gather or graph, or name all devices in one process",
            ),
            _ => None,
        }
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

/// A study that several devices share.
trait Study: Sync {
    /// Its size on so many devices.
    fn size(&self, devices: usize, growth: Growth) -> usize;

    /// Bytes that all devices need of each other in a step.
    fn bytes(&self, size: usize) -> f64;

    /// Numbers of devices that run it, of so many.
    fn counts(&self, devices: usize) -> Vec<usize> {
        powers(devices)
    }

    /// The study on one device, as it is without `--devices`.
    fn alone(&self, device: &Device, size: usize) -> Result<DevicesRow, StudyError>;

    /// A rank's part.
    fn of_rank(
        &self,
        team: &Team<'_, '_>,
        size: usize,
        exchange: Exchange,
        view: &View<'_>,
    ) -> Result<DevicesRow, StudyError>;
}

/// Where a study says how far it is, and hears that it is to end.
struct View<'a> {
    console: &'a Console,
    interrupt: &'a Interrupt,
}

/// Runs a study on one device, and then on several with each exchange. Of a launcher's processes the first one writes.
fn measure<S: Study>(
    arguments: &Ranked,
    common: &Common,
    study: impl FnOnce(&Device) -> Result<S, Failure>,
) -> Result<(), Failure> {
    let world = World::from_env().map_err(|error| Failure::Usage(error.to_string()))?;
    let world = world.filter(|world| world.size() > 1);
    let is_first = world.as_ref().is_none_or(|world| world.rank() == 0);
    let mut rows = common.begin_ranked(is_first)?;
    let devices = arguments.open(world.as_ref())?;
    let study = study(&devices[0])?;
    let exchanges = arguments.exchanges(Possible {
        in_one_process: world.is_none(),
        is_emulated: devices[0].properties().is_emulated(),
    })?;
    let run = Run {
        arguments,
        study,
        exchanges,
    };
    let ended = match world {
        Some(world) => run.in_processes(&world, &devices[0], &mut rows),
        None => run.in_threads(&devices, &mut rows),
    };
    rows.finish(ended)
}

/// A study, and how it is run.
struct Run<'a, S> {
    arguments: &'a Ranked,
    study: S,
    exchanges: Vec<Exchange>,
}

impl<S: Study> Run<'_, S> {
    /// Ranks as threads of this process: on two devices, four and so on, and on all.
    fn in_threads(&self, devices: &[Device], rows: &mut Rows<DevicesRow>) -> Result<(), Failure> {
        let Ranked { scaling, .. } = self.arguments;
        let alone_us = self.alone(&devices[0], rows)?;
        let mut last = Vec::new();
        for count in self.study.counts(devices.len()) {
            let devices = &devices[..count];
            last.clear();
            for &exchange in &self.exchanges {
                rows.begin(said(exchange, count), 0);
                let view = View {
                    console: &rows.console,
                    interrupt: &rows.interrupt,
                };
                let size = self.study.size(count, *scaling);
                let results = run_threads(devices, self.arguments.limits(), |rank: Rank<'_>| {
                    let team = Team {
                        rank: &rank,
                        devices,
                    };
                    self.study.of_rank(&team, size, exchange, &view)
                });
                let first = results.map_err(run_failure)?.swap_remove(0);
                let row = first.against(alone_us, *scaling);
                last.push((exchange, row.clone()));
                rows.add(row)?;
            }
        }
        self.predict(devices, alone_us, &last, rows)
    }

    /// This process is a rank of its own.
    fn in_processes(
        &self,
        world: &World,
        device: &Device,
        rows: &mut Rows<DevicesRow>,
    ) -> Result<(), Failure> {
        let Ranked {
            scaling,
            rendezvous,
            ..
        } = self.arguments;
        let mut failure = None;
        let limits = self.arguments.limits();
        let ran = run_process(
            world,
            rendezvous.as_deref(),
            device,
            limits,
            |rank: Rank<'_>| {
                let team = Team {
                    rank: &rank,
                    devices: &[],
                };
                let mut all = || -> Result<(), Failure> {
                    let alone_us = match rank.rank() {
                        0 => Some(self.alone(device, rows)?),
                        _ => None,
                    };
                    for &exchange in &self.exchanges {
                        rows.begin(said(exchange, world.size()), 0);
                        let view = View {
                            console: &rows.console,
                            interrupt: &rows.interrupt,
                        };
                        let size = self.study.size(world.size(), *scaling);
                        let row = self.study.of_rank(&team, size, exchange, &view);
                        let row = row.map_err(study_failure)?;
                        if let Some(alone_us) = alone_us {
                            rows.add(row.against(alone_us, *scaling))?;
                        }
                    }
                    Ok(())
                };
                all().map_err(|error| {
                    let text = error.text();
                    failure = Some(error);
                    text
                })
            },
        );
        match (failure, ran) {
            (Some(failure), _) => Err(failure),
            (None, ran) => ran.map_err(Failure::failed),
        }
    }

    /// The study on one device: microseconds per step.
    fn alone(&self, device: &Device, rows: &mut Rows<DevicesRow>) -> Result<f64, Failure> {
        rows.begin("one device".to_owned(), 0);
        let growth = self.arguments.scaling;
        let row = self.study.alone(device, self.study.size(1, growth));
        let row = row.map_err(study_failure)?;
        let alone_us = row.step_us;
        rows.add(row.against(alone_us, growth))?;
        Ok(alone_us)
    }

    /// What more devices would do with the same problem, by the exchanges that were measured on all.
    fn predict(
        &self,
        devices: &[Device],
        alone_us: f64,
        measured: &[(Exchange, DevicesRow)],
        rows: &mut Rows<DevicesRow>,
    ) -> Result<(), Failure> {
        if self.arguments.scaling == Growth::Weak {
            return Ok(());
        }
        let Some(link) = measured_link(devices).map_err(study_failure)? else {
            return Ok(());
        };
        for (exchange, row) in measured {
            let exchange_us = row.exchange_us.unwrap_or(0.0);
            let times = [alone_us, row.step_us - exchange_us];
            let of = (*exchange, self.study.bytes(row.size), link);
            let model = Model::fitted(times, row.devices, exchange_us, of);
            for count in PREDICTED.into_iter().filter(|&count| count > devices.len()) {
                rows.add(model.row(row, count).against(alone_us, Growth::Strong))?;
            }
        }
        Ok(())
    }
}

/// The powers of two from 2 on that are less than a number, and that number.
fn powers(number: usize) -> Vec<usize> {
    let powers = (1..)
        .map(|power| 1 << power)
        .take_while(|&power| power < number);
    powers.chain([number]).collect()
}

fn said(exchange: Exchange, devices: usize) -> String {
    format!("{}, {exchange}", counted(devices as u64, "device"))
}

fn run_failure(error: RunError<StudyError>) -> Failure {
    match error {
        RunError::Failed { rank, error } => match study_failure(error) {
            Failure::Failed(message) => Failure::Failed(format!("rank {rank}: {message}")),
            other => other,
        },
        other => Failure::failed(other),
    }
}
