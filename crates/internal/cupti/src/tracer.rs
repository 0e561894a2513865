//! Tracing a process to its end: its calls, as they are made, and what became of them.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::buffers::{self, requested};
use crate::counting::{Beginning, CountedLaunch, Counting, Counts, Form};
use crate::error::Error;
use crate::library::{Functions, Version, functions};
use crate::order::{Kind, Order};
use crate::record;
use crate::traced::{self, Domain, Traced};

/// The kinds of records that are collected, but for devices, which always are.
const KINDS: [u32; 5] = [
    record::CONCURRENT_KERNEL,
    record::MEMCPY,
    traced::PEER_MEMCPY,
    record::MEMSET,
    traced::MEMORY,
];

/// CUPTI is asked for its records so often: so much a process that is killed loses. By itself CUPTI hands over what fills a
/// buffer.
const PERIOD: Duration = Duration::from_millis(20);

/// Arguments of `cuptiActivityFlushAll`: hand over the buffers whose records are complete, or all.
const COMPLETE: u32 = 0;
const FORCED: u32 = 1;

/// Functions have numbers from 1; beyond this one is none.
const LAST_FUNCTION: u32 = 2000;

/// Hears of calls and of work. It is called on the program's threads and on CUPTI's, on several at a time.
pub trait Sink: Sync {
    /// The number by which calls of this function are told; `None` where they are not wanted.
    fn function(&self, domain: Domain, name: &str) -> Option<u32>;
    /// A call begins, on this thread.
    fn enter(&self, function: Function);
    /// A call ends, on this thread, with this answer. If it orders work, it says how.
    fn leave(&self, function: Function, status: u32, order: Option<Order>);
    /// A GPU has worked, or has memory. The order is not that of the times.
    fn traced(&self, traced: Traced<'_>);
    /// Whether a launch is to be counted: it runs several times then.
    fn is_counted(&self, launch: &CountedLaunch) -> bool;
    /// A launch has been counted, or why it could not be.
    fn counted(&self, launch: CountedLaunch, counts: Result<Counts, Error>);
}

/// The subject of a trace, besides calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collect {
    /// All work, with its times.
    Work,
    /// Hardware counters of launches, by the names that Nsight Compute has for these metrics; those that a device lacks are left
    /// out. Launches are made one at a time.
    Counts(Vec<String>),
}

/// A call that begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The answer of [`Sink::function`].
    pub number: u32,
    /// By what the call's work is known.
    pub correlation: u32,
}

/// The sink, the library, and the functions of driver and runtime by CUPTI's numbers.
struct Running {
    sink: &'static dyn Sink,
    functions: &'static Functions,
    wanted: [Vec<Wanted>; 2],
    counting: Option<Counting>,
}

/// A function: the sink's number of it, 0 where it is not wanted.
#[derive(Clone, Copy, Default)]
struct Wanted {
    number: u32,
    order: Option<Kind>,
    /// Whether the null stream is the thread's own.
    has_own_default: bool,
    /// How a launch's arguments lie, where it is one of a kernel.
    launch: Option<Form>,
}

/// CUPTI's callbacks are given nothing to find it by.
static RUNNING: OnceLock<Running> = OnceLock::new();

/// Whether the process's end has begun. While it is held nobody else asks CUPTI for records.
fn has_ended() -> MutexGuard<'static, bool> {
    static HAS_ENDED: Mutex<bool> = Mutex::new(false);
    HAS_ENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that is traced.
#[derive(Clone, Copy, Debug)]
pub struct Tracer {
    functions: &'static Functions,
}

/// The moment on CUPTI's clock, in nanoseconds.
///
/// # Errors
/// There is no library.
pub fn now() -> Result<u64, Error> {
    let functions = functions()?;
    let mut time = 0;
    // SAFETY: it takes a place to write to.
    let answer = unsafe { (functions.timestamp)(&mut time) };
    functions.checked("cuptiGetTimestamp", answer)?;
    Ok(time)
}

