//! The workloads of a program, and the options that name them and their axes.

use std::sync::OnceLock;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, FromArgMatches};
use itertools::Itertools;

use super::Failure;
use super::lists::{MOST_THREADS, each_once, whole};
use crate::driver::{DeviceChoice, DriverError, Embedded};
use crate::kernels;
use crate::sweep::{Plan, Selection};
use crate::workload::{Axis, Bench, Value, Workload};

/// What a program measures: set once, before its command line is read.
pub(super) struct Suite {
    /// The PTX of the workloads' kernels.
    pub(super) ptx: &'static [Embedded<'static>],
    pub(super) workloads: Vec<&'static dyn Workload>,
    /// The option that names them, and another name for it.
    pub(super) option: [&'static str; 2],
    pub(super) sweep: Choice,
    pub(super) occupancy: Choice,
}

/// Which of a suite's workloads a study takes; without names, all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choice {
    /// Where none is named.
    pub(super) default: &'static [&'static str],
    /// As `all`.
    pub(super) all: &'static [&'static str],
}

/// A command that takes workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Study {
    Sweep,
    Occupancy,
}

static SUITE: OnceLock<Suite> = OnceLock::new();

/// Options have names and help that live as long as the program.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Suite {
    /// Makes this the program's suite, unless it has one.
    pub(super) fn set(suite: Suite) {
        // A second one would be the tests', which are one program.
        let _ = SUITE.set(suite);
    }

    /// The program's suite.
    pub(super) fn get() -> &'static Suite {
        SUITE.get_or_init(Suite::embedded)
    }

    /// Of the command `ridgepoint`.
    pub(super) fn embedded() -> Suite {
        Suite {
            ptx: kernels::embedded_ptx(),
            workloads: crate::embedded::all(),
            option: ["kernel", "workload"],
            sweep: Choice {
                default: &["power-sum"],
                // The others have one intensity.
                all: &["power-sum", "horner"],
            },
            occupancy: Choice {
                default: &["copy", "fma"],
                all: &[],
            },
        }
    }

    fn choice(&self, study: Study) -> Choice {
        match study {
            Study::Sweep => self.sweep,
            Study::Occupancy => self.occupancy,
        }
    }

    pub(super) fn open(&self, choice: &DeviceChoice) -> Result<Bench, DriverError> {
        kernels::bench(choice, self.ptx)
    }

    /// The axes of all workloads, each name once.
    fn axes(&self) -> Vec<Axis> {
        let all = self.workloads.iter().flat_map(|workload| workload.axes());
        all.unique_by(Axis::name).collect()
    }

    fn names(&self) -> Vec<&'static str> {
        let names = self.workloads.iter().map(|workload| workload.name());
        names.map(|name| kept(name.to_owned())).collect()
    }
}

/// The axes that are every workload's.
pub(super) const COMMON: [&str; 3] = ["block", "grid", "cache"];

/// Of every workload in the suite.
const ALL: &str = "all";

/// `--workload`, `--axis`, and an option for each axis of the suite's workloads.
#[derive(Clone, Debug)]
pub(super) struct Workloads {
    names: Vec<String>,
    lists: Vec<List>,
}

/// Values that an option gives an axis.
#[derive(Clone, Debug)]
struct List {
    /// As it was typed: `--k`, `--axis k`.
    option: String,
    axis: String,
    /// Whether the items are exponents of two.
    are_powers: bool,
    items: Vec<String>,
}

impl clap::Args for Workloads {
    fn augment_args(command: Command) -> Command {
        const HEADING: &str = "Workloads and their axes";
        let suite = Suite::get();
        let names = suite.names().into_iter().chain([ALL]);
        let workload = Arg::new("workload")
            .long(suite.option[0])
            .visible_alias(suite.option[1])
            .value_name("LIST")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(names))
            .help(kept(of_choices(suite)))
            .help_heading(HEADING);
        let axis = Arg::new("axis")
            .long("axis")
            .value_name("NAME=LIST")
            .action(ArgAction::Append)
            .value_parser(list)
            .help(
                "Values of an axis: n=1000,2^20, n=16:64:16 (from, to, step), n[pow2]=16:26. block, \
                 grid and cache are axes of every workload",
            )
            .help_heading(HEADING);
        let mut command = command.arg(workload).arg(axis);
        let mut group = ArgGroup::new("workloads")
            .multiple(true)
            .args(["workload", "axis"]);
        let taken: Vec<&str> = RESERVED.into_iter().chain(COMMON).collect();
        for axis in suite.axes() {
            // Such an axis has `--axis` alone.
            if taken.contains(&axis.name()) {
                continue;
            }
            command = command.arg(option(&axis).help_heading(HEADING));
            group = group.arg(id(axis.name()));
        }
        command.group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Workloads::augment_args(command)
    }
}

