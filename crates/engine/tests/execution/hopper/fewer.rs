//! `cp.async` of fewer bytes than it writes: the rest is zeros, and of the source nothing else is touched.

use super::harness::{BYTES, Case};

/// Each thread copies to 16 bytes of its own and stores them. `%r20` is how many bytes of the source count.
fn case(size: &str, copy: &str) -> Case {
    let x = (0..1 << 10).map(|it: u32| it.wrapping_mul(0x0101_0101) ^ 0x8040_2010);
    Case::new(&format!(
        "mov.u32 %r3, s; shl.b32 %r4, %r1, 4; add.u32 %r3, %r3, %r4;
        cvt.u64.u32 %rd3, %r4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        {size}
        {copy}
        cp.async.commit_group;
        cp.async.wait_group 0;
        ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r3];
        st.global.v4.b32 [%rd5], {{%r10, %r11, %r12, %r13}};"
    ))
    .x(x.collect())
}

/// Returns the bytes that the ISA promises: the source's first ones, then zeros.
fn expected(taken: impl Fn(usize) -> usize) -> Vec<u8> {
    let x: Vec<u8> = (0..128u32)
        .flat_map(|it| (it.wrapping_mul(0x0101_0101) ^ 0x8040_2010).to_le_bytes())
        .collect();
    let lane = |lane: usize| {
        let mut bytes = x[16 * lane..][..16].to_vec();
        bytes[taken(lane)..].fill(0);
        bytes
    };
    (0..32).flat_map(lane).collect()
}

fn bytes(words: Vec<u32>) -> Vec<u8> {
    let of_lanes = &words[..128];
    of_lanes.iter().flat_map(|it| it.to_le_bytes()).collect()
}

const COPY: &str = "cp.async.cg.shared.global [%r3], [%rd4], 16, %r20;";

#[test]
fn each_size_of_the_source_is_filled_up_with_zeros() {
    // 0 to 16 bytes, another number in each lane.
    let case = case("rem.u32 %r20, %r1, 17;", COPY);
    assert_eq!(bytes(case.run()), expected(|lane| lane % 17));
    assert_eq!(bytes(case.unchecked().run()), expected(|lane| lane % 17));
}

#[test]
fn a_constant_may_be_less() {
    for (size, text) in [(0, "0"), (8, "8"), (12, "0xc"), (16, "16")] {
        let copy = COPY.replace("%r20", text);
        assert_eq!(bytes(case("", &copy).run()), expected(|_| size), "{copy}");
    }
}

#[test]
fn a_predicate_ignores_the_whole_source() {
    let copy = "cp.async.ca.shared.global [%r3], [%rd4], 16, %p1;";
    let case = case("and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 1;", copy);
    let odd = |lane: usize| 16 * (1 - lane % 2);
    assert_eq!(bytes(case.run()), expected(odd));
    assert_eq!(bytes(case.unchecked().run()), expected(odd));
}

#[test]
fn four_and_eight_bytes_are_filled_up_as_well() {
    for width in [4usize, 8] {
        let size = format!("rem.u32 %r20, %r1, {};", width + 1);
        let copy = format!(
            "st.shared.v4.b32 [%r3], {{%r1, %r1, %r1, %r1}};
            cp.async.ca.shared.global [%r3], [%rd4], {width}, %r20;"
        );
        let y = case(&size, &copy).run();
        let expected = expected(|lane| lane % (width + 1));
        for lane in 0..32 {
            assert_eq!(
                bytes(y.clone())[16 * lane..][..width],
                expected[16 * lane..][..width]
            );
        }
    }
}

/// The last elements of the buffer: what is behind them is not read.
fn at_the_end(size: u32) -> Case {
    let body = format!(
        "mov.u32 %r3, s; mov.u32 %r20, {size};
        setp.ne.u32 %p1, %r1, 0; @%p1 ret;
        cp.async.cg.shared.global [%r3], [%rd1+{}], 16, %r20;
        cp.async.wait_all;
        ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r3];
        st.global.v4.b32 [%rd2], {{%r10, %r11, %r12, %r13}};",
        BYTES
    );
    Case::new(&body)
}

#[test]
fn nothing_is_read_that_is_not_copied() {
    // 16 bytes behind the end: no byte of them is the source's.
    assert_eq!(at_the_end(0).run()[..4], [0; 4]);
    let text = at_the_end(4).finding();
    assert!(text.contains("out of bounds"), "{text}");
}

#[test]
fn wrong_sizes_places_and_waits_are_found() {
    let text = case("mov.u32 %r20, 17;", COPY).finding();
    assert!(text.contains("a copy of 17 bytes to 16"), "{text}");
    let odd = COPY.replace("[%rd4]", "[%rd4+4]");
    let text = case("mov.u32 %r20, 4;", &odd).finding();
    assert!(text.contains("misaligned"), "{text}");
    // The zeros land with the copy: they may not be read before, either.
    let unwaited =
        "cp.async.cg.shared.global [%r3], [%rd4], 16, %r20; ld.shared.b32 %r30, [%r3+12];";
    for size in [0, 4] {
        let text = case(&format!("mov.u32 %r20, {size};"), unwaited).finding();
        assert!(text.contains("asynchronous copy without a wait"), "{text}");
    }
    // The bytes that count must not be written meanwhile; the others may.
    let written = |at| format!("{COPY} st.global.b32 [%rd4+{at}], %r1;");
    let text = case("mov.u32 %r20, 8;", &written(4)).finding();
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
    case("mov.u32 %r20, 8;", &written(8)).run();
}
