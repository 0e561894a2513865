//! `ld.global.nc` of what the same launch writes.

use std::sync::Arc;

use engine::check::{Checker, Stream, Streams};
use engine::memory::{Contents, Label, Memory};
use engine::{Checks, LaunchError, Module, Options, Shape};

/// `%rd1` is the buffer, `%rd2` the thread's own word in it, `%rd3` its neighbour's, `%r1` the thread's index.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 y)
{
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<16>;
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd2, %rd1, %rd4;
xor.b64 %rd4, %rd4, 4;
add.u64 %rd3, %rd1, %rd4;
";

/// A device with one buffer, and what is known of it.
struct Device {
    memory: Arc<Memory>,
    checker: Checker,
    streams: Streams,
    stream: Stream,
    y: u64,
}

impl Device {
    fn new() -> Device {
        let memory: Arc<Memory> = Arc::default();
        let mut streams = Streams::default();
        let y = memory.allocate(1024, 256, Contents::Defined, Label::new("y", 4));
        Device {
            y: y.expect("memory"),
            memory,
            checker: Checker::new(),
            stream: streams.stream(),
            streams,
        }
    }

    /// A checked launch of two warps of a kernel with this body.
    fn launch(&mut self, body: &str) -> Result<(), LaunchError> {
        let module = Module::load(&format!("{HEAD}{body}\nret;\n}}\n"), &self.memory);
        let kernel = module.expect("PTX").kernel("kernel").expect("it is there");
        let checks = Checks {
            checker: &mut self.checker,
            operation: self.streams.enqueue(self.stream),
            fixed: Vec::new(),
            lent: Vec::new(),
            benign: None,
        };
        let shape = Shape {
            grid: [1; 3],
            block: [64, 1, 1],
            dynamic_shared: 0,
        };
        let options = Options {
            cores: 1,
            ..Options::default()
        };
        kernel.launch(shape, options, &self.y.to_le_bytes(), &|_| {}, Some(checks))
    }
}

const WRITES: &str = "st.global.u32 [%rd2], %r1;";

#[track_caller]
fn found(body: &str, expected: &str) {
    let said = match Device::new().launch(body) {
        Ok(()) => panic!("nothing was found: {body}"),
        Err(error) => error.to_string(),
    };
    let is_this = said.contains("read-only load of data that the kernel writes on element ")
        && said.contains(expected);
    assert!(is_this, "{body}: {said}");
}

#[test]
fn reads_of_what_the_launch_has_written() {
    let by_reader = "thread [0, 0, 0] reads it at";
    for read in [
        "ld.global.nc.u32 %r2, [%rd2];",
        "bar.sync 0; ld.global.nc.u32 %r2, [%rd3];",
        "bar.sync 0; ld.global.nc.u32 %r2, [%rd1];",
        "bar.sync 0; ld.global.nc.v2.u32 {%r2, %r3}, [%rd1];",
        "ld.global.u32 %r2, [%rd2]; ld.global.nc.u8 %h1, [%rd2+3];",
    ] {
        found(&format!("{WRITES}{read}"), by_reader);
    }
    let atomic = "red.global.add.u32 [%rd2], 1; bar.sync 0; ld.global.nc.u32 %r2, [%rd3];";
    found(atomic, by_reader);
    let shared = "red.global.add.u32 [%rd1], 1; bar.sync 0; ld.global.u32 %r2, [%rd1]; bar.sync 0;
        ld.global.nc.u32 %r2, [%rd1];";
    found(shared, "thread [0, 0, 0] reads it at");
}

#[test]
fn writes_of_what_the_launch_has_read() {
    let by_writer = "writes it at";
    for write in [
        "st.global.u32 [%rd2], %r1;",
        "bar.sync 0; st.global.u32 [%rd3], %r1;",
        "bar.sync 0; st.global.u8 [%rd3+1], %r1;",
        "bar.sync 0; st.relaxed.gpu.global.u32 [%rd3], %r1;",
    ] {
        found(&format!("ld.global.nc.u32 %r2, [%rd2];{write}"), by_writer);
    }
    let atomic = "ld.global.nc.u32 %r2, [%rd2]; bar.sync 0; red.global.add.u32 [%rd1], 1;";
    found(atomic, "element 0 of `y` (of 256)");
    // One word for all, and every second one.
    let one = "ld.global.nc.u32 %r2, [%rd1]; bar.sync 0; setp.eq.u32 %p1, %r1, 40; @%p1 st.global.u32 [%rd1], 1;";
    found(one, "thread [40, 0, 0] writes it at");
    let apart = "mul.wide.u32 %rd5, %r1, 8; add.u64 %rd6, %rd1, %rd5;
        ld.global.nc.u32 %r2, [%rd6]; bar.sync 0; setp.eq.u32 %p1, %r1, 40; @%p1 st.global.u32 [%rd2], 1;";
    found(apart, "element 40 of `y`");
}

#[test]
fn bytes_beside_them_may_be_written() {
    let halves = "ld.global.nc.u16 %h1, [%rd2]; bar.sync 0; st.global.u16 [%rd2+2], %h1;
        ld.global.u16 %h2, [%rd2+2]; ld.global.nc.u16 %h1, [%rd3]; st.global.u8 [%rd2+3], %h1;";
    Device::new().launch(halves).expect("other bytes");
    let rows = "ld.global.nc.u32 %r2, [%rd2]; st.global.u32 [%rd2+256], %r2; ld.global.u32 %r3, [%rd2+256];
        ld.global.nc.v2.u32 {%r2, %r3}, [%rd1+0]; bar.sync 0; ld.global.nc.u32 %r2, [%rd3];";
    Device::new().launch(rows).expect("other words");
}

#[test]
fn other_launches_may_write_them() {
    let mut device = Device::new();
    for _ in 0..3 {
        device.launch(WRITES).expect("it writes");
        device
            .launch("ld.global.nc.u32 %r2, [%rd2];")
            .expect("it reads");
        device
            .launch("red.global.add.u32 [%rd1], 1;")
            .expect("it counts");
    }
}

#[test]
fn a_race_is_told_as_one() {
    let said = Device::new().launch(&format!("{WRITES} ld.global.nc.u32 %r2, [%rd3];"));
    let said = said.expect_err("nothing orders them").to_string();
    assert!(said.contains("race on element"), "{said}");
}
