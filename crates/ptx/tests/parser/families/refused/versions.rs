//! Which version of PTX an instruction came with, as `ptxas` says.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::assembler::{ptxas, said_of};
use crate::common;

/// Returns the newest version that `ptxas` wants for each line.
fn needed(said: &str) -> BTreeMap<u32, (u32, u32)> {
    let mut needed = BTreeMap::new();
    for line in said.lines() {
        let place = line
            .split_once("; error")
            .and_then(|(place, _)| place.rsplit_once(", line "));
        let version = line.split_once("requires PTX ISA .version ");
        let (Some((_, number)), Some((_, version))) = (place, version) else {
            continue;
        };
        let (major, minor) = version
            .split(' ')
            .next()
            .and_then(|it| it.split_once('.'))
            .expect("a version");
        let version = (major.parse().expect("major"), minor.parse().expect("minor"));
        let known = needed
            .entry(number.parse().expect("a line"))
            .or_insert(version);
        *known = version.max(*known);
    }
    needed
}

/// The line where `ptxas` gave up, behind which it says nothing.
fn stopped_at(said: &str) -> u32 {
    let fatal = said.lines().filter_map(|line| line.split_once("; fatal"));
    let lines = fatal.filter_map(|(place, _)| place.rsplit_once(", line ")?.1.parse().ok());
    lines.min().unwrap_or(u32::MAX)
}

/// Lines that the target lacks, whatever the version.
fn refused_otherwise(said: &str) -> BTreeSet<u32> {
    let others = said
        .lines()
        .filter(|line| !line.contains("requires PTX ISA"));
    let lines = others.filter_map(|line| {
        let (place, _) = line.split_once("; error")?;
        place.rsplit_once(", line ")?.1.parse().ok()
    });
    lines.collect()
}

/// Each instruction of the corpus under an old version: those that `ptxas` wants a newer one for need just that.
#[test]
fn each_instruction_of_the_corpus() {
    let Some(ptxas) = ptxas() else {
        println!("skipped: no ptxas; ./setup.sh installs it in .venv/cuda/bin");
        return;
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, text) in common::corpus() {
        let module = ptx::parse(&text).expect(&name);
        for (version, target) in [("7.0", "sm_80"), ("7.8", "sm_90")] {
            let old = older(&text, version, target);
            let said = said_of(&ptxas, target, &old);
            let (needed, other) = (needed(&said), refused_otherwise(&said));
            let (major, minor) = version.split_once('.').expect("a version");
            let written = (major.parse().expect("major"), minor.parse().expect("minor"));
            let bodies = module.functions.iter().filter_map(|it| it.body.as_ref());
            let end = stopped_at(&said);
            for (line, ours) in newest_of_lines(bodies, &text).range(..end) {
                let (line, ours) = (*line, *ours);
                let theirs = needed.get(&line).copied();
                compared += usize::from(theirs.is_some());
                let shown = text.lines().nth(line as usize - 1).unwrap_or_default();
                if other.contains(&line) || shown.contains("mma") {
                    continue;
                }
                if theirs.unwrap_or(written) != ours.max(written) {
                    wrong.push(format!(
                        "{name}:{line} for {target}: {ours:?}, ptxas {theirs:?}: {shown}"
                    ));
                }
            }
        }
    }
    assert!(compared > 150, "{compared} lines need a newer version");
    assert!(
        wrong.is_empty(),
        "{} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The text for another version and target.
fn older(text: &str, version: &str, target: &str) -> String {
    let line = |line: &str| match line.split_whitespace().next() {
        Some(".version") => format!(".version {version}"),
        Some(".target") => format!(".target {target}"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// The newest version that an instruction of each line needs.
fn newest_of_lines<'b>(
    bodies: impl Iterator<Item = &'b ptx::Body>,
    text: &str,
) -> BTreeMap<u32, (u32, u32)> {
    let mut lines = BTreeMap::new();
    for instruction in bodies.flat_map(|body| &body.instructions) {
        let version = instruction.version(text);
        let known = lines.entry(instruction.line).or_insert(version);
        *known = version.max(*known);
    }
    lines
}

/// Returns the newest compute capability that `ptxas` wants for each line.
fn architectures(said: &str) -> BTreeMap<u32, u32> {
    let mut needed = BTreeMap::new();
    for line in said.lines() {
        let place = line.split_once("; error").map(|(place, _)| place);
        let number = place.and_then(|place| place.rsplit_once(", line ")?.1.parse().ok());
        let named = line.split_once("requires .target sm_");
        let named = named.map(|(_, rest)| rest.split(|it: char| !it.is_ascii_digit()).next());
        // Without a number: of later GPUs than any that this text is for.
        let wanted = match named {
            Some(number) => number.and_then(|it| it.parse().ok()).expect("a number"),
            None if line.contains("not supported on .target") => u32::MAX,
            None => continue,
        };
        let known = needed.entry(number.expect("a line")).or_insert(wanted);
        *known = wanted.max(*known);
    }
    needed
}

/// Each row of the table on `sm_75`: `ptxas` refuses it as the row says, in its oldest form.
#[test]
fn each_row_on_the_oldest_gpu() {
    let Some(ptxas) = ptxas() else {
        println!("skipped: no ptxas; ./setup.sh installs it in .venv/cuda/bin");
        return;
    };
    let (mut oldest, mut wrong) = (HashMap::new(), Vec::new());
    for (name, text) in common::corpus() {
        let module = ptx::parse(&text).expect(&name);
        let said = said_of(&ptxas, "sm_75", &older(&text, "9.0", "sm_75"));
        let (needed, end) = (architectures(&said), stopped_at(&said));
        let mut lines: BTreeMap<u32, Vec<ptx::Row>> = BTreeMap::new();
        let bodies = module.functions.iter().filter_map(|it| it.body.as_ref());
        for instruction in bodies.flat_map(|body| &body.instructions) {
            let rows = lines.entry(instruction.line).or_default();
            rows.push(instruction.operation.row());
        }
        for (line, rows) in lines.range(..end) {
            let theirs = needed.get(line).copied().unwrap_or(0);
            let ours = rows.iter().map(|row| row.architecture()).max().unwrap_or(0);
            if ours > theirs {
                wrong.push(format!(
                    "{name}:{line}: {rows:?} on {ours}; ptxas: {theirs}"
                ));
            }
            if let [row] = rows[..] {
                let known = oldest.entry(row).or_insert(theirs);
                *known = theirs.min(*known);
            }
        }
    }
    let newer = oldest.iter().filter(|(_, theirs)| **theirs > 75);
    assert!(newer.count() > 15, "{oldest:?}");
    // Of `mma` no line has the oldest shape, that of `sm_70`, by itself.
    let has_oldest = |row: &ptx::Row| ![ptx::Row::Mma, ptx::Row::Other].contains(row);
    let untold = oldest.iter().filter(|(row, theirs)| {
        let is_newer = **theirs > 75 && **theirs != u32::MAX;
        is_newer && has_oldest(row) && row.architecture() < **theirs
    });
    wrong.extend(untold.map(|(row, theirs)| format!("{row:?}: ptxas {theirs}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
