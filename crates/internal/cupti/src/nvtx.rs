//! Ranges of NVTX, by the callbacks of its functions: a program without ranges pays nothing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::traced::Traced;

/// `CUpti_CallbackDomain`
pub(crate) const DOMAIN: u32 = 5;

/// `CUpti_nvtx_api_trace_cbid`: the functions whose calls are heard of. Those of wide characters are not.
pub(crate) const FUNCTIONS: [u32; 13] = [
    MARK_A,
    MARK_EX,
    START_A,
    START_EX,
    END,
    PUSH_A,
    PUSH_EX,
    POP,
    DOMAIN_MARK,
    DOMAIN_START,
    DOMAIN_END,
    DOMAIN_PUSH,
    DOMAIN_POP,
];
pub(crate) const REGISTER: u32 = 39;
const MARK_A: u32 = 1;
const MARK_EX: u32 = 3;
const START_A: u32 = 4;
const START_EX: u32 = 6;
const END: u32 = 7;
const PUSH_A: u32 = 8;
const PUSH_EX: u32 = 10;
const POP: u32 = 11;
const DOMAIN_MARK: u32 = 30;
const DOMAIN_START: u32 = 31;
const DOMAIN_END: u32 = 32;
const DOMAIN_PUSH: u32 = 33;
const DOMAIN_POP: u32 = 34;

/// `CUpti_NvtxData`
#[repr(C)]
struct Called {
    name: *const c_char,
    /// The arguments, each in its place of 8 bytes.
    arguments: *const u64,
    answer: *const u64,
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
    message: u64,
}

/// `nvtxMessageType_t`
const ASCII: u32 = 1;
const REGISTERED: u32 = 3;

thread_local! {
    /// The numbers of the ranges that this thread has pushed.
    static PUSHED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The numbers of ranges of the process by NVTX's, and registered texts by their handles.
#[derive(Default)]
struct Known {
    started: HashMap<u64, u32>,
    texts: HashMap<u64, u64>,
}

fn known() -> MutexGuard<'static, Option<Known>> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a call of NVTX.
///
/// # Safety
/// `data` is CUPTI's description of a call of this function, which goes on.
pub(crate) unsafe fn read<'r>(function: u32, data: *const c_void, time: u64) -> Option<Traced<'r>> {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    // SAFETY: the caller's contract.
    let called = unsafe { &*data.cast::<Called>() };
    // SAFETY: each function below has as many arguments as are asked for.
    let argument = |index: usize| unsafe { *called.arguments.add(index) };
    // SAFETY: by NVTX's contract these arguments are texts, or attributes.
    let name = || unsafe {
        match function {
            MARK_A | START_A | PUSH_A => text(argument(0)),
            MARK_EX | START_EX | PUSH_EX => message(argument(0)),
            _ => message(argument(1)),
        }
    };
    let answer = || match called.answer.is_null() {
        true => 0,
        // SAFETY: the answer of these functions is a number or a handle, of 8 bytes.
        false => unsafe { *called.answer },
    };
    match function {
        MARK_A | MARK_EX | DOMAIN_MARK => Some(Traced::Mark { name: name(), time }),
        START_A | START_EX | DOMAIN_START | PUSH_A | PUSH_EX | DOMAIN_PUSH => {
            let id = NUMBERS.fetch_add(1, Ordering::Relaxed);
            let is_of_thread = matches!(function, PUSH_A | PUSH_EX | DOMAIN_PUSH);
            match is_of_thread {
                true => PUSHED.with_borrow_mut(|pushed| pushed.push(id)),
                false => {
                    let mut known = known();
                    let known = known.get_or_insert_default();
                    known.started.insert(answer(), id);
                }
            }
            Some(Traced::RangeBegin {
                id,
                is_of_thread,
                name: name(),
                time,
            })
        }
        POP | DOMAIN_POP => {
            let id = PUSHED.with_borrow_mut(Vec::pop)?;
            Some(Traced::RangeEnd { id, time })
        }
        END | DOMAIN_END => {
            let of = argument(usize::from(function == DOMAIN_END));
            let id = known().as_mut()?.started.remove(&of)?;
            Some(Traced::RangeEnd { id, time })
        }
        REGISTER => {
            let mut known = known();
            let known = known.get_or_insert_default();
            known.texts.insert(answer(), argument(1));
            None
        }
        _ => None,
    }
}

/// # Safety
/// The address is null, or that of a text which ends with a zero.
unsafe fn text<'r>(address: u64) -> &'r CStr {
    match address {
        0 => c"?",
        // SAFETY: the caller's contract.
        address => unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(address as usize)) },
    }
}

/// # Safety
/// The address is null, or that of attributes.
unsafe fn message<'r>(address: u64) -> &'r CStr {
    if address == 0 {
        return c"?";
    }
    // SAFETY: the caller's contract; a registered text stays for the program's life.
    unsafe {
        let attributes: *const Attributes = std::ptr::with_exposed_provenance(address as usize);
        match (*attributes).message_type {
            ASCII => text((*attributes).message),
            REGISTERED => {
                let texts = known();
                let address = texts
                    .as_ref()
                    .and_then(|it| it.texts.get(&(*attributes).message));
                text(address.copied().unwrap_or(0))
            }
            _ => c"?",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: u32, arguments: &[u64], answer: u64) -> Option<Traced<'static>> {
        let called = Called {
            name: c"".as_ptr(),
            arguments: arguments.as_ptr(),
            answer: &answer,
        };
        // SAFETY: the description has the arguments that the function reads.
        unsafe { read(function, (&raw const called).cast(), 7) }
    }

    fn begun(traced: Option<Traced<'_>>) -> (u32, bool, String) {
        match traced {
            Some(Traced::RangeBegin {
                id,
                is_of_thread,
                name,
                time: 7,
            }) => (id, is_of_thread, name.to_string_lossy().into_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ranges_end_by_the_number_of_their_begin() {
        let address = |text: &'static CStr| text.as_ptr().expose_provenance() as u64;
        let outer = begun(call(PUSH_A, &[address(c"outer")], 0));
        assert_eq!((outer.1, outer.2.as_str()), (true, "outer"));

        // A handle that a text was registered for, as attributes have it.
        assert_eq!(call(REGISTER, &[0, address(c"inner")], 99), None);
        let attributes = Attributes {
            version: 3,
            size: 48,
            category: 0,
            colour: [0; 2],
            payload_type: 0,
            reserved: 0,
            payload: 0,
            message_type: REGISTERED,
            message: 99,
        };
        let attributes = (&raw const attributes).expose_provenance() as u64;
        let inner = begun(call(DOMAIN_PUSH, &[1, attributes], 0));
        assert_eq!(inner.2, "inner");
        let ended = |id| Some(Traced::RangeEnd { id, time: 7 });
        assert_eq!(call(DOMAIN_POP, &[1], 0), ended(inner.0));
        assert_eq!(call(POP, &[], 0), ended(outer.0));
        assert_eq!(call(POP, &[], 0), None);

        let started = begun(call(START_A, &[address(c"of the process")], 1234));
        assert!(!started.1);
        assert_eq!(call(END, &[1234], 0), ended(started.0));
        assert_eq!(call(END, &[1234], 0), None);
    }
}
