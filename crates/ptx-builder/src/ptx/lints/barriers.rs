//! `duplicated-barrier`

use std::collections::BTreeMap;

use ::ptx::{Instruction, Location, Meeting};

use super::super::places;
use super::{Defined, Report, Subject};

/// The key that two copies of one instruction of the source share: the opcode, its line and the kernel's.
type Key<'t> = (&'t str, Line, Option<Line>);

/// File, line and column.
type Line = (u32, u32, u32);

/// Finds convergent instructions of which two copies lie in different arms of a branch. Copies that
/// follow one another are those of an unrolled loop. Without line information nothing tells copies
/// from two instructions of the source.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.defined() {
        for ((opcode, ..), copies) in copies(subject, function) {
            if let Some(copy) = in_another_arm(function, &copies) {
                reports.push(subject.report(function, copy, message(opcode)));
            }
        }
    }
    reports
}

fn message(opcode: &str) -> String {
    format!(
        "the compiler copied this {opcode} into several arms of a branch, where not all threads \
         that should meet do: call ptx-std's function for it and not `asm!`, move the branch so \
         that the call stands before or after it, or build with a newer compiler"
    )
}

/// The convergent instructions of the function, by what copies have in common.
fn copies<'t>(subject: &Subject<'t>, function: Defined<'_>) -> BTreeMap<Key<'t>, Vec<usize>> {
    let mut copies: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (index, instruction) in function.body.instructions.iter().enumerate() {
        let innermost = places::location(function.body, index);
        let Some(innermost) = innermost.filter(|_| is_convergent(instruction)) else {
            continue;
        };
        let caller = subject
            .sources
            .location(subject.module, function.body, index);
        let opcode = instruction.opcode(subject.text);
        let key = (opcode, line(innermost), caller.map(line));
        copies.entry(key).or_default().push(index);
    }
    copies
}

fn line(location: &Location) -> Line {
    (location.file, location.line, location.column)
}

/// Whether threads wait for each other at it, or exchange values.
fn is_convergent(instruction: &Instruction) -> bool {
    instruction.operation.facts().meeting != Meeting::Alone
}

/// A copy that runs instead of another.
fn in_another_arm(function: Defined<'_>, copies: &[usize]) -> Option<usize> {
    let block = |copy: &usize| function.flow.block_of(*copy);
    let [_, other] = function.flow.alternatives(copies.iter().map(block))?;
    copies.iter().copied().find(|copy| block(copy) == other)
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    /// A barrier after each arm's own work, of library line 9.
    fn arms(one: &str, other: &str) -> String {
        format!(
            ".entry k() {{
.loc 1 4 3
@%p1 bra $ELSE;
{one}
bra.uni $END;
$ELSE:
{other}
$END: ret; }}"
        )
    }

    #[test]
    fn a_barrier_copied_into_both_arms_is_found() {
        for opcode in [
            "bar.sync 0",
            "shfl.sync.idx.b32 %r1|%p2, %r2, 0, 31, -1",
            "barrier.sync 1",
            "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2",
        ] {
            let barrier = format!(".loc 2 9 1\n{opcode};");
            let lines = lines(Lint::DuplicatedBarrier, &arms(&barrier, &barrier));
            assert_eq!(lines.len(), 1, "{lines:?}");
            let start = "kernel k, kernels/src/lib.rs:4: duplicated-barrier: ";
            assert!(lines[0].starts_with(start), "{lines:?}");
        }
    }

    #[test]
    fn two_barriers_of_the_source_are_silent() {
        let barrier =
            |line: u32| format!(".loc 1 {line} 5\nadd.s32 %r1, %r1, 1;\n.loc 2 9 1\nbar.sync 0;");
        let silent = |module: &str| {
            assert_eq!(lines(Lint::DuplicatedBarrier, module), [""; 0], "{module}");
        };
        silent(&arms(&barrier(5), &barrier(7)));
        silent(&arms("bar.sync 0;", ""));
        let unknown = "\nbar.sync 0;".to_owned();
        silent(&arms(&unknown, &unknown).replace(".loc", "//"));
        let kinds = ["bar.sync 0;", "bar.warp.sync -1;"];
        silent(&arms(kinds[0], kinds[1]));
    }

    #[test]
    fn one_branch_after_another_may_call_the_same_function() {
        let branch = |end: &str| {
            format!(
                "@%p1 bra {end};\n.loc 1 5 5\nadd.s32 %r1, %r1, 1;\n.loc 2 9 1\nbar.sync 0;\n{end}:"
            )
        };
        let module = format!(".entry k() {{ {} {} ret; }}", branch("$A"), branch("$B"));
        assert_eq!(lines(Lint::DuplicatedBarrier, &module), [""; 0]);
    }

    #[test]
    fn an_unrolled_loop_repeats_its_barrier_and_is_silent() {
        let round = "\n.loc 1 5 5\nadd.s32 %r1, %r1, 1;\n.loc 2 9 1\nbar.sync 0;\n@%p1 bra $END;";
        let module = format!(".entry k() {{ {round} {round} {round} $END: ret; }}");
        assert_eq!(lines(Lint::DuplicatedBarrier, &module), [""; 0]);
    }
}
