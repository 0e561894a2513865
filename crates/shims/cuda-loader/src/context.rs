//! Which GPU's context the calling thread is in.

use std::ffi::c_uint;
use std::mem::transmute;
use std::ptr;

use cust_raw::{CUcontext, CUresult};

use crate::{entry, result};

/// Makes `context` the calling thread's current one, where another is. This is part of whatever needs
/// the context, so it is not recorded.
///
/// The driver is asked each time which is current: other libraries of the program may have changed it.
///
/// # Safety
/// The context is alive.
pub unsafe fn make_current(context: CUcontext) -> CUresult {
    static GET: entry::Cached = entry::Cached::new();
    static SET: entry::Cached = entry::Cached::new();
    let (Some(get), Some(set)) = (GET.get("cuCtxGetCurrent"), SET.get("cuCtxSetCurrent")) else {
        return entry::missing();
    };
    let mut current = ptr::null_mut();
    // SAFETY: the driver's functions of these names have these prototypes in every version; `current`
    // is a place to write to, and the caller vouches for the context.
    unsafe {
        let get: unsafe extern "C" fn(*mut CUcontext) -> c_uint = transmute(get);
        let set: unsafe extern "C" fn(CUcontext) -> c_uint = transmute(set);
        let is_known = get(&mut current) == CUresult::CUDA_SUCCESS as c_uint;
        if is_known && current == context {
            return CUresult::CUDA_SUCCESS;
        }
        result::from_number(set(context))
    }
}
