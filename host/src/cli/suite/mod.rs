//! The workloads of a program, and the options that name them and their axes.

mod select;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, FromArgMatches};

use crate::driver::{DeviceChoice, DriverError, Embedded};
use crate::embedded::{self, Listed, Use};
use crate::kernels;
use crate::workload::{Axis, Bench, Workload};

/// The workloads of a program: set once, before its command line is read.
pub(super) struct Suite {
    /// The PTX of the workloads' kernels.
    pub(super) ptx: &'static [Embedded<'static>],
    pub(super) workloads: Vec<&'static dyn Workload>,
    /// The option that names them, and another name for it.
    option: [&'static str; 2],
    /// Other names of workloads, each behind the one that it stands for.
    aliases: Vec<[&'static str; 2]>,
    /// Those that a sweep takes where none is named.
    sweep: Vec<&'static str>,
    /// Those that an occupancy study takes where none is named.
    occupancy: Vec<&'static str>,
    /// Those that `all` stands for, if they have the axes that are given.
    all: Vec<&'static str>,
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

    /// Of a bench target, whose studies take all of its workloads.
    pub(super) fn of(
        ptx: &'static [Embedded<'static>],
        workloads: Vec<&'static dyn Workload>,
    ) -> Suite {
        let names: Vec<&'static str> = workloads.iter().map(|it| it.name()).collect();
        Suite {
            ptx,
            workloads,
            option: ["workload", "kernel"],
            aliases: Vec::new(),
            sweep: names.clone(),
            occupancy: names.clone(),
            all: names,
        }
    }

    /// Of the command `ridgepoint`.
    pub(super) fn embedded() -> Suite {
        let list = embedded::list();
        let with = |what| {
            let names = list.iter().filter(|it| it.is_for(what));
            names.map(|it| it.workload.name()).collect()
        };
        let alias = |it: &Listed| Some([it.workload.name(), it.alias?]);
        Suite {
            ptx: kernels::embedded_ptx(),
            workloads: embedded::all(),
            option: ["kernel", "workload"],
            aliases: list.iter().filter_map(alias).collect(),
            sweep: with(Use::Sweep),
            occupancy: with(Use::Occupancy),
            all: with(Use::All),
        }
    }

    /// Those that a study takes where none is named.
    pub(super) fn defaults(&self, study: Study) -> &[&'static str] {
        match study {
            Study::Sweep => &self.sweep,
            Study::Occupancy => &self.occupancy,
        }
    }

    /// The workload of a name, or of another name for it.
    pub(super) fn named(&self, name: &str) -> Option<&'static dyn Workload> {
        let alias = self.aliases.iter().find(|[_, alias]| *alias == name);
        self.find(alias.map_or(name, |[of, _]| of))
    }

    fn find(&self, name: &str) -> Option<&'static dyn Workload> {
        self.workloads.iter().find(|it| it.name() == name).copied()
    }

    pub(super) fn open(&self, choice: &DeviceChoice) -> Result<Bench, DriverError> {
        kernels::bench(choice, self.ptx)
    }

    /// The axes of all workloads, each name once: as those of `all` have them, if one of these has.
    fn axes(&self) -> Vec<Axis> {
        let of_all = self.all.iter().filter_map(|name| self.find(name));
        let all = of_all.chain(self.workloads.iter().copied());
        let all = all.flat_map(|workload| workload.axes());
        let mut axes: Vec<Axis> = Vec::new();
        for axis in all {
            match axes.iter().position(|it| it.name() == axis.name()) {
                Some(at) => axes[at] = axes[at].clone().or(&axis),
                None => axes.push(axis),
            }
        }
        axes
    }

    /// Those of `all`, which have options of their own.
    fn common_axes(&self) -> Vec<Axis> {
        let is_common = |axis: &Axis| {
            let mut of_all = self.all.iter().filter_map(|name| self.find(name));
            of_all.any(|workload| has_axis(workload, axis.name()))
        };
        self.axes().into_iter().filter(is_common).collect()
    }

    /// The names of these workloads as values of an option, with their other names.
    fn values(&self, names: impl IntoIterator<Item = &'static str>) -> Vec<PossibleValue> {
        let value = |name: &'static str| {
            let aliases = self.aliases.iter().filter(|[of, _]| *of == name);
            PossibleValue::new(name).aliases(aliases.map(|[_, alias]| *alias))
        };
        names.into_iter().map(value).collect()
    }
}

