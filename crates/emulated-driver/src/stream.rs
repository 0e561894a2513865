//! Streams: the default one of a context or of a thread, and those that a program makes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use recording::Synchronized;

use crate::capture::{self, Capturing};
use crate::context::{self, current};
use crate::device;
use crate::handles::{Handle, end, keep_shared, lock, look};
use crate::order::{self, Lane, Owned};
use crate::queue;
use crate::recorded::{self, Place};
use crate::settings::settings;
use crate::status::{Answer, Status};

/// A stream.
pub(crate) struct Stream {
    pub(crate) context: Handle,
    pub(crate) device: u32,
    family: Weak<Family>,
    order: Owned,
    waits: Waits,
    flags: u32,
    priority: i32,
    number: u64,
    pub(crate) capturing: Mutex<Option<Capturing>>,
}

/// Which other streams a stream's work waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// The default stream: for all of its context that are not non-blocking.
    All,
    /// For the default stream.
    Default,
    /// For none.
    Nothing,
}

/// The streams of a context.
pub(crate) struct Family {
    context: Handle,
    device: u32,
    default: OnceLock<Arc<Stream>>,
    all: Mutex<Vec<Weak<Stream>>>,
    /// Why work has failed that was done after its call: the next call that waits tells it.
    failed: Mutex<Option<Status>>,
}

const NON_BLOCKING: u32 = 1;

/// The handles of default streams: null and the legacy one, and each thread's own.
const NULL: Handle = 0;
const LEGACY: Handle = 1;
const PER_THREAD: Handle = 2;

/// Priorities, from the most urgent.
pub(crate) const PRIORITIES: RangeInclusive<i32> = -5..=0;

thread_local! {
    /// Whether the null stream is the thread's own: in calls of the functions whose names end with `_ptsz` and `_ptds`.
    static HAS_OWN_DEFAULT: Cell<bool> = const { Cell::new(false) };
    /// They are not dropped: what a thread has put into its own stream is before what the default stream does when the thread has ended,
    /// and the last thread may call the driver as it ends.
    static OWN: ManuallyDrop<RefCell<HashMap<Handle, Arc<Stream>>>> = ManuallyDrop::default();
}

/// Runs a call in which the null stream is the thread's own.
pub(crate) fn with_own_default<R>(call: impl FnOnce() -> R) -> R {
    let before = HAS_OWN_DEFAULT.replace(true);
    let result = call();
    HAS_OWN_DEFAULT.set(before);
    result
}

impl Family {
    pub(crate) fn new(context: Handle, device: u32) -> Family {
        Family {
            context,
            device,
            default: OnceLock::new(),
            all: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    fn stream(self: &Arc<Self>, waits: Waits, flags: u32, priority: i32) -> Arc<Stream> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let stream = Arc::new(Stream {
            context: self.context,
            device: self.device,
            family: Arc::downgrade(self),
            order: Owned::new(),
            waits,
            flags,
            priority,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            capturing: Mutex::default(),
        });
        let mut all = lock(&self.all);
        all.retain(|it| it.strong_count() > 0);
        all.push(Arc::downgrade(&stream));
        stream
    }

    fn default_stream(self: &Arc<Self>) -> Arc<Stream> {
        let make = || self.stream(Waits::All, 0, 0);
        self.default.get_or_init(make).clone()
    }

    /// The streams that there are.
    pub(crate) fn all(&self) -> Vec<Arc<Stream>> {
        lock(&self.all).iter().filter_map(Weak::upgrade).collect()
    }

    /// Those that the default stream waits for, and that wait for it.
    fn blocking(&self) -> Vec<Arc<Stream>> {
        let mut all = self.all();
        all.retain(|it| it.waits == Waits::Default);
        all
    }

    /// The host waits for all of the context.
    pub(crate) fn synchronise_all(&self) -> Answer {
        let all = self.all();
        let refused = |it: &Arc<Stream>| capture::refuse(it, Status::STREAM_CAPTURE_UNSUPPORTED);
        // Each capture becomes invalid, not the first one alone.
        let answers: Vec<Answer> = all.iter().map(refused).collect();
        answers.into_iter().collect::<Answer>()?;
        queue::wait_for_context(self.context);
        recorded::wait(context::number(self.context), Synchronized::Context);
        match device::count() {
            // With those that have been destroyed.
            1 => context::everything_is_done(),
            _ => {
                if let Some(mut known) = order::if_checked() {
                    all.iter()
                        .for_each(|it| known.streams.synchronise(it.order.0));
                }
            }
        }
        self.failure()
    }

    /// Tells once why work has failed that was done after its call.
    pub(crate) fn failure(&self) -> Answer {
        lock(&self.failed).take().map_or(Ok(()), Err)
    }
}

impl Stream {
    /// Where the stream's next operation goes.
    pub(crate) fn lane(&self) -> Lane {
        let after = match (settings().is_checked, self.family.upgrade()) {
            (true, Some(family)) => self.first(&family),
            _ => Vec::new(),
        };
        Lane {
            order: self.order.0,
            after,
            place: self.place(),
        }
    }

