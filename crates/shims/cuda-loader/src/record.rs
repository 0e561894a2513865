//! Where a kernel panicked.
//!
//! After a panic the driver refuses all that is asked of the GPU, so that nothing can be copied from it. What
//! kernels record must therefore lie in memory of the host: ptx-builder's modules have a variable for its
//! address, `__ptx_std_panic`, which is written when the module is loaded. What the record refers to is
//! read then, too.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_uint, c_void};
use std::fmt;
use std::mem::{offset_of, transmute};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use cust_raw::{CUcontext, CUdeviceptr, CUmodule};

use crate::entry;

/// Calls the driver itself: what is asked here is no part of what the program does, and not recorded. `None`
/// where the driver has no such function.
macro_rules! call {
    ($name:ident($($ty:ty),*), $($argument:expr),*) => {{
        static ADDRESS: entry::Cached = entry::Cached::new();
        ADDRESS.get(stringify!($name)).map(|address| {
            // SAFETY: the driver's function of this name has this prototype in every version; what the
            // pointers point to is as large as the arguments say.
            unsafe {
                let function: unsafe extern "C" fn($($ty),*) -> c_uint = transmute(address);
                function($($argument),*)
            }
        })
    }};
}

/// The record that a kernel left when it panicked: [`panic()`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// File, line and column, as `src/lib.rs:12:5`, where the PTX has them.
    pub place: Option<String>,
    /// The block's index: x, y, z.
    pub block: [u32; 3],
    /// The thread's index in its block: x, y, z.
    pub thread: [u32; 3],
    /// The failed check, if it was the compiler's own: `index out of bounds`.
    pub what: Option<String>,
}

impl fmt::Display for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.as_deref().unwrap_or("at an unknown place");
        let what = self.what.as_deref().unwrap_or("panicked");
        let Panic { block, thread, .. } = self;
        write!(
            formatter,
            "{place}, block {block:?}, thread {thread:?}: {what}"
        )
    }
}

/// The first panic in a kernel of the calling thread's current context, of which the driver reports no more
/// than that a launch failed. `None` where none panicked, and for kernels that were built with another
/// `CudaBuilder::panics` or loaded without this crate.
pub fn panic() -> Option<Panic> {
    let contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    match current() {
        Some(context) => contexts.get(&context)?.panic(),
        // Nor does the driver say in which context, after a failure.
        None => contexts.values().find_map(Context::panic),
    }
}

/// As ptx-std writes it (arch/nvptx/panic.rs).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Record {
    complete: u32,
    block: [u32; 3],
    thread: [u32; 3],
    kind: u32,
    place: u64,
}

const _: () = assert!(offset_of!(Record, place) == 32);

/// A page of the host's memory that the GPU writes to. It is never given back: kernels may run for as long as
/// the process does.
#[repr(C, align(4096))]
struct Page(Record);

/// The record of a context and its modules' places, the latest last.
struct Context {
    page: *mut Page,
    modules: Vec<Places>,
}

// SAFETY: the page is the process's, and read as memory that others write.
unsafe impl Send for Context {}

/// The record of a module that no driver has loaded, but an emulator.
pub struct PanicRecord(Context);

// SAFETY: as for `Context`, which is not changed.
unsafe impl Sync for PanicRecord {}

impl PanicRecord {
    /// Bytes of the record.
    pub const BYTES: usize = size_of::<Record>();

    /// A record for a module whose `__ptx_std_panic_places` are at an address, and which has these
    /// `__ptx_std_panic_texts`.
    pub fn new(places: u64, texts: &[u8]) -> PanicRecord {
        let texts = std::str::from_utf8(texts).ok();
        PanicRecord(Context {
            page: Box::into_raw(Box::new(Page(Record::default()))),
            modules: texts
                .and_then(|texts| Places::parse(places, texts))
                .into_iter()
                .collect(),
        })
    }

    /// Returns the value for the module's `__ptx_std_panic`.
    pub fn address(&self) -> u64 {
        self.0.page.expose_provenance() as u64
    }

    /// The panic that was recorded, if one was, after which the next may be.
    pub fn take(&self) -> Option<Panic> {
        let panic = self.0.panic()?;
        // SAFETY: a page of the process's; the launch that wrote it has ended.
        unsafe { ptr::write_volatile(&raw mut (*self.0.page).0, Record::default()) };
        Some(panic)
    }
}

impl Drop for PanicRecord {
    fn drop(&mut self) {
        // SAFETY: from a box; with the module its kernels are gone.
        drop(unsafe { Box::from_raw(self.0.page) });
    }
}

/// By address of the context.
static CONTEXTS: Mutex<BTreeMap<usize, Context>> = Mutex::new(BTreeMap::new());

impl Context {
    fn panic(&self) -> Option<Panic> {
        // SAFETY: a page that is never given back; what the GPU wrote before `complete` is there.
        let record = unsafe { ptr::read_volatile(&raw const (*self.page).0) };
        (record.complete != 0).then(|| {
            let modules = self.modules.iter().rev();
            let (place, what) = modules
                .filter_map(|module| module.texts(&record))
                .next()
                .unwrap_or_default();
            Panic {
                place,
                block: record.block,
                thread: record.thread,
                what,
            }
        })
    }
}

/// The places that a module's code can panic at, and what it can say.
#[derive(Debug, Default)]
struct Places {
    /// The address of the first.
    first: u64,
    places: Vec<String>,
    kinds: Vec<String>,
}

/// Bytes from one place to the next.
const PLACE_BYTES: u64 = 24;

