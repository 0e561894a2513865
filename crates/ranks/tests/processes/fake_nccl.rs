//! An NCCL whose ranks are threads of one process. It computes in the host's memory, which is that of the fake driver's
//! GPUs, and within the call. It ends the process at the first call from another context than a rank's own, with a stream
//! of another, or with a rank that has gone.
//!
//! gpus.rs compiles this to a `libnccl.so.2`.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::{Condvar, LazyLock, Mutex, OnceLock};
use std::time::{Duration, Instant};

const VERSION: c_int = 22_703;
const REMOTE_ERROR: c_int = 6;
/// Longer than any test waits: a rank that nobody gives up would hang for ever with the real one.
const FOR_EVER: Duration = Duration::from_secs(20);

type Id = [u8; 128];

/// A rank, as its handle.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Member {
    group: u64,
    rank: usize,
    context: usize,
}

/// The contribution of one rank to a collective.
#[derive(Clone, Copy)]
struct Part {
    call: (&'static str, usize, c_int, c_int),
    from: usize,
    to: usize,
}

#[derive(Default)]
struct Group {
    size: usize,
    joined: usize,
    left: usize,
    aborted: usize,
    parts: BTreeMap<usize, Part>,
    /// Of those who have come, how many have not gone on.
    staying: usize,
    rounds: u64,
}

static GROUPS: LazyLock<Mutex<BTreeMap<u64, Group>>> = LazyLock::new(Mutex::default);
static MEMBERS: Mutex<Vec<Option<Member>>> = Mutex::new(Vec::new());
static CHANGED: Condvar = Condvar::new();

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn broken(text: &str) -> ! {
    eprintln!("the fake NCCL: {text}");
    std::process::abort()
}

/// A function of the driver's, which is loaded already.
fn driver(name: &CStr) -> usize {
    static DRIVER: OnceLock<usize> = OnceLock::new();
    let library = *DRIVER.get_or_init(|| unsafe { dlopen(c"libcuda.so.1".as_ptr(), 2) } as usize);
    unsafe { dlsym(library as *mut c_void, name.as_ptr()) as usize }
}

fn current_context() -> usize {
    let mut context = 0;
    let get: extern "C" fn(&mut usize) -> u32 = unsafe { transmute(driver(c"cuCtxGetCurrent")) };
    get(&mut context);
    context
}

/// The rank of a handle, in its own context.
fn member(call: &str, comm: usize) -> Member {
    let members = MEMBERS.lock().unwrap();
    let Some(Some(member)) = members.get(comm.wrapping_sub(1)).copied() else {
        broken(&format!("{call} with a rank that has gone"));
    };
    let current = current_context();
    if current != member.context {
        broken(&format!(
            "{call} of context {} in context {current}",
            member.context
        ));
    }
    member
}

/// Waits until something holds of the group, or it was given up.
fn wait_until(group: u64, is_so: impl Fn(&Group) -> bool) -> c_int {
    let end = Instant::now() + FOR_EVER;
    let mut groups = GROUPS.lock().unwrap();
    loop {
        let it = &groups[&group];
        if is_so(it) {
            return 0;
        }
        if it.aborted > 0 {
            return REMOTE_ERROR;
        }
        if Instant::now() > end {
            broken("somebody waits for ever");
        }
        groups = CHANGED
            .wait_timeout(groups, Duration::from_millis(50))
            .unwrap()
            .0;
    }
}

fn change<R>(group: u64, change: impl FnOnce(&mut Group) -> R) -> R {
    let changed = change(GROUPS.lock().unwrap().entry(group).or_default());
    CHANGED.notify_all();
    changed
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> c_int {
    unsafe { *version = VERSION };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(_: c_int) -> *const c_char {
    c"remote error of the fake NCCL".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_: usize) -> *const c_char {
    c"".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut Id) -> c_int {
    static NEXT: Mutex<u64> = Mutex::new(1);
    let mut next = NEXT.lock().unwrap();
    unsafe { (&mut *id)[60..68].copy_from_slice(&next.to_le_bytes()) };
    *next += 1;
    0
}

#[repr(C)]
pub struct UniqueId(Id);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(
    comm: *mut usize,
    size: c_int,
    id: UniqueId,
    rank: c_int,
) -> c_int {
    let context = current_context();
    if context == 0 {
        broken("ncclCommInitRank in no context");
    }
    let group = u64::from_le_bytes(id.0[60..68].try_into().unwrap());
    change(group, |it| {
        it.size = size as usize;
        it.joined += 1;
    });
    let answer = wait_until(group, |it| it.joined == it.size);
    let mut members = MEMBERS.lock().unwrap();
    members.push(Some(Member {
        group,
        rank: rank as usize,
        context,
    }));
    unsafe { *comm = members.len() };
    answer
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(comm: usize, answer: *mut c_int) -> c_int {
    member("ncclCommGetAsyncError", comm);
    unsafe { *answer = 0 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(comm: usize) -> c_int {
    let member = member("ncclCommAbort", comm);
    MEMBERS.lock().unwrap()[comm - 1] = None;
    change(member.group, |it| it.aborted += 1);
    0
}

/// As with the real one, all ranks of a host wait for each other.
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommDestroy(comm: usize) -> c_int {
    let member = member("ncclCommDestroy", comm);
    MEMBERS.lock().unwrap()[comm - 1] = None;
    change(member.group, |it| it.left += 1);
    wait_until(member.group, |it| it.left + it.aborted == it.size)
}

macro_rules! collectives {
    ($(fn $name:ident($($extra:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            from: usize, to: usize, count: usize, element: c_int $(, $extra: c_int)*, comm: usize, stream: usize
        ) -> c_int {
            let extra = 0 $(+ $extra)*;
            collective(Part { call: (stringify!($name), count, element, extra), from, to }, comm, stream)
        }
    )*};
}

collectives! {
    fn ncclAllReduce(reduction);
    fn ncclAllGather();
    fn ncclReduceScatter(reduction);
    fn ncclBroadcast(root);
}

fn collective(part: Part, comm: usize, stream: usize) -> c_int {
    let member = member(part.call.0, comm);
    // The driver ends the process if the stream is another context's.
    let synchronize: extern "C" fn(usize) -> u32 =
        unsafe { transmute(driver(c"cuStreamSynchronize")) };
    synchronize(stream);
    let answer = wait_until(member.group, |it| it.staying == 0);
    if answer != 0 {
        return answer;
    }
    let round = change(member.group, |it| {
        it.parts.insert(member.rank, part);
        if it.parts.len() == it.size {
            compute(&it.parts.values().copied().collect::<Vec<_>>());
            it.parts.clear();
            it.staying = it.size;
            it.rounds += 1;
            return it.rounds;
        }
        it.rounds + 1
    });
    let answer = wait_until(member.group, |it| it.rounds >= round);
    change(member.group, |it| it.staying = it.staying.saturating_sub(1));
    answer
}

fn compute(parts: &[Part]) {
    let call = parts[0].call;
    if parts.iter().any(|it| it.call != call) {
        broken("the ranks' calls differ");
    }
    let (name, count, element, extra) = call;
    let bytes = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2][element as usize];
    let read = |at: usize, count: usize| match count {
        0 => Vec::new(),
        _ => unsafe { std::slice::from_raw_parts(at as *const u8, count * bytes) }.to_vec(),
    };
    let write = |at: usize, values: &[u8]| {
        unsafe { std::ptr::copy(values.as_ptr(), at as *mut u8, values.len()) };
    };
    match name {
        "ncclAllGather" => {
            let all: Vec<u8> = parts.iter().flat_map(|it| read(it.from, count)).collect();
            parts.iter().for_each(|it| write(it.to, &all));
        }
        "ncclBroadcast" => {
            let all = read(parts[extra as usize].from, count);
            parts.iter().for_each(|it| write(it.to, &all));
        }
        _ => {
            let whole = if name == "ncclAllReduce" {
                count
            } else {
                count * parts.len()
            };
            let mut all = parts.iter().map(|it| read(it.from, whole));
            let mut sum = all.next().unwrap();
            for other in all {
                for (own, other) in sum.chunks_mut(bytes).zip(other.chunks(bytes)) {
                    reduce(element, extra, own, other);
                }
            }
            for (rank, it) in parts.iter().enumerate() {
                let share = if whole == count {
                    0..sum.len()
                } else {
                    rank * count * bytes..(rank + 1) * count * bytes
                };
                write(it.to, &sum[share]);
            }
        }
    }
}

fn reduce(element: c_int, by: c_int, own: &mut [u8], other: &[u8]) {
    macro_rules! of {
        ($ty:ident, $sum:expr) => {{
            let a = $ty::from_le_bytes((&*own).try_into().unwrap());
            let b = $ty::from_le_bytes(other.try_into().unwrap());
            let sum: fn($ty, $ty) -> $ty = $sum;
            let value = match by {
                0 => sum(a, b),
                2 => a.max(b),
                3 => a.min(b),
                _ => broken("no such reduction"),
            };
            own.copy_from_slice(&value.to_le_bytes());
        }};
    }
    match element {
        1 => of!(u8, |a, b| a.wrapping_add(b)),
        2 => of!(i32, |a, b| a.wrapping_add(b)),
        3 => of!(u32, |a, b| a.wrapping_add(b)),
        4 => of!(i64, |a, b| a.wrapping_add(b)),
        5 => of!(u64, |a, b| a.wrapping_add(b)),
        // Equal values alone: the exponent is one more.
        6 => of!(u16, |a, b| if a == b {
            a + (1 << 10)
        } else {
            broken("sum of f16")
        }),
        7 => of!(f32, |a, b| a + b),
        8 => of!(f64, |a, b| a + b),
        9 => of!(u16, |a, b| if a == b {
            a + (1 << 7)
        } else {
            broken("sum of bf16")
        }),
        _ => broken("no such type"),
    }
}
