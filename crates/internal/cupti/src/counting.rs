//! Launches of a traced process, each counted by itself.
//!
//! The range profiler counts all that a context launches between two calls, so a context's launches are made one at a time
//! meanwhile: each holds the context's lock from its begin to its end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::counters::Counters;
use crate::error::Error;
use crate::library::Functions;

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedLaunch {
    /// The name of the PTX entry.
    pub name: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// The device.
    pub device: u32,
    /// By what the call is known.
    pub correlation: u32,
}

/// The metrics' names and values; those that the device lacks are left out.
pub type Counts = Vec<(String, f64)>;

/// How the arguments of a function that launches lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Function, grid, block, shared memory, stream.
    Plain,
    /// A structure that begins with grid, block, shared memory, stream.
    Configured,
    /// A graph, which is never counted, and does not run while a launch is.
    Graph,
}

/// `cuLaunchKernel_params` as far as it is read; the function comes first.
#[repr(C)]
#[derive(Clone, Copy)]
struct Plain {
    function: *mut c_void,
    shape: Shape,
}

/// `CUlaunchConfig` as far as it is read, and what `cuLaunchKernel_params` has in the same order.
#[repr(C)]
#[derive(Clone, Copy)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: *mut c_void,
}

impl Form {
    /// Of a function of the driver, by CUPTI's name.
    pub(crate) fn of(name: &str) -> Option<Form> {
        let name = name.strip_suffix("_ptsz").unwrap_or(name);
        match name {
            "cuLaunchKernel" | "cuLaunchCooperativeKernel" => Some(Form::Plain),
            "cuLaunchKernelEx" => Some(Form::Configured),
            "cuGraphLaunch" => Some(Form::Graph),
            _ => None,
        }
    }

    /// # Safety
    /// `arguments` are those of a call of such a function.
    unsafe fn shape(self, arguments: *const *mut c_void) -> Option<Shape> {
        // SAFETY: the caller's contract; a call may be given no structure, and then fails.
        unsafe {
            match self {
                Form::Plain => Some((*arguments.cast::<Plain>()).shape),
                Form::Configured => (*arguments).cast::<Shape>().as_ref().copied(),
                Form::Graph => None,
            }
        }
    }
}

/// A launch that begins, as CUPTI tells it.
pub(crate) struct Beginning {
    pub(crate) form: Form,
    /// Whether the null stream is the thread's own.
    pub(crate) has_own_default: bool,
    pub(crate) arguments: *const *mut c_void,
    pub(crate) symbol: *const c_char,
    pub(crate) context: *mut c_void,
    /// CUPTI's number of the context, which no other has.
    pub(crate) context_number: u32,
    pub(crate) correlation: u32,
}

/// The counters of a context, once a launch of it was to be counted.
struct OfContext(Option<Counters>);

// SAFETY: the profiler of a context is used between the begin and the end of a launch in this context alone, where CUPTI has
// made it current on the thread that launches (`begin` and `leave`), and under the lock around this value.
unsafe impl Send for OfContext {}

/// The metrics, and the counters of each context.
pub(crate) struct Counting {
    metrics: Vec<String>,
    /// By CUPTI's numbers. They are never given back: a launch may go on as the process ends.
    contexts: Mutex<HashMap<u32, &'static Mutex<OfContext>>>,
    /// A child of `fork` has locks that its parent's threads held, and counts nothing.
    process: u32,
}

/// The launch that this thread makes, which nobody else does in its context meanwhile.
struct Open {
    context: MutexGuard<'static, OfContext>,
    /// The launch, if it is counted.
    counted: Option<CountedLaunch>,
    /// Launches that it makes itself, and that go on.
    inner: u32,
}

