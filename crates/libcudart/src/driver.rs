//! The functions of the driver that this library calls, found in `libcuda.so.1` when the first is needed.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::api::has_own_default;
use crate::arguments::{In, Out, Text};
use crate::status::{Answer, Error, answer};

/// `libcuda.so.1`, as `dlopen` gave it; 0 if there is none. Threads do not wait for each other here: one of them may be a library's
/// constructor, for which the loader holds a lock that the others would need.
fn library() -> usize {
    static LIBRARY: AtomicUsize = AtomicUsize::new(0);
    let known = LIBRARY.load(Ordering::Acquire);
    if known != 0 {
        return known;
    }
    // SAFETY: the name ends with NUL. What a driver does as it is loaded is its own.
    let found = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) as usize };
    LIBRARY.store(found, Ordering::Release);
    found
}

/// A function's address, once it was found.
struct Entry {
    symbol: &'static str,
    address: AtomicUsize,
}

impl Entry {
    const fn new(symbol: &'static str) -> Entry {
        Entry {
            symbol,
            address: AtomicUsize::new(0),
        }
    }

    fn address(&self) -> Answer<usize> {
        let known = self.address.load(Ordering::Acquire);
        if known != 0 {
            return Ok(known);
        }
        let found = symbol(self.symbol);
        self.address.store(found, Ordering::Release);
        match (found, library()) {
            (0, 0) => Err(Error::INSUFFICIENT_DRIVER),
            (0, _) => Err(Error::CALL_REQUIRES_NEWER_DRIVER),
            _ => Ok(found),
        }
    }
}

/// Finds a symbol, whose text ends with NUL.
fn symbol(name: &'static str) -> usize {
    let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else {
        return 0;
    };
    match library() {
        0 => 0,
        library => {
            let library: *mut c_void = std::ptr::with_exposed_provenance_mut(library);
            // SAFETY: the library was opened above, and is never closed.
            unsafe { libc::dlsym(library, name.as_ptr()) as usize }
        }
    }
}

/// Defines what calls a function of the driver; behind a `|` stands the one for programs whose default stream is each thread's own.
macro_rules! driver {
    ($(fn $name:ident $(| $twin:ident)? ($($argument:ident: $ty:ty),* $(,)?);)*) => {$(
        #[allow(non_snake_case, reason = "the driver's interface")]
        #[allow(clippy::too_many_arguments, reason = "the driver's interface")]
        pub(crate) fn $name($($argument: $ty),*) -> Answer {
            static USUAL: Entry = Entry::new(concat!(stringify!($name), "\0"));
            let address = match has_own_default() {
                $(true => {
                    static TWIN: Entry = Entry::new(concat!(stringify!($twin), "\0"));
                    TWIN.address()
                })?
                _ => USUAL.address(),
            }?;
            // SAFETY: the driver's function of this name has these arguments.
            let called = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($ty),*) -> u32>(address) };
            // SAFETY: pointers are those of this library's caller, with the same contract, or point to values of this library.
            answer(unsafe { called($($argument),*) })
        }
    )*};
}

/// A context, stream, event, kernel or other object of the driver.
pub(crate) type Handle = usize;

