//! Streams.

use std::ffi::c_int;

use crate::arguments::Out;
use crate::device::context;
use crate::driver::{self, Handle};
use crate::launch::waited;

runtime! {
    fn cudaStreamCreate(to: Out<Handle>) { context()?; driver::cuStreamCreate(to, 0) }
    fn cudaStreamCreateWithFlags(to: Out<Handle>, flags: u32) [cuStreamCreate]
    fn cudaStreamCreateWithPriority(to: Out<Handle>, flags: u32, priority: c_int) [cuStreamCreateWithPriority]
    fn cudaStreamDestroy(stream: Handle) [cuStreamDestroy_v2]
    fn cudaStreamQuery | cudaStreamQuery_ptsz(stream: Handle) [cuStreamQuery]
    fn cudaStreamSynchronize | cudaStreamSynchronize_ptsz(stream: Handle) {
        context()?;
        waited(driver::cuStreamSynchronize(stream))
    }
    fn cudaStreamWaitEvent | cudaStreamWaitEvent_ptsz(stream: Handle, event: Handle, flags: u32) [cuStreamWaitEvent]
    fn cudaStreamAddCallback | cudaStreamAddCallback_ptsz(stream: Handle, function: usize, argument: usize, flags: u32)
        [cuStreamAddCallback]
    fn cudaStreamGetFlags | cudaStreamGetFlags_ptsz(stream: Handle, to: Out<u32>) [cuStreamGetFlags]
    fn cudaStreamGetPriority | cudaStreamGetPriority_ptsz(stream: Handle, to: Out<c_int>) [cuStreamGetPriority]
    fn cudaStreamGetId | cudaStreamGetId_ptsz(stream: Handle, to: Out<u64>) [cuStreamGetId]
    fn cudaStreamGetDevice | cudaStreamGetDevice_ptsz(stream: Handle, to: Out<c_int>) [cuStreamGetDevice]
    fn cudaStreamAttachMemAsync | cudaStreamAttachMemAsync_ptsz(stream: Handle, address: u64, bytes: usize, flags: u32)
        [cuStreamAttachMemAsync]
    fn cudaStreamBeginCapture | cudaStreamBeginCapture_ptsz(stream: Handle, mode: u32) [cuStreamBeginCapture_v2]
    fn cudaStreamEndCapture | cudaStreamEndCapture_ptsz(stream: Handle, to: Out<Handle>) [cuStreamEndCapture]
    fn cudaStreamIsCapturing | cudaStreamIsCapturing_ptsz(stream: Handle, to: Out<u32>) [cuStreamIsCapturing]
    fn cudaThreadExchangeStreamCaptureMode(mode: Out<u32>) [cuThreadExchangeStreamCaptureMode]
}
