//! The program's kernels and variables, which its constructors hand over, by the addresses that stand for them on the host.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::arguments::{In, Out, Text};
use crate::device;
use crate::driver::{self, Handle};
use crate::inside;
use crate::status::{Answer, Error};

/// The address that the program has for a binary: nothing is read there.
type Binary = usize;

/// The kernels of a source file: a fatbin, loaded when the first of them is needed.
struct Fatbin {
    start: usize,
    library: Option<Handle>,
    /// Where the program keeps the address of each managed variable.
    managed: Vec<(usize, CString)>,
}

/// A kernel or variable: in a binary, of a name.
#[derive(Clone)]
struct Named {
    binary: Binary,
    name: CString,
}

#[derive(Default)]
struct Program {
    binaries: HashMap<Binary, Fatbin>,
    kernels: HashMap<usize, Named>,
    variables: HashMap<usize, Named>,
    /// Kernels as functions of a device's context.
    functions: HashMap<(c_int, usize), Handle>,
}

/// The program. Nobody holds it while the driver is called: libraries hand over their kernels while the loader holds a lock, which the
/// driver may need.
fn program() -> MutexGuard<'static, Program> {
    static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(Mutex::default);
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a binary as the driver has loaded it.
fn library(binary: Binary) -> Answer<Handle> {
    let of = |program: &Program| {
        let fatbin = program.binaries.get(&binary);
        let fatbin = fatbin.ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        Ok((fatbin.start, fatbin.library))
    };
    let (start, known) = of(&program())?;
    if let Some(library) = known {
        return Ok(library);
    }
    let (mut loaded, none) = (0, In::null());
    driver::cuLibraryLoadData(
        Out::of(&mut loaded),
        In::at(start),
        none,
        In::null(),
        0,
        none,
        In::null(),
        0,
    )?;
    let kept = match program().binaries.get_mut(&binary) {
        Some(fatbin) => *fatbin.library.get_or_insert(loaded),
        None => return Err(Error::INVALID_DEVICE_FUNCTION),
    };
    if kept != loaded {
        // Another thread was first.
        driver::cuLibraryUnload(loaded)?;
    }
    Ok(kept)
}

/// Returns a kernel of the program by its function on the host.
pub(crate) fn kernel(host: usize) -> Answer<Handle> {
    device::context()?;
    let named = program().kernels.get(&host).cloned();
    let Named { binary, name } = named.ok_or(Error::INVALID_DEVICE_FUNCTION)?;
    let mut kernel = 0;
    driver::cuLibraryGetKernel(Out::of(&mut kernel), library(binary)?, Text::of(&name))
        .map_err(|_| Error::INVALID_DEVICE_FUNCTION)?;
    Ok(kernel)
}

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
const MAX_THREADS_PER_BLOCK: c_int = 0;

/// Returns a kernel as a function of the current context: a kernel of the program by its function on the host, or what is a handle
/// of the driver already.
pub(crate) fn function(host: usize) -> Answer<Handle> {
    device::context()?;
    let device = device::current()?;
    let known = program().functions.get(&(device, host)).copied();
    if let Some(function) = known {
        return Ok(function);
    }
    let is_of_program = program().kernels.contains_key(&host);
    let kernel = match is_of_program {
        _ if host == 0 => return Err(Error::INVALID_DEVICE_FUNCTION),
        true => kernel(host)?,
        false => host,
    };
    let mut function = 0;
    match driver::cuKernelGetFunction(Out::of(&mut function), kernel) {
        Ok(()) => {
            program().functions.insert((device, host), function);
            Ok(function)
        }
        // A function that the program got from the driver; whatever else it is, no kernel begins there. Since CUDA 13 that is a bad handle.
        Err(_) if !is_of_program => {
            let error = match inside::major() {
                13.. => Error::INVALID_RESOURCE_HANDLE,
                _ => Error::INVALID_DEVICE_FUNCTION,
            };
            let mut threads = 0;
            driver::cuFuncGetAttribute(Out::of(&mut threads), MAX_THREADS_PER_BLOCK, host)
                .map_err(|_| error)?;
            Ok(host)
        }
        Err(error) => Err(error),
    }
}

/// Returns where a variable is on the current device, and its bytes.
fn place_of(Named { binary, name }: &Named) -> Answer<(u64, usize)> {
    let (mut address, mut bytes) = (0, 0);
    let (to, size) = (Out::of(&mut address), Out::of(&mut bytes));
    driver::cuLibraryGetGlobal(to, size, library(*binary)?, Text::of(name))
        .map_err(|_| Error::INVALID_SYMBOL)?;
    Ok((address, bytes))
}

