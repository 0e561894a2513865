//! A host and a device that make recordings: programs run on it, so that what a change saves is known.

use recording::{Memory, Recording, Synchronized};

use super::script::Script;

/// Microseconds of a launch's call, of the way to the device, and of the return from a wait.
const CALL: u64 = 5;
const LATENCY: u64 = 8;
const RETURN: u64 = 4;

/// A device with one kernel and one copy of each direction at a time, and a host with one thread.
pub(super) struct Machine {
    script: Script,
    now: u64,
    /// When each stream is free.
    streams: [u64; 8],
    kernels: u64,
    copies: [u64; 2],
}

impl Machine {
    pub(super) fn new() -> Machine {
        Machine {
            script: Script::new(),
            now: 0,
            streams: [0; 8],
            kernels: 0,
            copies: [0; 2],
        }
    }

    /// Time of the host's own.
    pub(super) fn works(&mut self, time: u64) {
        self.now += time;
    }

    pub(super) fn launches(&mut self, line: u32, stream: u32, took: u64) {
        let call = self
            .script
            .call("cudaLaunchKernel", line, (self.now, self.now + CALL));
        let of = &mut self.streams[stream as usize];
        let start = (self.now + LATENCY).max(*of + 1).max(self.kernels + 1);
        (*of, self.kernels) = (start + took, start + took);
        self.script
            .kernel("step", (stream, call), (start, start + took));
        self.now += CALL;
    }

    /// A copy; of pageable memory the host waits for it.
    pub(super) fn copies(
        &mut self,
        line: u32,
        stream: u32,
        (from, to, bytes): (Memory, Memory, u64),
    ) {
        let is_pinned = from == Memory::Pinned || to == Memory::Pinned;
        // Bytes per microsecond.
        let took = 1 + bytes / if is_pinned { 55_000 } else { 11_000 };
        let engine = &mut self.copies[usize::from(to != Memory::Device)];
        let of = &mut self.streams[stream as usize];
        let start = (self.now + LATENCY).max(*of + 1).max(*engine + 1);
        (*of, *engine) = (start + took, start + took);
        let end = match is_pinned {
            true => self.now + CALL,
            false => start + took + RETURN,
        };
        let call = self.script.call("cudaMemcpyAsync", line, (self.now, end));
        self.script
            .copy((from, to, bytes), (stream, call), (start, start + took));
        self.now = end;
    }

    /// Waits for a time of the device.
    pub(super) fn waits_until(&mut self, line: u32, stream: u32, time: u64) {
        let end = self.now.max(time) + RETURN;
        let call = self
            .script
            .call("cudaStreamSynchronize", line, (self.now, end));
        self.script
            .synchronization(Synchronized::Stream(stream), call);
        self.now = end;
    }

    /// When a stream will be free.
    pub(super) fn free(&self, stream: u32) -> u64 {
        self.streams[stream as usize]
    }

    /// Waits for all work.
    pub(super) fn waits(&mut self, line: u32) {
        let last = self.streams.iter().max().copied().unwrap_or_default();
        let end = self.now.max(last) + RETURN;
        let call = self
            .script
            .call("cudaDeviceSynchronize", line, (self.now, end));
        self.script.synchronization(Synchronized::Context, call);
        self.now = end;
    }

    /// The recording, and the microseconds that it lasted.
    pub(super) fn ends(self) -> (Recording, u64) {
        (self.script.end(self.now), self.now)
    }
}
