//! A pointer into one buffer that leads into another, in a kernel whose PTX does not say which parameters are
//! pointers, as nvcc's does not.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// `%rd1` is buffer `x`, `%rd2` buffer `y`, each of 4 words; `%rd3` the bytes from `x` to `y`.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x, .param .align 8 .b8 pair[16])
{
.reg .b32 %r<4>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [pair];
ld.param.u64 %rd3, [pair+8];
";

/// Returns the finding of a checked launch of one thread, where `DISTANCE` in the body is the bytes from `x` to `y`.
fn finding(body: &str, is_y_freed: bool) -> Option<String> {
    let memory: Arc<Memory> = Arc::default();
    let [x, y] = ["x", "y"].map(|name| {
        let made = memory.allocate(16, 256, Contents::Defined, Label::new(name, 4));
        made.expect("memory")
    });
    let distance = y.wrapping_sub(x);
    let body = body.replace("DISTANCE", &(distance as i64).to_string());
    let module = Module::load(&format!("{HEAD}{body}\nret;\n}}\n"), &memory).expect("PTX");
    if is_y_freed {
        memory.free(y).expect("it is allocated");
    }
    let shape = Shape {
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
    };
    let kernel = module.kernel("kernel").expect("it is there");
    let parameters = [x, y, distance].map(u64::to_le_bytes).concat();
    let ran = launch_checked(&kernel, shape, Options::default(), &parameters);
    ran.err().map(|error| error.to_string())
}

#[track_caller]
fn finds(body: &str, is_y_freed: bool, expected: &str) {
    let said = finding(body, is_y_freed).expect("something is found");
    assert!(said.contains(expected), "{said}");
}

#[test]
fn it_is_out_of_bounds_by_way_of_its_own() {
    let into_y = "add.s64 %rd4, %rd1, DISTANCE; ld.global.u32 %r1, [%rd4+4];";
    let expected = "out of bounds: block [0, 0, 0], thread [0, 0, 0] reads element 1 of `y` (of 4), by way of `x` (of 4)";
    finds(into_y, false, expected);
    // What was there and is freed is chance.
    finds(into_y, true, expected);
    // From a struct by value, whose first 8 bytes are a pointer.
    let into_x = "sub.s64 %rd4, %rd2, DISTANCE; st.global.u32 [%rd4], 1;";
    let expected = "thread [0, 0, 0] writes element 0 of `x` (of 4), by way of `y` (of 4)";
    finds(into_x, false, expected);
}

#[test]
fn freed_memory_is_found_by_its_own_pointer() {
    finds("ld.global.u32 %r1, [%rd2];", true, "use after free: ");
}

#[test]
fn what_may_be_either_may_lead_into_both() {
    for body in [
        // Which of the two is the pointer is not known, nor what their difference is.
        "add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 1;",
        "add.s64 %rd4, %rd3, %rd1; st.global.u32 [%rd4], 1;",
        "sub.s64 %rd4, %rd2, %rd1; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;",
        "sub.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], 1;",
        ".reg .pred %p; setp.ne.u64 %p, %rd1, 0; selp.b64 %rd4, %rd2, %rd1, %p; st.global.u32 [%rd4], 1;",
    ] {
        assert_eq!(finding(body, false), None, "{body}");
    }
}
