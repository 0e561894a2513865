//! A client of the library: it finds functions as programs do, by `dlopen` and `dlsym`.

use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::Library;

/// More than any function has.
const ARGUMENTS: usize = 12;

/// Kernels: `add` stays within its vectors, `beyond` does not, and threads of `racing` write one word.
pub(crate) const PTX: &str = include_str!("kernels.ptx");

pub(crate) const INVALID_VALUE: u32 = 1;
pub(crate) const INVALID_CONTEXT: u32 = 201;
pub(crate) const INVALID_HANDLE: u32 = 400;
pub(crate) const NOT_FOUND: u32 = 500;
pub(crate) const ILLEGAL_ADDRESS: u32 = 700;
pub(crate) const NOT_READY: u32 = 600;
pub(crate) const NOT_PERMITTED: u32 = 800;
pub(crate) const NOT_SUPPORTED: u32 = 801;
pub(crate) const GRAPH_EXEC_UPDATE_FAILURE: u32 = 910;

/// The library, which Cargo has built beside this program because its package is a dependency of this one's.
fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let own = std::env::current_exe().expect("this program's path");
        let path = own.with_file_name("libridgepoint_libcuda.so");
        // SAFETY: it runs no code when it is loaded.
        unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// Calls a function with numbers and addresses, of which each takes a register or 8 bytes of stack.
pub(crate) fn call(name: &str, arguments: &[u64]) -> u32 {
    type Any =
        unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
    // SAFETY: the library's functions have integers and pointers alone; more arguments than they have are not read.
    let function = unsafe { library().get::<Any>(name.as_bytes()) };
    let function = function.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut all = [0; ARGUMENTS];
    all[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f, g, h, i, j, k, l] = all;
    // SAFETY: addresses among the arguments are null or of this program's memory, which is as large as the function asks.
    unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) }
}

/// Calls a function that must succeed.
pub(crate) fn ok(name: &str, arguments: &[u64]) {
    assert_eq!(call(name, arguments), 0, "{name}({arguments:x?})");
}

/// Calls a function that must succeed, and gives what it writes to its first argument.
pub(crate) fn made(name: &str, arguments: &[u64]) -> u64 {
    let mut made = 0u64;
    let mut all = vec![&raw mut made as u64];
    all.extend(arguments);
    ok(name, &all);
    made
}

/// Lets one test at a time go on: the library has one state for the process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    ok("cuInit", &[0]);
    one
}

/// A context of this test's own, which is the only one that runs.
pub(crate) struct Context {
    pub(crate) handle: u64,
    pub(crate) module: u64,
    _one: MutexGuard<'static, ()>,
}

impl Context {
    pub(crate) fn new() -> Context {
        let one = alone();
        let handle = made("cuCtxCreate_v2", &[0, 0]);
        let ptx = CString::new(PTX).expect("text");
        let module = made("cuModuleLoadData", &[ptx.as_ptr() as u64]);
        Context {
            handle,
            module,
            _one: one,
        }
    }

    pub(crate) fn function(&self, name: &str) -> u64 {
        let name = CString::new(name).expect("text");
        made("cuModuleGetFunction", &[self.module, name.as_ptr() as u64])
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        call("cuCtxDestroy_v2", &[self.handle]);
    }
}

/// Memory of the device with these words.
pub(crate) fn device_words(words: &[u32]) -> u64 {
    let memory = made("cuMemAlloc_v2", &[size_of_val(words) as u64]);
    ok(
        "cuMemcpyHtoD_v2",
        &[memory, words.as_ptr() as u64, size_of_val(words) as u64],
    );
    memory
}

/// Words of the device's memory.
pub(crate) fn host_words(memory: u64, count: usize) -> Vec<u32> {
    let mut words = vec![0u32; count];
    ok(
        "cuMemcpyDtoH_v2",
        &[words.as_mut_ptr() as u64, memory, 4 * count as u64],
    );
    words
}

/// Launches a kernel of (count, x, y) in one block of 64 threads.
pub(crate) fn launch(function: u64, stream: u64, count: u32, (x, y): (u64, u64)) -> u32 {
    let addresses = [
        &raw const count as u64,
        &raw const x as u64,
        &raw const y as u64,
    ];
    let parameters = addresses.as_ptr() as u64;
    call(
        "cuLaunchKernel",
        &[function, 1, 1, 1, 64, 1, 1, 0, stream, parameters, 0],
    )
}
