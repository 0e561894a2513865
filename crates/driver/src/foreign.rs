//! Kernels from a file, by any compiler.

use std::path::Path;
use std::sync::Arc;

use super::emulator::Kernels;
use super::{Device, DriverError, trace};

impl Device {
    /// The same device with the kernels of a file in place of its own: PTX, which the driver compiles, or a
    /// cubin, machine code for one kind of GPU. What is in the file decides, not its name. The emulator
    /// executes PTX of any compiler and takes no cubin.
    ///
    /// The kernel that nvcc makes of `extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)`
    /// has the [signature](cuda_std::launch::Foreign) that the caller gives it:
    ///
    /// ```
    /// use cuda_std::launch::{Entry, Foreign, In, Out};
    /// use ridgepoint_driver::{Device, DeviceChoice, LaunchConfig, Stream};
    ///
    /// type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
    ///
    /// let device = Device::open(&DeviceChoice::Auto, &[])?;
    /// let x = device.buffer_filled(1000, 1.5f32)?;
    /// let mut y = device.buffer_filled(1000, 2.0f32)?;
    ///
    /// let loaded = device.load("ptx/saxpy.ptx")?;
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
    /// A cubin is believed: of its contents it is checked alone that it is an NVIDIA GPU's, and all there. It does
    /// not say what source it was made of, so whoever launches a kernel of `#[kernel]` from it
    /// [vouches](cuda_std::launch::Entry::of_any_ptx) for it.
    ///
    /// # Errors
    /// The file cannot be read ([`DriverError::UnreadableFile`]), holds something else, or a cubin in part
    /// ([`DriverError::UnknownFile`]), or the driver refuses what it holds ([`DriverError::RefusedFile`]).
    /// The emulator does not understand its PTX ([`DriverError::UnreadableKernels`]), or it is a cubin
    /// ([`DriverError::MachineCode`]), or the `NAME.resources.json` beside it, from which it takes the kernels'
    /// registers, cannot be read ([`DriverError::UnreadableReport`]). Any other call of the driver may fail, too ([`DriverError::Call`],
    /// [`DriverError::Cuda`]).
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Device, DriverError> {
        let path = path.as_ref();
        let name = &self.properties.name;
        let (gpu, kernels) = match &self.gpu {
            Some(gpu) => (Some(gpu.load(path, name)?), None),
            None => (
                None,
                Some(Arc::new(Kernels::of_file(path, name, self.number)?)),
            ),
        };
        Ok(Device {
            trace: trace::Recorder::begin(self.home, gpu.as_ref().map(|gpu| &gpu.context)),
            properties: self.properties.clone(),
            home: self.home,
            number: self.number,
            gpu,
            kernels,
            emulation: self.emulation.clone(),
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

    const BOUNDED: &str = "
        .version 8.0
        .target sm_90
        .address_size 64
        .visible .entry fixed() .reqntid 8, 8, 1 { ret; }
        .visible .entry bounded() .maxntid 16, 4, 1 { ret; }
        .visible .entry values(.param .u32 a, .param .align 4 .b8 b[12], .param .u64 c) { ret; }
        .visible .entry shares()
        {
            .shared .align 16 .b8 all[49152];
            .reg .b64 %rd<2>;
            mov.u64 %rd1, all;
            st.shared.u32 [%rd1], 1;
            ret;
        }";

    /// The emulator with kernels of a file.
    fn loaded(name: &str) -> Device {
        let file = format!("ridgepoint-{name}-{}.ptx", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, BOUNDED).expect("written");
        let device = emulator().load(&path).expect("PTX");
        std::fs::remove_file(&path).expect("written above");
        device
    }

    fn refused<R>(result: Result<R, DriverError>) -> String {
        result.err().expect("refused").to_string()
    }

    #[test]
    fn bounds_in_the_ptx_of_a_file_are_kept() -> Result<(), DriverError> {
        let device = loaded("bounds");
        let bounded = Entry::<Foreign<()>>::foreign("bounded");
        device.prepare(bounded, LaunchConfig::blocks(1, 64))?;
        let text = refused(device.prepare(bounded, LaunchConfig::blocks(1, 65)));
        let name = &device.properties().name;
        let expected =
            format!("bounded: block of 65 threads; this kernel on {name} allows 1 to 64");
        assert_eq!(text, expected);
        let fixed = Entry::<Foreign<()>>::foreign("fixed");
        let text = refused(device.prepare(fixed, LaunchConfig::blocks(1, 64)));
        let expected = "fixed: block of [64, 1, 1] threads; the kernel requires [8, 8, 1]";
        assert_eq!(text, expected);
        Ok(())
    }

    #[test]
    fn a_signature_has_the_parameters_of_the_ptx() -> Result<(), DriverError> {
        let device = loaded("signature");
        let shape = LaunchConfig::blocks(1, 32);
        let right = Entry::<Foreign<(u32, [f32; 3], Out<f32>)>>::foreign("values");
        device.prepare(right, shape)?;
        let fewer = Entry::<Foreign<(u32, [f32; 3])>>::foreign("values");
        let expected = "values: the signature has parameters of [4, 12] bytes, and the kernel's PTX of \
                        [4, 12, 8]";
        assert_eq!(refused(device.prepare(fewer, shape)), expected);
        let wider = Entry::<Foreign<(u64, [f32; 3], Out<f32>)>>::foreign("values");
        let text = refused(device.prepare(wider, shape));
        assert!(text.contains("of [8, 12, 8] bytes"), "{text}");
        Ok(())
    }

    #[test]
    fn a_cooperative_grid_is_as_large_as_the_gpu_holds() -> Result<(), DriverError> {
        let device = loaded("cooperative");
        let at_once = |name: &str, threads| {
            let entry = Entry::<Foreign<()>>::foreign(name);
            let one = device.prepare(entry, LaunchConfig::blocks(1, threads))?;
            device.blocks_at_once(&one)
        };
        // By 2048 threads, 32 blocks and 228 KiB of shared memory per multiprocessor.
        assert_eq!(at_once("bounded", 64)?, 132 * 32);
        assert_eq!(at_once("shares", 256)?, 132 * 4);
        assert_eq!(at_once("shares", 1024)?, 132 * 2);
        let entry = Entry::<Foreign<()>>::foreign("shares");
        device.prepare_cooperative(entry, LaunchConfig::blocks(132 * 4, 256))?;
        let over = LaunchConfig::blocks(132 * 4 + 1, 256);
        let text = refused(device.prepare_cooperative(entry, over));
        assert!(
            text.contains("cooperative grid of 529 blocks") && text.contains("runs 528 at once"),
            "{text}"
        );
        Ok(())
    }
}
