//! A GPU's clock, power and temperature as NVIDIA's management library says, where it is installed.

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use serde::Serialize;

use crate::driver::DeviceProperties;

/// The management library's values at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conditions {
    /// Clock of the multiprocessors.
    pub clock_mhz: Option<u32>,
    /// Power draw.
    pub power_watts: Option<f64>,
    /// Temperature of the chip, degrees Celsius.
    pub temperature: Option<u32>,
    /// Reasons that hold the clock down. Empty where nothing does or it is not known.
    pub throttled_by: Vec<String>,
    /// Processes that have the GPU open, this one among them. `None` where they are not known: some
    /// containers hide all of them.
    pub processes: Option<usize>,
}

/// Asks for a GPU's [`Conditions`].
pub struct Monitor {
    library: Option<Nvml>,
    pci_bus_id: String,
}

impl Monitor {
    /// A monitor of a device. Without the library, and for the emulator, nothing will be known.
    pub fn new(facts: &DeviceProperties) -> Monitor {
        let gpu = facts.gpu.as_ref();
        Monitor {
            library: gpu.and_then(|_| Nvml::init().ok()),
            pci_bus_id: gpu.map_or_else(String::new, |gpu| gpu.pci_bus_id.clone()),
        }
    }

    /// The conditions now; what cannot be read is `None`.
    pub fn now(&self) -> Conditions {
        self.read().unwrap_or_default()
    }

    fn read(&self) -> Result<Conditions, NvmlError> {
        const MILLIWATTS: f64 = 1e3;

        let Some(library) = &self.library else {
            return Ok(Conditions::default());
        };
        let device = library.device_by_pci_bus_id(self.pci_bus_id.as_str())?;
        let reasons = device.current_throttle_reasons();
        let processes = device.running_compute_processes().map(|each| each.len());
        Ok(Conditions {
            clock_mhz: device.clock_info(Clock::SM).ok(),
            power_watts: device
                .power_usage()
                .ok()
                .map(|value| f64::from(value) / MILLIWATTS),
            temperature: device.temperature(TemperatureSensor::Gpu).ok(),
            throttled_by: reasons.map_or_else(|_| Vec::new(), names),
            processes: processes.ok().filter(|&count| count > 0),
        })
    }
}

/// The reasons that slow a busy GPU down: idling, and clocks that somebody has set, do not.
fn names(reasons: ThrottleReasons) -> Vec<String> {
    let harmless = ThrottleReasons::GPU_IDLE
        | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING
        | ThrottleReasons::NONE;
    let left = reasons - harmless;
    left.iter_names()
        .map(|(name, _)| name.to_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Device;

    #[test]
    fn of_the_emulator_nothing_is_known() {
        let device = Device::emulator(Default::default());
        assert_eq!(
            Monitor::new(device.properties()).now(),
            Conditions::default()
        );
    }

    #[test]
    fn idling_is_no_reason() {
        let reasons = ThrottleReasons::GPU_IDLE | ThrottleReasons::SW_POWER_CAP;
        assert_eq!(names(reasons), ["sw_power_cap"]);
    }
}
