//! Which device to use.

use std::fmt;
use std::str::FromStr;

use occupancy::{ComputeCapability, Multiprocessor};

/// A device as the command line names it: `auto`, `cuda`, `cuda:1`, `cpu`, `cpu:1` or `cpu:sm_80`.
///
/// ```
/// use ridgepoint_driver::{ComputeCapability, DeviceChoice};
///
/// assert_eq!("cuda:1".parse(), Ok(DeviceChoice::Cuda(1)));
/// let ada = ComputeCapability::new(8, 9);
/// assert_eq!(DeviceChoice::CpuAs(ada).to_string(), "cpu:sm_89");
/// // Emulated devices, each with memory of its own.
/// assert_eq!("cpu:0".parse(), Ok(DeviceChoice::Cpu));
/// assert_eq!("cpu:3".parse(), Ok(DeviceChoice::CpuNumber(3)));
/// assert!(format!("cpu:{}", DeviceChoice::EMULATORS).parse::<DeviceChoice>().is_err());
/// // What `cpu` is.
/// assert_eq!(DeviceChoice::EMULATED, ComputeCapability::new(9, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU, or the emulator where there is none.
    Auto,
    /// The GPU with this number.
    Cuda(u32),
    /// The CPU emulator, with the limits of [`DeviceChoice::EMULATED`]: emulated device 0.
    Cpu,
    /// The emulated device with this number, less than [`DeviceChoice::EMULATORS`]: another device than those of
    /// other numbers, with the limits of [`DeviceChoice::EMULATED`].
    CpuNumber(u32),
    /// The CPU emulator, with the limits of this compute capability: emulated device 0.
    CpuAs(ComputeCapability),
}

impl DeviceChoice {
    /// The compute capability that the emulator has where none is named: that of an H100 and an H200.
    pub const EMULATED: ComputeCapability = ComputeCapability::new(9, 0);

    /// How many emulated devices there are: their numbers are less.
    pub const EMULATORS: u32 = engine::memory::DEVICES;
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "{text:?} is not a device: expected one of auto, cuda, cuda:N, cpu, cpu:N, cpu:sm_NN"
            )
        };
        if let Some(number) = text.strip_prefix("cpu:sm_") {
            let number = number.parse().map_err(|_| unknown())?;
            let capability = ComputeCapability::from_arch(number);
            let known = Multiprocessor::of(capability);
            return match known {
                Ok(_) => Ok(DeviceChoice::CpuAs(capability)),
                Err(error) => Err(format!("{text:?}: {error}")),
            };
        }
        if let Some(number) = text.strip_prefix("cpu:") {
            return match number.parse().map_err(|_| unknown())? {
                0 => Ok(DeviceChoice::Cpu),
                number if number < DeviceChoice::EMULATORS => Ok(DeviceChoice::CpuNumber(number)),
                _ => Err(format!(
                    "{text:?}: emulated devices have the numbers 0 to {}",
                    DeviceChoice::EMULATORS - 1
                )),
            };
        }
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(DeviceChoice::Cuda)
                .ok_or_else(unknown),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => write!(formatter, "auto"),
            DeviceChoice::Cuda(ordinal) => write!(formatter, "cuda:{ordinal}"),
            DeviceChoice::Cpu => write!(formatter, "cpu"),
            DeviceChoice::CpuNumber(number) => write!(formatter, "cpu:{number}"),
            DeviceChoice::CpuAs(capability) => write!(formatter, "cpu:{}", capability.arch()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for text in [
            "auto",
            "cuda:0",
            "cuda:7",
            "cpu",
            "cpu:1",
            "cpu:63",
            "cpu:sm_75",
            "cpu:sm_89",
            "cpu:sm_120",
        ] {
            let device: Result<DeviceChoice, String> = text.parse();
            assert_eq!(device.map(|it| it.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_is_known() {
        for text in [
            "",
            "gpu",
            "cuda:",
            "cuda:-1",
            "cpu:",
            "cpu:-1",
            "cpu:sm_",
            "cpu:sm_9x",
        ] {
            let error = text.parse::<DeviceChoice>().expect_err(text);
            assert!(error.contains("expected one of auto, cuda"), "{error}");
        }
        let error = "cpu:90".parse::<DeviceChoice>().expect_err("too many");
        assert_eq!(
            error,
            "\"cpu:90\": emulated devices have the numbers 0 to 63"
        );
        let error = "cpu:sm_61".parse::<DeviceChoice>().expect_err("too old");
        assert!(
            error.contains("compute capability 6.1 are not known: expected one of 7.0,"),
            "{error}"
        );
    }
}