/// One of these, by any of its names.
fn one_of(values: Vec<PossibleValue>) -> impl TypedValueParser<Value = &'static str> {
    let known = values.clone();
    PossibleValuesParser::new(values).map(move |text: String| {
        let named = known.iter().find(|value| value.matches(&text, false));
        // The parser takes no other.
        named.map_or("", |value| kept(value.get_name().to_owned()))
    })
}

/// The names of the embedded workloads that are good for this, as values of an option.
pub(super) fn embedded_for(what: Use) -> impl TypedValueParser<Value = &'static str> {
    let names = embedded::list().iter().filter(move |it| it.is_for(what));
    one_of(Suite::embedded().values(names.map(|it| it.workload.name())))
}

fn has_axis(workload: &dyn Workload, name: &str) -> bool {
    workload.axes().iter().any(|axis| axis.name() == name)
}

/// The axes that are every workload's.
pub(super) const COMMON: [&str; 3] = ["block", "grid", "cache"];

/// The name of several workloads.
const ALL: &str = "all";

/// `--workload`, `--axis`, and an option for each axis of the suite's workloads.
#[derive(Clone, Debug)]
pub(super) struct Workloads {
    names: Vec<&'static str>,
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

const HEADING: &str = "Workloads and their axes";
const GROUP: &str = "workloads";
const AXIS: &str = "axis";

/// `--workload` and `--axis`; [`with_axes`] adds an option for each axis.
impl clap::Args for Workloads {
    fn augment_args(command: Command) -> Command {
        let suite = Suite::get();
        let names = suite.workloads.iter().map(|it| it.name());
        let names = one_of(suite.values(names.chain([ALL])));
        let workload = Arg::new("workload")
            .long(suite.option[0])
            .visible_alias(suite.option[1])
            .value_name("LIST")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(names)
            .hide_possible_values(true)
            .help_heading(HEADING);
        let axis = Arg::new(AXIS)
            .long(AXIS)
            .value_name("NAME=LIST")
            .action(ArgAction::Append)
            .value_parser(list)
            .help(
                "Values of an axis: n=1000,2^20, n=16:64:16 (from, to, step), n[pow2]=16:26. block, \
                 grid and cache are axes of every workload",
            )
            .help_heading(HEADING);
        let group = ArgGroup::new(GROUP).multiple(true).args(["workload", AXIS]);
        command.arg(workload).arg(axis).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Workloads::augment_args(command)
    }
}

/// The help of `--workload` of a command, with the workloads that it takes where none is named.
fn of_choices(suite: &Suite, command: &str) -> String {
    if suite.all.len() == suite.workloads.len() {
        return "Workloads by name, as `list` shows them; \"all\" means those with every axis that you set [default: all \
                workloads]"
            .to_owned();
    }
    let all = suite.all.join(", ");
    let default = match command {
        "occupancy" => format!(" [default: {}]", suite.occupancy.join(", ")),
        "check" => " [default: all kernels]".to_owned(),
        // It names one, or a file.
        "profile" => String::new(),
        _ => format!(" [default: {}]", suite.sweep.join(", ")),
    };
    format!(
        "Workloads by name, as `list` shows them; \"all\" means those of {all} with every axis that you set{default}"
    )
}

/// The commands with an option for each axis of the suite's workloads, where they take workloads. An axis has none of a
/// name that one of them, or cargo, has an option of: it is given by `--axis` alone.
pub(super) fn with_axes(commands: Command) -> Command {
    let taken = taken(&commands);
    let axes = Suite::get().common_axes().into_iter();
    let free = axes.filter(|axis| !taken.contains(axis.name()));
    let options: Vec<Arg> = free.map(|axis| option(&axis)).collect();
    commands.mut_subcommands(|command| match takes_workloads(&command) {
        true => {
            let help = of_choices(Suite::get(), command.get_name());
            let command = command.mut_arg("workload", |arg| arg.help(kept(help)));
            command.args(&options)
        }
        false => command,
    })
}

/// The names of all options of the commands that take workloads, and of those that every command has.
fn taken(commands: &Command) -> BTreeSet<String> {
    let takers = commands.get_subcommands().filter(|it| takes_workloads(it));
    let options = takers
        .chain([commands])
        .flat_map(Command::get_arguments)
        .flat_map(|it| {
            let aliases = it.get_all_aliases().unwrap_or_default();
            it.get_long().into_iter().chain(aliases).map(str::to_owned)
        });
    // Clap's own, and what cargo gives every target.
    options
        .chain(["help", "bench"].map(str::to_owned))
        .collect()
}

fn takes_workloads(command: &Command) -> bool {
    command.get_arguments().any(|it| it.get_id() == AXIS)
}

/// The beginning of an axis's option, as clap knows it: no field of a command's arguments has it.
const OF_AXIS: &str = "axis:";

fn id(axis: &str) -> &'static str {
    kept(format!("{OF_AXIS}{axis}"))
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
    let mut defaults: Vec<String> = same.iter().map(Axis::defaults_text).collect();
    defaults.sort();
    defaults.dedup();
    let all = axis.clone();
    let takes = move |text: &str| -> Result<String, String> {
        match same.iter().any(|axis| axis.parse(text).is_ok()) {
            true => Ok(text.to_owned()),
            false => all.parse(text).map(|_| text.to_owned()),
        }
    };
    let help = match (axis.is_setting(), &defaults[..]) {
        (true, _) => axis.description(),
        (false, [one]) => format!("{} [default: {one}]", axis.description()),
        (false, _) => format!(
            "{} [default: each workload's own, as `list` shows them]",
            axis.description()
        ),
    };
    let mut help = help.trim_start().to_owned();
    // As other options have it.
    if let Some(first) = help.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let option = Arg::new(id(name))
        .long(name)
        .value_parser(takes)
        .help(help)
        .help_heading(HEADING)
        .group(GROUP);
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
    if axis.is_empty() {
        return Err("no axis is named; expected NAME=LIST, such as n=2^20,2^24".to_owned());
    }
    if let Some((axis, scale)) = axis.split_once('[') {
        let scale = scale.trim_end_matches(']');
        return Err(format!(
            "{scale:?} is no scale; expected {axis}=LIST, or {axis}[pow2]=LIST for powers of two"
        ));
    }
    let inner = items.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let items = inner.unwrap_or(items);
    if items.split(',').any(|item| item.trim().is_empty()) {
        return Err(format!(
            "{items:?} has an empty item; expected values, such as {axis}=16,32"
        ));
    }
    let items = items.split(',');
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
        let given = matches.get_many(AXIS).into_iter().flatten();
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
            names: names.copied().collect(),
            lists,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Workloads::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;

