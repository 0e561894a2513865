//! `local-memory`

use std::collections::HashSet;

use super::super::parse::Kind;
use super::{Defined, Report, Subject};

/// Finds stack frames in kernels and in what they call when they do not panic.
pub(super) fn check(subject: &Subject<'_, '_>) -> Vec<Report> {
    subject
        .ordinary()
        .filter_map(|function| report(subject, function))
        .collect()
}

fn report(subject: &Subject<'_, '_>, function: Defined<'_, '_>) -> Option<Report> {
    let frame = function.body.frame?;
    let prints = subject
        .calls
        .leads_to(subject.module, function.index, "vprintf");
    // The arguments of a message have to lie somewhere.
    if prints {
        return None;
    }
    let first_use = first_ordinary_use(function)?;
    let owner = match function.function.kind {
        Kind::Entry => "the kernel",
        Kind::Function => "the function",
    };
    let message = format!(
        "{owner} keeps {} bytes on its stack, which is local memory, off the chip: index arrays \
         only by constants and by loops that are unrolled, or keep them in shared memory, and \
         inline functions that take references to locals",
        frame.bytes
    );
    Some(subject.report(function, first_use, message))
}

/// The first instruction that uses the frame where something else than a panic follows. Taking its
/// address is no use.
fn first_ordinary_use(function: Defined<'_, '_>) -> Option<usize> {
    let frame = function.body.frame?;
    let mut addresses: HashSet<&str> = HashSet::from([frame.name, "%SP", "%SPL"]);
    for (index, instruction) in function.body.instructions.iter().enumerate() {
        if !instruction
            .sources()
            .iter()
            .any(|name| addresses.contains(name))
        {
            continue;
        }
        let results = instruction.results();
        let takes_address = matches!(instruction.base(), "mov" | "add" | "or" | "cvta");
        if takes_address && !results.is_empty() {
            addresses.extend(results);
        } else if !function.flow.panics_at(index) {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    const FRAME: &str = ".local .align 4 .b8 __local_depot0[20]; mov.b64 %SPL, __local_depot0;
        cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SPL, 0;";

    #[test]
    fn a_stack_frame_of_a_kernel_or_of_what_it_calls_is_found() {
        let use_it = "\n.loc 1 8 5\nst.local.b32 [%rd1], 1;\n.loc 1 9 5\nret;";
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
            ".entry k() { ret; }".to_owned(),
        ] {
            assert_eq!(lines(Lint::LocalMemory, &module), [""; 0], "{module}");
        }
    }
}
