//! Functions of the driver that `cust` does not call: those of Hopper's launches and copies, and of peers.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUcontext, CUdevice, CUdeviceptr, CUfunction, CUresult, CUstream};

use crate::{entry, gate, result};

/// `CUlaunchConfig`.
#[derive(Debug)]
#[repr(C)]
pub struct LaunchConfig {
    /// Blocks, x, y, z.
    pub grid: [c_uint; 3],
    /// Threads per block, x, y, z.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: c_uint,
    /// Where it is put.
    pub stream: CUstream,
    /// The attributes of the launch.
    pub attributes: *const LaunchAttribute,
    /// How many of these.
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`: a number and 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct LaunchAttribute {
    id: c_uint,
    pad: c_uint,
    value: [c_uint; 16],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    pub const COOPERATIVE: LaunchAttribute = LaunchAttribute::new(2, [1, 0, 0]);
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
    pub const PROGRAMMATIC_STREAM_SERIALIZATION: LaunchAttribute =
        LaunchAttribute::new(6, [1, 0, 0]);

    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    pub const fn cluster(blocks: [c_uint; 3]) -> LaunchAttribute {
        LaunchAttribute::new(4, blocks)
    }

    const fn new(id: c_uint, [x, y, z]: [c_uint; 3]) -> LaunchAttribute {
        let mut value = [0; 16];
        value[0] = x;
        value[1] = y;
        value[2] = z;
        LaunchAttribute { id, pad: 0, value }
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident = $symbol:literal ($($argument:ident: $ty:ty),* $(,)?);)*) => {$(
        $(#[$doc])*
        ///
        /// Answers that there is no device where there is no driver, and that it is not supported where the driver is older.
        ///
        /// # Safety
        /// The driver's own contract for the function.
        #[allow(clippy::too_many_arguments, reason = "the driver's")]
        pub unsafe fn $name($($argument: $ty),*) -> CUresult {
            static ADDRESS: entry::Cached = entry::Cached::new();
            let Some(address) = ADDRESS.get($symbol) else {
                return entry::missing();
            };
            gate::pass($symbol, || {
                // SAFETY: the driver's function of this name has this prototype; the caller keeps its contract.
                unsafe {
                    let function: unsafe extern "C" fn($($ty),*) -> c_uint =
                        std::mem::transmute(address);
                    result::from_number(function($($argument),*))
                }
            })
        }
    )*};
}

functions! {
    /// `cuLaunchKernelEx`: launches with attributes.
    fn launch_kernel_ex = "cuLaunchKernelEx"(
        config: *const LaunchConfig,
        function: CUfunction,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    /// `cuOccupancyMaxActiveClusters`: how many clusters of a launch the GPU holds at once.
    fn max_active_clusters = "cuOccupancyMaxActiveClusters"(
        clusters: *mut i32,
        function: CUfunction,
        config: *const LaunchConfig,
    );
    /// `cuDeviceCanAccessPeer`: whether one GPU can reach the memory of another.
    fn can_access_peer = "cuDeviceCanAccessPeer"(can: *mut c_int, device: CUdevice, peer: CUdevice);
    /// `cuCtxEnablePeerAccess`: lets the current context reach the memory of another.
    fn enable_peer_access = "cuCtxEnablePeerAccess"(peer: CUcontext, flags: c_uint);
    /// `cuMemcpyPeerAsync`: copies between the memories of two contexts.
    fn copy_peer = "cuMemcpyPeerAsync"(
        to: CUdeviceptr,
        of_to: CUcontext,
        from: CUdeviceptr,
        of_from: CUcontext,
        bytes: usize,
        stream: CUstream,
    );
    /// `cuTensorMapEncodeTiled`: writes the 128 bytes of a tensor map, to a place that is aligned to 64.
    fn encode_tensor_map = "cuTensorMapEncodeTiled"(
        map: *mut c_void,
        element: c_uint,
        dimensions: c_uint,
        address: *mut c_void,
        size: *const u64,
        strides: *const u64,
        tile: *const c_uint,
        element_strides: *const c_uint,
        interleave: c_uint,
        swizzle: c_uint,
        promotion: c_uint,
        outside: c_uint,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_lie_as_in_the_drivers_header() {
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(std::mem::offset_of!(LaunchAttribute, value), 8);
        assert_eq!(std::mem::offset_of!(LaunchConfig, stream), 32);
        assert_eq!(std::mem::offset_of!(LaunchConfig, attribute_count), 48);
    }
}
