//! How much is moved, and how often.

use kernels_gpu::ceilings::stream::Vector;

use super::LinkError;
use crate::driver::Device;

/// How much is moved, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPlan {
    /// Bytes of each transfer: whole vectors of 16.
    pub bytes: u64,
    /// Timings of each loop; the median counts. One more comes before them.
    pub rounds: u32,
    /// Transfers of a loop between devices. Those with the host are one: each owns the host's memory.
    pub transfers: u32,
    /// Loads of a chase, each of which needs the one before.
    pub loads: u32,
    /// Additions of each thread.
    pub additions: u32,
}

impl LinkPlan {
    /// nvbandwidth's 512 MiB and 16 copies on a GPU, some seconds for two of them; as little as is still a loop on the emulator.
    pub fn of(device: &Device) -> LinkPlan {
        match device.properties().is_emulated() {
            true => LinkPlan {
                bytes: 1 << 16,
                rounds: 2,
                transfers: 2,
                loads: 500,
                additions: 2,
            },
            false => LinkPlan {
                bytes: 512 << 20,
                rounds: 5,
                transfers: 16,
                loads: 20_000,
                additions: 256,
            },
        }
    }

    /// Vectors of a transfer.
    pub(super) fn vectors(&self) -> usize {
        (self.bytes / size_of::<Vector>() as u64) as usize
    }

    /// Refuses a plan that has nothing to time.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        let vector = size_of::<Vector>() as u64;
        if self.bytes == 0 || !self.bytes.is_multiple_of(vector) {
            return Err(LinkError::Amount {
                what: "bytes of a transfer",
                actual: self.bytes,
                expected: "a multiple of 16",
            });
        }
        let counts = [
            ("timings", self.rounds),
            ("transfers of a loop", self.transfers),
            ("loads", self.loads),
            ("additions per thread", self.additions),
        ];
        match counts.into_iter().find(|(_, count)| *count == 0) {
            None => Ok(()),
            Some((what, _)) => Err(LinkError::Amount {
                what,
                actual: 0,
                expected: "at least 1",
            }),
        }
    }
}
