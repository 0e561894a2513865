//! Opens the library and finds its functions.

use std::env;
use std::error::Error as _;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use crate::error::Error;
use crate::record::Record;

/// The environment variable that names the library's file.
pub const LIBRARY: &str = "RIDGEPOINT_CUPTI";

/// The names of the versions whose records are known, the newest first.
const NAMES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];

/// Where a toolkit has it.
const FOLDERS: [&str; 2] = ["extras/CUPTI/lib64", "targets/x86_64-linux/lib"];

/// Where NVIDIA's packages for Python have it, of CUDA 13 and of CUDA 12.
const OF_PACKAGES: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];

/// The answer of CUPTI's functions; 0 is success.
pub(crate) type Answer = u32;

/// Gives CUPTI an empty buffer, its size in bytes, and how many records it may hold: 0 for any.
pub(crate) type Requested = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);

/// Takes a buffer back: context and stream (both unused), the buffer, its size, its valid bytes.
pub(crate) type Completed = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// Is called where a subscriber has asked for it: its data, the domain, the function's number in it, and what is called.
pub(crate) type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);

macro_rules! functions {
    ($($name:ident = $symbol:ident($($argument:ty),*);)*) => {
        /// The functions that are used, by the prototypes of CUPTI 12 and 13.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> Answer,)*
            pub(crate) version: Version,
        }

        impl Functions {
            fn find(library: &libloading::Library) -> Result<Functions, String> {
                let mut functions = Functions {
                    $($name: {
                        // SAFETY: the function of this name has this prototype in the versions
                        // that `accept` lets pass.
                        let symbol = unsafe { library.get(stringify!($symbol)) };
                        *symbol.map_err(|_| concat!("has no ", stringify!($symbol)))?
                    },)*
                    version: Version(0),
                };
                // SAFETY: the only argument is a place to write to.
                unsafe { (functions.get_version)(&mut functions.version.0) };
                functions.version.accept()?;
                Ok(functions)
            }
        }
    };
}

functions! {
    get_version = cuptiGetVersion(*mut u32);
    result_string = cuptiGetResultString(Answer, *mut *const c_char);
    timestamp = cuptiGetTimestamp(*mut u64);
    context_id = cuptiGetContextId(*mut c_void, *mut u32);
    device_id = cuptiGetDeviceId(*mut c_void, *mut u32);
    stream_id = cuptiGetStreamIdEx(*mut c_void, *mut c_void, u8, *mut u32);
    subscribe = cuptiSubscribe(*mut *mut c_void, Callback, *mut c_void);
    unsubscribe = cuptiUnsubscribe(*mut c_void);
    enable_callback = cuptiEnableCallback(u32, *mut c_void, u32, u32);
    callback_name = cuptiGetCallbackName(u32, u32, *mut *const c_char);
    register_callbacks = cuptiActivityRegisterCallbacks(Requested, Completed);
    enable = cuptiActivityEnable(u32);
    disable = cuptiActivityDisable(u32);
    flush_all = cuptiActivityFlushAll(u32);
    next_record = cuptiActivityGetNextRecord(*mut u8, usize, *mut *mut Record);
    dropped = cuptiActivityGetNumDroppedRecords(*mut c_void, u32, *mut usize);
}

impl Functions {
    /// The result of the function of this name.
    pub(crate) fn checked(&self, function: &'static str, answer: Answer) -> Result<(), Error> {
        if answer == 0 {
            return Ok(());
        }
        let mut text = ptr::null();
        // SAFETY: `text` is a place to write to.
        unsafe { (self.result_string)(answer, &mut text) };
        let message = match text.is_null() {
            true => "unknown error".to_owned(),
            // SAFETY: CUPTI's names of errors are constants that end with a zero.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into(),
        };
        Err(Error::Refused {
            function,
            message,
            code: answer,
        })
    }
}

/// CUPTI's version. Displayed, it is that of the CUDA toolkit: "13.0", "12".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub(crate) u32);

impl Version {
    /// Of CUDA 12.0.
    const OLDEST: u32 = 19;

    fn accept(self) -> Result<(), String> {
        match self.0 >= Version::OLDEST {
            true => Ok(()),
            false => Err(format!(
                "its API version is {}; {} (CUDA 12.0) is the oldest that is known",
                self.0,
                Version::OLDEST
            )),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Counted up to CUDA 12.9, and since 13.0 major, minor and patch in two digits each.
            0..130_000 => write!(formatter, "12"),
            version => write!(formatter, "{}.{}", version / 10_000, version / 100 % 100),
        }
    }
}

/// Opens the library, and says its version.
///
/// # Errors
/// There is none, or it is not as it should be.
pub fn version() -> Result<Version, Error> {
    functions().map(|functions| functions.version)
}

/// The library's functions.
pub(crate) fn functions() -> Result<&'static Functions, Error> {
    opened().map(|it| &it.functions)
}

/// The library, for functions that not every version has.
pub(crate) fn library() -> Result<&'static libloading::Library, Error> {
    opened().map(|it| &it.library)
}

/// The library, opened.
struct Opened {
    functions: Functions,
    library: libloading::Library,
}

