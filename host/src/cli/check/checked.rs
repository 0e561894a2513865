//! What a check has looked at, and what to think of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::cli::Failure;
use crate::driver::record::{Launches, Record};
use crate::report::counted;

/// Names in a list before it is cut off.
const MOST_NAMES: usize = 8;

/// What the processes of a check have recorded, all together.
pub(super) struct Checked {
    packages: BTreeSet<String>,
    programs: BTreeSet<String>,
    /// Programs that launched kernels without their PTX.
    refused: BTreeSet<String>,
    tests: u64,
    unchecked: u64,
    kernels: BTreeMap<String, Launches>,
}

impl Checked {
    pub(super) fn new(records: Vec<Record>) -> Checked {
        let mut checked = Checked {
            packages: BTreeSet::new(),
            programs: BTreeSet::new(),
            refused: BTreeSet::new(),
            tests: 0,
            unchecked: 0,
            kernels: BTreeMap::new(),
        };
        for record in records {
            checked.add(record);
        }
        checked
    }

    fn add(&mut self, record: Record) {
        if record.refused > 0 {
            self.refused.insert(record.program.clone());
        }
        if !record.kernels.is_empty() {
            self.tests += record.tests;
            self.programs.insert(record.program);
            self.packages.insert(record.package);
        }
        self.unchecked += record.unchecked;
        for (kernel, launches) in record.kernels {
            let sum = self.kernels.entry(kernel).or_default();
            if sum.seeds == 0 {
                sum.first_seed = launches.first_seed;
            }
            sum.all += launches.all;
            sum.failed += launches.failed;
            sum.in_order |= launches.in_order;
            // Processes of one check have the same seeds.
            sum.seeds = sum.seeds.max(launches.seeds);
        }
    }

    /// Decides how `check` ends, from whether the program that it started has succeeded (`has_passed`) and from
    /// what that launched: clean, [`Failure::Found`] where it failed after a launch, [`Failure::Failed`] where
    /// nothing was checked.
    pub(super) fn verdict(&self, has_passed: bool) -> Result<(), Failure> {
        let failed = |text: String| Err(Failure::Failed(text));
        if !self.refused.is_empty() {
            return failed(format!(
                "not checked: {} launches kernels without PTX, see above",
                list(&self.refused)
            ));
        }
        match (has_passed, self.kernels.is_empty()) {
            (true, false) => Ok(()),
            (false, false) => Err(Failure::Found("the check has failed, see above".to_owned())),
            (false, true) => failed(
                "not checked: cargo failed before a kernel was launched, see above".to_owned(),
            ),
            (true, true) => failed(format!(
                "nothing was checked: {}; what is checked is every launch on the emulator, such as \
                 those of the tests of `gpu_test::on_both`",
                match self.unchecked {
                    0 => "no kernel was launched on the emulator".to_owned(),
                    count => format!("all {count} launches switch off the checks"),
                }
            )),
        }
    }
}

/// Nothing where nothing was looked at.
impl fmt::Display for Checked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernels.is_empty() {
            return Ok(());
        }
        let of_all = |count: fn(&Launches) -> u64| self.kernels.values().map(count).sum();
        let (all, failed): (u64, u64) = (of_all(|of| of.all), of_all(|of| of.failed));
        let tests = match self.tests {
            0 => String::new(),
            tests => format!("{}, ", counted(tests, "test")),
        };
        let found = match failed {
            0 => "nothing was found".to_owned(),
            failed => format!("something was found in {failed} of them"),
        };
        writeln!(
            formatter,
            "Checked {} ({}): {tests}{} of {}; {found}.",
            list(&self.packages),
            list(&self.programs),
            counted(all, "launch"),
            counted(self.kernels.len() as u64, "kernel"),
        )?;
        for (schedules, kernels) in self.by_schedules() {
            writeln!(formatter, "  {schedules}: {}", list(&kernels))?;
        }
        if self.unchecked > 0 {
            let launches = counted(self.unchecked, "launch");
            writeln!(formatter, "  not checked: {launches} without checks")?;
        }
        Ok(())
    }
}

