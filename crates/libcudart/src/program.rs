//! The program's kernels and variables, which its constructors hand over, by the addresses that stand for them on the host.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::api::Row;
use crate::arguments::{In, Out, Text};
use crate::device;
use crate::driver::{self, Handle};
use crate::status::{Answer, Error};

/// The kernels of a source file: a fatbin, loaded when the first of them is needed.
struct Binary {
    fatbin: usize,
    library: Option<Answer<Handle>>,
    /// Where the program keeps the address of each managed variable.
    managed: Vec<(usize, CString)>,
}

/// A kernel or variable: in a binary, of a name.
struct Named {
    binary: usize,
    name: CString,
}

#[derive(Default)]
struct Program {
    binaries: Vec<Option<Binary>>,
    kernels: HashMap<usize, Named>,
    variables: HashMap<usize, Named>,
    /// Kernels as functions of a device's context.
    functions: HashMap<(c_int, usize), Handle>,
}

fn program() -> MutexGuard<'static, Program> {
    static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(Mutex::default);
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Program {
    fn library(&mut self, binary: usize) -> Answer<Handle> {
        let binary = self.binaries.get_mut(binary).and_then(Option::as_mut);
        let binary = binary.ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        let fatbin = binary.fatbin;
        *binary.library.get_or_insert_with(|| {
            let (mut library, none) = (0, In::null());
            driver::cuLibraryLoadData(
                Out::of(&mut library),
                In::at(fatbin),
                none,
                In::null(),
                0,
                none,
                In::null(),
                0,
            )?;
            Ok(library)
        })
    }

    fn kernel(&mut self, host: usize) -> Answer<Handle> {
        let named = self.kernels.get(&host);
        let Named { binary, name } = named.ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        let (binary, name) = (*binary, name.clone());
        let library = self.library(binary)?;
        let mut kernel = 0;
        driver::cuLibraryGetKernel(Out::of(&mut kernel), library, Text::of(&name))
            .map_err(|_| Error::INVALID_DEVICE_FUNCTION)?;
        Ok(kernel)
    }
}

/// Returns a kernel of the program by its function on the host.
pub(crate) fn kernel(host: usize) -> Answer<Handle> {
    device::context()?;
    program().kernel(host)
}

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
const MAX_THREADS_PER_BLOCK: c_int = 0;

/// Returns a kernel as a function of the current context: a kernel of the program by its function on the host, or what is a handle
/// of the driver already.
pub(crate) fn function(host: usize) -> Answer<Handle> {
    device::context()?;
    let device = device::current()?;
    let mut program = program();
    if let Some(&function) = program.functions.get(&(device, host)) {
        return Ok(function);
    }
    if host == 0 {
        return Err(Error::INVALID_DEVICE_FUNCTION);
    }
    let kernel = match program.kernels.contains_key(&host) {
        true => program.kernel(host)?,
        false => host,
    };
    let mut function = 0;
    match driver::cuKernelGetFunction(Out::of(&mut function), kernel) {
        Ok(()) => {
            program.functions.insert((device, host), function);
            Ok(function)
        }
        // A function that the program got from the driver; whatever else it is, no kernel begins there.
        Err(_) if kernel == host => {
            let mut threads = 0;
            driver::cuFuncGetAttribute(Out::of(&mut threads), MAX_THREADS_PER_BLOCK, host)
                .map_err(|_| Error::INVALID_DEVICE_FUNCTION)?;
            Ok(host)
        }
        Err(error) => Err(error),
    }
}

/// Returns where a variable of the program is on the current device, and its bytes.
pub(crate) fn variable(host: usize) -> Answer<(u64, usize)> {
    device::context()?;
    let mut program = program();
    let named = program.variables.get(&host).ok_or(Error::INVALID_SYMBOL)?;
    let (binary, name) = (named.binary, named.name.clone());
    let library = program.library(binary)?;
    let (mut address, mut bytes) = (0, 0);
    driver::cuLibraryGetGlobal(
        Out::of(&mut address),
        Out::of(&mut bytes),
        library,
        Text::of(&name),
    )
    .map_err(|_| Error::INVALID_SYMBOL)?;
    Ok((address, bytes))
}

/// Forgets functions of contexts that end.
pub(crate) fn forget() {
    program().functions.clear();
}

