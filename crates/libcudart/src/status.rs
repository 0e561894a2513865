//! The runtime's errors. From 100 on, and for the first few, they have the numbers of the driver's.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

use crate::arguments::Out;
use crate::driver;

/// Why a call is refused: a `cudaError_t` that is not `cudaSuccess`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(u32);

/// The result of a call, or why there is none.
pub(crate) type Answer<T = ()> = Result<T, Error>;

impl Error {
    pub(crate) const INVALID_VALUE: Error = Error(1);
    pub(crate) const INVALID_CONFIGURATION: Error = Error(9);
    pub(crate) const INVALID_PITCH_VALUE: Error = Error(12);
    pub(crate) const INVALID_SYMBOL: Error = Error(13);
    pub(crate) const INVALID_CHANNEL_DESCRIPTOR: Error = Error(20);
    pub(crate) const INVALID_MEMCPY_DIRECTION: Error = Error(21);
    pub(crate) const INSUFFICIENT_DRIVER: Error = Error(35);
    pub(crate) const CALL_REQUIRES_NEWER_DRIVER: Error = Error(36);
    pub(crate) const MISSING_CONFIGURATION: Error = Error(52);
    pub(crate) const INVALID_DEVICE_FUNCTION: Error = Error(98);
    pub(crate) const NO_DEVICE: Error = Error(100);
    pub(crate) const INVALID_DEVICE: Error = Error(101);
    pub(crate) const INVALID_RESOURCE_HANDLE: Error = Error(400);
    pub(crate) const SYMBOL_NOT_FOUND: Error = Error(500);
    pub(crate) const NOT_SUPPORTED: Error = Error(801);
    pub(crate) const UNKNOWN: Error = Error(999);

