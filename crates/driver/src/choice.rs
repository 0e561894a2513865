//! Which device to use.

use std::fmt;
use std::str::FromStr;

use super::Limits;

/// A GPU whose limits the emulator keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmulatedGpu {
    /// Compute capability 8.0, such as an A100.
    Sm80,
    /// Compute capability 9.0, such as an H100 or H200.
    #[default]
    Sm90,
    /// Compute capability 10.0, such as a B200.
    Sm100,
}

impl EmulatedGpu {
    const ALL: [EmulatedGpu; 3] = [EmulatedGpu::Sm80, EmulatedGpu::Sm90, EmulatedGpu::Sm100];

    /// What a launch may ask for.
    pub fn limits(self) -> Limits {
        match self {
            EmulatedGpu::Sm80 => Limits::SM_80,
            EmulatedGpu::Sm90 => Limits::SM_90,
            EmulatedGpu::Sm100 => Limits::SM_100,
        }
    }

    /// Its compute capability, major and minor.
    pub fn compute_capability(self) -> (u32, u32) {
        match self {
            EmulatedGpu::Sm80 => (8, 0),
            EmulatedGpu::Sm90 => (9, 0),
            EmulatedGpu::Sm100 => (10, 0),
        }
    }

    /// Its architecture: "sm_90".
    pub fn name(self) -> &'static str {
        match self {
            EmulatedGpu::Sm80 => "sm_80",
            EmulatedGpu::Sm90 => "sm_90",
            EmulatedGpu::Sm100 => "sm_100",
        }
    }
}

/// A device as the command line names it: `auto`, `cuda`, `cuda:1`, `cpu` or `cpu:sm_80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU, or the emulator where there is none.
    Auto,
    /// The GPU with this number.
    Cuda(u32),
    /// The CPU emulator, with the limits of [`EmulatedGpu::default`].
    Cpu,
    /// The CPU emulator, with the limits of this GPU.
    CpuAs(EmulatedGpu),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown =
            || format!("{text:?} is no device: expected one of auto, cuda, cuda:N, cpu, cpu:sm_NN");
        if let Some(name) = text.strip_prefix("cpu:") {
            let gpu = EmulatedGpu::ALL.into_iter().find(|gpu| gpu.name() == name);
            let missing = || format!("{text:?}: expected one of cpu:sm_80, cpu:sm_90, cpu:sm_100");
            return gpu.map(DeviceChoice::CpuAs).ok_or_else(missing);
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
            DeviceChoice::CpuAs(gpu) => write!(formatter, "cpu:{}", gpu.name()),
        }
    }
}