/// It is opened once and never closed: CUPTI's threads run in it.
fn opened() -> Result<&'static Opened, Error> {
    static OPENED: OnceLock<Result<Opened, Error>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let named = variable(LIBRARY);
        let (path, library) = open(named.as_deref())?;
        let functions = Functions::find(&library)
            .map_err(|reason| Error::Unusable(format!("{}: {reason}", path.display())))?;
        Ok(Opened { functions, library })
    });
    opened.as_ref().map_err(Error::clone)
}

/// Opens the file that is named, or else the first that the loader finds or a toolkit has.
fn open(named: Option<&Path>) -> Result<(PathBuf, libloading::Library), Error> {
    if let Some(path) = named {
        return open_file(path);
    }
    let by_loader = NAMES
        .iter()
        .find_map(|name| open_file(Path::new(name)).ok());
    let in_folders = || {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        find(&packages(&maps), &OF_PACKAGES).or_else(|| find(&toolkits(), &FOLDERS))
    };
    match (by_loader, in_folders()) {
        (Some(found), _) => Ok(found),
        (None, Some(path)) => open_file(&path),
        (None, None) => Err(Error::NotFound),
    }
}

/// The newest that is in one of the folders below one of the roots.
fn find(roots: &[PathBuf], folders: &[&str]) -> Option<PathBuf> {
    let below = |root: &PathBuf| folders.iter().map(|it| root.join(it)).collect::<Vec<_>>();
    let folders: Vec<PathBuf> = roots.iter().flat_map(below).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.exists())
}

/// The folders of packages that a process of Python has loaded libraries from, by its map of memory.
fn packages(maps: &str) -> Vec<PathBuf> {
    let roots = maps.lines().filter_map(|line| {
        let path = &line[line.find('/')?..];
        let end = ["/site-packages/", "/dist-packages/"]
            .iter()
            .find_map(|folder| Some(path.find(folder)? + folder.len()))?;
        Some(PathBuf::from(&path[..end]))
    });
    let mut roots: Vec<PathBuf> = roots.collect();
    roots.dedup();
    roots
}

fn open_file(path: &Path) -> Result<(PathBuf, libloading::Library), Error> {
    // SAFETY: CUPTI's initialisers are made to be run by any program.
    match unsafe { libloading::Library::new(path) } {
        Ok(library) => Ok((path.to_owned(), library)),
        // The loader's message begins with the file.
        Err(error) => Err(Error::Unusable(
            error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string),
        )),
    }
}

/// The path that an environment variable names, if it is set and not empty.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// Where CUDA toolkits are: where `CUDA_HOME` says, in /usr/local/cuda, and beside it.
fn toolkits() -> Vec<PathBuf> {
    let beside = fs::read_dir("/usr/local").into_iter().flatten().flatten();
    let mut beside: Vec<PathBuf> = beside
        .map(|entry| entry.path())
        .filter(|path| is_toolkit(path.file_name()))
        .collect();
    beside.sort();
    let home = variable("CUDA_HOME");
    let usual = PathBuf::from("/usr/local/cuda");
    home.into_iter()
        .chain([usual])
        .chain(beside.into_iter().rev())
        .collect()
}

fn is_toolkit(name: Option<&OsStr>) -> bool {
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"cuda-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_named_is_the_only_one_that_is_tried() {
        let error = open(Some(Path::new("/nowhere/libcupti.so.13"))).expect_err("there is none");
        let text = error.to_string();
        assert!(text.starts_with("/nowhere/libcupti.so.13: "), "{text}");
    }

    #[test]
    fn the_newest_of_all_toolkits_is_taken() {
        let root = env::temp_dir().join(format!("cupti-{}", std::process::id()));
        let toolkits = ["none", "old", "new"].map(|name| root.join(name));
        let files = [
            "old/extras/CUPTI/lib64/libcupti.so.12",
            "new/targets/x86_64-linux/lib/libcupti.so.13",
        ]
        .map(|file| root.join(file));
        assert_eq!(find(&toolkits, &FOLDERS), None);
        for file in &files {
            fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
            fs::write(file, "").expect("writable");
            assert_eq!(find(&toolkits, &FOLDERS).as_ref(), Some(file));
        }
        fs::remove_dir_all(&root).expect("writable");
    }

    #[test]
    fn packages_are_found_by_what_a_process_has_loaded() {
        let maps = "7f00-7f10 r-xp 0 fe:00 1  /usr/lib/x86_64-linux-gnu/libc.so.6\n\
            7f20-7f30 r-xp 0 fe:00 2  /home/me/venv/lib/python3.12/site-packages/numpy/core.so\n\
            7f30-7f40 r-xp 0 fe:00 2  /home/me/venv/lib/python3.12/site-packages/torch/lib/libc10.so\n\
            7f50-7f60 rw-p 0 00:00 0  [heap]\n";
        let root = PathBuf::from("/home/me/venv/lib/python3.12/site-packages/");
        assert_eq!(packages(maps), [root]);
    }

    #[test]
    fn a_version_is_that_of_the_toolkit() {
        for (number, text) in [(19, "12"), (28, "12"), (130_001, "13.0"), (130_200, "13.2")] {
            assert_eq!(Version(number).to_string(), text);
            assert_eq!(Version(number).accept(), Ok(()));
        }
        let refused = Version(18).accept().expect_err("of CUDA 11.8");
        assert!(refused.contains("is 18"), "{refused}");
    }
}
