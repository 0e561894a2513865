//! The driver calls of a piece of work, counted where every call passes.

use std::time::Duration;

use cuda_loader::Call;

/// The driver's calls that one thread made. The emulator's operations count under the names of the
/// calls that they stand in for.
///
/// ```
/// use ridgepoint_driver::{Calls, Device, DeviceChoice};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let (buffer, calls) = Calls::during(|| device.buffer_from(&[1, 2, 3]));
/// assert_eq!(buffer?.to_vec()?, [1, 2, 3]);
/// assert_eq!((calls.launches(), calls.copies(), calls.waits()), (0, 1, 1));
/// let [copy] = calls.all() else { panic!("{calls:?}") };
/// assert_eq!((copy.function, copy.took), ("cuMemcpyHtoD_v2", calls.time()));
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    calls: Vec<Call>,
}

impl Calls {
    /// Runs `work`, and counts and times the driver's calls that this thread makes meanwhile.
    pub fn during<R>(work: impl FnOnce() -> R) -> (R, Calls) {
        let (result, calls) = cuda_loader::record(work);
        (result, Calls { calls })
    }

    /// Every call, in order.
    pub fn all(&self) -> &[Call] {
        &self.calls
    }

    /// Launches of kernels and of graphs.
    pub fn launches(&self) -> usize {
        self.count(|function| function.starts_with("cuLaunch") || function == "cuGraphLaunch")
    }

    /// Copies, in either direction.
    pub fn copies(&self) -> usize {
        self.count(|function| function.starts_with("cuMemcpy"))
    }

    /// Calls in which the host waits for the device: synchronisations, and copies that are not
    /// asynchronous.
    pub fn waits(&self) -> usize {
        self.count(|function| {
            function.ends_with("Synchronize")
                || (function.starts_with("cuMemcpy") && !function.contains("Async"))
        })
    }

    /// Time in all calls.
    pub fn time(&self) -> Duration {
        self.calls.iter().map(|call| call.took).sum()
    }

    fn count(&self, is_one: impl Fn(&str) -> bool) -> usize {
        self.calls
            .iter()
            .filter(|call| is_one(call.function))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_what_they_ask_for() {
        let ((), calls) = Calls::during(|| {
            for function in [
                "cuLaunchKernel",
                "cuLaunchCooperativeKernel",
                "cuGraphLaunch",
                "cuMemcpyDtoHAsync_v2",
                "cuMemcpyDtoH_v2",
                "cuEventRecord",
                "cuEventSynchronize",
                "cuStreamWaitEvent",
            ] {
                cuda_loader::pass(function, || ());
            }
        });
        assert_eq!(calls.all().len(), 8);
        assert_eq!((calls.launches(), calls.copies(), calls.waits()), (3, 2, 2));
    }
}