    /// The stream as recordings name it.
    pub(crate) fn place(&self) -> Place {
        Place {
            device: self.device,
            context: context::number(self.context),
            stream: self.number as u32,
            graph: 0,
        }
    }

    /// The streams whose work comes first.
    fn first(&self, family: &Arc<Family>) -> Vec<engine::check::Stream> {
        match self.waits {
            Waits::Nothing => Vec::new(),
            Waits::Default => vec![family.default_stream().order.0],
            Waits::All => family.blocking().iter().map(|it| it.order.0).collect(),
        }
    }

    /// The host waits for all that it has done.
    pub(crate) fn synchronise(&self) -> Answer {
        self.refuse_capture()?;
        queue::wait_for_stream(self);
        let place = self.place();
        recorded::wait(place.context, Synchronized::Stream(place.stream));
        let lane = self.lane();
        if let Some(mut known) = order::if_checked() {
            if self.waits == Waits::All {
                lane.settle(&mut known);
            }
            known.streams.synchronise(lane.order);
        }
        self.family.upgrade().map_or(Ok(()), |it| it.failure())
    }

    /// Answers whether all is done. A program relies on that as on a wait.
    fn query(&self) -> Answer {
        self.refuse_capture()?;
        match queue::has_before(self) {
            true => Err(Status::NOT_READY),
            false => self.synchronise(),
        }
    }

    pub(crate) fn is_capturing(&self) -> bool {
        lock(&self.capturing).is_some()
    }

    /// Refuses what a stream that captures cannot do.
    pub(crate) fn refuse_capture(&self) -> Answer {
        capture::admit(self)?;
        capture::refuse(self, Status::STREAM_CAPTURE_UNSUPPORTED)
    }

    /// The streams whose captures it would take part in: of the default stream the blocking ones of its context.
    pub(crate) fn bound(&self) -> Vec<Arc<Stream>> {
        match (self.waits, self.family.upgrade()) {
            (Waits::All, Some(family)) => family.blocking(),
            _ => Vec::new(),
        }
    }

    /// Whether what another stream is given later comes after what this one has been given.
    pub(crate) fn is_before(&self, other: &Stream) -> bool {
        let wait_for_each_other = matches!(
            (self.waits, other.waits),
            (Waits::All, Waits::Default) | (Waits::Default, Waits::All)
        );
        self.number == other.number || self.context == other.context && wait_for_each_other
    }

