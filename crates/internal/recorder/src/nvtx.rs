//! Ranges of NVTX. Its functions are compiled into a program with the addresses of what they call, and those are 0 until the
//! library that `NVTX_INJECTION64_PATH` names has put its own there: a program that is not recorded pays nothing.
//!
//! A program may have several copies of NVTX, one for each library that was built with it; each attaches itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock};

use recording::{Range, Record};

use crate::{Recorder, lock, thread};

/// NVTX's answer to a library that attaches itself: its table of this number.
pub type ExportTable = unsafe extern "C" fn(u32) -> *const c_void;

/// Gives the process's recorder, where there is one.
pub type Recording = fn() -> Option<&'static Recorder>;

/// `NVTX_ETID_CALLBACKS`
const CALLBACKS: u32 = 1;

/// `NvtxExportTableCallbacks`
#[repr(C)]
struct Callbacks {
    size: usize,
    /// Gives a module's array of the places of addresses, and its length.
    places: unsafe extern "C" fn(u32, *mut *const *mut Address, *mut u32) -> c_int,
}

/// Of a function; null for none.
type Address = *const c_void;

static RECORDING: OnceLock<Recording> = OnceLock::new();

/// Puts the functions below where a copy of NVTX calls them. Says whether it could.
///
/// # Safety
/// `export_table` is NVTX's, as it gives it to `InitializeInjectionNvtx2`.
pub unsafe fn attach(export_table: ExportTable, recording: Recording) -> bool {
    let _ = RECORDING.set(recording);
    // SAFETY: the table of this number is null or is such a table, which lives as long as the copy of NVTX.
    let callbacks = unsafe { export_table(CALLBACKS).cast::<Callbacks>().as_ref() };
    let Some(callbacks) = callbacks else {
        return false;
    };
    // `NvtxCallbackModule`, with the functions' numbers in it: `NvtxCallbackIdCore` and `NvtxCallbackIdCore2`.
    let core: [(usize, Address); 8] = [
        (1, mark_ex as Address),
        (2, mark as Address),
        (4, start_ex as Address),
        (5, start as Address),
        (7, end as Address),
        (8, push_ex as Address),
        (9, push as Address),
        (11, pop as Address),
    ];
    let of_domains: [(usize, Address); 7] = [
        (1, domain_mark as Address),
        (2, domain_start as Address),
        (3, domain_end as Address),
        (4, domain_push as Address),
        (5, domain_pop as Address),
        (10, register as Address),
        (12, create_domain as Address),
    ];
    // SAFETY: the functions have the prototypes of those that NVTX has at these numbers.
    unsafe { callbacks.put(1, &core) && callbacks.put(5, &of_domains) }
}

impl Callbacks {
    /// # Safety
    /// Each function has the prototype of the module's function of its number.
    unsafe fn put(&self, module: u32, functions: &[(usize, Address)]) -> bool {
        let (mut places, mut length) = (ptr::null(), 0);
        // SAFETY: both are places to write to.
        if unsafe { (self.places)(module, &mut places, &mut length) } == 0 || places.is_null() {
            return false;
        }
        for &(number, function) in functions {
            if number < length as usize {
                // SAFETY: the array is so long, and NVTX lets a library write these places while it attaches itself.
                unsafe {
                    let place = *places.add(number);
                    if !place.is_null() {
                        *place = function;
                    }
                }
            }
        }
        true
    }
}

/// A range that goes on: its number where it is recorded, and whether it is one of those that were selected.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    id: Option<u32>,
    is_selected: bool,
}

thread_local! {
    /// The ranges that this thread has pushed, with their domains.
    static PUSHED: RefCell<Vec<(usize, Open)>> = const { RefCell::new(Vec::new()) };
}

/// The ranges of the process, by the numbers that the program knows them by.
static STARTED: LazyLock<Mutex<HashMap<u64, Open>>> = LazyLock::new(Mutex::default);

fn recorder() -> Option<&'static Recorder> {
    // A process that was forked off must not wait for locks that its parent's threads held.
    let recorder = RECORDING.get().and_then(|recording| recording());
    recorder.filter(|it| it.is_own())
}

/// Runs a body that must not unwind into the program: a panic's message is all that becomes of it.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

impl Open {
    fn begin(name: &CStr, thread: u32) -> Open {
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        let Some(recorder) = recorder() else {
            return Open::default();
        };
        let name = name.to_string_lossy();
        let time = (recorder.clock)();
        let (is_selected, turns) = recorder.gate.range_begins(&name, time);
        recorder.turn(&turns);
        let id = recorder.gate.has_time(time).then(|| {
            let id = NUMBERS.fetch_add(1, Ordering::Relaxed);
            let name = recorder.text(&name);
            recorder.write(&Record::Range(Range::Begin {
                id,
                thread,
                name,
                time,
            }));
            id
        });
        Open { id, is_selected }
    }

    fn end(self) {
        let Some(recorder) = recorder() else { return };
        let time = (recorder.clock)();
        if let Some(id) = self.id {
            recorder.write(&Record::Range(Range::End { id, time }));
        }
        if self.is_selected {
            recorder.turn(&recorder.gate.range_ends(time));
        }
    }
}

