//! Answers for people and for programs.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Accepted, Answer, Killer, Mutant, Operator, Place, Superfluous};
use crate::table::{self, Look, Width, counted};

/// Mutants of kernels, and what became of each.
#[derive(Debug, Default)]
pub struct Report {
    tried: Vec<(Mutant, Answer)>,
    /// Survivors that no test need notice, with the reason.
    accepted: Vec<(Mutant, String)>,
    /// Of code that no test executes.
    unreached: Vec<Mutant>,
    /// That no answer is known of yet.
    untried: Vec<Mutant>,
    superfluous: Vec<Superfluous>,
    equivalent: usize,
}

/// How many mutants were killed, of those that tests have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Those that were killed.
    pub killed: usize,
    /// All that count: those and the survivors that were not accepted.
    pub all: usize,
}

impl Share {
    /// The mutation score.
    #[must_use]
    pub fn percent(self) -> f64 {
        100.0 * self.killed as f64 / self.all as f64
    }

    /// The same with one digit. 100.0 means all, and 0.0 none.
    #[must_use]
    pub fn text(self) -> String {
        let tenths = (1000 * self.killed) / self.all.max(1);
        let tenths = if self.killed > 0 { tenths.max(1) } else { 0 };
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

/// A mutant, or synchronization without one, for programs.
#[derive(Debug, Serialize)]
pub struct Row {
    /// `killed`, `survived`, `accepted`, `superfluous`, `not reached`, `not tried`, `not made` or `refused`.
    pub outcome: &'static str,
    /// The kind of the change.
    pub operator: &'static str,
    /// The kernel or function.
    pub function: String,
    /// The author's file; empty where the PTX names none.
    pub file: String,
    /// The line of the file, or else of the PTX.
    pub line: u32,
    /// The line of a library that was inlined there; empty where the instruction is the author's own.
    pub inlined: String,
    /// The line of the PTX.
    pub ptx_line: u32,
    /// The instruction.
    pub before: String,
    /// The instruction in its place; empty where there was none.
    pub after: String,
    /// How many instructions of the line it stands for.
    pub copies: u32,
    /// The test that has killed it.
    pub test: String,
    /// The killer, or why it is superfluous or accepted.
    pub by: String,
}

impl Report {
    /// A report in which nothing was tried yet.
    #[must_use]
    pub fn new(superfluous: Vec<Superfluous>, equivalent: usize) -> Report {
        Report {
            superfluous,
            equivalent,
            ..Report::default()
        }
    }

    /// Adds an answer.
    pub fn add(&mut self, mutant: Mutant, answer: Answer) {
        self.tried.push((mutant, answer));
    }

    /// Adds a mutant of code that no test executes.
    pub fn add_unreached(&mut self, mutant: Mutant) {
        self.unreached.push(mutant);
    }

    /// Adds a mutant that is left for the next time.
    pub fn add_untried(&mut self, mutant: Mutant) {
        self.untried.push(mutant);
    }

    /// Takes the survivors that are accepted from the others.
    pub fn accept(&mut self, accepted: &mut Accepted) {
        let tried = std::mem::take(&mut self.tried);
        for (mutant, answer) in tried {
            let reason = match answer {
                Answer::Survived => accepted.reason(&mutant),
                _ => None,
            };
            match reason {
                Some(reason) => self.accepted.push((mutant, one_line(reason))),
                None => self.tried.push((mutant, answer)),
            }
        }
    }

    /// How many were killed.
    #[must_use]
    pub fn score(&self) -> Share {
        let killed = |(_, answer): &&(Mutant, Answer)| matches!(answer, Answer::Killed { .. });
        let killed = self.tried.iter().filter(killed).count();
        Share {
            killed,
            all: killed + self.survivors(),
        }
    }

    /// How many have survived, and were not accepted.
    #[must_use]
    pub fn survivors(&self) -> usize {
        self.surviving().count()
    }

    /// How many were left for the next time.
    #[must_use]
    pub fn untried(&self) -> usize {
        self.untried.len()
    }

    fn surviving(&self) -> impl Iterator<Item = &Mutant> {
        let survived = self
            .tried
            .iter()
            .filter(|(_, answer)| *answer == Answer::Survived);
        survived.map(|(mutant, _)| mutant)
    }

    /// A row for each mutant, in the order of files and lines.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (mutant, answer) in &self.tried {
            let row = match answer {
                Answer::Killed { test, by } => Row {
                    test: test.clone(),
                    by: by.to_string(),
                    ..row("killed", mutant)
                },
                Answer::Survived => row("survived", mutant),
                Answer::Refused => row("refused", mutant),
                Answer::NotMade => row("not made", mutant),
            };
            rows.push(row);
        }
        rows.extend(self.accepted.iter().map(|(mutant, reason)| Row {
            by: reason.clone(),
            ..row("accepted", mutant)
        }));
        rows.extend(self.unreached.iter().map(|it| row("not reached", it)));
        rows.extend(self.untried.iter().map(|it| row("not tried", it)));
        rows.extend(self.superfluous.iter().map(|it| Row {
            outcome: "superfluous",
            operator: Operator::Synchronization.name(),
            function: it.place.function.clone(),
            file: file_of(&it.place),
            line: it.place.line,
            inlined: it.place.inlined.clone().unwrap_or_default(),
            ptx_line: it.place.ptx_line,
            before: it.text.clone(),
            after: String::new(),
            copies: 1,
            test: String::new(),
            by: it.why.to_owned(),
        }));
        rows.sort_by(|a, b| {
            let key = |row: &Row| (row.file.clone(), row.line, row.ptx_line);
            key(a).cmp(&key(b))
        });
        rows
    }

