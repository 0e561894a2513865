//! `ridgepoint run`: a kernel of any PTX file, executed and checked.

use std::env;

use clap::Args;
use serde::Serialize;

use super::all_gpus::{Short, without};
use super::console::Console;
use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::launch_options::{Described, failure};
use super::option_values::whole;
use super::{Failure, driver_failure, limits, row_format};
use crate::driver::{Device, DeviceChoice, DriverError, Emulation, LaunchConfig, Schedule};
use crate::report::counted;
use crate::standalone::{After, Change, Output, Standalone, StandaloneError};

const HELP: &str = "\
Example:
  ridgepoint run saxpy.ptx saxpy --grid 64 --block 256 \\
      --arg i32:16384 --arg f32:2.5 \\
      --arg f32[16384]=random --arg f32[16384]=ones --out 3

The emulator checks every access: bounds, races, divergence, reads of uninitialized memory. The kernel runs \
once in order and once per seed; each seed is a different order of blocks, warps and lanes. A finding names the \
command that replays it.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Show this buffer after the launch, by its argument's number from 0; NUMBER=FILE writes all its bytes
    /// to a file [default: show each buffer that has changed, or may have]
    #[arg(long = "out", value_name = "NUMBER[=FILE]")]
    outputs: Vec<Output>,

    /// Device: cpu (the emulator), cpu:sm_NN (the emulator with that architecture's limits), cuda, cuda:N
    /// or auto
    #[arg(short, long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,

    /// Also run under N seeds; each is a different order of blocks, warps and lanes
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,

    /// Run under this seed alone, to replay what was found under it
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,

    /// Run once, on all cores, and check only bounds and divergence
    #[arg(long, conflicts_with_all = ["seeds", "seed"])]
    no_check: bool,

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
    argument: usize,
    shape: String,
    change: String,
    /// The first elements.
    values: String,
    crc32: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let standalone = arguments.described.read(&arguments.outputs)?;
    let wanted = standalone.outputs().iter();
    let paths: Vec<_> = wanted.filter_map(|it| it.path.clone()).collect();
    Files::default().outputs("--out", &paths).check()?;
    let device = Device::open(&arguments.device, &[]).map_err(driver_failure)?;
    let orders = arguments.orders();
    let console = arguments.printed.console(orders.len() as u64);
    console.say(&format!(
        "{} of {}, {}, on {}",
        standalone.kernel(),
        standalone.file().display(),
        shape(standalone.config()),
        device.properties().name,
    ));
    let is_emulated = device.properties().is_emulated();
    let after = match is_emulated && !arguments.no_check {
        true => checked(&standalone, &device, (&orders, &arguments.limits, &console)),
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
    console.begin(standalone.kernel().to_owned());
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
    Ok(after)
}

impl Arguments {
    /// In order, and under each seed; or under one alone.
    fn orders(&self) -> Vec<Order> {
        match self.seed {
            Some(seed) => vec![Order::Seed(seed)],
            None => [Order::InOrder]
                .into_iter()
                .chain((0..self.seeds).map(Order::Seed))
                .collect(),
        }
    }
}

/// An order of blocks, warps and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    InOrder,
    Seed(u64),
}

impl Order {
    fn schedule(self) -> Schedule {
        match self {
            Order::InOrder => Schedule::InOrder,
            Order::Seed(seed) => Schedule::Seeded(seed),
        }
    }

    /// `in order`, `seed 3`
    fn name(self) -> String {
        match self {
            Order::InOrder => "in order".to_owned(),
            Order::Seed(seed) => format!("seed {seed}"),
        }
    }

