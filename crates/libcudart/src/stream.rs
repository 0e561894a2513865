//! Streams.

use std::ffi::c_int;

use crate::arguments::{In, Out};
use crate::device::context;
use crate::driver::{self, Handle};
use crate::inside;
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
    fn cudaStreamBeginCaptureToGraph | cudaStreamBeginCaptureToGraph_ptsz(
        stream: Handle, graph: Handle, after: In<Handle>, edges: In<u64>, count: usize, mode: u32,
    )
        [cuStreamBeginCaptureToGraph]
    // Before CUDA 13 this was the first of three versions, which asks for less.
    fn cudaStreamGetCaptureInfo | cudaStreamGetCaptureInfo_ptsz(
        stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<usize>, edges: Out<usize>,
        count: Out<usize>,
    ) {
        context()?;
        match inside::major() {
            13.. => driver::cuStreamGetCaptureInfo_v3(stream, status, number, graph, after, edges, count),
            _ => driver::cuStreamGetCaptureInfo(stream, status, number),
        }
    }
    fn cudaStreamGetCaptureInfo_v2 | cudaStreamGetCaptureInfo_v2_ptsz(
        stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<usize>, count: Out<usize>,
    )
        [cuStreamGetCaptureInfo_v2]
    fn cudaStreamGetCaptureInfo_v3 | cudaStreamGetCaptureInfo_v3_ptsz(
        stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<usize>, edges: Out<usize>,
        count: Out<usize>,
    )
        [cuStreamGetCaptureInfo_v3]
    // Before CUDA 13 without edges.
    fn cudaStreamUpdateCaptureDependencies | cudaStreamUpdateCaptureDependencies_ptsz(
        stream: Handle, after: In<Handle>, third: usize, fourth: usize, fifth: u32,
    ) {
        context()?;
        match inside::major() {
            13.. => driver::cuStreamUpdateCaptureDependencies_v2(stream, after, In::at(third), fourth, fifth),
            _ => driver::cuStreamUpdateCaptureDependencies(stream, after, third, fourth as u32),
        }
    }
    fn cudaStreamUpdateCaptureDependencies_v2 | cudaStreamUpdateCaptureDependencies_v2_ptsz(
        stream: Handle, after: In<Handle>, edges: In<u64>, count: usize, flags: u32,
    )
        [cuStreamUpdateCaptureDependencies_v2]
    fn cudaThreadExchangeStreamCaptureMode(mode: Out<u32>) [cuThreadExchangeStreamCaptureMode]
}