driver! {
    fn cuInit(flags: u32);
    fn cuDriverGetVersion(to: Out<c_int>);
    fn cuGetErrorString(error: u32, to: Out<*const c_char>);
    fn cuGetProcAddress_v2(name: Text, to: Out<usize>, version: c_int, flags: u64, result: Out<u32>);

    fn cuDeviceGet(to: Out<c_int>, index: c_int);
    fn cuDeviceGetCount(to: Out<c_int>);
    fn cuDeviceGetName(to: Out<c_char>, room: c_int, device: c_int);
    fn cuDeviceGetUuid_v2(to: Out<[u8; 16]>, device: c_int);
    fn cuDeviceTotalMem_v2(to: Out<usize>, device: c_int);
    fn cuDeviceGetAttribute(to: Out<c_int>, attribute: c_int, device: c_int);
    fn cuDeviceGetPCIBusId(to: Out<c_char>, room: c_int, device: c_int);
    fn cuDeviceGetByPCIBusId(to: Out<c_int>, name: Text);
    fn cuDeviceCanAccessPeer(to: Out<c_int>, device: c_int, peer: c_int);
    fn cuDeviceGetP2PAttribute(to: Out<c_int>, attribute: c_int, device: c_int, peer: c_int);
    fn cuDeviceGetDefaultMemPool(to: Out<Handle>, device: c_int);
    fn cuDeviceGetMemPool(to: Out<Handle>, device: c_int);
    fn cuDeviceSetMemPool(device: c_int, pool: Handle);
    fn cuDevicePrimaryCtxRetain(to: Out<Handle>, device: c_int);
    fn cuDevicePrimaryCtxReset_v2(device: c_int);
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: u32);
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: Out<u32>, is_active: Out<c_int>);

    fn cuCtxGetCurrent(to: Out<Handle>);
    fn cuCtxSetCurrent(context: Handle);
    fn cuCtxGetDevice(to: Out<c_int>);
    fn cuCtxSynchronize();
    fn cuCtxSetLimit(limit: u32, value: usize);
    fn cuCtxGetLimit(to: Out<usize>, limit: u32);
    fn cuCtxGetCacheConfig(to: Out<u32>);
    fn cuCtxSetCacheConfig(preferred: u32);
    fn cuCtxGetSharedMemConfig(to: Out<u32>);
    fn cuCtxSetSharedMemConfig(preferred: u32);
    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>);
    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32);
    fn cuCtxDisablePeerAccess(peer: Handle);
    fn cuCtxResetPersistingL2Cache();

    fn cuLibraryLoadData(
        to: Out<Handle>, image: In<u8>, options: In<c_int>, values: In<usize>, count: u32,
        library_options: In<c_int>, library_values: In<usize>, library_count: u32,
    );
    fn cuLibraryLoadFromFile(
        to: Out<Handle>, path: Text, options: In<c_int>, values: In<usize>, count: u32,
        library_options: In<c_int>, library_values: In<usize>, library_count: u32,
    );
    fn cuLibraryUnload(library: Handle);
    fn cuLibraryGetKernelCount(to: Out<u32>, library: Handle);
    fn cuLibraryEnumerateKernels(to: Out<Handle>, count: u32, library: Handle);
    fn cuLibraryGetKernel(to: Out<Handle>, library: Handle, name: Text);
    fn cuLibraryGetGlobal(to: Out<u64>, bytes: Out<usize>, library: Handle, name: Text);
    fn cuKernelGetFunction(to: Out<Handle>, kernel: Handle);
    fn cuFuncGetName(to: Out<*const c_char>, function: Handle);
    fn cuFuncGetAttribute(to: Out<c_int>, attribute: c_int, function: Handle);
    fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int);
    fn cuFuncSetCacheConfig(function: Handle, preferred: u32);
    fn cuFuncSetSharedMemConfig(function: Handle, preferred: u32);
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>);

    fn cuLaunchKernel | cuLaunchKernel_ptsz(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Handle, arguments: In<usize>, extra: In<usize>,
    );
    fn cuLaunchCooperativeKernel | cuLaunchCooperativeKernel_ptsz(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Handle, arguments: In<usize>,
    );
    fn cuLaunchKernelEx | cuLaunchKernelEx_ptsz(
        config: In<crate::launch::Config>, function: Handle, arguments: In<usize>, extra: In<usize>,
    );
    fn cuLaunchHostFunc | cuLaunchHostFunc_ptsz(stream: Handle, function: usize, argument: usize);

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: Out<c_int>, function: Handle, block: c_int, dynamic: usize, flags: u32,
    );
    fn cuOccupancyAvailableDynamicSMemPerBlock(to: Out<usize>, function: Handle, blocks: c_int, block: c_int);
    fn cuOccupancyMaxActiveClusters(to: Out<c_int>, function: Handle, config: In<crate::launch::Config>);
    fn cuOccupancyMaxPotentialClusterSize(to: Out<c_int>, function: Handle, config: In<crate::launch::Config>);

    fn cuMemAlloc_v2(to: Out<u64>, bytes: usize);
    fn cuMemAllocPitch_v2(to: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32);
    fn cuMemAllocManaged(to: Out<u64>, bytes: usize, flags: u32);
    fn cuMemFree_v2(address: u64);
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>);
    fn cuMemHostAlloc(to: Out<usize>, bytes: usize, flags: u32);
    fn cuMemFreeHost(address: usize);
    fn cuMemHostRegister_v2(address: usize, bytes: usize, flags: u32);
    fn cuMemHostUnregister(address: usize);
    fn cuMemHostGetDevicePointer_v2(to: Out<u64>, address: usize, flags: u32);
    fn cuMemHostGetFlags(to: Out<u32>, address: usize);
    fn cuArray3DCreate_v2(to: Out<Handle>, volume: In<crate::array::Volume>);
    fn cuArray3DGetDescriptor_v2(to: Out<crate::array::Volume>, array: Handle);
    fn cuArrayDestroy(array: Handle);
    fn cuTexObjectCreate(
        to: Out<u64>, resource: In<crate::array::DriverResource>, reading: In<crate::array::DriverReading>, view: In<u32>,
    );
    fn cuTexObjectDestroy(texture: u64);
    fn cuSurfObjectCreate(to: Out<u64>, resource: In<crate::array::DriverResource>);
    fn cuSurfObjectDestroy(surface: u64);
    fn cuPointerGetAttribute(to: Out<u64>, attribute: c_int, address: u64);

    fn cuMemAllocAsync | cuMemAllocAsync_ptsz(to: Out<u64>, bytes: usize, stream: Handle);
    fn cuMemAllocFromPoolAsync | cuMemAllocFromPoolAsync_ptsz(to: Out<u64>, bytes: usize, pool: Handle, stream: Handle);
    fn cuMemFreeAsync | cuMemFreeAsync_ptsz(address: u64, stream: Handle);
    fn cuMemPoolCreate(to: Out<Handle>, properties: In<u8>);
    fn cuMemPoolDestroy(pool: Handle);
    fn cuMemPoolTrimTo(pool: Handle, bytes: usize);
    fn cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: Out<u64>);
    fn cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: Out<u64>);

    fn cuMemcpy | cuMemcpy_ptds(to: u64, from: u64, bytes: usize);
    fn cuMemcpyAsync | cuMemcpyAsync_ptsz(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyHtoD_v2 | cuMemcpyHtoD_v2_ptds(to: u64, from: u64, bytes: usize);
    fn cuMemcpyHtoDAsync_v2 | cuMemcpyHtoDAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyDtoH_v2 | cuMemcpyDtoH_v2_ptds(to: u64, from: u64, bytes: usize);
    fn cuMemcpyDtoHAsync_v2 | cuMemcpyDtoHAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyDtoD_v2 | cuMemcpyDtoD_v2_ptds(to: u64, from: u64, bytes: usize);
    fn cuMemcpyDtoDAsync_v2 | cuMemcpyDtoDAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyPeer | cuMemcpyPeer_ptds(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize);
    fn cuMemcpyPeerAsync | cuMemcpyPeerAsync_ptsz(
        to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle,
    );
    fn cuMemcpy2DUnaligned_v2 | cuMemcpy2DUnaligned_v2_ptds(plane: In<crate::copy::Plane>);
    fn cuMemcpy2DAsync_v2 | cuMemcpy2DAsync_v2_ptsz(plane: In<crate::copy::Plane>, stream: Handle);
    fn cuMemcpy3D_v2 | cuMemcpy3D_v2_ptds(volume: In<crate::copy::Volume>);
    fn cuMemcpy3DAsync_v2 | cuMemcpy3DAsync_v2_ptsz(volume: In<crate::copy::Volume>, stream: Handle);

    fn cuMemsetD8_v2 | cuMemsetD8_v2_ptds(to: u64, value: u8, bytes: usize);
    fn cuMemsetD8Async | cuMemsetD8Async_ptsz(to: u64, value: u8, bytes: usize, stream: Handle);
    fn cuMemsetD2D8_v2 | cuMemsetD2D8_v2_ptds(to: u64, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async | cuMemsetD2D8Async_ptsz(
        to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle,
    );

    fn cuStreamCreate(to: Out<Handle>, flags: u32);
    fn cuStreamCreateWithPriority(to: Out<Handle>, flags: u32, priority: c_int);
    fn cuStreamDestroy_v2(stream: Handle);
    fn cuStreamQuery | cuStreamQuery_ptsz(stream: Handle);
    fn cuStreamSynchronize | cuStreamSynchronize_ptsz(stream: Handle);
    fn cuStreamWaitEvent | cuStreamWaitEvent_ptsz(stream: Handle, event: Handle, flags: u32);
    fn cuStreamAddCallback | cuStreamAddCallback_ptsz(stream: Handle, function: usize, argument: usize, flags: u32);
    fn cuStreamGetFlags | cuStreamGetFlags_ptsz(stream: Handle, to: Out<u32>);
    fn cuStreamGetPriority | cuStreamGetPriority_ptsz(stream: Handle, to: Out<c_int>);
    fn cuStreamGetId | cuStreamGetId_ptsz(stream: Handle, to: Out<u64>);
    fn cuStreamGetDevice | cuStreamGetDevice_ptsz(stream: Handle, to: Out<c_int>);
    fn cuStreamAttachMemAsync | cuStreamAttachMemAsync_ptsz(stream: Handle, address: u64, bytes: usize, flags: u32);
    fn cuStreamBeginCapture_v2 | cuStreamBeginCapture_v2_ptsz(stream: Handle, mode: u32);
    fn cuStreamEndCapture | cuStreamEndCapture_ptsz(stream: Handle, to: Out<Handle>);
    fn cuStreamIsCapturing | cuStreamIsCapturing_ptsz(stream: Handle, to: Out<u32>);
    fn cuStreamGetCaptureInfo | cuStreamGetCaptureInfo_ptsz(stream: Handle, status: Out<u32>, number: Out<u64>);
    fn cuStreamGetCaptureInfo_v2 | cuStreamGetCaptureInfo_v2_ptsz(
        stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<usize>, count: Out<usize>,
    );
    fn cuStreamGetCaptureInfo_v3 | cuStreamGetCaptureInfo_v3_ptsz(
        stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<usize>, edges: Out<usize>,
        count: Out<usize>,
    );
    fn cuStreamBeginCaptureToGraph | cuStreamBeginCaptureToGraph_ptsz(
        stream: Handle, graph: Handle, after: In<Handle>, edges: In<u64>, count: usize, mode: u32,
    );
    fn cuStreamUpdateCaptureDependencies | cuStreamUpdateCaptureDependencies_ptsz(
        stream: Handle, after: In<Handle>, count: usize, flags: u32,
    );
    fn cuStreamUpdateCaptureDependencies_v2 | cuStreamUpdateCaptureDependencies_v2_ptsz(
        stream: Handle, after: In<Handle>, edges: In<u64>, count: usize, flags: u32,
    );
    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>);

    fn cuEventCreate(to: Out<Handle>, flags: u32);
    fn cuEventDestroy_v2(event: Handle);
    fn cuEventQuery(event: Handle);
    fn cuEventSynchronize(event: Handle);
    fn cuEventRecord | cuEventRecord_ptsz(event: Handle, stream: Handle);
    fn cuEventRecordWithFlags | cuEventRecordWithFlags_ptsz(event: Handle, stream: Handle, flags: u32);
    fn cuEventElapsedTime(to: Out<f32>, start: Handle, end: Handle);

    fn cuGraphCreate(to: Out<Handle>, flags: u32);
    fn cuGraphDestroy(graph: Handle);
    fn cuGraphInstantiateWithFlags(to: Out<Handle>, graph: Handle, flags: u64);
    fn cuGraphExecDestroy(graph: Handle);
    fn cuGraphLaunch | cuGraphLaunch_ptsz(graph: Handle, stream: Handle);
    fn cuGraphUpload | cuGraphUpload_ptsz(graph: Handle, stream: Handle);
    fn cuGraphGetNodes(graph: Handle, to: Out<Handle>, count: Out<usize>);
    fn cuGraphGetRootNodes(graph: Handle, to: Out<Handle>, count: Out<usize>);
    fn cuGraphNodeGetType(node: Handle, to: Out<u32>);
    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize);
    fn cuGraphAddEmptyNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize);
    fn cuGraphAddChildGraphNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, child: Handle);
    fn cuGraphAddHostNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, host: In<[usize; 2]>);
    fn cuGraphAddKernelNode_v2(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, kernel: In<crate::graph_node::KernelNode>,
    );
    fn cuGraphAddMemcpyNode(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, volume: In<crate::copy::Volume>, context: Handle,
    );
    fn cuGraphAddMemsetNode(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, fill: In<crate::graph_node::Fill>, context: Handle,
    );
    fn cuGraphAddEventRecordNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, event: Handle);
    fn cuGraphKernelNodeSetParams_v2(node: Handle, kernel: In<crate::graph_node::KernelNode>);
    fn cuGraphInstantiateWithParams | cuGraphInstantiateWithParams_ptsz(to: Out<Handle>, graph: Handle, how: Out<[u64; 4]>);
    fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: Out<[u64; 3]>);
    fn cuGraphExecHostNodeSetParams(executable: Handle, node: Handle, host: In<[usize; 2]>);
    fn cuGraphExecMemcpyNodeSetParams(
        executable: Handle, node: Handle, volume: In<crate::copy::Volume>, context: Handle,
    );
    fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, fill: In<crate::graph_node::Fill>, context: Handle);
    fn cuGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, edges: In<u64>, count: usize);
    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize);
    fn cuGraphRemoveDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, edges: In<u64>, count: usize);
    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>);
    fn cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, edges: Out<u64>, count: Out<usize>);
    fn cuGraphNodeGetDependencies(node: Handle, to: Out<Handle>, count: Out<usize>);
    fn cuGraphNodeGetDependencies_v2(node: Handle, to: Out<Handle>, edges: Out<u64>, count: Out<usize>);
    fn cuGraphNodeGetDependentNodes(node: Handle, to: Out<Handle>, count: Out<usize>);
    fn cuGraphNodeGetDependentNodes_v2(node: Handle, to: Out<Handle>, edges: Out<u64>, count: Out<usize>);
    fn cuGraphDestroyNode(node: Handle);
    fn cuGraphClone(to: Out<Handle>, graph: Handle);
    fn cuGraphNodeFindInClone(to: Out<Handle>, node: Handle, clone: Handle);
    fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, to: Out<u32>);
    fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32);
    fn cuGraphHostNodeSetParams(node: Handle, host: In<[usize; 2]>);
    fn cuGraphMemsetNodeSetParams(node: Handle, fill: In<crate::graph_node::Fill>);
    fn cuGraphMemcpyNodeSetParams(node: Handle, volume: In<crate::copy::Volume>);
    fn cuGraphExecKernelNodeSetParams_v2(graph: Handle, node: Handle, kernel: In<crate::graph_node::KernelNode>);
    fn cuGraphExecUpdate(executable: Handle, graph: Handle, node: Out<Handle>, result: Out<u32>);
    fn cuGraphExecGetFlags(executable: Handle, to: Out<u64>);
    fn cuGraphDebugDotPrint(graph: Handle, path: Text, flags: u32);
    fn cuGraphConditionalHandleCreate(to: Out<u64>, graph: Handle, context: Handle, first: u32, flags: u32);
    fn cuGraphAddNode_v2(
        to: Out<Handle>, graph: Handle, before: In<Handle>, edges: In<u64>, count: usize, node: Out<crate::graph_node::AnyNode>,
    );
    fn cuGraphNodeSetParams(node: Handle, parameters: Out<crate::graph_node::AnyNode>);
    fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, parameters: Out<crate::graph_node::AnyNode>);
    fn cuGraphKernelNodeGetParams_v2(node: Handle, to: Out<crate::graph_node::KernelNode>);
    fn cuGraphKernelNodeSetAttribute(node: Handle, id: u32, value: usize);
    fn cuGraphKernelNodeGetAttribute(node: Handle, id: u32, to: usize);
    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    fn cuGraphMemcpyNodeGetParams(node: Handle, to: Out<crate::copy::Volume>);
    fn cuGraphMemsetNodeGetParams(node: Handle, to: Out<crate::graph_node::Fill>);
    fn cuGraphHostNodeGetParams(node: Handle, to: Out<[usize; 2]>);
    fn cuGraphChildGraphNodeGetGraph(node: Handle, to: Out<Handle>);
    fn cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, child: Handle);
    fn cuGraphEventRecordNodeGetEvent(node: Handle, to: Out<Handle>);
    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
    fn cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle);
    fn cuGraphAddEventWaitNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, event: Handle);
    fn cuGraphEventWaitNodeGetEvent(node: Handle, to: Out<Handle>);
    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle);
    fn cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle);
    fn cuGraphAddMemAllocNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, memory: usize);
    fn cuGraphMemAllocNodeGetParams(node: Handle, to: usize);
    fn cuGraphAddMemFreeNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, address: u64);
    fn cuGraphMemFreeNodeGetParams(node: Handle, to: Out<u64>);
    fn cuDeviceGetGraphMemAttribute(device: c_int, which: u32, to: Out<u64>);
    fn cuDeviceSetGraphMemAttribute(device: c_int, which: u32, value: Out<u64>);
    fn cuDeviceGraphMemTrim(device: c_int);
    fn cuUserObjectCreate(to: Out<Handle>, object: usize, function: usize, count: u32, flags: u32);
    fn cuUserObjectRetain(object: Handle, count: u32);
    fn cuUserObjectRelease(object: Handle, count: u32);
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32);
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32);

    fn cuProfilerStart();
    fn cuProfilerStop();
}