thread_local! {
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

impl Counting {
    pub(crate) fn new(metrics: Vec<String>) -> Counting {
        Counting {
            metrics,
            contexts: Mutex::default(),
            process: std::process::id(),
        }
    }

    /// A launch begins on this thread. It is counted if it is wanted and is not captured into a graph. Where it cannot be
    /// counted, the error is returned with it.
    ///
    /// # Safety
    /// It is a call that begins, of which CUPTI tells.
    pub(crate) unsafe fn enter(
        &self,
        functions: &Functions,
        call: &Beginning,
        is_wanted: impl FnOnce(&CountedLaunch) -> bool,
    ) -> Option<(CountedLaunch, Error)> {
        if self.process != std::process::id() {
            return None;
        }
        // A thread that ends has no variables any more, and nobody could end what it begins.
        let is_inner = OPEN.try_with(|it| match &mut *it.borrow_mut() {
            Some(open) => {
                open.inner += 1;
                true
            }
            None => false,
        });
        if is_inner.unwrap_or(true) {
            return None;
        }
        let context = self.context(call.context_number);
        let mut open = Open {
            context: context.lock().unwrap_or_else(PoisonError::into_inner),
            counted: None,
            inner: 0,
        };
        // SAFETY: the caller's contract.
        let problem = unsafe { self.begin(functions, call, &mut open, is_wanted) };
        OPEN.with(|it| it.replace(Some(open)));
        problem
    }

    fn context(&self, number: u32) -> &'static Mutex<OfContext> {
        let mut all = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(number)
            .or_insert_with(|| Box::leak(Box::new(Mutex::new(OfContext(None)))))
    }

    /// # Safety
    /// As `enter`.
    unsafe fn begin(
        &self,
        functions: &Functions,
        call: &Beginning,
        open: &mut Open,
        is_wanted: impl FnOnce(&CountedLaunch) -> bool,
    ) -> Option<(CountedLaunch, Error)> {
        // SAFETY: the caller's contract; CUPTI gives launches the name of the kernel.
        let (shape, name) = unsafe {
            let name = (!call.symbol.is_null()).then(|| CStr::from_ptr(call.symbol));
            (call.form.shape(call.arguments)?, name?)
        };
        let mut device = 0;
        // SAFETY: the context is the call's, and the last is a place to write to.
        if unsafe { (functions.device_id)(call.context, &mut device) } != 0 {
            return None;
        }
        let launch = CountedLaunch {
            name: name.to_string_lossy().into_owned(),
            grid: shape.grid,
            block: shape.block,
            device,
            correlation: call.correlation,
        };
        // SAFETY: the stream is the call's. What is captured does not run, and is not one of those that are wanted.
        if unsafe { is_captured(shape.stream, call.has_own_default) } || !is_wanted(&launch) {
            return None;
        }
        if waits_for_others(&launch.name) {
            return Some((launch, Error::WaitsForOthers));
        }
        // SAFETY: the context is current on this thread, is on this device, and has this number, by which its counters are kept.
        match unsafe { self.begin_launch(&mut open.context, call.context, device as usize) } {
            Ok(()) => {
                open.counted = Some(launch);
                None
            }
            Err(error) => Some((launch, error)),
        }
    }

    /// # Safety
    /// As [`Counters::new`]; the value is that of the context.
    unsafe fn begin_launch(
        &self,
        OfContext(counters): &mut OfContext,
        context: *mut c_void,
        device: usize,
    ) -> Result<(), Error> {
        let counters = match counters {
            Some(counters) => counters,
            None => {
                let metrics: Vec<&str> = self.metrics.iter().map(String::as_str).collect();
                // SAFETY: the caller's contract.
                let new = unsafe {
                    let known = Counters::known(context, device, &metrics)?;
                    Counters::new(context, device, &known)?
                };
                counters.insert(new)
            }
        };
        counters.begin_launch()
    }

    /// The launch has been made, if `has_succeeded`. Returns what was counted, if it was.
    pub(crate) fn leave(
        &self,
        has_succeeded: bool,
    ) -> Option<(CountedLaunch, Result<Counts, Error>)> {
        if self.process != std::process::id() {
            return None;
        }
        let open = OPEN.try_with(|it| {
            let mut it = it.borrow_mut();
            match it.as_mut() {
                Some(open) if open.inner > 0 => {
                    open.inner -= 1;
                    None
                }
                _ => it.take(),
            }
        });
        let mut open = open.ok()??;
        let launch = open.counted?;
        let counts = open.context.0.as_mut()?.end_launch();
        // A launch that was refused has counted nothing.
        has_succeeded.then_some((launch, counts))
    }
}

/// Whether a kernel waits for others that run at the same time, on this GPU or another: made one at a time, and again and again,
/// they would wait for ever. Such are those of NCCL and NVSHMEM.
fn waits_for_others(name: &str) -> bool {
    ["nccl", "nvshmem"].iter().any(|it| name.contains(it))
}

