//! Functions of the host that streams call, and what comes after them.
//!
//! A program may hold a lock while it puts a function into a stream that takes the same lock. So no function runs in the call that asks
//! for it: it is queued, and a thread of the driver's runs it. What comes after it in its stream is queued behind it, as are
//! streams that wait for that one. All other work is done in the call that asks for it, even while a function runs.
//!
//! The thread runs one function at a time, as CUDA may. Work of devices goes first where both could: a function may wait for the program, and
//! the program for the work.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use crate::api;
use crate::context;
use crate::event::Recording;
use crate::handles::{Handle, lock};
use crate::recorded;
use crate::stream::Stream;
use crate::work::Work;

/// Work that is queued.
struct Task {
    number: u64,
    stream: Arc<Stream>,
    work: Work,
    /// The call that has asked for it, as recordings number it.
    call: u32,
}

/// The tasks of all streams.
struct Queue {
    /// In the order in which it was put into streams. What the thread does stays until it is done.
    tasks: VecDeque<Arc<Task>>,
    next: u64,
    has_thread: bool,
    /// The process whose thread it is.
    process: u32,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    tasks: VecDeque::new(),
    next: 0,
    has_thread: false,
    process: 0,
});
/// Something was queued, or is done.
static CHANGED: Condvar = Condvar::new();
/// How much is queued: where nothing is, the queue is not locked.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Locks the queue. One that was forked off begins anew: what its parent has queued is its parent's.
fn queue() -> MutexGuard<'static, Queue> {
    let mut queue = lock(&QUEUE);
    let own = process::id();
    if queue.process != own {
        // Tasks may own locks of threads that this process does not have.
        std::mem::forget(std::mem::take(&mut queue.tasks));
        queue.has_thread = false;
        queue.process = own;
        queue.count();
    }
    queue
}

impl Task {
    /// Whether work that is put into a stream later comes after it.
    fn is_before(&self, stream: &Stream, work: &Work) -> bool {
        self.stream.is_before(stream) || work.waits_for(&self.work)
    }

    /// Does it in its stream's context. What fails is told by the next call that waits.
    fn run(&self) {
        let run = || self.work.run(&self.stream.lane());
        let within = || context::within(self.stream.context, || recorded::within(self.call, run));
        match catch_unwind(AssertUnwindSafe(within)) {
            Ok(Ok(())) => {}
            Ok(Err(status)) => self.stream.fail(status),
            Err(_) => self.stream.fail(api::broken("work of a stream")),
        }
    }
}

impl Queue {
    fn count(&self) {
        COUNT.store(self.tasks.len(), Ordering::Release);
    }

    /// Whether something is queued that comes before work of a stream.
    fn has_before(&self, stream: &Stream, work: &Work) -> bool {
        self.tasks.iter().any(|it| it.is_before(stream, work))
    }

    /// Returns what may be done now.
    fn ready(&self) -> Option<Arc<Task>> {
        let is_ready = |index: &usize| {
            let (task, before) = (&self.tasks[*index], self.tasks.range(..index));
            !before
                .into_iter()
                .any(|it| it.is_before(&task.stream, &task.work))
        };
        let mut ready = (0..self.tasks.len()).filter(is_ready);
        let first = ready.next()?;
        let is_of_device = |index: &usize| !self.tasks[*index].work.calls_host();
        let chosen = std::iter::once(first).chain(ready).find(is_of_device);
        Some(Arc::clone(&self.tasks[chosen.unwrap_or(first)]))
    }
}

/// Queues work that calls functions of the host, or that comes after what is queued; gives other work back.
pub(crate) fn add(stream: &Arc<Stream>, work: Work) -> Result<(), Work> {
    let calls_host = work.calls_host();
    if !calls_host && COUNT.load(Ordering::Acquire) == 0 {
        return Err(work);
    }
    let mut queue = queue();
    if !calls_host && !queue.has_before(stream, &work) {
        return Err(work);
    }
    if !queue.has_thread {
        let thread = thread::Builder::new().name("host functions".to_owned());
        thread
            .spawn(do_all)
            .expect("the system gives the process a thread");
        queue.has_thread = true;
    }
    let number = queue.next;
    queue.next += 1;
    queue.tasks.push_back(Arc::new(Task {
        number,
        stream: Arc::clone(stream),
        work: work.queued(),
        call: recorded::number_of_call(),
    }));
    queue.count();
    drop(queue);
    CHANGED.notify_all();
    Ok(())
}

/// Does what is queued, as long as the process lives.
fn do_all() {
    loop {
        let task = next();
        task.run();
        let mut queue = queue();
        queue.tasks.retain(|it| it.number != task.number);
        queue.count();
        drop(queue);
        CHANGED.notify_all();
    }
}

/// Waits for something that may be done.
fn next() -> Arc<Task> {
    let mut queue = queue();
    loop {
        match queue.ready() {
            Some(task) => return task,
            None => queue = wait_for_change(queue),
        }
    }
}

fn wait_for_change(queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
    CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner)
}

/// Waits until of all that is queued now nothing is left that is meant.
fn wait_for(is_meant: impl Fn(&Task) -> bool) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mut queue = queue();
    let end = queue.next;
    let is_left = |it: &Arc<Task>| it.number < end && is_meant(it);
    while queue.tasks.iter().any(is_left) {
        queue = wait_for_change(queue);
    }
}

/// Waits until a stream's next work could be done at once.
pub(crate) fn wait_for_stream(stream: &Stream) {
    wait_for(|it| it.stream.is_before(stream));
}

/// Waits for all that streams of a context were given.
pub(crate) fn wait_for_context(context: Handle) {
    wait_for(|it| it.stream.context == context);
}

/// Waits for all that was given to any stream.
pub(crate) fn wait_for_all() {
    wait_for(|_| true);
}

/// Waits until an event is reached that was recorded in a stream.
pub(crate) fn wait_for_event(recording: &Arc<Recording>) {
    wait_for(|it| it.work.reaches(recording));
}

/// Whether something is queued that comes before a stream's next work.
pub(crate) fn has_before(stream: &Stream) -> bool {
    COUNT.load(Ordering::Acquire) != 0 && queue().has_before(stream, &Work::Nothing)
}
