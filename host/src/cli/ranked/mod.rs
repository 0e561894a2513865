//! `--devices`: a study on several devices, each with a rank that is a thread or a process.

mod norm;
mod places;
mod power;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;

pub(super) use norm::run as norm;
pub(super) use places::Places;
pub(super) use power::run as power;

use super::charts::{ChartFiles, chart_path};
use super::files::Files;
use super::lists::each_once;
use super::study::{Common, Rows, study_failure};
use super::tracing::Process;
use super::{Failure, modes};
use crate::driver::Device;
use crate::report::{ScalingChart, ScalingRow, counted, rows_table};
use crate::study::StudyError;
use crate::study::devices::{
    DevicesRow, Exchange, Growth, Kind, Measured, Model, Problem, Team, measured_link,
};

/// Numbers of devices that are predicted.
const PREDICTED: [usize; 3] = [4, 8, 16];

#[derive(Args)]
pub(super) struct Ranked {
    #[command(flatten)]
    places: Places,

    /// How the devices exchange their parts of the vector [default: all that the devices can]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = modes::exchange(), requires = "devices")]
    exchange: Vec<Exchange>,

    /// What grows with the number of devices
    #[arg(long, value_name = "SCALING", value_parser = modes::growth(), default_value = "strong", requires = "devices")]
    scaling: Growth,

    /// Files to draw charts to, .svg or .png: speedup against the number of devices; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path(), requires = "devices")]
    plot: Vec<PathBuf>,
}

impl Ranked {
    /// Whether the study is one of several devices.
    pub(super) fn are_given(&self) -> Result<bool, Failure> {
        self.places.are_given()
    }

    /// Which of the processes that share the study this one is: the only one if no devices are named.
    pub(super) fn process(&self) -> Result<Process, Failure> {
        match self.are_given()? {
            true => self.places.process(),
            false => Ok(Process::First),
        }
    }

    /// With the charts.
    pub(super) fn with_files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        files.texts("--plot", &self.plot)
    }

    /// Whether a chart is left of a study that says nothing.
    pub(super) fn draws(&self) -> bool {
        !self.plot.is_empty()
    }

    /// The exchanges that are asked for, or all that are possible: between threads, or between the processes of a launcher.
    fn exchanges(&self, in_one_process: bool) -> Result<Vec<Exchange>, Failure> {
        let possible = match in_one_process {
            true => vec![Exchange::Gather, Exchange::Graph, Exchange::Peer],
            false => vec![Exchange::Gather, Exchange::Graph],
        };
        if self.exchange.is_empty() {
            return Ok(possible);
        }
        match self.exchange.iter().all(|it| possible.contains(it)) {
            true => Ok(each_once(self.exchange.clone())),
            false => Err(Failure::Usage(
                "--exchange peer: the processes of a launcher do not reach each other's memory; choose gather or graph, or name all \
                 devices in one process"
                    .to_owned(),
            )),
        }
    }
}

/// A study that several devices share.
trait Study: Sync {
    /// Its size on so many devices.
    fn size(&self, devices: usize, growth: Growth) -> usize;

    /// Bytes that all devices need of each other in a step, of so many.
    fn bytes(&self, devices: usize, size: usize) -> f64;

    /// Numbers of devices that run it, of so many.
    fn counts(&self, devices: usize) -> Vec<usize> {
        powers(devices)
    }

    /// The study on one device, as it is without `--devices`; none where nothing is to be compared with it.
    fn alone(&self, device: &Device, size: usize) -> Option<Result<DevicesRow, StudyError>>;

    /// A rank's part.
    fn of_rank(
        &self,
        team: &Team<'_, '_>,
        size: usize,
        exchange: Exchange,
        rows: &Shared<'_>,
    ) -> Result<DevicesRow, StudyError>;
}

/// Runs a study on one device, and then on several with each exchange. Of a launcher's processes the first one writes.
fn measure<S: Study>(
    arguments: &Ranked,
    common: &Common,
    study: impl FnOnce(&Device) -> Result<S, Failure>,
) -> Result<(), Failure> {
    let places = &arguments.places;
    let world = places.world()?;
    let process = places.process()?;
    let plot = match process {
        Process::First => &arguments.plot[..],
        Process::Other => &[],
    };
    let charts = ChartFiles::open(plot)?;
    let mut rows = common.begin_ranked(process)?;
    let devices = places.open(world.as_ref())?;
    common.check_devices(&devices)?;
    let exchanges = arguments.exchanges(world.is_none())?;
    let study = study(&devices[0])?;
    let run = Run {
        // One device, and each exchange on each number of devices, measured or predicted.
        steps: 1 + exchanges.len() * (study.counts(devices.len()).len() + PREDICTED.len()),
        study,
        growth: arguments.scaling,
        exchanges,
        rows: Mutex::new(&mut rows),
        measured: Mutex::default(),
    };
    let ended = match &world {
        None => run.in_threads(places, &devices),
        // Each process measures with all others alone.
        Some(_) => places.run(world.as_ref(), &devices, |rank| {
            let alone_us = match rank.rank() {
                0 => run.alone(rank.device())?,
                _ => None,
            };
            run.of_rank(Team { rank, devices: &[] }, alone_us)
        }),
    };
    finish(rows, ended, charts)
}

