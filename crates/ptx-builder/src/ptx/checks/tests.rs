//! By hand, and random kernels on the engine with the checks gathered and as they were.

mod random;

use super::super::calls::Calls;
use super::super::lints::testing;
use super::*;

/// The text with its checks gathered, if there are such.
fn gathered(text: &str) -> Option<String> {
    let source = Source::parse(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"));
    let calls = Calls::new(&source.module);
    let mut edits = Edits::default();
    let mut stretches = 0;
    for definition in source.definitions() {
        let flow = calls.flow(definition.spans.function.0 as usize);
        stretches += gather(&source, definition, flow.expect("a body"), &mut edits);
    }
    (stretches > 0).then(|| edits.apply(text))
}

/// The kernel's instructions with their checks gathered, if there are such. They may branch to `$BAD`.
fn body(instructions: &str) -> Option<String> {
    let kernel = format!(".entry k() {{ {instructions} ret; $BAD: trap; }}");
    let text = gathered(&testing::module(&kernel))?;
    let (_, body) = text.split_once(testing::REGISTERS).expect("a body");
    Some(body.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn checks_come_before_the_load_between_them() {
    let stretch = "@%p1 bra $BAD; ld.global.b32 %r1, [%rd1]; setp.ge.u64 %p2, %rd2, %rd3; \
                   @%p2 bra $BAD;";
    let behind = "ld.global.b32 %r2, [%rd2];";
    assert_eq!(
        body(&format!("{stretch} {behind}")).as_deref(),
        Some(
            "setp.ge.u64 %ptxstd_check0, %rd2, %rd3; or.pred %ptxstd_check1, %p1, %ptxstd_check0; \
             @%ptxstd_check1 bra $L__ptxstd_fails_0; ld.global.b32 %r1, [%rd1]; \
             setp.ge.u64 %p2, %rd2, %rd3; ld.global.b32 %r2, [%rd2]; ret; $BAD: trap; \
             $L__ptxstd_fails_0: @%p1 bra $BAD; ld.global.b32 %r1, [%rd1]; \
             setp.ge.u64 %p2, %rd2, %rd3; @%p2 bra $BAD; trap; exit; }"
        )
    );
}

#[test]
fn a_condition_over_a_check_and_its_load_stays() {
    let text = "@!%p1 bra $NEXT; setp.ge.u64 %p2, %rd2, %rd3; @%p2 bra $BAD; \
                ld.global.b32 %r2, [%rd2]; $NEXT:";
    assert_eq!(body(text), None);
}

#[test]
fn a_stretch_ends_where_a_check_would_come_too_early() {
    let load = "ld.global.b32 %r1, [%rd1];";
    for between in [
        // It depends on what is loaded.
        "ld.global.b64 %rd2, [%rd1]; setp.ge.u64 %p2, %rd2, %rd3;",
        "ld.global.b32 %r1, [%rd1]; @%p3 setp.ge.u64 %p2, %rd2, %rd3;",
        "ld.global.b32 %r1, [%rd1]; mov.u64 %rd2, %clock64; setp.ge.u64 %p2, %rd2, %rd3;",
        // Others see what is before it.
        "ld.global.b32 %r1, [%rd1]; st.volatile.global.b32 [%rd1], %r2;",
        "ld.global.b32 %r1, [%rd1]; bar.sync 0;",
        "ld.global.b32 %r1, [%rd1]; atom.global.add.u32 %r3, [%rd1], 1;",
        "ld.volatile.global.b32 %r1, [%rd1];",
        "ld.relaxed.sys.global.b32 %r1, [%rd1];",
        // There are other ways to it, or out of it.
        "ld.global.b32 %r1, [%rd1]; $TOP:",
        "ld.global.b32 %r1, [%rd1]; @%p4 bra $TOP;",
        // It would take a division.
        "ld.global.b32 %r1, [%rd1]; div.u64 %rd2, %rd3, %rd4; setp.ge.u64 %p2, %rd2, %rd3;",
        // A condition is made by what is under another.
        "@%p3 bra $OVER; ld.global.b32 %r1, [%rd1]; setp.ge.u64 %p2, %rd2, %rd3; $OVER:",
        // A scope's registers are known in it alone.
        "{ ld.global.b32 %r1, [%rd1]; } ld.global.b32 %r1, [%rd1];",
    ] {
        let top = if between.contains("$TOP:") {
            ""
        } else {
            "$TOP:"
        };
        let text = format!("{top} @%p1 bra $BAD; {between} @%p2 bra $BAD; {load} @%p4 bra $TOP;");
        assert_eq!(body(&text), None, "{between}");
    }
}

#[test]
fn what_is_stored_before_a_check_is_stored_before_it_fails() {
    let text = body("@%p1 bra $BAD; st.global.b32 [%rd1], %r1; @%p2 bra $BAD; @%p3 bra $BAD;");
    let text = text.expect("a stretch");
    let store = "st.global.b32 [%rd1], %r1;";
    assert!(
        text.contains(&format!("bra $L__ptxstd_fails_0; {store}")),
        "{text}"
    );
    let copy = format!("$L__ptxstd_fails_0: @%p1 bra $BAD; {store} @%p2 bra $BAD;");
    assert!(text.contains(&copy), "{text}");
}

#[test]
fn two_checks_without_a_load_between_them_stay() {
    assert_eq!(
        body("@%p1 bra $BAD; @%p2 bra $BAD; ld.global.b32 %r1, [%rd1];"),
        None
    );
}

#[test]
fn a_stretch_has_as_many_loads_as_wait_together() {
    let tap = "setp.ge.u64 %p2, %rd2, %rd3; @%p2 bra $BAD; ld.global.b32 %r2, [%rd2];";
    let text = body(&tap.repeat(20)).expect("stretches");
    let stretches = text.matches("bra $L__ptxstd_fails_").count();
    assert_eq!(stretches, 20 / MOST_LOADS + 1, "{text}");
}
