//! The comparison with `ptxas`: each variant of each instruction is a line of one text, which it judges line by line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{FIRST_LINE, module, ours, variants};

/// Where `setup.sh` puts it, or what the variable names.
pub(super) fn ptxas() -> Option<PathBuf> {
    let named = std::env::var_os("PTX_BUILDER_PTXAS").map(PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = named.unwrap_or_else(|| workspace.join(".venv/cuda/bin/ptxas"));
    found.is_file().then_some(found)
}

/// Returns what `ptxas` says of a text.
pub(super) fn said_of(ptxas: &Path, target: &str, text: &str) -> String {
    static TEXTS: AtomicU32 = AtomicU32::new(0);
    let number = TEXTS.fetch_add(1, Ordering::Relaxed);
    let name = format!("ridgepoint-refused-{}-{number}.ptx", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).expect("writable");
    let output = Command::new(ptxas)
        .args([&format!("-arch={target}"), "-o", "/dev/null"])
        .arg(&path)
        .output()
        .expect("ptxas runs");
    std::fs::remove_file(&path).expect("it is there");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Returns what it says against each line, by its index.
fn theirs(ptxas: &Path, lines: &[String]) -> BTreeMap<usize, String> {
    let said = said_of(ptxas, "sm_90a", &module(lines));
    assert!(
        !said.contains("; fatal"),
        "ptxas stopped before the end: {said}"
    );
    let mut found = BTreeMap::new();
    for line in said.lines() {
        let Some((_, rest)) = line.split_once(", line ") else {
            continue;
        };
        let Some((number, message)) = rest.split_once("; error   : ") else {
            continue;
        };
        let number: u32 = number.parse().expect("a line's number");
        let index = (number - FIRST_LINE) as usize;
        found.entry(index).or_insert_with(|| message.to_owned());
    }
    found
}

/// Compares this many variants, of which so many must be refused: a comparison that had nothing to look at fails.
fn compare(lines: &[String], least: usize) {
    let Some(ptxas) = ptxas() else {
        println!("skipped: no ptxas; ./setup.sh installs it in .venv/cuda/bin");
        return;
    };
    let theirs = theirs(&ptxas, lines);
    let taken = lines.len() - theirs.len();
    assert!(
        theirs.len() >= least && taken >= least,
        "{taken} of {} taken",
        lines.len()
    );
    let mut wrong = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match (theirs.get(&index), ours(line)) {
            (Some(_), Some(_)) | (None, None) => {}
            // Which architecture has it is another question.
            (Some(theirs), None) if theirs.contains(".target") => {}
            // `ptxas` takes a predicate for 32 bits where another element of the list has them: it has none.
            (None, Some(_)) if line.contains("{%pred") || line.contains(",%pred1}") => {}
            (Some(theirs), None) => wrong.push(format!("{line} is taken; ptxas: {theirs}")),
            (None, Some(ours)) => wrong.push(format!("{line} is refused, ptxas takes it: {ours}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} lines:\n{}",
        wrong.len(),
        lines.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_type_of_each_instruction() {
    compare(&variants::types(), 600);
}

#[test]
fn each_register_as_each_operand() {
    compare(&variants::operands(), 1000);
}

#[test]
fn each_modifier_of_each_conversion() {
    compare(&variants::conversions(), 400);
}

#[test]
fn each_order_scope_and_space_of_each_access() {
    compare(&variants::accesses(), 150);
}
