//! Objects of a program's that graphs keep alive.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use crate::api;
use crate::graph::Graph;
use crate::handles::{Handle, end, keep, lock, look};
use crate::status::{Answer, Status};
use crate::work::HostFunction;

/// An object, with the function that ends it when nobody has a reference any more.
pub(crate) struct UserObject {
    object: usize,
    end: HostFunction,
    count: Mutex<usize>,
}

/// References of a graph to an object, which it gives up when it ends.
pub(crate) struct Retained {
    object: Arc<UserObject>,
    count: usize,
}

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which has to be set.
const FLAGS: u32 = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`: the references are the caller's.
const MOVE: u32 = 1;

impl UserObject {
    /// Adds references to those that there are.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn retain(&self, count: usize) -> Answer {
        let mut all = lock(&self.count);
        let sum = all.checked_add(count).filter(|_| *all > 0);
        *all = sum.ok_or(Status::INVALID_VALUE)?;
        Ok(())
    }

    /// Gives up references.
    ///
    /// # Errors
    /// There are fewer.
    fn release(&self, count: usize) -> Answer {
        let mut all = lock(&self.count);
        *all = all.checked_sub(count).ok_or(Status::INVALID_VALUE)?;
        let is_last = *all == 0 && count > 0;
        drop(all);
        if is_last {
            // SAFETY: the program has handed both over for this call, which comes once: no reference can be added to none.
            api::call_host(|| unsafe { (self.end)(self.object as *mut c_void) });
        }
        Ok(())
    }
}

impl Retained {
    /// Takes over references that somebody has.
    pub(crate) fn new(object: &Arc<UserObject>, count: usize) -> Retained {
        Retained {
            object: Arc::clone(object),
            count,
        }
    }

    pub(crate) fn count_of(&self, object: &Arc<UserObject>) -> usize {
        match Arc::ptr_eq(&self.object, object) {
            true => self.count,
            false => 0,
        }
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        let _ = self.object.release(self.count);
    }
}

fn create(object: usize, end: Option<HostFunction>, count: u32, flags: u32) -> Answer<Handle> {
    let end = end.filter(|_| flags == FLAGS && count > 0);
    Ok(keep(UserObject {
        object,
        end: end.ok_or(Status::INVALID_VALUE)?,
        count: Mutex::new(count as usize),
    }))
}

/// Gives up references of the program's. The handle ends with the last.
fn release(handle: Handle, count: u32) -> Answer {
    let object = look::<UserObject>(handle)?;
    object.release(count as usize)?;
    match *lock(&object.count) {
        0 => end::<UserObject>(handle).map(drop),
        _ => Ok(()),
    }
}

/// Gives references to a graph: the program's own, or new ones.
fn retain_in(graph: Handle, object: Handle, count: u32, flags: u32) -> Answer {
    let (graph, object) = (look::<Graph>(graph)?, look::<UserObject>(object)?);
    match (count, flags) {
        (0, _) => return Err(Status::INVALID_VALUE),
        (_, 0) => object.retain(count as usize)?,
        (_, MOVE) => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    graph.retain(Retained::new(&object, count as usize));
    Ok(())
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuUserObjectCreate(to: Out<Handle>, object: usize, function: Option<HostFunction>, count: u32, flags: u32) {
            to.check()?;
            to.put(create(object, function, count, flags)?)
        }
        fn cuUserObjectRetain(object: Handle, count: u32) { look::<UserObject>(object)?.retain(count as usize) }
        fn cuUserObjectRelease(object: Handle, count: u32) { release(object, count) }
        fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) { retain_in(graph, object, count, flags) }
        fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
            look::<Graph>(graph)?.release(&look::<UserObject>(object)?, count as usize)
        }
    }
}
