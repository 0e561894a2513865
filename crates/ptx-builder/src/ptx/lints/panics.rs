//! `panic-in-loop`

use super::{Report, Subject};

const MESSAGE: &str = "a check that panics runs each time round a loop: take a slice of the right \
    length before the loop, use iterators or `get`, or check once and then use `get_unchecked`";

/// Finds branches from within a loop to where only a panic follows.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.ordinary() {
        let flow = function.flow;
        for (index, block) in flow.blocks.iter().enumerate() {
            let checks = block.next.iter().any(|&next| flow.blocks[next].panics);
            if !block.panics && checks && flow.is_in_loop(index) {
                let branch = block.instructions.end - 1;
                reports.push(subject.report(function, branch, MESSAGE.to_owned()));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    const PANICS: &str = ".func panics() .noreturn { trap; }";

    #[test]
    fn a_check_in_a_loop_is_found_once_a_line() {
        let module = format!(
            "{PANICS} .entry k() {{ $L:
.loc 1 6 3
@%p1 bra $BAD;
.loc 2 9 9
@%p2 bra $BAD;
.loc 1 5 1
@%p3 bra $L;
ret;
$BAD: mov.b32 %r1, 1; call.uni panics, (); exit; }}"
        );
        let lines = lines(Lint::PanicInLoop, &module);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let start = "kernel k, kernels/src/lib.rs:6: panic-in-loop: ";
        assert!(lines[0].starts_with(start), "{lines:?}");
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
