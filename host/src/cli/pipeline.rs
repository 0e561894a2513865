//! `ridgepoint pipeline`

use clap::{Args, ValueEnum};
use kernels_gpu::matmul::TILE;

use super::Failure;
use super::lists::finite;
use super::study::{Common, Rows, study_failure};
use crate::study::{Pipeline, PipelineMode, PipelineRow, Plan, Work};

#[derive(Args)]
pub(super) struct Arguments {
    /// Batches
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = at_least_1)]
    batches: usize,

    /// Rows and columns of a batch, of f32 [default: 4096, on the emulator 128]
    #[arg(long, value_name = "COUNT", value_parser = at_least_1)]
    size: Option<usize>,

    /// Parts of a batch, which are copied and computed each at once [default: 8, on the emulator 2]
    #[arg(long, value_name = "COUNT", value_parser = at_least_1)]
    chunks: Option<usize>,

    /// Chunks on the device at once in the streamed mode: each above two is slower, because the copies to
    /// the device run further ahead of those back
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = at_least_1)]
    slots: usize,

    /// How batches go through
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "pageable,sequential,streamed"
    )]
    mode: Vec<PipelineMode>,

    /// What is computed of them
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "polynomial,matmul"
    )]
    kernel: Vec<Kernel>,

    /// Weights of the polynomial, in parts of the time of the copies in one direction
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.1,1,2",
          value_parser = finite)]
    weight: Vec<f64>,

    /// Times that each is timed; the medians count
    #[arg(long, value_name = "COUNT", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    pub(super) common: Common,
}

/// `--kernel`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kernel {
    /// A polynomial of each element.
    Polynomial,
    /// The batch times a matrix.
    Matmul,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = arguments.common.begin()?;
    let device = arguments.common.open()?;
    let plan = arguments.plan(device.facts().is_emulated())?;
    let mut pipeline = Pipeline::new(&device, plan).map_err(study_failure)?;
    let ended = measure_all(arguments, &mut pipeline, &mut rows);
    rows.finish(ended)
}

fn measure_all(
    arguments: &Arguments,
    pipeline: &mut Pipeline<'_>,
    rows: &mut Rows<PipelineRow>,
) -> Result<(), Failure> {
    for work in arguments.works(pipeline)? {
        let parts = pipeline.parts(work).map_err(study_failure)?;
        for &mode in &arguments.mode {
            rows.add(pipeline.measure(mode, work, parts).map_err(study_failure)?)?;
        }
    }
    Ok(())
}

impl Arguments {
    fn plan(&self, is_emulated: bool) -> Result<Plan, Failure> {
        let (size, chunks) = if is_emulated { (128, 2) } else { (4096, 8) };
        let plan = Plan {
            batches: self.batches,
            size: self.size.unwrap_or(size),
            chunks: self.chunks.unwrap_or(chunks),
            slots: self.slots,
            rounds: self.rounds,
        };
        let (size, chunks) = (plan.size, plan.chunks);
        if !size.is_multiple_of(chunks) {
            return Err(Failure::Usage(format!(
                "--chunks {chunks}: {size} rows do not part into as many; take a divisor"
            )));
        }
        if self.kernel.contains(&Kernel::Matmul) && !(size / chunks).is_multiple_of(TILE) {
            return Err(Failure::Usage(format!(
                "--kernel matmul: chunks of {} rows; it takes multiples of {TILE}",
                size / chunks
            )));
        }
        Ok(plan)
    }

    fn works(&self, pipeline: &mut Pipeline<'_>) -> Result<Vec<Work>, Failure> {
        let mut works = Vec::new();
        for kernel in &self.kernel {
            match kernel {
                Kernel::Matmul => works.push(Work::Matmul),
                Kernel::Polynomial => {
                    for &weight in &self.weight {
                        let degree = pipeline.degree(weight).map_err(study_failure)?;
                        works.push(Work::Horner(degree));
                    }
                }
            }
        }
        Ok(works)
    }
}

fn at_least_1(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&count| count >= 1)
        .ok_or_else(|| "a whole number, at least 1, is needed".to_owned())
}
