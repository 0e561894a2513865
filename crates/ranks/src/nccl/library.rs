//! Opens the library and finds its functions.

use std::env;
use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::NcclError;

/// The environment variable that names the library's file.
pub const LIBRARY: &str = "RIDGEPOINT_NCCL";

/// The names under which installations have it.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The answer of NCCL's functions; 0 is success.
pub(super) type Answer = c_int;

/// A rank's part of a group of ranks (`ncclComm_t`).
pub(super) type Comm = *mut c_void;

/// The identity that ranks of one group have in common (`ncclUniqueId`).
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId(pub(super) [u8; 128]);

macro_rules! functions {
    ($($name:ident = $symbol:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The functions that are used, by the prototypes of NCCL 2.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> functions!(@answer $($answer)?),)*
            pub(super) version: Version,
        }

        impl Functions {
            fn find(library: &libloading::Library) -> Result<Functions, String> {
                let mut functions = Functions {
                    $($name: {
                        // SAFETY: the function of this name has this prototype in the versions that `accept` lets pass.
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
    (@answer) => { Answer };
    (@answer $answer:ty) => { $answer };
}

functions! {
    get_version = ncclGetVersion(*mut c_int);
    error_string = ncclGetErrorString(Answer) -> *const c_char;
    last_error = ncclGetLastError(Comm) -> *const c_char;
    unique_id = ncclGetUniqueId(*mut UniqueId);
    init_rank = ncclCommInitRank(*mut Comm, c_int, UniqueId, c_int);
    async_error = ncclCommGetAsyncError(Comm, *mut Answer);
    abort = ncclCommAbort(Comm);
    destroy = ncclCommDestroy(Comm);
    all_reduce = ncclAllReduce(*const c_void, *mut c_void, usize, c_int, c_int, Comm, *mut c_void);
    all_gather = ncclAllGather(*const c_void, *mut c_void, usize, c_int, Comm, *mut c_void);
    reduce_scatter = ncclReduceScatter(*const c_void, *mut c_void, usize, c_int, c_int, Comm, *mut c_void);
    broadcast = ncclBroadcast(*const c_void, *mut c_void, usize, c_int, c_int, Comm, *mut c_void);
}

impl Functions {
    /// The result of the function of this name, of a group if there is one.
    pub(super) fn checked(
        &self,
        function: &'static str,
        comm: Comm,
        answer: Answer,
    ) -> Result<(), NcclError> {
        if answer == 0 {
            return Ok(());
        }
        // SAFETY: the text of any number is a constant that ends with a zero.
        let name = text(unsafe { (self.error_string)(answer) });
        // SAFETY: the text of the calling thread's last error, which ends with a zero; the argument is not used.
        let last = text(unsafe { (self.last_error)(comm) });
        let message = match last.is_empty() {
            true => name,
            false => format!("{name}: {}", last.trim()),
        };
        Err(NcclError::Refused {
            function,
            message,
            code: answer,
        })
    }
}

/// Returns NCCL's text, or nothing.
fn text(from: *const c_char) -> String {
    match from.is_null() {
        true => String::new(),
        // SAFETY: as the callers say.
        false => unsafe { CStr::from_ptr(from) }
            .to_string_lossy()
            .into_owned(),
    }
}

/// NCCL's version. Displayed, it is "2.27.3".
///
/// ```
/// assert!(ranks::nccl::version().map_or(true, |it| it.to_string().starts_with("2.")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub(crate) i32);

impl Version {
    /// 2.13, the first that says what its last error was.
    const OLDEST: i32 = 21_300;

    fn accept(self) -> Result<(), String> {
        match (Version::OLDEST..30_000).contains(&self.0) {
            true => Ok(()),
            false => Err(format!(
                "NCCL {self}: versions from {} to 2.x are known",
                Version(Version::OLDEST)
            )),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Since 2.9 major, minor in two digits and patch in two; before in one.
        match self.0 {
            ..10_000 => write!(formatter, "{}.{}", self.0 / 1000, self.0 / 100 % 10),
            number => {
                let (major, minor) = (number / 10_000, number / 100 % 100);
                write!(formatter, "{major}.{minor}.{}", number % 100)
            }
        }
    }
}

/// Opens the library, and says its version.
///
/// # Errors
/// [`NcclError::NotFound`], [`NcclError::Unusable`]: there is none, or it is not as it should be.
pub fn version() -> Result<Version, NcclError> {
    functions().map(|functions| functions.version)
}

/// The library's functions. It is opened once and never closed: NCCL's threads run in it.
pub(super) fn functions() -> Result<&'static Functions, NcclError> {
    static OPENED: OnceLock<Result<(Functions, libloading::Library), NcclError>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let named = env::var_os(LIBRARY).filter(|path| !path.is_empty());
        let (path, library) = open(named.map(PathBuf::from).as_deref())?;
        let functions = Functions::find(&library)
            .map_err(|reason| NcclError::Unusable(format!("{}: {reason}", path.display())))?;
        Ok((functions, library))
    });
    match opened {
        Ok((functions, _)) => Ok(functions),
        Err(error) => Err(error.clone()),
    }
}

/// Opens the file that is named, or else the first that the loader finds.
fn open(named: Option<&Path>) -> Result<(PathBuf, libloading::Library), NcclError> {
    if let Some(path) = named {
        let unusable = |reason| NcclError::Unusable(format!("{LIBRARY}: {reason}"));
        return open_file(path).map_err(unusable);
    }
    let mut first = None;
    for name in NAMES {
        match open_file(Path::new(name)) {
            Ok(opened) => return Ok(opened),
            Err(reason) => first = first.or(Some(reason)),
        }
    }
    Err(NcclError::NotFound(first.unwrap_or_default()))
}

fn open_file(path: &Path) -> Result<(PathBuf, libloading::Library), String> {
    // SAFETY: NCCL's initialisers are made to be run by any program.
    match unsafe { libloading::Library::new(path) } {
        Ok(library) => Ok((path.to_owned(), library)),
        // The loader's message begins with the file.
        Err(error) => Err(error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_named_is_the_only_one_that_is_tried() {
        let error = open(Some(Path::new("/nowhere/libnccl.so.2"))).expect_err("there is none");
        let text = error.to_string();
        assert!(
            text.starts_with("RIDGEPOINT_NCCL: /nowhere/libnccl.so.2: cannot open"),
            "{text}"
        );
    }

    #[test]
    fn a_library_that_is_another_is_refused_with_what_it_lacks() {
        let library = open_file(Path::new("libc.so.6"))
            .expect("it is everywhere")
            .1;
        let reason = Functions::find(&library).expect_err("not NCCL");
        assert_eq!(reason, "has no ncclGetVersion");
    }

    #[test]
    fn versions_have_three_numbers() {
        assert_eq!(Version(22_703).to_string(), "2.27.3");
        assert_eq!(Version(2_804).to_string(), "2.8");
        assert_eq!(Version(21_300).accept(), Ok(()));
        let refused = Version(21_212).accept().expect_err("too old");
        assert_eq!(
            refused,
            "NCCL 2.12.12: versions from 2.13.0 to 2.x are known"
        );
    }
}
