//! Survivors that somebody has looked at, each with the reason why no test need notice.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::Deserialize;

use super::{Mutant, Operator};

/// The entries of a file. Each is told by which mutants it means, and every line of each has to mean one.
#[derive(Debug, Default)]
pub struct Accepted {
    entries: Vec<Entry>,
    /// The lines of each entry that have meant a survivor.
    used: Vec<BTreeSet<u32>>,
}

/// Mutants of lines of a file, and why it is right that they survive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reason: String,
    /// The author's file, or the end of its path; not given where PTX names none.
    #[serde(default)]
    file: String,
    /// Lines of the file, or else of the PTX.
    lines: Vec<u32>,
    /// Kinds of changes; all without it.
    #[serde(default)]
    changes: Vec<Kind>,
    /// Names of kernels and functions, or parts of them; all without it.
    #[serde(default)]
    functions: Vec<String>,
    /// Parts of the instruction, one of which it has; any without it.
    #[serde(default)]
    before: Vec<String>,
    /// Parts of what stands in its place, one of which it has; any without it.
    #[serde(default)]
    after: Vec<String>,
}

/// The name of an [`Operator`].
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Kind(Operator);

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(name: String) -> Result<Kind, String> {
        let mut all = Operator::ALL.iter();
        let known = all.find(|it| it.name() == name);
        known.map(|it| Kind(*it)).ok_or_else(|| {
            let names: Vec<&str> = Operator::ALL.iter().map(|it| it.name()).collect();
            format!(
                "{name:?} is no change: expected one of {}",
                names.join(", ")
            )
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    accepted: Vec<Entry>,
}

impl Accepted {
    /// Reads a file of entries.
    ///
    /// # Errors
    /// The system's, or [`ErrorKind::InvalidData`]: it has no such entries, or one without a reason or a line.
    pub fn read(path: &Path) -> io::Result<Accepted> {
        let read = fs::read_to_string(path).and_then(|text| {
            text.parse()
                .map_err(|error: String| io::Error::new(ErrorKind::InvalidData, error))
        });
        read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// The reason of the first entry that means this mutant, which has survived.
    pub fn reason(&mut self, mutant: &Mutant) -> Option<&str> {
        let means = |entry: &Entry| entry.means(mutant);
        let mut reason = None;
        // Two entries may mean one mutant: neither is stale.
        for (entry, used) in self.entries.iter().zip(&mut self.used) {
            if means(entry) {
                used.insert(mutant.place.line);
                reason = reason.or(Some(entry.reason.as_str()));
            }
        }
        reason
    }

    /// The entries, with those of their lines that have meant no survivor so far.
    pub fn stale(&self) -> impl Iterator<Item = Stale<'_>> {
        let entries = self.entries.iter().zip(&self.used);
        entries.filter_map(|(entry, used)| {
            let lines = entry.lines.iter().filter(|line| !used.contains(line));
            let lines: Vec<u32> = lines.copied().collect();
            (!lines.is_empty()).then_some(Stale { entry, lines })
        })
    }
}

impl std::str::FromStr for Accepted {
    type Err = String;

    fn from_str(text: &str) -> Result<Accepted, String> {
        let document: Document = toml::from_str(text).map_err(|error| error.to_string())?;
        let entries = document.accepted;
        for (number, entry) in entries.iter().enumerate() {
            let number = number + 1;
            if entry.reason.trim().is_empty() {
                return Err(format!(
                    "entry {number} has no reason: say why no test need notice"
                ));
            }
            if entry.lines.is_empty() {
                return Err(format!(
                    "entry {number} has no lines: name those that it is about"
                ));
            }
        }
        Ok(Accepted {
            used: vec![BTreeSet::new(); entries.len()],
            entries,
        })
    }
}

impl Entry {
    fn means(&self, mutant: &Mutant) -> bool {
        let place = &mutant.place;
        let has = |parts: &[String], text: &str| {
            parts.is_empty() || parts.iter().any(|part| text.contains(part.as_str()))
        };
        let is_file = match &place.file {
            Some(file) => !self.file.is_empty() && Path::new(file).ends_with(&self.file),
            None => self.file.is_empty(),
        };
        is_file
            && self.lines.contains(&place.line)
            && (self.changes.is_empty() || self.changes.iter().any(|it| it.0 == mutant.operator))
            && has(&self.functions, &place.function)
            && has(&self.before, &mutant.before)
            && has(&self.after, &mutant.after)
    }
}

/// An entry, lines of which mean no mutant that has survived.
#[derive(Debug)]
pub struct Stale<'a> {
    entry: &'a Entry,
    lines: Vec<u32>,
}

impl fmt::Display for Stale<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        let (file, lines, reason) = (&self.entry.file, lines.join(", "), &self.entry.reason);
        let first = reason.trim().lines().next().unwrap_or_default();
        match file.as_str() {
            "" => write!(formatter, "PTX, line {lines}: {first}"),
            file => write!(formatter, "{file}:{lines}: {first}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::report::tests::mutant;

    fn parsed(text: &str) -> Result<Accepted, String> {
        text.parse()
    }

    #[test]
    fn an_entry_means_all_that_it_does_not_tell_apart() {
        let reason_of = |more: &str| {
            let text = format!("[[accepted]]\nreason = 'why'\n{more}");
            let mut accepted = parsed(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = accepted.reason(&mutant(1)).map(str::to_owned);
            assert_eq!(found.is_none(), accepted.stale().count() == 1, "{text}");
            found
        };
        for means in [
            "file = 'kernels.rs'\nlines = [12]",
            "file = 'src/kernels.rs'\nlines = [12]\nchanges = ['comparison', 'guard']",
            "file = 'kernels.rs'\nlines = [12]\nfunctions = ['other', 'sca']",
            "file = 'kernels.rs'\nlines = [12]\nbefore = ['.lt.']\nafter = ['.le.']",
        ] {
            assert_eq!(reason_of(means).as_deref(), Some("why"), "{means}");
        }
        for other in [
            "lines = [12]",
            "file = 'ernels.rs'\nlines = [12]",
            "file = 'kernels.rs'\nlines = [13]",
            "file = 'kernels.rs'\nlines = [12]\nchanges = ['guard']",
            "file = 'kernels.rs'\nlines = [12]\nfunctions = ['other']",
            "file = 'kernels.rs'\nlines = [12]\nbefore = ['.gt.']",
            "file = 'kernels.rs'\nlines = [12]\nafter = ['.gt.']",
        ] {
            assert_eq!(reason_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_line_that_means_no_survivor_is_stale() {
        let text =
            "[[accepted]]\nreason = '''\nwhy\nnot'''\nfile = 'kernels.rs'\nlines = [7, 12, 13]";
        let mut accepted = parsed(text).expect("an entry");
        assert!(accepted.reason(&mutant(1)).is_some());
        let stale: Vec<String> = accepted.stale().map(|it| it.to_string()).collect();
        assert_eq!(stale, ["kernels.rs:7, 13: why"]);
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for (text, why) in [
            ("[[accepted]]\nlines = [1]", "missing field `reason`"),
            (
                "[[accepted]]\nreason = ' '\nlines = [1]",
                "entry 1 has no reason",
            ),
            (
                "[[accepted]]\nreason = 'a'\nlines = []",
                "entry 1 has no lines",
            ),
            (
                "[[accepted]]\nreason = 'a'\nline = 1",
                "unknown field `line`",
            ),
            (
                "[[accepted]]\nreason = 'a'\nlines = [1]\nchanges = ['guards']",
                "\"guards\" is no change: expected one of synchronization, order",
            ),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(parsed("").expect("no entries").stale().count(), 0);
    }
}
