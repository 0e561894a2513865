//! `ridgepoint norm`

use clap::Args;

use super::axis_charts::Counted;
use super::files::Files;
use super::option_values::{Dtype, MAX_ROUNDS, each_once, element_count, whole};
use super::study_options::{Common, Rows, study_failure};
use super::{Failure, driver_failure, ranked, study_modes};
use crate::driver::Device;
use crate::report::counted;
use crate::study::{NormMode, NormRow, NormStudy, Rounds};
use crate::vector::Real;

/// An iteration of so many elements takes a tenth of a millisecond; fewer are repeated more often.
const ELEMENTS_A_ROUND: u64 = 1 << 28;
const MAX_ITERATIONS: u64 = 200;
const MIN_ITERATIONS: u64 = 10;

/// Exponents of two on a GPU; the emulator has more than one, too.
const DEFAULT_SIZES: [u32; 10] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28];

#[derive(Args)]
pub(super) struct Arguments {
    /// Elements in the vector, such as 2^26 [default: 2^10 to 2^28; emulator: 2^10 and 2^13]
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

    /// How the norm reaches the kernel that scales
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = study_modes::norm(),
        default_value = "host,device,fused,graph",
        conflicts_with = "devices"
    )]
    mode: Vec<NormMode>,

    /// Number of timings of each loop; the median is reported
    #[arg(long, value_name = "COUNT", default_value_t = 9,
          value_parser = whole::<u32>(1..=MAX_ROUNDS))]
    rounds: u32,

    #[command(flatten)]
    pub(super) ranked: ranked::Ranked,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let on_devices = arguments.ranked.are_given()?;
    arguments.common.refuse_silence(&["--plot"])?;
    if on_devices {
        return arguments.on_devices();
    }
    let mut rows = arguments.common.begin_drawn(&arguments.axes())?;
    let device = arguments.common.open()?;
    let (dtypes, sizes) = (each_once(arguments.dtype.clone()), arguments.sizes(&device));
    let largest = sizes.iter().copied().max().unwrap_or(0) as usize;
    for dtype in &dtypes {
        match dtype {
            Dtype::F32 => NormStudy::<f32>::check_memory(&device, largest),
            Dtype::F64 => NormStudy::<f64>::check_memory(&device, largest),
        }
        .map_err(driver_failure)?;
    }
    let count = dtypes.len() * sizes.len() * each_once(arguments.mode.clone()).len();
    let measure_all = || -> Result<(), Failure> {
        for dtype in dtypes {
            for &n in &sizes {
                match dtype {
                    Dtype::F32 => measure::<f32>(arguments, &device, (n, count), &mut rows),
                    Dtype::F64 => measure::<f64>(arguments, &device, (n, count), &mut rows),
                }?;
            }
        }
        Ok(())
    };
    let ended = measure_all();
    rows.finish(ended)
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        self.common.files()
    }

    /// Its axes, each with the number of its values.
    fn axes(&self) -> [Counted; 3] {
        let sizes = match &self.n[..] {
            [] => DEFAULT_SIZES.len(),
            given => each_once(given.to_vec()).len(),
        };
        [
            ("n", sizes),
            ("dtype", each_once(self.dtype.clone()).len()),
            ("mode", each_once(self.mode.clone()).len()),
        ]
    }

    /// The one vector that several devices share.
    fn on_devices(&self) -> Result<(), Failure> {
        let one = |what: &str, count: usize| {
            Failure::Usage(format!("--devices takes one {what}, and {count} are given"))
        };
        let [n] = self.n[..] else {
            return Err(one("--n, such as 2^30", self.n.len()));
        };
        let [dtype] = self.dtype[..] else {
            return Err(one("--dtype", self.dtype.len()));
        };
        let (n, rounds) = (n as usize, self.rounds(n, false));
        match dtype {
            Dtype::F32 => ranked::norm::<f32>(&self.ranked, &self.common, n, rounds),
            Dtype::F64 => ranked::norm::<f64>(&self.ranked, &self.common, n, rounds),
        }
    }

    fn rounds(&self, n: u64, is_emulated: bool) -> Rounds {
        let iterations = match is_emulated {
            true => MIN_ITERATIONS,
            false => (ELEMENTS_A_ROUND / n.max(1)).clamp(MIN_ITERATIONS, MAX_ITERATIONS),
        };
        Rounds {
            rounds: self.rounds,
            iterations: iterations as u32,
        }
    }

    fn sizes(&self, device: &Device) -> Vec<u64> {
        let exponents: &[u32] = match (&self.n[..], device.properties().is_emulated()) {
            ([], true) => &[10, 13],
            ([], false) => &DEFAULT_SIZES,
            (given, _) => return each_once(given.to_vec()),
        };
        exponents.iter().map(|exponent| 1 << exponent).collect()
    }
}

fn measure<T: Real>(
    arguments: &Arguments,
    device: &Device,
    (n, count): (u64, usize),
    rows: &mut Rows<NormRow>,
) -> Result<(), Failure> {
    let rounds = arguments.rounds(n, device.properties().is_emulated());
    let mut study = NormStudy::<T>::new(device, n as usize).map_err(study_failure)?;
    each_once(arguments.mode.clone())
        .into_iter()
        .try_for_each(|mode| {
            rows.begin(format!("{}, mode {mode}", counted(n, "element")), count);
            let row = study.measure(mode, rounds).map_err(study_failure)?;
            rows.add(row)
        })
}