    /// The command that runs this order alone, of the words of one that runs it among others.
    fn replay(self, words: impl Iterator<Item = String>) -> String {
        let mut words: Vec<String> = ["ridgepoint".to_owned()].into_iter().chain(words).collect();
        words.extend(match self {
            Order::InOrder => ["--seeds".to_owned(), "0".to_owned()],
            Order::Seed(seed) => ["--seed".to_owned(), seed.to_string()],
        });
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
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

/// Runs all orders, whatever is found in one of them; but none after one that a limit has ended.
fn checked(
    standalone: &Standalone,
    device: &Device,
    (orders, limits, console): (&[Order], &limits::Arguments, &Console),
) -> Result<Vec<After>, Failure> {
    let mut runs = Runs::default();
    for &order in orders {
        console.begin(order.name());
        let emulation = Emulation {
            schedule: order.schedule(),
            is_checked: true,
            ..Emulation::default()
        };
        let device = device.with_emulation(limits.limit(emulation));
        let device = device.expect("a device that is emulated");
        runs.add(standalone.run(&device), order, (limits, console))?;
        console.step();
        if runs.is_endless {
            break;
        }
    }
    console.finish();
    runs.end(standalone.kernel(), orders, console)
}

/// Options that the command which replays a finding has its own of.
const REPLACED: [Short; 3] = [
    Short("--seeds", None),
    Short("--seed", None),
    Short("--format", Some('f')),
];

/// The results of the launches so far.
#[derive(Default)]
struct Runs {
    first: Option<Vec<After>>,
    findings: Vec<String>,
    /// Launches in which something was found.
    failed: u64,
    /// The first schedule with another result than the first.
    differs: Option<String>,
    /// Launches that have ended, or were ended.
    done: usize,
    /// Whether the last one went on until a limit ended it.
    is_endless: bool,
}

impl Runs {
    fn add(
        &mut self,
        ran: Result<Vec<After>, StandaloneError>,
        order: Order,
        (limits, console): (&limits::Arguments, &Console),
    ) -> Result<(), Failure> {
        self.done += 1;
        match ran {
            Ok(after) => self.compare(after, &order.name()),
            Err(StandaloneError::Driver(error)) if error.is_finding() => {
                self.failed += 1;
                self.is_endless = error.is_endless();
                let finding = told(&error, limits);
                if !self.findings.contains(&finding) {
                    let words = without(env::args_os().skip(1), &REPLACED);
                    let words = words.iter().map(|it| it.to_string_lossy().into_owned());
                    let (name, replay) = (order.name(), order.replay(words));
                    console.say(&format!("{finding} ({name})\n  replay: {replay}"));
                    self.findings.push(finding);
                }
            }
            Err(error) => return Err(failure(error)),
        }
        Ok(())
    }

    fn compare(&mut self, after: Vec<After>, when: &str) {
        let Some(first) = &self.first else {
            self.first = Some(after);
            return;
        };
        let mut both = first.iter().zip(&after);
        if let (None, Some((first, _))) = (&self.differs, both.find(|(first, it)| !first.is_as(it)))
        {
            self.differs = Some(format!("argument {} under {when}", first.place));
        }
    }

    fn end(self, kernel: &str, orders: &[Order], console: &Console) -> Result<Vec<After>, Failure> {
        let left = orders.len().saturating_sub(self.done);
        let what = match self.failed {
            0 => "nothing was found".to_owned(),
            failed => format!("something was found in {failed} of them"),
        };
        let orders = &orders[..self.done.min(orders.len())];
        let schedules = match orders {
            [Order::InOrder] => "1 launch, in order".to_owned(),
            [order] => format!("1 launch, under {}", order.name()),
            _ => format!(
                "{}, in order and under {}",
                counted(orders.len() as u64, "launch"),
                counted(orders.len() as u64 - 1, "seed")
            ),
        };
        console.say(&format!("Checked {kernel}: {schedules}; {what}."));
        if self.is_endless && left > 0 {
            let launches = counted(left as u64, "launch");
            console.say(&format!(
                "note: not run: {launches} in other orders, which may go on for as long"
            ));
        }
        if let Some(what) = self.differs {
            console.say(&format!(
                "note: the result depends on the order of threads: {what} differs from the first run"
            ));
        }
        match (self.findings.len(), self.first) {
            (0, Some(after)) => Ok(after),
            (count, _) => Err(Failure::Found(counted(count as u64, "finding"))),
        }
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
            argument: after.place,
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
        format!("argument {argument}, {shape}, {change}: {values} (crc32 {crc32})")
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

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn the_command_that_replays_an_order_runs_it_alone() {
        let words = || {
            ["run", "a b.ptx", "k", "--grid", "4"]
                .map(str::to_owned)
                .into_iter()
        };
        let replay = Order::Seed(3).replay(words());
        assert_eq!(replay, "ridgepoint run 'a b.ptx' k --grid 4 --seed 3");
        let replay = Order::InOrder.replay(words());
        assert_eq!(replay, "ridgepoint run 'a b.ptx' k --grid 4 --seeds 0");
    }
}
