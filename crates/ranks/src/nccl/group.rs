//! A rank's part of NCCL's group of all ranks.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cust_raw::CUcontext;
use ridgepoint_driver::Stream;

use super::NcclError;
use super::library::{Answer, Comm, Functions, UniqueId, Version, functions};
use crate::communicator::{Arguments, Operation};
use crate::control::{Control, Watch};
use crate::element::Reduction;
use crate::error::RankError;
use crate::rank::Rank;

/// The identity that the ranks of one group have in common. Rank 0 makes it.
pub(crate) struct Id(UniqueId);

impl Id {
    pub(crate) fn new() -> Result<Id, NcclError> {
        let functions = functions()?;
        let mut id = UniqueId([0; 128]);
        // SAFETY: the only argument is a place to write to.
        let answer = unsafe { (functions.unique_id)(&mut id) };
        functions.checked("ncclGetUniqueId", ptr::null_mut(), answer)?;
        Ok(Id(id))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0.0
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Id> {
        Some(Id(UniqueId(bytes.try_into().ok()?)))
    }
}

/// A rank's part of NCCL's group of all ranks.
pub(crate) struct Group {
    handle: Arc<Handle>,
    control: Control,
    /// Gives NCCL up when a rank is lost.
    _watch: Watch,
}

/// NCCL's handle, until it is given up.
struct Handle {
    functions: &'static Functions,
    comm: AtomicPtr<c_void>,
    /// The context of the device, which NCCL keeps, too.
    context: CUcontext,
    /// One call at a time.
    turn: Mutex<()>,
}

impl Group {
    /// Joins the group. All ranks do so at the same time, and wait for each other.
    pub(crate) fn join(rank: &Rank<'_>, id: Id) -> Result<Group, RankError> {
        let functions = functions()?;
        let control = rank.control().clone();
        let comm = init(rank, id, functions)?;
        let handle = Arc::new(Handle {
            functions,
            comm: AtomicPtr::new(comm),
            context: current_context(),
            turn: Mutex::new(()),
        });
        let of_watch = Arc::clone(&handle);
        Ok(Group {
            handle,
            _watch: control.on_loss(move |_| of_watch.give_up()),
            control,
        })
    }

    pub(crate) fn version(&self) -> Version {
        self.handle.functions.version
    }

    /// Puts a collective into the stream.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`](crate::Communicator::all_reduce); the arguments are addresses of the
    /// device, of as many elements as the collective reads and writes.
    pub(crate) unsafe fn put(
        &self,
        rank: &Rank<'_>,
        stream: &Stream<'_>,
        operation: Operation,
        arguments: &Arguments,
    ) -> Result<(), RankError> {
        let name = operation.name();
        let stream = stream.as_raw().ok_or(NcclError::GivenUp(name))?;
        rank.device().enter()?;
        // SAFETY: the caller's contract; the context is the device's.
        let put = |comm| unsafe { self.call(comm, stream, operation, arguments) };
        self.handle.with(name, put).map_err(|it| self.blamed(it))
    }

    /// # Safety
    /// As for [`Group::put`]; the handle is alive.
    unsafe fn call(
        &self,
        comm: Comm,
        stream: *mut c_void,
        operation: Operation,
        arguments: &Arguments,
    ) -> (&'static str, i32) {
        let nccl = self.handle.functions;
        let &Arguments {
            from,
            to,
            count,
            element,
        } = arguments;
        // SAFETY: the caller's contract.
        unsafe {
            match operation {
                Operation::AllReduce(by) => (
                    "ncclAllReduce",
                    (nccl.all_reduce)(from, to, count, element, number(by), comm, stream),
                ),
                Operation::AllGather => (
                    "ncclAllGather",
                    (nccl.all_gather)(from, to, count, element, comm, stream),
                ),
                Operation::ReduceScatter(by) => (
                    "ncclReduceScatter",
                    (nccl.reduce_scatter)(from, to, count, element, number(by), comm, stream),
                ),
                Operation::Broadcast(root) => (
                    "ncclBroadcast",
                    (nccl.broadcast)(from, to, count, element, root as i32, comm, stream),
                ),
            }
        }
    }

