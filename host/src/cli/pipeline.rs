//! `ridgepoint pipeline`

use clap::Args;
use itertools::Itertools;
use kernels_gpu::matmul::TILE;

use super::Failure;
use super::axis_charts::Counted;
use super::interrupt::Interrupt;
use super::option_values::{MAX_ROUNDS, each_once, real, refuse_without_effect, whole};
use super::study_modes;
use super::study_options::{Common, Rows, study_failure};
use super::suite;
use crate::embedded::{self, Use};
use crate::report::counted;
use crate::study::{Pipeline, PipelineMode, PipelineRow, Plan, Work};

/// Chunks of all batches: each has page-locked memory and events of its own.
const MAX_CHUNKS: u64 = 10_000;

/// Of polynomials, where none are given.
const WEIGHTS: [f64; 3] = [0.1, 1.0, 2.0];

#[derive(Args)]
pub(super) struct Arguments {
    /// Number of batches
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = whole::<usize>(1..=MAX_CHUNKS))]
    batches: usize,

    /// Rows and columns of each f32 batch [default: 4096; emulator: 128]
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>(1..=1 << 15))]
    size: Option<usize>,

    /// Chunks per batch; each is copied and computed as a whole [default: 8; emulator: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>(1..=MAX_CHUNKS))]
    chunks: Option<usize>,

    /// Chunks on the device at the same time in streamed mode. More than two are slower: copies to the
    /// device run further ahead of the copies back to the host [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>(1..=MAX_CHUNKS))]
    slots: Option<usize>,

    /// How batches are sent and computed
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = study_modes::pipeline(),
        default_value = "pageable,sequential,streamed"
    )]
    mode: Vec<PipelineMode>,

    /// Computation from each batch
    #[arg(
        long,
        visible_alias = "workload",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = suite::embedded_for(Use::Chunks),
        default_value = "horner,matmul"
    )]
    kernel: Vec<&'static str>,

    /// Work of a polynomial, as a multiple of the copy time in one direction [default: 0.1,1,2]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = real("a number above 0 and at most 10, such as 0.1", |it| it > 0.0 && it <= 10.0))]
    weight: Vec<f64>,

    /// Number of timings of each loop; the median is reported
    #[arg(long, value_name = "COUNT", default_value_t = 5,
          value_parser = whole::<u32>(1..=MAX_ROUNDS))]
    rounds: u32,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.refuse_those_without_effect()?;
    arguments.common.refuse_silence(&["--plot"])?;
    let mut rows = arguments.common.begin_drawn(&arguments.axes())?;
    let device = arguments.common.open()?;
    let plan = arguments.plan(device.properties().is_emulated())?;
    let modes = each_once(arguments.mode.clone());
    plan.check_memory(&device, &modes).map_err(study_failure)?;
    let mut pipeline = Pipeline::new(&device, plan).map_err(study_failure)?;
    let ended = measure_all(arguments, &modes, &mut pipeline, &mut rows);
    rows.finish(ended)
}

fn measure_all(
    arguments: &Arguments,
    modes: &[PipelineMode],
    pipeline: &mut Pipeline<'_>,
    rows: &mut Rows<PipelineRow>,
) -> Result<(), Failure> {
    rows.begin("choosing degrees for the weights".to_owned(), 0);
    let works = arguments.works(pipeline, &rows.interrupt)?;
    for sentence in of_one_degree(&works) {
        rows.console.say(&sentence);
    }
    let count = works.len() * modes.len();
    for (work, weight) in works {
        let parts = pipeline.parts(work).map_err(study_failure)?;
        for &mode in modes {
            rows.begin(format!("{}, mode {mode}", work.name()), count);
            let row = pipeline.measure(mode, work, parts).map_err(study_failure)?;
            rows.add(PipelineRow { weight, ..row })?;
        }
    }
    Ok(())
}

