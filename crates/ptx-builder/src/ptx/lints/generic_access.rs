//! `generic-shared-access`

use super::{Report, Subject};

const MESSAGE: &str = "this access may be to shared or constant memory or to another, so the \
    hardware finds out which each time: choose between values and not between pointers (the compiler \
    makes one of two alike accesses in both arms of a branch: let them differ)";

/// Finds accesses whose address comes from shared or constant memory only at times: those that the rewriting had
/// to leave generic.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.defined() {
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            if subject.left_generic.contains(&instruction.span.start) {
                reports.push(subject.report(function, index, MESSAGE.to_owned()));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    fn module(other: &str) -> String {
        format!(
            ".entry k(.param .u64 a) {{
.loc 1 4 9
mov.u64 %rd1, __shared_a__4_64; cvta.shared.u64 %rd1, %rd1;
ld.param.b64 %rd2, [a];
add.s64 %rd3, %rd1, 4;
selp.b64 %rd4, %rd1, {other}, %p1;
.loc 1 5 9
ld.b32 %r1, [%rd4+4];
.loc 2 9 9
st.b32 [%rd2], %r1;
ret; }}"
        )
    }

    #[test]
    fn an_access_to_either_memory_is_found() {
        let lines = lines(Lint::GenericSharedAccess, &module("%rd2"));
        assert_eq!(lines.len(), 1, "{lines:?}");
        let start = "kernel k, kernels/src/lib.rs:5: generic-shared-access: ";
        assert!(lines[0].starts_with(start), "{lines:?}");
    }

    #[test]
    fn an_access_to_one_of_them_is_silent() {
        assert!(lines(Lint::GenericSharedAccess, &module("%rd3")).is_empty());
    }
}