    /// Waits for all work of the stream, while the ranks and NCCL are well.
    pub(crate) fn synchronize(&self, stream: &Stream<'_>) -> Result<(), RankError> {
        const NAME: &str = "wait for collectives";
        stream.refuse_capture_by_thread(NAME)?;
        let (done, begin) = (stream.mark()?, Instant::now());
        let limits = self.control.limits();
        let mut looked = begin;
        loop {
            if done.is_done()? {
                // Nothing is left to wait for; a panic of a kernel is told here.
                stream.synchronize()?;
                return self.handle.is_whole(NAME).map_err(|it| self.blamed(it));
            }
            // Most waits are short: the host looks all the time at first.
            match begin.elapsed() < Duration::from_millis(2) {
                true => thread::yield_now(),
                false => thread::sleep(Duration::from_micros(50)),
            }
            if looked.elapsed() < Duration::from_millis(10) {
                continue;
            }
            looked = Instant::now();
            if let Err(error) = self.control.check() {
                return Err(self.ended(stream, error));
            }
            if let Err(error) = self.handle.with(NAME, |comm| self.handle.state(comm)) {
                let error = self.blamed(error);
                return Err(self.ended(stream, error));
            }
            if begin.elapsed() > limits.patience {
                let error = NcclError::Stuck(NAME, limits.patience.as_secs()).into();
                return Err(self.ended(stream, error));
            }
        }
    }

    /// The error, after what NCCL has given up has left the stream, if it does so in the time for faults.
    fn ended(&self, stream: &Stream<'_>, error: RankError) -> RankError {
        let end = Instant::now() + self.control.limits().fault;
        self.handle.give_up();
        while let Ok(done) = stream.mark()
            && done.is_done().is_ok_and(|it| !it)
            && Instant::now() < end
        {
            thread::sleep(Duration::from_millis(1));
        }
        error
    }

