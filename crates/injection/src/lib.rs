//! Records any program that uses a GPU, from within.
//!
//! NVIDIA's driver loads the library that `CUDA_INJECTION64_PATH` names as the first thing that it does, and calls
//! `InitializeInjection`. CUPTI then tells of the program's calls and of the work of its GPUs, which a
//! [`recorder::Recorder`] writes, with the callers, into the folder that the environment names. NVTX does likewise with
//! `NVTX_INJECTION64_PATH` and `InitializeInjectionNvtx2`, where the program has ranges.
//!
//! Where nothing can be recorded the program runs as if nothing had been asked, and a file says why: `PROCESS.error`.

mod convert;
mod counted;
mod events;
mod sink;

use std::error::Error;
use std::ffi::c_int;
use std::fs;
use std::panic;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cupti::{Collect, Tracer};
use recorder::nvtx::{self, ExportTable};
use recorder::{Recorder, folder};

use crate::sink::Calls;

/// Set where the driver has called, which it does once.
static TRACER: OnceLock<Tracer> = OnceLock::new();

/// Begins to record calls and work. The driver calls it once.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> c_int {
    if let (Some(folder), Some(calls)) = (folder(), calls()) {
        let collect = recorder::counters().map_or(Collect::Work, Collect::Counts);
        let begun = said(&folder, || Ok(cupti::trace(calls, collect)?));
        if let Some(tracer) = begun
            && TRACER.set(tracer).is_ok()
        {
            at_exit();
        }
    }
    // Any other answer would end the program.
    1
}

/// Begins to record ranges. Each copy of NVTX in the program calls it once, before or after the driver.
///
/// # Safety
/// `export_table` is NVTX's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(export_table: ExportTable) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { nvtx::attach(export_table, || calls().map(Calls::recorder)) }.into()
}

/// The recorder that this process's calls and ranges are told to; `None` where nothing is recorded.
fn calls() -> Option<&'static Calls> {
    static CALLS: OnceLock<Option<Calls>> = OnceLock::new();
    let made = CALLS.get_or_init(|| {
        let folder = folder()?;
        let calls = said(&folder, || new_calls(&folder));
        if calls.is_some() {
            at_exit();
        }
        calls
    });
    made.as_ref()
}

fn new_calls(folder: &Path) -> Result<Calls, Box<dyn Error>> {
    let version = cupti::version()?;
    cupti::now()?;
    // It has just answered.
    let clock = || cupti::now().unwrap_or(0);
    let recorder = Recorder::create(folder, &format!("CUPTI {version}"), false, clock)?;
    Ok(Calls::new(recorder))
}

/// The result of a body; where it fails, a file has the reason. Nothing unwinds into the program.
fn said<T>(folder: &Path, body: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Option<T> {
    let problem = match panic::catch_unwind(panic::AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the recorder has panicked".to_owned(),
    };
    // Nobody is left to tell where the folder cannot be written either.
    let _ = fs::write(
        folder.join(format!("{}.error", std::process::id())),
        problem,
    );
    None
}

/// Handlers run in the order that is the reverse of this: the one that counts comes before CUPTI's own, and that of a process
/// without calls of the driver is the only one.
fn at_exit() {
    // SAFETY: the handler has the prototype, and the library stays loaded.
    unsafe { libc::atexit(end) };
}

/// The process ends, and its devices have done what it waited for.
extern "C" fn end() {
    static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    // A process that was forked off must not wait for locks that its parent's threads held.
    let calls = calls().filter(|it| it.recorder().is_own());
    if let Some(calls) = calls
        && !HAS_ENDED.swap(true, Ordering::Relaxed)
    {
        let _ = panic::catch_unwind(|| calls.end(TRACER.get().map_or(0, Tracer::end)));
    }
}
