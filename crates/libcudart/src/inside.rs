//! NVIDIA's runtime inside of a program: nvcc links it so, and then no preloaded function takes the place of its own.
//!
//! Its functions are found by the names in the program's symbol table, which nvcc leaves there. Each gets a jump to the function of this
//! library, before the first is called.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, OnceLock, PoisonError};

use object::{Object, ObjectSymbol, SymbolKind};

use crate::api::say;
use crate::functions;

/// The function that every version of the runtime has: without it there is none in a file.
const FIRST: &str = "__cudaRegisterFatBinary";

/// Functions that one version of the runtime begins or ceases to have, in the order in which they are looked for.
const OF_VERSIONS: [(&str, u32); 2] = [
    ("cudaGetDeviceProperties_v2", 12),
    ("cudaDeviceGetHostAtomicCapabilities", 13),
];

/// The version of the runtime that the program was built for, once it is known.
static MAJOR: OnceLock<u32> = OnceLock::new();

/// Without a sign of any other.
const NEWEST: u32 = 13;
const OLDEST: u32 = 11;

/// Returns the version of CUDA that the program was built for, by the runtime that is inside of it or loaded with it.
pub(crate) fn major() -> u32 {
    if let Some(&major) = MAJOR.get() {
        return major;
    }
    let loaded = objects().into_iter().find_map(|object| {
        // Wheels have it under names such as libcudart-d0da41ae.so.11.0.
        let name = object.path.rsplit('/').next()?;
        let (_, version) = name.strip_prefix("libcudart")?.split_once(".so.")?;
        version.split('.').next()?.parse().ok()
    });
    match loaded {
        Some(major) => *MAJOR.get_or_init(|| major),
        None => NEWEST,
    }
}

/// Puts a jump at the start of each function of NVIDIA's runtime that is inside of the program, of a library that it begins with, or of
/// one that it loads later.
pub(crate) fn replace() {
    let ours: HashMap<&str, usize> = functions().map(|row| (row.name, (row.address)())).collect();
    let mut runtime = Runtime {
        ours,
        seen: HashSet::new(),
    };
    runtime.replace_in_all();
    if let Err(reason) = at_each_load() {
        say(&format!(
            "a CUDA runtime in a library that is loaded later stays NVIDIA's: {reason}"
        ));
    }
    *RUNTIME.lock().unwrap_or_else(PoisonError::into_inner) = Some(runtime);
}

/// This library's functions, and the objects that were looked at.
struct Runtime {
    ours: HashMap<&'static str, usize>,
    seen: HashSet<Loaded>,
}

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

impl Runtime {
    fn replace_in_all(&mut self) {
        // A library that was unloaded may come again, to the same place.
        let seen = std::mem::take(&mut self.seen);
        for object in objects() {
            if !seen.contains(&object) {
                self.replace_in(&object);
            }
            self.seen.insert(object);
        }
    }

    fn replace_in(&self, object: &Loaded) {
        let Some(mapped) = Mapped::open(&object.path) else {
            return;
        };
        let Ok(file) = object::File::parse(mapped.bytes()) else {
            return;
        };
        let code = || {
            file.symbols()
                .filter(|it| it.kind() == SymbolKind::Text && it.is_definition())
        };
        let theirs: HashMap<&str, u64> = code()
            .filter_map(|it| Some((it.name().ok()?, it.address())))
            .filter(|(name, _)| self.ours.contains_key(name))
            .collect();
        let Some(&first) = theirs.get(FIRST) else {
            return;
        };
        if object.start + first as usize == self.ours[FIRST] {
            // This library.
            return;
        }
        let starts: BTreeSet<u64> = code().map(|it| it.address()).collect();
        let newest = OF_VERSIONS.into_iter().find(|it| theirs.contains_key(it.0));
        MAJOR.get_or_init(|| newest.map_or(OLDEST, |it| it.1));
        let mut stay = Vec::new();
        for (name, address) in theirs {
            // A short function has room up to the next one, for compilers align them.
            let next = starts.range(address + 1..).next();
            let room = next.map_or(0, |next| next - address) as usize;
            let start = object.start + address as usize;
            if let Err(reason) = jump(start, room, self.ours[name]) {
                stay.push((name, reason));
            }
        }
        if let Some((name, reason)) = stay.first() {
            let (path, count) = (&object.path, stay.len());
            say(&format!(
                "{path}: {count} functions of the CUDA runtime stay NVIDIA's, {name} for one: {reason}"
            ));
        }
    }
}

/// `r_debug`, by which the loader tells debuggers what it does.
#[repr(C)]
struct Rendezvous {
    version: c_int,
    objects: usize,
    /// A function that does nothing, called whenever the loader begins to load and when all is in its place.
    changed: usize,
    state: c_int,
}

/// `RT_CONSISTENT`: libraries are in their places, and their constructors have not run.
const IN_PLACE: c_int = 0;

fn rendezvous() -> Option<*const Rendezvous> {
    // SAFETY: the name ends with NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_r_debug".as_ptr()) };
    (!found.is_null()).then_some(found.cast_const().cast())
}

