//! Values that nothing has written: which load a report names, where more loads have met them than are remembered.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// Values of `x`, of which nothing is written; more than loads are remembered.
const VALUES: u32 = 20_480;

/// `%rd3` is the address of the thread's own value.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x)
{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [x];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 256, %r1;
mul.wide.u32 %rd2, %r3, 4;
add.u64 %rd3, %rd1, %rd2;
";

/// The finding of a checked launch of blocks of threads.
fn found(body: &str, (blocks, threads): (u32, u32)) -> String {
    let text = format!("{HEAD}{body}\nret;\n}}\n");
    let memory: Arc<Memory> = Arc::default();
    let bytes = 4 * u64::from(VALUES);
    let x = memory.allocate(bytes, 256, Contents::Undefined, Label::new("x", 4));
    let x = x.expect("memory");
    let kernel = Module::load(&text, &memory).expect("PTX").kernel("kernel");
    let shape = Shape {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = kernel.expect("it is there");
    let ran = launch_checked(&kernel, shape, Options::default(), &x.to_le_bytes());
    ran.expect_err("nothing is written").to_string()
}

#[test]
fn the_first_result_names_its_own_load_after_many_others() {
    let body = "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd3], %r4;";
    let said = found(body, (VALUES / 256, 256));
    let own = "block [0, 0, 0], thread [0, 0, 0]";
    for side in [
        format!("{own} reads element 0 of `x` (of {VALUES})"),
        format!("{own} writes it as a result"),
    ] {
        assert!(said.contains(&side), "{said}");
    }
}

#[test]
fn a_load_that_is_no_longer_known_is_not_mistaken_for_another() {
    let body = format!(
        "ld.global.u32 %r4, [%rd3];
add.u64 %rd4, %rd1, {};
AGAIN:
add.u64 %rd3, %rd3, 4;
ld.global.u32 %r5, [%rd3];
setp.lt.u64 %p1, %rd3, %rd4;
@%p1 bra AGAIN;
setp.eq.u32 %p1, %r4, 7;
@%p1 bra END;
END:",
        4 * (VALUES - 1)
    );
    let said = found(&body, (1, 1));
    let expected = "uninitialised: block [0, 0, 0], thread [0, 0, 0]: a value that nothing has written, and that was read \
                    too long ago to say where, is used as a condition, at ";
    assert!(said.contains(expected), "{said}");
}
