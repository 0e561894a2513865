//! NVIDIA's functions that are not here: graphics, memory of other processes, images of several levels, and what is seldom used.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::api::say;
use crate::status::{Answer, Error};

/// Says once that something is not emulated.
fn say_once(what: &'static str) {
    static SAID: LazyLock<Mutex<HashSet<&str>>> = LazyLock::new(Mutex::default);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(what) {
        say(&format!(
            "{what} is not emulated; it answers cudaErrorNotSupported"
        ));
    }
}

/// Refuses what is not emulated.
pub(crate) fn refuse(name: &'static str) -> Answer {
    say_once(name);
    Err(Error::NOT_SUPPORTED)
}

macro_rules! absent {
    ($($name:ident,)*) => {
        runtime! { $(fn $name() { refuse(stringify!($name)) })* }
    };
}

absent! {
    __cudaRegisterSurface, __cudaRegisterTexture, __cudaRegisterUnifiedTable, cudaArrayGetMemoryRequirements, cudaArrayGetPlane,
    cudaArrayGetSparseProperties, cudaBindSurfaceToArray, cudaBindTexture, cudaBindTexture2D, cudaBindTextureToArray,
    cudaBindTextureToMipmappedArray, cudaDestroyExternalMemory, cudaDestroyExternalSemaphore,
    cudaDeviceFlushGPUDirectRDMAWrites, cudaDeviceGetHostAtomicCapabilities, cudaDeviceGetNvSciSyncAttributes,
    cudaDeviceGetP2PAtomicCapabilities, cudaDeviceGetTexture1DLinearMaxWidth, cudaDeviceRegisterAsyncNotification,
    cudaDeviceUnregisterAsyncNotification, cudaEGLStreamConsumerAcquireFrame, cudaEGLStreamConsumerConnect,
    cudaEGLStreamConsumerConnectWithFlags, cudaEGLStreamConsumerDisconnect, cudaEGLStreamConsumerReleaseFrame,
    cudaEGLStreamProducerConnect, cudaEGLStreamProducerDisconnect, cudaEGLStreamProducerPresentFrame,
    cudaEGLStreamProducerReturnFrame, cudaEventCreateFromEGLSync, cudaExternalMemoryGetMappedBuffer,
    cudaExternalMemoryGetMappedMipmappedArray, cudaFreeMipmappedArray, cudaGLGetDevices, cudaGLMapBufferObject,
    cudaGLMapBufferObjectAsync, cudaGLRegisterBufferObject, cudaGLSetBufferObjectMapFlags, cudaGLSetGLDevice,
    cudaGLUnmapBufferObject, cudaGLUnmapBufferObjectAsync, cudaGLUnregisterBufferObject, cudaGetExportTable,
    cudaGetMipmappedArrayLevel, cudaGetSurfaceObjectResourceDesc, cudaGetSurfaceReference, cudaGetTextureAlignmentOffset,
    cudaGetTextureObjectResourceDesc, cudaGetTextureObjectResourceViewDesc, cudaGetTextureObjectTextureDesc,
    cudaGetTextureObjectTextureDesc_v2, cudaGetTextureReference, cudaGraphAddExternalSemaphoresSignalNode,
    cudaGraphAddExternalSemaphoresWaitNode, cudaGraphExecExternalSemaphoresSignalNodeSetParams,
    cudaGraphExecExternalSemaphoresWaitNodeSetParams, cudaGraphExternalSemaphoresSignalNodeGetParams,
    cudaGraphExternalSemaphoresSignalNodeSetParams, cudaGraphExternalSemaphoresWaitNodeGetParams,
    cudaGraphExternalSemaphoresWaitNodeSetParams, cudaGraphicsEGLRegisterImage, cudaGraphicsGLRegisterBuffer,
    cudaGraphicsGLRegisterImage, cudaGraphicsMapResources, cudaGraphicsResourceGetMappedEglFrame,
    cudaGraphicsResourceGetMappedMipmappedArray, cudaGraphicsResourceGetMappedPointer, cudaGraphicsResourceSetMapFlags,
    cudaGraphicsSubResourceGetMappedArray, cudaGraphicsUnmapResources, cudaGraphicsUnregisterResource,
    cudaGraphicsVDPAURegisterOutputSurface, cudaGraphicsVDPAURegisterVideoSurface, cudaImportExternalMemory,
    cudaImportExternalSemaphore, cudaIpcCloseMemHandle, cudaIpcGetEventHandle, cudaIpcGetMemHandle, cudaIpcOpenEventHandle,
    cudaIpcOpenMemHandle, cudaKernelSetAttributeForDevice, cudaLaunchCooperativeKernelMultiDevice, cudaLibraryGetManaged,
    cudaLibraryGetUnifiedFunction, cudaLogsCurrent, cudaLogsDumpToFile, cudaLogsDumpToMemory, cudaLogsRegisterCallback,
    cudaLogsUnregisterCallback, cudaMallocMipmappedArray, cudaMemDiscardAndPrefetchBatchAsync,
    cudaMemDiscardAndPrefetchBatchAsync_ptsz, cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz, cudaMemGetDefaultMemPool,
    cudaMemGetMemPool, cudaMemPoolExportPointer, cudaMemPoolExportToShareableHandle, cudaMemPoolGetAccess,
    cudaMemPoolImportFromShareableHandle, cudaMemPoolImportPointer, cudaMemPoolSetAccess, cudaMemPrefetchBatchAsync,
    cudaMemPrefetchBatchAsync_ptsz, cudaMemRangeGetAttribute, cudaMemRangeGetAttributes, cudaMemSetMemPool,
    cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds, cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz,
    cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeer_ptds, cudaMemcpyArrayToArray,
    cudaMemcpyArrayToArray_ptds, cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz, cudaMipmappedArrayGetMemoryRequirements,
    cudaMipmappedArrayGetSparseProperties, cudaProfilerInitialize, cudaSetDoubleForDevice, cudaSetDoubleForHost,
    cudaSignalExternalSemaphoresAsync, cudaSignalExternalSemaphoresAsync_ptsz, cudaSignalExternalSemaphoresAsync_v2,
    cudaSignalExternalSemaphoresAsync_v2_ptsz, cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz, cudaStreamGetAttribute,
    cudaStreamGetAttribute_ptsz, cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz, cudaUnbindTexture, cudaVDPAUGetDevice,
    cudaVDPAUSetVDPAUDevice, cudaWaitExternalSemaphoresAsync, cudaWaitExternalSemaphoresAsync_ptsz,
    cudaWaitExternalSemaphoresAsync_v2, cudaWaitExternalSemaphoresAsync_v2_ptsz,
}
