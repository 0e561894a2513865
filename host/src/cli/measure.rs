//! `ridgepoint measure`, which is also `cargo bench`: workloads at the values that they have for themselves.

use std::cell::OnceCell;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use serde_json::json;

use super::ceilings::known_ceilings;
use super::console::{Console, Target as Text};
use super::destination::{Destination, Unfinished};
use super::interrupt::Interrupt;
use super::option_values::{MAX_RUNS, whole};
use super::roofline::{say_left_out, sweep_failure};
use super::suite::{Study, Suite, Workloads};
use super::workload_commands::Program;
use super::{Failure, command_line, driver_failure, row_format};
use crate::ceilings::cache_path;
use crate::compare::{Comparison, Rules, Table};
use crate::driver::DeviceChoice;
use crate::measure::{Runs, Sampling};
use crate::report::{Format, RunFacts, terminal};
use crate::sweep::{Plan, Record, Settings, Sweep};
use crate::workload::Bench;

/// A difference of so many percent from the run before is none.
pub(super) const TOLERANCE: f64 = 3.0;

#[derive(Args)]
pub(super) struct Arguments {
    /// Measure workloads whose names contain this
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,

    #[command(flatten)]
    effort: Effort,

    #[command(flatten)]
    printed: row_format::Arguments,
}

/// The effort of a measurement.
#[derive(Args)]
pub(super) struct Effort {
    #[command(flatten)]
    workloads: Workloads,

    /// Device: auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (the emulator with that architecture's
    /// limits)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Number of timed launches of each point
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = whole::<u32>(1..=MAX_RUNS))]
    runs: u32,
}

/// Measures, shows, and keeps the rows for the next time.
pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    let printed = &arguments.printed;
    let measurement = arguments
        .effort
        .begin(&arguments.filter, printed.target())?;
    let (records, ended) = measurement.run()?;
    let console = printed.console(0);
    let kept = measurement.kept(program);
    // A file that another version wrote, or a disk has cut off, is as good as none.
    let before = kept.as_ref().and_then(|path| Table::read(path).ok());
    let after = Table::of_records(&records).map_err(Failure::failed)?;
    let comparison = before
        .and_then(|before| Comparison::of(&before, &after, &Rules::tolerating(TOLERANCE)).ok());
    let changes = comparison.iter().flat_map(|it| &it.changes);
    let change = |key: &str| changes.clone().find(|it| it.key == key);
    let changes: Vec<_> = after.keys().map(change).collect();
    // What was measured before something failed is shown, and does not take the place of a whole run.
    if !records.is_empty() {
        match printed.format() {
            Some(format) => {
                let run = measurement.facts();
                let rows = records.iter().enumerate();
                row_format::print(rows.map(|(index, record)| run.row(record, format, index)))?;
            }
            None => console.say(&terminal::measured(&records, &changes, console.width())),
        }
    }
    ended?;
    let is_whole = arguments.filter.is_empty() && arguments.effort.is_default();
    match (is_whole, kept) {
        (true, Some(path)) => keep(&records, &measurement.facts(), &path),
        (true, None) => {
            console.say("Not kept: there is no cache folder.");
            Ok(())
        }
        (false, _) => {
            console.say("Not kept: later runs are compared with whole ones, at the defaults.");
            Ok(())
        }
    }
}

/// Runs each point of a workload once, and says nothing: the times of one sample, of code that may not be optimised, are
/// none.
pub(super) fn once(workload: &'static str) -> Result<(), Failure> {
    thread_local! {
        /// That of all workloads: the kernels are loaded once.
        static BENCH: OnceCell<Rc<Bench>> = const { OnceCell::new() };
    }
    let effort = Effort {
        workloads: Workloads::named(workload),
        device: DeviceChoice::Auto,
        runs: 1,
    };
    let bench = match BENCH.with(|it| it.get().cloned()) {
        Some(bench) => bench,
        None => {
            let bench = effort.open()?;
            BENCH.with(|it| it.get_or_init(|| bench).clone())
        }
    };
    let mut measurement = effort.of(bench, "", Text::Nothing)?;
    measurement.settings = Settings::quick();
    let (_, ended) = measurement.run()?;
    ended
}

