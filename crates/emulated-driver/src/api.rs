//! How a function of the driver is defined and entered.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::findings::{Cause, found};
use crate::logs;
use crate::recorded;
use crate::settings::settings;
use crate::status::{Answer, Status};

static IS_READY: AtomicBool = AtomicBool::new(false);

/// Functions that a program may call before `cuInit`, and in functions that a stream calls.
const BEFORE: [&str; 12] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetExportTable",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuLogsCurrent",
    "cuLogsDumpToFile",
    "cuLogsDumpToMemory",
    "cuLogsRegisterCallback",
    "cuLogsUnregisterCallback",
];

thread_local! {
    /// Whether the thread runs a function of the program's for a stream.
    static IS_IN_HOST: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the program's that may not call the driver: it could wait for itself.
pub(crate) fn call_host(function: impl FnOnce()) {
    let before = IS_IN_HOST.replace(true);
    function();
    IS_IN_HOST.set(before);
}

/// Whether the thread runs such a function.
pub(crate) fn is_in_host() -> bool {
    IS_IN_HOST.get()
}

/// `cuInit` has been called.
pub(crate) fn begin() {
    IS_READY.store(true, Ordering::Release);
}

/// Runs a function of the driver, and gives its `CUresult`. Nothing unwinds into the caller.
pub(crate) fn enter(name: &'static str, body: impl FnOnce() -> Answer) -> u32 {
    let number = recorded::call(name, || run(name, body));
    logs::tell();
    number
}

fn run(name: &'static str, body: impl FnOnce() -> Answer) -> u32 {
    let is_free = BEFORE.contains(&name);
    let ran = match IS_READY.load(Ordering::Acquire) {
        false if !is_free => Ok(Err(Status::NOT_INITIALIZED)),
        _ if IS_IN_HOST.get() && !is_free => Ok(Err(Status::NOT_PERMITTED)),
        _ => catch_unwind(AssertUnwindSafe(body)),
    };
    let answer = ran.unwrap_or_else(|_| Err(broken(name)));
    let number = answer.err().map_or(0, |status| status.number());
    if settings().shows_calls {
        match answer {
            Ok(()) => eprintln!("ridgepoint: {name}"),
            Err(status) => eprintln!("ridgepoint: {name}: {}", status.name()),
        }
    }
    number
}

/// Says that the emulator itself has failed, and returns the answer to it.
pub(crate) fn broken(what: &str) -> Status {
    let text =
        format!("{what}: the emulator has failed, see above; this is an error of Ridgepoint");
    // The program may not ask for the answer: a check that has failed is no success.
    let _ = catch_unwind(|| found(&text, None, Cause::Failure));
    Status::UNKNOWN
}

/// Defines functions of the driver: each is `fn name(arguments) { body }`, whose body gives an [`Answer`]; behind a `|`
/// stands the name of its twin for programs whose default stream is each thread's own.
macro_rules! driver {
    () => {};
    (fn $name:ident | $twin:ident $arguments:tt $body:block $($rest:tt)*) => {
        driver! { fn $name $arguments $body }
        driver! { @one $twin $arguments {
            $crate::stream::with_own_default(move || $crate::api::enter(stringify!($twin), move || $body))
        } }
        driver! { $($rest)* }
    };
    (fn $name:ident $arguments:tt $body:block $($rest:tt)*) => {
        driver! { @one $name $arguments { $crate::api::enter(stringify!($name), move || $body) } }
        driver! { $($rest)* }
    };
    (@one $name:ident ($($argument:ident: $ty:ty),* $(,)?) $body:block) => {
        /// The driver's function of this name.
        ///
        /// # Safety
        /// Pointers are null, or point to what NVIDIA's documentation of the function says.
        #[allow(clippy::too_many_arguments, reason = "the driver's interface")]
        #[allow(non_snake_case, reason = "the driver's interface")]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> u32 $body
    };
}
