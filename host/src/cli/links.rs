//! `ridgepoint links`

use std::path::PathBuf;

use clap::Args;

use super::charts::{ChartFiles, chart_path};
use super::device_list::DeviceList;
use super::files::Files;
use super::option_values::{MAX_ROUNDS, whole};
use super::output::{or_standard, target};
use super::study_options::{Rows, silence};
use super::{Failure, driver_failure, tracing};
use crate::driver::DeviceChoice;
use crate::links::{LinkDevice, LinkError, LinkPlan, LinkRow, Links};
use crate::report::{Format, LinksPicture, links_table};

/// Emulated devices where there is no GPU.
const EMULATED: u32 = 2;

#[derive(Args)]
pub(super) struct Arguments {
    /// Devices whose links are measured, such as cuda:0,cuda:1 or cpu:0,cpu:1; all is every GPU, or two emulated devices where there
    /// is none
    #[arg(long, value_name = "LIST", default_value = "all")]
    devices: DeviceList,

    /// Bytes of each transfer, a multiple of 16 [default: 2^29; emulator: 2^16]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u64>(16..=1 << 40))]
    bytes: Option<u64>,

    /// Number of timings of each loop; the median is reported [default: 5; emulator: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=MAX_ROUNDS))]
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
            return Err(silence(&["--plot"]));
        }
        Ok(())
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
    let devices = open(&arguments.devices.choices(EMULATED)?)?;
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

fn open(choices: &[DeviceChoice]) -> Result<Vec<LinkDevice>, Failure> {
    let opened = choices.iter().map(|choice| {
        let device = crate::kernels::open(choice).map_err(driver_failure)?;
        let name = choice.to_string();
        Ok(LinkDevice { name, device })
    });
    opened.collect()
}

fn failure(error: LinkError) -> Failure {
    match error {
        LinkError::Driver(error) => driver_failure(error),
        LinkError::Amount { .. }
        | LinkError::HostMemory { .. }
        | LinkError::NoDevices
        | LinkError::Twice(_) => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