impl Effort {
    /// The device, and what is to be measured of workloads whose names contain `filter`, with text to `target`.
    pub(super) fn begin(&self, filter: &str, target: Text) -> Result<Measurement, Failure> {
        self.of(self.open()?, filter, target)
    }

    fn open(&self) -> Result<Rc<Bench>, Failure> {
        let bench = Suite::get().open(&self.device).map_err(driver_failure)?;
        Ok(Rc::new(bench))
    }

    fn of(&self, bench: Rc<Bench>, filter: &str, target: Text) -> Result<Measurement, Failure> {
        let workloads = self.workloads.containing(filter)?;
        let is_emulated = bench.device().properties().is_emulated();
        let selected = workloads.select(Study::Sweep, is_emulated)?;
        let plan = workloads.plan(selected, Plan::default())?;
        Ok(Measurement {
            bench,
            plan,
            settings: self.settings(),
            target,
        })
    }

    /// Whether the workloads and their values are those that they have for themselves.
    pub(super) fn is_default(&self) -> bool {
        self.workloads.is_default()
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

/// The plan of a measurement, and its device.
pub(super) struct Measurement {
    bench: Rc<Bench>,
    plan: Plan<'static>,
    settings: Settings,
    target: Text,
}

impl Measurement {
    /// Returns the facts that are needed to repeat it.
    fn facts(&self) -> RunFacts {
        let properties = self.bench.device().properties().clone();
        RunFacts::now(command_line(), properties, json!({}))
    }

    /// The rows up to the first failure, and that.
    fn run(&self) -> Result<(Vec<Record>, Result<(), Failure>), Failure> {
        let interrupt = Interrupt::watch();
        let device = self.bench.device();
        let mut sweep =
            Sweep::new(&self.bench, &self.plan, self.settings).map_err(sweep_failure)?;
        let names: Vec<String> = sweep.points().map(ToString::to_string).collect();
        let console = Console::new(self.target, names.len() as u64);
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

    /// All rows.
    pub(super) fn records(&self) -> Result<Vec<Record>, Failure> {
        let (records, ended) = self.run()?;
        ended.map(|()| records)
    }

    /// The rows that were kept last on this device.
    pub(super) fn last(&self, program: Program) -> Result<Table, Failure> {
        let command = match program {
            Program::Ridgepoint => "ridgepoint measure",
            Program::Bench(..) => "cargo bench",
        };
        match self.kept(program) {
            Some(kept) if kept.exists() => Table::read(&kept).map_err(Failure::failed),
            Some(kept) => Err(Failure::Failed(format!(
                "nothing to compare with: `{command}` keeps its rows in {}, and has not run yet on this \
                 device",
                kept.display()
            ))),
            None => Err(Failure::Failed(format!(
                "nothing to compare with: `{command}` keeps its rows in the cache folder, and there is none"
            ))),
        }
    }

    /// Where the rows of a program on a device are kept: of a bench target beside what cargo has built of it, of
    /// `ridgepoint` with the ceilings in the user's cache folder, where there is one.
    fn kept(&self, program: Program) -> Option<PathBuf> {
        let properties = self.bench.device().properties();
        let Program::Bench(target) = program else {
            let ceilings = cache_path(properties)?;
            let name = ceilings.file_name()?.to_string_lossy();
            return Some(ceilings.with_file_name(name.replacen("ceilings", "rows", 1)));
        };
        let program = env::current_exe().unwrap_or_default();
        // target/release/deps/NAME-HASH
        let built = program.parent().and_then(Path::parent);
        let folder = built.map_or_else(|| PathBuf::from("target"), Path::to_path_buf);
        let device = match properties.is_emulated() {
            true => "emulator".to_owned(),
            false => properties.name.clone(),
        };
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        };
        let device: String = device.chars().map(plain).collect();
        let folder = folder.join("ridgepoint-rows").join(target.package);
        Some(folder.join(target.name).join(format!("{device}.json")))
    }
}

fn keep(records: &[Record], run: &RunFacts, path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| super::cannot_write(folder, &error))?;
    }
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
