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
