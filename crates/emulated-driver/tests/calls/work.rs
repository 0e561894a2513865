//! Calls that succeed: launches, copies, fills, streams, events, threads.

use std::ffi::{CStr, CString};
use std::thread;

use super::client::*;

const INVALID_PTX: u32 = 218;

#[test]
fn a_vector_is_added_and_comes_back() {
    let context = Context::new();
    let x: Vec<u32> = (0..50).collect();
    let (dx, dy) = (device_words(&x), device_words(&[7; 50]));
    assert_eq!(launch(context.function("add"), 0, 50, (dx, dy)), 0);
    ok("cuCtxSynchronize", &[]);
    assert!(
        host_words(dy, 50)
            .into_iter()
            .zip(x)
            .all(|(y, x)| y == x + 7)
    );
}

#[test]
fn parameters_may_be_one_buffer_that_is_padded_at_its_end() {
    let context = Context::new();
    let (dx, dy) = (device_words(&[1; 64]), device_words(&[2; 64]));
    let buffer = [64u64, dx, dy, 0];
    let bytes = 32usize;
    let extra = [1, buffer.as_ptr() as u64, 2, &raw const bytes as u64, 0];
    let add = context.function("add");
    let launch = |extra: &[u64]| {
        call(
            "cuLaunchKernel",
            &[add, 1, 1, 1, 64, 1, 1, 0, 0, 0, extra.as_ptr() as u64],
        )
    };
    assert_eq!(launch(&extra), 0);
    assert_eq!(host_words(dy, 64), [3; 64]);
    let short = 20usize;
    assert_eq!(
        launch(&[1, buffer.as_ptr() as u64, 2, &raw const short as u64, 0]),
        INVALID_VALUE
    );
}

#[test]
fn rows_and_planes_are_copied_between_pitches() {
    let _context = Context::new();
    let words: Vec<u32> = (0..24).collect();
    let memory = made("cuMemAlloc_v2", &[4 * 100]);
    ok("cuMemsetD32_v2", &[memory, 9, 100]);
    // 2 planes of 3 rows of 4 words, to rows of 8 words and planes of 5 rows.
    let copy = [
        0,
        0,
        0,
        0,
        1,
        words.as_ptr() as u64,
        0,
        0,
        0,
        16,
        3, // from the host
        0,
        0,
        0,
        0,
        2,
        0,
        memory,
        0,
        0,
        32,
        5, // to the device
        16,
        3,
        2u64,
    ];
    ok("cuMemcpy3D_v2", &[copy.as_ptr() as u64]);
    let all = host_words(memory, 100);
    let expected = |at: usize| match (at / 40, at % 40 / 8, at % 8) {
        (z @ 0..2, y @ 0..3, x @ 0..4) => (12 * z + 4 * y + x) as u32,
        _ => 9,
    };
    assert!((0..100).all(|at| all[at] == expected(at)), "{all:?}");
    // The second row of it back, by a copy of rows from (4 bytes, row 1).
    let mut row = [0u32; 3];
    let back = [
        4,
        1,
        2,
        0,
        memory,
        0,
        32,
        0,
        0,
        1,
        row.as_mut_ptr() as u64,
        0,
        0,
        12,
        12,
        1u64,
    ];
    ok("cuMemcpy2D_v2", &[back.as_ptr() as u64]);
    assert_eq!(row, [5, 6, 7]);
}

#[test]
fn streams_events_and_pools_order_what_they_do() {
    let context = Context::new();
    let add = context.function("add");
    const NON_BLOCKING: u64 = 1;
    let streams = [0; 2].map(|_| made("cuStreamCreate", &[NON_BLOCKING]));
    let (begin, end) = (made("cuEventCreate", &[0]), made("cuEventCreate", &[0]));
    let memory = made("cuMemAllocAsync", &[256, streams[0]]);
    ok("cuMemsetD32Async", &[memory, 1, 64, streams[0]]);
    ok("cuEventRecord", &[begin, streams[0]]);
    assert_eq!(launch(add, streams[0], 64, (memory, memory)), 0);
    ok("cuEventRecord", &[end, streams[0]]);
    // Without the wait the second stream would race with the first.
    assert_eq!(
        launch(add, streams[1], 64, (memory, memory)),
        ILLEGAL_ADDRESS
    );
    ok("cuStreamWaitEvent", &[streams[1], end, 0]);
    assert_eq!(launch(add, streams[1], 64, (memory, memory)), 0);
    ok("cuMemFreeAsync", &[memory, streams[1]]);
    ok("cuStreamSynchronize", &[streams[1]]);
    let mut milliseconds = 0f32;
    ok(
        "cuEventElapsedTime",
        &[&raw mut milliseconds as u64, begin, end],
    );
    assert!(milliseconds > 0.0);
}

