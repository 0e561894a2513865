//! NVIDIA's runtime inside of a program: nvcc links it so, and then no preloaded function takes the place of its own.
//!
//! Its functions are found by the names in the program's symbol table, which nvcc leaves there. Each gets a jump to the function of this
//! library, before the first is called.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::api::say;
use crate::functions;

/// The function that every version of the runtime has: without it there is none in a file.
const FIRST: &str = "__cudaRegisterFatBinary";

/// Functions that only some versions have, the newest version first.
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
        let (_, version) = object.path.rsplit_once("/libcudart.so.")?;
        version.split('.').next()?.parse().ok()
    });
    match loaded {
        Some(major) => *MAJOR.get_or_init(|| major),
        None => NEWEST,
    }
}

/// Puts a jump at the start of each function of NVIDIA's runtime that is inside of the program or of a library that it begins with.
pub(crate) fn replace() {
    let ours: HashMap<&str, usize> = functions().map(|row| (row.name, (row.address)())).collect();
    for object in objects() {
        let Some(mapped) = Mapped::open(&object.path) else {
            continue;
        };
        let Ok(file) = object::File::parse(mapped.bytes()) else {
            continue;
        };
        let code = || {
            file.symbols()
                .filter(|it| it.kind() == SymbolKind::Text && it.is_definition())
        };
        let theirs: HashMap<&str, u64> = code()
            .filter_map(|it| Some((it.name().ok()?, it.address())))
            .filter(|(name, _)| ours.contains_key(name))
            .collect();
        let Some(&first) = theirs.get(FIRST) else {
            continue;
        };
        if object.start + first as usize == ours[FIRST] {
            // This library.
            continue;
        }
        let starts: BTreeSet<u64> = code().map(|it| it.address()).collect();
        let newest = OF_VERSIONS.into_iter().find(|it| theirs.contains_key(it.0));
        MAJOR.get_or_init(|| newest.map_or(OLDEST, |it| it.1));
        for (name, address) in theirs {
            // A short function has room up to the next one, for compilers align them.
            let next = starts.range(address + 1..).next();
            let room = next.map_or(0, |next| next - address) as usize;
            if let Err(reason) = jump(object.start + address as usize, room, ours[name]) {
                say(&format!("{}: {name} stays NVIDIA's: {reason}", object.path));
            }
        }
    }
}

/// A program or library of this process.
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
    // SAFETY: no other function begins in these bytes, by the program's symbol table, and the pages can be written now. Nothing runs there:
    // the program has not begun.
    unsafe {
        code.copy_from_nonoverlapping(JUMP.as_ptr(), JUMP.len());
        code.add(JUMP.len())
            .copy_from_nonoverlapping(address.as_ptr(), address.len());
    }
    protect(libc::PROT_READ | libc::PROT_EXEC)
}
