//! A GPU through `cust`: its context, its module, its properties.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;

use cust::context::{CurrentContext, ResourceLimit};
use cust::device::{Device as CudaDevice, DeviceAttribute};
use cust::error::CudaError;
use cust::function::Function;
use cust::module::{Module, ModuleJitOption};
use cust::sys::{self, CUdevice_attribute, CUjit_option};
use cust::{CudaApiVersion, CudaFlags};

use super::context::{Context, Owned};
use super::error::{checked, during};
use super::image::{File, Image};
use super::origin::Origin;
use super::{DeviceProperties, DriverError, Embedded, GpuProperties, Limits, home, ptx};

/// Bytes of stack for a thread of kernels that print or say why they panic. What formats text calls
/// itself through pointers, so the driver does not know how much that takes, and the default of 1024
/// is less than the text alone.
const STACK_FOR_TEXT: usize = 8 << 10;

/// An open GPU with the kernels loaded.
#[derive(Debug)]
pub(super) struct Gpu {
    module: Owned<Module>,
    pub(super) context: Context,
    /// Where the kernels are from, if not embedded.
    file: Option<File>,
    /// Which source they were made of.
    pub(super) origin: Origin,
}

impl Gpu {
    pub(super) fn open(
        ordinal: u32,
        embedded: &[Embedded<'_>],
        max_registers: Option<u32>,
    ) -> Result<(Gpu, DeviceProperties), DriverError> {
        let count = count()?;
        if ordinal >= count {
            return Err(DriverError::NoSuchGpu { ordinal, count });
        }
        let properties = properties(ordinal)?;
        let (major, minor) = properties.compute_capability;
        let actual = major * 10 + minor;
        let without = ptx::without_kernels(actual);
        let best = match embedded {
            [] => Some((actual, without.as_str(), None)),
            _ => ptx::best_embedded(embedded, actual),
        };
        let Some((arch, text, _)) = best else {
            let named = |&(arch, text, _): &Embedded<'_>| match ptx::target_of(text) {
                Some(target) => target.to_owned(),
                None => format!("sm_{arch}"),
            };
            let names: Vec<String> = embedded.iter().map(named).collect();
            return Err(DriverError::NoPtx {
                name: properties.name,
                actual,
                embedded: names.join(", "),
            });
        };
        let device = CudaDevice::get_device(ordinal).map_err(during("get the device"))?;
        let context = Context::open(device, home::gpu(ordinal, &properties.name))?;
        allow_text(text)?;
        let limit = max_registers.map(ModuleJitOption::MaxRegisters);
        let module = context.own(|| {
            Module::from_ptx(text, limit.as_slice()).map_err(|error| DriverError::RefusedPtx {
                arch,
                error,
                log: match CString::new(text) {
                    Ok(text) => compile_log(&text),
                    Err(_) => "the PTX has a zero byte in it".to_owned(),
                },
            })
        })?;
        let gpu = Gpu {
            module,
            context,
            file: None,
            origin: Origin::of(text),
        };
        Ok((gpu, properties))
    }

    /// The same GPU, called `device`, with the kernels of a file.
    pub(super) fn load(&self, path: &Path, device: &str) -> Result<Gpu, DriverError> {
        let image = Image::read(path)?;
        let module = self.context.own(|| {
            allow_text(&image.text())?;
            let loaded = match &image {
                Image::Ptx(text) => Module::from_ptx_cstr(text, &[]),
                Image::Cubin(image) => Module::from_cubin(image, &[]),
            };
            loaded.map_err(|error| DriverError::RefusedFile {
                path: path.to_owned(),
                device: device.to_owned(),
                error,
                log: match &image {
                    Image::Ptx(text) => compile_log(text),
                    // There is nothing to compile.
                    Image::Cubin(_) => String::new(),
                },
            })
        })?;
        Ok(Gpu {
            module,
            context: self.context.clone(),
            file: Some(File::new(path, &image)),
            origin: match &image {
                Image::Ptx(text) => Origin::of(&text.to_string_lossy()),
                // Comments do not get there.
                Image::Cubin(_) => Origin::default(),
            },
        })
    }

    pub(super) fn function(&self, name: &'static str) -> Result<Function<'_>, DriverError> {
        let module = self.module.enter()?;
        // No kernel has a zero byte in its name, which the driver takes for the end.
        if name.contains('\0') {
            return Err(self.without(name));
        }
        module.get_function(name).map_err(|error| match error {
            CudaError::NotFound => self.without(name),
            error => during("look up a kernel")(error),
        })
    }

    fn without(&self, kernel: &'static str) -> DriverError {
        match &self.file {
            None => DriverError::NoKernel(kernel),
            Some(file) => file.without(kernel),
        }
    }

    /// Lets launches of the function have so much dynamic shared memory, which beyond 48 KiB a
    /// function must be told.
    pub(super) fn allow_dynamic_shared(
        function: &Function<'_>,
        bytes: u32,
    ) -> Result<(), DriverError> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX;
        // SAFETY: the function belongs to a module that is loaded.
        let result = unsafe { sys::cuFuncSetAttribute(function.to_raw(), MAX, bytes as i32) };
        checked("allow dynamic shared memory", result)
    }