    fn names(command: &Command) -> Vec<&str> {
        command.get_arguments().filter_map(Arg::get_long).collect()
    }

    #[test]
    fn an_axis_has_no_option_of_a_name_that_a_command_has_one_of() {
        let axes = Suite::get().common_axes();
        let of_workloads = |name| Workloads::augment_args(Command::new(name));
        let own = |name: &'static str| Arg::new(name).long(name);
        let commands = Command::new("test")
            .arg(own("color").global(true))
            .subcommand(of_workloads("sweep"))
            .subcommand(of_workloads("other").arg(own("vector").visible_alias("ilp")))
            .subcommand(Command::new("another").arg(own("k")));
        let taken = taken(&commands);
        for name in [
            "axis", "workload", "kernel", "vector", "ilp", "color", "help", "bench",
        ] {
            assert!(taken.contains(name), "{name}: {taken:?}");
        }
        assert!(!taken.contains("k"), "of a command that takes no workloads");
        assert!(axes.iter().any(|axis| axis.name() == "ilp"));
        let commands = with_axes(commands);
        let all: Vec<_> = commands.get_subcommands().map(names).collect();
        assert!(all[0].contains(&"k") && all[0].contains(&"n"), "{all:?}");
        assert!(!all[0].contains(&"vector") && !all[0].contains(&"ilp"));
        assert_eq!(all[2], ["k"], "{all:?}");
        commands.debug_assert();
    }
}