    /// Work that it was given has failed after its call.
    pub(crate) fn fail(&self, status: Status) {
        if let Some(family) = self.family.upgrade() {
            lock(&family.failed).get_or_insert(status);
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        self.waits == Waits::All
    }
}

/// Returns the stream of a handle; small ones are default streams of the current context.
///
/// # Errors
/// The handle is stale, or there is no current context.
pub(crate) fn of(handle: Handle) -> Answer<Arc<Stream>> {
    match handle {
        NULL if HAS_OWN_DEFAULT.get() => own_default(),
        NULL | LEGACY => Ok(current()?.streams.default_stream()),
        PER_THREAD => own_default(),
        _ => {
            let stream: Arc<Stream> = look(handle)?;
            current()?;
            Ok(stream)
        }
    }
}

/// The calling thread's own default stream in the current context.
fn own_default() -> Answer<Arc<Stream>> {
    let family = Arc::clone(&current()?.streams);
    let known = OWN.with(|all| all.borrow().get(&family.context).cloned());
    let is_of = |it: &Arc<Stream>| Weak::ptr_eq(&it.family, &Arc::downgrade(&family));
    if let Some(stream) = known.filter(is_of) {
        return Ok(stream);
    }
    let stream = family.stream(Waits::Default, 0, 0);
    let before = OWN.with(|all| all.borrow_mut().insert(family.context, Arc::clone(&stream)));
    drop(before);
    Ok(stream)
}

fn create(flags: u32, priority: i32) -> Answer<Handle> {
    let waits = match flags {
        0 => Waits::Default,
        NON_BLOCKING => Waits::Nothing,
        _ => return Err(Status::INVALID_VALUE),
    };
    let priority = priority.clamp(*PRIORITIES.start(), *PRIORITIES.end());
    Ok(keep_shared(
        current()?.streams.stream(waits, flags, priority),
    ))
}

pub(crate) mod calls {
    use std::ffi::c_void;

    use super::*;
    use crate::arguments::Out;
    use crate::work::{HostFunction, StreamCallback, Work, submit};

    driver! {
        fn cuStreamCreate(to: Out<Handle>, flags: u32) { to.check()?; to.put(create(flags, 0)?) }
        fn cuStreamCreateWithPriority(to: Out<Handle>, flags: u32, priority: i32) { to.check()?; to.put(create(flags, priority)?) }
        fn cuStreamDestroy_v2(stream: Handle) { end::<Stream>(stream).map(|it| capture::leave(&it)) }
        fn cuStreamSynchronize | cuStreamSynchronize_ptsz(stream: Handle) {
            let stream = of(stream)?;
            stream.refuse_capture()?;
            capture::admit_unsafe()?;
            stream.synchronise()
        }
        fn cuStreamQuery | cuStreamQuery_ptsz(stream: Handle) {
            let stream = of(stream)?;
            stream.refuse_capture()?;
            capture::admit_unsafe()?;
            stream.query()
        }
        fn cuStreamGetCtx | cuStreamGetCtx_ptsz(stream: Handle, to: Out<Handle>) { to.put(of(stream)?.context) }
        fn cuStreamGetDevice | cuStreamGetDevice_ptsz(stream: Handle, to: Out<i32>) { to.put(of(stream)?.device as i32) }
        fn cuStreamGetFlags | cuStreamGetFlags_ptsz(stream: Handle, to: Out<u32>) { to.put(of(stream)?.flags) }
        fn cuStreamGetPriority | cuStreamGetPriority_ptsz(stream: Handle, to: Out<i32>) { to.put(of(stream)?.priority) }
        fn cuStreamGetId | cuStreamGetId_ptsz(stream: Handle, to: Out<u64>) { to.put(of(stream)?.number) }
        fn cuStreamAttachMemAsync | cuStreamAttachMemAsync_ptsz(stream: Handle, _address: u64, _bytes: usize, _flags: u32) { of(stream).map(drop) }
        fn cuLaunchHostFunc | cuLaunchHostFunc_ptsz(stream: Handle, function: Option<HostFunction>, data: *mut c_void) {
            let function = function.ok_or(Status::INVALID_VALUE)?;
            submit(&of(stream)?, Work::Host { function, data: data as usize })
        }
        fn cuStreamAddCallback | cuStreamAddCallback_ptsz(stream: Handle, function: Option<StreamCallback>, data: *mut c_void, _flags: u32) {
            let function = function.ok_or(Status::INVALID_VALUE)?;
            let callback = Work::Callback { function, stream, data: data as usize };
            submit(&of(stream)?, callback)
        }
    }
}
