//! `cargo bench`, and `cargo bench -- compare`: workloads at the values that they have for themselves.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::ceilings::known_ceilings;
use super::compare::judge;
use super::console::{Console, Target as Text};
use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::harness::{Run, Target};
use super::interrupt::Interrupt;
use super::lists::{MOST_RUNS, percent, whole};
use super::roofline::{say_left_out, sweep_failure};
use super::suite::{Study, Suite, Workloads};
use super::{Failure, command_line, driver_failure, streams};
use crate::compare::{Comparison, Table};
use crate::driver::DeviceChoice;
use crate::measure::{Runs, Sampling};
use crate::report::{Format, RunFacts, terminal};
use crate::sweep::{Plan, Record, Settings, Sweep};
use crate::workload::Bench;

/// A difference of so many percent from the run before is none.
pub(super) const TOLERANCE: f64 = 3.0;

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Measure workloads whose names contain this
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct CompareArguments {
    /// Rows to compare with, CSV or JSON [default: those of the last `cargo bench`]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// A difference up to this is none
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    tolerance: f64,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Args)]
struct Effort {
    #[command(flatten)]
    workloads: Workloads,

    /// auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (with the limits of that compute capability)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Timed launches of each point
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = whole::<u32>(1..=MOST_RUNS))]
    runs: u32,
}

impl CompareArguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default().inputs("--baseline", &self.baseline)
    }
}

/// Measures, shows, and keeps the rows for the next time.
pub(super) fn run(arguments: &Arguments, target: Target, run: Run) -> Result<(), Failure> {
    let (bench, plan) = arguments.effort.begin(&arguments.filter)?;
    let settings = match run {
        Run::Bench => arguments.effort.settings(),
        Run::Test => Settings::quick(),
    };
    let (records, ended) = measure(&bench, &plan, settings)?;
    if run == Run::Test {
        // The times of one sample, of code that may not be optimised, are none.
        ended?;
        streams::say(&format!(
            "{} ran, and what they wrote was compared",
            launches(&records)
        ));
        return Ok(());
    }
    let kept = kept(target, &bench);
    // A file that another version wrote, or a disk has cut off, is as good as none.
    let before = Table::read(&kept).ok();
    let after = Table::of_records(&records).map_err(Failure::failed)?;
    let comparison = before.and_then(|before| Comparison::of(&before, &after, TOLERANCE).ok());
    let changes = comparison.iter().flat_map(|it| &it.changes);
    let change = |key: &str| changes.clone().find(|it| it.key == key);
    let changes: Vec<_> = after.keys().map(change).collect();
    // What was measured before something failed is shown, and does not take the place of a whole run.
    if !records.is_empty() {
        streams::say(&terminal::measured(&records, &changes));
    }
    ended?;
    match arguments.filter.is_empty() && arguments.effort.workloads.is_default() {
        true => keep(&records, &bench, &kept),
        false => {
            streams::say("Not kept: later runs are compared with whole ones, at the defaults.");
            Ok(())
        }
    }
}

fn launches(records: &[Record]) -> String {
    match records.len() {
        1 => "1 launch".to_owned(),
        count => format!("{count} launches"),
    }
}

/// Measures and compares, and keeps nothing: the next comparison is with the same rows.
pub(super) fn compare(arguments: &CompareArguments, target: Target) -> Result<(), Failure> {
    let (bench, plan) = arguments.effort.begin("")?;
    let kept = kept(target, &bench);
    let before = match &arguments.baseline {
        Some(file) => Table::read(file).map_err(Failure::failed)?,
        None if !kept.exists() => {
            return Err(Failure::Failed(format!(
                "nothing to compare with: `cargo bench` keeps its rows in {}, and has not run yet on \
                 this device",
                kept.display()
            )));
        }
        None => Table::read(&kept).map_err(Failure::failed)?,
    };
    let (records, ended) = measure(&bench, &plan, arguments.effort.settings())?;
    ended?;
    let after = Table::of_records(&records).map_err(Failure::failed)?;
    let comparison = Comparison::of(&before, &after, arguments.tolerance);
    let mut comparison = comparison.map_err(Failure::failed)?;
    if !arguments.effort.workloads.is_default() {
        // Nothing is missing that was not asked for.
        comparison.only_before.clear();
    }
    judge(&comparison, streams::say)
}

