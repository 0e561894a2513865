//! Modules: PTX in a device's memory.

use std::fs;

use crate::context::current;
use crate::debug;
use crate::device;
use crate::findings::say;
use crate::function::Function;
use crate::handles::{Handle, keep, look};
use crate::image;
use crate::queue;
use crate::status::{Answer, Status};

/// A module.
pub(crate) struct Module {
    pub(crate) context: Handle,
    pub(crate) device: u32,
    pub(crate) module: engine::Module,
}

/// No context owns what a library has loaded.
pub(crate) const OF_NO_CONTEXT: Handle = 0;

impl Module {
    /// Loads PTX into the memory of a device.
    ///
    /// # Errors
    /// It is none, or has what the engine does not take: the reason is said.
    pub(crate) fn load(text: &str, device: u32, context: Handle) -> Answer<Module> {
        let memory = device::memory(device);
        let loaded = match debug::debugger() {
            None => engine::Module::load(text, memory),
            Some(_) => engine::Module::load_for_debugging(text, memory),
        };
        match loaded {
            Ok(module) => Ok(Module {
                context,
                device,
                module,
            }),
            Err(error) => {
                say(&error.to_string());
                Err(match error {
                    engine::LoadError::NoMemory { .. } => Status::OUT_OF_MEMORY,
                    engine::LoadError::Refused(_) => Status::NOT_SUPPORTED,
                    _ => Status::INVALID_PTX,
                })
            }
        }
    }

    /// The context that it ends with; none of a library's.
    pub(crate) fn owner(&self) -> Option<Handle> {
        (self.context != OF_NO_CONTEXT).then_some(self.context)
    }

    /// Address and bytes of a variable.
    pub(crate) fn variable(&self, name: &str) -> Answer<(u64, usize)> {
        let found = self.module.variable(name);
        found
            .map(|(start, bytes)| (start, bytes as usize))
            .ok_or(Status::NOT_FOUND)
    }
}

/// Loads into the current context.
fn load(text: &str) -> Answer<Handle> {
    let context = current()?;
    Ok(keep(Module::load(text, context.device, context.handle)?))
}

/// The PTX of a file.
pub(crate) fn ptx_of_path(path: &str) -> Answer<String> {
    image::ptx_of_file(&bytes_of_path(path)?)
}

/// The bytes of a file.
pub(crate) fn bytes_of_path(path: &str) -> Answer<Vec<u8>> {
    fs::read(path).map_err(|error| {
        say(&format!("cannot read {path}: {error}"));
        Status::FILE_NOT_FOUND
    })
}

/// Returns a function of a module by its kernel's name.
fn function(module: Handle, name: &str) -> Answer<Handle> {
    let module = look::<Module>(module)?;
    module.module.kernel(name).ok_or(Status::NOT_FOUND)?;
    Ok(keep(Function::of_module(module, name)?))
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out, Text};
    use crate::handles::end;
    use crate::linker::Options;

    driver! {
        fn cuModuleLoadData(to: Out<Handle>, image: In<u8>) { to.check()?; to.put(load(&image::ptx(image)?)?) }
        fn cuModuleLoadFatBinary(to: Out<Handle>, image: In<u8>) { to.check()?; to.put(load(&image::ptx(image)?)?) }
        fn cuModuleLoadDataEx(to: Out<Handle>, image: In<u8>, count: u32, options: In<i32>, values: Out<usize>) {
            to.check()?;
            let options = Options::read(count, options, values)?;
            to.put(options.told(|| load(&image::ptx(image)?))?)
        }
        fn cuModuleLoad(to: Out<Handle>, path: Text) { to.check()?; to.put(load(&ptx_of_path(&path.get()?)?)?) }
        fn cuModuleUnload(module: Handle) { queue::wait_for_all(); end::<Module>(module).map(drop) }
        fn cuModuleGetFunction(to: Out<Handle>, module: Handle, name: Text) { to.check()?; to.put(function(module, &name.get()?)?) }
        fn cuModuleGetFunctionCount(to: Out<u32>, module: Handle) { to.put(look::<Module>(module)?.module.kernels().count() as u32) }
        fn cuModuleEnumerateFunctions(to: Out<Handle>, count: u32, module: Handle) {
            to.check()?;
            let names: Vec<String> = look::<Module>(module)?.module.kernels().take(count as usize).map(str::to_owned).collect();
            let functions: Answer<Vec<Handle>> = names.iter().map(|name| function(module, name)).collect();
            to.put_all(functions?)
        }
        fn cuModuleGetGlobal_v2(to: Out<u64>, bytes: Out<usize>, module: Handle, name: Text) {
            let (start, size) = look::<Module>(module)?.variable(&name.get()?)?;
            to.put_if_asked(start);
            bytes.put_if_asked(size);
            Ok(())
        }
        // Functions are made ready when they are first launched.
        fn cuModuleGetLoadingMode(to: Out<u32>) { const LAZY: u32 = 2; to.put(LAZY) }
    }
}
