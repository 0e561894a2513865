//! Accesses of whole warps to rows of memory, which are moved at once, and those that only look like it.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Shape};

/// Each thread copies what lies `tid * step + warp * skew` bytes behind `from` to where `tid` bytes of it belong.
const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[4096];
.visible .entry copies(.param .u64 from, .param .u64 to, .param .u64 step, .param .u64 skew)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u64 %rd3, [step];
    ld.param.u64 %rd4, [skew];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd5, %r1;
    shr.u64 %rd6, %rd5, 5;
    mul.lo.u64 %rd7, %rd5, %rd3;
    mad.lo.u64 %rd7, %rd6, %rd4, %rd7;
    add.u64 %rd8, %rd1, %rd7;
    mul.lo.u64 %rd9, %rd5, BYTES;
    add.u64 %rd10, %rd2, %rd9;
    mov.u64 %rd11, tile;
    add.u64 %rd11, %rd11, %rd9;
    BODY
    ret;
}";

/// An access of a thread: its bytes, and the instructions that load from %rd8 and store to %rd10.
const WIDTHS: [(u64, &str); 10] = [
    (4, "ld.global.b32 %r2, [%rd8]; st.global.b32 [%rd10], %r2;"),
    (
        8,
        "ld.global.v2.b32 {%r2, %r3}, [%rd8]; st.global.v2.b32 [%rd10], {%r2, %r3};",
    ),
    (
        16,
        "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd8]; st.global.v4.b32 [%rd10], {%r2, %r3, %r4, %r5};",
    ),
    (
        8,
        "ld.global.b64 %rd12, [%rd8]; st.global.b64 [%rd10], %rd12;",
    ),
    (
        16,
        "ld.global.v2.b64 {%rd12, %rd13}, [%rd8]; st.global.v2.b64 [%rd10], {%rd12, %rd13};",
    ),
    (4, "ld.b32 %r2, [%rd8]; st.b32 [%rd10], %r2;"),
    (2, "ld.global.u16 %r2, [%rd8]; st.global.u16 [%rd10], %r2;"),
    (
        4,
        "ld.global.b32 %r2, [%rd8]; st.shared.b32 [%rd11], %r2; ld.shared.b32 %r3, [%rd11]; \
         st.global.b32 [%rd10], %r3;",
    ),
    // What is loaded lies where the addresses lay.
    (
        8,
        "ld.global.b64 %rd8, [%rd8]; st.global.b64 [%rd10], %rd8;",
    ),
    (
        16,
        "ld.global.v2.b64 {%rd8, %rd12}, [%rd8]; st.global.v2.b64 [%rd10], {%rd8, %rd12};",
    ),
];

/// Returns the bytes that a launch copies from a buffer, each of another value.
fn copied(
    (bytes, body): (u64, &str),
    threads: u64,
    from: u64,
    (step, skew): (u64, u64),
) -> Result<Vec<u8>, LaunchError> {
    let memory: Arc<Memory> = Arc::default();
    let text = PTX
        .replace("BODY", body)
        .replace("BYTES", &bytes.to_string());
    let module = Module::load(&text, &memory).expect("PTX");
    let buffer = |bytes: u64, value: fn(u64) -> u8| {
        let label = Label::new("x", 4);
        let start = memory.allocate(bytes, 256, Contents::Defined, label);
        let start = start.expect("memory");
        for index in 0..bytes {
            let to = std::ptr::with_exposed_provenance_mut::<u8>((start + index) as usize);
            // SAFETY: allocated above with so many bytes.
            unsafe { to.write(value(index)) };
        }
        start
    };
    let (from, to) = (
        buffer(from, |index| (index * 7) as u8),
        buffer(threads * bytes, |_| 0),
    );
    let parameters: Vec<u8> = [from, to, step, skew]
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .collect();
    let shape = Shape {
        grid: [1; 3],
        block: [threads as u32, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        cores: 1,
        ..Options::default()
    };
    let kernel = module.kernel("copies").expect("it is there");
    kernel.launch(shape, options, &parameters, &|_| {}, None)?;
    let copy = std::ptr::with_exposed_provenance::<u8>(to as usize);
    // SAFETY: allocated above, and nothing runs.
    Ok(unsafe { std::slice::from_raw_parts(copy, (threads * bytes) as usize) }.to_vec())
}

#[test]
fn each_thread_gets_its_own_bytes() {
    for width @ (bytes, body) in WIDTHS {
        // A row, rows apart, every second element, one element for all; the last warp is not whole.
        for (step, skew) in [(bytes, 0), (bytes, 64), (2 * bytes, 0), (0, bytes)] {
            let threads = 80;
            let all = threads * step + 3 * skew + bytes;
            let copied = copied(width, threads, all, (step, skew)).expect("it runs");
            let expected = (0..threads).flat_map(|thread| {
                let start = thread * step + thread / 32 * skew;
                (start..start + bytes).map(|index| (index * 7) as u8)
            });
            assert!(
                copied.into_iter().eq(expected),
                "{body}, step {step}, skew {skew}"
            );
        }
    }
}

/// Returns the error of a launch of two warps, of which the second goes wrong.
fn refused(width: (u64, &str), from: u64, skew: u64) -> String {
    let bytes = width.0;
    let failed = copied(width, 64, from, (bytes, skew)).expect_err("it is refused");
    failed.to_string()
}

#[test]
fn the_last_lane_of_a_row_is_in_bounds() {
    for width @ (bytes, body) in WIDTHS {
        let said = refused(width, 64 * bytes - 1, 0);
        let expected = "out of bounds: block [0, 0, 0], thread [63, 0, 0] reads";
        assert!(said.contains(expected), "{body}: {said}");
        let said = refused(width, 64 * bytes, 1 << 20);
        assert!(said.contains("thread [32, 0, 0] reads"), "{body}: {said}");
    }
}

#[test]
fn a_row_is_aligned() {
    for width @ (bytes, body) in WIDTHS {
        let said = refused(width, 128 * bytes, bytes / 2);
        let expected = "misaligned: block [0, 0, 0], thread [32, 0, 0] reads";
        assert!(said.contains(expected), "{body}: {said}");
    }
}
