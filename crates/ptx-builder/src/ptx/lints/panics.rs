//! `panic-in-loop`

use std::collections::BTreeSet;

use super::{Report, Subject};
use crate::ptx::places::Place;

const MESSAGE: &str = "a check that panics runs each time round a loop: take a slice of the right \
    length before the loop, use iterators or `get`, or check once and then use `get_unchecked`";

/// Finds branches from within a loop to where only a panic follows: a report for each function, which names them all.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut of_functions = Vec::new();
    for function in subject.ordinary() {
        let mut reports = Vec::new();
        let flow = function.flow;
        for (index, block) in flow.blocks.iter().enumerate() {
            let checks = block.next.iter().any(|&next| flow.blocks[next].panics);
            if !block.panics && checks && flow.is_in_loop(index) {
                let branch = block.instructions.end - 1;
                reports.push(subject.report(function, branch, MESSAGE.to_owned()));
            }
        }
        of_functions.extend(together(reports));
    }
    of_functions
}

/// The first of several reports with the lines of the others.
fn together(reports: Vec<Report>) -> Option<Report> {
    let places: BTreeSet<Place> = reports.iter().filter_map(|it| it.place.clone()).collect();
    let mut places = places.into_iter();
    let mut report = reports.into_iter().next()?;
    report.place = places.next().or(report.place);
    let others: Vec<String> = places.map(|it| it.to_string()).collect();
    if !others.is_empty() {
        report.message += &format!(" (also {})", others.join(", "));
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    const PANICS: &str = ".func panics() .noreturn { trap; }";

    #[test]
    fn the_checks_in_a_kernels_loops_are_one_finding() {
        let module = format!(
            "{PANICS} .entry k() {{ $L:
.loc 1 6 3
@%p1 bra $BAD;
.loc 2 9 9
@%p2 bra $BAD;
bar.sync 0;
.loc 1 5 1
@%p3 bra $BAD;
@%p4 bra $L;
ret;
$BAD: mov.b32 %r1, 1; call.uni panics, (); exit; }}"
        );
        let lines = lines(Lint::PanicInLoop, &module);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let start = "kernel k, kernels/src/lib.rs:5: panic-in-loop: ";
        assert!(lines[0].starts_with(start), "{lines:?}");
        let end = " (also kernels/src/lib.rs:6)";
        assert!(lines[0].ends_with(end), "{lines:?}");
    }

    #[test]
    fn a_check_before_a_loop_and_a_loop_of_a_panic_are_silent() {
        let module = format!(
            "{PANICS} .func message() {{ $L: @%p1 bra $BAD; @%p2 bra $L; ret; $BAD: trap; }}
.entry k() {{ @%p1 bra $BAD; $L: add.s32 %r1, %r1, 1; @%p2 bra $L; ret;
$BAD: call.uni message, (); call.uni panics, (); exit; }}"
        );
        assert_eq!(lines(Lint::PanicInLoop, &module), [""; 0]);
    }
}
