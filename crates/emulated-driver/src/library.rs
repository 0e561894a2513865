//! Libraries: PTX that is loaded on each device when it is first needed there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::context::current;
use crate::function::Function;
use crate::handles::{Handle, all, end, keep, keep_shared, lock, look};
use crate::image;
use crate::module::{Module, OF_NO_CONTEXT, ptx_of_path};
use crate::queue;
use crate::status::{Answer, Status};

/// A library.
pub(crate) struct Library {
    text: String,
    modules: Mutex<HashMap<u32, Arc<Module>>>,
    kernels: Mutex<HashMap<String, Handle>>,
}

impl Library {
    /// Loads PTX on the current device, or on the first where there is none.
    fn load(text: String) -> Answer<Handle> {
        let library = Library {
            text,
            modules: Mutex::default(),
            kernels: Mutex::default(),
        };
        library.here()?;
        Ok(keep(library))
    }

    /// The module on a device.
    pub(crate) fn on(&self, device: u32) -> Answer<Arc<Module>> {
        let mut all = lock(&self.modules);
        if let Some(known) = all.get(&device) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(Module::load(&self.text, device, OF_NO_CONTEXT)?);
        all.insert(device, Arc::clone(&made));
        Ok(made)
    }

    /// The module on the current device.
    pub(crate) fn here(&self) -> Answer<Arc<Module>> {
        self.on(current().map_or(0, |it| it.device))
    }
}

/// Forgets what libraries have loaded on a device whose own context begins anew: their variables have their first values again.
pub(crate) fn forget_modules(device: u32) {
    for library in all::<Library>() {
        let gone = lock(&library.modules).remove(&device);
        drop(gone);
    }
}

/// The handle of a kernel, the same each time.
fn kernel(library: Handle, name: &str) -> Answer<Handle> {
    let own = look::<Library>(library)?;
    own.here()?.module.kernel(name).ok_or(Status::NOT_FOUND)?;
    let known = lock(&own.kernels).get(name).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let made = keep(Function::of_library(Arc::clone(&own), library, name)?);
    Ok(*lock(&own.kernels).entry(name.to_owned()).or_insert(made))
}

fn unload(library: Handle) -> Answer {
    queue::wait_for_all();
    let ended = end::<Library>(library)?;
    let kernels = std::mem::take(&mut *lock(&ended.kernels));
    for kernel in kernels.into_values() {
        let _ = end::<Function>(kernel);
    }
    Ok(())
}

fn variable(library: Handle, name: &str) -> Answer<(u64, usize)> {
    current()?;
    look::<Library>(library)?.here()?.variable(name)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out, Text};
    use crate::linker::Options;

    driver! {
        fn cuLibraryLoadData(
            to: Out<Handle>, image: In<u8>, options: In<i32>, values: Out<usize>, count: u32,
            _library_options: In<i32>, _library_values: In<u8>, _library_count: u32,
        ) {
            to.check()?;
            let options = Options::read(count, options, values)?;
            to.put(options.told(|| Library::load(image::ptx(image)?))?)
        }
        fn cuLibraryLoadFromFile(
            to: Out<Handle>, path: Text, options: In<i32>, values: Out<usize>, count: u32,
            _library_options: In<i32>, _library_values: In<u8>, _library_count: u32,
        ) {
            to.check()?;
            let (options, path) = (Options::read(count, options, values)?, path.get()?);
            to.put(options.told(|| Library::load(ptx_of_path(&path)?))?)
        }
        fn cuLibraryUnload(library: Handle) { unload(library) }
        fn cuLibraryGetKernel(to: Out<Handle>, library: Handle, name: Text) { to.check()?; to.put(kernel(library, &name.get()?)?) }
        fn cuLibraryGetKernelCount(to: Out<u32>, library: Handle) {
            to.put(look::<Library>(library)?.here()?.module.kernels().count() as u32)
        }
        fn cuLibraryEnumerateKernels(to: Out<Handle>, count: u32, library: Handle) {
            to.check()?;
            let module = look::<Library>(library)?.here()?;
            let kernels: Answer<Vec<Handle>> =
                module.module.kernels().take(count as usize).map(|name| kernel(library, name)).collect();
            to.put_all(kernels?)
        }
        fn cuLibraryGetModule(to: Out<Handle>, library: Handle) {
            to.check()?;
            let device = current()?.device;
            to.put(keep_shared(look::<Library>(library)?.on(device)?))
        }
        fn cuLibraryGetGlobal(to: Out<u64>, bytes: Out<usize>, library: Handle, name: Text) {
            let (start, size) = variable(library, &name.get()?)?;
            to.put_if_asked(start);
            bytes.put_if_asked(size);
            Ok(())
        }
    }
}
