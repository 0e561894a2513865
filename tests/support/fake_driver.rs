//! A CUDA driver with three GPUs that compute nothing. It knows which GPU's context each handle was made
//! in, and ends the process at the first call that comes from another, or from none.
//!
//! tests/machines/devices.rs compiles this to a `libcuda.so.1`. Handles are all `usize`, as wide as pointers.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::ptr::{copy, write_bytes};
use std::sync::Mutex;

type Text = *const u8;

const GPUS: usize = 3;
const MEMORY: usize = 1 << 30;
const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_CONTEXT: u32 = 201;
const PEER_ACCESS_UNSUPPORTED: u32 = 217;
const NOT_FOUND: u32 = 500;
const PEER_ACCESS_ALREADY_ENABLED: u32 = 704;
const UNSUPPORTED_IN_CAPTURE: u32 = 900;
const UNJOINED: u32 = 904;

struct Object {
    kind: &'static str,
    /// The context that it was made in: the GPU's number, from 1 on.
    context: usize,
    bytes: usize,
    /// Of a stream: the node that was captured last, while it captures.
    capture: Option<Box<usize>>,
}

struct State {
    objects: BTreeMap<usize, Object>,
    /// Who has retained each GPU's context.
    retained: [usize; GPUS],
    /// Which contexts reach the memory of which others.
    peers: BTreeSet<(usize, usize)>,
    next: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    objects: BTreeMap::new(),
    retained: [0; GPUS],
    peers: BTreeSet::new(),
    next: 1 << 20,
});

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn broken(text: String) -> ! {
    eprintln!("the fake driver: {text}");
    std::process::abort()
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    work(&mut STATE.lock().unwrap())
}

/// The context of this thread, which must be one that somebody holds.
fn current(call: &str) -> usize {
    let current = CURRENT.get();
    if current == 0 || with(|state| state.retained[current - 1]) == 0 {
        broken(format!(
            "{call} in context {current}, which is none or has gone"
        ));
    }
    current
}

fn made(call: &str, kind: &'static str, bytes: usize) -> usize {
    let context = current(call);
    with(|state| {
        let handle = state.next;
        state.next += bytes.max(1).next_multiple_of(256);
        add(state, handle, kind, context, bytes);
        handle
    })
}

fn add(state: &mut State, handle: usize, kind: &'static str, context: usize, bytes: usize) {
    let capture = None;
    state.objects.insert(
        handle,
        Object {
            kind,
            context,
            bytes,
            capture,
        },
    );
}

/// The object that was made as `handle`, or memory with that address in it.
fn of<'s>(state: &'s mut State, call: &str, kind: &str, handle: usize) -> &'s mut Object {
    match state.objects.range_mut(..=handle).next_back() {
        Some((&start, object)) if object.kind == kind && handle - start < object.bytes.max(1) => {
            object
        }
        _ => broken(format!("{call} with a {kind} that is not there")),
    }
}

/// Sees that `handle` was made in the context of this thread.
fn used(call: &str, kind: &str, handle: usize) {
    let current = current(call);
    // The stream of no name is of every context.
    if kind == "stream" && handle == 0 {
        return;
    }
    with(|state| {
        let context = of(state, call, kind, handle).context;
        if context != current {
            broken(format!(
                "{call} in context {current} with a {kind} of context {context}"
            ));
        }
    })
}

fn ended(call: &str, kind: &str, handle: usize) {
    used(call, kind, handle);
    with(|state| state.objects.remove(&handle));
}

/// Memory is the host's: its address is the handle.
fn allocate(call: &str, kind: &'static str, bytes: usize) -> usize {
    let context = current(call);
    let address = Box::leak(vec![0u64; bytes.div_ceil(8)].into_boxed_slice()).as_ptr() as usize;
    with(|state| add(state, address, kind, context, bytes));
    address
}

/// A launch, which a capturing stream remembers.
fn launched(call: &str, stream: usize) {
    used(call, "stream", stream);
    let node = made(call, "node", 0);
    with(|state| {
        if let Some(last) = &mut of(state, call, "stream", stream).capture {
            **last = node;
        }
    });
}

fn free(context: usize) -> usize {
    let taken = |state: &mut State| {
        let own = state
            .objects
            .values()
            .filter(|it| it.kind == "memory" && it.context == context);
        own.map(|it| it.bytes).sum::<usize>()
    };
    MEMORY - with(taken)
}