/// `CUmemPool_attribute`: reserved and used bytes, each now and at most.
#[test]
fn a_pool_counts_its_own_bytes() {
    let _context = Context::new();
    // Memory of the device, of a location with the number 0.
    let properties = [
        1u32, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let pool = made("cuMemPoolCreate", &[properties.as_ptr() as u64]);
    let counts = || {
        [5, 6, 7, 8].map(|which| {
            let mut bytes = u64::MAX;
            ok(
                "cuMemPoolGetAttribute",
                &[pool, which, &raw mut bytes as u64],
            );
            bytes
        })
    };
    let plain = made("cuMemAlloc_v2", &[4096]);
    assert_eq!(counts(), [0; 4]);
    let [one, two] = [1000, 500].map(|bytes| made("cuMemAllocFromPoolAsync", &[bytes, pool, 0]));
    assert_eq!(counts(), [1500; 4]);
    ok("cuMemFreeAsync", &[one, 0]);
    assert_eq!(counts(), [500, 1500, 500, 1500]);
    let zero = 0u64;
    ok("cuMemPoolSetAttribute", &[pool, 8, &raw const zero as u64]);
    assert_eq!(counts(), [500, 1500, 500, 500]);
    assert_eq!(
        call("cuMemPoolSetAttribute", &[pool, 7, &raw const zero as u64]),
        INVALID_VALUE
    );
    ok("cuMemFree_v2", &[two]);
    assert_eq!(counts(), [0, 1500, 0, 500]);
    ok("cuMemFree_v2", &[plain]);
    ok("cuMemPoolDestroy", &[pool]);
}

#[test]
fn the_default_stream_and_blocking_ones_wait_for_each_other() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let blocking = made("cuStreamCreate", &[0]);
    assert_eq!(launch(add, blocking, 64, (memory, memory)), 0);
    assert_eq!(launch(add, 0, 64, (memory, memory)), 0);
    assert_eq!(launch(add, blocking, 64, (memory, memory)), 0);
    assert_eq!(host_words(memory, 64), [8; 64]);
    // The thread's own default stream is a blocking one, and two threads' own do not wait for each other.
    const PER_THREAD: u64 = 2;
    assert_eq!(launch(add, PER_THREAD, 64, (memory, memory)), 0);
    let handle = context.handle;
    let other = thread::spawn(move || {
        ok("cuCtxSetCurrent", &[handle]);
        launch(add, PER_THREAD, 64, (memory, memory))
    });
    assert_eq!(other.join().expect("a thread"), ILLEGAL_ADDRESS);
}

#[test]
fn several_threads_use_one_context() {
    let context = Context::new();
    let (handle, add) = (context.handle, context.function("add"));
    let run = move |thread: u32| {
        ok("cuCtxSetCurrent", &[handle]);
        let stream = made("cuStreamCreate", &[1]);
        for round in 0..20 {
            let (x, y) = (device_words(&[thread; 64]), device_words(&[round; 64]));
            assert_eq!(launch(add, stream, 64, (x, y)), 0);
            ok("cuStreamSynchronize", &[stream]);
            assert_eq!(host_words(y, 64), [thread + round; 64]);
            ok("cuMemFree_v2", &[x]);
            ok("cuMemFree_v2", &[y]);
        }
        ok("cuStreamDestroy_v2", &[stream]);
    };
    let threads: Vec<_> = (0..4)
        .map(|thread| thread::spawn(move || run(thread)))
        .collect();
    threads
        .into_iter()
        .for_each(|it| it.join().expect("no thread fails"));
}

