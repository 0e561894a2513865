//! `redux.sync` of floats: the PTX ISA's rules of NaN, magnitudes and zeros.

use super::harness::Case;

const NAN: u32 = 0x7FC0_0001;

/// Returns the reduction over the bits of lanes 0 to 2, which all three get.
fn reduced(modifiers: &str, x: [u32; 3]) -> u32 {
    let case = Case::new(&format!(
        "setp.gt.u32 %p1, %r1, 2; @%p1 ret;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4];
        redux.sync.{modifiers}.f32 %f2, %f1, 7;
        st.global.f32 [%rd5], %f2;"
    ));
    let y = case.x(x.to_vec()).run();
    assert!(
        y[..3].iter().all(|it| *it == y[0]),
        "{modifiers}: {:x?}",
        &y[..3]
    );
    y[0]
}

#[test]
fn floats_are_reduced() {
    let [one, minus_two, minus_zero] = [1f32, -2.0, -0.0].map(f32::to_bits);
    for (modifiers, x, expected) in [
        ("min", [one, minus_two, 0], minus_two),
        ("max", [one, minus_two, 0], one),
        ("min.abs", [one, minus_two, minus_zero], 0),
        ("max.abs", [one, minus_two, 0], 2f32.to_bits()),
        // -0 is less than 0.
        ("min", [0, minus_zero, 0], minus_zero),
        ("max", [minus_zero, 0, minus_zero], 0),
        // Without .NaN a number goes before it.
        ("min", [NAN, one, NAN], one),
        ("max", [NAN, one, minus_two], one),
        ("max.abs", [NAN, one, minus_two], 2f32.to_bits()),
        // With it, or where there is nothing else, the result is the canonical one.
        ("min.NaN", [one, NAN, minus_two], 0x7FFF_FFFF),
        ("max.NaN", [one, minus_two, NAN], 0x7FFF_FFFF),
        ("max.abs.NaN", [one, minus_two, NAN | 1 << 31], 0x7FFF_FFFF),
        ("min.abs.NaN", [one, minus_two, minus_two], one),
        ("min", [NAN, NAN, NAN], 0x7FFF_FFFF),
    ] {
        assert_eq!(reduced(modifiers, x), expected, "{modifiers} of {x:x?}");
    }
}
