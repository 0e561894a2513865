//! Calls that are refused: stale handles, null pointers, wrong sizes, what is not known and what is not emulated.

use super::client::*;

#[test]
fn a_stale_handle_is_no_handle() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let stream = made("cuStreamCreate", &[0]);
    let event = made("cuEventCreate", &[0]);
    ok("cuStreamDestroy_v2", &[stream]);
    ok("cuEventDestroy_v2", &[event]);
    for stale in [stream, 12345, u64::MAX, event, context.module] {
        assert_eq!(
            launch(add, stale, 64, (memory, memory)),
            INVALID_HANDLE,
            "{stale:#x}"
        );
        assert_eq!(call("cuStreamDestroy_v2", &[stale]), INVALID_HANDLE);
        assert_eq!(call("cuStreamSynchronize", &[stale]), INVALID_HANDLE);
    }
    for stale in [event, stream, 7] {
        assert_eq!(call("cuEventRecord", &[stale, 0]), INVALID_HANDLE);
        assert_eq!(call("cuEventDestroy_v2", &[stale]), INVALID_HANDLE);
    }
    assert_eq!(call("cuModuleUnload", &[add]), INVALID_HANDLE);
    assert_eq!(launch(stream, 0, 64, (memory, memory)), INVALID_HANDLE);
    assert_eq!(call("cuCtxSetCurrent", &[stream]), INVALID_CONTEXT);
}

#[test]
fn what_is_of_a_destroyed_context_is_stale() {
    let context = Context::new();
    let other = made("cuCtxCreate_v2", &[0, 0]);
    let stream = made("cuStreamCreate", &[0]);
    let memory = device_words(&[1; 4]);
    ok("cuCtxDestroy_v2", &[other]);
    assert_eq!(call("cuCtxSetCurrent", &[other]), INVALID_CONTEXT);
    ok("cuCtxSetCurrent", &[context.handle]);
    assert_eq!(call("cuStreamSynchronize", &[stream]), INVALID_HANDLE);
    assert_eq!(call("cuMemFree_v2", &[memory]), INVALID_VALUE);
}

#[test]
fn null_pointers_and_wrong_sizes_are_errors() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let words = [0u32; 64];
    let host = words.as_ptr() as u64;
    for (name, arguments) in [
        ("cuMemAlloc_v2", vec![0, 16]),
        ("cuDeviceGet", vec![0, 0]),
        (
            "cuModuleGetFunction",
            vec![0, context.module, c"add".as_ptr() as u64],
        ),
        ("cuModuleGetFunction", vec![host, context.module, 0]),
        ("cuModuleLoadData", vec![host, 0]),
        ("cuMemcpyHtoD_v2", vec![memory, 0, 16]),
        ("cuMemcpyHtoD_v2", vec![memory, host, 257]),
        ("cuMemcpyHtoD_v2", vec![memory + 252, host, 8]),
        ("cuMemcpyDtoH_v2", vec![0, memory, 16]),
        ("cuMemcpyDtoD_v2", vec![memory, memory, u64::MAX]),
        ("cuMemcpyHtoD_v2", vec![64, host, 4]),
        ("cuMemsetD32_v2", vec![memory + 2, 0, 1]),
        ("cuMemsetD32_v2", vec![memory, 0, u64::MAX / 2]),
        ("cuMemsetD8_v2", vec![memory, 0, 257]),
        ("cuMemFree_v2", vec![memory + 4]),
        ("cuMemcpy2D_v2", vec![0]),
        ("cuLaunchKernel", vec![add, 1, 1, 1, 64, 1, 1, 0, 0, 0, 0]),
        ("cuLaunchKernel", vec![add, 0, 1, 1, 64, 1, 1, 0, 0, 0, 0]),
        ("cuStreamCreate", vec![0, 0]),
        ("cuStreamCreate", vec![host, 77]),
    ] {
        assert_eq!(
            call(name, &arguments),
            INVALID_VALUE,
            "{name}({arguments:x?})"
        );
    }
    let mut to = 0u64;
    let to = &raw mut to as u64;
    assert_eq!(call("cuMemAlloc_v2", &[to, 0]), INVALID_VALUE);
    assert_eq!(call("cuMemAlloc_v2", &[to, u64::MAX]), 2, "out of memory");
    assert_eq!(call("cuDeviceGet", &[to, 1]), 101, "no such device");
    assert_eq!(
        call(
            "cuModuleGetFunction",
            &[to, context.module, c"none".as_ptr() as u64]
        ),
        NOT_FOUND
    );
    assert_eq!(
        call("cuModuleLoadData", &[to, c"no PTX".as_ptr() as u64]),
        218,
        "invalid PTX"
    );
}