    fn blamed(&self, error: NcclError) -> RankError {
        blamed(&self.control, error)
    }
}

/// NCCL may be the first to notice that a rank has gone: the ranks' connection knows which.
fn blamed(control: &Control, error: NcclError) -> RankError {
    let end = Instant::now() + control.limits().fault.min(Duration::from_secs(2));
    loop {
        match control.check() {
            Err(fault) => return fault,
            Ok(()) if Instant::now() >= end => return error.into(),
            Ok(()) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let is_well = self.control.check().is_ok() && !thread::panicking();
        match is_well {
            true => self.handle.leave(),
            // Those who are lost do not take part in the end.
            false => self.handle.give_up(),
        }
    }
}

// SAFETY: NCCL's handles may be used from any thread, by one at a time, which `turn` sees to; `give_up` may end
// a call of another thread, as ncclCommAbort is made for.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Calls NCCL with its handle.
    fn with(
        &self,
        operation: &'static str,
        call: impl FnOnce(Comm) -> (&'static str, i32),
    ) -> Result<(), NcclError> {
        let _turn = self.turn();
        let comm = self.comm.load(Ordering::Acquire);
        if comm.is_null() {
            return Err(NcclError::GivenUp(operation));
        }
        let (function, answer) = call(comm);
        self.functions.checked(function, comm, answer)
    }

    /// Returns the state of NCCL's own threads and kernels.
    fn state(&self, comm: Comm) -> (&'static str, i32) {
        let mut answer = 0;
        // SAFETY: the handle is alive; `answer` is a place to write to.
        let asked = unsafe { (self.functions.async_error)(comm, &mut answer) };
        const IN_PROGRESS: i32 = 7;
        match (asked, answer) {
            (0, IN_PROGRESS) => ("ncclCommGetAsyncError", 0),
            (0, answer) => ("a collective", answer),
            (asked, _) => ("ncclCommGetAsyncError", asked),
        }
    }

    /// Whether no collective was given up, after which results are not what they should be.
    fn is_whole(&self, operation: &'static str) -> Result<(), NcclError> {
        match self.comm.load(Ordering::Acquire).is_null() {
            true => Err(NcclError::GivenUp(operation)),
            false => Ok(()),
        }
    }

    /// Ends what NCCL does, also in the calls of other threads, and its kernels.
    fn give_up(self: &Arc<Handle>) {
        // A call that goes on is waited for a little: most come to an end by themselves.
        let end = Instant::now() + Duration::from_secs(1);
        let turn = loop {
            match self.turn.try_lock() {
                Ok(turn) => break Some(turn),
                Err(TryLockError::Poisoned(turn)) => break Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => break None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        };
        let comm = self.comm.swap(ptr::null_mut(), Ordering::AcqRel);
        drop(turn);
        self.retire(comm, self.functions.abort);
    }

    /// Leaves the group after its work, together with the other ranks of this host, for which NCCL waits.
    fn leave(self: &Arc<Handle>) {
        let turn = self.turn();
        let comm = self.comm.swap(ptr::null_mut(), Ordering::AcqRel);
        drop(turn);
        self.retire(comm, self.functions.destroy);
    }

    /// Ends a handle that nobody else has any more, by one of NCCL's functions.
    ///
    /// NCCL waits in them for graphs that have collectives, and in one for the other ranks of the host. A rank that
    /// fails comes here while the others still work, and must tell them before they end. So NCCL waits on a thread of
    /// its own, for as long as it likes, and the caller for a little.
    fn retire(self: &Arc<Handle>, comm: Comm, end: unsafe extern "C" fn(Comm) -> Answer) {
        if comm.is_null() {
            return;
        }
        let (comm, handle) = (Carried(comm), Arc::clone(self));
        let (done, waiting) = mpsc::channel::<()>();
        let ending = move || {
            let comm = comm;
            // SAFETY: alive, as it is not null, and ended here alone; NCCL keeps the context as long.
            unsafe {
                cuda_loader::make_current(handle.context);
                end(comm.0);
            }
            drop(done);
        };
        let named = thread::Builder::new().name("ranks-nccl".to_owned());
        if named.spawn(ending).is_ok() {
            // It ends without a message, or not in time.
            let _ = waiting.recv_timeout(Duration::from_secs(2));
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// NCCL's number of a reduction (`ncclRedOp_t`).
fn number(reduction: Reduction) -> i32 {
    match reduction {
        Reduction::Sum => 0,
        Reduction::Max => 2,
        Reduction::Min => 3,
    }
}

/// A pointer that goes from thread to thread.
struct Carried<T>(*mut T);
// SAFETY: contexts and NCCL's handles may be used from any thread.
unsafe impl<T> Send for Carried<T> {}

/// NCCL's handle of a rank.
///
/// NCCL waits in here for all ranks, and cannot be told to stop. It does so on a thread of its own, which is left
/// behind where a rank is lost meanwhile. Communicators that do not block could be told, but start a thread for
/// each collective, which costs more time than a small collective takes.
fn init(rank: &Rank<'_>, id: Id, functions: &'static Functions) -> Result<Comm, RankError> {
    const NAME: &str = "ncclCommInitRank";
    rank.device().enter()?;
    let context = Carried(current_context());
    let (size, number) = (rank.size() as i32, rank.rank() as i32);
    let (sender, receiver) = mpsc::channel();
    let joining = move || {
        let context = context;
        let mut comm = ptr::null_mut();
        // SAFETY: the context is the device's primary one, which the device keeps, and which is left alone where it has
        // gone; `comm` is a place to write to.
        let answer = unsafe {
            cuda_loader::make_current(context.0);
            (functions.init_rank)(&mut comm, size, id.0, number)
        };
        let joined = functions.checked(NAME, ptr::null_mut(), answer);
        // Where nobody waits any more, the handle stays as it is until the process ends.
        let _ = sender.send(joined.map(|()| Carried(comm)));
    };
    let named = thread::Builder::new().name("ranks-nccl".to_owned());
    let spawned = named.spawn(joining);
    spawned.map_err(crate::error::system("start a thread for NCCL"))?;
    let (begin, limits) = (Instant::now(), rank.control().limits());
    loop {
        if let Ok(joined) = receiver.recv_timeout(Duration::from_millis(10)) {
            return match joined {
                Ok(comm) => Ok(comm.0),
                Err(error) => Err(blamed(rank.control(), error)),
            };
        }
        rank.control().check()?;
        if begin.elapsed() > limits.patience {
            return Err(NcclError::Stuck(NAME, limits.patience.as_secs()).into());
        }
    }
}

/// The calling thread's context of the driver.
fn current_context() -> CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: the only argument is a place to write to; where the call fails, there is no context.
    unsafe { cust_raw::cuCtxGetCurrent(&mut context) };
    context
}