/// Shows and draws the rows that there are.
fn finish(
    rows: Rows<DevicesRow>,
    ended: Result<(), Failure>,
    charts: ChartFiles,
) -> Result<(), Failure> {
    rows.finish_with(
        ended,
        |rows, width| rows_table(rows, width).map_err(Failure::failed),
        |rows, console| {
            let rows: Vec<ScalingRow> = rows.iter().map(drawn).collect();
            let chart = ScalingChart {
                rows: &rows,
                title: None,
            };
            charts.write(console, &chart)
        },
    )
}

/// What a chart shows of a row.
fn drawn(row: &DevicesRow) -> ScalingRow {
    ScalingRow {
        study: row.study.to_owned(),
        exchange: row.exchange.clone(),
        devices: row.devices,
        scaling: row.scaling.clone(),
        size: row.size as u64,
        speedup: row.speedup,
        is_predicted: row.kind == Kind::Predicted,
        device: row.device.clone(),
    }
}

/// A study, how it is run, and what has come of it.
struct Run<'a, S> {
    /// Rows, at most.
    steps: usize,
    study: S,
    growth: Growth,
    exchanges: Vec<Exchange>,
    rows: Mutex<&'a mut Rows<DevicesRow>>,
    /// On several devices.
    measured: Mutex<Vec<(Exchange, DevicesRow)>>,
}

impl<S: Study> Run<'_, S> {
    /// Ranks as threads of this process: on one device, two, four and so on, and on all.
    fn in_threads(&self, places: &Places, devices: &[Device]) -> Result<(), Failure> {
        let alone_us = self.alone(&devices[0])?;
        for count in self.study.counts(devices.len()) {
            let devices = &devices[..count];
            places.run(None, devices, |rank| {
                self.of_rank(Team { rank, devices }, alone_us)
            })?;
        }
        match alone_us {
            Some(alone_us) => self.predict(devices, alone_us),
            None => Ok(()),
        }
    }

    /// A rank's part of the study, with each exchange. The first rank writes the rows.
    fn of_rank(&self, team: Team<'_, '_>, alone_us: Option<f64>) -> Result<(), Failure> {
        let (is_first, count) = (team.rank.rank() == 0, team.rank.size());
        let size = self.study.size(count, self.growth);
        for &exchange in &self.exchanges {
            if is_first {
                let what = format!("{exchange}, {}", counted(count as u64, "device"));
                locked(&self.rows).begin(what, self.steps);
            }
            let row = self.study.of_rank(&team, size, exchange, &self.rows);
            let row = row.map_err(study_failure)?.against(alone_us, self.growth);
            if is_first {
                locked(&self.measured).push((exchange, row.clone()));
                locked(&self.rows).add(row)?;
            }
        }
        Ok(())
    }

    /// The study on one device, if there is one: microseconds per step.
    fn alone(&self, device: &Device) -> Result<Option<f64>, Failure> {
        locked(&self.rows).begin("1 device".to_owned(), self.steps);
        let Some(row) = self.study.alone(device, self.study.size(1, self.growth)) else {
            return Ok(None);
        };
        let row = row.map_err(study_failure)?;
        let alone_us = Some(row.step_us);
        locked(&self.rows).add(row.against(alone_us, self.growth))?;
        Ok(alone_us)
    }

    /// What more devices would do, by each of the exchanges.
    fn predict(&self, devices: &[Device], alone_us: f64) -> Result<(), Failure> {
        let Some(link) = measured_link(devices).map_err(study_failure)? else {
            return Ok(());
        };
        let measured = locked(&self.measured);
        for &exchange in &self.exchanges {
            let of_exchange = measured.iter().filter(|it| it.0 == exchange);
            let rows: Vec<&DevicesRow> = of_exchange.map(|it| &it.1).collect();
            let times: Vec<Measured> = rows.iter().map(|row| self.times(row)).collect();
            let Some(last) = rows.last() else { continue };
            let model = Model::fitted(self.growth, alone_us, &times, (exchange, link));
            for count in PREDICTED.into_iter().filter(|&count| count > devices.len()) {
                let row = model.row(last, self.problem(count));
                locked(&self.rows).add(row.against(Some(alone_us), self.growth))?;
            }
        }
        Ok(())
    }

    fn times(&self, row: &DevicesRow) -> Measured {
        Measured {
            problem: self.problem(row.devices),
            step_us: row.step_us,
            exchange_us: row.exchange_us.unwrap_or(0.0),
        }
    }

    fn problem(&self, devices: usize) -> Problem {
        let size = self.study.size(devices, self.growth);
        Problem {
            devices,
            size,
            bytes: self.study.bytes(devices, size),
        }
    }
}

/// Rows, for the rank that writes them.
type Shared<'a> = Mutex<&'a mut Rows<DevicesRow>>;

pub(super) fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The powers of two from 2 on that are less than a number, and that number.
fn powers(number: usize) -> Vec<usize> {
    let powers = (1..)
        .map(|power| 1 << power)
        .take_while(|&power| power < number);
    powers.chain([number]).collect()
}
