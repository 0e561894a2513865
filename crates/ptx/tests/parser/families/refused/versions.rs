//! Which version of PTX an instruction came with, as `ptxas` says.

use std::collections::{BTreeMap, BTreeSet};

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
