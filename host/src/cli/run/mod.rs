//! `ridgepoint run`: a kernel of any PTX file, executed and checked.

mod orders;
mod runs;
mod side_by_side;

use clap::Args;
use orders::Orders;
use serde::Serialize;

use super::console::Console;
use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::launch_options::{Described, failure};
use super::option_values::{not_negative, whole};
use super::{Failure, driver_failure, limits, row_format, severity};
use crate::driver::{Device, DeviceChoice, DriverError, Emulation, LaunchConfig, demangled};
use crate::standalone::{
    After, Change, Description, Expected, Output, Place, Standalone, StandaloneError,
};

const HELP: &str = "\
Example:
  ridgepoint run saxpy.ptx saxpy --grid 64 --block 256 \\
      --arg i32:16384 --arg f32:2.5 \\
      --arg f32[16384]=random --arg f32[16384]=ones --out 3

The emulator checks every access: bounds, races, divergence, reads of uninitialized memory. The kernel runs \
once in order and once per seed; each seed is a different order of blocks, warps and lanes. A finding names the \
command that replays it.";

/// A day.
const MAX_SEARCH: u64 = 24 * 60 * 60;

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Show this buffer after the launch, by its argument's number from 0 or its name, or this variable; PLACE=FILE writes all its
    /// bytes to a file [default: show each buffer that has changed, or may have]
    #[arg(long = "out", value_name = "PLACE[=FILE]")]
    outputs: Vec<Output>,

    /// Compare a result with this one, such as 3=f32[]=y.bin or count=u32:64: that it differs is a finding
    #[arg(long = "expect", value_name = "PLACE=VALUE")]
    expected: Vec<Expected>,

    /// Greatest difference of a float from what is expected, relative to that if it is more than 1 [default: 0]
    #[arg(long, value_name = "DIFFERENCE", value_parser = not_negative)]
    tolerance: Option<f64>,

    /// Device: cpu (the emulator), cpu:sm_NN (the emulator with that architecture's limits), cuda, cuda:N
    /// or auto
    #[arg(short, long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,

    /// Also run under N seeds; each is a different order of blocks, warps and lanes [default: 4, and those of --search]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=10_000))]
    seeds: Option<u64>,

    /// Run under this seed alone, to replay what was found under it
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,

    /// Seconds to try further seeds in, where nothing was found and the kernel swaps atomics or waits for what others
    /// write: it may go wrong in one order of a thousand [default: 1; with --seeds: 0]
    #[arg(long, value_name = "SECONDS", conflicts_with = "seed", value_parser = whole::<u64>(0..=MAX_SEARCH))]
    search: Option<u64>,

    /// Run once, on all cores, and check only bounds and divergence
    #[arg(long, conflicts_with_all = ["seeds", "seed", "search", "strict"])]
    no_check: bool,

    #[command(flatten)]
    severity: severity::Arguments,

    #[command(flatten)]
    limits: limits::Arguments,

    #[command(flatten)]
    printed: row_format::Arguments,

    #[command(flatten)]
    described: Described,
}

/// A buffer after the launch, for programs.
#[derive(Serialize)]
struct Row {
    argument: Place,
    shape: String,
    change: String,
    /// The first elements.
    values: String,
    crc32: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let standalone = arguments.described.read_all(Description {
        outputs: arguments.outputs.clone(),
        expected: arguments.expected.clone(),
        tolerance: arguments.tolerance,
        ..Description::default()
    })?;
    let wanted = standalone.outputs().iter();
    let paths: Vec<_> = wanted.filter_map(|it| it.path.clone()).collect();
    Files::default().outputs("--out", &paths).check()?;
    let device = Device::open(&arguments.device, &[]).map_err(driver_failure)?;
    let orders = Orders::of(arguments, &standalone);
    let console = arguments.printed.console(orders.first.len() as u64);
    console.say(&title(&standalone, &device.properties().name));
    let is_emulated = device.properties().is_emulated();
    let after = match is_emulated && !arguments.no_check {
        true => runs::checked(&standalone, &device, (&orders, arguments, &console)),
        false => once(&standalone, &device, (&arguments.limits, &console)),
    };
    console.finish();
    let after = after?;
    let outputs = standalone.outputs();
    let rows: Vec<Row> = after.iter().filter_map(|it| Row::of(it, outputs)).collect();
    if arguments.printed.format().is_some() || !rows.is_empty() {
        arguments.printed.show(&rows, &console, |_| {
            rows.iter().map(Row::text).collect::<Vec<_>>().join("\n")
        })?;
    }
    after.iter().try_for_each(|it| write(it, outputs))?;
    if after.iter().all(|it| it.change == Change::Unchanged) {
        console.say("No argument has changed.");
    }
    Ok(())
}

