//! Functions: kernels of a module, or of a library on whichever device they are launched.

use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::Kernel;

use crate::attributes::DEFAULT_SHARED_BYTES;
use crate::context::current;
use crate::handles::{Handle, keep_shared, look};
use crate::library::Library;
use crate::module::Module;
use crate::names::Named;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// A function.
pub(crate) struct Function {
    source: Source,
    name: CString,
    named: Named,
    /// Values that a program has set, or -1.
    dynamic_shared: AtomicU32,
    carveout: AtomicU32,
    allows_large_clusters: AtomicU32,
}

/// Where a function's kernel is.
enum Source {
    Module(Arc<Module>),
    Library(Arc<Library>, Handle),
}

/// The value of a setting that was not set.
const UNSET: u32 = u32::MAX;

/// The registers of a thread as the driver answers them: no allocator of registers has seen the kernel.
pub(crate) const REGISTERS: u32 = 32;

/// `CUfunction_attribute`: what can be set.
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;
const LARGE_CLUSTERS: u32 = 14;

impl Function {
    pub(crate) fn of_module(module: Arc<Module>, name: &str) -> Answer<Function> {
        Function::new(Source::Module(module), name)
    }

    pub(crate) fn of_library(
        library: Arc<Library>,
        handle: Handle,
        name: &str,
    ) -> Answer<Function> {
        Function::new(Source::Library(library, handle), name)
    }

    fn new(source: Source, name: &str) -> Answer<Function> {
        Ok(Function {
            source,
            named: Named::of(name),
            name: CString::new(name).map_err(|_| Status::INVALID_VALUE)?,
            dynamic_shared: AtomicU32::new(UNSET),
            carveout: AtomicU32::new(UNSET),
            allows_large_clusters: AtomicU32::new(0),
        })
    }

    /// Its name as its author knows it.
    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    /// The context that it ends with; none of a library's.
    pub(crate) fn context(&self) -> Option<Handle> {
        match &self.source {
            Source::Module(module) => module.owner(),
            Source::Library(..) => None,
        }
    }

    fn module(&self) -> Answer<Arc<Module>> {
        match &self.source {
            Source::Module(module) => Ok(Arc::clone(module)),
            Source::Library(library, _) => library.here(),
        }
    }

    /// The kernel where the caller is, and the number of its device.
    pub(crate) fn kernel(&self) -> Answer<(Kernel, u32)> {
        let module = self.module()?;
        let kernel = module.module.kernel(&self.name.to_string_lossy());
        kernel
            .map(|it| (it, module.device))
            .ok_or(Status::NOT_FOUND)
    }

    pub(crate) fn allows_large_clusters(&self) -> bool {
        self.allows_large_clusters.load(Ordering::Relaxed) != 0
    }

    /// The most bytes of dynamic shared memory that a launch may ask for.
    pub(crate) fn dynamic_shared(&self, kernel: &Kernel) -> u32 {
        match self.dynamic_shared.load(Ordering::Relaxed) {
            UNSET => DEFAULT_SHARED_BYTES.saturating_sub(kernel.static_shared()),
            bytes => bytes,
        }
    }

