//! `ridgepoint norm`

use clap::Args;

use super::Failure;
use super::lists::{Dtype, each_once, element_count};
use super::study::{Common, Rows, study_failure};
use crate::driver::Device;
use crate::study::{NormMode, NormRow, NormStudy, Rounds};
use crate::vector::Real;

/// An iteration of so many elements takes a tenth of a millisecond; fewer are repeated more often.
const ELEMENTS_A_ROUND: u64 = 1 << 28;
const MOST_ITERATIONS: u64 = 200;
const LEAST_ITERATIONS: u64 = 10;

#[derive(Args)]
pub(super) struct Arguments {
    /// Elements, such as 2^26 [default: 2^10 to 2^28, on the emulator 2^10 and 2^13]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = element_count)]
    n: Vec<u64>,

    /// Element types
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "f32",
        value_enum
    )]
    dtype: Vec<Dtype>,

    /// Where the norm goes
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "host,device,fused,graph"
    )]
    mode: Vec<NormMode>,

    /// Times that the loop is timed; the medians count
    #[arg(long, value_name = "COUNT", default_value_t = 9,
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = arguments.common.begin()?;
    let device = arguments.common.open()?;
    let ended = measure_all(arguments, &device, &mut rows);
    rows.finish(ended)
}

fn measure_all(
    arguments: &Arguments,
    device: &Device,
    rows: &mut Rows<NormRow>,
) -> Result<(), Failure> {
    for dtype in each_once(arguments.dtype.clone()) {
        for n in arguments.sizes(device) {
            match dtype {
                Dtype::F32 => measure::<f32>(arguments, device, n, rows),
                Dtype::F64 => measure::<f64>(arguments, device, n, rows),
            }?;
        }
    }
    Ok(())
}

impl Arguments {
    fn sizes(&self, device: &Device) -> Vec<u64> {
        let exponents: &[u32] = match (&self.n[..], device.facts().is_emulated()) {
            ([], true) => &[10, 13],
            ([], false) => &[10, 12, 14, 16, 18, 20, 22, 24, 26, 28],
            (given, _) => return given.to_vec(),
        };
        exponents.iter().map(|exponent| 1 << exponent).collect()
    }
}

fn measure<T: Real>(
    arguments: &Arguments,
    device: &Device,
    n: u64,
    rows: &mut Rows<NormRow>,
) -> Result<(), Failure> {
    let iterations = if device.facts().is_emulated() {
        LEAST_ITERATIONS
    } else {
        (ELEMENTS_A_ROUND / n).clamp(LEAST_ITERATIONS, MOST_ITERATIONS)
    };
    let rounds = Rounds {
        rounds: arguments.rounds,
        iterations: iterations as u32,
    };
    let mut study = NormStudy::<T>::new(device, n as usize).map_err(study_failure)?;
    arguments.mode.iter().try_for_each(|&mode| {
        let row = study.measure(mode, rounds).map_err(study_failure)?;
        rows.add(row)
    })
}
