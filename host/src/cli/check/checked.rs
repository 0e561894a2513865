//! A summary of what a check has looked at, and what to think of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::cli::Failure;
use crate::driver::record::{Launches, Record};
use crate::report::counted;

/// Names in a list before it is cut off.
const MAX_NAMES: usize = 8;

/// How the program has ended whose launches were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
}

/// A kernel that was checked, for programs.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    kernel: &'a str,
    launches: u64,
    /// Launches in which something was found.
    failed: u64,
    /// The kinds of these findings, by name, each with its launches.
    kinds: String,
    /// Benign findings, each with its launches.
    benign: String,
    schedules: String,
}

/// The records of a check's processes, all together.
pub(super) struct Checked {
    outcome: Outcome,
    packages: BTreeSet<String>,
    programs: BTreeSet<String>,
    /// Programs that launched kernels without their PTX.
    refused: BTreeSet<String>,
    tests: u64,
    unchecked: u64,
    kernels: BTreeMap<String, Launches>,
}

impl Checked {
    pub(super) fn new(records: Vec<Record>, outcome: Outcome) -> Checked {
        let mut checked = Checked {
            outcome,
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
            for (kind, count) in launches.kinds {
                *sum.kinds.entry(kind).or_default() += count;
            }
            for (brief, count) in launches.benign {
                *sum.benign.entry(brief).or_default() += count;
            }
            sum.in_order |= launches.in_order;
            // Processes of one check have the same seeds.
            sum.seeds = sum.seeds.max(launches.seeds);
        }
    }

    /// A row for each kernel.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let rows = self.kernels.iter().map(|(kernel, launches)| Row {
            kernel,
            launches: launches.all,
            failed: launches.failed,
            kinds: told(&launches.kinds),
            benign: told(&launches.benign),
            schedules: schedules(launches),
        });
        rows.collect()
    }

    /// Launches in which something was found.
    fn failed(&self) -> u64 {
        self.kernels.values().map(|of| of.failed).sum()
    }

    /// Decides how `check` ends, from how the program that it started has ended and from what that launched: clean,
    /// [`Failure::Found`] where it failed after a launch, [`Failure::Failed`] where nothing was checked.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        let failed = |text: String| Err(Failure::Failed(text));
        if !self.refused.is_empty() {
            return failed(format!(
                "not checked: {} {} kernels without PTX, see above",
                list(&self.refused),
                if self.refused.len() == 1 {
                    "launches"
                } else {
                    "launch"
                }
            ));
        }
        match (self.outcome, self.kernels.is_empty()) {
            (Outcome::Passed, false) => Ok(()),
            (Outcome::Failed, false) => {
                let why = match self.failed() {
                    0 => "the check has failed: a result or a test is wrong, see above",
                    _ => "the check has failed, see above",
                };
                Err(Failure::Found(why.to_owned()))
            }
            (Outcome::Failed, true) => failed(
                "not checked: cargo failed before a kernel was launched, see above".to_owned(),
            ),
            (Outcome::Passed, true) => failed(format!(
                "nothing was checked: {}; what is checked is every launch on the emulator, such as \
                 those of the tests of `gpu_test::on_both`",
                match self.unchecked {
                    0 => "no kernel was launched on the emulator".to_owned(),
                    1 => "the only launch switches off the checks".to_owned(),
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
        let all: u64 = self.kernels.values().map(|of| of.all).sum();
        let tests = match self.tests {
            0 => String::new(),
            tests => format!("{}, ", counted(tests, "test")),
        };
        let found = match (self.failed(), self.outcome) {
            (0, Outcome::Passed) => "nothing was found".to_owned(),
            // Memory was accessed as it should be, and a comparison of the program's own failed.
            (0, Outcome::Failed) => "no access is faulty".to_owned(),
            (failed, _) => format!("something was found in {failed} of them"),
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
        for (kernel, launches) in &self.kernels {
            for (brief, &count) in &launches.benign {
                let launches = counted(count, "launch");
                writeln!(formatter, "  benign, in {launches} of {kernel}: {brief}")?;
            }
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

/// `leak (1); race (3)`
fn told(findings: &BTreeMap<String, u64>) -> String {
    let all = findings.iter();
    all.map(|(kind, count)| format!("{kind} ({count})"))
        .collect::<Vec<_>>()
        .join("; ")
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
    let shown: Vec<&str> = names.iter().map(String::as_str).take(MAX_NAMES).collect();
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
        let mut checked = Checked::new(ran.into(), Outcome::Passed);
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
    fn rows_name_the_kinds_that_all_processes_have_found() {
        let found = |kind: &str| Launches {
            failed: 1,
            kinds: [(kind.to_owned(), 1)].into(),
            ..launches(1, true, 0)
        };
        let ran = [
            record("a", &[("x", found("race"))]),
            record("b", &[("x", found("race"))]),
            record("b", &[("x", found("leak")), ("y", launches(1, true, 0))]),
        ];
        let checked = Checked::new(ran.into(), Outcome::Failed);
        let kinds: Vec<String> = checked.rows().into_iter().map(|row| row.kinds).collect();
        assert_eq!(kinds, ["leak (1); race (2)", ""]);
    }

    #[test]
    fn benign_findings_are_shown_apart_and_nothing_is_found() {
        let brief = "stores of equal values at src/a.rs:1 and src/a.rs:2";
        let benign = Launches {
            benign: [(brief.to_owned(), 2)].into(),
            ..launches(3, true, 0)
        };
        let ran = [
            record("a", &[("x", benign.clone())]),
            record("b", &[("x", benign)]),
        ];
        let checked = Checked::new(ran.into(), Outcome::Passed);
        assert!(checked.verdict().is_ok());
        let text = checked.to_string();
        assert!(text.contains("; nothing was found.\n"), "{text}");
        let line = format!("\n  benign, in 4 launches of x: {brief}\n");
        assert!(text.contains(&line), "{text}");
        assert_eq!(checked.rows()[0].benign, format!("{brief} (4)"));
    }

    #[test]
    fn a_wrong_result_is_not_told_as_nothing() {
        let clean = record("a", &[("x", launches(3, true, 2))]);
        let checked = Checked::new(vec![clean], Outcome::Failed);
        let text = checked.to_string();
        assert!(
            text.contains("3 launches of 1 kernel; no access is faulty."),
            "{text}"
        );
        assert!(!text.contains("nothing was found"), "{text}");
        match checked.verdict() {
            Err(Failure::Found(text)) => {
                assert!(text.contains("a result or a test is wrong"), "{text}")
            }
            other => panic!("{other:?}"),
        }
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
        for (records, outcome, expected) in [
            (vec![clean.clone(), idle.clone()], Outcome::Passed, None),
            (
                vec![clean.clone()],
                Outcome::Failed,
                Some("the check has failed"),
            ),
            (
                vec![idle.clone()],
                Outcome::Failed,
                Some("cargo failed before a kernel was launched"),
            ),
            (vec![idle], Outcome::Passed, Some("no kernel was launched")),
            (vec![], Outcome::Passed, Some("no kernel was launched")),
            (
                vec![unchecked],
                Outcome::Passed,
                Some("all 3 launches switch off"),
            ),
            (
                vec![clean.clone(), refused.clone()],
                Outcome::Passed,
                Some("b launches kernels without PTX"),
            ),
            (
                vec![clean, refused],
                Outcome::Failed,
                Some("b launches kernels without PTX"),
            ),
        ] {
            let verdict = Checked::new(records, outcome).verdict();
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
