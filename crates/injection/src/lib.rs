//! Records any program that uses a GPU, from within.
//!
//! NVIDIA's driver loads the library that `CUDA_INJECTION64_PATH` names as the first thing that it does, and calls
//! `InitializeInjection`. CUPTI then tells of the program's calls and of the work of its GPUs, which a
//! [`recorder::Recorder`] writes, with the callers, into the folder that the environment names.
//!
//! Where nothing can be recorded the program runs as if nothing had been asked, and a file says why: `PROCESS.error`.

mod convert;
mod events;
mod sink;

use std::ffi::c_int;
use std::fs;
use std::panic;
use std::path::Path;
use std::sync::OnceLock;

use cupti::Tracer;
use recorder::Recorder;

use crate::sink::Calls;

/// The recorder of this process, and its tracer.
struct Running {
    calls: &'static Calls,
    tracer: Tracer,
}

static RUNNING: OnceLock<Running> = OnceLock::new();

/// Begins to record. The driver calls it once.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> c_int {
    if let Some(folder) = recorder::folder() {
        // Nothing unwinds into the driver.
        let begun = panic::catch_unwind(|| begin(&folder));
        let problem = match begun {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the recorder has panicked".to_owned()),
        };
        if let Some(problem) = problem {
            // Nobody is left to tell where the folder cannot be written either.
            let _ = fs::write(
                folder.join(format!("{}.error", std::process::id())),
                problem,
            );
        }
    }
    // Any other answer would end the program.
    1
}

fn begin(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let version = cupti::version()?;
    cupti::now()?;
    // It has just answered.
    let clock = || cupti::now().unwrap_or(0);
    let recorder = Recorder::create(folder, &format!("CUPTI {version}"), false, clock)?;
    let calls: &'static Calls = Box::leak(Box::new(Calls::new(recorder)));
    let tracer = cupti::trace(calls)?;
    if RUNNING.set(Running { calls, tracer }).is_ok() {
        // SAFETY: the handler has the prototype, and the library stays loaded.
        unsafe { libc::atexit(end) };
    }
    Ok(())
}

/// The process ends, and its devices have done what it waited for.
extern "C" fn end() {
    if let Some(Running { calls, tracer }) = RUNNING.get() {
        let _ = panic::catch_unwind(|| calls.end(tracer.end()));
    }
}
