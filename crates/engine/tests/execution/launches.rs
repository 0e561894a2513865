//! Launches: what is refused before anything runs, and what the driver's functions give back.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Failure, LaunchError, Module, Options, Shape};

const PTX: &str = r#"
.version 8.0
.target sm_90
.address_size 64

.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[12] = {37, 100, 32, 37, 100, 37, 37, 32, 37, 102, 10, 0};
.shared .align 16 .b8 own[1024];

.visible .entry plain() { ret; }
.visible .entry bounded() .maxntid 16, 4, 1 { ret; }
.visible .entry fixed() .reqntid 8, 8, 1 { ret; }

.visible .entry shares()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, own;
    st.shared.u32 [%rd1], 1;
    ret;
}

.visible .entry deep()
{
    .local .align 8 .b8 frame[262144];
    .local .align 8 .b8 second[262136];
    .reg .b64 %rd<2>;
    mov.u64 %rd1, frame;
    st.local.u32 [%rd1], 1;
    ret;
}

.func nested()
{
    .local .align 16 .b8 frame[65536];
    .reg .b64 %rd<2>;
    mov.u64 %rd1, frame;
    st.local.u32 [%rd1], 1;
    call.uni nested;
    ret;
}
.visible .entry nests() { call.uni nested; ret; }

.visible .entry prints(.param .u64 out)
{
    .local .align 8 .b8 values[16];
    .reg .b64 %rd<5>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, values;
    st.local.u32 [%rd2], 7;
    st.local.u32 [%rd2+4], 8;
    st.local.u64 [%rd2+8], 0x3FF8000000000000;
    cvta.local.u64 %rd3, %rd2;
    mov.u64 %rd4, text;
    {
        .param .b64 p0;
        .param .b64 p1;
        .param .b32 given;
        st.param.b64 [p0], %rd4;
        st.param.b64 [p1], %rd3;
        call.uni (given), vprintf, (p0, p1);
        ld.param.b32 %r1, [given];
    }
    st.global.u32 [%rd1], %r1;
    ret;
}

// The first block that comes works for long; the others wait for it.
.visible .entry waits(.param .u64 state)
{
    .reg .pred %p<3>;
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    .reg .f64 %f<3>;
    ld.param.u64 %rd1, [state];
    atom.global.add.u32 %r1, [%rd1], 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    mov.u32 %r2, 0;
    mov.f64 %f1, 0d3FF0000000000000;
WORK:
    LONG
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 15000;
    @%p1 bra WORK;
    st.release.gpu.global.u32 [%rd1+4], 1;
    ret;
WAIT:
    ld.acquire.gpu.global.u32 %r3, [%rd1+4];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    ret;
}
"#;

fn launch(
    name: &str,
    block: [u32; 3],
    dynamic_shared: u32,
    parameters: &[u8],
) -> Result<String, LaunchError> {
    let memory: Arc<Memory> = Arc::default();
    on(&memory, name, block, dynamic_shared, parameters)
}

fn on(
    memory: &Arc<Memory>,
    name: &str,
    block: [u32; 3],
    dynamic_shared: u32,
    parameters: &[u8],
) -> Result<String, LaunchError> {
    let shape = Shape {
        grid: [1, 1, 1],
        block,
        dynamic_shared,
    };
    run(memory, name, shape, Options::default(), parameters)
}

fn run(
    memory: &Arc<Memory>,
    name: &str,
    shape: Shape,
    options: Options,
    parameters: &[u8],
) -> Result<String, LaunchError> {
    run_of(PTX, memory, (name, shape), options, parameters)
}

fn run_of(
    ptx: &str,
    memory: &Arc<Memory>,
    (name, shape): (&str, Shape),
    options: Options,
    parameters: &[u8],
) -> Result<String, LaunchError> {
    let text = ptx.replace("LONG", &"div.rn.f64 %f1, %f1, %f1;".repeat(400));
    let module = Module::load(&text, memory).expect("PTX");
    let kernel = module.kernel(name).expect("a kernel of this name");
    let said = std::sync::Mutex::new(String::new());
    let print = |text: &str| said.lock().expect("no panic").push_str(text);
    kernel.launch(shape, options, parameters, &print, None)?;
    Ok(said.into_inner().expect("no panic"))
}

fn refused(name: &str, block: [u32; 3], dynamic_shared: u32, parameters: &[u8]) -> String {
    let result = launch(name, block, dynamic_shared, parameters);
    result.expect_err("refused").to_string()
}

#[test]
fn blocks_have_at_most_1024_threads() {
    launch("plain", [32, 32, 1], 0, &[]).expect("allowed");
    let expected = "plain: block of 1056 threads; a GPU allows 1 to 1024";
    assert_eq!(refused("plain", [33, 32, 1], 0, &[]), expected);
    // More than 32 bits count.
    let text = refused("plain", [1 << 16, 1 << 16, 2], 0, &[]);
    assert!(text.contains("block of 8589934592 threads"), "{text}");
}