/// Traces this process from now on, to its end. Best before the first call of the driver.
///
/// # Errors
/// There is no library, the process is traced already, or CUPTI refuses, for example because another profiler is attached.
pub fn trace(sink: &'static dyn Sink, collect: Collect) -> Result<Tracer, Error> {
    let functions = functions()?;
    let wanted = [Domain::Driver, Domain::Runtime].map(|domain| wanted(functions, sink, domain));
    let (kinds, counting) = match collect {
        Collect::Work => (&KINDS[..], None),
        // CUPTI does not count beside its records of kernels.
        Collect::Counts(metrics) => (&[][..], Some(Counting::new(metrics))),
    };
    let running = Running {
        sink,
        functions,
        wanted,
        counting,
    };
    if RUNNING.set(running).is_err() {
        return Err(Error::Busy);
    }
    let running = RUNNING.get().expect("it was set");
    let mut subscriber = ptr::null_mut();
    // SAFETY: the handle is a place to write to, and `called` keeps the contract of callbacks.
    functions.checked("cuptiSubscribe", unsafe {
        (functions.subscribe)(&mut subscriber, called, ptr::null_mut())
    })?;
    let is_wanted = |it: &Vec<Wanted>, function: u32| it[function as usize].number != 0;
    let [driver, runtime] = &running.wanted;
    let all = (0..=LAST_FUNCTION).flat_map(|function| {
        let driver = is_wanted(driver, function).then_some((DRIVER, function));
        driver
            .into_iter()
            .chain(is_wanted(runtime, function).then_some((RUNTIME, function)))
    });
    for (domain, function) in all {
        // SAFETY: it takes the handle and numbers.
        functions.checked("cuptiEnableCallback", unsafe {
            (functions.enable_callback)(1, subscriber, domain, function)
        })?;
    }
    // SAFETY: both callbacks keep CUPTI's contract for them.
    functions.checked("cuptiActivityRegisterCallbacks", unsafe {
        (functions.register_callbacks)(requested, completed)
    })?;
    for kind in [&[traced::DEVICE], kinds].concat() {
        // SAFETY: it takes a number.
        functions.checked("cuptiActivityEnable", unsafe { (functions.enable)(kind) })?;
    }
    let collects = thread::Builder::new().name("ridgepoint".to_owned());
    let collecting = collects.spawn(move || {
        loop {
            thread::sleep(PERIOD);
            let has_ended = has_ended();
            if *has_ended {
                return;
            }
            // SAFETY: it takes a number: what is complete is handed over, and nothing is waited for.
            unsafe { (functions.flush_all)(COMPLETE) };
        }
    });
    // Without the thread, records are handed over all the same, as buffers fill and at the end.
    drop(collecting);
    Ok(Tracer { functions })
}

impl Tracer {
    /// The library's version.
    pub fn version(&self) -> Version {
        self.functions.version
    }

    /// Has CUPTI hand over all its records, also of work that goes on, for the last time, and says how many it has dropped.
    pub fn end(&self) -> u64 {
        // CUPTI itself ends soon after, and must not be asked any more.
        *has_ended() = true;
        let mut dropped = 0;
        // SAFETY: numbers, and a place to write to. What it answers is all the same: what it had it has given.
        unsafe {
            (self.functions.flush_all)(FORCED);
            (self.functions.dropped)(ptr::null_mut(), 0, &mut dropped);
        }
        dropped as u64
    }
}

/// `CUpti_CallbackDomain`.
const DRIVER: u32 = 1;
const RUNTIME: u32 = 2;

/// The functions by CUPTI's numbers.
fn wanted(functions: &Functions, sink: &dyn Sink, domain: Domain) -> Vec<Wanted> {
    let of_cupti = match domain {
        Domain::Driver => DRIVER,
        Domain::Runtime => RUNTIME,
    };
    let of = |function| {
        let mut name = ptr::null();
        // SAFETY: numbers, and a place to write to; CUPTI's names are constants that end with a zero.
        let name = unsafe {
            match (functions.callback_name)(of_cupti, function, &mut name) {
                0 if !name.is_null() => CStr::from_ptr(name),
                _ => return Wanted::default(),
            }
        };
        let name = name.to_string_lossy();
        Wanted {
            number: sink.function(domain, &name).unwrap_or(0),
            order: Kind::of(&name),
            has_own_default: name.contains("_ptsz"),
            launch: match domain {
                Domain::Driver => Form::of(&name),
                Domain::Runtime => None,
            },
        }
    };
    (0..=LAST_FUNCTION).map(of).collect()
}

