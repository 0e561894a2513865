//! Which device to use.

use std::fmt;
use std::str::FromStr;

/// A device as the command line names it: `auto`, `cuda`, `cuda:1` or `cpu`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU, or the emulator where there is none.
    Auto,
    /// The GPU with this number.
    Cuda(u32),
    /// The CPU emulator.
    Cpu,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?} is none of auto, cuda, cuda:N and cpu");
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
        }
    }
}