/// What `--workload` says of itself.
fn of_choices(suite: &Suite) -> String {
    let of = |choice: Choice| match choice.default {
        [] => ALL.to_owned(),
        names => names.join(","),
    };
    let (sweep, occupancy) = (of(suite.sweep), of(suite.occupancy));
    match sweep == occupancy {
        true => format!("Workloads to measure [default: {sweep}]"),
        false => {
            format!("Workloads to measure [default: {sweep}; in an occupancy study {occupancy}]")
        }
    }
}

/// Options of the commands that take workloads: no axis has one of its own with such a name.
const RESERVED: [&str; 33] = [
    "aa",
    "arch",
    "arg",
    "axis",
    "baseline",
    "bench",
    "ceilings",
    "device",
    "device-times",
    "format",
    "help",
    "json",
    "kernel",
    "launch",
    "lines",
    "max-registers",
    "max-runs",
    "noise",
    "output",
    "page",
    "plot",
    "profile",
    "quiet",
    "registers",
    "report",
    "roofs",
    "runs",
    "seeds",
    "shared",
    "tolerance",
    "trace",
    "warmup",
    "workload",
];

/// What clap knows an axis's option by: no field of a command's arguments is called so.
fn id(axis: &str) -> &'static str {
    kept(format!("axis:{axis}"))
}

/// `--NAME LIST`. Where workloads have different axes of the name, what one of them takes is taken, and
/// each workload looks again.
fn option(axis: &Axis) -> Arg {
    let name = axis.name();
    let same = Suite::get().workloads.iter();
    let same: Vec<Axis> = same
        .flat_map(|workload| workload.axes())
        .filter(|other| other.name() == name)
        .collect();
    let takes = move |text: &str| -> Result<String, String> {
        let mut parsed = same.iter().map(|axis| axis.parse(text));
        let first = parsed.next().unwrap_or(Ok(Vec::new()));
        match first.is_ok() || parsed.any(|it| it.is_ok()) {
            true => Ok(text.to_owned()),
            false => Err(first.err().unwrap_or_default()),
        }
    };
    let help = match axis.is_setting() {
        true => axis.description(),
        false => format!("{} [default: {}]", axis.description(), axis.defaults_text()),
    };
    let mut help = help.trim_start().to_owned();
    // As other options have it.
    if let Some(first) = help.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let option = Arg::new(id(name)).long(name).value_parser(takes).help(help);
    match axis.is_setting() {
        true => option.value_name("NUMBER"),
        false => option
            .value_name("LIST")
            .value_delimiter(',')
            .action(ArgAction::Append),
    }
}

/// The value of `--axis`.
fn list(text: &str) -> Result<List, String> {
    let (name, items) = text
        .split_once('=')
        .ok_or("expected NAME=LIST, such as n=2^20,2^24")?;
    let (axis, are_powers) = match name.strip_suffix("[pow2]") {
        Some(axis) => (axis, true),
        None => (name, false),
    };
    let inner = items.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let items = inner.unwrap_or(items).split(',');
    Ok(List {
        option: format!("--axis {axis}"),
        axis: axis.to_owned(),
        are_powers,
        items: items.map(str::to_owned).collect(),
    })
}

