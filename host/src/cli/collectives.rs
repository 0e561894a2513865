//! `ridgepoint collectives`

use std::sync::Mutex;

use clap::Args;

use super::axis_charts::Counted;
use super::option_values::{MAX_ROUNDS, each_once, whole};
use super::ranked::{Places, locked};
use super::study_options::{Common, Rows, study_failure};
use super::tracing::Process;
use super::{Failure, study_modes};
use crate::report::counted;
use crate::study::Rounds;
use crate::study::devices::{Collective, CollectiveRow, Collectives, Team};

/// More than any GPU has memory for.
const MAX_BYTES: u64 = 1 << 40;
/// Each eight times the one before, from 8 bytes on.
const SIZES: u32 = 11;
const SIZES_EMULATED: u32 = 5;
/// Bytes that an iteration may take for a tenth of a millisecond; fewer are repeated more often.
const BYTES_A_ROUND: u64 = 1 << 31;
const MAX_ITERATIONS: u64 = 100;
const MIN_ITERATIONS: u64 = 5;

#[derive(Args)]
pub(super) struct Arguments {
    /// Which collectives
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = study_modes::collective(),
          default_value = "all-reduce,all-gather,reduce-scatter,broadcast")]
    collective: Vec<Collective>,

    /// Bytes of the larger array of a device, such as 8,2^20,2^30 [default: 2^3 to 2^33; emulator: 2^3 to 2^15]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = of_elements)]
    bytes: Vec<u64>,

    /// Number of timings of each loop; the median is reported
    #[arg(long, value_name = "COUNT", default_value_t = 9,
          value_parser = whole::<u32>(1..=MAX_ROUNDS))]
    rounds: u32,

    #[command(flatten)]
    pub(super) places: Places,

    #[command(flatten)]
    pub(super) common: Common,
}

/// Those of an element, an f32.
const ELEMENT_BYTES: u64 = size_of::<f32>() as u64;

/// Bytes of whole elements.
fn of_elements(text: &str) -> Result<u64, String> {
    let bytes = whole::<u64>(1..=MAX_BYTES)(text)?;
    match bytes % ELEMENT_BYTES {
        0 => Ok(bytes),
        _ => Err(format!(
            "expected a multiple of {ELEMENT_BYTES}, the bytes of an element"
        )),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.common.refuse_silence(&["--plot"])?;
    arguments.common.refuse_device()?;
    let world = arguments.places.world()?;
    let process = arguments.places.process()?;
    let mut rows = arguments.common.begin_ranked(process)?;
    if let Process::First = process {
        rows.draw(arguments.common.drawing.open(&arguments.axes())?);
    }
    let devices = arguments.places.open(world.as_ref())?;
    arguments.common.check_devices(&devices)?;
    let points = arguments.points(devices[0].properties().is_emulated());
    let writer = Mutex::new(&mut rows);
    let ended = arguments.places.run(world.as_ref(), &devices, |rank| {
        let team = Team {
            rank,
            devices: &devices,
        };
        arguments.of_rank(team, &points, &writer)
    });
    rows.finish(ended)
}

impl Arguments {
    /// Its axes, each with the number of its values.
    fn axes(&self) -> [Counted; 2] {
        let sizes = match &self.bytes[..] {
            [] => SIZES_EMULATED as usize,
            given => each_once(given.to_vec()).len(),
        };
        [
            ("bytes", sizes),
            ("collective", each_once(self.collective.clone()).len()),
        ]
    }

    /// All collectives of a rank. The first one writes the rows.
    fn of_rank(
        &self,
        team: Team<'_, '_>,
        points: &[(Collective, u64)],
        rows: &Mutex<&mut Rows<CollectiveRow>>,
    ) -> Result<(), Failure> {
        let collectives = Collectives::new(team).map_err(study_failure)?;
        for &(collective, bytes) in points {
            let is_first = team.rank.rank() == 0;
            if is_first {
                let bytes = counted(bytes, "byte");
                locked(rows).begin(format!("{collective} of {bytes}"), points.len());
            }
            let row = collectives.measure(collective, bytes, self.rounds(bytes));
            let row = row.map_err(study_failure)?;
            if is_first {
                locked(rows).add(row)?;
            }
        }
        Ok(())
    }

    /// The collectives and sizes, in order.
    fn points(&self, is_emulated: bool) -> Vec<(Collective, u64)> {
        let sizes = match (&self.bytes[..], is_emulated) {
            ([], true) => (0..SIZES_EMULATED).map(|power| 8 << (3 * power)).collect(),
            ([], false) => (0..SIZES).map(|power| 8 << (3 * power)).collect(),
            (given, _) => each_once(given.to_vec()),
        };
        let collectives = each_once(self.collective.clone());
        let of = |collective| sizes.iter().map(move |&bytes| (collective, bytes));
        collectives.into_iter().flat_map(of).collect()
    }

    fn rounds(&self, bytes: u64) -> Rounds {
        let iterations = (BYTES_A_ROUND / bytes.max(1)).clamp(MIN_ITERATIONS, MAX_ITERATIONS);
        Rounds {
            rounds: self.rounds,
            iterations: iterations as u32,
        }
    }
}
