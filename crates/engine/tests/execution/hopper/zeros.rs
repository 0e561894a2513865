//! `st.bulk`, and policies that caches are given.

use super::harness::Case;

/// Thread 0 fills 64 bytes of 128 with zeros; all read.
fn case(store: &str) -> Case {
    Case::new(&format!(
        "mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; mov.b64 %rd6, 64;
        cvta.shared.u64 %rd5, s; cvt.u64.u32 %rd7, %r3;
        cvt.u64.u32 %rd3, %r4; add.u64 %rd4, %rd2, %rd3;
        add.u32 %r6, %r1, 100; st.shared.b32 [%r5], %r6;
        bar.sync 0;
        setp.eq.u32 %p1, %r1, 0; @%p1 {store}
        bar.sync 0;
        ld.shared.b32 %r7, [%r5]; st.global.b32 [%rd4], %r7;"
    ))
    .on("sm_100")
}

/// Returns the words that are left where 16 of them, from the eighth on, are zeros.
fn expected() -> Vec<u32> {
    let word = |thread: u32| {
        if (8..24).contains(&thread) {
            0
        } else {
            thread + 100
        }
    };
    (0..32).map(word).collect()
}

#[test]
fn zeros_are_where_they_are_to_be() {
    for store in [
        "st.bulk.weak.shared::cta [%rd7+32], %rd6, 0;",
        "st.bulk [%rd5+32], 64, 0;",
    ] {
        assert_eq!(case(store).run()[..32], expected(), "{store}");
        assert_eq!(case(store).unchecked().run()[..32], expected(), "{store}");
    }
    // No bytes are none.
    let none = case("st.bulk.weak.shared::cta [%rd7], 0, 0;").run();
    assert!(none[..32].iter().copied().eq(100..132));
}

#[test]
fn stores_of_zeros_are_checked() {
    for (store, says) in [
        (
            "st.bulk.weak.shared::cta [%rd7], 60, 0;",
            "60 bytes of zeros, no multiple of 8",
        ),
        ("st.bulk.weak.shared::cta [%rd7+4], 64, 0;", "misaligned"),
        (
            "st.bulk.weak.shared::cta [%rd7+32760], 64, 0;",
            "out of bounds",
        ),
    ] {
        let text = case(store).finding();
        assert!(text.contains(says), "{store}: {text}");
    }
    // Warp 1 does not wait for the zeros.
    let store = "st.bulk.weak.shared::cta [%rd7+128], 64, 0;";
    let races = case(store)
        .grid(1, 64)
        .body(|body| body.replacen("bar.sync 0;", "", 1));
    let text = races.finding();
    assert!(text.contains("race"), "{text}");
}

#[test]
fn a_policy_changes_no_value() {
    for policy in [
        "createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0;",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd9, 0.5;",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd9, [%rd1], 64, 128;",
        "createpolicy.cvt.L2.b64 %rd9, 0x10f0000000000000;",
    ] {
        let case = Case::new(&format!(
            "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
            {policy}
            ld.global.L2::cache_hint.b32 %r3, [%rd4], %rd9;
            st.global.L2::cache_hint.b32 [%rd5], %r3, %rd9;
            red.global.add.L2::cache_hint.u32 [%rd5], 5, %rd9;
            atom.global.add.L2::cache_hint.u32 %r4, [%rd5], %r3, %rd9;
            setp.ne.u32 %p1, %r1, 0; @%p1 ret;
            st.global.b32 [%rd2+1024], %r4;"
        ));
        let y = case.x((10..42).collect()).run();
        assert!(
            y[..32].iter().copied().eq((10..42).map(|it| 2 * it + 5)),
            "{policy}"
        );
        assert_eq!(y[256], 15, "{policy}");
    }
}
