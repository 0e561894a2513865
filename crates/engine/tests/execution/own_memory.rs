//! Local memory: variables side by side, and addresses that leave their thread.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Shape};

use crate::support::launch_checked;

/// A kernel with two local arrays and a pointer in shared memory: `%rd1` is a buffer of a word per thread, `%rd2`
/// and `%rd3` are the arrays, `%r1` is the thread's index.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 .ptr .global .align 4 y)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<16>;
.local .align 4 .b8 first[16];
.local .align 4 .b8 second[32];
.shared .align 8 .b64 shared;
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd1, %rd1, %rd4;
mov.u64 %rd2, first;
mov.u64 %rd3, second;
";

const THREADS: u32 = 64;

/// Returns the words that a launch of a block writes.
fn run(body: &str, is_checked: bool) -> Result<Vec<u32>, LaunchError> {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(&format!("{HEAD}{body}\nret;\n}}\n"), &memory).expect("PTX");
    let bytes = 4 * u64::from(THREADS);
    let y = memory.allocate(bytes, 256, Contents::Defined, Label::new("y", 4));
    let y = y.expect("memory");
    let shape = Shape {
        grid: [1; 3],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        cores: 1,
        ..Options::default()
    };
    let kernel = module.kernel("kernel").expect("it is there");
    let parameters = y.to_le_bytes();
    match is_checked {
        true => launch_checked(&kernel, shape, options, &parameters),
        false => kernel.launch(shape, options, &parameters, &|_| {}, None),
    }?;
    let copy = std::ptr::with_exposed_provenance::<u32>(y as usize);
    // SAFETY: allocated above, and nothing runs.
    Ok(unsafe { std::slice::from_raw_parts(copy, THREADS as usize) }.to_vec())
}

fn finding(body: &str, is_checked: bool) -> String {
    match run(body, is_checked) {
        Ok(y) => panic!("nothing was found: {y:?}"),
        Err(error) => error.to_string(),
    }
}

/// The thread's index, behind so many bytes of an array.
fn stored(array: &str, behind: i64) -> String {
    format!("st.local.u32 [{array}+{behind}], %r1;")
}

#[test]
fn an_index_stays_in_its_array() {
    for is_checked in [false, true] {
        run(&stored("%rd2", 12), is_checked).expect("the last of it");
        run(&stored("%rd3", 28), is_checked).expect("the last of it");
        let said = finding(&stored("%rd2", 16), is_checked);
        let expected = "out of bounds: block [0, 0, 0], thread [0, 0, 0] writes element 4 of the local `first` (of 4)";
        assert!(said.contains(expected), "{said}");
        let said = finding(&stored("%rd3", -4), is_checked);
        assert!(said.contains("the local `"), "{said}");
    }
}

#[test]
fn an_index_into_the_next_array_is_found_in_checked_launches() {
    let far = "sub.u64 %rd5, %rd3, %rd2; st.local.u32 [%rd3], %r1; add.u64 %rd6, %rd2, 80; ld.local.u32 %r2, [%rd6];";
    run(far, false).expect("there is memory");
    let said = finding(far, true);
    let expected =
        "reads element 0 of the local `second` (of 8), by way of the local `first` (of 4)";
    assert!(said.contains(expected), "{said}");
    // A generic address is one of the same array.
    let generic = "st.local.u32 [%rd3], %r1; cvta.local.u64 %rd5, %rd2; ld.u32 %r2, [%rd5+80];";
    let said = finding(generic, true);
    assert!(said.contains(expected), "{said}");
    // What was made of either may lead into both.
    let either = "st.local.u32 [%rd2], 1; st.local.u32 [%rd3], 2; setp.lt.u32 %p1, %r1, 7;
        selp.b64 %rd5, %rd2, %rd3, %p1; ld.local.u32 %r2, [%rd5]; st.global.u32 [%rd1], %r2;";
    let y = run(either, true).expect("it stays in one of them");
    assert_eq!((y[6], y[7]), (1, 2));
}