    /// The `cudaError_t`.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// A driver's answer: a `CUresult`, whose number the runtime's error has, too.
pub(crate) fn answer(result: u32) -> Answer {
    match result {
        0 => Ok(()),
        error => Err(Error(error)),
    }
}

thread_local! {
    /// The last error of this thread, which nobody has asked for.
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Keeps an error for `cudaGetLastError`.
pub(crate) fn keep(error: Error) {
    LAST.set(error.0);
}

/// Names by number.
const NAMES: &[(u32, &CStr)] = &[
    (0, c"cudaSuccess"),
    (1, c"cudaErrorInvalidValue"),
    (2, c"cudaErrorMemoryAllocation"),
    (3, c"cudaErrorInitializationError"),
    (4, c"cudaErrorCudartUnloading"),
    (5, c"cudaErrorProfilerDisabled"),
    (6, c"cudaErrorProfilerNotInitialized"),
    (7, c"cudaErrorProfilerAlreadyStarted"),
    (8, c"cudaErrorProfilerAlreadyStopped"),
    (9, c"cudaErrorInvalidConfiguration"),
    (12, c"cudaErrorInvalidPitchValue"),
    (13, c"cudaErrorInvalidSymbol"),
    (16, c"cudaErrorInvalidHostPointer"),
    (17, c"cudaErrorInvalidDevicePointer"),
    (18, c"cudaErrorInvalidTexture"),
    (19, c"cudaErrorInvalidTextureBinding"),
    (20, c"cudaErrorInvalidChannelDescriptor"),
    (21, c"cudaErrorInvalidMemcpyDirection"),
    (22, c"cudaErrorAddressOfConstant"),
    (23, c"cudaErrorTextureFetchFailed"),
    (24, c"cudaErrorTextureNotBound"),
    (25, c"cudaErrorSynchronizationError"),
    (26, c"cudaErrorInvalidFilterSetting"),
    (27, c"cudaErrorInvalidNormSetting"),
    (28, c"cudaErrorMixedDeviceExecution"),
    (31, c"cudaErrorNotYetImplemented"),
    (32, c"cudaErrorMemoryValueTooLarge"),
    (34, c"cudaErrorStubLibrary"),
    (35, c"cudaErrorInsufficientDriver"),
    (36, c"cudaErrorCallRequiresNewerDriver"),
    (37, c"cudaErrorInvalidSurface"),
    (43, c"cudaErrorDuplicateVariableName"),
    (44, c"cudaErrorDuplicateTextureName"),
    (45, c"cudaErrorDuplicateSurfaceName"),
    (46, c"cudaErrorDevicesUnavailable"),
    (49, c"cudaErrorIncompatibleDriverContext"),
    (52, c"cudaErrorMissingConfiguration"),
    (53, c"cudaErrorPriorLaunchFailure"),
    (65, c"cudaErrorLaunchMaxDepthExceeded"),
    (66, c"cudaErrorLaunchFileScopedTex"),
    (67, c"cudaErrorLaunchFileScopedSurf"),
    (68, c"cudaErrorSyncDepthExceeded"),
    (69, c"cudaErrorLaunchPendingCountExceeded"),
    (98, c"cudaErrorInvalidDeviceFunction"),
    (100, c"cudaErrorNoDevice"),
    (101, c"cudaErrorInvalidDevice"),
    (102, c"cudaErrorDeviceNotLicensed"),
    (103, c"cudaErrorSoftwareValidityNotEstablished"),
    (127, c"cudaErrorStartupFailure"),
    (200, c"cudaErrorInvalidKernelImage"),
    (201, c"cudaErrorDeviceUninitialized"),
    (205, c"cudaErrorMapBufferObjectFailed"),
    (206, c"cudaErrorUnmapBufferObjectFailed"),
    (207, c"cudaErrorArrayIsMapped"),
    (208, c"cudaErrorAlreadyMapped"),
    (209, c"cudaErrorNoKernelImageForDevice"),
    (210, c"cudaErrorAlreadyAcquired"),
    (211, c"cudaErrorNotMapped"),
    (212, c"cudaErrorNotMappedAsArray"),
    (213, c"cudaErrorNotMappedAsPointer"),
    (214, c"cudaErrorECCUncorrectable"),
    (215, c"cudaErrorUnsupportedLimit"),
    (216, c"cudaErrorDeviceAlreadyInUse"),
    (217, c"cudaErrorPeerAccessUnsupported"),
    (218, c"cudaErrorInvalidPtx"),
    (219, c"cudaErrorInvalidGraphicsContext"),
    (220, c"cudaErrorNvlinkUncorrectable"),
    (221, c"cudaErrorJitCompilerNotFound"),
    (222, c"cudaErrorUnsupportedPtxVersion"),
    (223, c"cudaErrorJitCompilationDisabled"),
    (224, c"cudaErrorUnsupportedExecAffinity"),
    (225, c"cudaErrorUnsupportedDevSideSync"),
    (226, c"cudaErrorContained"),
    (300, c"cudaErrorInvalidSource"),
    (301, c"cudaErrorFileNotFound"),
    (302, c"cudaErrorSharedObjectSymbolNotFound"),
    (303, c"cudaErrorSharedObjectInitFailed"),
    (304, c"cudaErrorOperatingSystem"),
    (400, c"cudaErrorInvalidResourceHandle"),
    (401, c"cudaErrorIllegalState"),
    (402, c"cudaErrorLossyQuery"),
    (500, c"cudaErrorSymbolNotFound"),
    (600, c"cudaErrorNotReady"),
    (700, c"cudaErrorIllegalAddress"),
    (701, c"cudaErrorLaunchOutOfResources"),
    (702, c"cudaErrorLaunchTimeout"),
    (703, c"cudaErrorLaunchIncompatibleTexturing"),
    (704, c"cudaErrorPeerAccessAlreadyEnabled"),
    (705, c"cudaErrorPeerAccessNotEnabled"),
    (708, c"cudaErrorSetOnActiveProcess"),
    (709, c"cudaErrorContextIsDestroyed"),
    (710, c"cudaErrorAssert"),
    (711, c"cudaErrorTooManyPeers"),
    (712, c"cudaErrorHostMemoryAlreadyRegistered"),
    (713, c"cudaErrorHostMemoryNotRegistered"),
    (714, c"cudaErrorHardwareStackError"),
    (715, c"cudaErrorIllegalInstruction"),
    (716, c"cudaErrorMisalignedAddress"),
    (717, c"cudaErrorInvalidAddressSpace"),
    (718, c"cudaErrorInvalidPc"),
    (719, c"cudaErrorLaunchFailure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge"),
    (721, c"cudaErrorTensorMemoryLeak"),
    (800, c"cudaErrorNotPermitted"),
    (801, c"cudaErrorNotSupported"),
    (802, c"cudaErrorSystemNotReady"),
    (803, c"cudaErrorSystemDriverMismatch"),
    (804, c"cudaErrorCompatNotSupportedOnDevice"),
    (805, c"cudaErrorMpsConnectionFailed"),
    (806, c"cudaErrorMpsRpcFailure"),
    (807, c"cudaErrorMpsServerNotReady"),
    (808, c"cudaErrorMpsMaxClientsReached"),
    (809, c"cudaErrorMpsMaxConnectionsReached"),
    (810, c"cudaErrorMpsClientTerminated"),
    (811, c"cudaErrorCdpNotSupported"),
    (812, c"cudaErrorCdpVersionMismatch"),
    (900, c"cudaErrorStreamCaptureUnsupported"),
    (901, c"cudaErrorStreamCaptureInvalidated"),
    (902, c"cudaErrorStreamCaptureMerge"),
    (903, c"cudaErrorStreamCaptureUnmatched"),
    (904, c"cudaErrorStreamCaptureUnjoined"),
    (905, c"cudaErrorStreamCaptureIsolation"),
    (906, c"cudaErrorStreamCaptureImplicit"),
    (907, c"cudaErrorCapturedEvent"),
    (908, c"cudaErrorStreamCaptureWrongThread"),
    (909, c"cudaErrorTimeout"),
    (910, c"cudaErrorGraphExecUpdateFailure"),
    (911, c"cudaErrorExternalDevice"),
    (912, c"cudaErrorInvalidClusterSize"),
    (913, c"cudaErrorFunctionNotLoaded"),
    (914, c"cudaErrorInvalidResourceType"),
    (915, c"cudaErrorInvalidResourceConfiguration"),
    (999, c"cudaErrorUnknown"),
];

/// Texts of errors that only the runtime has; the driver has those of the others.
const TEXTS: &[(u32, &CStr)] = &[
    (1, c"invalid argument"),
    (9, c"invalid configuration argument"),
    (13, c"invalid device symbol"),
    (20, c"invalid channel descriptor"),
    (21, c"invalid copy direction for memcpy"),
    (35, c"no driver was found, or it is older than the runtime"),
    (52, c"a launch without its configuration"),
    (98, c"invalid device function"),
    (100, c"no CUDA-capable device is detected"),
    (101, c"invalid device ordinal"),
];

fn of(rows: &'static [(u32, &'static CStr)], number: u32) -> Option<&'static CStr> {
    let at = rows.binary_search_by_key(&number, |row| row.0).ok()?;
    Some(rows[at].1)
}

plain_rows! {
    plain: cudaGetLastError, cudaPeekAtLastError, cudaGetErrorName, cudaGetErrorString,
}

/// Functions that return no error of their own, and keep none.
#[allow(non_snake_case, reason = "the runtime's interface")]
mod plain {
    use super::*;

    /// Returns this thread's last error, and forgets it.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn cudaGetLastError() -> u32 {
        LAST.replace(0)
    }

    /// Returns this thread's last error.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn cudaPeekAtLastError() -> u32 {
        LAST.get()
    }

    /// Returns an error's name, which ends with NUL.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn cudaGetErrorName(error: u32) -> *const c_char {
        of(NAMES, error)
            .unwrap_or(c"unrecognized error code")
            .as_ptr()
    }

    /// Returns an error's text for people, which ends with NUL.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn cudaGetErrorString(error: u32) -> *const c_char {
        if let Some(text) = of(TEXTS, error) {
            return text.as_ptr();
        }
        let mut text = std::ptr::null();
        match driver::cuGetErrorString(error, Out::of(&mut text)) {
            Ok(()) if !text.is_null() => text,
            _ => of(NAMES, error)
                .unwrap_or(c"unrecognized error code")
                .as_ptr(),
        }
    }
}