fn marked(name: &CStr) {
    guarded((), || {
        let Some(recorder) = recorder() else { return };
        let time = (recorder.clock)();
        if recorder.gate.has_time(time) {
            let name = recorder.text(&name.to_string_lossy());
            recorder.write(&Record::Range(Range::Mark {
                thread: thread(),
                name,
                time,
            }));
        }
    });
}

/// Answers the range's level, from 0.
fn pushed(domain: usize, name: &CStr) -> c_int {
    guarded(-1, || {
        let open = Open::begin(name, thread());
        // A thread that ends has no variables any more.
        let level = PUSHED.try_with(|pushed| {
            let mut pushed = pushed.borrow_mut();
            pushed.push((domain, open));
            pushed.len() as c_int - 1
        });
        level.unwrap_or(-1)
    })
}

/// Answers the level of the range that ends; less than 0 where none does.
fn popped(domain: usize) -> c_int {
    guarded(-1, || {
        let last = PUSHED.try_with(|pushed| {
            let mut pushed = pushed.borrow_mut();
            let level = pushed.iter().rposition(|it| it.0 == domain)?;
            Some((level, pushed.remove(level).1))
        });
        let Some((level, open)) = last.ok().flatten() else {
            return -1;
        };
        open.end();
        level as c_int
    })
}

/// Answers the range's number.
fn started(name: &CStr) -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    guarded(0, || {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let open = Open::begin(name, 0);
        lock(&STARTED).insert(number, open);
        number
    })
}

fn ended(number: u64) {
    guarded((), || {
        let open = lock(&STARTED).remove(&number);
        if let Some(open) = open {
            open.end();
        }
    });
}

/// # Safety
/// The text is null, or ends with a zero and lives as long as is asked.
unsafe fn text<'t>(text: *const c_char) -> &'t CStr {
    match text.is_null() {
        true => c"?",
        // SAFETY: the caller's contract.
        false => unsafe { CStr::from_ptr(text) },
    }
}

/// The beginning of `nvtxEventAttributes_t`.
#[repr(C)]
struct Attributes {
    version: u16,
    size: u16,
    category: u32,
    colour: [u32; 2],
    payload_type: u32,
    reserved: u32,
    payload: u64,
    message_type: u32,
    message: *const c_char,
}

impl Attributes {
    /// `nvtxMessageType_t`: texts, and handles of [`register`], which are texts, too. Those of wide characters are not read.
    const ASCII: u32 = 1;
    const REGISTERED: u32 = 3;

    /// # Safety
    /// The attributes are null, or NVTX's.
    unsafe fn name<'t>(attributes: *const Attributes) -> &'t CStr {
        // SAFETY: the caller's contract, and by it the message is a text where its type says so.
        unsafe {
            match attributes.as_ref() {
                Some(it)
                    if matches!(it.message_type, Attributes::ASCII | Attributes::REGISTERED) =>
                {
                    text(it.message)
                }
                _ => c"?",
            }
        }
    }
}

// NVTX's functions, by its prototypes. SAFETY of all: NVTX's callers keep its contract, by which texts end with a zero and
// attributes are such; neither is used after the call.

unsafe extern "C" fn mark(name: *const c_char) {
    // SAFETY: as above.
    marked(unsafe { text(name) });
}

unsafe extern "C" fn mark_ex(attributes: *const Attributes) {
    // SAFETY: as above.
    marked(unsafe { Attributes::name(attributes) });
}

unsafe extern "C" fn start(name: *const c_char) -> u64 {
    // SAFETY: as above.
    started(unsafe { text(name) })
}

unsafe extern "C" fn start_ex(attributes: *const Attributes) -> u64 {
    // SAFETY: as above.
    started(unsafe { Attributes::name(attributes) })
}

unsafe extern "C" fn end(number: u64) {
    ended(number);
}

unsafe extern "C" fn push(name: *const c_char) -> c_int {
    // SAFETY: as above.
    pushed(0, unsafe { text(name) })
}

unsafe extern "C" fn push_ex(attributes: *const Attributes) -> c_int {
    // SAFETY: as above.
    pushed(0, unsafe { Attributes::name(attributes) })
}

unsafe extern "C" fn pop() -> c_int {
    popped(0)
}

unsafe extern "C" fn domain_mark(_: usize, attributes: *const Attributes) {
    // SAFETY: as above.
    marked(unsafe { Attributes::name(attributes) });
}

unsafe extern "C" fn domain_start(_: usize, attributes: *const Attributes) -> u64 {
    // SAFETY: as above.
    started(unsafe { Attributes::name(attributes) })
}

unsafe extern "C" fn domain_end(_: usize, number: u64) {
    ended(number);
}

unsafe extern "C" fn domain_push(domain: usize, attributes: *const Attributes) -> c_int {
    // SAFETY: as above.
    pushed(domain, unsafe { Attributes::name(attributes) })
}

unsafe extern "C" fn domain_pop(domain: usize) -> c_int {
    popped(domain)
}

