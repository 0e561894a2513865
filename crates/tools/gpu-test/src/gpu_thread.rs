//! The thread that has the GPUs. Cases take turns on open devices, because loading the PTX, which the
//! driver compiles, takes longer than all cases together.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use libtest_mimic::Failed;
use ridgepoint_driver::{Device, DeviceChoice};

use crate::Ptx;

/// The devices of the last cases, if those went well, and what is loaded there: the first GPU, and the
/// next ones where a case has asked for them.
type Open = Option<(Ptx, Vec<Device>)>;

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

/// Runs the case on the GPUs' thread, with at least `count` of them, and waits for it. After a failure
/// the next case finds devices that were opened anew.
pub(crate) fn run(
    ptx: Ptx,
    count: usize,
    case: impl FnOnce(&[Device]) -> Result<(), Failed> + Send + 'static,
) -> Result<(), Failed> {
    let (sender, answer) = mpsc::channel();
    let job: Job = Box::new(move |open| {
        // The receiver waits below.
        let _ = sender.send(on_devices(open, ptx, count, case));
    });
    let jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    jobs.send(job).map_err(|_| "the GPU's thread has ended")?;
    match answer.recv().map_err(|_| "the GPU's thread has ended")? {
        Ok(result) => result,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// The case's result, or what it panicked with.
fn on_devices(
    open: &mut Open,
    ptx: Ptx,
    count: usize,
    case: impl FnOnce(&[Device]) -> Result<(), Failed>,
) -> Result<Result<(), Failed>, Box<dyn Any + Send>> {
    // Dropped before others are opened.
    let same = open.take().filter(|(loaded, _)| std::ptr::eq(*loaded, ptx));
    let mut devices = same.map_or_else(Vec::new, |(_, devices)| devices);
    while devices.len() < count {
        match Device::open(&DeviceChoice::Cuda(devices.len() as u32), ptx) {
            Ok(device) => devices.push(device),
            Err(error) => return Ok(Err(error.into())),
        }
    }
    let result = panic::catch_unwind(AssertUnwindSafe(|| case(&devices)));
    if matches!(result, Ok(Ok(()))) {
        *open = Some((ptx, devices));
    }
    result
}
