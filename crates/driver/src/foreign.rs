//! Kernels from a file, whoever compiled them.

use std::path::Path;
use std::sync::Arc;

use super::emulator::Kernels;
use super::{Device, DriverError, trace};

impl Device {
    /// The same device with the kernels of a file in place of its own: PTX, which the driver compiles, or a
    /// cubin, machine code for one kind of GPU. What is in the file decides, not its name. The emulator
    /// executes PTX, whoever compiled it, and takes no cubin.
    ///
    /// What nvcc makes of `extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)`
    /// has the [signature](cuda_std::launch::Foreign) that the caller gives it:
    ///
    /// ```no_run
    /// use cuda_std::launch::{Entry, Foreign, In, Out};
    /// use ridgepoint_driver::{Device, DeviceChoice, LaunchConfig, Stream};
    ///
    /// type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
    ///
    /// let device = Device::open(&DeviceChoice::Auto, &[])?;
    /// let x = device.buffer_filled(1000, 1.5f32)?;
    /// let mut y = device.buffer_filled(1000, 2.0f32)?;
    ///
    /// let loaded = device.load("saxpy.ptx")?;
    /// let saxpy = loaded.prepare(Entry::<Saxpy>::foreign("saxpy"), LaunchConfig::linear(1000, 256))?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: saxpy has these parameters; the buffers have 1000 elements, and live until the stream
    /// // has been synchronised.
    /// unsafe { saxpy.launch(&stream, &(1000, 2.0, x.slice(..), y.slice_mut(..))) }?;
    /// stream.synchronize()?;
    /// assert_eq!(y.to_vec()?, [5.0; 1000]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// Arguments that are not the signature's do not compile:
    ///
    /// ```compile_fail,E0308
    /// # use cuda_std::launch::{Entry, Foreign, In, Out};
    /// # use ridgepoint_driver::{Device, LaunchConfig, Stream};
    /// # type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
    /// # let loaded = Device::with_ptx(0, &[])?.load("saxpy.cubin")?;
    /// # let x = loaded.buffer_filled(1000, 1.5f32)?;
    /// # let mut y = loaded.buffer_filled(1000, 2.0f32)?;
    /// # let saxpy = loaded.prepare(Entry::<Saxpy>::foreign("saxpy"), LaunchConfig::linear(1000, 256))?;
    /// # let stream = Stream::new(&loaded)?;
    /// // y is what the kernel writes.
    /// unsafe { saxpy.launch(&stream, &(1000, 2.0, y.slice_mut(..), x.slice(..))) }?;
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// The device and the loaded one count as one: kernels of either take buffers of either, in streams of
    /// either. Kernels of `#[kernel]` are loaded as well, from what `CudaBuilder` wrote, and prepared as
    /// ever: `device.load("kernels.ptx")?.prepare(scale::entry(), ..)`.
    ///
    /// A cubin is believed: of its contents it is checked alone that it is an NVIDIA GPU's, and all there.
    ///
    /// # Errors
    /// The file cannot be read ([`DriverError::UnreadableFile`]), holds something else, or a cubin in part
    /// ([`DriverError::UnknownFile`]), or the driver refuses what it holds ([`DriverError::RefusedFile`]).
    /// The emulator does not understand its PTX ([`DriverError::UnreadableKernels`]), or it is a cubin
    /// ([`DriverError::MachineCode`]). Any other call of the driver may fail, too ([`DriverError::Call`],
    /// [`DriverError::Cuda`]).
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Device, DriverError> {
        let path = path.as_ref();
        let name = &self.properties.name;
        let (gpu, kernels) = match &self.gpu {
            Some(gpu) => (Some(gpu.load(path, name)?), None),
            None => (None, Some(Arc::new(Kernels::of_file(path, name)?))),
        };
        Ok(Device {
            trace: trace::Recorder::begin(gpu.as_ref().map(|gpu| &gpu.context)),
            properties: self.properties.clone(),
            home: self.home,
            gpu,
            kernels,
            emulation: self.emulation,
        })
    }
}

#[cfg(test)]
mod tests {
    use cuda_std::launch::{Entry, Foreign, In, Out};
    use cuda_std::prelude::*;

    use super::*;
    use crate::{DeviceChoice, LaunchConfig, Stream};

    type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;

    /// # Safety
    /// Both have `n` elements, and there is one thread for each.
    #[kernel]
    unsafe fn saxpy(n: i32, a: f32, x: *const f32, y: *mut f32) {
        let i = thread::index_1d() as usize;
        if i < n as usize {
            // SAFETY: i < n, and the caller vouches for the rest.
            unsafe { *y.add(i) += a * *x.add(i) };
        }
    }

    fn emulator() -> Device {
        Device::open(&DeviceChoice::Cpu, &[]).expect("there is always an emulator")
    }

    #[test]
    fn a_foreign_kernel_without_ptx_is_missing() {
        fn refused<R>(result: Result<R, DriverError>) {
            let text = result.err().expect("refused").to_string();
            assert_eq!(text, "kernel saxpy is not in the embedded PTX");
        }
        let (emulator, shape) = (emulator(), LaunchConfig::linear(5, 32));
        let foreign = Entry::<Saxpy>::foreign("saxpy");
        refused(emulator.prepare(foreign, shape));
        refused(emulator.prepare_cooperative(foreign, shape));
        refused(emulator.prepare(foreign.with_signature::<saxpy>(), shape));
    }

    #[test]
    fn files_that_the_emulator_does_not_take_are_refused_with_the_reason() {
        let missing = emulator().load("no/such.ptx").expect_err("no file");
        assert!(
            matches!(missing, DriverError::UnreadableFile { .. }),
            "{missing:?}"
        );
        let path = std::env::temp_dir().join(format!("ridgepoint-{}.ptx", std::process::id()));
        std::fs::write(
            &path,
            ".version 8.0\n.target sm_70\n.address_size 64\nnonsense",
        )
        .expect("written");
        let error = emulator().load(&path).expect_err("refused");
        std::fs::remove_file(&path).expect("written above");
        assert!(
            matches!(error, DriverError::UnreadableKernels { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains("nonsense"), "{error}");
    }

    #[test]
    fn a_kernel_of_ours_runs_under_the_signature() -> Result<(), DriverError> {
        let device = emulator();
        let entry = saxpy::entry().with_signature::<Saxpy>();
        let prepared = device.prepare(entry, LaunchConfig::linear(5, 32))?;
        let x = device.buffer_filled(5, 1.5f32)?;
        let mut y = device.buffer_filled(5, 2.0f32)?;
        let stream = Stream::new(&device)?;
        // SAFETY: the buffers have 5 elements, and live until the stream has been synchronised.
        unsafe { prepared.launch(&stream, &(5, 2.0, x.slice(..), y.slice_mut(..))) }?;
        stream.synchronize()?;
        assert_eq!(y.to_vec()?, [5.0; 5]);
        Ok(())
    }
}