    /// The report for people: a table of the kinds, then survivors and what is superfluous, by line.
    #[must_use]
    pub fn text(&self, width: Width) -> String {
        let mut text = self.table(width);
        text += &self.killers();
        let survived: Vec<&Mutant> = self.surviving().collect();
        if !survived.is_empty() {
            text += "\n\nSurvived:";
            text += &by_line(survived.into_iter().map(|it| (&it.place, changed(it))));
        }
        if !self.superfluous.is_empty() {
            text += "\n\nSuperfluous, each for itself, whatever a launch is given:";
            let lines = self.superfluous.iter();
            text += &by_line(lines.map(|it| (&it.place, format!("{} {}", it.text, it.why))));
        }
        width.fold(&text)
    }

    fn table(&self, width: Width) -> String {
        let mut counts: BTreeMap<Operator, [usize; 6]> = BTreeMap::new();
        let mut count = |operator, column: usize| {
            counts.entry(operator).or_default()[column] += 1;
        };
        for (mutant, answer) in &self.tried {
            match answer {
                Answer::Killed { .. } => count(mutant.operator, 0),
                Answer::Survived => count(mutant.operator, 1),
                Answer::Refused | Answer::NotMade => {}
            }
        }
        (self.accepted.iter()).for_each(|(it, _)| count(it.operator, 2));
        (self.superfluous.iter()).for_each(|_| count(Operator::Synchronization, 3));
        (self.unreached.iter()).for_each(|it| count(it.operator, 4));
        (self.untried.iter()).for_each(|it| count(it.operator, 5));
        let rows = counts.iter().map(|(operator, counts)| {
            let numbers = counts.iter().map(ToString::to_string);
            [operator.name().to_owned()].into_iter().chain(numbers)
        });
        let header = [
            "change",
            "killed",
            "survived",
            "accepted",
            "superfluous",
            "not reached",
            "not tried",
        ];
        let look = Look {
            width,
            is_right: |column| column > 0,
            spare: &["not tried", "not reached", "accepted"],
        };
        table::text(header, rows, look)
    }

