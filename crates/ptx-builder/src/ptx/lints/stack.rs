//! `local-memory`

use ::ptx::FunctionKind;

use super::super::frame::{Uses, frame};
use super::{Defined, Report, Subject};

/// Finds stack frames in kernels and in what they call when they do not panic.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    subject
        .ordinary()
        .filter_map(|function| report(subject, function))
        .collect()
}

fn report(subject: &Subject<'_>, function: Defined<'_>) -> Option<Report> {
    let frame = frame(function.body)?;
    let prints = subject
        .calls
        .leads_to(subject.module, function.index, "vprintf");
    // The arguments of a message have to lie somewhere.
    if prints {
        return None;
    }
    let first_use = first_ordinary_use(subject, function)?;
    let owner = match function.function.kind {
        FunctionKind::Entry => "the kernel",
        FunctionKind::Device => "the function",
    };
    let message = format!(
        "{owner} keeps {} bytes on its stack, which is local memory, off the chip: index arrays \
         only by constants and by loops that are unrolled, or keep them in shared memory, and \
         inline functions that take references to locals",
        frame.bytes
    );
    Some(subject.report(function, first_use, message))
}

/// The first instruction that uses what the frame holds, where something else than a panic follows and
/// which is the kernels' own. Storing in it is no use by itself: what a panic would say is stored before the
/// check.
fn first_ordinary_use(subject: &Subject<'_>, function: Defined<'_>) -> Option<usize> {
    let uses = Uses::of(function.body)?;
    let is_own = |index: &usize| {
        let of_library = subject
            .sources
            .is_library(subject.module, function.body, *index);
        !function.flow.panics_at(*index) && !of_library
    };
    let is_used = uses.others.iter().any(is_own);
    let mut all = [uses.writes, uses.others].concat();
    all.sort_unstable();
    all.into_iter().find(is_own).filter(|_| is_used)
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    const FRAME: &str = ".local .align 4 .b8 __local_depot0[20]; mov.b64 %SPL, __local_depot0;
        cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SPL, 0;";

    #[test]
    fn a_stack_frame_of_a_kernel_or_of_what_it_calls_is_found() {
        let use_it = "\n.loc 1 8 5\nst.local.b32 [%rd1], 1;\n.loc 1 9 5\n\
            ld.local.b32 %r1, [%rd1]; ret;";
        let kernel = lines(
            Lint::LocalMemory,
            &format!(".entry k() {{ {FRAME} {use_it} }}"),
        );
        assert_eq!(kernel.len(), 1, "{kernel:?}");
        let start = "kernel k, kernels/src/lib.rs:8: local-memory: the kernel keeps 20 bytes";
        assert!(kernel[0].starts_with(start), "{kernel:?}");
        let called = lines(
            Lint::LocalMemory,
            &format!(".func f() {{ {FRAME} {use_it} }} .entry k() {{ call.uni f, (); ret; }}"),
        );
        assert_eq!(called.len(), 1, "{called:?}");
        let start = "kernel k, kernels/src/lib.rs:8: local-memory: in f: the function keeps";
        assert!(called[0].starts_with(start), "{called:?}");
    }

    #[test]
    fn a_stack_frame_of_the_librarys_own_is_silent_and_the_kernels_beside_it_is_not() {
        let of_library = ".loc 2 9 5\nst.local.b32 [%rd1], 1; ld.local.b32 %r1, [%rd1];";
        let module = |own: &str| format!(".entry k() {{ {FRAME}\n{of_library}\n{own}\nret; }}");
        assert_eq!(lines(Lint::LocalMemory, &module("")), [""; 0]);
        let found = lines(
            Lint::LocalMemory,
            &module(".loc 1 8 5\nld.local.b32 %r2, [%rd1];"),
        );
        assert_eq!(found.len(), 1, "{found:?}");
        let start = "kernel k, kernels/src/lib.rs:8: local-memory: the kernel keeps 20 bytes";
        assert!(found[0].starts_with(start), "{found:?}");
    }

    #[test]
    fn the_stack_of_a_message_or_of_a_panic_is_silent() {
        let print = ".extern .func vprintf;";
        let panics = "@%p1 bra $BAD; ret; $BAD: st.local.b32 [%rd1], 1; call.uni p, (); trap;";
        for module in [
            format!("{print} .entry k() {{ {FRAME} st.local.b32 [%rd1], 1; call vprintf; ret; }}"),
            format!(
                "{print} .func f() {{ call vprintf; ret; }} .entry k() {{ {FRAME} \
                 st.local.b32 [%rd1], 1; call f; ret; }}"
            ),
            format!(".func p() .noreturn {{ trap; }} .entry k() {{ {FRAME} {panics} }}"),
            format!(
                ".func p() .noreturn {{ {FRAME} st.local.b32 [%rd1], 1; trap; }} \
                 .entry k() {{ @%p1 bra $BAD; ret; $BAD: call.uni p, (); trap; }}"
            ),
            // As it is before PTX 6.4, and what a message would have said stored before the check.
            format!(
                ".func p() {{ {FRAME} st.local.b32 [%rd1], 1; call.uni f, (); trap; }} \
                 .entry k() {{ {FRAME} st.local.b32 [%rd1], 1; @%p1 bra $BAD; ret; \
                 $BAD: ld.local.b32 %r1, [%rd1]; call.uni p, (); trap; }}"
            ),
            ".entry k() { ret; }".to_owned(),
        ] {
            assert_eq!(lines(Lint::LocalMemory, &module), [""; 0], "{module}");
        }
    }
}
