//! Handles and their objects. Handles are numbers, and never addresses: a stale one is found, and none is read from.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};

use crate::array::Array;
use crate::context::Context;
use crate::event::Event;
use crate::executable::Executable;
use crate::function::Function;
use crate::graph::{Graph, Node};
use crate::library::Library;
use crate::linker::Linking;
use crate::module::Module;
use crate::pool::Pool;
use crate::status::{Answer, Status};
use crate::stream::Stream;
use crate::user_object::UserObject;

/// The number that a program knows an object by. Small ones name default streams.
pub(crate) type Handle = usize;

const FIRST: Handle = 0x5247_0000;

/// Locks, whether or not a thread has panicked meanwhile: what it had begun was of its own call.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static OBJECTS: LazyLock<RwLock<HashMap<Handle, Object>>> = LazyLock::new(RwLock::default);
static NEXT: AtomicUsize = AtomicUsize::new(FIRST);

/// Makes [`Object`], and for each type how it is kept and looked up, with the error of a handle that is none of its.
macro_rules! objects {
    ($($ty:ident, $error:ident;)*) => {
        #[derive(Clone)]
        #[allow(clippy::enum_variant_names, reason = "CUDA's names")]
        pub(crate) enum Object {
            $($ty(Arc<$ty>),)*
        }

        $(impl Kept for $ty {
            fn object(it: Arc<$ty>) -> Object {
                Object::$ty(it)
            }

            fn of(object: Object) -> Answer<Arc<$ty>> {
                match object {
                    Object::$ty(it) => Ok(it),
                    _ => Err(Self::ERROR),
                }
            }

            const ERROR: Status = Status::$error;
        })*
    };
}

/// An object that a program knows by a handle.
pub(crate) trait Kept: Sized {
    /// The answer to a handle that is none of this type's.
    const ERROR: Status;
    fn object(it: Arc<Self>) -> Object;
    fn of(object: Object) -> Answer<Arc<Self>>;
}

objects! {
    Array, INVALID_HANDLE;
    Context, INVALID_CONTEXT;
    Event, INVALID_HANDLE;
    Executable, INVALID_HANDLE;
    Function, INVALID_HANDLE;
    Graph, INVALID_HANDLE;
    Library, INVALID_HANDLE;
    Linking, INVALID_HANDLE;
    Module, INVALID_HANDLE;
    Node, INVALID_HANDLE;
    Pool, INVALID_HANDLE;
    Stream, INVALID_HANDLE;
    UserObject, INVALID_HANDLE;
}

/// A handle that nothing stands behind yet.
pub(crate) fn reserve() -> Handle {
    NEXT.fetch_add(16, Ordering::Relaxed)
}

/// Keeps an object under a handle, in place of what it stood for.
pub(crate) fn keep_as(handle: Handle, object: Object) {
    let mut all = OBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    let before = all.insert(handle, object);
    drop(all);
    drop(before);
}

/// Keeps an object, and gives its handle.
pub(crate) fn keep<T: Kept>(object: T) -> Handle {
    keep_shared(Arc::new(object))
}

/// The same, of an object that others have, too.
pub(crate) fn keep_shared<T: Kept>(object: Arc<T>) -> Handle {
    let handle = reserve();
    keep_as(handle, T::object(object));
    handle
}

/// Returns what a handle stands for.
///
/// # Errors
/// It is stale, or of another type.
pub(crate) fn look<T: Kept>(handle: Handle) -> Answer<Arc<T>> {
    let all = OBJECTS.read().unwrap_or_else(PoisonError::into_inner);
    let found = all.get(&handle).cloned();
    drop(all);
    found.ok_or(T::ERROR).and_then(T::of)
}

/// Returns all objects of a type.
pub(crate) fn all<T: Kept>() -> Vec<Arc<T>> {
    let all = OBJECTS.read().unwrap_or_else(PoisonError::into_inner);
    let every: Vec<Object> = all.values().cloned().collect();
    drop(all);
    every.into_iter().filter_map(|it| T::of(it).ok()).collect()
}

/// Forgets an object, and gives it.
///
/// # Errors
/// The handle is stale, or of another type.
pub(crate) fn end<T: Kept>(handle: Handle) -> Answer<Arc<T>> {
    let mut all = OBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    let found = all.get(&handle).cloned().ok_or(T::ERROR).and_then(T::of)?;
    let gone = all.remove(&handle);
    drop(all);
    // What it owns may be ended by a call that looks up handles.
    drop(gone);
    Ok(found)
}

/// Forgets all objects that are of a context.
pub(crate) fn end_all_of(context: Handle) {
    let is_its = |object: &Object| match object {
        Object::Array(it) => it.context == context,
        Object::Event(it) => it.context == context,
        Object::Function(it) => it.context() == Some(context),
        Object::Module(it) => it.context == context,
        Object::Stream(it) => it.context == context,
        _ => false,
    };
    let mut all = OBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    let gone: Vec<Object> = all
        .extract_if(|_, object| is_its(object))
        .map(|it| it.1)
        .collect();
    drop(all);
    drop(gone);
}