/// Returns a sentence for each polynomial that was chosen for several weights: even its least degree takes longer than the copies.
fn of_one_degree(works: &[(Work, Option<f64>)]) -> Vec<String> {
    let names = works.iter().map(|(work, _)| work.name()).unique();
    let of_one = |name: String| {
        let same = works.iter().filter(|(work, _)| work.name() == name);
        let weights: Vec<String> = same
            .filter_map(|(_, weight)| weight.map(|it| it.to_string()))
            .collect();
        (weights.len() > 1).then(|| {
            format!(
                "{name} is the nearest to each of the weights {}: their rows are of the same work",
                weights.join(", ")
            )
        })
    };
    names.filter_map(of_one).collect()
}

impl Arguments {
    /// Its axes, each with the number of its values.
    fn axes(&self) -> [Counted; 3] {
        let weights = match &self.weight[..] {
            [] if self.named().any(Work::has_degree) => WEIGHTS.len(),
            given => each_once(given.to_vec()).len(),
        };
        [
            ("mode", each_once(self.mode.clone()).len()),
            ("kernel", self.named().count()),
            ("weight", weights),
        ]
    }

    fn refuse_those_without_effect(&self) -> Result<(), Failure> {
        if !self.mode.contains(&PipelineMode::Streamed) {
            let given = [("--slots", self.slots.is_some())];
            refuse_without_effect(&given, "without --mode streamed")?;
        }
        if !self.named().any(Work::has_degree) {
            let given = [("--weight", !self.weight.is_empty())];
            refuse_without_effect(&given, "without --kernel horner or power-sum")?;
        }
        Ok(())
    }

    fn plan(&self, is_emulated: bool) -> Result<Plan, Failure> {
        let (size, chunks) = if is_emulated { (128, 2) } else { (4096, 8) };
        let plan = Plan {
            batches: self.batches,
            size: self.size.unwrap_or(size),
            chunks: self.chunks.unwrap_or(chunks),
            slots: self.slots.unwrap_or(2),
            rounds: self.rounds,
        };
        let Plan {
            batches,
            size,
            chunks,
            slots,
            ..
        } = plan;
        let refused = if !size.is_multiple_of(chunks) {
            format!(
                "--chunks: {size} rows cannot be split into {chunks} equal chunks: choose a divisor of {size}"
            )
        } else if self.kernel.contains(&"matmul") && !(size / chunks).is_multiple_of(TILE) {
            let rows = size / chunks;
            let rows = counted(rows as u64, "row");
            format!(
                "--kernel matmul: chunks of {rows}; expected a multiple of {TILE}: choose another --size or --chunks"
            )
        } else if plan.pieces() > MAX_CHUNKS as usize {
            let pieces = plan.pieces();
            format!(
                "{} of {} are {pieces} chunks; at most {MAX_CHUNKS} are possible",
                counted(batches as u64, "batch"),
                counted(chunks as u64, "chunk")
            )
        } else if self.slots.is_some() && slots > plan.pieces() {
            let pieces = plan.pieces();
            format!(
                "--slots {slots}: there are only {} in all",
                counted(pieces as u64, "chunk")
            )
        } else {
            return Ok(plan);
        };
        Err(Failure::Usage(refused))
    }

    /// Returns the computations, and the weights that degrees of polynomials were chosen for. A signal ends it between
    /// two of them.
    fn works(
        &self,
        pipeline: &mut Pipeline<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<(Work, Option<f64>)>, Failure> {
        let weights = match &self.weight[..] {
            [] => WEIGHTS.to_vec(),
            given => each_once(given.to_vec()),
        };
        let mut works = Vec::new();
        for work in self.named() {
            if !work.has_degree() {
                works.push((work, None));
                continue;
            }
            for &weight in &weights {
                interrupt.check()?;
                let weighted = pipeline.weighted(work, weight).map_err(study_failure)?;
                works.push((weighted, Some(weight)));
            }
        }
        Ok(works)
    }

    /// Returns the works that `--kernel` names, each once.
    fn named(&self) -> impl Iterator<Item = Work> {
        let names = each_once(self.kernel.clone()).into_iter();
        let find = |name| {
            embedded::list()
                .iter()
                .find(|it| it.workload.name() == name)
        };
        names.filter_map(find).map(|it| Work::new(it.workload))
    }
}