/// The address of a thread's first array, in shared memory, where others find it behind a barrier.
const SHARED: &str =
    "st.local.u32 [%rd2], %r1; cvta.local.u64 %rd5, %rd2; setp.eq.u32 %p1, %r1, 33;
    @%p1 st.shared.u64 [shared], %rd5; bar.sync 0; ld.shared.u64 %rd6, [shared];";

#[test]
fn local_memory_of_another_thread_is_found() {
    for access in [
        "ld.u32 %r2, [%rd6];",
        "cvta.to.local.u64 %rd7, %rd6; ld.local.u32 %r2, [%rd7];",
        "ld.u32 %r2, [%rd6+4];",
    ] {
        let said = finding(&format!("{SHARED}{access}"), true);
        let expected =
            "local memory of another thread: block [0, 0, 0], thread [0, 0, 0] reads element";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("of the local `first` (of 4)"), "{said}");
        run(&format!("{SHARED}{access}"), false).expect("a GPU reads its own");
    }
    let said = finding(&format!("{SHARED}st.u32 [%rd6], 1;"), true);
    assert!(said.contains("local memory of another thread"), "{said}");
}

#[test]
fn a_thread_reaches_its_own_local_memory_by_any_way() {
    let own = format!(
        "{SHARED}@!%p1 bra END; add.u64 %rd6, %rd6, 4; st.u32 [%rd6], 5; ld.local.u32 %r2, [%rd2+4];
        st.global.u32 [%rd1], %r2; END:"
    );
    let by_memory =
        "st.local.u32 [%rd2], %r1; cvta.local.u64 %rd5, %rd2; st.local.v2.u32 [%rd3], {0, 0};
        cvta.local.u64 %rd6, %rd3; st.u32 [%rd6], 0; cvt.u32.u64 %r3, %rd5; shr.u64 %rd7, %rd5, 32;
        cvt.u32.u64 %r4, %rd7; st.u32 [%rd6], %r3; st.u32 [%rd6+4], %r4; ld.local.u32 %r5, [%rd3];
        ld.local.u32 %r6, [%rd3+4]; mov.b64 %rd8, {%r5, %r6}; isspacep.local %p2, %rd8; @!%p2 trap;
        ld.u32 %r2, [%rd8]; cvta.to.local.u64 %rd9, %rd8; st.local.u32 [%rd9+4], %r2;
        ld.u32 %r7, [%rd8+4]; st.global.u32 [%rd1], %r7;";
    for is_checked in [false, true] {
        assert_eq!(run(&own, is_checked).expect("its own")[33], 5);
        let y = run(by_memory, is_checked).expect("its own");
        assert!(y.into_iter().eq(0..THREADS));
    }
}

#[test]
fn an_index_below_a_generic_address_is_out_of_bounds() {
    let said = finding(
        "cvta.local.u64 %rd5, %rd2; mov.b64 {%r2, %r3}, %rd5; mov.b64 %rd6, {%r2, %r3}; ld.u32 %r2, [%rd6+-4];",
        true,
    );
    let expected = "out of bounds: block [0, 0, 0], thread [0, 0, 0] reads element -1 of the local `first` (of 4)";
    assert!(said.contains(expected), "{said}");
}

/// Variables in global and constant memory that a kernel declares itself, as `ptxas` takes them.
#[test]
fn variables_of_a_body_in_other_memory() {
    let body = ".global .align 8 .b32 numbers[2] = {5, 6}; .const .b32 seven = 7;
        ld.global.u32 %r2, [numbers+4]; ld.const.u32 %r3, [seven]; add.u32 %r2, %r2, %r3;
        st.global.u32 [%rd1], %r2;";
    for is_checked in [false, true] {
        let written = run(body, is_checked).expect("it runs");
        assert_eq!(written, [13; THREADS as usize]);
    }
}

#[test]
fn local_memory_outside_of_functions_is_refused_by_its_name() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.local .b32 scratch[4];\n.entry k() { ret; }\n";
    let refused = Module::load(text, &Arc::default())
        .map(drop)
        .expect_err("no kernel has it");
    let wanted = "`scratch`, which is declared in `.local` outside of any function: declare it in the kernel";
    assert!(refused.to_string().contains(wanted), "{refused}");
}