/// The number of a binary in the handle that the program has of it.
fn number(binary: In<usize>) -> Option<usize> {
    binary.get().ok()
}

fn add(
    binary: In<usize>,
    host: usize,
    name: Text,
    to: impl FnOnce(&mut Program) -> &mut HashMap<usize, Named>,
) {
    if let (Some(binary), Some(name)) = (number(binary), name.get()) {
        to(&mut program()).insert(host, Named { binary, name });
    }
}

/// Tells the program where its managed variables are.
fn place_managed(binary: usize) -> Answer {
    device::context()?;
    let mut program = program();
    let library = program.library(binary)?;
    let variables = program.binaries[binary]
        .as_ref()
        .map(|it| it.managed.clone());
    for (place, name) in variables.into_iter().flatten() {
        let (mut address, mut bytes) = (0, 0);
        driver::cuLibraryGetGlobal(
            Out::of(&mut address),
            Out::of(&mut bytes),
            library,
            Text::of(&name),
        )?;
        Out::<u64>::at(place).put(address)?;
    }
    Ok(())
}

/// Functions that a program calls before `main`.
pub(crate) const ROWS: &[Row] = &[
    row("__cudaRegisterFatBinary", || {
        plain::__cudaRegisterFatBinary as *const () as usize
    }),
    row("__cudaRegisterFatBinaryEnd", || {
        plain::__cudaRegisterFatBinaryEnd as *const () as usize
    }),
    row("__cudaUnregisterFatBinary", || {
        plain::__cudaUnregisterFatBinary as *const () as usize
    }),
    row("__cudaRegisterFunction", || {
        plain::__cudaRegisterFunction as *const () as usize
    }),
    row("__cudaRegisterVar", || {
        plain::__cudaRegisterVar as *const () as usize
    }),
    row("__cudaRegisterManagedVar", || {
        plain::__cudaRegisterManagedVar as *const () as usize
    }),
    row("__cudaInitModule", || {
        plain::__cudaInitModule as *const () as usize
    }),
    row("__cudaRegisterHostVar", || {
        plain::__cudaRegisterHostVar as *const () as usize
    }),
];

const fn row(name: &'static str, address: fn() -> usize) -> Row {
    Row { name, address }
}

/// Functions whose answer is no error.
#[allow(non_snake_case, reason = "the runtime's interface")]
mod plain {
    use super::*;

    /// Takes a fatbin, and returns the program's handle of it.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFatBinary(fatbin: usize) -> *mut usize {
        let mut program = program();
        program.binaries.push(Some(Binary {
            fatbin,
            library: None,
            managed: Vec::new(),
        }));
        Box::into_raw(Box::new(program.binaries.len() - 1))
    }

    /// All that a fatbin has was handed over.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFatBinaryEnd(_binary: In<usize>) {}

    /// Unloads a fatbin.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaUnregisterFatBinary(binary: In<usize>) {
        let Some(number) = number(binary) else {
            return;
        };
        let mut program = program();
        program.kernels.retain(|_, named| named.binary != number);
        program.variables.retain(|_, named| named.binary != number);
        program.functions.clear();
        let binary = program.binaries.get_mut(number).and_then(Option::take);
        if let Some(Ok(library)) = binary.and_then(|it| it.library) {
            // At the end of a process its context may be gone before.
            let _ = driver::cuLibraryUnload(library);
        }
    }

    /// Takes a kernel.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterFunction(
        binary: In<usize>,
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
        binary: In<usize>,
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
        binary: In<usize>,
        place: usize,
        _device: usize,
        name: Text,
        _is_external: c_int,
        _bytes: usize,
        _is_constant: c_int,
        _is_global: c_int,
    ) {
        add(binary, place, name, |program| &mut program.variables);
        let (Some(number), Some(name)) = (number(binary), name.get()) else {
            return;
        };
        if let Some(Some(binary)) = program().binaries.get_mut(number) {
            binary.managed.push((place, name));
        }
    }

    /// Tells the program where its managed variables are, as it is about to use the first.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaInitModule(binary: In<usize>) -> c_char {
        let placed = number(binary).map(place_managed);
        c_char::from(placed == Some(Ok(())))
    }

    /// Takes a variable of the host that kernels use; none of them runs where that is of use.
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn __cudaRegisterHostVar(
        _binary: In<usize>,
        _name: Text,
        _host: usize,
        _bytes: usize,
    ) {
    }
}
