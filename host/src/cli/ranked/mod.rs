//! `--devices`: a study on several devices, each with a rank that is a thread or a process.

mod exchanges;
mod norm;
mod places;
mod power;
mod run;
mod waiting;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use ranks::World;

pub(super) use norm::run as norm;
pub(super) use places::Places;
pub(super) use power::run as power;

use super::charts::ChartFiles;
use super::console::Console;
use super::option_values::{refuse_without_effect, whole};
use super::study_options::{Common, Rows};
use super::tracing::Process;
use super::{Failure, study_modes};
use crate::driver::Device;
use crate::report::{ScalingChart, ScalingRow, rows_table};
use crate::study::StudyError;
use crate::study::devices::{DevicesRow, Exchange, Growth, Kind, Team};
use run::Run;

#[derive(Args)]
pub(super) struct Ranked {
    #[command(flatten)]
    places: Places,

    /// How the devices exchange their parts of the vector [default: all that the devices can]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = study_modes::exchange())]
    exchange: Vec<Exchange>,

    /// Quantity that grows with the number of devices [default: strong]
    #[arg(long, value_name = "SCALING", value_parser = study_modes::growth())]
    scaling: Option<Growth>,

    /// The most devices whose times predictions are made from: measured and predicted times of more devices stand side by side
    /// [default: each number of devices is predicted from all smaller ones that are measured]
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>(2..=MOST_PREDICTED_FROM))]
    predict_from: Option<usize>,
}

/// More devices than any host has.
const MOST_PREDICTED_FROM: u64 = 1024;

impl Ranked {
    /// Whether the study is one of several devices.
    ///
    /// # Errors
    /// It is not, and an option is given that is of several devices alone: clap's `requires` is silent where `--device` is given, with
    /// which `--devices` conflicts.
    pub(super) fn are_given(&self) -> Result<bool, Failure> {
        let given = [
            ("--exchange", !self.exchange.is_empty()),
            ("--scaling", self.scaling.is_some()),
            ("--predict-from", self.predict_from.is_some()),
        ];
        match self.places.are_given()? {
            true => Ok(true),
            false => refuse_without_effect(&given, "without --devices").map(|()| false),
        }
    }

    /// Which of the processes that share the study this one is: the only one if no devices are named.
    pub(super) fn process(&self) -> Result<Process, Failure> {
        match self.are_given()? {
            true => self.places.process(),
            false => Ok(Process::First),
        }
    }

    /// The numbers of devices that run a study, and how each exchanges. Each process of a launcher runs it with all others alone.
    fn counts(
        &self,
        study: &impl Study,
        world: Option<&World>,
        devices: &[Device],
        console: &Console,
    ) -> Result<Vec<(usize, Vec<Exchange>)>, Failure> {
        let Some(world) = world else {
            let counts = study.counts(devices.len());
            return exchanges::of_threads(&self.exchange, devices, &counts, console);
        };
        Ok(vec![(
            world.size(),
            exchanges::of_processes(&self.exchange)?,
        )])
    }
}

/// Says whether a measurement goes on.
type GoOn<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// The row of a study on one device, if there is one.
type Alone = Result<Option<DevicesRow>, StudyError>;

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

    /// The study on one device, as it is without `--devices`; none where nothing is to be compared with it, or `go_on` has ended it.
    fn alone(&self, device: &Device, size: usize, go_on: &mut GoOn<'_>) -> Alone;

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
    let axis = ("--against", common.drawing.against.against.is_some());
    refuse_without_effect(&[axis], "with --devices: the chart is of their number")?;
    let places = &arguments.places;
    let world = places.world()?;
    let predicts = (
        "--predict-from",
        world.is_some() && arguments.predict_from.is_some(),
    );
    refuse_without_effect(
        &[predicts],
        "under a launcher: its processes measure one number of devices",
    )?;
    let process = places.process()?;
    let plot = match process {
        Process::First => &common.drawing.plot[..],
        Process::Other => &[],
    };
    let charts = ChartFiles::open(plot)?;
    let mut rows = common.begin_ranked(process)?;
    let devices = places.open(world.as_ref())?;
    common.check_devices(&devices)?;
    let study = study(&devices[0])?;
    let counts = arguments.counts(&study, world.as_ref(), &devices, &rows.console)?;
    let growth = arguments.scaling.unwrap_or(Growth::Strong);
    let run = Run::new(study, growth, counts, &mut rows).predicting_from(arguments.predict_from);
    let ended = match &world {
        None => run.in_threads(places, &devices),
        Some(world) => run.in_process(places, world, &devices),
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

/// Returns the part of a row that a chart shows.
fn drawn(row: &DevicesRow) -> ScalingRow {
    ScalingRow {
        study: row.study.to_owned(),
        exchange: row.exchange.clone(),
        devices: row.devices,
        scaling: row.scaling.clone(),
        size: row.size as u64,
        speedup: row.speedup,
        is_predicted: row.kind == Kind::Predicted,
        error_percent: row.error_percent,
        device: row.device.clone(),
    }
}

/// Rows, for the rank that writes them.
type Shared<'a> = Mutex<&'a mut Rows<DevicesRow>>;

pub(super) fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The powers of two that are less than a number, and that number.
fn powers(number: usize) -> Vec<usize> {
    let powers = (0..)
        .map(|power| 1 << power)
        .take_while(|&power| power < number);
    powers.chain([number]).collect()
}