#[test]
fn a_kernel_of_a_library_runs_where_it_is_called() {
    let _context = Context::new();
    let ptx = std::ffi::CString::new(PTX).expect("text");
    let library = made(
        "cuLibraryLoadData",
        &[ptx.as_ptr() as u64, 0, 0, 0, 0, 0, 0],
    );
    let kernel = made("cuLibraryGetKernel", &[library, c"add".as_ptr() as u64]);
    assert_eq!(
        made("cuLibraryGetKernel", &[library, c"add".as_ptr() as u64]),
        kernel
    );
    let memory = device_words(&[4; 64]);
    assert_eq!(launch(kernel, 0, 64, (memory, memory)), 0);
    assert_eq!(host_words(memory, 64), [8; 64]);
    let (mut offset, mut bytes) = (0usize, 0usize);
    ok(
        "cuKernelGetParamInfo",
        &[kernel, 2, &raw mut offset as u64, &raw mut bytes as u64],
    );
    assert_eq!((offset, bytes), (16, 8));
    ok("cuLibraryUnload", &[library]);
    assert_eq!(launch(kernel, 0, 64, (memory, memory)), INVALID_HANDLE);
}

#[test]
fn what_is_pinned_managed_or_registered_is_reached_by_kernels() {
    let context = Context::new();
    let add = context.function("add");
    let pinned = made("cuMemHostAlloc", &[256, 0]);
    let managed = made("cuMemAllocManaged", &[256, 1]);
    let mut own = vec![3u32; 64];
    let registered = own.as_mut_ptr() as u64;
    ok("cuMemHostRegister_v2", &[registered, 256, 0]);
    for memory in [pinned, managed] {
        ok("cuMemcpy", &[memory, registered, 256]);
        assert_eq!(launch(add, 0, 64, (registered, memory)), 0);
        ok("cuCtxSynchronize", &[]);
        assert_eq!(host_words(memory, 64), [6; 64]);
    }
    let kind = |address: u64| {
        let mut kind = 0u32;
        ok("cuPointerGetAttribute", &[&raw mut kind as u64, 2, address]);
        kind
    };
    assert_eq!([pinned + 4, managed, registered].map(kind), [1, 2, 1]);
    ok("cuMemHostUnregister", &[registered]);
    assert_eq!(launch(add, 0, 64, (registered, pinned)), ILLEGAL_ADDRESS);
    ok("cuMemFreeHost", &[pinned]);
    ok("cuMemFree_v2", &[managed]);
    drop(own);
}

/// A kernel that calls a function of another module.
const CALLER: &str = "\
.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry all(.param .u64 y)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    {
        .param .b32 value;
        st.param.b32 [value], %r1;
        .param .b32 result;
        call.uni (result), twice, (value);
        ld.param.b32 %r2, [result];
    }
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r2;
    ret;
}
";

const CALLED: &str = "\
.version 7.8
.target sm_80
.address_size 64
.const .align 4 .b8 table[20];
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .local .align 8 .b8 depot[40];
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
";

/// Has modules linked: the linking, its image, and the answer.
fn link(modules: &[&str]) -> (u64, u64, u32) {
    let mut linking = 0u64;
    ok("cuLinkCreate_v2", &[0, 0, 0, &raw mut linking as u64]);
    const KIND_PTX: u64 = 1;
    for text in modules {
        let (start, bytes) = (text.as_ptr() as u64, text.len() as u64);
        ok(
            "cuLinkAddData_v2",
            &[linking, KIND_PTX, start, bytes, 0, 0, 0, 0],
        );
    }
    let (mut image, mut bytes) = (0u64, 0usize);
    let answer = call(
        "cuLinkComplete",
        &[linking, &raw mut image as u64, &raw mut bytes as u64],
    );
    (linking, image, answer)
}

/// Options with a log of errors in a buffer, as `cuLinkCreate` takes them: how many, which, and their values.
struct ErrorLog {
    text: Vec<u8>,
    values: [u64; 2],
}

impl ErrorLog {
    const OPTIONS: [i32; 2] = [5, 6];

    fn new(room: usize) -> ErrorLog {
        let mut text = vec![b'x'; 4096];
        let values = [text.as_mut_ptr() as u64, room as u64];
        ErrorLog { text, values }
    }

    fn arguments(&mut self) -> [u64; 3] {
        let options = Self::OPTIONS.as_ptr() as u64;
        [2, options, self.values.as_mut_ptr() as u64]
    }

