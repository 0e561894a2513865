//! A device's description by the driver as the model's.

use crate::driver::DeviceProperties;
use crate::model::{BytesPerSec, Gpu, Precision, Roofs};

impl Gpu {
    /// The GPU that a device is. `None` of the emulator, whose roofs are measured.
    pub fn of(device: &DeviceProperties) -> Option<Gpu> {
        const TRANSFERS_PER_CLOCK: f64 = 2.0;
        const BITS_PER_BYTE: f64 = 8.0;

        let gpu = device.gpu.as_ref()?;
        Some(Gpu {
            name: device.name.clone(),
            capability: device.capability(),
            multiprocessors: device.multiprocessors,
            clock_hz: gpu.clock_hz,
            memory: BytesPerSec(
                gpu.memory_clock_hz * TRANSFERS_PER_CLOCK * f64::from(gpu.memory_bus_bits)
                    / BITS_PER_BYTE,
            ),
        })
    }
}

impl Roofs {
    /// The roofs of a device that is a GPU, as [`Roofs::of`].
    pub fn of_device(device: &DeviceProperties, precision: Precision) -> Option<Roofs> {
        Roofs::of(&Gpu::of(device)?, precision)
    }
}

/// An H200, for tests without one.
#[cfg(test)]
pub(crate) fn h200() -> DeviceProperties {
    use crate::driver::{ComputeCapability, GpuProperties, Limits};

    DeviceProperties {
        name: "NVIDIA H200".to_owned(),
        compute_capability: (9, 0),
        multiprocessors: 132,
        memory_bytes: 150_000_000_000,
        limits: Limits::of(ComputeCapability::new(9, 0)).expect("known"),
        gpu: Some(GpuProperties {
            ordinal: 0,
            cuda_version: (13, 0),
            clock_hz: 1.98e9,
            memory_clock_hz: 3.201e9,
            memory_bus_bits: 6016,
            l2_bytes: 60 << 20,
            pci_bus_id: String::new(),
        }),
    }
}