/// The beginning of `CUpti_CallbackData`.
#[repr(C)]
struct Called {
    /// 0 where the call begins, 1 where it ends.
    site: u32,
    name: *const c_void,
    arguments: *const *mut c_void,
    answer: *const u32,
    symbol: *const c_char,
    context: *mut c_void,
    context_number: u32,
    data: *const u64,
    correlation: u32,
}

/// # Safety
/// CUPTI's contract for callbacks of driver and runtime.
unsafe extern "C" fn called(_: *mut c_void, domain: u32, function: u32, data: *const c_void) {
    let Some(running) = RUNNING.get() else { return };
    let wanted = match domain {
        DRIVER => &running.wanted[0],
        RUNTIME => &running.wanted[1],
        _ => return,
    };
    let wanted = wanted.get(function as usize).copied().unwrap_or_default();
    // SAFETY: in these domains it is such a description.
    let called = unsafe { &*data.cast::<Called>() };
    let function = Function {
        number: wanted.number,
        correlation: called.correlation,
    };
    // Nothing unwinds into the program; the panic's message is all that becomes of it.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| match called.site {
        _ if wanted.number == 0 => {}
        0 => {
            running.sink.enter(function);
            // SAFETY: a call of this function begins.
            unsafe { counted_from(running, wanted, called) };
        }
        _ => {
            let status = match called.answer.is_null() {
                true => 0,
                // SAFETY: where a call ends, its answer is there: a number of 4 bytes.
                false => unsafe { called.answer.read_unaligned() },
            };
            if let (Some(counting), Some(_)) = (&running.counting, wanted.launch)
                && let Some((launch, counts)) = counting.leave(status == 0)
            {
                running.sink.counted(launch, counts);
            }
            let context = (called.context, called.context_number);
            let own = wanted.has_own_default;
            // SAFETY: these are the call's, and it has succeeded.
            let read = |kind: Kind| unsafe {
                kind.read(running.functions, context, called.arguments, own)
            };
            let order = wanted.order.filter(|_| status == 0).and_then(read);
            running.sink.leave(function, status, order);
        }
    }));
}

/// Begins to count, where the call launches a kernel and counts are collected.
///
/// # Safety
/// The call begins, and is of this function.
unsafe fn counted_from(running: &Running, function: Wanted, called: &Called) {
    let (Some(counting), Some(form)) = (&running.counting, function.launch) else {
        return;
    };
    let call = Beginning {
        form,
        has_own_default: function.has_own_default,
        arguments: called.arguments,
        symbol: called.symbol,
        context: called.context,
        context_number: called.context_number,
        correlation: called.correlation,
    };
    let is_counted = |launch: &CountedLaunch| running.sink.is_counted(launch);
    // SAFETY: the caller's contract.
    let problem = unsafe { counting.enter(running.functions, &call, is_counted) };
    if let Some((launch, error)) = problem {
        running.sink.counted(launch, Err(error));
    }
}

/// # Safety
/// The buffer is one of `buffers::requested`, with so many valid bytes of records.
unsafe extern "C" fn completed(_: *mut c_void, _: u32, buffer: *mut u8, _: usize, valid: usize) {
    let running = RUNNING.get();
    // SAFETY: the caller's contract; what is there are CUPTI's records.
    unsafe {
        buffers::read(running.map(|it| it.functions), buffer, valid, |record| {
            if let Some(running) = running
                && let Some(traced) = traced::read(record)
            {
                let _ = panic::catch_unwind(AssertUnwindSafe(|| running.sink.traced(traced)));
            }
        });
    }
}
