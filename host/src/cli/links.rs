//! `ridgepoint links`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::charts::{ChartFiles, chart_path};
use super::files::Files;
use super::lists::{MOST_ROUNDS, each_once, whole};
use super::output::{or_standard, target};
use super::study::Rows;
use super::{Failure, driver_failure, tracing};
use crate::driver::{DeviceChoice, DriverError, gpus};
use crate::links::{LinkDevice, LinkError, LinkPlan, LinkRow, Links};
use crate::report::{Format, LinksPicture, links_table};

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Devices whose links are measured: all (each GPU of this host), or cuda:N or cpu:N (an emulated device)
    /// [default: all, or where there is no GPU cpu:0,cpu:1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Vec<Chosen>,

    /// Bytes of each transfer, a multiple of 16 [default: 2^29; emulator: 2^16]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u64>(16..=1 << 40))]
    bytes: Option<u64>,

    /// Number of timings of each loop; the median is reported [default: 5; emulator: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=MOST_ROUNDS))]
    rounds: Option<u32>,

    /// Files to write the rows to, besides the tables, replacing existing ones; - is standard output. The file
    /// name's ending, .csv, .json or .md, gives the format
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md; without --output they go to standard output [default: from the
    /// file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Files to draw charts to, .svg or .png; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    plot: Vec<PathBuf>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

/// A device of `--devices`, or all of them.
#[derive(Clone, Debug, PartialEq)]
enum Chosen {
    All,
    One(DeviceChoice),
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Chosen::All),
            text => match text.parse() {
                // Rows name a device by what everybody calls it.
                Ok(DeviceChoice::Auto | DeviceChoice::CpuAs(_)) | Err(_) => {
                    Err("expected all, cuda:N or cpu:N, such as cuda:0,cuda:1".to_owned())
                }
                Ok(choice) => Ok(Chosen::One(choice)),
            },
        }
    }
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .texts("--output", self.outputs())
            .texts("--plot", &self.plot)
    }

    fn outputs(&self) -> &[PathBuf] {
        or_standard(&self.output, self.format)
    }

    fn refuse_silence(&self) -> Result<(), Failure> {
        let is_nothing = self.outputs().is_empty() && self.plot.is_empty();
        if self.quiet && is_nothing && !self.trace.records() {
            return Err(Failure::Usage(
                "--quiet would leave nothing of what is measured: add --output, --plot, --trace or --profile"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The devices that are named, each once; where none is, all GPUs, or two emulated devices.
    fn choices(&self) -> Result<Vec<DeviceChoice>, Failure> {
        let all = || match gpus() {
            Ok(gpus) => Ok((0..gpus.len() as u32).map(DeviceChoice::Cuda).collect()),
            Err(error) => Err(error),
        };
        let emulated = [DeviceChoice::Cpu, DeviceChoice::CpuNumber(1)];
        if self.devices.is_empty() {
            return match all() {
                Err(DriverError::NoDriver(_) | DriverError::NoGpu) => Ok(emulated.to_vec()),
                choices => choices.map_err(driver_failure),
            };
        }
        let mut choices = Vec::new();
        for chosen in &self.devices {
            match chosen {
                Chosen::All => choices.extend(all().map_err(|error| match error {
                    DriverError::NoDriver(_) | DriverError::NoGpu => Failure::Failed(format!(
                        "{error}; emulated devices need none: --devices cpu:0,cpu:1"
                    )),
                    error => driver_failure(error),
                })?),
                Chosen::One(choice) => choices.push(choice.clone()),
            }
        }
        Ok(each_once(choices))
    }

    fn plan(&self, first: &LinkDevice) -> LinkPlan {
        let plan = LinkPlan::of(&first.device);
        LinkPlan {
            bytes: self.bytes.unwrap_or(plan.bytes),
            rounds: self.rounds.unwrap_or(plan.rounds),
            ..plan
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.refuse_silence()?;
    let charts = ChartFiles::open(&arguments.plot)?;
    let (outputs, format) = (arguments.outputs(), arguments.format);
    let mut rows = Rows::open(outputs, format, target(arguments.quiet, outputs))?;
    let devices = open(&arguments.choices()?)?;
    for LinkDevice { name, device } in &devices {
        arguments.trace.check(device.properties())?;
        rows.console
            .say(&format!("{name}: {}", device.properties().name));
    }
    let Some(first) = devices.first() else {
        return Err(Failure::failed(LinkError::NoDevices));
    };
    let mut links = Links::new(&devices, arguments.plan(first)).map_err(failure)?;
    let ended = measure_all(&mut links, &mut rows);
    rows.finish_with(
        ended,
        |rows, width| Ok(links_table(rows, width)),
        |rows, console| charts.write(console, &LinksPicture { rows }),
    )
}

fn measure_all(links: &mut Links<'_>, rows: &mut Rows<LinkRow>) -> Result<(), Failure> {
    let steps = links.steps();
    let count = steps.len();
    for step in steps {
        rows.begin(links.name(step), count);
        let row = links.measure(step).map_err(failure)?;
        rows.add(row)?;
    }
    Ok(())
}

/// Opens the devices, all GPUs or all emulated: a GPU has no link with an emulated device.
fn open(choices: &[DeviceChoice]) -> Result<Vec<LinkDevice>, Failure> {
    let is_gpu = |choice: &DeviceChoice| matches!(choice, DeviceChoice::Cuda(_));
    if choices.iter().any(is_gpu) && !choices.iter().all(is_gpu) {
        let refused =
            "--devices: a GPU and an emulated device have no link: choose cuda:N or cpu:N alone";
        return Err(Failure::Usage(refused.to_owned()));
    }
    let opened = choices.iter().map(|choice| {
        let name = match choice {
            DeviceChoice::Cpu => "cpu:0".to_owned(),
            other => other.to_string(),
        };
        let device = crate::kernels::open(choice).map_err(driver_failure)?;
        Ok(LinkDevice { name, device })
    });
    opened.collect()
}

fn failure(error: LinkError) -> Failure {
    match error {
        LinkError::Driver(error) => driver_failure(error),
        LinkError::Amount { .. } | LinkError::NoDevices | LinkError::Twice(_) => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::failed(error),
    }
}
