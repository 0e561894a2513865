//! The device that workloads run on, with their kernels and with the library's own.

use std::path::{Path, PathBuf};

use elsa::FrozenMap;

use crate::driver::{Device, DeviceChoice, DriverError, Embedded, Emulation};
use crate::kernels;

/// A device with the kernels of the workloads, and again with those that read clocks, flush caches and
/// measure ceilings.
pub struct Bench {
    device: Device,
    /// `None` where the first has them, too.
    own: Option<Device>,
    /// The device again with the kernels of files, by their paths.
    loaded: FrozenMap<PathBuf, Box<Device>>,
}

impl Bench {
    /// Opens the chosen device with the kernels of this PTX, which `CudaBuilder::embed_to` wrote.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(choice: &DeviceChoice, ptx: &[Embedded<'_>]) -> Result<Bench, DriverError> {
        Ok(Bench {
            device: Device::open(choice, ptx)?,
            own: Some(kernels::open(choice)?),
            loaded: FrozenMap::new(),
        })
    }

    /// Opens the chosen device with the embedded kernels.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn embedded(choice: &DeviceChoice) -> Result<Bench, DriverError> {
        Ok(Bench {
            device: kernels::open(choice)?,
            own: None,
            loaded: FrozenMap::new(),
        })
    }

    /// The emulator with the kernels of this PTX. The library's, where the PTX has them not, run as Rust
    /// functions.
    ///
    /// # Errors
    /// As [`Device::emulator_with`].
    pub fn emulator(emulation: Emulation, ptx: &[Embedded<'_>]) -> Result<Bench, DriverError> {
        Ok(Bench {
            device: Device::emulator_with(emulation, ptx)?,
            own: None,
            loaded: FrozenMap::new(),
        })
    }

    /// The device with the workloads' kernels.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The device with the kernels of a `.ptx` or `.cubin` file, which is loaded once.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load(&self, path: &Path) -> Result<&Device, DriverError> {
        if let Some(known) = self.loaded.get(path) {
            return Ok(known);
        }
        let loaded = Box::new(self.device.load(path)?);
        Ok(self.loaded.insert(path.to_path_buf(), loaded))
    }

    /// The device with the library's kernels.
    pub fn own(&self) -> &Device {
        self.own.as_ref().unwrap_or(&self.device)
    }
}
