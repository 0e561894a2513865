//! A summary of the launches of a program's processes, and what to think of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use emulated_driver::report::{Launches, Record};

use crate::cli::Failure;
use crate::report::counted;

/// All processes together.
#[derive(Default)]
pub(super) struct Summary {
    programs: BTreeSet<String>,
    unchecked: u64,
    kernels: BTreeMap<String, Launches>,
    benign: u64,
    of_host: u64,
}

impl Summary {
    /// Reads what processes have left in a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of(folder: &Path) -> io::Result<Summary> {
        let mut summary = Summary::default();
        for entry in fs::read_dir(folder)? {
            // One that a killed process has half written says nothing.
            if let Ok(record) = serde_json::from_slice(&fs::read(entry?.path())?) {
                summary.add(record);
            }
        }
        Ok(summary)
    }

    fn add(&mut self, record: Record) {
        self.programs.insert(record.program);
        self.unchecked += record.unchecked;
        self.benign += record.benign;
        self.of_host += record.of_host;
        for (name, launches) in record.kernels {
            let sum = self.kernels.entry(name).or_default();
            sum.all += launches.all;
            sum.failed += launches.failed;
            sum.seeds = sum.seeds.max(launches.seeds);
        }
    }

    fn launches(&self) -> u64 {
        self.kernels.values().map(|it| it.all).sum()
    }

    fn failed(&self) -> u64 {
        self.kernels.values().map(|it| it.failed).sum::<u64>() + self.of_host
    }

    /// Decides how the command ends, from what was found and from how the program has ended.
    pub(super) fn verdict(&self, has_succeeded: bool, findings: &Path) -> Result<(), Failure> {
        if self.failed() > 0 {
            let findings = findings.display();
            return Err(Failure::Found(format!(
                "something was found: see above, and {findings}"
            )));
        }
        match (has_succeeded, self.launches() + self.unchecked) {
            (false, _) => Err(Failure::Found(
                "the program has failed; no access of its kernels is faulty".to_owned(),
            )),
            (true, 0) => Err(Failure::Failed(
                "nothing was checked: the program has launched no kernel through the CUDA driver"
                    .to_owned(),
            )),
            (true, _) => Ok(()),
        }
    }
}

/// One line; nothing where nothing was launched.
impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs: Vec<&str> = self.programs.iter().map(String::as_str).collect();
        let programs = programs.join(", ");
        if self.launches() > 0 {
            let (launches, kernels) = (self.launches(), self.kernels.len() as u64);
            let seeds = match self.kernels.values().map(|it| it.seeds).max() {
                None | Some(0) => "in order".to_owned(),
                Some(seeds) => format!("in order and under {}", counted(seeds, "seed")),
            };
            let found = match self.failed() {
                0 => "nothing was found".to_owned(),
                failed => format!("something was found {}", counted(failed, "time")),
            };
            let (launches, kernels) = (counted(launches, "launch"), counted(kernels, "kernel"));
            let benign = match self.benign {
                0 => String::new(),
                benign => format!("; {}", counted(benign, "benign finding")),
            };
            write!(
                formatter,
                "Checked {programs}: {launches} of {kernels}, {seeds}; {found}{benign}."
            )?;
        }
        if self.unchecked > 0 {
            let launches = counted(self.unchecked, "launch");
            write!(
                formatter,
                "Not checked, {programs}: {launches} without checks."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(all: u64, failed: u64, of_host: u64) -> Record {
        let launches = Launches {
            all,
            failed,
            seeds: 0,
        };
        let kernels = if all > 0 {
            [("saxpy".to_owned(), launches)].into()
        } else {
            BTreeMap::new()
        };
        Record {
            program: "a.py".to_owned(),
            kernels,
            of_host,
            ..Record::default()
        }
    }

    fn summary(records: Vec<Record>) -> Summary {
        let mut summary = Summary::default();
        records.into_iter().for_each(|it| summary.add(it));
        summary
    }

    #[test]
    fn findings_of_all_processes_count_and_a_check_of_nothing_is_none() {
        let verdict =
            |records, has_succeeded| summary(records).verdict(has_succeeded, Path::new("f"));
        assert!(verdict(vec![record(2, 0, 0)], true).is_ok());
        let found = |it| matches!(it, Err(Failure::Found(_)));
        assert!(found(verdict(vec![record(2, 0, 0), record(1, 1, 0)], true)));
        assert!(found(verdict(vec![record(2, 0, 1)], true)));
        assert!(found(verdict(vec![record(2, 0, 0)], false)));
        assert!(matches!(
            verdict(vec![record(0, 0, 0)], true),
            Err(Failure::Failed(_))
        ));
        let benign = Record {
            benign: 1,
            ..record(2, 0, 0)
        };
        let summed = summary(vec![benign]);
        assert!(summed.verdict(true, Path::new("f")).is_ok());
        assert_eq!(
            summed.to_string(),
            "Checked a.py: 2 launches of 1 kernel, in order; nothing was found; 1 benign finding."
        );
        let text = summary(vec![record(2, 0, 0), record(1, 1, 0)]).to_string();
        assert_eq!(
            text,
            "Checked a.py: 3 launches of 1 kernel, in order; something was found 1 time."
        );
    }
}
