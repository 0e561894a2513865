//! Callers in machine code, and the files that the process has mapped it from.

use std::collections::HashSet;
use std::env;
use std::ffi::{CStr, c_int, c_void};

use recording::Module;

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, is_before: *mut c_int) -> usize;
}

/// `_URC_NO_REASON` and `_URC_NORMAL_STOP`.
const GO_ON: c_int = 0;
const STOP: c_int = 4;

/// The state of a walk from frame to frame.
struct Walk<'a> {
    addresses: &'a mut Vec<u64>,
    deepest: usize,
}

/// Appends the addresses of the current callers, the innermost first, each within the instruction that calls. The first
/// are this library's own.
pub(crate) fn walk(addresses: &mut Vec<u64>, deepest: usize) {
    let mut walk = Walk { addresses, deepest };
    // SAFETY: `each` gets the data, which outlives the call, and changes no frame.
    unsafe { _Unwind_Backtrace(each, (&raw mut walk).cast()) };
}

unsafe extern "C-unwind" fn each(context: *mut c_void, data: *mut c_void) -> c_int {
    // SAFETY: it is that of `walk`, which nothing else uses meanwhile.
    let walk = unsafe { &mut *data.cast::<Walk<'_>>() };
    let mut is_before = 0;
    // SAFETY: the unwinder's context, and a place to write to.
    let address = unsafe { _Unwind_GetIPInfo(context, &mut is_before) } as u64;
    if address == 0 || walk.addresses.len() == walk.deepest {
        return STOP;
    }
    // What a call returns to may be behind the function, where the call never returns.
    walk.addresses.push(address - u64::from(is_before == 0));
    GO_ON
}

/// The files that were written already.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    written: HashSet<u64>,
}

impl Modules {
    /// The files that have code at the addresses and were not returned before.
    pub(crate) fn first_seen(&mut self, addresses: &[u64]) -> Vec<Module> {
        let mut loaded: Vec<Module> = Vec::new();
        // SAFETY: `add` gets the list, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut loaded).cast()) };
        let has_one = |module: &Module| {
            let code = module.start..module.end;
            addresses.iter().any(|address| code.contains(address))
        };
        loaded.retain(|module| has_one(module) && self.written.insert(module.start));
        loaded
    }
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's description, and the list of `Modules::first_seen`.
    let (info, loaded) = unsafe { (&*info, &mut *data.cast::<Vec<Module>>()) };
    if info.dlpi_phdr.is_null() || info.dlpi_name.is_null() {
        return 0;
    }
    // SAFETY: the loader says how many headers there are.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    // SAFETY: the loader's names end with a zero.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    let path = match path.is_empty() {
        // The program itself.
        true => env::current_exe().map_or_else(|_| String::new(), |it| it.display().to_string()),
        false => path.into_owned(),
    };
    let code = headers
        .iter()
        .filter(|it| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_X != 0);
    loaded.extend(code.map(|header| Module {
        path: path.clone(),
        start: info.dlpi_addr + header.p_vaddr,
        end: info.dlpi_addr + header.p_vaddr + header.p_memsz,
        bias: info.dlpi_addr,
    }));
    0
}
