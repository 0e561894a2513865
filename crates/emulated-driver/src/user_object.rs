//! Objects of a program's that graphs keep alive.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use crate::api;
use crate::graph::Graph;
use crate::handles::{Handle, Kept, end, keep_as, lock, look, reserve};
use crate::status::{Answer, Status};
use crate::work::HostFunction;

/// An object, with the function that ends it when nobody has a reference any more.
pub(crate) struct UserObject {
    handle: Handle,
    object: usize,
    end: HostFunction,
    references: Mutex<References>,
}

/// Who has references.
struct References {
    program: usize,
    graphs: usize,
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
    /// Changes who has references.
    ///
    /// # Errors
    /// Somebody would have fewer than none, or nobody has any.
    fn change(&self, change: impl FnOnce(&References) -> Option<(usize, usize)>) -> Answer {
        let mut references = lock(&self.references);
        let has_some = references.program > 0 || references.graphs > 0;
        let changed = change(&references).filter(|_| has_some);
        let (program, graphs) = changed.ok_or(Status::INVALID_VALUE)?;
        *references = References { program, graphs };
        drop(references);
        if program == 0 && graphs == 0 {
            let _ = end::<UserObject>(self.handle);
            // SAFETY: the program has handed both over for this call, which comes once: no reference can be added to none.
            api::call_host(|| unsafe { (self.end)(self.object as *mut c_void) });
        }
        Ok(())
    }

    fn retain(&self, count: usize) -> Answer {
        self.change(|it| Some((it.program.checked_add(count)?, it.graphs)))
    }

    fn release(&self, count: usize) -> Answer {
        self.change(|it| Some((it.program.checked_sub(count)?, it.graphs)))
    }
}

impl Retained {
    /// New references, of somebody who has some.
    pub(crate) fn new(object: &Arc<UserObject>, count: usize) -> Retained {
        let _ = object.change(|it| Some((it.program, it.graphs.checked_add(count)?)));
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
        let give_up = |it: &References| Some((it.program, it.graphs.checked_sub(self.count)?));
        let _ = self.object.change(give_up);
    }
}

fn create(object: usize, end: Option<HostFunction>, count: u32, flags: u32) -> Answer<Handle> {
    let end = end.filter(|_| flags == FLAGS && count > 0);
    let handle = reserve();
    let user_object = UserObject {
        handle,
        object,
        end: end.ok_or(Status::INVALID_VALUE)?,
        references: Mutex::new(References {
            program: count as usize,
            graphs: 0,
        }),
    };
    keep_as(handle, UserObject::object(user_object.into()));
    Ok(handle)
}

/// Gives references to a graph: the program's own, or new ones.
///
/// # Errors
/// It gives none, or more of its own than it has.
fn retain_in(graph: Handle, object: Handle, count: u32, flags: u32) -> Answer {
    let (graph, object) = (look::<Graph>(graph)?, look::<UserObject>(object)?);
    let count = count as usize;
    let is_moved = match flags {
        0 => false,
        MOVE => true,
        _ => return Err(Status::INVALID_VALUE),
    };
    let own = lock(&object.references).program;
    if count == 0 || is_moved && count > own {
        return Err(Status::INVALID_VALUE);
    }
    graph.retain(Retained::new(&object, count));
    match is_moved {
        true => object.release(count),
        false => Ok(()),
    }
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
        fn cuUserObjectRelease(object: Handle, count: u32) { look::<UserObject>(object)?.release(count as usize) }
        fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) { retain_in(graph, object, count, flags) }
        fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
            look::<Graph>(graph)?.release(&look::<UserObject>(object)?, count as usize)
        }
    }
}