    /// The text, and how many bytes the driver says that it has.
    fn read(&self) -> (&str, u64) {
        let text = CStr::from_bytes_until_nul(&self.text).expect("NUL");
        (text.to_str().expect("UTF-8"), self.values[1])
    }
}

#[test]
fn logs_say_why_an_image_is_refused() {
    let _context = Context::new();
    let good = CString::new(CALLED).expect("no NUL");
    let bad = CString::new(CALLED.replace("add.s32", "nonsense.s32")).expect("no NUL");
    let mut to = 0u64;
    let mut load = |image: &CString, log: &mut ErrorLog| {
        let [count, options, values] = log.arguments();
        let image = image.as_ptr() as u64;
        call(
            "cuModuleLoadDataEx",
            &[&raw mut to as u64, image, count, options, values],
        )
    };
    let mut log = ErrorLog::new(4096);
    assert_eq!(load(&good, &mut log), 0);
    assert_eq!(log.read(), ("", 0));
    let mut log = ErrorLog::new(4096);
    assert_eq!(load(&bad, &mut log), INVALID_PTX);
    let (text, bytes) = log.read();
    let text = text.to_owned();
    assert_eq!(bytes, text.len() as u64);
    assert!(text.contains("unknown instruction `nonsense`"), "{text}");
    // As much as there is room for; without room nothing is touched.
    let mut log = ErrorLog::new(16);
    assert_eq!(load(&bad, &mut log), INVALID_PTX);
    assert_eq!(log.read(), (&text[..15], 16));
    let mut log = ErrorLog::new(0);
    assert_eq!(load(&bad, &mut log), INVALID_PTX);
    assert_eq!((log.text[0], log.values[1]), (b'x', 0));

    // A linking keeps its options until it ends.
    let mut log = ErrorLog::new(4096);
    let [count, options, values] = log.arguments();
    let mut linking = 0u64;
    ok(
        "cuLinkCreate_v2",
        &[count, options, values, &raw mut linking as u64],
    );
    assert_eq!(log.read(), ("", 0));
    for _ in 0..2 {
        let (start, bytes) = (good.as_ptr() as u64, CALLED.len() as u64);
        ok("cuLinkAddData_v2", &[linking, 1, start, bytes, 0, 0, 0, 0]);
    }
    let (mut image, mut bytes) = (0u64, 0usize);
    let answer = call(
        "cuLinkComplete",
        &[linking, &raw mut image as u64, &raw mut bytes as u64],
    );
    assert_eq!(answer, INVALID_PTX);
    let (text, bytes) = log.read();
    assert!(text.contains("both define `twice`"), "{text}");
    assert_eq!(bytes, text.len() as u64);
    ok("cuLinkDestroy", &[linking]);
}

#[test]
fn a_kernel_is_linked_with_a_function_of_another_module() {
    let _context = Context::new();
    let (linking, image, answer) = link(&[CALLER, CALLED]);
    assert_eq!(answer, 0);
    let module = made("cuModuleLoadData", &[image]);
    ok("cuLinkDestroy", &[linking]);
    let all = made("cuModuleGetFunction", &[module, c"all".as_ptr() as u64]);
    let memory = device_words(&[0; 64]);
    let parameters = [&raw const memory as u64];
    let launched = call(
        "cuLaunchKernel",
        &[all, 1, 1, 1, 64, 1, 1, 0, 0, parameters.as_ptr() as u64, 0],
    );
    assert_eq!(launched, 0);
    assert!((0..64).all(|i| host_words(memory, 64)[i] == 2 * i as u32));
    // Constant memory of the module, and local memory of what the kernel calls.
    for (attribute, expected) in [(2, 20), (3, 40)] {
        let mut bytes = -1i32;
        ok(
            "cuFuncGetAttribute",
            &[&raw mut bytes as u64, attribute, all],
        );
        assert_eq!(bytes, expected, "attribute {attribute}");
    }
}

#[test]
fn two_definitions_of_one_function_are_not_linked() {
    let _context = Context::new();
    let (linking, image, answer) = link(&[CALLED, CALLER, CALLED]);
    assert_eq!((image, answer), (0, INVALID_PTX));
    ok("cuLinkDestroy", &[linking]);
}
