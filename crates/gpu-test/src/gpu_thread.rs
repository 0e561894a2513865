//! The thread that has the GPU. Cases take turns on one open device, because loading the PTX, which
//! the driver compiles, takes longer than all cases together.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use libtest_mimic::Failed;
use ridgepoint::driver::{Device, DeviceChoice};

use crate::Ptx;

/// The device of the last case, if that went well, and what is loaded there.
type Open = Option<(Ptx, Device)>;

type Job = Box<dyn FnOnce(&mut Open) + Send>;

static JOBS: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::spawn(move || {
        let mut open = None;
        for job in jobs {
            job(&mut open);
        }
    });
    Mutex::new(sender)
});

/// Runs the case on the GPU's thread and waits for it. After a failure the next case finds a device
/// that was opened anew.
pub(crate) fn run(
    ptx: Ptx,
    case: impl FnOnce(&Device) -> Result<(), Failed> + Send + 'static,
) -> Result<(), Failed> {
    let (sender, answer) = mpsc::channel();
    let job: Job = Box::new(move |open| {
        // The receiver waits below.
        let _ = sender.send(on_device(open, ptx, case));
    });
    let jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    jobs.send(job).map_err(|_| "the GPU's thread has ended")?;
    match answer.recv().map_err(|_| "the GPU's thread has ended")? {
        Ok(result) => result,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// The case's result, or what it panicked with.
fn on_device(
    open: &mut Open,
    ptx: Ptx,
    case: impl FnOnce(&Device) -> Result<(), Failed>,
) -> Result<Result<(), Failed>, Box<dyn Any + Send>> {
    // Dropped before another is opened.
    let device = open.take().filter(|(loaded, _)| std::ptr::eq(*loaded, ptx));
    let device = match device {
        Some((_, device)) => device,
        None => match Device::open_with(&DeviceChoice::Cuda(0), ptx) {
            Ok(device) => device,
            Err(error) => return Ok(Err(error.into())),
        },
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| case(&device)));
    if matches!(result, Ok(Ok(()))) {
        *open = Some((ptx, device));
    }
    result
}