#[test]
fn without_a_context_there_is_an_error() {
    let context = Context::new();
    let mut popped = 0u64;
    ok("cuCtxPopCurrent_v2", &[&raw mut popped as u64]);
    assert_eq!(popped, context.handle);
    let mut to = 0u64;
    assert_eq!(
        call("cuMemAlloc_v2", &[&raw mut to as u64, 16]),
        INVALID_CONTEXT
    );
    assert_eq!(call("cuCtxPopCurrent_v2", &[0]), INVALID_CONTEXT);
    // The primary context keeps its handle.
    let primary = made("cuDevicePrimaryCtxRetain", &[0]);
    ok("cuDevicePrimaryCtxRelease_v2", &[0]);
    assert_eq!(call("cuCtxSetCurrent", &[primary]), INVALID_CONTEXT);
    assert_eq!(made("cuDevicePrimaryCtxRetain", &[0]), primary);
    ok("cuDevicePrimaryCtxRelease_v2", &[0]);
    assert_eq!(call("cuDevicePrimaryCtxRelease_v2", &[0]), INVALID_CONTEXT);
}

#[test]
fn what_is_not_known_is_refused_and_what_is_not_emulated_says_so() {
    let context = Context::new();
    let mut value = 0i32;
    let to = &raw mut value as u64;
    assert_eq!(call("cuDeviceGetAttribute", &[to, 150, 0]), INVALID_VALUE);
    assert_eq!(
        call("cuFuncSetAttribute", &[context.function("add"), 17, 1]),
        INVALID_VALUE
    );
    assert_eq!(call("cuMemCreate", &[to, 16, 0, 0]), NOT_SUPPORTED);
    let mut function = 0u64;
    let mut result = 9u32;
    let (to, result_at) = (&raw mut function as u64, &raw mut result as u64);
    let look = |name: &std::ffi::CStr| {
        call(
            "cuGetProcAddress_v2",
            &[name.as_ptr() as u64, to, 12_000, 0, result_at],
        )
    };
    assert_eq!(look(c"cuNoSuchFunction"), NOT_FOUND);
    assert_eq!((function, result), (0, 1));
    assert_eq!(look(c"cuMemAlloc"), 0);
    assert_ne!(function, 0);
    assert_eq!(result, 0);
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
struct Fill {
    to: u64,
    pitch: u64,
    value: u32,
    element: u32,
    width: u64,
    height: u64,
}

/// Rows without bytes, or in the same place, could be any number.
#[test]
fn rows_without_end_are_refused_or_nothing() {
    let _context = Context::new();
    let memory = device_words(&[1; 64]);
    let graph = made("cuGraphCreate", &[0]);
    let fill = Fill {
        to: memory,
        pitch: 0,
        value: 7,
        element: 4,
        width: 0,
        height: 1 << 60,
    };
    made(
        "cuGraphAddMemsetNode",
        &[graph, 0, 0, &raw const fill as u64, 0],
    );
    // Kind, host, device, array, reserved, pitch and height of a side of `CUDA_MEMCPY3D` stand behind x, y, z and a level.
    let side = [0, 0, 0, 0, 2, 0, memory, 0, 0, 0, 0];
    let copy = |width: u64, height: u64, depth: u64| -> Vec<u64> {
        [&side[..], &side[..], &[width, height, depth]].concat()
    };
    let rows_of_nothing = copy(0, 1 << 60, 1);
    made(
        "cuGraphAddMemcpyNode",
        &[graph, 0, 0, rows_of_nothing.as_ptr() as u64, 0],
    );
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    ok("cuGraphLaunch", &[executable, 0]);
    assert_eq!(host_words(memory, 64), [1; 64]);
    let in_one_place = copy(4, 1, 1 << 60);
    assert_eq!(
        call("cuMemcpy3D_v2", &[in_one_place.as_ptr() as u64]),
        INVALID_VALUE
    );
}

/// `CUlaunchConfig` with one attribute, of clusters.
#[test]
fn extents_whose_product_is_too_large_are_refused() {
    let context = Context::new();
    let add = context.function("add");
    let most = u32::MAX;
    let cluster = [
        4, 0, most, most, most, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0u32,
    ];
    let grid = [1, 1, 1, 64, 1, 1, 0, 0u32];
    let mut config: Vec<u64> = grid
        .chunks(2)
        .map(|it| u64::from(it[0]) | u64::from(it[1]) << 32)
        .collect();
    config.extend([0, cluster.as_ptr() as u64, 1]);
    let memory = device_words(&[1; 64]);
    let count = 64u32;
    let addresses = [
        &raw const count as u64,
        &raw const memory as u64,
        &raw const memory as u64,
    ];
    const INVALID_CLUSTER_SIZE: u32 = 912;
    assert_eq!(
        call(
            "cuLaunchKernelEx",
            &[config.as_ptr() as u64, add, addresses.as_ptr() as u64, 0]
        ),
        INVALID_CLUSTER_SIZE
    );
    let clusters = made(
        "cuOccupancyMaxActiveClusters",
        &[add, config.as_ptr() as u64],
    );
    assert_eq!(clusters, 0);
    let most = u64::from(most);
    let cooperative = [
        add,
        most,
        most,
        most,
        64,
        1,
        1,
        0,
        0,
        addresses.as_ptr() as u64,
    ];
    const TOO_LARGE: u32 = 720;
    assert_eq!(call("cuLaunchCooperativeKernel", &cooperative), TOO_LARGE);
}

/// The system lends more memory than it has, and kernels know each byte once.
#[test]
fn host_memory_that_is_not_there_or_known_already_is_refused() {
    let _context = Context::new();
    let mut place = 0u64;
    const OUT_OF_MEMORY: u32 = 2;
    assert_eq!(
        call("cuMemHostAlloc", &[&raw mut place as u64, 1 << 44, 0]),
        OUT_OF_MEMORY
    );
    assert_eq!(
        call("cuMemAllocManaged", &[&raw mut place as u64, 1 << 44, 1]),
        OUT_OF_MEMORY
    );
    let words = [0u64; 64];
    let start = words.as_ptr() as u64;
    ok("cuMemHostRegister_v2", &[start + 128, 64, 0]);
    const ALREADY_REGISTERED: u32 = 712;
    assert_eq!(
        call("cuMemHostRegister_v2", &[start, 512, 0]),
        ALREADY_REGISTERED
    );
    ok("cuMemHostUnregister", &[start + 128]);
    ok("cuMemHostRegister_v2", &[start, 512, 0]);
    ok("cuMemHostUnregister", &[start]);
}

/// Streams and events of a context that is not the current one: copies and waits cross contexts, launches and records do not.
#[test]
fn launches_and_records_stay_in_their_context() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let (stream, event) = (made("cuStreamCreate", &[1]), made("cuEventCreate", &[0]));
    ok("cuEventRecord", &[event, stream]);
    let other = made("cuCtxCreate_v2", &[0, 0]);
    let (of_other, event_of_other) = (made("cuStreamCreate", &[1]), made("cuEventCreate", &[0]));
    assert_eq!(launch(add, stream, 64, (memory, memory)), INVALID_HANDLE);
    assert_eq!(launch(add, of_other, 64, (memory, memory)), INVALID_HANDLE);
    assert_eq!(launch(add, 0, 64, (memory, memory)), INVALID_HANDLE);
    assert_eq!(call("cuEventRecord", &[event, of_other]), INVALID_HANDLE);
    ok("cuEventRecord", &[event_of_other, of_other]);
    let mut time = 0f32;
    assert_eq!(
        call(
            "cuEventElapsedTime",
            &[&raw mut time as u64, event, event_of_other]
        ),
        INVALID_HANDLE
    );
    ok("cuStreamWaitEvent", &[of_other, event, 0]);
    ok("cuMemsetD32Async", &[memory, 2, 64, stream]);
    ok("cuStreamSynchronize", &[stream]);
    ok("cuEventSynchronize", &[event]);
    ok("cuCtxDestroy_v2", &[other]);
    ok("cuCtxSetCurrent", &[context.handle]);
    assert_eq!(launch(add, stream, 64, (memory, memory)), 0);
    ok("cuStreamSynchronize", &[stream]);
    assert_eq!(host_words(memory, 64), [4; 64]);
}