/// Has libraries looked at as they are loaded, by a jump in place of the function that the loader calls for debuggers.
///
/// # Errors
/// The loader has no such function, or it is not empty.
fn at_each_load() -> Result<(), String> {
    extern "C" fn changed() {
        let Some(rendezvous) = rendezvous() else {
            return;
        };
        // SAFETY: it is the loader's, for as long as the process lives.
        let state = unsafe { (&raw const (*rendezvous).state).read_volatile() };
        // Who looks at libraries already loads one: nothing of the runtime is in it.
        if state == IN_PLACE
            && let Ok(mut runtime) = RUNTIME.try_lock()
            && let Some(runtime) = runtime.as_mut()
        {
            runtime.replace_in_all();
        }
    }
    let none = || "the loader tells nobody".to_owned();
    let rendezvous = rendezvous().ok_or_else(none)?;
    // SAFETY: as above.
    let function = unsafe { (&raw const (*rendezvous).changed).read_volatile() };
    if function == 0 {
        return Err(none());
    }
    let code: *const [u8; JUMP_BYTES] = std::ptr::with_exposed_provenance(function);
    // SAFETY: code of the loader, which is more than a jump.
    if !does_nothing(unsafe { &*code }) {
        return Err("what the loader calls is not empty".to_owned());
    }
    jump(function, JUMP_BYTES, changed as *const () as usize)
}

/// Whether code returns at once, and nothing but padding follows.
fn does_nothing(code: &[u8; JUMP_BYTES]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const MARK: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
        const RETURN: u8 = 0xc3;
        // Bytes of long and short instructions without effect, and of traps.
        const PADDING: [u8; 11] = [
            0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0x90, 0xcc, 0x40, 0x44, 0x80,
        ];
        let code = code.strip_prefix(MARK).unwrap_or(code);
        code.split_first().is_some_and(|(&first, rest)| {
            first == RETURN && rest.iter().all(|it| PADDING.contains(it))
        })
    }
    #[cfg(target_arch = "aarch64")]
    {
        const MARK: u32 = 0xd503_245f;
        const RETURN: u32 = 0xd65f_03c0;
        const PADDING: [u32; 2] = [0xd503_201f, 0];
        let (words, _) = code.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|it| u32::from_le_bytes(*it)).collect();
        let words = words.strip_prefix(&[MARK]).unwrap_or(&words);
        words.split_first().is_some_and(|(&first, rest)| {
            first == RETURN && rest.iter().all(|it| PADDING.contains(it))
        })
    }
}

/// A program or library of this process.
#[derive(PartialEq, Eq, Hash)]
struct Loaded {
    path: String,
    /// The address that its symbols count from.
    start: usize,
}

/// The program, and what is loaded with it.
fn objects() -> Vec<Loaded> {
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _bytes: usize,
        all: *mut c_void,
    ) -> c_int {
        // SAFETY: `all` is the list below, which nothing else uses meanwhile.
        let all = unsafe { &mut *all.cast::<Vec<Loaded>>() };
        // SAFETY: the loader describes an object, whose name ends with NUL or is null.
        let (name, start) = unsafe { ((*info).dlpi_name, (*info).dlpi_addr as usize) };
        let path = match name.is_null() {
            true => String::new(),
            // SAFETY: as above.
            false => unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned(),
        };
        let path = if path.is_empty() && all.is_empty() {
            "/proc/self/exe".to_owned()
        } else {
            path
        };
        all.push(Loaded { path, start });
        0
    }
    let mut all: Vec<Loaded> = Vec::new();
    // SAFETY: the function takes the list that it is called with.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
    all
}

/// A file's bytes, of which only those are read that are looked at.
struct Mapped {
    start: *mut c_void,
    bytes: usize,
}

impl Mapped {
    fn open(path: &str) -> Option<Mapped> {
        let file = File::open(path).ok()?;
        let bytes = usize::try_from(file.metadata().ok()?.len()).ok()?;
        if bytes == 0 {
            return None;
        }
        // SAFETY: a new place for a file that is open for reading.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        (start != libc::MAP_FAILED).then_some(Mapped { start, bytes })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: it was mapped with this length, and is until this value goes. The loader relies as well on the file as it is.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing borrows it any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

/// A jump to an address that stands behind it.
#[cfg(target_arch = "x86_64")]
const JUMP: &[u8] = &[0xff, 0x25, 0, 0, 0, 0];
#[cfg(target_arch = "aarch64")]
const JUMP: &[u8] = &[0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6];

const JUMP_BYTES: usize = JUMP.len() + size_of::<usize>();

/// Writes a jump over the start of a function.
///
/// # Errors
/// It has not room enough, or the system does not let code be written.
fn jump(from: usize, room: usize, to: usize) -> Result<(), String> {
    if room < JUMP_BYTES {
        return Err(format!("it has {room} bytes, and a jump {JUMP_BYTES}"));
    }
    // SAFETY: it asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = from / page * page;
    let length = from + JUMP_BYTES - start;
    let protect = |protection| {
        let pages: *mut c_void = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: the pages are those of a function of a loaded object. They can be executed before and after.
        match unsafe { libc::mprotect(pages, length, protection) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().to_string()),
        }
    };
    protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    let code: *mut u8 = std::ptr::with_exposed_provenance_mut(from);
    let address = to.to_ne_bytes();
    // SAFETY: no other function begins in these bytes, by the object's symbol table or its padding, and the pages can be written now. Nothing
    // runs there: the constructors of whatever is loaded have not begun.
    unsafe {
        code.copy_from_nonoverlapping(JUMP.as_ptr(), JUMP.len());
        code.add(JUMP.len())
            .copy_from_nonoverlapping(address.as_ptr(), address.len());
    }
    forget_old(from);
    protect(libc::PROT_READ | libc::PROT_EXEC)
}

/// Has the processor read the jump that was written, and not what it may have kept.
fn forget_old(_from: usize) {
    #[cfg(target_arch = "aarch64")]
    for at in (_from.._from + JUMP_BYTES).step_by(4) {
        // SAFETY: it writes nothing; the code was written above.
        unsafe {
            core::arch::asm!("dc cvau, {at}", "dsb ish", "ic ivau, {at}", "dsb ish", "isb", at = in(reg) at);
        }
    }
}
