//! `unordered-atomic`

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ::ptx::{Instruction, Operation};

use super::{Report, Subject};
use crate::source;

/// The first version of Rust whose `fetch_*` and `swap` of `core::sync::atomic` have an order and a scope
/// on a GPU.
const KEEPS_ORDER: (u32, u32) = (1, 99);

const MESSAGE: &str = "this compiler drops the order and the scope of `fetch_*` and `swap` of \
    `core::sync::atomic`, so that it orders nothing: use `cuda_std::atomic`, or build with Rust 1.99 or newer";

/// Finds atomics without an order, which older compilers make of those of `core`. The PTX does not tell
/// whether there was one to drop, the sources do. What such a compiler drops of a relaxed one is the scope:
/// it is the device's.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    if subject.compiler >= KEEPS_ORDER || all_are_relaxed(subject) {
        return Vec::new();
    }
    let mut reports = Vec::new();
    for function in subject.defined() {
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            if is_unordered(instruction) {
                reports.push(subject.report(function, index, MESSAGE.to_owned()));
            }
        }
    }
    reports
}

/// Whether no source file, but those of `core` and of libraries, names another order than `Relaxed`.
/// Those without an instruction count as well: a constant may hold the order.
fn all_are_relaxed(subject: &Subject<'_>) -> bool {
    let Ok(in_packages) = source::rust_files(&subject.sources.kernels) else {
        return false;
    };
    let with_code = subject
        .module
        .files
        .iter()
        .map(|file| PathBuf::from(&file.path));
    let files: BTreeSet<PathBuf> = with_code.chain(in_packages).collect();
    let mut others = files
        .iter()
        .filter(|file| !is_cores(file) && !subject.sources.is_librarys(file))
        .peekable();
    others.peek().is_some()
        && others.all(|file| fs::read_to_string(file).is_ok_and(|text| !names_an_order(&text)))
}

fn names_an_order(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source::code(text)
        .flat_map(|line| line.split(|c| !is_part(c)))
        .any(|word| matches!(word, "Acquire" | "Release" | "AcqRel" | "SeqCst"))
}

fn is_cores(file: &Path) -> bool {
    file.to_string_lossy().contains("/library/core/")
}

fn is_unordered(instruction: &Instruction) -> bool {
    let order = match &instruction.operation {
        Operation::Atom(atomic) => atomic.order,
        Operation::Red(reduction) => reduction.order,
        _ => return false,
    };
    order.is_none()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::super::{Options, process};
    use super::super::testing::{HEAD, findings_by, lines, options, with_registers};
    use super::super::{Finding, Level, Lint};

    fn module(opcode: &str) -> String {
        let result = if opcode.starts_with("red") {
            ""
        } else {
            "%r1, "
        };
        format!(".entry k() {{\n.loc 1 6 3\n{opcode} {result}[%rd1], 1;\nret; }}")
    }

    #[test]
    fn an_atomic_without_an_order_is_found_where_the_compiler_is_old() {
        for opcode in ["atom.global.add.u32", "atom.exch.b32", "red.global.add.u32"] {
            let found = lines(Lint::UnorderedAtomic, &module(opcode));
            assert_eq!(found.len(), 1, "{opcode}: {found:?}");
            let start = "kernel k, kernels/src/lib.rs:6: unordered-atomic: this compiler drops";
            assert!(found[0].starts_with(start), "{found:?}");
            let by_newer = findings_by((1, 99), Lint::UnorderedAtomic, &module(opcode));
            assert_eq!(by_newer, [] as [Finding; 0]);
        }
    }

    #[test]
    fn an_atomic_with_an_order_is_silent() {
        for opcode in [
            "atom.relaxed.gpu.global.add.u32",
            "atom.acq_rel.sys.exch.b32",
        ] {
            assert_eq!(lines(Lint::UnorderedAtomic, &module(opcode)), [""; 0]);
        }
    }

    #[test]
    fn relaxed_atomics_are_silent() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("lib.rs");
        let core = folder.path().join("library/core/atomic.rs");
        let text = with_registers(&module("red.global.add.u32"));
        let text = format!("{HEAD}{text}\n.file 1 {source:?}\n.file 2 {core:?}\n");
        let mut options = options(|_| Level::Deny);
        options.sources.kernels.clear();
        let found = |options: &Options, code: &str| {
            fs::write(&source, code).expect("written");
            process(&text, options).findings.len()
        };
        assert_eq!(
            found(&options, "count.fetch_add(1, Relaxed); // not Release"),
            0
        );
        assert_eq!(
            found(&options, "struct Released; count.fetch_add(1, Relaxed);"),
            0
        );
        assert_eq!(found(&options, "count.fetch_add(1, AcqRel);"), 1);
        // The order is in a file without an instruction.
        options.sources.kernels = vec![folder.path().to_path_buf()];
        fs::write(
            folder.path().join("order.rs"),
            "const ORDER: Ordering = SeqCst;",
        )
        .expect("written");
        assert_eq!(found(&options, "count.fetch_add(1, ORDER);"), 1);
    }
}
