//! Answers of a device to `cuDeviceGetAttribute`, a row each. An attribute without a row is refused: a success would be
//! believed.

use crate::device;
use crate::settings::{Settings, settings};
use crate::status::{Answer, Status};

/// An attribute of a device.
struct Row {
    /// `CUdevice_attribute`.
    number: i32,
    value: fn(&Settings, u32) -> u32,
}

/// Makes rows of number, name and value; behind `|` stand the settings and the device that it depends on.
macro_rules! attributes {
    ($(|$settings:pat_param, $device:pat_param| $($number:literal $name:ident = $value:expr;)*)*) => {
        const ROWS: &[Row] = &[$($(Row { number: $number, value: |$settings, $device| $value },)*)*];
    };
}

attributes! {
    |s, _|
    1 MAX_THREADS_PER_BLOCK = s.multiprocessor.max_threads_per_block;
    12 MAX_REGISTERS_PER_BLOCK = s.multiprocessor.max_registers_per_block;
    16 MULTIPROCESSOR_COUNT = s.multiprocessors;
    39 MAX_THREADS_PER_MULTIPROCESSOR = s.multiprocessor.max_warps * 32;
    75 COMPUTE_CAPABILITY_MAJOR = s.capability.major();
    76 COMPUTE_CAPABILITY_MINOR = s.capability.minor();
    81 MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = s.multiprocessor.shared_bytes;
    82 MAX_REGISTERS_PER_MULTIPROCESSOR = s.multiprocessor.registers;
    97 MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = s.multiprocessor.max_shared_bytes_per_block;
    106 MAX_BLOCKS_PER_MULTIPROCESSOR = s.multiprocessor.max_blocks;
    111 RESERVED_SHARED_MEMORY_PER_BLOCK = s.multiprocessor.reserved_shared_bytes_per_block;
    120 CLUSTER_LAUNCH = u32::from(s.capability.major() >= 9);
    127 TENSOR_MAP_ACCESS_SUPPORTED = u32::from(s.capability.major() >= 9);

    |_, device|
    33 PCI_BUS_ID = pci_bus(device);

    |_, _|
    2 MAX_BLOCK_DIM_X = 1024;
    3 MAX_BLOCK_DIM_Y = 1024;
    4 MAX_BLOCK_DIM_Z = 64;
    5 MAX_GRID_DIM_X = i32::MAX as u32;
    6 MAX_GRID_DIM_Y = 65_535;
    7 MAX_GRID_DIM_Z = 65_535;
    8 MAX_SHARED_MEMORY_PER_BLOCK = DEFAULT_SHARED_BYTES;
    9 TOTAL_CONSTANT_MEMORY = 64 << 10;
    10 WARP_SIZE = 32;
    11 MAX_PITCH = i32::MAX as u32;
    // An H200's clocks, bus and cache: programs divide by them.
    13 CLOCK_RATE = 1_980_000;
    36 MEMORY_CLOCK_RATE = 3_201_000;
    37 GLOBAL_MEMORY_BUS_WIDTH = 6144;
    38 L2_CACHE_SIZE = 60 << 20;
    14 TEXTURE_ALIGNMENT = 512;
    15 GPU_OVERLAP = 1;
    17 KERNEL_EXEC_TIMEOUT = 0;
    18 INTEGRATED = 0;
    19 CAN_MAP_HOST_MEMORY = 1;
    20 COMPUTE_MODE = 0;
    // The largest images, the same for all capabilities from 7.5 on: the CUDA C++ Programming Guide, "Compute Capabilities".
    21 MAXIMUM_TEXTURE1D_WIDTH = 131_072;
    22 MAXIMUM_TEXTURE2D_WIDTH = 131_072;
    23 MAXIMUM_TEXTURE2D_HEIGHT = 65_536;
    24 MAXIMUM_TEXTURE3D_WIDTH = 16_384;
    25 MAXIMUM_TEXTURE3D_HEIGHT = 16_384;
    26 MAXIMUM_TEXTURE3D_DEPTH = 16_384;
    27 MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 32_768;
    28 MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 32_768;
    29 MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 2048;
    30 SURFACE_ALIGNMENT = 512;
    42 MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 32_768;
    43 MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 2048;
    44 CAN_TEX2D_GATHER = 1;
    45 MAXIMUM_TEXTURE2D_GATHER_WIDTH = 32_768;
    46 MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 32_768;
    47 MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 8192;
    48 MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 8192;
    49 MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 32_768;
    52 MAXIMUM_TEXTURECUBEMAP_WIDTH = 32_768;
    53 MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 32_768;
    54 MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 2046;
    55 MAXIMUM_SURFACE1D_WIDTH = 32_768;
    56 MAXIMUM_SURFACE2D_WIDTH = 131_072;
    57 MAXIMUM_SURFACE2D_HEIGHT = 65_536;
    58 MAXIMUM_SURFACE3D_WIDTH = 16_384;
    59 MAXIMUM_SURFACE3D_HEIGHT = 16_384;
    60 MAXIMUM_SURFACE3D_DEPTH = 16_384;
    61 MAXIMUM_SURFACE1D_LAYERED_WIDTH = 32_768;
    62 MAXIMUM_SURFACE1D_LAYERED_LAYERS = 2048;
    63 MAXIMUM_SURFACE2D_LAYERED_WIDTH = 32_768;
    64 MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 32_768;
    65 MAXIMUM_SURFACE2D_LAYERED_LAYERS = 2048;
    66 MAXIMUM_SURFACECUBEMAP_WIDTH = 32_768;
    67 MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 32_768;
    68 MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 2046;
    69 MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 1 << 28;
    70 MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 131_072;
    71 MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 65_000;
    72 MAXIMUM_TEXTURE2D_LINEAR_PITCH = 2_097_120;
    // Images have one level.
    73 MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 0;
    74 MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 0;
    77 MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 0;
    31 CONCURRENT_KERNELS = 1;
    32 ECC_ENABLED = 0;
    34 PCI_DEVICE_ID = 0;
    35 TCC_DRIVER = 0;
    40 ASYNC_ENGINE_COUNT = 3;
    41 UNIFIED_ADDRESSING = 1;
    50 PCI_DOMAIN_ID = 0;
    51 TEXTURE_PITCH_ALIGNMENT = 32;
    78 STREAM_PRIORITIES_SUPPORTED = 1;
    79 GLOBAL_L1_CACHE_SUPPORTED = 1;
    80 LOCAL_L1_CACHE_SUPPORTED = 1;
    83 MANAGED_MEMORY = 1;
    84 MULTI_GPU_BOARD = 0;
    85 MULTI_GPU_BOARD_GROUP_ID = 0;
    86 HOST_NATIVE_ATOMIC_SUPPORTED = 0;
    87 SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 2;
    // Kernels reach the memory that the program has allocated or registered through the driver.
    88 PAGEABLE_MEMORY_ACCESS = 0;
    89 CONCURRENT_MANAGED_ACCESS = 1;
    90 COMPUTE_PREEMPTION_SUPPORTED = 1;
    91 CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 1;
    92 CAN_USE_STREAM_MEM_OPS_V1 = 0;
    93 CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 0;
    94 CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 0;
    95 COOPERATIVE_LAUNCH = 1;
    96 COOPERATIVE_MULTI_DEVICE_LAUNCH = 0;
    98 CAN_FLUSH_REMOTE_WRITES = 0;
    99 HOST_REGISTER_SUPPORTED = 1;
    100 PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 0;
    101 DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 0;
    102 VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 0;
    103 HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 0;
    104 HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 0;
    105 HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 0;
    107 GENERIC_COMPRESSION_SUPPORTED = 0;
    108 MAX_PERSISTING_L2_CACHE_SIZE = 0;
    109 MAX_ACCESS_POLICY_WINDOW_SIZE = 0;
    110 GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 0;
    112 SPARSE_CUDA_ARRAY_SUPPORTED = 0;
    113 READ_ONLY_HOST_REGISTER_SUPPORTED = 0;
    114 TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 0;
    115 MEMORY_POOLS_SUPPORTED = 1;
    116 GPU_DIRECT_RDMA_SUPPORTED = 0;
    117 GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 0;
    118 GPU_DIRECT_RDMA_WRITES_ORDERING = 0;
    119 MEMPOOL_SUPPORTED_HANDLE_TYPES = 0;
    121 DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 0;
    122 CAN_USE_64_BIT_STREAM_MEM_OPS = 0;
    123 CAN_USE_STREAM_WAIT_VALUE_NOR = 0;
    124 DMA_BUF_SUPPORTED = 0;
    125 IPC_EVENT_SUPPORTED = 0;
    126 MEM_SYNC_DOMAIN_COUNT = 1;
    128 HANDLE_TYPE_FABRIC_SUPPORTED = 0;
    129 UNIFIED_FUNCTION_POINTERS = 0;
    130 NUMA_CONFIG = 0;
    132 MULTICAST_SUPPORTED = 0;
    133 MPS_ENABLED = 0;
    134 HOST_NUMA_ID = 0;
    136 MEM_DECOMPRESS_ALGORITHM_MASK = 0;
    137 MEM_DECOMPRESS_MAXIMUM_LENGTH = 0;
    141 HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 0;
    142 HOST_NUMA_MEMORY_POOLS_SUPPORTED = 0;
    143 HOST_NUMA_MULTINODE_IPC_SUPPORTED = 0;
}

/// Bytes of shared memory of a block whose kernel has not asked for more.
pub(crate) const DEFAULT_SHARED_BYTES: u32 = 48 << 10;

/// The number of a device's bus: no two have the same.
pub(crate) fn pci_bus(device: u32) -> u32 {
    device::number_of_all(device) + 1
}

/// Returns an attribute of a device.
///
/// # Errors
/// It has no row.
pub(crate) fn of_device(which: i32, device: u32) -> Answer<i32> {
    let row = ROWS.iter().find(|row| row.number == which);
    let row = row.ok_or(Status::INVALID_VALUE)?;
    Ok((row.value)(settings(), device) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attribute_has_one_row_and_what_has_none_is_refused() {
        for row in ROWS {
            let same = ROWS.iter().filter(|it| it.number == row.number);
            assert_eq!(same.count(), 1, "attribute {}", row.number);
        }
        assert_eq!(of_device(10, 0), Ok(32));
        assert_eq!(of_device(33, 0), Ok(1));
        for unknown in [0, -1, 145, 150, i32::MAX] {
            assert_eq!(of_device(unknown, 0), Err(Status::INVALID_VALUE));
        }
    }
}