    fn killers(&self) -> String {
        let mut killers: BTreeMap<&Killer, u64> = BTreeMap::new();
        let (mut refused, mut not_made) = (0, 0);
        for (_, answer) in &self.tried {
            match answer {
                Answer::Killed { by, .. } => *killers.entry(by).or_default() += 1,
                Answer::Refused => refused += 1,
                Answer::NotMade => not_made += 1,
                Answer::Survived => {}
            }
        }
        let score = self.score();
        let mut text = format!(
            "\nMutation score {} % ({} of {})",
            score.text(),
            score.killed,
            score.all
        );
        let by: Vec<String> = killers
            .iter()
            .map(|(by, count)| format!("{count} by {by}"))
            .collect();
        if !by.is_empty() {
            text += &format!(": {}", by.join(", "));
        }
        text += ".";
        if !self.accepted.is_empty() {
            let accepted = counted(self.accepted.len() as u64, "survivor");
            text +=
                &format!("\nAccepted: {accepted} that no test need notice, which do not count.");
        }
        if !self.unreached.is_empty() {
            let unreached = counted(self.unreached.len() as u64, "mutant");
            text += &format!(
                "\nNot reached: {unreached} of code that no test executes, which coverage shows."
            );
        }
        if self.equivalent > 0 {
            let equivalent = counted(self.equivalent as u64, "change");
            text += &format!(
                "\nLeft out: {equivalent} of values that nothing uses, of bits that are 0, or of checks that panic alone."
            );
        }
        if refused > 0 {
            let refused = counted(refused, "change");
            text += &format!("\nLeft out: {refused} that made no PTX.");
        }
        if not_made > 0 {
            let not_made = counted(not_made, "change");
            text += &format!(
                "\nLeft out: {not_made} that were not made: the tests did not load PTX of the same text again."
            );
        }
        text
    }
}

fn row(outcome: &'static str, mutant: &Mutant) -> Row {
    Row {
        outcome,
        operator: mutant.operator.name(),
        function: mutant.place.function.clone(),
        file: file_of(&mutant.place),
        line: mutant.place.line,
        inlined: mutant.place.inlined.clone().unwrap_or_default(),
        ptx_line: mutant.place.ptx_line,
        before: mutant.before.clone(),
        after: mutant.after.clone(),
        copies: mutant.copies,
        test: String::new(),
        by: String::new(),
    }
}

/// A text in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The change in words.
fn changed(mutant: &Mutant) -> String {
    let copies = match mutant.copies {
        1 => String::new(),
        copies => format!(" (one of {copies} alike)"),
    };
    let after = match mutant.after.as_str() {
        "" => "without it",
        after => after,
    };
    let inlined = mutant.place.inlined.as_ref();
    let inlined = inlined.map_or(String::new(), |it| format!(" (inlined: {it})"));
    format!(
        "{}: {} -> {after}{copies}{inlined}",
        mutant.operator, mutant.before
    )
}

