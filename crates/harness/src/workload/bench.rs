//! The device that workloads run on, with their kernels and with the library's own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use elsa::FrozenMap;

use crate::driver::{Device, DeviceChoice, DriverError, Embedded, Emulation};
use crate::model::{Precision, Roofs};

/// A device with the kernels of the workloads, and again with those that read clocks, flush caches and
/// measure ceilings.
pub struct Bench {
    device: Device,
    /// `None` where the first has them, too.
    own: Option<Device>,
    pub(crate) loaded: Loaded,
    /// A GPU's PTX, for the emulator that counts in its place.
    ptx: Vec<(u32, String)>,
    /// An emulator that counts; made when it is first asked for.
    counting: OnceLock<Result<Box<Bench>, DriverError>>,
    /// The host's roofs, as far as they have been asked for.
    host_roofs: Mutex<BTreeMap<Precision, Roofs>>,
}

/// A device again with the kernels of `.ptx` or `.cubin` files, by their paths.
#[derive(Default)]
pub(crate) struct Loaded(FrozenMap<PathBuf, Box<Device>>);

impl Loaded {
    /// The device with the kernels of a file, which is loaded once.
    pub(super) fn load<'d>(
        &'d self,
        device: &Device,
        path: &Path,
    ) -> Result<&'d Device, DriverError> {
        if let Some(known) = self.0.get(path) {
            return Ok(known);
        }
        let loaded = Box::new(device.load(path)?);
        Ok(self.0.insert(path.to_path_buf(), loaded))
    }
}

impl Bench {
    /// Opens the chosen device with the kernels of this PTX, the library's among them.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(choice: &DeviceChoice, ptx: &[Embedded<'_>]) -> Result<Bench, DriverError> {
        let device = Device::open(choice, ptx)?;
        let is_kept = !device.properties().is_emulated();
        let kept = ptx.iter().filter(|_| is_kept);
        let ptx = kept.map(|(arch, text, _)| (*arch, (*text).to_owned()));
        Ok(Bench {
            ptx: ptx.collect(),
            ..Bench::of(device)
        })
    }

    fn of(device: Device) -> Bench {
        Bench {
            device,
            own: None,
            loaded: Loaded::default(),
            ptx: Vec::new(),
            counting: OnceLock::new(),
            host_roofs: Mutex::default(),
        }
    }

    /// The roofs of the host for the emulator, which `measure` is asked for once.
    ///
    /// # Errors
    /// Those of `measure`.
    pub(crate) fn host_roofs<E>(
        &self,
        precision: Precision,
        measure: impl FnOnce(&Device, Precision) -> Result<Roofs, E>,
    ) -> Result<Roofs, E> {
        let mut known = self
            .host_roofs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match known.entry(precision) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(unknown) => Ok(*unknown.insert(measure(self.own(), precision)?)),
        }
    }

    /// Opens the chosen device with the kernels of this PTX, and again with the library's, of `own`.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn with_own(
        choice: &DeviceChoice,
        ptx: &[Embedded<'_>],
        own: &[Embedded<'_>],
    ) -> Result<Bench, DriverError> {
        Ok(Bench {
            own: Some(Device::open(choice, own)?),
            ..Bench::open(choice, ptx)?
        })
    }

    /// The emulator with the kernels of this PTX. The library's, where the PTX has them not, run as Rust
    /// functions.
    ///
    /// # Errors
    /// As [`Device::emulator_with`].
    pub fn emulator(emulation: Emulation, ptx: &[Embedded<'_>]) -> Result<Bench, DriverError> {
        Ok(Bench::of(Device::emulator_with(emulation, ptx)?))
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
        self.loaded.load(&self.device, path)
    }

    /// The same emulator, or one in the GPU's place, which counts launches.
    ///
    /// # Errors
    /// Of a GPU, as [`Device::stand_in`]: [`DriverError::UnreadablePtx`],
    /// [`DriverError::UnknownCapability`].
    pub(crate) fn counting(&self) -> Result<&Bench, &DriverError> {
        let counting = self.counting.get_or_init(|| {
            let emulation = Emulation {
                is_counted: true,
                ..Emulation::default()
            };
            let device = match self.device.with_emulation(emulation.clone()) {
                Some(device) => device,
                None => {
                    let ptx: Vec<Embedded<'_>> = self
                        .ptx
                        .iter()
                        .map(|(arch, text)| (*arch, text.as_str(), None))
                        .collect();
                    self.device.stand_in(emulation, &ptx)?
                }
            };
            Ok(Box::new(Bench::of(device)))
        });
        counting.as_ref().map(|bench| &**bench)
    }

    /// The device with the library's kernels.
    pub fn own(&self) -> &Device {
        self.own.as_ref().unwrap_or(&self.device)
    }
}