/// Whether a stream's launches are captured into a graph, and do not run.
///
/// # Safety
/// It is a stream of the current context.
unsafe fn is_captured(stream: *mut c_void, has_own_default: bool) -> bool {
    type IsCapturing = unsafe extern "C" fn(*mut c_void, *mut u32) -> u32;
    /// `CU_STREAM_PER_THREAD`
    const PER_THREAD: *mut c_void = ptr::without_provenance_mut(2);
    static FUNCTION: OnceLock<Option<IsCapturing>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        use libloading::os::unix::{Library, RTLD_LAZY};
        // SAFETY: the process has the driver loaded, as it makes the call; its function of this name has this prototype.
        unsafe {
            let driver = Library::open(Some("libcuda.so.1"), RTLD_LAZY).ok()?;
            let found = driver.get::<IsCapturing>(b"cuStreamIsCapturing").ok();
            let found = found.map(|it| *it);
            // It is never closed.
            std::mem::forget(driver);
            found
        }
    });
    let stream = match stream.is_null() && has_own_default {
        true => PER_THREAD,
        false => stream,
    };
    let mut status = 0;
    // SAFETY: the caller's contract, and a place to write to. 0 is a stream that is not captured.
    function.is_some_and(|function| unsafe { function(stream, &mut status) } != 0 || status != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::FUNCTIONS;

    #[test]
    fn functions_that_launch_a_kernel_are_known_by_their_names() {
        let forms = [
            "cuLaunchKernel",
            "cuLaunchKernel_ptsz",
            "cuLaunchCooperativeKernel",
            "cuLaunchKernelEx_ptsz",
            "cuGraphLaunch",
            "cuLaunchHostFunc",
        ];
        let expected = [
            Some(Form::Plain),
            Some(Form::Plain),
            Some(Form::Plain),
            Some(Form::Configured),
            Some(Form::Graph),
            None,
        ];
        assert_eq!(forms.map(Form::of), expected);
    }

    #[test]
    fn shapes_are_read_where_the_headers_have_them() {
        let shape = Shape {
            grid: [1, 2, 3],
            block: [4, 5, 6],
            shared: 7,
            stream: ptr::without_provenance_mut(8),
        };
        // `offsetof` of CUDA 13's cuda.h, and the size before `attrs`.
        assert_eq!(std::mem::offset_of!(Shape, stream), 32);
        assert_eq!(size_of::<Shape>(), 40);
        // The parameters of cuLaunchKernel are laid out as the call has them.
        assert_eq!(std::mem::offset_of!(Plain, shape.stream), 40);
        let plain = Plain {
            function: ptr::null_mut(),
            shape,
        };
        let config: *const Shape = &shape;
        // SAFETY: both are arguments of their forms.
        let read = unsafe {
            [
                Form::Plain.shape(ptr::from_ref(&plain).cast()),
                Form::Configured.shape(ptr::from_ref(&config).cast()),
            ]
        };
        for shape in read {
            let shape = shape.expect("a shape");
            assert_eq!((shape.grid, shape.block), ([1, 2, 3], [4, 5, 6]));
            assert_eq!(shape.stream.addr(), 8);
        }
        // SAFETY: the arguments of a graph are not read.
        assert!(unsafe { Form::Graph.shape(ptr::null()) }.is_none());
        let none: *const Shape = ptr::null();
        // SAFETY: a call with no structure.
        let read = unsafe { Form::Configured.shape(ptr::from_ref(&none).cast()) };
        assert!(read.is_none());
    }

    /// A launch that begins in this context; a graph's, of which nothing is asked.
    fn begins(counting: &Counting, context_number: u32) {
        let call = Beginning {
            form: Form::Graph,
            has_own_default: false,
            arguments: ptr::null(),
            symbol: ptr::null(),
            context: ptr::null_mut(),
            context_number,
            correlation: 1,
        };
        // SAFETY: nothing of such a call is read.
        let problem = unsafe { counting.enter(&FUNCTIONS, &call, |_| true) };
        assert!(problem.is_none());
    }

    /// Whether another thread's launch in this context has to wait.
    fn is_held(counting: &Counting, context: u32) -> bool {
        counting.context(context).try_lock().is_err()
    }

    #[test]
    fn a_context_launches_one_at_a_time_from_the_begin_of_a_call_to_its_end() {
        let counting = Counting::new(Vec::new());
        begins(&counting, 1);
        assert!(is_held(&counting, 1) && !is_held(&counting, 2));
        // A launch that the call makes itself neither waits for it nor ends it.
        begins(&counting, 1);
        assert!(counting.leave(true).is_none() && is_held(&counting, 1));
        assert!(counting.leave(true).is_none() && !is_held(&counting, 1));
        // An end whose begin was before the trace.
        assert!(counting.leave(true).is_none());
        begins(&counting, 1);
        assert!(is_held(&counting, 1));
        counting.leave(false);
    }

    #[test]
    fn a_child_of_fork_takes_no_lock() {
        let counting = Counting {
            process: std::process::id() + 1,
            ..Counting::new(Vec::new())
        };
        begins(&counting, 1);
        assert!(!is_held(&counting, 1) && counting.leave(true).is_none());
    }

    #[test]
    fn kernels_that_wait_for_others_are_known_by_their_names() {
        let names = [
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            "nvshmemi_barrier",
            "saxpy",
        ];
        assert_eq!(names.map(waits_for_others), [true, true, false]);
    }
}