    /// An attribute of it.
    ///
    /// # Errors
    /// The driver of [`VERSION`](crate::settings::VERSION) knows no such attribute.
    fn attribute(&self, which: u32) -> Answer<i32> {
        let (kernel, _) = self.kernel()?;
        let architecture = settings().capability;
        let bytes = |it: u64| i32::try_from(it).unwrap_or(i32::MAX);
        Ok(match which {
            0 => kernel.max_threads().unwrap_or(1024).min(1024) as i32,
            1 => kernel.static_shared() as i32,
            2 => bytes(kernel.constant_bytes()),
            3 => bytes(kernel.local_bytes()),
            4 => REGISTERS as i32,
            5 | 6 => (architecture.major() * 10 + architecture.minor()) as i32,
            MAX_DYNAMIC_SHARED => self.dynamic_shared(&kernel) as i32,
            CARVEOUT => self.carveout.load(Ordering::Relaxed) as i32,
            LARGE_CLUSTERS => self.allows_large_clusters.load(Ordering::Relaxed) as i32,
            // Caching, clusters that must be set and their size.
            7 | 10..=13 | 15 => 0,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Sets an attribute of it. What is not known is refused: a program relies on a success.
    fn set(&self, which: u32, value: i32) -> Answer {
        match which {
            MAX_DYNAMIC_SHARED => {
                let own = self.kernel()?.0.static_shared();
                let most = settings()
                    .multiprocessor
                    .max_shared_bytes_per_block
                    .saturating_sub(own);
                let bytes = u32::try_from(value).ok().filter(|&it| it <= most);
                self.dynamic_shared
                    .store(bytes.ok_or(Status::INVALID_VALUE)?, Ordering::Relaxed);
            }
            CARVEOUT if (-1..=100).contains(&value) => {
                self.carveout.store(value as u32, Ordering::Relaxed)
            }
            LARGE_CLUSTERS => self
                .allows_large_clusters
                .store(u32::from(value != 0), Ordering::Relaxed),
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    /// Offset and bytes of a parameter.
    fn parameter(&self, index: usize) -> Answer<(usize, usize)> {
        let (kernel, _) = self.kernel()?;
        let found = kernel
            .parameters()
            .nth(index)
            .ok_or(Status::INVALID_VALUE)?;
        Ok((found.start as usize, found.len()))
    }

    fn library(&self) -> Answer<Handle> {
        match &self.source {
            Source::Library(_, handle) => Ok(*handle),
            Source::Module(_) => Err(Status::INVALID_HANDLE),
        }
    }

    fn name(&self) -> &CStr {
        &self.name
    }
}

/// Makes the code of a kernel, which its first launch does otherwise.
fn load(function: Handle) -> Answer {
    let (kernel, _) = look::<Function>(function)?.kernel()?;
    kernel.prepare().map_err(|error| {
        crate::findings::say(&error.to_string());
        Status::NOT_SUPPORTED
    })
}

pub(crate) mod calls {
    use std::ffi::c_char;

    use super::*;
    use crate::arguments::Out;

    fn parameter(handle: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) -> Answer {
        let found = look::<Function>(handle)?.parameter(index)?;
        offset.put(found.0)?;
        bytes.put_if_asked(found.1);
        Ok(())
    }

    driver! {
        fn cuFuncGetAttribute(to: Out<i32>, which: u32, function: Handle) { to.put(look::<Function>(function)?.attribute(which)?) }
        fn cuFuncSetAttribute(function: Handle, which: u32, value: i32) { look::<Function>(function)?.set(which, value) }
        fn cuKernelGetAttribute(to: Out<i32>, which: u32, kernel: Handle, device: i32) {
            crate::device::number(device)?;
            to.put(look::<Function>(kernel)?.attribute(which)?)
        }
        fn cuKernelSetAttribute(which: u32, value: i32, kernel: Handle, device: i32) {
            crate::device::number(device)?;
            look::<Function>(kernel)?.set(which, value)
        }
        fn cuFuncSetCacheConfig(function: Handle, _preference: u32) { look::<Function>(function).map(drop) }
        fn cuKernelSetCacheConfig(kernel: Handle, _preference: u32, _device: i32) { look::<Function>(kernel).map(drop) }
        fn cuFuncSetSharedMemConfig(function: Handle, _banks: u32) { look::<Function>(function).map(drop) }
        fn cuFuncGetModule(to: Out<Handle>, function: Handle) {
            to.check()?;
            current()?;
            to.put(keep_shared(look::<Function>(function)?.module()?))
        }
        // Names live as long as the function, which a program asks for names of.
        fn cuFuncGetName(to: Out<*const c_char>, function: Handle) { to.put(look::<Function>(function)?.name().as_ptr()) }
        fn cuKernelGetName(to: Out<*const c_char>, kernel: Handle) { to.put(look::<Function>(kernel)?.name().as_ptr()) }
        fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) { parameter(function, index, offset, bytes) }
        fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) { parameter(kernel, index, offset, bytes) }
        fn cuFuncIsLoaded(to: Out<u32>, function: Handle) { const LOADED: u32 = 1; look::<Function>(function)?; to.put(LOADED) }
        fn cuFuncLoad(function: Handle) { load(function) }
        // A kernel of a library is a function: which device's is seen where it is launched.
        fn cuKernelGetFunction(to: Out<Handle>, kernel: Handle) { look::<Function>(kernel)?.kernel()?; to.put(kernel) }
        fn cuKernelGetLibrary(to: Out<Handle>, kernel: Handle) { to.put(look::<Function>(kernel)?.library()?) }
    }
}