impl FromArgMatches for Workloads {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Workloads, clap::Error> {
        let names = matches.get_many("workload").into_iter().flatten();
        let given = matches.get_many("axis").into_iter().flatten();
        let mut lists: Vec<List> = given.cloned().collect();
        let axes = Suite::get().axes().into_iter();
        for name in axes.map(|axis| axis.name()) {
            let items = matches.try_get_many::<String>(id(name)).ok().flatten();
            lists.extend(items.map(|items| List {
                option: format!("--{name}"),
                axis: name.to_owned(),
                are_powers: false,
                items: items.cloned().collect(),
            }));
        }
        Ok(Workloads {
            names: names.cloned().collect(),
            lists,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Workloads::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Workloads {
    /// The workloads, each with the values of its axes.
    pub(super) fn select(
        &self,
        study: Study,
        is_emulated: bool,
    ) -> Result<Vec<Selection<'static>>, Failure> {
        let selected = self.workloads(study);
        for (index, list) in self.lists.iter().enumerate() {
            if self.lists[..index]
                .iter()
                .any(|other| other.axis == list.axis)
            {
                return Err(Failure::Usage(format!(
                    "{}: the axis {} is given twice",
                    list.option, list.axis
                )));
            }
            let axes = selected.iter().flat_map(|workload| workload.axes());
            let axes: Vec<&str> = axes
                .map(|axis| axis.name())
                .chain(COMMON)
                .unique()
                .collect();
            if !axes.contains(&list.axis.as_str()) {
                let names = selected.iter().map(|workload| workload.name());
                return Err(Failure::Usage(format!(
                    "{} has no effect on {}: the axes are {}",
                    list.option,
                    names.format(", "),
                    axes.join(", ")
                )));
            }
        }
        selected
            .into_iter()
            .map(|workload| self.of(workload, study, is_emulated))
            .collect()
    }

    /// The selected workloads.
    fn workloads(&self, study: Study) -> Vec<&'static dyn Workload> {
        let suite = Suite::get();
        let choice = suite.choice(study);
        let every: Vec<&str> = suite.workloads.iter().map(|it| it.name()).collect();
        let or_every = |names: &[&'static str]| match names {
            [] => every.clone(),
            names => names.to_vec(),
        };
        let names: Vec<&str> = match &self.names[..] {
            [] => or_every(choice.default),
            names => names
                .iter()
                .flat_map(|name| match name.as_str() {
                    ALL => or_every(choice.all),
                    name => vec![name],
                })
                .unique()
                .collect(),
        };
        // In the order in which they are named.
        let find = |name: &str| suite.workloads.iter().find(|it| it.name() == name).copied();
        names.into_iter().filter_map(find).collect()
    }

    fn of(
        &self,
        workload: &'static dyn Workload,
        study: Study,
        is_emulated: bool,
    ) -> Result<Selection<'static>, Failure> {
        let mut selection = Selection {
            workload,
            values: Vec::new(),
            settings: Vec::new(),
        };
        for axis in workload.axes() {
            let list = self.lists.iter().find(|list| list.axis == axis.name());
            let values = match list {
                Some(list) => list.values(&axis)?,
                None if study == Study::Occupancy => axis.occupancy_defaults(is_emulated).to_vec(),
                None => axis.defaults(is_emulated).to_vec(),
            };
            match (axis.is_setting(), &values[..]) {
                (true, []) => {}
                (true, [value]) => selection.settings.push((axis.name(), value.clone())),
                (true, _) => {
                    return Err(Failure::Usage(format!(
                        "--{}: one value is possible",
                        axis.name()
                    )));
                }
                (false, _) => selection.values.push((axis.name(), values)),
            }
        }
        Ok(selection)
    }

    /// Whether nothing was asked for but what the workloads have for themselves.
    pub(super) fn is_default(&self) -> bool {
        self.names.is_empty() && self.lists.is_empty()
    }

    /// Refuses values of the axes of every workload that have no effect on a study.
    pub(super) fn refuse_common(&self, axes: &[&str], why: &str) -> Result<(), Failure> {
        match self
            .lists
            .iter()
            .find(|list| axes.contains(&list.axis.as_str()))
        {
            Some(list) => Err(Failure::Usage(format!(
                "{} has no effect {why}",
                list.option
            ))),
            None => Ok(()),
        }
    }

    /// The selected workloads, with the values that `--axis` gives the axes of every workload in place
    /// of those of `others`.
    pub(super) fn plan(
        &self,
        selected: Vec<Selection<'static>>,
        others: Plan<'static>,
    ) -> Result<Plan<'static>, Failure> {
        Ok(Plan {
            selected,
            blocks: self
                .common("block", whole::<u32>(1..=MOST_THREADS))?
                .unwrap_or(others.blocks),
            grids: self.common("grid", str::parse)?.unwrap_or(others.grids),
            caches: self.common("cache", str::parse)?.unwrap_or(others.caches),
        })
    }