/// Returns what a program knows a function of the current context by: the function on the host, or the driver's own handle.
pub(crate) fn host_of(function: Handle) -> Answer<usize> {
    let device = device::current()?;
    let program = program();
    let is_its = |(key, known): &(&(c_int, usize), &Handle)| key.0 == device && **known == function;
    let found = program.functions.iter().find(is_its);
    Ok(found.map_or(function, |(key, _)| key.1))
}

/// Returns where a variable of the program is on the current device, and its bytes.
pub(crate) fn variable(host: usize) -> Answer<(u64, usize)> {
    device::context()?;
    let named = program().variables.get(&host).cloned();
    place_of(&named.ok_or(Error::INVALID_SYMBOL)?)
}

/// Forgets functions of contexts that end.
pub(crate) fn forget() {
    program().functions.clear();
}

fn add(
    binary: Binary,
    host: usize,
    name: Text,
    to: impl FnOnce(&mut Program) -> &mut HashMap<usize, Named>,
) {
    let mut program = program();
    if let (true, Some(name)) = (program.binaries.contains_key(&binary), name.get()) {
        to(&mut program).insert(host, Named { binary, name });
    }
}

/// Tells the program where its managed variables are.
fn place_managed(binary: Binary) -> Answer {
    device::context()?;
    let variables = program().binaries.get(&binary).map(|it| it.managed.clone());
    for (place, name) in variables.into_iter().flatten() {
        let (address, _) = place_of(&Named { binary, name })?;
        Out::<u64>::at(place).put(address)?;
    }
    Ok(())
}

plain_rows! {
    plain:
    __cudaRegisterFatBinary, __cudaRegisterFatBinaryEnd, __cudaUnregisterFatBinary, __cudaRegisterFunction,
    __cudaRegisterVar, __cudaRegisterManagedVar, __cudaInitModule, __cudaRegisterHostVar,
}

/// Functions that a program calls before `main`, whose answer is no error.
#[allow(non_snake_case, reason = "the runtime's interface")]
mod plain {
    use super::*;

    /// Takes a fatbin, and returns the program's handle of it.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFatBinary(start: usize) -> Binary {
        // An address that no other has, and that stays.
        let binary = Box::into_raw(Box::new(0_usize)).expose_provenance();
        let fatbin = Fatbin {
            start,
            library: None,
            managed: Vec::new(),
        };
        program().binaries.insert(binary, fatbin);
        binary
    }

    /// All that a fatbin has was handed over.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFatBinaryEnd(_binary: Binary) {}

    /// Unloads a fatbin.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaUnregisterFatBinary(binary: Binary) {
        let mut program = program();
        let Some(fatbin) = program.binaries.remove(&binary) else {
            return;
        };
        program.kernels.retain(|_, named| named.binary != binary);
        program.variables.retain(|_, named| named.binary != binary);
        program.functions.clear();
        drop(program);
        if let Some(library) = fatbin.library {
            // At the end of a process its context may be gone before.
            let _ = driver::cuLibraryUnload(library);
        }
    }

    /// Takes a kernel.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFunction(
        binary: Binary,
        host: usize,
        _device: usize,
        name: Text,
        _most_threads: c_int,
        _thread: usize,
        _block: usize,
        _block_size: usize,
        _grid_size: usize,
        _warp_size: usize,
    ) {
        add(binary, host, name, |program| &mut program.kernels);
    }

    /// Takes a variable.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterVar(
        binary: Binary,
        host: usize,
        _device: usize,
        name: Text,
        _is_external: c_int,
        _bytes: usize,
        _is_constant: c_int,
        _is_global: c_int,
    ) {
        add(binary, host, name, |program| &mut program.variables);
    }

    /// Takes a managed variable, whose address the program keeps in a place.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterManagedVar(
        binary: Binary,
        place: usize,
        _device: usize,
        name: Text,
        _is_external: c_int,
        _bytes: usize,
        _is_constant: c_int,
        _is_global: c_int,
    ) {
        add(binary, place, name, |program| &mut program.variables);
        if let (Some(fatbin), Some(name)) = (program().binaries.get_mut(&binary), name.get()) {
            fatbin.managed.push((place, name));
        }
    }

    /// Tells the program where its managed variables are, as it is about to use the first.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaInitModule(binary: Binary) -> c_char {
        c_char::from(place_managed(binary) == Ok(()))
    }

    /// Takes a variable of the host that kernels use; none of them runs where that is of use.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterHostVar(
        _binary: Binary,
        _name: Text,
        _host: usize,
        _bytes: usize,
    ) {
    }
}
