//! The structures that the functions take, member by member as in `cupti_target.h`,
//! `cupti_profiler_target.h`, `cupti_profiler_host.h` and `cupti_range_profiler.h` of CUDA 12.6 to 13.0.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

/// The functions that are used.
pub(super) const SYMBOLS: [&str; 20] = [
    "cuptiProfilerInitialize",
    "cuptiProfilerGetCounterAvailability",
    "cuptiDeviceGetChipName",
    "cuptiProfilerHostInitialize",
    "cuptiProfilerHostDeinitialize",
    "cuptiProfilerHostConfigAddMetrics",
    "cuptiProfilerHostGetConfigImageSize",
    "cuptiProfilerHostGetConfigImage",
    "cuptiProfilerHostGetNumOfPasses",
    "cuptiProfilerHostEvaluateToGpuValues",
    "cuptiRangeProfilerEnable",
    "cuptiRangeProfilerDisable",
    "cuptiRangeProfilerGetCounterDataSize",
    "cuptiRangeProfilerCounterDataImageInitialize",
    "cuptiRangeProfilerSetConfig",
    "cuptiRangeProfilerStart",
    "cuptiRangeProfilerStop",
    "cuptiRangeProfilerPushRange",
    "cuptiRangeProfilerPopRange",
    "cuptiRangeProfilerDecodeData",
];

/// A structure that a function of CUPTI takes.
pub(super) trait Parameters {}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(super) struct $name {
            /// Bytes up to the end of the last member, without padding: CUPTI tells versions apart by it.
            pub(super) size: usize,
            pub(super) reserved: *mut c_void,
            $(pub(super) $field: $type,)*
        }

        impl Parameters for $name {}

        impl $name {
            const BYTES: usize = {
                let ends = [
                    offset_of!($name, reserved) + size_of::<*mut c_void>(),
                    $(offset_of!($name, $field) + size_of::<$type>(),)*
                ];
                ends[ends.len() - 1]
            };

            pub(super) fn new() -> $name {
                // SAFETY: all members are numbers and pointers.
                let empty: $name = unsafe { super::empty() };
                $name { size: $name::BYTES, ..empty }
            }
        }
    )*};
}

parameters! {
    Initialize {}
    /// `CUpti_Profiler_GetCounterAvailability_Params`
    Availability {
        context: *mut c_void,
        bytes: usize,
        image: *mut u8,
    }
    /// `CUpti_Device_GetChipName_Params`
    ChipName {
        device: usize,
        name: *const c_char,
    }
    /// `CUpti_Profiler_Host_Initialize_Params`
    HostInitialize {
        kind: u32,
        chip: *const c_char,
        available: *const u8,
        host: *mut c_void,
    }
    /// `CUpti_Profiler_Host_ConfigAddMetrics_Params`
    AddMetrics {
        host: *mut c_void,
        names: *const *const c_char,
        count: usize,
    }
    /// `CUpti_Profiler_Host_GetConfigImageSize_Params`
    ConfigSize {
        host: *mut c_void,
        bytes: usize,
    }
    /// `CUpti_Profiler_Host_GetConfigImage_Params`
    Config {
        host: *mut c_void,
        bytes: usize,
        image: *mut u8,
    }
    /// `CUpti_Profiler_Host_GetNumOfPasses_Params`
    Passes {
        bytes: usize,
        image: *const u8,
        passes: usize,
    }
    /// `CUpti_Profiler_Host_EvaluateToGpuValues_Params`
    Evaluate {
        host: *mut c_void,
        data: *const u8,
        bytes: usize,
        range: usize,
        names: *const *const c_char,
        count: usize,
        values: *mut f64,
    }
    /// `CUpti_RangeProfiler_Enable_Params`
    Enable {
        context: *mut c_void,
        profiler: *mut c_void,
    }
    /// The structures with one member, of `Disable`, `Start`, `PopRange` and the host's `Deinitialize`.
    OfProfiler {
        profiler: *mut c_void,
    }
    /// `CUpti_RangeProfiler_GetCounterDataSize_Params`
    DataSize {
        profiler: *mut c_void,
        names: *const *const c_char,
        count: usize,
        ranges: usize,
        nodes: u32,
        bytes: usize,
    }
    /// `CUpti_RangeProfiler_CounterDataImage_Initialize_Params`
    DataInitialize {
        profiler: *mut c_void,
        bytes: usize,
        data: *mut u8,
    }
    /// `CUpti_RangeProfiler_SetConfig_Params`
    SetConfig {
        profiler: *mut c_void,
        config_bytes: usize,
        config: *const u8,
        data_bytes: usize,
        data: *mut u8,
        range: u32,
        replay: u32,
        ranges: usize,
        levels: u16,
        least_level: u16,
        pass: usize,
        target_level: u16,
    }
    /// `CUpti_RangeProfiler_PushRange_Params`
    PushRange {
        profiler: *mut c_void,
        name: *const c_char,
    }
    /// `CUpti_RangeProfiler_Stop_Params`
    Stop {
        profiler: *mut c_void,
        pass: usize,
        target_level: usize,
        is_last: u8,
    }
    /// `CUpti_RangeProfiler_DecodeData_Params`
    Decode {
        profiler: *mut c_void,
        dropped: usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_headers() {
        // Printed by a C++ program that includes the headers of CUDA 13.0.
        let sizes = [
            (Initialize::BYTES, 16),
            (Availability::BYTES, 40),
            (ChipName::BYTES, 32),
            (HostInitialize::BYTES, 48),
            (AddMetrics::BYTES, 40),
            (ConfigSize::BYTES, 32),
            (Config::BYTES, 40),
            (Passes::BYTES, 40),
            (Evaluate::BYTES, 72),
            (Enable::BYTES, 32),
            (OfProfiler::BYTES, 24),
            (DataSize::BYTES, 64),
            (DataInitialize::BYTES, 40),
            (SetConfig::BYTES, 90),
            (PushRange::BYTES, 32),
            (Stop::BYTES, 41),
            (Decode::BYTES, 32),
        ];
        for (actual, expected) in sizes {
            assert_eq!(actual, expected);
        }
    }
}
