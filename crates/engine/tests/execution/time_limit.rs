//! The time limit of a launch ends it soon, however long a step takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Memory};
use engine::{Checks, Module, Options, Schedule, Shape};

const LIMIT: Duration = Duration::from_millis(50);

/// How much later a launch may end.
const LATE: Duration = Duration::from_secs(1);

/// A kernel of which `%rd0` is the address of a buffer, `%r1` that of 64 KiB of dynamic shared memory and `%r2` 8 bytes behind.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 128 .b8 s[];\n\
        .visible .entry test(.param .u64 p) {{\n.reg .f32 %f<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<2>;\n\
        ld.param.u64 %rd0, [p];\nmov.u32 %r2, s;\nadd.u32 %r1, %r2, 128;\nmov.f32 %f0, 0f3F000000;\nL:\n{body}\nbra L;\n}}\n"
    )
}

/// Runs a kernel without end. Its time has to be over.
#[track_caller]
fn ends(body: &str, schedule: Schedule, is_checked: bool) {
    let memory = Arc::<Memory>::default();
    let module = Module::load(&ptx(body), &memory).expect("PTX");
    let buffer = memory.allocate(1 << 16, 256, Contents::Defined, Label::new("buffer", 4));
    let parameters = buffer.expect("memory").to_le_bytes();
    let shape = Shape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 128 + (1 << 16),
    };
    let options = Options {
        schedule,
        steps: u64::MAX,
        time: Some(LIMIT),
        ..Options::default()
    };
    let (mut checker, mut streams) = (Checker::new(), Streams::default());
    let stream = streams.stream();
    let checks = is_checked.then(|| Checks {
        checker: &mut checker,
        operation: streams.enqueue(stream),
        fixed: Vec::new(),
        lent: Vec::new(),
        benign: None,
    });
    let kernel = module.kernel("test").expect("a kernel");
    kernel.prepare().expect("it is lowered");
    let began = Instant::now();
    let error = kernel.launch(shape, options, &parameters, &|_| {}, checks);
    let took = began.elapsed();
    let error = error.expect_err("it goes on for ever");
    assert!(error.is_endless(), "{error}");
    assert!(
        error.to_string().contains("has not ended after 0.05 s"),
        "{error}"
    );
    assert!(took < LIMIT + LATE, "{took:?}: {error}");
}

/// Lanes write and read the same bytes by accesses of several widths: each is compared with many others.
#[test]
fn checks_of_words_that_all_lanes_reach_take_no_longer() {
    let words = |at: u32| {
        let (single, pair, four) = (at, at + 8, at + 16);
        format!(
            "st.global.u32 [%rd0+{single}], %r1;\nst.global.v2.u32 [%rd0+{pair}], {{%r1, %r2}};\n\
            st.global.v4.u32 [%rd0+{four}], {{%r1, %r2, %r1, %r2}};\nld.global.u32 %r3, [%rd0+{single}];\n\
            ld.global.v2.u32 {{%r3, %r4}}, [%rd0+{pair}];\nld.global.v4.u32 {{%r3, %r4, %r5, %r6}}, [%rd0+{four}];\n"
        )
    };
    let all: String = (0..50).map(|it| words(32 * it)).collect();
    ends(&all, Schedule::InOrder, true);
}

/// A step is a block of instructions, however many.
#[test]
fn a_long_block_of_instructions_takes_no_longer() {
    let sines = "sin.approx.f32 %f0, %f0;\n".repeat(20_000);
    ends(&sines, Schedule::InOrder, false);
    ends(&sines, Schedule::InOrder, true);
}

/// An operation may move 64 KiB for each lane.
#[test]
fn copies_of_many_bytes_take_no_longer() {
    let copies = "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 65536;\n".repeat(400);
    ends(&copies, Schedule::InOrder, false);
}

/// A limit of few steps is one, although a warp that nobody disturbs goes through more of them in its turn.
#[test]
fn few_steps_are_few() {
    let memory = Arc::<Memory>::default();
    let text = ptx("add.u32 %r3, %r3, 1;\nst.global.u32 [%rd0], %r3;");
    let module = Module::load(&text, &memory).expect("PTX");
    let buffer = memory.allocate(64, 256, Contents::Defined, Label::new("buffer", 4));
    let address = buffer.expect("memory");
    let shape = Shape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        steps: 100,
        ..Options::default()
    };
    let kernel = module.kernel("test").expect("a kernel");
    let ran = kernel.launch(shape, options, &address.to_le_bytes(), &|_| {}, None);
    let error = ran.expect_err("it goes on for ever");
    assert!(error.to_string().contains("more than 100 steps"), "{error}");
    let at = std::ptr::with_exposed_provenance::<u32>(address as usize);
    // SAFETY: allocated above with 64 bytes, and nothing runs.
    let count = unsafe { at.read() };
    assert!((100..=300).contains(&count), "{count} of 100 steps");
}
