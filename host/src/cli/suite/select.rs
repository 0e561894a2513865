//! The selection by the options of workloads: workloads, and values of their axes.

use itertools::Itertools;

use super::{ALL, COMMON, List, Study, Suite, Workloads, has_axis};
use crate::cli::option_values::{MAX_THREADS, each_once, whole};
use crate::cli::{Failure, is_command};
use crate::sweep::{Plan, Selection};
use crate::workload::{Axis, Value, Workload};

impl Workloads {
    /// The workloads, each with the values of its axes.
    pub(in crate::cli) fn select(
        &self,
        study: Study,
        is_emulated: bool,
    ) -> Result<Vec<Selection<'static>>, Failure> {
        let selected = self.workloads(study)?;
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

    /// The selected workloads, in the order in which they are named.
    fn workloads(&self, study: Study) -> Result<Vec<&'static dyn Workload>, Failure> {
        let suite = Suite::get();
        let names = match &self.names[..] {
            [] => suite.defaults(study),
            names => names,
        };
        let mut selected = Vec::new();
        for name in names.iter().unique() {
            match *name {
                ALL => selected.extend(self.with_all_axes(suite)?),
                name => selected.extend(suite.find(name)),
            }
        }
        Ok(selected.into_iter().unique_by(|it| it.name()).collect())
    }

    /// Those that `all` stands for: with every axis that is given values.
    fn with_all_axes(&self, suite: &Suite) -> Result<Vec<&'static dyn Workload>, Failure> {
        let given = self.lists.iter().map(|list| list.axis.as_str());
        let given: Vec<&str> = given.filter(|axis| !COMMON.contains(axis)).collect();
        let all = suite.all.iter().filter_map(|name| suite.find(name));
        let found: Vec<_> = all
            .filter(|workload| given.iter().all(|axis| has_axis(*workload, axis)))
            .collect();
        match found.is_empty() {
            true => Err(Failure::Usage(format!(
                "--{} all: none of {} has the {} {}",
                suite.option[0],
                suite.all.join(", "),
                if given.len() == 1 { "axis" } else { "axes" },
                given.join(", "),
            ))),
            false => Ok(found),
        }
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

    /// One, at the values that it has for itself.
    pub(in crate::cli) fn named(name: &'static str) -> Workloads {
        Workloads {
            names: vec![name],
            lists: Vec::new(),
        }
    }

    /// Of workloads whose names contain `filter`: of those that are named, or else of all that there are.
    pub(in crate::cli) fn containing(&self, filter: &str) -> Result<Workloads, Failure> {
        let suite = Suite::get();
        if filter.is_empty() {
            return Ok(self.clone());
        }
        let known: Vec<&'static str> = match &self.names[..] {
            [] => suite.workloads.iter().map(|it| it.name()).collect(),
            names => names.to_vec(),
        };
        let is_meant = |name: &&&str| name.contains(filter);
        match known.iter().filter(is_meant).copied().collect::<Vec<_>>() {
            names if names.is_empty() && is_command(filter) => Err(Failure::Usage(format!(
                "no workload's name contains {filter:?}; it is a command of the program ridgepoint: `ridgepoint {filter}`"
            ))),
            names if names.is_empty() => Err(Failure::Usage(format!(
                "no workload's name contains {filter:?}: there are {}",
                known.join(", ")
            ))),
            names => Ok(Workloads {
                names,
                lists: self.lists.clone(),
            }),
        }
    }

    /// Whether nothing was asked for but what the workloads have for themselves.
    pub(in crate::cli) fn is_default(&self) -> bool {
        self.names.is_empty() && self.lists.is_empty()
    }

    /// Refuses values of the axes of every workload that have no effect on a study.
    pub(in crate::cli) fn refuse_common(&self, axes: &[&str], why: &str) -> Result<(), Failure> {
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
    pub(in crate::cli) fn plan(
        &self,
        selected: Vec<Selection<'static>>,
        others: Plan<'static>,
    ) -> Result<Plan<'static>, Failure> {
        Ok(Plan {
            selected,
            blocks: self
                .common("block", whole::<u32>(1..=MAX_THREADS))?
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
    use clap::{Args, Command, FromArgMatches};

    use super::*;
    use crate::cli::suite::with_axes;

    fn parse(words: &str) -> Result<Workloads, clap::Error> {
        let command = Workloads::augment_args(Command::new("taker"));
        let commands = with_axes(Command::new("test").subcommand(command));
        let words = ["test", "taker"]
            .into_iter()
            .chain(words.split_whitespace());
        let matches = commands.try_get_matches_from(words)?;
        let (_, matches) = matches.subcommand().expect("the only one");
        Workloads::from_arg_matches(matches)
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
        assert_eq!(of("--kernel copy,copy", Study::Occupancy), ["copy"]);
        assert_eq!(of("--kernel triad,chase", Study::Sweep), ["triad", "chase"]);
    }

    #[test]
    fn all_stands_for_the_same_workloads_in_every_study() {
        for study in [Study::Sweep, Study::Occupancy] {
            let of = |words| {
                let selected = selected(words, study).expect("there are some");
                let names = selected.into_iter().map(|(name, _)| name);
                names.collect::<Vec<_>>()
            };
            let polynomials = ["power-sum", "horner"];
            assert_eq!(of("--workload all --k 1"), polynomials);
            assert_eq!(of("--kernel all --vector 1 --axis block=64"), polynomials);
            assert_eq!(
                of("--kernel all,copy --vector 1"),
                ["power-sum", "horner", "copy"]
            );
            assert_eq!(
                of("--kernel all --dtype f32"),
                ["gemv", "power-sum", "horner"]
            );
            let all = of("--kernel all");
            assert!(
                all.len() > 10 && all.iter().any(|name| name == "triad"),
                "{all:?}"
            );
        }
        let none = selected("--kernel all --k 1 --size 64", Study::Sweep);
        let Err(Failure::Usage(reason)) = none else {
            panic!("no workload has both axes: {none:?}");
        };
        assert!(reason.contains("has the axes size, k"), "{reason}");
    }

    #[test]
    fn another_name_stands_for_the_same_workload() {
        for study in [Study::Sweep, Study::Occupancy] {
            let found = selected("--kernel polynomial,horner", study).expect("one");
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].0, "horner");
        }
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
