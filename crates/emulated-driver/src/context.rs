//! Contexts: primary ones, and those that a program makes; each thread has a stack of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, LazyLock, Mutex};

use crate::allocations;
use crate::capture;
use crate::device;
use crate::handles::{Handle, Object, end, end_all_of, keep_as, lock, look, reserve};
use crate::library;
use crate::order;
use crate::queue;
use crate::status::{Answer, Status};
use crate::stream::Family;
use crate::texture;

/// A context.
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) device: u32,
    flags: u32,
    limits: Mutex<HashMap<u32, usize>>,
    /// The error that all calls answer since something was found.
    lost: Mutex<Option<Status>>,
    pub(crate) streams: Arc<Family>,
}

/// Answers of `cuCtxGetLimit` before a program sets a limit, by `CUlimit`: stack, `printf`, heap, depth and count of launches
/// by kernels, granularity of the L2 cache and its persisting bytes.
const LIMITS: [(u32, usize); 7] = [
    (0, 1024),
    (1, 1 << 20),
    (LIMIT_OF_HEAP, 8 << 20),
    (3, 2),
    (4, 2048),
    (5, 128),
    (6, 0),
];
const LIMIT_OF_HEAP: u32 = 2;

thread_local! {
    /// It is not dropped: a program may call the driver as it ends, when what threads own has gone.
    static CURRENT: ManuallyDrop<RefCell<Vec<Handle>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Returns the calling thread's context.
///
/// # Errors
/// It has none, that has been destroyed, or it is lost by a finding.
pub(crate) fn current() -> Answer<Arc<Context>> {
    let handle = current_handle().ok_or(Status::INVALID_CONTEXT)?;
    let context: Arc<Context> = look(handle).map_err(|_| Status::CONTEXT_IS_DESTROYED)?;
    let lost = *lock(&context.lost);
    lost.map_or(Ok(context), Err)
}

/// A context's handle as recordings name it: handles are 16 apart.
pub(crate) fn number(context: Handle) -> u32 {
    (context / 16) as u32
}

fn current_handle() -> Option<Handle> {
    CURRENT.with(|all| all.borrow().last().copied())
}

/// Runs something with a context as the calling thread's.
pub(crate) fn within<R>(context: Handle, body: impl FnOnce() -> R) -> R {
    CURRENT.with(|all| all.borrow_mut().push(context));
    let result = body();
    CURRENT.with(|all| all.borrow_mut().pop());
    result
}

impl Context {
    fn make(handle: Handle, device: u32, flags: u32) {
        let context = Context {
            handle,
            device,
            flags,
            limits: Mutex::new(LIMITS.into()),
            lost: Mutex::default(),
            streams: Arc::new(Family::new(handle, device)),
        };
        keep_as(handle, Object::Context(Arc::new(context)));
    }

    /// From now on all calls answer this.
    pub(crate) fn lose(&self, status: Status) {
        *lock(&self.lost) = Some(status);
    }

    fn limit(&self, which: u32) -> Answer<usize> {
        lock(&self.limits)
            .get(&which)
            .copied()
            .ok_or(Status::UNSUPPORTED_LIMIT)
    }

    fn set_limit(&self, which: u32, value: usize) -> Answer {
        *lock(&self.limits)
            .get_mut(&which)
            .ok_or(Status::UNSUPPORTED_LIMIT)? = value;
        if which == LIMIT_OF_HEAP {
            let memory = device::memory(self.device);
            let limits = memory.limits();
            memory.set_limits(engine::memory::Limits {
                heap_bytes: value as u64,
                ..limits
            });
        }
        Ok(())
    }
}

/// Frees all that is of a context, when its streams have done all.
fn clear(context: Handle) {
    queue::wait_for_context(context);
    if let Ok(it) = look::<Context>(context) {
        it.streams.all().iter().for_each(|it| capture::leave(it));
    }
    // Images give back memory that is the context's.
    texture::end_all_of(context);
    end_all_of(context);
    allocations::free_all_of(context);
}

fn destroy(context: Handle) -> Answer {
    look::<Context>(context)?;
    if lock(&PRIMARY).iter().any(|it| it.handle == Some(context)) {
        return Err(Status::INVALID_CONTEXT);
    }
    clear(context);
    CURRENT.with(|all| all.borrow_mut().retain(|it| *it != context));
    end::<Context>(context).map(drop)
}

fn create(device: i32, flags: u32) -> Answer<Handle> {
    let device = device::number(device)?;
    let handle = reserve();
    Context::make(handle, device, flags);
    CURRENT.with(|all| all.borrow_mut().push(handle));
    Ok(handle)
}

/// A device's own context.
#[derive(Clone, Default)]
struct Primary {
    /// The same however often it is made: programs hold on to it.
    handle: Option<Handle>,
    users: u32,
    flags: u32,
}

static PRIMARY: LazyLock<Mutex<Vec<Primary>>> =
    LazyLock::new(|| Mutex::new(vec![Primary::default(); device::count() as usize]));

/// Changes what is known of a device's own context.
fn of_primary<T>(device: i32, change: impl FnOnce(u32, &mut Primary) -> Answer<T>) -> Answer<T> {
    let device = device::number(device)?;
    let mut all = lock(&PRIMARY);
    change(device, &mut all[device as usize])
}

fn retain(device: i32) -> Answer<Handle> {
    of_primary(device, |device, primary| {
        let handle = *primary.handle.get_or_insert_with(reserve);
        if primary.users == 0 {
            Context::make(handle, device, primary.flags);
        }
        primary.users += 1;
        Ok(handle)
    })
}

fn release(device: i32) -> Answer {
    let ended = of_primary(device, |_, primary| {
        primary.users = primary
            .users
            .checked_sub(1)
            .ok_or(Status::INVALID_CONTEXT)?;
        Ok(primary.handle.filter(|_| primary.users == 0))
    })?;
    match ended {
        Some(handle) => {
            clear(handle);
            end::<Context>(handle).map(drop)
        }
        None => Ok(()),
    }
}

/// Frees all that is of a device's own context, which its users keep.
fn reset(device: i32) -> Answer {
    let primary = of_primary(device, |device, primary| Ok((device, primary.clone())))?;
    if let (
        device,
        Primary {
            handle: Some(handle),
            users: 1..,
            flags,
        },
    ) = primary
    {
        clear(handle);
        library::forget_modules(device);
        Context::make(handle, device, flags);
    }
    Ok(())
}

/// Makes a context the calling thread's in place of the one that is; 0 is none.
fn set_current(context: Handle) -> Answer {
    if context != 0 {
        look::<Context>(context)?;
    }
    CURRENT.with(|all| {
        let mut all = all.borrow_mut();
        all.pop();
        all.extend((context != 0).then_some(context));
    });
    Ok(())
}

/// The given context, or the current one where that is 0.
pub(crate) fn given_or_current(context: Handle) -> Answer<Arc<Context>> {
    match context {
        0 => current(),
        _ => look(context),
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out};

    driver! {
        fn cuDevicePrimaryCtxRetain(to: Out<Handle>, of: i32) { to.check()?; to.put(retain(of)?) }
        fn cuDevicePrimaryCtxRelease(of: i32) { release(of) }
        fn cuDevicePrimaryCtxRelease_v2(of: i32) { release(of) }
        fn cuDevicePrimaryCtxReset(of: i32) { reset(of) }
        fn cuDevicePrimaryCtxReset_v2(of: i32) { reset(of) }
        fn cuDevicePrimaryCtxSetFlags(of: i32, flags: u32) {
            of_primary(of, |_, primary| { primary.flags = flags; Ok(()) })
        }
        fn cuDevicePrimaryCtxSetFlags_v2(of: i32, flags: u32) {
            of_primary(of, |_, primary| { primary.flags = flags; Ok(()) })
        }
        fn cuDevicePrimaryCtxGetState(of: i32, flags: Out<u32>, active: Out<i32>) {
            let primary = of_primary(of, |_, primary| Ok(primary.clone()))?;
            flags.put(primary.flags)?;
            active.put(i32::from(primary.users > 0))
        }
        fn cuCtxCreate_v2(to: Out<Handle>, flags: u32, of: i32) { to.check()?; to.put(create(of, flags)?) }
        fn cuCtxCreate_v3(to: Out<Handle>, _affinity: In<u8>, affinities: i32, flags: u32, of: i32) {
            to.check()?;
            // Parts of a device are not emulated.
            if affinities != 0 { return Err(Status::UNSUPPORTED_EXEC_AFFINITY) }
            to.put(create(of, flags)?)
        }
        fn cuCtxCreate_v4(to: Out<Handle>, parameters: In<u8>, flags: u32, of: i32) {
            to.check()?;
            if !parameters.is_null() { return Err(Status::UNSUPPORTED_EXEC_AFFINITY) }
            to.put(create(of, flags)?)
        }
        fn cuCtxDestroy_v2(context: Handle) { destroy(context) }
        fn cuCtxGetCurrent(to: Out<Handle>) { to.put(current_handle().unwrap_or(0)) }
        fn cuCtxSetCurrent(context: Handle) { set_current(context) }
        fn cuCtxPushCurrent_v2(context: Handle) {
            look::<Context>(context)?;
            CURRENT.with(|all| all.borrow_mut().push(context));
            Ok(())
        }
        fn cuCtxPopCurrent_v2(to: Out<Handle>) {
            let popped = CURRENT.with(|all| all.borrow_mut().pop()).ok_or(Status::INVALID_CONTEXT)?;
            to.put_if_asked(popped);
            Ok(())
        }
        fn cuCtxGetDevice(to: Out<i32>) { to.put(current()?.device as i32) }
        fn cuCtxGetDevice_v2(to: Out<i32>, context: Handle) { to.put(given_or_current(context)?.device as i32) }
        fn cuCtxGetId(context: Handle, to: Out<u64>) { to.put(given_or_current(context)?.handle as u64) }
        fn cuCtxGetFlags(to: Out<u32>) { to.put(current()?.flags) }
        fn cuCtxGetApiVersion(context: Handle, to: Out<u32>) { given_or_current(context)?; to.put(3020) }
        fn cuCtxGetLimit(to: Out<usize>, which: u32) { to.put(current()?.limit(which)?) }
        fn cuCtxSetLimit(which: u32, value: usize) { let context = current()?; capture::admit_unsafe()?; context.set_limit(which, value) }
        fn cuCtxGetCacheConfig(to: Out<u32>) { current()?; to.put(0) }
        fn cuCtxSetCacheConfig(_preference: u32) { current().map(drop) }
        fn cuCtxGetSharedMemConfig(to: Out<u32>) { current()?; to.put(1) }
        fn cuCtxSetSharedMemConfig(_banks: u32) { current().map(drop) }
        fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
            current()?;
            least.put_if_asked(0);
            greatest.put_if_asked(*crate::stream::PRIORITIES.start());
            Ok(())
        }
        fn cuCtxResetPersistingL2Cache() { current().map(drop) }
        fn cuCtxSynchronize() { current()?.streams.synchronise_all() }
        fn cuCtxSynchronize_v2(context: Handle) { given_or_current(context)?.streams.synchronise_all() }
        fn cuProfilerStart() { current().map(drop) }
        fn cuProfilerStop() { current().map(drop) }
    }
}

/// Everything that streams have done is ordered before what follows.
pub(crate) fn everything_is_done() {
    if let Some(mut known) = order::if_checked() {
        known.streams.synchronise_all();
    }
}
