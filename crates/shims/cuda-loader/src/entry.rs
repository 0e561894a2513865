//! Opens the driver and finds its functions.

use std::error::Error;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use cust_raw::CUresult;
use libloading::Library;

/// The driver's library, by the name that every installation has.
const LIBRARY: &str = "libcuda.so.1";

/// Why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    reason: String,
}

impl fmt::Display for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no CUDA driver: {}", self.reason)
    }
}

impl Error for DriverError {}

/// Opens the driver, once for the program.
///
/// # Errors
/// Why the driver's library cannot be opened.
pub fn driver() -> Result<(), &'static DriverError> {
    library().map(|_| ())
}

fn library() -> Result<&'static Library, &'static DriverError> {
    static DRIVER: OnceLock<Result<Library, DriverError>> = OnceLock::new();
    DRIVER
        .get_or_init(|| {
            // SAFETY: the driver's initialisers are made to be run by any program.
            unsafe { Library::new(LIBRARY) }.map_err(|error| DriverError {
                reason: error
                    .source()
                    .map_or_else(|| error.to_string(), ToString::to_string),
            })
        })
        .as_ref()
}

/// Returns the answer of a function that the driver, or its library, lacks.
pub(crate) fn missing() -> CUresult {
    match library() {
        Ok(_) => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        Err(_) => CUresult::CUDA_ERROR_NO_DEVICE,
    }
}

/// The address of one of the driver's functions, looked up once.
pub(crate) struct Cached(AtomicPtr<c_void>);

impl Cached {
    pub(crate) const fn new() -> Self {
        Cached(AtomicPtr::new(ptr::null_mut()))
    }

    pub(crate) fn get(&self, name: &str) -> Option<*mut c_void> {
        let known = self.0.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        let library = library().ok()?;
        // SAFETY: only the address is taken here; `forward` vouches for the prototype.
        let symbol = unsafe { library.get::<*mut c_void>(name) }.ok()?;
        let address: *mut c_void = *symbol;
        self.0.store(address, Ordering::Release);
        Some(address)
    }
}