impl Effort {
    /// The device, and what is to be measured of workloads whose names contain `filter`.
    fn begin(&self, filter: &str) -> Result<(Bench, Plan<'static>), Failure> {
        let bench = Suite::get().open(&self.device).map_err(driver_failure)?;
        let selected = self
            .workloads
            .select(Study::Sweep, bench.device().properties().is_emulated())?;
        let mut plan = self.workloads.plan(selected, Plan::default())?;
        let names: Vec<&str> = plan.selected.iter().map(|it| it.workload.name()).collect();
        if !names.iter().any(|name| name.contains(filter)) {
            return Err(Failure::Usage(format!(
                "no workload's name contains {filter:?}: there are {}",
                names.join(", ")
            )));
        }
        plan.selected
            .retain(|it| it.workload.name().contains(filter));
        Ok((bench, plan))
    }

    fn settings(&self) -> Settings {
        Settings {
            counters: false,
            sampling: Sampling {
                runs: Runs {
                    warmup: 3,
                    timed: self.runs,
                },
                noise_percent: None,
                most: self.runs,
            },
            twice: false,
        }
    }
}

/// The rows up to the first failure, and that.
fn measure(
    bench: &Bench,
    plan: &Plan<'_>,
    settings: Settings,
) -> Result<(Vec<Record>, Result<(), Failure>), Failure> {
    let interrupt = Interrupt::watch()?;
    let device = bench.device();
    let mut sweep = Sweep::new(bench, plan, settings).map_err(sweep_failure)?;
    let names: Vec<String> = sweep.points().map(ToString::to_string).collect();
    let console = Console::new(Text::Stdout, names.len() as u64);
    let ceilings = known_ceilings(device, None, &console)?;
    let about = match device.properties().is_emulated() {
        true => ": results match a GPU's; timings are those of this host",
        false => "",
    };
    console.say(&format!("{}{about}", device.properties().name));
    say_left_out(&sweep, &console);
    let mut records = Vec::new();
    let ended = names.into_iter().enumerate().try_for_each(|(index, name)| {
        interrupt.check()?;
        console.begin(name);
        let record = sweep.measure(index, ceilings.as_ref());
        records.push(record.map_err(sweep_failure)?);
        console.step();
        Ok(())
    });
    console.finish();
    Ok((records, ended))
}

/// Where the rows of a target on a device are kept: beside what cargo has built of it.
fn kept(target: Target, bench: &Bench) -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    // target/release/deps/NAME-HASH
    let built = program.parent().and_then(Path::parent);
    let folder = built.map_or_else(|| PathBuf::from("target"), Path::to_path_buf);
    let device = match bench.device().properties() {
        properties if properties.is_emulated() => "emulator".to_owned(),
        properties => properties.name.clone(),
    };
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let device: String = device.chars().map(plain).collect();
    folder
        .join("ridgepoint-rows")
        .join(target.package)
        .join(target.name)
        .join(format!("{device}.json"))
}

fn keep(records: &[Record], bench: &Bench, path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| super::cannot_write(folder, &error))?;
    }
    let properties = bench.device().properties().clone();
    let run = RunFacts::now(command_line(), properties, json!({}));
    Destination::open(path, Unfinished::IsNothing)?.write_whole(|output| {
        let mut tail = "";
        for (index, record) in records.iter().enumerate() {
            let row = run.row(record, Format::Json, index)?;
            output.write_all(&row.text)?;
            tail = row.tail;
        }
        output.write_all(tail.as_bytes())
    })
}
