//! The host's memory that a launch takes, in a process of its own, because all launches of one count.
#![cfg(target_os = "linux")]

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::process::{alone, peak};

const PTX: &str = r#"
.version 8.0
.target sm_90
.address_size 64

.visible .entry meets(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    bar.sync 0;
    red.global.add.u32 [%rd1], %r4;
    ret;
}
"#;

#[test]
fn a_live_thread_takes_less_than_a_kib_and_a_large_grid_no_more() {
    alone(
        "footprint::a_live_thread_takes_less_than_a_kib_and_a_large_grid_no_more",
        live_threads_and_a_large_grid,
    );
}

fn live_threads_and_a_large_grid() {
    let memory = Arc::new(Memory::default());
    let module = Module::load(PTX, &memory).expect("it is PTX");
    let kernel = module.kernel("meets").expect("it is there");
    let label = Label::new("out", 4);
    let out = memory
        .allocate(256, 256, Contents::Defined, label)
        .expect("there is memory");
    let launch = |blocks: u32, threads: u32| {
        let shape = Shape {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
        };
        kernel
            .launch(shape, Options::default(), &out.to_le_bytes(), &|_| (), None)
            .expect("nothing fails");
    };
    // The engine's own code is in memory from the first launch on.
    launch(64, 32);
    let before = peak();
    launch(64, 1024);
    let with_live = peak();
    let live = 1024 * engine::cores() as u64;
    assert!(
        with_live - before < live,
        "{live} threads took {} KiB",
        with_live - before
    );
    launch(1000, 1024);
    let more = peak() - with_live;
    assert!(more < 1024, "a million threads took {more} KiB more");
}