/// The launches, and the device that they are done on.
fn title(standalone: &Standalone, device: &str) -> String {
    let file = standalone.file().display();
    let mut launches = standalone.launches();
    let of = |(kernel, config)| (demangled(kernel).into_owned(), shape(config));
    match (launches.len(), launches.next().map(of)) {
        (1, Some((kernel, shape))) => format!("{kernel} of {file}, {shape}, on {device}"),
        (several, _) => {
            let launches = standalone.launches().map(of);
            let lines = launches.map(|(kernel, shape)| format!("\n  {kernel}, {shape}"));
            let lines: String = lines.collect();
            format!("{several} launches of {file} on {device}:{lines}")
        }
    }
}

/// The kernels that are launched.
fn kernels(standalone: &Standalone) -> String {
    let names = standalone.launches().map(|(kernel, _)| demangled(kernel));
    let names: Vec<_> = names.collect();
    names.join(", ")
}

/// `64 blocks of 256 threads`
pub(super) fn shape(config: LaunchConfig) -> String {
    fn extents(all: &[u32]) -> String {
        let last = all.iter().rposition(|it| *it != 1).unwrap_or(0);
        let texts: Vec<String> = all[..=last].iter().map(ToString::to_string).collect();
        texts.join(" x ")
    }
    let grid = config.grid.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    let of = |extents: String, what: &str| match extents.as_str() {
        "1" => format!("1 {what}"),
        _ => format!("{extents} {what}s"),
    };
    let (grid, block) = (extents(&grid), extents(&config.block));
    format!("{} of {}", of(grid, "block"), of(block, "thread"))
}

/// On a GPU, or on the emulator without checks.
fn once(
    standalone: &Standalone,
    device: &Device,
    (limits, console): (&limits::Arguments, &Console),
) -> Result<Vec<After>, Failure> {
    // One launch: nothing to estimate from.
    console.expect(0);
    console.begin(kernels(standalone));
    let unchecked = device.with_emulation(limits.limit(Emulation {
        is_checked: false,
        ..Emulation::default()
    }));
    let why = match unchecked {
        Some(_) => "--no-check leaves bounds and divergence alone",
        None => "a GPU does not check accesses; --device cpu does",
    };
    let after = match standalone.run(unchecked.as_ref().unwrap_or(device)) {
        Ok(after) => after,
        Err(StandaloneError::Driver(error)) if error.is_finding() => {
            return Err(Failure::Found(told(&error, limits)));
        }
        Err(error) => return Err(failure(error)),
    };
    console.say(&format!("Not checked: {why}."));
    let unexpected = standalone.unexpected(&after).map_err(failure)?;
    let unexpected: Vec<String> = unexpected.into_iter().map(|it| it.text).collect();
    match unexpected.is_empty() {
        true => Ok(after),
        false => Err(Failure::Found(unexpected.join("\n"))),
    }
}

/// A finding, with the option that helps where it is of how the launch is made.
fn told(error: &DriverError, limits: &limits::Arguments) -> String {
    if error.is_endless() {
        return format!("{error} (limits: {})", limits.text());
    }
    match error.wants_cooperation() {
        true => format!("{error}; --cooperative makes the launch one"),
        false => error.to_string(),
    }
}

impl Row {
    /// Returns the row of a buffer that is wanted.
    fn of(after: &After, outputs: &[Output]) -> Option<Row> {
        let is_shown = match outputs {
            [] => after.change != Change::Unchanged,
            _ => outputs.iter().any(|it| it.place == after.place),
        };
        is_shown.then(|| Row {
            argument: after.place.clone(),
            shape: after.shape(),
            change: after.change.to_string(),
            values: after.shown(),
            crc32: format!("{:08x}", after.checksum()),
        })
    }

    fn text(&self) -> String {
        let Row {
            argument,
            shape,
            change,
            values,
            crc32,
        } = self;
        let title = argument.title();
        format!("{title}, {shape}, {change}: {values} (crc32 {crc32})")
    }
}

/// Writes a buffer where it goes.
fn write(after: &After, outputs: &[Output]) -> Result<(), Failure> {
    let wanted = outputs.iter().filter(|it| it.place == after.place);
    for path in wanted.filter_map(|it| it.path.as_ref()) {
        let file = Destination::open(path, Unfinished::IsNothing)?;
        file.write_whole(|file| file.write_all(&after.bytes))?;
    }
    Ok(())
}