    /// The values that `--axis` gives an axis of every workload, where it does.
    fn common<T: PartialEq>(
        &self,
        axis: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Vec<T>>, Failure> {
        let Some(list) = self.lists.iter().find(|list| list.axis == axis) else {
            return Ok(None);
        };
        let mut values = Vec::new();
        for item in &list.items {
            // Ranges and powers of numbers, and names as they are.
            let texts = match Axis::whole("", []).parse(item) {
                Ok(numbers) if list.are_powers => numbers.iter().map(power).collect(),
                Ok(numbers) => numbers.iter().map(ToString::to_string).collect(),
                Err(_) => vec![item.clone()],
            };
            for text in texts {
                values.push(parse(&text).map_err(|error| list.refused(item, &error))?);
            }
        }
        Ok(Some(each_once(values)))
    }
}

fn power(exponent: &Value) -> String {
    format!("2^{exponent}")
}

impl List {
    fn values(&self, axis: &Axis) -> Result<Vec<Value>, Failure> {
        let mut values = Vec::new();
        for item in &self.items {
            let parsed = match self.are_powers {
                true => axis.parse_powers(item),
                false => axis.parse(item),
            };
            values.extend(parsed.map_err(|error| self.refused(item, &error))?);
        }
        Ok(each_once(values))
    }

    fn refused(&self, item: &str, error: &str) -> Failure {
        Failure::Usage(format!(
            "invalid value '{item}' for '{}': {error}",
            self.option
        ))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::*;

    fn parse(words: &str) -> Result<Workloads, clap::Error> {
        let command = Workloads::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(words.split_whitespace())?;
        Workloads::from_arg_matches(&matches)
    }

    /// The names of what is selected, with so many values of the axis `k` or `ilp`.
    fn selected(words: &str, study: Study) -> Result<Vec<(String, usize)>, Failure> {
        let workloads = parse(words).expect("words that clap takes");
        let selected = workloads.select(study, true)?;
        let values = |selection: &Selection<'_>| {
            let mut all = selection.values.iter();
            let found = all.find(|(name, _)| ["k", "ilp"].contains(name));
            found.map_or(0, |(_, values)| values.len())
        };
        let named = selected.iter();
        Ok(named
            .map(|it| (it.workload.name().to_owned(), values(it)))
            .collect())
    }

    #[test]
    fn workloads_are_taken_in_the_order_of_their_names() {
        let of = |words, study| {
            let selected = selected(words, study).expect("there are some");
            selected
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(of("", Study::Sweep), ["power-sum"]);
        assert_eq!(of("", Study::Occupancy), ["copy", "fma"]);
        assert_eq!(
            of("--kernel horner,power-sum", Study::Sweep),
            ["horner", "power-sum"]
        );
        assert_eq!(
            of("--workload all,copy", Study::Sweep),
            ["power-sum", "horner", "copy"]
        );
        assert_eq!(of("--kernel copy,copy", Study::Occupancy), ["copy"]);
    }

    #[test]
    fn an_axis_has_an_option_of_its_own_and_that_of_all() {
        let count = |words| selected(words, Study::Sweep).expect("values")[0].1;
        assert_eq!(count("--k 1,2,3,2"), 3);
        assert_eq!(count("--axis k=1:5"), 5);
        assert_eq!(count("--axis k=[1,10:30:10]"), 4);
        assert_eq!(count("--axis k[pow2]=0:4"), 5);
        for words in [
            "--k 1 --axis k=2",
            "--axis m=1",
            "--kernel copy --k 1",
            "--axis k=0",
            "--x 1 --axis x=2",
        ] {
            assert!(
                matches!(selected(words, Study::Sweep), Err(Failure::Usage(_))),
                "{words}"
            );
        }
        for words in ["--k 0", "--axis k", "--kernel fft", "--dtype f16"] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn axes_of_every_workload_have_ranges_and_names() {
        let workloads = parse("--axis block[pow2]=5:7 --axis grid=full,8x").expect("words");
        let plan = workloads.plan(Vec::new(), Plan::default()).expect("values");
        assert_eq!(
            (plan.blocks, plan.grids.len(), plan.caches.len()),
            (vec![32, 64, 128], 2, 1)
        );
        let unknown = parse("--axis cache=hot").expect("words");
        assert!(unknown.plan(Vec::new(), Plan::default()).is_err());
        assert!(unknown.refuse_common(&["cache"], "here").is_err());
    }
}
