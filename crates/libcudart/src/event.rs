//! Events.

use crate::arguments::Out;
use crate::device::context;
use crate::driver::{self, Handle};
use crate::launch::waited;

runtime! {
    fn cudaEventCreate(to: Out<Handle>) { context()?; driver::cuEventCreate(to, 0) }
    fn cudaEventCreateWithFlags(to: Out<Handle>, flags: u32) [cuEventCreate]
    fn cudaEventDestroy(event: Handle) [cuEventDestroy_v2]
    fn cudaEventQuery(event: Handle) [cuEventQuery]
    fn cudaEventSynchronize(event: Handle) { context()?; waited(driver::cuEventSynchronize(event)) }
    fn cudaEventRecord | cudaEventRecord_ptsz(event: Handle, stream: Handle) [cuEventRecord]
    fn cudaEventRecordWithFlags | cudaEventRecordWithFlags_ptsz(event: Handle, stream: Handle, flags: u32)
        [cuEventRecordWithFlags]
    fn cudaEventElapsedTime(to: Out<f32>, start: Handle, end: Handle) [cuEventElapsedTime]
    fn cudaEventElapsedTime_v2(to: Out<f32>, start: Handle, end: Handle) [cuEventElapsedTime]
}
