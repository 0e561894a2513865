//! The stack of a thread: `alloca`, `stacksave` and `stackrestore`.

use std::sync::Arc;

use engine::memory::Memory;
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// The results of a checked launch of 32 threads, or what is wrong. `%r4` is what a thread stores, `%r1` its number.
fn run(functions: &str, body: &str) -> Result<Vec<u32>, String> {
    let text = format!(
        ".version 8.0
.target sm_90
.address_size 64
{functions}
.visible .global .align 4 .u32 out[32];
.visible .entry kernel()
{{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<12>;
mov.u32 %r1, %tid.x;
{body}
mov.u64 %rd10, out;
mad.wide.u32 %rd10, %r1, 4, %rd10;
st.global.u32 [%rd10], %r4;
ret;
}}
"
    );
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(&text, &memory).expect("PTX");
    let kernel = module.kernel("kernel").expect("it is there");
    let shape = Shape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
    };
    let ran = launch_checked(&kernel, shape, Options::default(), &[]);
    ran.map_err(|it| it.to_string())?;
    let bytes = module.bytes("out").expect("a variable");
    let (words, _) = bytes.as_chunks();
    Ok(words.iter().map(|it| u32::from_le_bytes(*it)).collect())
}

/// As many words as the thread's number and one, of which each gets its own number, and their sum: as nvcc writes it.
const SUM: &str = "
    add.u32 %r2, %r1, 1;
    mul.wide.u32 %rd1, %r2, 4;
    alloca.u64 %rd2, %rd1, 16;
    cvta.local.u64 %rd2, %rd2;
    cvta.to.local.u64 %rd3, %rd2;
    mov.u32 %r3, 0;
STORE:
    mad.wide.u32 %rd4, %r3, 4, %rd3;
    st.local.u32 [%rd4], %r3;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r2;
    @%p1 bra STORE;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
LOAD:
    mad.wide.u32 %rd4, %r3, 4, %rd2;
    ld.u32 %r5, [%rd4];
    add.u32 %r4, %r4, %r5;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r2;
    @%p1 bra LOAD;";

#[test]
fn each_thread_has_as_many_bytes_as_it_asks_for() {
    let expected: Vec<u32> = (0..32).map(|own| (0..=own).sum()).collect();
    assert_eq!(run("", SUM), Ok(expected));
    let beyond = format!("{SUM}\nmad.wide.u32 %rd4, %r2, 4, %rd3;\nst.local.u32 [%rd4], 7;");
    let said = run("", &beyond).expect_err("it is beyond");
    assert!(
        said.contains("thread [0, 0, 0] writes element 1 of the local `alloca` (of 1)"),
        "{said}"
    );
    let unwritten = "alloca.u64 %rd1, 64;\nld.local.u32 %r4, [%rd1+60];\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 mov.u32 %r4, 1;";
    let said = run("", unwritten).expect_err("nothing is written");
    assert!(
        said.contains("uninitialised") && said.contains("element 15 of the local `alloca` (of 16)"),
        "{said}"
    );
    let aligned = "alloca.u32 %r2, 3;\nalloca.u32 %r3, 8, 256;\nand.b32 %r4, %r3, 255;";
    assert_eq!(run("", aligned), Ok(vec![0; 32]));
}

#[test]
fn what_is_added_ends_with_the_function_or_when_the_stack_is_restored() {
    // A thousand times 4 KiB are more than a thread has.
    let again = |before: &str, behind: &str| {
        format!(
            "mov.u32 %r2, 1000;\nAGAIN:\n{before}\nalloca.u64 %rd2, 4096;\nst.local.u32 [%rd2], %r2;\n\
            ld.local.u32 %r4, [%rd2];\n{behind}\nsub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;"
        )
    };
    let restored = again("stacksave.u64 %rd1;", "stackrestore.u64 %rd1;");
    assert_eq!(run("", &restored), Ok(vec![1; 32]));
    let said = run("", &again("", "")).expect_err("it is too much");
    assert!(
        said.contains("bytes of local memory in calls; a thread has 524288"),
        "{said}"
    );
    let huge = run(
        "",
        "mov.u64 %rd1, -8;\nalloca.u64 %rd2, %rd1;\nmov.u32 %r4, 0;",
    );
    assert!(
        huge.expect_err("it is too much")
            .contains("a thread has 524288")
    );
    let function = "
        .func (.param .b32 o) f(.param .b32 a) {
        .reg .b32 %r<3>; .reg .b64 %d;
        ld.param.b32 %r1, [a];
        alloca.u64 %d, 4096;
        st.local.b32 [%d+4092], %r1;
        ld.local.b32 %r2, [%d+4092];
        st.param.b32 [o], %r2;
        ret; }";
    let called = "mov.u32 %r2, 1000;\nAGAIN:\n{ .param .b32 a; .param .b32 o;\nst.param.b32 [a], %r2;\ncall (o), f, (a);\n\
        ld.param.b32 %r4, [o]; }\nsub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;";
    assert_eq!(run(function, called), Ok(vec![1; 32]));
    let gone = "stacksave.u64 %rd1;\nalloca.u64 %rd2, 16;\nst.local.u32 [%rd2], 1;\nstackrestore.u64 %rd1;\nld.local.u32 %r4, [%rd2];";
    let said = run("", gone).expect_err("it is gone");
    assert!(said.contains("out of bounds"), "{said}");
}

#[test]
fn some_lanes_of_a_warp_may_allocate() {
    let some = "
        mov.u32 %r4, 9;
        setp.lt.u32 %p1, %r1, 7;
        @!%p1 bra END;
        and.b32 %r2, %r1, 1;
        mad.lo.u32 %r2, %r2, 16, 16;
        cvt.u64.u32 %rd1, %r2;
        alloca.u64 %rd2, %rd1;
        st.local.u32 [%rd2+12], %r1;
        ld.local.u32 %r4, [%rd2+12];
    END:";
    let expected: Vec<u32> = (0..32).map(|own| if own < 7 { own } else { 9 }).collect();
    assert_eq!(run("", some), Ok(expected));
}
