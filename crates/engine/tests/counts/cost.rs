//! What counting costs beside a plain launch.

use std::time::{Duration, Instant};

use crate::harness::Case;

/// How much longer a counted launch may take. What they take is in docs/results/emulator-speed.
const MOST: f64 = 3.0;

/// Shown by `cargo test -p ridgepoint-engine --test counts -- --nocapture cost`.
#[test]
fn counting_costs_at_most_three_times_a_plain_launch() {
    let gathered = (0..1 << 15).map(|index: u32| index.wrapping_mul(2654435761) >> 17);
    let gathered: Vec<u32> = gathered.map(|index| index * 4).collect();
    let saxpy = "
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd4, %rd3, %rd1;
        add.s64 %rd5, %rd3, %rd2;
        ld.global.f32 %f1, [%rd4];
        ld.global.f32 %f2, [%rd5];
        fma.rn.f32 %f3, %f1, %f4, %f2;
        st.global.f32 [%rd5], %f3;";
    let horner = "
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd4, %rd3, %rd1;
        ld.global.f32 %f1, [%rd4];
        mov.u32 %r6, 0;
        NEXT:
        fma.rn.f32 %f2, %f2, %f1, %f3;
        fma.rn.f32 %f2, %f2, %f1, %f3;
        fma.rn.f32 %f2, %f2, %f1, %f3;
        fma.rn.f32 %f2, %f2, %f1, %f3;
        add.u32 %r6, %r6, 4;
        setp.lt.u32 %p1, %r6, 1000;
        @%p1 bra NEXT;
        add.s64 %rd5, %rd3, %rd2;
        st.global.f32 [%rd5], %f2;";
    let strided = "
        and.b32 %r6, %r3, 2047;
        mul.wide.u32 %rd3, %r6, 128;
        add.s64 %rd4, %rd3, %rd1;
        ld.global.f32 %f1, [%rd4];
        add.f32 %f1, %f1, %f1;
        st.global.f32 [%rd4+64], %f1;";
    let gather = "
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd3, %rd3, %rd2;
        ld.global.u32 %r6, [%rd3];
        cvt.u64.u32 %rd4, %r6;
        add.s64 %rd5, %rd4, %rd1;
        ld.global.f32 %f1, [%rd5];
        add.f32 %f1, %f1, %f1;
        st.global.f32 [%rd5], %f1;";
    let conflicts = "
        mul.lo.u32 %r6, %r1, 128;
        mov.u32 %r7, s;
        add.u32 %r7, %r7, %r6;
        st.shared.f32 [%r7], %f1;
        ld.shared.f32 %f2, [%r7];
        add.f32 %f2, %f2, %f1;
        st.shared.f32 [%r7], %f2;";
    let cases = [
        ("saxpy", saxpy),
        ("horner of degree 1000", horner),
        ("stride of 32", strided),
        ("gather and scatter", gather),
        ("bank conflicts", conflicts),
    ];
    for (name, body) in cases {
        let y = if name.starts_with("gather") {
            gathered.clone()
        } else {
            Vec::new()
        };
        let case = Case::new(body).y(y).grid(128, 256);
        let (plain, counted) = times(&case);
        let ratio = counted.as_secs_f64() / plain.as_secs_f64();
        println!("{name}: {plain:?} plain, {counted:?} counted, {ratio:.2} times");
        assert!(ratio < MOST, "{name}: {plain:?} plain, {counted:?} counted");
    }
}

/// The shortest of many launches, plain and counted in turn.
fn times(case: &Case) -> (Duration, Duration) {
    case.with_kernel(|kernel, parameters| {
        let mut shortest = [Duration::MAX; 2];
        for round in 0..100 {
            let (shape, options) = (case.shape(), case.options());
            let begin = Instant::now();
            if round % 2 == 0 {
                kernel
                    .launch(shape, options, parameters, &|_| {}, None)
                    .expect("it runs");
            } else {
                kernel
                    .count(shape, options, parameters, &|_| {}, None)
                    .expect("it runs");
            }
            let time = &mut shortest[round % 2];
            *time = begin.elapsed().min(*time);
        }
        (shortest[0], shortest[1])
    })
}
