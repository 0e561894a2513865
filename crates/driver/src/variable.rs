//! Variables of a kernel's module.

use std::ffi::CString;

use cuda_std::launch::Signature;
use cust::sys::{self, CUdeviceptr, CUresult};

use super::error::checked;
use super::{DriverError, Prepared, home};

impl<S: Signature> Prepared<'_, S> {
    /// Returns the bytes of a variable of the kernel's module: a `static`, or `__device__` or `__constant__` in CUDA C++, by
    /// the name that the PTX has. A GPU answers as soon as launches of streams that wait for the default one have ended: wait for others first.
    ///
    /// ```
    /// use cuda_std::launch::{Entry, Untyped};
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    ///
    /// # let file = std::env::temp_dir().join(format!("next-{}.ptx", std::process::id()));
    /// std::fs::write(&file, ".version 8.0\n.target sm_70\n.address_size 64\n
    ///     .visible .global .u32 count = 5;
    ///     .visible .entry next() {
    ///         .reg .b32 %r<3>;
    ///         ld.global.u32 %r1, [count]; add.u32 %r2, %r1, 1; st.global.u32 [count], %r2; ret;
    ///     }")?;
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?.load(&file)?;
    /// # std::fs::remove_file(&file)?;
    /// let next = device.prepare(Entry::<Untyped>::untyped("next", &[]), LaunchConfig::linear(1, 32))?;
    /// assert_eq!(next.variable("count")?, [5, 0, 0, 0]);
    /// next.set_variable("count", &7u32.to_le_bytes())?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: the kernel has no parameters.
    /// unsafe { next.launch(&stream, &&[][..])? };
    /// stream.synchronize()?;
    /// assert_eq!(next.variable("count")?, [8, 0, 0, 0]);
    /// let error = next.set_variable("count", &[0; 8]).expect_err("it has 4 bytes");
    /// assert!(matches!(error, DriverError::VariableBytes { bytes: 4, given: 8, .. }));
    /// assert!(matches!(next.variable("sum"), Err(DriverError::NoVariable { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::NoVariable`]: there is none, or the kernel is not of PTX; on a GPU the driver refuses ([`DriverError::Call`],
    /// [`DriverError::Cuda`]), or a kernel that ran before has failed.
    pub fn variable(&self, name: &str) -> Result<Vec<u8>, DriverError> {
        if let Some((address, bytes)) = self.variable_on_gpu(name)? {
            let mut value = vec![0; bytes];
            // SAFETY: both have so many bytes.
            let copied = unsafe { sys::cuMemcpyDtoH_v2(value.as_mut_ptr().cast(), address, bytes) };
            return checked("copy a variable from the device", copied).map(|()| value);
        }
        let module = self.ptx.as_ref().map(|it| &it.kernels.module);
        let bytes = module.and_then(|it| it.bytes(name));
        bytes.ok_or_else(|| self.without_variable(name))
    }

    /// Sets all bytes of a variable of the kernel's module, before launches or between them. [`Prepared::variable`] has an example.
    ///
    /// # Errors
    /// As of [`Prepared::variable`]; [`DriverError::VariableBytes`]: the value is shorter or longer.
    pub fn set_variable(&self, name: &str, value: &[u8]) -> Result<(), DriverError> {
        let fits = |bytes: u64| match bytes == value.len() as u64 {
            true => Ok(()),
            false => Err(DriverError::VariableBytes {
                name: name.to_owned(),
                bytes,
                given: value.len() as u64,
            }),
        };
        if let Some((address, bytes)) = self.variable_on_gpu(name)? {
            fits(bytes as u64)?;
            // SAFETY: both have so many bytes.
            let copied = unsafe { sys::cuMemcpyHtoD_v2(address, value.as_ptr().cast(), bytes) };
            return checked("copy a variable to the device", copied);
        }
        let module = self.ptx.as_ref().map(|it| &it.kernels.module);
        let found = module.and_then(|it| Some((it, it.variable(name)?)));
        let (module, (address, bytes)) = found.ok_or_else(|| self.without_variable(name))?;
        fits(bytes)?;
        let written = module.write(address, value);
        written.map_err(|_| self.without_variable(name))
    }

    /// Address and bytes; `None` on the emulator.
    fn variable_on_gpu(&self, name: &str) -> Result<Option<(CUdeviceptr, usize)>, DriverError> {
        let Some(function) = &self.function else {
            return Ok(None);
        };
        let without = || self.without_variable(name);
        let text = CString::new(name).map_err(|_| without())?;
        let context = home::context_of(self.home).unwrap_or(std::ptr::null_mut());
        // SAFETY: the device of the function lives, and so does its context.
        let entered = unsafe { cuda_loader::make_current(context) };
        checked("enter the GPU's context", entered)?;
        let (mut module, mut address, mut bytes) = (std::ptr::null_mut(), 0, 0);
        // SAFETY: the function belongs to a module that is loaded, in this context.
        let found = unsafe { sys::cuFuncGetModule(&raw mut module, function.to_raw()) };
        checked("look up the kernel's module", found)?;
        // SAFETY: the module is loaded.
        let found = unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, module, text.as_ptr())
        };
        match found {
            CUresult::CUDA_ERROR_NOT_FOUND => Err(without()),
            found => checked("look up a variable", found).map(|()| Some((address, bytes))),
        }
    }

    fn without_variable(&self, name: &str) -> DriverError {
        DriverError::NoVariable {
            kernel: self.entry.name(),
            name: name.to_owned(),
        }
    }
}