/// Texts under the lines that they are of, with the line where its file can be read.
fn by_line<'a>(texts: impl Iterator<Item = (&'a Place, String)>) -> String {
    let mut lines: BTreeMap<(String, u32), BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for (place, text) in texts {
        let line = match &place.file {
            Some(_) => (file_of(place), place.line),
            None => (format!("PTX of {}", place.function), place.line),
        };
        let functions = lines.entry(line).or_default();
        functions.entry(&place.function).or_default().push(text);
    }
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all = String::new();
    for ((file, line), functions) in lines {
        let source = sources.entry(file.clone()).or_insert_with(|| {
            let text = fs::read_to_string(&file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let shown = source.get(line.saturating_sub(1) as usize);
        let shown = shown.map_or(String::new(), |it| format!("  {}", it.trim()));
        all += &format!("\n{file}:{line}{shown}");
        for (function, texts) in functions {
            all += &format!("\n  {function}");
            for alike in texts.chunk_by(|a, b| a == b) {
                all += &format!("\n    {}", alike[0]);
                if alike.len() > 1 {
                    all += &format!(" ({} times)", alike.len());
                }
            }
        }
    }
    all
}

/// The file's name as it is typed in this folder.
fn file_of(place: &Place) -> String {
    let Some(file) = &place.file else {
        return String::new();
    };
    let here = env::current_dir().unwrap_or_default();
    let path = Path::new(file);
    let short: PathBuf = path.strip_prefix(&here).unwrap_or(path).to_owned();
    short.display().to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mutation::{Change, in_turns};

    pub(in crate::mutation) fn mutant(key: u64) -> Mutant {
        Mutant {
            operator: Operator::Comparison,
            place: Place {
                function: "scale".to_owned(),
                file: Some("src/kernels.rs".to_owned()),
                line: 12,
                inlined: None,
                is_in_library: false,
                module: 1,
                ptx_line: 40 + key as u32,
            },
            before: "setp.lt.u32 %p1, %r1, %r2;".to_owned(),
            after: "setp.le.u32 %p1, %r1, %r2;".to_owned(),
            change: Change {
                module: 1,
                span: 0..1,
                text: String::new(),
            },
            copies: 1,
            key,
            of_line: None,
        }
    }

    fn killed(by: Killer) -> Answer {
        Answer::Killed {
            test: "sums".to_owned(),
            by,
        }
    }

    #[test]
    fn all_that_is_known_is_told_and_survivors_by_line() {
        let superfluous = Superfluous {
            place: mutant(9).place,
            text: "bar.sync 0;".to_owned(),
            why: "nothing is behind it",
            key: 9,
        };
        let mut report = Report::new(vec![superfluous.clone(), superfluous], 3);
        report.add(mutant(1), killed(Killer::Test));
        report.add(mutant(2), killed(Killer::Check("race".to_owned())));
        report.add(mutant(3), Answer::Survived);
        report.add(mutant(4), Answer::Refused);
        report.add_unreached(mutant(5));
        report.add_untried(mutant(6));
        let score = report.score();
        assert_eq!(
            (score.killed, score.all, score.text().as_str()),
            (2, 3, "66.6")
        );
        assert_eq!((report.survivors(), report.untried()), (1, 1));
        let text = report.text(Width::Any);
        for expected in [
            "Mutation score 66.6 % (2 of 3): 1 by the test's own comparison, 1 by the check for race.",
            "src/kernels.rs:12\n  scale\n    comparison: setp.lt.u32 %p1, %r1, %r2; -> setp.le.u32",
            "bar.sync 0; nothing is behind it (2 times)",
            "Not reached: 1 mutant of code",
            "Left out: 3 changes of values",
            "Left out: 1 change that made no PTX",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let outcomes: Vec<&str> = report.rows().iter().map(|it| it.outcome).collect();
        let all = [
            "killed",
            "killed",
            "survived",
            "refused",
            "not reached",
            "not tried",
            "superfluous",
            "superfluous",
        ];
        assert_eq!(outcomes, all);
    }

    #[test]
    fn an_accepted_survivor_does_not_count_and_has_its_reason() {
        let entry =
            "[[accepted]]\nreason = '''\nboth ways\nadd up'''\nfile = 'kernels.rs'\nlines = [12]";
        let mut accepted: Accepted = entry.parse().expect("an entry");
        let mut report = Report::default();
        report.add(mutant(1), killed(Killer::Test));
        report.add(mutant(2), Answer::Survived);
        let mut other = mutant(3);
        other.place.line = 13;
        report.add(other, Answer::Survived);
        report.accept(&mut accepted);
        let score = report.score();
        assert_eq!((score.killed, score.all, report.survivors()), (1, 2, 1));
        let text = report.text(Width::Any);
        assert!(text.contains("Accepted: 1 survivor that"), "{text}");
        let rows = report.rows();
        let told: Vec<(&str, &str)> = rows.iter().map(|it| (it.outcome, it.by.as_str())).collect();
        let expected = [
            ("killed", "the test's own comparison"),
            ("accepted", "both ways add up"),
            ("survived", ""),
        ];
        assert_eq!(told, expected);
        assert_eq!(accepted.stale().count(), 0);
    }

    #[test]
    fn a_score_is_100_only_where_all_were_killed() {
        let text = |killed, all| Share { killed, all }.text();
        assert_eq!(text(1999, 2000), "99.9");
        assert_eq!(text(2000, 2000), "100.0");
        assert_eq!(text(1, 20_000), "0.1");
        assert_eq!(text(0, 5), "0.0");
    }

    #[test]
    fn each_line_has_its_turn_before_another_mutant_of_the_first() {
        let of_line = |key, line| {
            let mut mutant = mutant(key);
            mutant.place.line = line;
            mutant
        };
        let mutants = vec![
            of_line(1, 12),
            of_line(2, 12),
            of_line(3, 12),
            of_line(4, 13),
        ];
        let order = in_turns(mutants.clone());
        let lines: Vec<u32> = order.iter().map(|it| it.place.line).collect();
        let mut first = lines[..2].to_vec();
        first.sort_unstable();
        assert_eq!((first, &lines[2..]), (vec![12, 13], &[12, 12][..]));
        assert_eq!(in_turns(mutants), order);
    }
}