impl Places {
    /// As ptx-builder writes it (ptx/panics/locations.rs): the number of places, those, and the kinds, one per line.
    fn parse(first: u64, text: &str) -> Option<Places> {
        let mut lines = text.lines().map(str::to_owned);
        let count: usize = lines.next()?.parse().ok()?;
        let places: Vec<String> = lines.by_ref().take(count).collect();
        (places.len() == count).then(|| Places {
            first,
            places,
            kinds: lines.collect(),
        })
    }

    /// Place and kind, if it is a record of this module.
    fn texts(&self, record: &Record) -> Option<(Option<String>, Option<String>)> {
        let offset = record.place.checked_sub(self.first)?;
        let place = self.places.get((offset / PLACE_BYTES) as usize)?;
        let kind = (record.kind as usize).checked_sub(1);
        let what = kind.and_then(|kind| self.kinds.get(kind));
        Some((Some(place.clone()), what.cloned()))
    }
}

/// Gives the module's kernels a record to write, if they ask for one. Without one they panic all the same.
pub(crate) fn prepare(module: CUmodule) {
    let Some(context) = current() else { return };
    let Some((variable, _)) = global(module, c"__ptx_std_panic") else {
        return;
    };
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = contexts.remove(&context);
    // A context that has gone took the registration with it, and another may have its address.
    let usable = known.and_then(|known| Some((device_address(known.page)?, known)));
    let (address, mut known) = match usable.or_else(registered) {
        Some(usable) => usable,
        None => return,
    };
    if let Some(places) = places(module) {
        known.modules.retain(|other| other.first != places.first);
        known.modules.push(places);
    }
    write(variable, address);
    contexts.insert(context, known);
}

/// A new page, and its address on the GPU.
fn registered() -> Option<(u64, Context)> {
    const PORTABLE_AND_MAPPED: c_uint = 3;
    let page = Box::into_raw(Box::new(Page(Record::default())));
    let result = call!(
        cuMemHostRegister_v2(*mut c_void, usize, c_uint),
        page.cast(),
        size_of::<Page>(),
        PORTABLE_AND_MAPPED
    );
    let address = (result == Some(0)).then(|| device_address(page)).flatten();
    let Some(address) = address else {
        // SAFETY: from a box, and nobody else has it: an unmapped page the GPU cannot write to.
        drop(unsafe { Box::from_raw(page) });
        return None;
    };
    let modules = Vec::new();
    Some((address, Context { page, modules }))
}

/// Where the current context sees the page, if it does.
fn device_address(page: *mut Page) -> Option<u64> {
    let mut address: CUdeviceptr = 0;
    let result = call!(
        cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint),
        &mut address,
        page.cast(),
        0
    );
    (result == Some(0)).then_some(address)
}

fn places(module: CUmodule) -> Option<Places> {
    let (first, _) = global(module, c"__ptx_std_panic_places")?;
    let (texts, bytes) = global(module, c"__ptx_std_panic_texts")?;
    let mut text = vec![0u8; bytes];
    let result = call!(
        cuMemcpyDtoH_v2(*mut c_void, CUdeviceptr, usize),
        text.as_mut_ptr().cast(),
        texts,
        bytes
    );
    let text = String::from_utf8(text).ok().filter(|_| result == Some(0))?;
    Places::parse(first, &text)
}

/// Address and bytes of the module's variable.
fn global(module: CUmodule, name: &CStr) -> Option<(CUdeviceptr, usize)> {
    let (mut address, mut bytes): (CUdeviceptr, usize) = (0, 0);
    let result = call!(
        cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const std::ffi::c_char),
        &mut address,
        &mut bytes,
        module,
        name.as_ptr()
    );
    (result == Some(0)).then_some((address, bytes))
}

fn write(variable: CUdeviceptr, address: u64) {
    // A record that cannot be had is missed when a kernel panics, and not before.
    let _ = call!(
        cuMemcpyHtoD_v2(CUdeviceptr, *const c_void, usize),
        variable,
        (&raw const address).cast(),
        size_of::<u64>()
    );
}

/// The address of the calling thread's context.
fn current() -> Option<usize> {
    let mut context: CUcontext = ptr::null_mut();
    let result = call!(cuCtxGetCurrent(*mut CUcontext), &mut context);
    (result == Some(0) && !context.is_null()).then_some(context as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "2\nsrc/lib.rs:12:5\nsrc/a b.rs:7:1\nindex out of bounds\nno memory\n";

    fn context(record: Record) -> Context {
        let modules = [(1 << 20, TEXT), (1 << 30, "0\n"), (1 << 10, "x\n")];
        let places = modules.map(|(first, text)| Places::parse(first, text));
        Context {
            page: Box::into_raw(Box::new(Page(record))),
            modules: places.into_iter().flatten().collect(),
        }
    }

    fn said(kind: u32, place: u64) -> String {
        let record = Record {
            complete: 1,
            block: [3, 0, 0],
            thread: [17, 1, 0],
            kind,
            place,
        };
        let panic = context(record).panic();
        panic.map(|panic| panic.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_record_is_told_with_the_texts_of_its_module() {
        let first = 1 << 20;
        assert_eq!(
            said(1, first),
            "src/lib.rs:12:5, block [3, 0, 0], thread [17, 1, 0]: index out of bounds"
        );
        assert_eq!(
            said(0, first + PLACE_BYTES),
            "src/a b.rs:7:1, block [3, 0, 0], thread [17, 1, 0]: panicked"
        );
        let unknown = "at an unknown place, block [3, 0, 0], thread [17, 1, 0]: panicked";
        for place in [0, first - 1, first + 2 * PLACE_BYTES, 1 << 30] {
            assert_eq!(said(9, place), unknown);
        }
    }

    #[test]
    fn a_record_that_is_not_complete_is_none() {
        assert_eq!(context(Record::default()).panic(), None);
        assert_eq!(
            Places::parse(0, "3\nsrc/lib.rs:1:1\n").map(|it| it.first),
            None
        );
    }
}