#[test]
fn grids_and_blocks_have_limits_in_each_direction() {
    let refused = |grid, block| {
        let shape = Shape {
            grid,
            block,
            dynamic_shared: 0,
        };
        let ran = run(&Arc::default(), "plain", shape, Options::default(), &[]);
        ran.expect_err("refused").to_string()
    };
    let cases = [
        (
            [1 << 31, 1, 1],
            [1, 1, 1],
            "grid of 2147483648 blocks in x; a GPU allows 1 to 2147483647",
        ),
        // All together are more than 64 bits hold.
        (
            [1, 65_536, 1],
            [1, 1, 1],
            "grid of 65536 blocks in y; a GPU allows 1 to 65535",
        ),
        (
            [u32::MAX; 3],
            [1, 1, 1],
            "grid of 4294967295 blocks in x; a GPU allows 1 to 2147483647",
        ),
        (
            [1, 1, 65_536],
            [1, 1, 1],
            "grid of 65536 blocks in z; a GPU allows 1 to 65535",
        ),
        (
            [1, 1, 1],
            [1, 1, 65],
            "block of 65 threads in z; a GPU allows 1 to 64",
        ),
    ];
    for (grid, block, said) in cases {
        assert_eq!(refused(grid, block), format!("plain: {said}"));
    }
    launch("plain", [1, 1, 64], 0, &[]).expect("allowed");
}

#[test]
fn bounds_of_the_ptx_are_kept() {
    // Of any shape.
    launch("bounded", [64, 1, 1], 0, &[]).expect("allowed");
    let expected = "bounded: block of 65 threads; its .maxntid allows 1 to 64";
    assert_eq!(refused("bounded", [65, 1, 1], 0, &[]), expected);
    launch("fixed", [8, 8, 1], 0, &[]).expect("allowed");
    let expected = "fixed: block of [64, 1, 1] threads; the kernel requires [8, 8, 1]";
    assert_eq!(refused("fixed", [64, 1, 1], 0, &[]), expected);
}

#[test]
fn shared_memory_is_that_of_a_block() {
    let all = 227 << 10;
    launch("plain", [1; 3], all, &[]).expect("allowed");
    launch("shares", [1; 3], all - 1024, &[]).expect("allowed");
    let expected = "shares: 231425 bytes of dynamic shared memory; a GPU allows 231424 beside the kernel's \
                    own 1024";
    assert_eq!(refused("shares", [1; 3], all - 1023, &[]), expected);
    let text = refused("plain", [1; 3], u32::MAX, &[]);
    assert!(text.contains("4294967295 bytes of dynamic"), "{text}");
}

#[test]
fn local_memory_has_a_limit() {
    // What lies between its variables counts, too.
    let text = refused("deep", [1; 3], 0, &[]);
    assert!(
        text.ends_with("bytes of local memory per thread; a GPU allows 524288"),
        "{text}"
    );
}

#[test]
fn calls_share_the_local_memory() {
    let error = launch("nests", [1; 3], 0, &[]).expect_err("it never returns");
    let LaunchError::Thread { failure, .. } = &error else {
        panic!("{error}");
    };
    let is_local = matches!(**failure, Failure::LocalMemory { limit, actual } if actual > limit);
    assert!(is_local, "{error}");
}

#[test]
fn vprintf_gives_the_number_of_arguments() {
    let memory: Arc<Memory> = Arc::default();
    let out = memory
        .allocate(4, 4, Contents::Defined, Label::new("", 4))
        .expect("memory");
    let said = on(&memory, "prints", [1; 3], 0, &out.to_le_bytes()).expect("it runs");
    assert_eq!(said, "7 8% 1.500000\n");
    let from = std::ptr::with_exposed_provenance::<u32>(out as usize);
    // SAFETY: allocated above, and nothing runs.
    assert_eq!(unsafe { from.read() }, 3);
}

/// Cuts off fields wider than Rust's formatting takes, and texts longer than CUDA's own buffer.
#[test]
fn vprintf_bounds_what_it_writes() {
    let memory: Arc<Memory> = Arc::default();
    let out = memory
        .allocate(4, 4, Contents::Defined, Label::new("", 4))
        .expect("memory");
    let says = |format: &str| {
        let codes: Vec<String> = format.bytes().map(|it| it.to_string()).collect();
        let text = format!("text[{}] = {{{}, 0}}", format.len() + 1, codes.join(", "));
        let own = "text[12] = {37, 100, 32, 37, 100, 37, 37, 32, 37, 102, 10, 0}";
        let ptx = PTX.replace(own, &text).replace("values[16]", "values[256]");
        let shape = Shape {
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
        };
        let said = run_of(
            &ptx,
            &memory,
            ("prints", shape),
            Options::default(),
            &out.to_le_bytes(),
        );
        said.expect("it runs")
    };
    assert_eq!(says("%999999999d|").len(), 65_535 + 1);
    assert_eq!(says("%.99999d").len(), 65_535);
    assert_eq!(says(&"%60000d".repeat(3)).len(), 180_000);
    assert_eq!(says(&"%60000d%-60000d".repeat(20)).len(), 1 << 20);
}

#[test]
fn waiting_for_another_core_is_no_endless_loop() {
    let memory: Arc<Memory> = Arc::default();
    let state = memory
        .allocate(8, 8, Contents::Defined, Label::new("", 4))
        .expect("memory");
    let shape = Shape {
        grid: [8, 1, 1],
        block: [1; 3],
        dynamic_shared: 0,
    };
    let options = Options {
        cores: 2,
        steps: 20_000,
        ..Options::default()
    };
    run(&memory, "waits", shape, options, &state.to_le_bytes()).expect("one works meanwhile");
}

#[test]
fn variables_stay_while_another_launch_runs() {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX_OF_NOTHING, &memory).expect("PTX");
    let (address, bytes) = module.variable("kept").expect("a variable");
    let running = memory.running();
    drop(module);
    assert!(memory.find(address).is_none());
    let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: memory is given back when no launch runs.
    let values = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
    assert!(values.iter().step_by(4096).all(|value| *value == 0));
    drop(running);
}

/// A variable, so large that the system takes its memory back at once.
const PTX_OF_NOTHING: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .global .align 4 .b8 kept[67108864];";