    pub(super) fn free_memory(&self) -> Result<u64, DriverError> {
        self.context.enter()?;
        let (free, _) = cust::memory::mem_get_info().map_err(during("ask for the free memory"))?;
        Ok(free as u64)
    }
}

/// Gives threads in the current context the stack that kernels need which print.
fn allow_text(image: &str) -> Result<(), DriverError> {
    if image.contains("vprintf") || image.contains("__assertfail") {
        CurrentContext::set_resource_limit(ResourceLimit::StackSize, STACK_FOR_TEXT)
            .map_err(during("set the size of a thread's stack"))?;
    }
    Ok(())
}

/// Returns the properties of every GPU, in order.
pub(super) fn all() -> Result<Vec<DeviceProperties>, DriverError> {
    (0..count()?).map(properties).collect()
}

/// How many GPUs there are: at least one.
fn count() -> Result<u32, DriverError> {
    cuda_loader::driver().map_err(|error| DriverError::NoDriver(error.clone()))?;
    match cust::init(CudaFlags::empty()).and_then(|()| CudaDevice::num_devices()) {
        Ok(0) | Err(CudaError::NoDevice) => Err(DriverError::NoGpu),
        Ok(count) => Ok(count),
        Err(error) => Err(during("initialise the driver")(error)),
    }
}

const READ: &str = "read the device's properties";

fn properties(ordinal: u32) -> Result<DeviceProperties, DriverError> {
    use CUdevice_attribute as Raw;
    use DeviceAttribute as Known;
    const KHZ: f64 = 1e3;

    let device = CudaDevice::get_device(ordinal).map_err(during(READ))?;
    let get = |attribute| match device.get_attribute(attribute) {
        Ok(value) => Ok(value as u32),
        Err(error) => Err(during(READ)(error)),
    };
    let version = CudaApiVersion::get().map_err(during(READ))?;
    Ok(DeviceProperties {
        name: device.name().map_err(during(READ))?,
        compute_capability: (
            get(Known::ComputeCapabilityMajor)?,
            get(Known::ComputeCapabilityMinor)?,
        ),
        multiprocessors: get(Known::MultiprocessorCount)?,
        memory_bytes: device.total_memory().map_err(during(READ))? as u64,
        limits: Limits {
            threads_per_block: get(Known::MaxThreadsPerBlock)?,
            block: [
                get(Known::MaxBlockDimX)?,
                get(Known::MaxBlockDimY)?,
                get(Known::MaxBlockDimZ)?,
            ],
            grid: [
                get(Known::MaxGridDimX)?,
                get(Known::MaxGridDimY)?,
                get(Known::MaxGridDimZ)?,
            ],
            shared_per_block: raw_attribute(
                device,
                Raw::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            threads_per_multiprocessor: get(Known::MaxThreadsPerMultiprocessor)?,
            blocks_per_multiprocessor: raw_attribute(
                device,
                Raw::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
            )?,
            registers_per_multiprocessor: get(Known::MaxRegistersPerMultiprocessor)?,
            shared_per_multiprocessor: get(Known::MaxSharedMemoryPerMultiprocessor)?,
        },
        gpu: Some(GpuProperties {
            ordinal,
            cuda_version: (version.major() as u32, version.minor() as u32),
            clock_hz: f64::from(get(Known::ClockRate)?) * KHZ,
            memory_clock_hz: f64::from(get(Known::MemoryClockRate)?) * KHZ,
            memory_bus_bits: get(Known::GlobalMemoryBusWidth)?,
            l2_bytes: u64::from(get(Known::L2CacheSize)?),
            pci_bus_id: format!(
                "{:08X}:{:02X}:{:02X}.0",
                get(Known::PciDomainId)?,
                get(Known::PciBusId)?,
                get(Known::PciDeviceId)?
            ),
        }),
    })
}

/// An attribute that `cust` has no name for.
fn raw_attribute(device: CudaDevice, attribute: CUdevice_attribute) -> Result<u32, DriverError> {
    let mut value = 0;
    // SAFETY: `value` is a place to write to, and the device is cust's own.
    let result = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device.as_raw()) };
    checked(READ, result)?;
    Ok(value as u32)
}

/// Returns what the driver's compiler says of PTX that does not load.
fn compile_log(text: &CStr) -> String {
    const LOG_BYTES: usize = 8192;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends in a zero byte; the options name a buffer and its size, in the form
    // that the driver documents, and outlive the call.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if result == sys::CUresult::CUDA_SUCCESS {
        // SAFETY: the module was just loaded and nothing uses it.
        unsafe { sys::cuModuleUnload(module) };
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim().to_owned()
}