impl Checked {
    fn by_schedules(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut kernels: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (kernel, launches) in &self.kernels {
            let same = kernels.entry(schedules(launches)).or_default();
            same.insert(kernel.clone());
        }
        kernels
    }
}

fn schedules(launches: &Launches) -> String {
    let seeds = match launches.seeds {
        0 if launches.in_order => return "in order".to_owned(),
        0 => return "under a chosen schedule alone".to_owned(),
        1 => format!("under seed {}", launches.first_seed),
        seeds => format!("under {seeds} seeds"),
    };
    match launches.in_order {
        true => format!("in order and {seeds}"),
        false => format!("{seeds} alone"),
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().map(String::as_str).take(MOST_NAMES).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launches(all: u64, in_order: bool, seeds: u64) -> Launches {
        Launches {
            all,
            in_order,
            seeds,
            first_seed: 7,
            ..Launches::default()
        }
    }

    fn record(program: &str, kernels: &[(&str, Launches)]) -> Record {
        let kernels = kernels.iter().cloned();
        Record {
            package: "demo".to_owned(),
            program: program.to_owned(),
            tests: 2,
            kernels: kernels.map(|(name, of)| (name.to_owned(), of)).collect(),
            ..Record::default()
        }
    }

    #[test]
    fn all_processes_are_counted_and_each_kernels_schedules_are_its_own() {
        let ran = [
            record(
                "a",
                &[("x", launches(3, true, 2)), ("y", launches(1, true, 0))],
            ),
            record(
                "b",
                &[("x", launches(2, false, 2)), ("z", launches(4, false, 1))],
            ),
            record("b", &[("w", launches(1, false, 0))]),
        ];
        let mut checked = Checked::new(ran.into());
        let expected = "Checked demo (a, b): 6 tests, 11 launches of 4 kernels; nothing was found.
  in order: y
  in order and under 2 seeds: x
  under a chosen schedule alone: w
  under seed 7 alone: z
";
        assert_eq!(checked.to_string(), expected);
        checked.add(Record {
            unchecked: 1,
            kernels: [(
                "x".to_owned(),
                Launches {
                    failed: 1,
                    ..launches(1, true, 0)
                },
            )]
            .into(),
            ..record("b", &[])
        });
        let text = checked.to_string();
        assert!(
            text.contains("; something was found in 1 of them.\n"),
            "{text}"
        );
        assert!(
            text.ends_with("  not checked: 1 launch without checks\n"),
            "{text}"
        );
    }

    #[test]
    fn a_check_that_looked_at_nothing_is_none() {
        let clean = record("a", &[("x", launches(1, true, 0))]);
        let idle = record("b", &[]);
        let unchecked = Record {
            unchecked: 3,
            ..idle.clone()
        };
        let refused = Record {
            refused: 1,
            ..idle.clone()
        };
        for (records, has_passed, expected) in [
            (vec![clean.clone(), idle.clone()], true, None),
            (vec![clean.clone()], false, Some("the check has failed")),
            (
                vec![idle.clone()],
                false,
                Some("cargo failed before a kernel was launched"),
            ),
            (vec![idle], true, Some("no kernel was launched")),
            (vec![], true, Some("no kernel was launched")),
            (vec![unchecked], true, Some("all 3 launches switch off")),
            (
                vec![clean.clone(), refused.clone()],
                true,
                Some("b launches kernels without PTX"),
            ),
            (
                vec![clean, refused],
                false,
                Some("b launches kernels without PTX"),
            ),
        ] {
            let verdict = Checked::new(records).verdict(has_passed);
            match (verdict, expected) {
                (Ok(()), None) => {}
                (Err(Failure::Found(text)), Some(expected @ "the check has failed"))
                | (Err(Failure::Failed(text)), Some(expected)) => {
                    assert!(text.contains(expected), "{text}");
                }
                (_, expected) => panic!("not {expected:?}"),
            }
        }
    }
}