macro_rules! driver {
    ($(fn $name:ident($($argument:ident: $ty:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> u32 {
            #[allow(dead_code)]
            const CALL: &str = stringify!($name);
            // SAFETY: the callers are the tests, which keep the driver's contract.
            #[allow(unused_unsafe, unreachable_code)]
            unsafe { $body }
            #[allow(unreachable_code)]
            0
        }
    )*};
}

driver! {
    fn cuInit(_flags: u32) {}
    fn cuDriverGetVersion(version: *mut i32) { *version = 13_000; }
    fn cuDeviceGetCount(count: *mut i32) { *count = GPUS as i32; }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) { *device = ordinal; }
    fn cuDeviceGetName(name: *mut u8, _len: i32, _device: i32) { copy(b"Fake\0".as_ptr(), name, 5); }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) { *bytes = MEMORY; }
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        // 34 is the device's number on the PCI bus, in which GPUs differ.
        *value = match attribute { 34 => device, 75 => 9, 76 => 0, 1..=3 => 1024, 4 => 64, 16 => 132, _ => 65_535 };
    }
    fn cuDevicePrimaryCtxRetain(context: *mut usize, device: i32) {
        with(|state| state.retained[device as usize] += 1);
        *context = device as usize + 1;
    }
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        with(|state| {
            let context = device as usize + 1;
            state.retained[device as usize] -= 1;
            let kept = |it: &&Object| it.context == context && !["node", "function"].contains(&it.kind);
            if let (0, Some(object)) = (state.retained[device as usize], state.objects.values().find(kept)) {
                broken(format!("context {context} goes, and a {} of it is there", object.kind));
            }
        });
    }
    fn cuCtxGetCurrent(context: *mut usize) { *context = CURRENT.get(); }
    fn cuCtxSetCurrent(context: usize) { CURRENT.set(context); current(CALL); }
    fn cuCtxSetLimit(_limit: i32, _value: usize) { current(CALL); }
    fn cuCtxSynchronize() { current(CALL); }

    fn cuDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) { *can = i32::from(device != peer); }
    fn cuCtxEnablePeerAccess(peer: usize, _flags: u32) {
        let own = current(CALL);
        if peer == own || with(|state| state.retained[peer - 1]) == 0 {
            return INVALID_CONTEXT;
        }
        // Two of three GPUs are joined.
        if own.max(peer) == GPUS {
            return PEER_ACCESS_UNSUPPORTED;
        }
        if !with(|state| state.peers.insert((own, peer))) {
            return PEER_ACCESS_ALREADY_ENABLED;
        }
    }

    fn cuModuleLoadDataEx(module: *mut usize, _image: Text, _n: u32, _options: usize, _values: usize) {
        *module = made(CALL, "module", 0);
    }
    fn cuModuleUnload(module: usize) { ended(CALL, "module", module); }
    fn cuModuleGetGlobal_v2(_address: *mut usize, _bytes: *mut usize, module: usize, _name: Text) {
        used(CALL, "module", module);
        return NOT_FOUND;
    }
    fn cuModuleGetFunction(function: *mut usize, module: usize, name: Text) {
        used(CALL, "module", module);
        if CStr::from_ptr(name.cast()) == c"absent" {
            return NOT_FOUND;
        }
        *function = made(CALL, "function", 0);
    }
    fn cuFuncGetAttribute(value: *mut i32, attribute: i32, function: usize) {
        used(CALL, "function", function);
        *value = if attribute == 0 { 1024 } else { 0 };
    }
    fn cuFuncSetAttribute(function: usize, _attribute: i32, _value: i32) { used(CALL, "function", function); }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut i32, function: usize, _b: i32, _s: usize) {
        used(CALL, "function", function);
        *blocks = 1;
    }
    fn cuLaunchKernel(
        function: usize, _gx: u32, _gy: u32, _gz: u32, _bx: u32, _by: u32, _bz: u32, _shared: u32,
        stream: usize, _parameters: usize, _extra: usize
    ) {
        used(CALL, "function", function);
        launched(CALL, stream);
    }
    fn cuLaunchCooperativeKernel(
        function: usize, _gx: u32, _gy: u32, _gz: u32, _bx: u32, _by: u32, _bz: u32, _shared: u32,
        stream: usize, _parameters: usize
    ) {
        used(CALL, "function", function);
        launched(CALL, stream);
    }

    fn cuMemGetInfo_v2(free_bytes: *mut usize, total: *mut usize) {
        *free_bytes = free(current(CALL));
        *total = MEMORY;
    }
    fn cuMemAlloc_v2(address: *mut usize, bytes: usize) {
        if bytes > free(current(CALL)) {
            return OUT_OF_MEMORY;
        }
        *address = allocate(CALL, "memory", bytes);
    }
    fn cuMemFree_v2(address: usize) { ended(CALL, "memory", address); }
    fn cuMemAllocHost_v2(address: *mut usize, bytes: usize) {
        if bytes > MEMORY {
            return OUT_OF_MEMORY;
        }
        *address = allocate(CALL, "host memory", bytes);
    }
    fn cuMemFreeHost(address: usize) { ended(CALL, "host memory", address); }
    fn cuMemHostRegister_v2(address: usize, bytes: usize, _flags: u32) {
        let context = current(CALL);
        with(|state| add(state, address, "registered memory", context, bytes));
    }
    fn cuMemHostUnregister(address: usize) { ended(CALL, "registered memory", address); }
    fn cuPointerGetAttribute(data: *mut i32, attribute: i32, address: usize) {
        if attribute != 9 {
            return INVALID_VALUE;
        }
        *data = with(|state| of(state, CALL, "memory", address).context as i32 - 1);
    }
    fn cuMemcpyHtoD_v2(to: *mut u8, from: Text, bytes: usize) {
        used(CALL, "memory", to as usize);
        copy(from, to, bytes);
    }
    fn cuMemcpyDtoH_v2(to: *mut u8, from: Text, bytes: usize) {
        used(CALL, "memory", from as usize);
        copy(from, to, bytes);
    }
    fn cuMemcpyHtoDAsync_v2(to: *mut u8, from: Text, bytes: usize, stream: usize) {
        used(CALL, "stream", stream);
        used(CALL, "memory", to as usize);
        copy(from, to, bytes);
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: Text, bytes: usize, stream: usize) {
        used(CALL, "stream", stream);
        used(CALL, "memory", from as usize);
        copy(from, to, bytes);
    }
    fn cuMemcpyPeerAsync(
        to: *mut u8, of_to: usize, from: Text, of_from: usize, bytes: usize, stream: usize
    ) {
        used(CALL, "stream", stream);
        for (address, context) in [(to as usize, of_to), (from as usize, of_from)] {
            let actual = with(|state| of(state, CALL, "memory", address).context);
            if actual != context {
                broken(format!("{CALL} of context {context} with a memory of context {actual}"));
            }
        }
        copy(from, to, bytes);
    }
    fn cuMemsetD8_v2(to: *mut u8, byte: u8, bytes: usize) {
        used(CALL, "memory", to as usize);
        write_bytes(to, byte, bytes);
    }

    fn cuStreamCreateWithPriority(stream: *mut usize, _flags: u32, _priority: i32) {
        *stream = made(CALL, "stream", 0);
    }
    fn cuStreamDestroy_v2(stream: usize) { ended(CALL, "stream", stream); }
    fn cuStreamSynchronize(stream: usize) {
        used(CALL, "stream", stream);
        let captures = |state: &mut State| of(state, CALL, "stream", stream).capture.is_some();
        if stream != 0 && with(captures) {
            return UNSUPPORTED_IN_CAPTURE;
        }
    }
    // The event may be another GPU's.
    fn cuStreamWaitEvent(stream: usize, event: usize, _flags: u32) {
        used(CALL, "stream", stream);
        with(|state| { of(state, CALL, "event", event); });
    }
    fn cuStreamBeginCapture_v2(stream: usize, _mode: i32) {
        used(CALL, "stream", stream);
        with(|state| of(state, CALL, "stream", stream).capture = Some(Box::new(0)));
    }
    fn cuStreamGetCaptureInfo_v2(
        stream: usize, status: *mut i32, _id: usize, _graph: usize, last: *mut *const usize, count: *mut usize
    ) {
        used(CALL, "stream", stream);
        with(|state| {
            let capture = &of(state, CALL, "stream", stream).capture;
            *status = i32::from(capture.is_some());
            *last = capture.as_ref().map_or(std::ptr::null(), |node| &raw const **node);
            *count = 1;
        });
    }
    fn cuStreamEndCapture(stream: usize, graph: *mut usize) {
        used(CALL, "stream", stream);
        if with(|state| of(state, CALL, "stream", stream).capture.take()).is_none() {
            return UNJOINED;
        }
        *graph = made(CALL, "graph", 0);
    }
    fn cuGraphInstantiateWithFlags(executable: *mut usize, graph: usize, _flags: u64) {
        used(CALL, "graph", graph);
        *executable = made(CALL, "executable graph", 0);
    }
    fn cuGraphExecKernelNodeSetParams(executable: usize, node: usize, _parameters: usize) {
        used(CALL, "executable graph", executable);
        used(CALL, "node", node);
    }
    fn cuGraphLaunch(executable: usize, stream: usize) {
        used(CALL, "executable graph", executable);
        launched(CALL, stream);
    }
    fn cuGraphExecDestroy(executable: usize) { ended(CALL, "executable graph", executable); }
    fn cuGraphDestroy(graph: usize) { ended(CALL, "graph", graph); }

    fn cuEventCreate(event: *mut usize, _flags: u32) { *event = made(CALL, "event", 0); }
    fn cuEventDestroy_v2(event: usize) { ended(CALL, "event", event); }
    fn cuEventRecord(event: usize, stream: usize) {
        used(CALL, "event", event);
        used(CALL, "stream", stream);
    }
    fn cuEventQuery(event: usize) { used(CALL, "event", event); }
    fn cuEventSynchronize(event: usize) { used(CALL, "event", event); }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) {
        used(CALL, "event", start);
        used(CALL, "event", end);
        *milliseconds = 1.0;
    }
    fn cuGetErrorString(_error: u32, text: *mut Text) { *text = c"of the fake driver".as_ptr().cast(); }
}
