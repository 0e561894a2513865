//! The frames of the Python interpreter, if the process has one.
//!
//! Its functions are found by name in the process, so nothing is linked and any version from 3.9 serves. A place is the
//! code and the instruction, which are read without a look-up; names and lines are asked for where a place is new.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use recording::Frame;

type Object = *mut c_void;

macro_rules! functions {
    ($($name:ident = $($symbol:literal)|+ ($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The interpreter's functions, by the prototypes of its documentation.
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Functions {
            fn find() -> Option<Functions> {
                Some(Functions {
                    $($name: {
                        let symbol = [$($symbol),+].into_iter().find_map(symbol)?;
                        // SAFETY: the interpreter's function of this name has this prototype.
                        unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $answer)?>(symbol) }
                    },)*
                })
            }
        }
    };
}

functions! {
    is_initialized = c"Py_IsInitialized"() -> c_int;
    // Python 3.13 has made it public.
    is_finalizing = c"Py_IsFinalizing" | c"_Py_IsFinalizing"() -> c_int;
    ensure = c"PyGILState_Ensure"() -> c_int;
    release = c"PyGILState_Release"(c_int);
    thread = c"PyGILState_GetThisThreadState"() -> Object;
    interpreter = c"PyThreadState_GetInterpreter"(Object) -> Object;
    first_thread = c"PyInterpreterState_ThreadHead"(Object) -> Object;
    next_thread = c"PyThreadState_Next"(Object) -> Object;
    frame_of = c"PyThreadState_GetFrame"(Object) -> Object;
    back = c"PyFrame_GetBack"(Object) -> Object;
    code = c"PyFrame_GetCode"(Object) -> Object;
    attribute = c"PyObject_GetAttrString"(Object, *const c_char) -> Object;
    text = c"PyUnicode_AsUTF8AndSize"(Object, *mut isize) -> *const c_char;
    fetch = c"PyErr_Fetch"(*mut Object, *mut Object, *mut Object);
    restore = c"PyErr_Restore"(Object, Object, Object);
    retain = c"Py_IncRef"(Object);
    drop = c"Py_DecRef"(Object);
    // Since Python 3.11 a frame says its instruction, which takes no look-up of the line.
    instruction = c"PyFrame_GetLasti" | c"PyFrame_GetLineNumber"(Object) -> c_int;
    line = c"PyCode_Addr2Line"(Object, c_int) -> c_int;
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// The interpreter; it is looked for until there is one, for a library may bring it late.
fn functions() -> Option<&'static Functions> {
    static FOUND: OnceLock<Functions> = OnceLock::new();
    if FOUND.get().is_none() {
        let _ = FOUND.set(Functions::find()?);
    }
    FOUND.get()
}

/// A code object, and the instruction in it, or before Python 3.11 its line. The object is kept for ever, so no other has
/// its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    code: usize,
    instruction: c_int,
}

/// The interpreter, held: no other thread runs in it.
pub(crate) struct Interpreter {
    functions: &'static Functions,
    state: c_int,
}

/// Holds the interpreter, if there is one and it is not ending.
pub(crate) fn enter() -> Option<Interpreter> {
    let functions = functions()?;
    // SAFETY: both may be called at any time, by any thread.
    let is_there = unsafe { (functions.is_initialized)() != 0 && (functions.is_finalizing)() == 0 };
    if !is_there {
        return None;
    }
    // SAFETY: the interpreter is there. Nothing of ours is held that another thread would wait for inside of it.
    let state = unsafe { (functions.ensure)() };
    Some(Interpreter { functions, state })
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        // SAFETY: it is what `ensure` has answered, on this thread.
        unsafe { (self.functions.release)(self.state) };
    }
}

impl Interpreter {
    /// Appends this thread's callers, the innermost first, and says that they are its own. A thread that runs no Python
    /// was started by one that does, and waits for it: then they are that one's. `None` where there are none at all.
    pub(crate) fn walk(&self, places: &mut Vec<Place>, deepest: usize) -> Option<bool> {
        // SAFETY: the interpreter is held; frames and code are released once, and `places` keeps what it names alive.
        unsafe {
            let own = (self.functions.thread)();
            if self.walk_thread(own, places, deepest) {
                return Some(true);
            }
            // The first of its threads is the last in the list.
            let mut thread = (self.functions.first_thread)((self.functions.interpreter)(own));
            let mut found = false;
            while !thread.is_null() {
                if thread != own {
                    let at = places.len();
                    if self.walk_thread(thread, places, deepest + at) {
                        places.drain(..at);
                        found = true;
                    }
                }
                thread = (self.functions.next_thread)(thread);
            }
            found.then_some(false)
        }
    }

    /// # Safety
    /// The thread is one of the interpreter's.
    unsafe fn walk_thread(&self, thread: Object, places: &mut Vec<Place>, deepest: usize) -> bool {
        let before = places.len();
        // SAFETY: the caller's contract; each function answers with a reference of our own, or null.
        unsafe {
            let mut frame = (self.functions.frame_of)(thread);
            while !frame.is_null() {
                if places.len() < deepest {
                    let code = (self.functions.code)(frame);
                    places.push(Place {
                        code: code as usize,
                        instruction: (self.functions.instruction)(frame),
                    });
                    (self.functions.drop)(code);
                }
                let back = (self.functions.back)(frame);
                (self.functions.drop)(frame);
                frame = back;
            }
        }
        places.len() > before
    }

    /// The frame of a place of `walk`, while the interpreter is still held. Its code is kept for ever.
    pub(crate) fn frame(&self, place: &Place) -> Frame {
        let code = place.code as Object;
        let (mut kind, mut value, mut trace) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: the code is alive, because its frame is. An exception that is under way is put aside meanwhile.
        unsafe {
            (self.functions.fetch)(&mut kind, &mut value, &mut trace);
            (self.functions.retain)(code);
            let function = self.string(code, c"co_qualname");
            let function = function.or_else(|| self.string(code, c"co_name"));
            let file = self.string(code, c"co_filename");
            (self.functions.restore)(kind, value, trace);
            let line = match symbol(c"PyFrame_GetLasti") {
                Some(_) => (self.functions.line)(code, place.instruction),
                None => place.instruction,
            };
            Frame::Source {
                function: function.unwrap_or_default(),
                file: file.unwrap_or_default(),
                line: line.try_into().unwrap_or(0),
            }
        }
    }

    /// # Safety
    /// The object is alive.
    unsafe fn string(&self, object: Object, name: &CStr) -> Option<String> {
        // SAFETY: the caller's contract; what is answered is ours until it is dropped, and the text is the object's.
        unsafe {
            let value = (self.functions.attribute)(object, name.as_ptr());
            if value.is_null() {
                self.forget_error();
                return None;
            }
            let mut length = 0;
            let text = (self.functions.text)(value, &mut length);
            let string = match text.is_null() {
                true => {
                    self.forget_error();
                    None
                }
                false => {
                    let bytes = slice::from_raw_parts(text.cast(), length.unsigned_abs());
                    Some(String::from_utf8_lossy(bytes).into_owned())
                }
            };
            (self.functions.drop)(value);
            string
        }
    }

    /// # Safety
    /// The interpreter is held.
    unsafe fn forget_error(&self) {
        // SAFETY: null restores nothing.
        unsafe { (self.functions.restore)(ptr::null_mut(), ptr::null_mut(), ptr::null_mut()) };
    }
}