/// Keeps a text for the program's life, and answers with a handle of it: its address.
unsafe extern "C" fn register(_: usize, name: *const c_char) -> *const c_char {
    // SAFETY: as above.
    CString::from(unsafe { text(name) }).into_raw()
}

/// Answers a handle that no other domain has. Without one, a program takes it that nobody listens.
unsafe extern "C" fn create_domain(_: *const c_char) -> usize {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    NUMBERS.fetch_add(1, Ordering::Relaxed) as usize
}

#[cfg(test)]
mod tests {
    use std::mem;

    use recording::Recording as Records;

    use super::*;

    const LENGTH: usize = 16;

    /// A copy of NVTX: the addresses that its functions call, by module.
    static mut ADDRESSES: [[Address; LENGTH]; 2] = [[ptr::null(); LENGTH]; 2];

    unsafe extern "C" fn export_table(number: u32) -> *const c_void {
        static CALLBACKS: Callbacks = Callbacks {
            size: size_of::<Callbacks>(),
            places,
        };
        assert_eq!(number, 1);
        (&raw const CALLBACKS).cast()
    }

    unsafe extern "C" fn places(
        module: u32,
        places: *mut *const *mut Address,
        length: *mut u32,
    ) -> c_int {
        let module: usize = match module {
            1 => 0,
            5 => 1,
            _ => return 0,
        };
        let of = |number| {
            // SAFETY: the address of a place, which nobody else has.
            unsafe { &raw mut ADDRESSES[module][number] }
        };
        let all: [*mut Address; LENGTH] = std::array::from_fn(of);
        // SAFETY: places to write to; the array lives to the end.
        unsafe {
            *places = Box::leak(Box::new(all)).as_ptr();
            *length = LENGTH as u32;
        }
        1
    }

    /// The function that NVTX calls, by module and number.
    fn called<F: Copy>(module: usize, number: usize) -> F {
        // SAFETY: the test attaches before it calls, and on one thread; `F` is the prototype at this number.
        unsafe {
            let address = ADDRESSES[module][number];
            assert!(!address.is_null());
            mem::transmute_copy(&address)
        }
    }

    static RECORDER: OnceLock<Recorder> = OnceLock::new();

    #[test]
    fn ranges_are_recorded_by_the_functions_that_nvtx_is_given() {
        static TIME: AtomicU64 = AtomicU64::new(100);
        let folder = tempfile::tempdir().expect("a folder");
        let clock = || TIME.fetch_add(1, Ordering::Relaxed);
        let recorder = Recorder::create(folder.path(), "a test", false, clock).expect("a file");
        RECORDER.set(recorder).expect("once");
        // SAFETY: it is such a table.
        assert!(unsafe { attach(export_table, || RECORDER.get()) });

        let push: unsafe extern "C" fn(*const c_char) -> c_int = called(0, 9);
        let pop: unsafe extern "C" fn() -> c_int = called(0, 11);
        let start: unsafe extern "C" fn(*const c_char) -> u64 = called(0, 5);
        let end: unsafe extern "C" fn(u64) = called(0, 7);
        let domain: unsafe extern "C" fn(*const c_char) -> usize = called(1, 12);
        let register: unsafe extern "C" fn(usize, *const c_char) -> *const c_char = called(1, 10);
        let domain_push: unsafe extern "C" fn(usize, *const Attributes) -> c_int = called(1, 4);
        let domain_pop: unsafe extern "C" fn(usize) -> c_int = called(1, 5);
        // SAFETY: NVTX's contract: texts end with a zero.
        unsafe {
            let domain = domain(c"mine".as_ptr());
            let whole = start(c"whole".as_ptr());
            assert_eq!(push(c"outer".as_ptr()), 0);
            let attributes = Attributes {
                version: 3,
                size: 48,
                category: 0,
                colour: [0; 2],
                payload_type: 0,
                reserved: 0,
                payload: 0,
                message_type: Attributes::REGISTERED,
                message: register(domain, c"inner".as_ptr()),
            };
            assert_eq!(domain_push(domain, &attributes), 1);
            // Domains' ranges end in their own order.
            assert_eq!(pop(), 0);
            assert_eq!(domain_pop(domain), 0);
            assert_eq!([pop(), domain_pop(domain)], [-1, -1]);
            end(whole);
            end(whole);
        }

        let path = folder.path().join(format!("{}.rec", std::process::id()));
        let records = Records::read(&path).expect("a recording").records;
        let mut texts = HashMap::new();
        let mut said = Vec::new();
        for record in records {
            match record {
                Record::Text(text) => drop(texts.insert(text.id, text.text)),
                Record::Range(Range::Begin {
                    id, thread, name, ..
                }) => said.push(format!("{id} {} {}", texts[&name], thread > 0)),
                Record::Range(Range::End { id, .. }) => said.push(format!("{id} ends")),
                _ => {}
            }
        }
        assert_eq!(
            said,
            [
                "1 whole false",
                "2 outer true",
                "3 inner true",
                "2 ends",
                "3 ends",
                "1 ends"
            ]
        );
    }
}
