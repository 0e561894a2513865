//! The cost of counting beside a plain launch: in the time of the thread, the shortest of many launches each, because
//! tests run beside each other. The engine is optimised for tests, too; figures that are measured by themselves are in
//! docs/results/emulator-speed.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::harness::Case;
use super::together::REDUCTION;

/// How much longer a counted launch may take where lanes reach memory side by side, and where they do not. On a quiet
/// machine it is 1.1 to 1.3 and 1.4 to 1.8 times; one whose other core works on the same caches has shown 1.6, so that
/// what fails here is counting that costs as much as the launch itself.
const COALESCED: f64 = 2.0;
const UNCOALESCED: f64 = 3.0;

/// How often it is measured again: who shares the core's caches may be quieter then.
const ATTEMPTS: usize = 5;

/// Shown by `cargo test -p ridgepoint-engine-tests --test execution -- --nocapture cost`.
#[test]
fn counting_costs_little_beside_a_plain_launch() {
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
        ("saxpy", saxpy, COALESCED),
        ("reduction", REDUCTION, COALESCED),
        ("horner of degree 1000", horner, COALESCED),
        ("stride of 32", strided, UNCOALESCED),
        ("gather and scatter", gather, UNCOALESCED),
        ("bank conflicts", conflicts, UNCOALESCED),
    ];
    for (name, body, most) in cases {
        let y = if name.starts_with("gather") {
            gathered.clone()
        } else {
            Vec::new()
        };
        let case = Case::new(body).y(y).grid(128, 256);
        let (plain, counted) = times(&case, most);
        let ratio = ratio(plain, counted);
        println!("{name}: {plain:?} plain, {counted:?} counted, {ratio:.2} times");
        assert!(ratio < most, "{name}: {plain:?} plain, {counted:?} counted");
    }
}

/// Counting costs little however small the launch is: texts and lines are made once for all launches that are added up.
#[test]
fn counting_a_launch_of_one_block_costs_a_few_microseconds() {
    let (plain, counted) = times(&Case::new(REDUCTION).grid(1, 256), 2.0);
    println!("one block: {plain:?} plain, {counted:?} counted");
    assert!(
        ratio(plain, counted) < 3.0,
        "{plain:?} plain, {counted:?} counted"
    );
}

fn ratio(plain: Duration, counted: Duration) -> f64 {
    counted.as_secs_f64() / plain.as_secs_f64()
}

/// The shortest of many launches, plain and counted in turn, which are more where the ratio is not yet below `most`.
/// Counts are added up, as they are of a program's launches.
fn times(case: &Case, most: f64) -> (Duration, Duration) {
    case.with_kernel(|kernel, parameters| {
        let mut shortest = [Duration::MAX; 2];
        let launched = || (case.shape(), case.options());
        let (shape, options) = launched();
        let counted = kernel.count(shape, options, parameters, &|_| {}, None);
        let mut sum = counted.expect("it runs");
        for _ in 0..ATTEMPTS {
            for round in 0..100 {
                let (shape, options) = launched();
                let begin = ThreadTime::now();
                if round % 2 == 0 {
                    let ran = kernel.launch(shape, options, parameters, &|_| {}, None);
                    ran.expect("it runs");
                } else {
                    let tallied = kernel.tally(shape, options, parameters, &|_| {}, None);
                    tallied.expect("it runs").add_to(&mut sum);
                }
                let time = &mut shortest[round % 2];
                *time = begin.elapsed().min(*time);
            }
            if ratio(shortest[0], shortest[1]) < most {
                break;
            }
        }
        (shortest[0], shortest[1])
    })
}
