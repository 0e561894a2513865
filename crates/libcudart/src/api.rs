//! How a function of the runtime is defined and entered.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{Answer, Error, keep};

/// A function of the runtime.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// Its symbol.
    pub(crate) name: &'static str,
    /// Where a jump to it goes.
    pub(crate) address: fn() -> usize,
}

thread_local! {
    /// The function that runs is of a program whose default stream is each thread's own.
    static HAS_OWN_DEFAULT: Cell<bool> = const { Cell::new(false) };
}

/// Whether functions of the driver are asked for that take the thread's own stream for the default one.
pub(crate) fn has_own_default() -> bool {
    HAS_OWN_DEFAULT.get()
}

/// Runs a function of the runtime for a program whose default stream is each thread's own.
pub(crate) fn with_own_default<T>(body: impl FnOnce() -> T) -> T {
    let before = HAS_OWN_DEFAULT.replace(true);
    let answer = body();
    HAS_OWN_DEFAULT.set(before);
    answer
}

/// Runs a function of the runtime, keeps its error for `cudaGetLastError`, and gives its `cudaError_t`. Nothing unwinds into the
/// caller.
pub(crate) fn enter(name: &str, body: impl FnOnce() -> Answer) -> u32 {
    let ran = catch_unwind(AssertUnwindSafe(body));
    let answer = ran.unwrap_or_else(|_| {
        say(&format!(
            "{name}: the runtime has failed, see above; this is an error of Ridgepoint"
        ));
        Err(Error::UNKNOWN)
    });
    match answer {
        Ok(()) => 0,
        Err(error) => {
            keep(error);
            error.number()
        }
    }
}

/// Says something to whoever has started the program.
pub(crate) fn say(text: &str) {
    use std::io::Write;
    // A program whose standard error is closed has nobody who reads.
    let _ = writeln!(std::io::stderr(), "ridgepoint: {text}");
}

/// Makes the rows of functions of a module that are written out, because they return no error.
macro_rules! plain_rows {
    ($module:ident: $($name:ident),* $(,)?) => {
        /// The functions of this family.
        pub(crate) const ROWS: &[$crate::api::Row] = &[$($crate::api::Row {
            name: stringify!($name),
            address: || $module::$name as *const () as usize,
        },)*];
    };
}

/// Defines functions of the runtime and their rows: each is `fn name(arguments) { body }`, whose body gives an [`Answer`], or
/// `fn name(arguments) [driver]`, which hands its arguments on in a context of the device. Behind a `|` stands the name of its twin
/// for programs whose default stream is each thread's own.
macro_rules! runtime {
    ($(fn $name:ident $(| $twin:ident)? ($($arguments:tt)*) $body:tt)*) => {
        /// The functions of this family.
        pub(crate) const ROWS: &[$crate::api::Row] = &[$(
            runtime!(@row $name),
            $(runtime!(@row $twin),)?
        )*];
        $(runtime! { @both $name $(| $twin)? ($($arguments)*) $body })*
    };
    (@row $name:ident) => {
        $crate::api::Row { name: stringify!($name), address: || $name as *const () as usize }
    };
    (@both $name:ident $(| $twin:ident)? ($($arguments:tt)*) [$called:ident]) => {
        runtime! { @handed $name $(| $twin)? ($($arguments)*) $called }
    };
    (@both $name:ident $arguments:tt $body:block) => {
        runtime! { @one $name $arguments { $crate::api::enter(stringify!($name), move || $body) } }
    };
    (@both $name:ident | $twin:ident $arguments:tt $body:block) => {
        runtime! { @one $name $arguments { $crate::api::enter(stringify!($name), move || $body) } }
        runtime! { @one $twin $arguments {
            $crate::api::with_own_default(move || $crate::api::enter(stringify!($twin), move || $body))
        } }
    };
    (@handed $name:ident $(| $twin:ident)? ($($argument:ident: $ty:ty),* $(,)?) $called:ident) => {
        runtime! { @both $name $(| $twin)? ($($argument: $ty),*) {
            $crate::device::context()?;
            $crate::driver::$called($($argument),*)
        } }
    };
    (@one $name:ident ($($argument:ident: $ty:ty),* $(,)?) $body:block) => {
        /// The runtime's function of this name.
        ///
        /// # Safety
        /// Pointers are null, or point to what NVIDIA's documentation of the function says.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the runtime's interface")]
        #[allow(non_snake_case, reason = "the runtime's interface")]
        pub(crate) unsafe extern "C" fn $name($($argument: $ty),*) -> u32 $body
    };
}
