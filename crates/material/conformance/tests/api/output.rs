//! The output of kernels, and how they fail. The driver writes both to the process's own standard
//! output and error, so a process of its own launches such a kernel.

use std::env;
use std::process::{Command, Output, exit};
use std::thread;

use conformance::{panicking_ptx, ptx};
use conformance_kernels::output::{self, FAILING_LINE};
use conformance_panicking::{PANICKING_LINE, refuse};
use gpu_test::{Device, Failed, emulator, equal};
use ridgepoint_driver::{DeviceChoice, LaunchConfig};

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[
    ("io::println", printed_lines),
    ("io::print", long_text),
    ("io::vprintf", vprintf),
    ("kernel::panic", panic),
    ("kernel::panic_message", panic_message),
    ("kernel::gpu_only", gpu_only),
];

/// Names the kernel and the device, for the process that launches it.
const TASK: &str = "CONFORMANCE_TASK";

const SHAPE_OF_FAILURE: (u64, u32) = (3, 64);
const FAILING_THREAD: u32 = 70;
const TALKERS: u32 = 5;
const WIDTH: u32 = 1500;

/// Does what the environment asks for and ends the process, if it asks for anything.
pub(crate) fn run_task() {
    let Ok(task) = env::var(TASK) else {
        return;
    };
    let (kernel, device) = task.split_once(' ').unwrap_or((&task, ""));
    let choice = match device {
        "cuda" => DeviceChoice::Cuda(0),
        _ => DeviceChoice::Cpu,
    };
    let ptx = if kernel == "refuse" {
        panicking_ptx()
    } else {
        ptx()
    };
    let device = Device::open(&choice, ptx);
    let result = device
        .as_ref()
        .map_err(Failed::from)
        .and_then(|device| launch_task(kernel, device));
    // Here, before the device is closed: after a failure there is nothing to be closed.
    match result {
        Ok(()) => exit(0),
        Err(failure) => {
            println!("failed: {}", failure.message().unwrap_or_default());
            exit(1);
        }
    }
}

fn launch_task(kernel: &str, device: &Device) -> Result<(), Failed> {
    let warp = LaunchConfig::blocks(1, 32);
    match kernel {
        "talk" => launch!(device, output::talk::entry(), warp, TALKERS),
        "recite" => launch!(device, output::recite::entry(), warp, WIDTH),
        "print_as_c" => launch!(device, output::print_as_c::entry(), warp, 7),
        "fail" => {
            let (blocks, threads) = SHAPE_OF_FAILURE;
            let shape = LaunchConfig::blocks(blocks, threads);
            let values = device.buffer_from(&[1u32, 2, 3])?;
            launch!(
                device,
                output::fail::entry(),
                shape,
                FAILING_THREAD,
                values.slice(..)
            );
        }
        "refuse" => {
            let (blocks, threads) = SHAPE_OF_FAILURE;
            let shape = LaunchConfig::blocks(blocks, threads);
            let values = device.buffer_from(&[700u32])?;
            launch!(
                device,
                refuse::entry(),
                shape,
                FAILING_THREAD,
                200,
                values.slice(..)
            );
        }
        other => return Err(format!("there is no task {other}").into()),
    }
    Ok(())
}

/// Returns the output of a process that launches the kernel.
fn process(kernel: &str, device: &Device) -> Result<Output, Failed> {
    let device = if device.properties().is_emulated() {
        "emulator"
    } else {
        "cuda"
    };
    let output = Command::new(env::current_exe()?)
        .env(TASK, format!("{kernel} {device}"))
        .output()?;
    Ok(output)
}

/// Returns the output of a kernel that does not fail.
fn printed(kernel: &str, device: &Device) -> Result<String, Failed> {
    let output = process(kernel, device)?;
    if !output.status.success() {
        return Err(format!("{kernel}: {output:?}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Of several threads, in any order.
fn printed_lines(device: &Device) -> Result<(), Failed> {
    let text = printed("talk", device)?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected: Vec<String> = (0..TALKERS)
        .map(|own| {
            let quarters = f64::from(own) / 4.0;
            format!("thread {own} of {TALKERS}: {quarters:.2} Some({own})")
        })
        .collect();
    equal(
        &lines,
        &expected.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

/// Longer than one piece of output.
fn long_text(device: &Device) -> Result<(), Failed> {
    let text = printed("recite", device)?;
    let expected = format!("{:>width$} long\n\n{{}}\n", "so", width = WIDTH as usize);
    equal(&[text], &[expected])
}

/// The driver's own function.
fn vprintf(device: &Device) -> Result<(), Failed> {
    equal(&[printed("print_as_c", device)?.as_str()], &["7 and 0.5\n"])
}

/// File, line, block, thread and kind: on the emulator in the error of the launch, and on a GPU in that of
/// the host's wait, or of the launch where the driver waits for it.
fn panic(device: &Device) -> Result<(), Failed> {
    let output = process("fail", device)?;
    let source = format!("src/output.rs:{FAILING_LINE}:");
    let parts: &[&str] = match device.properties().is_emulated() {
        true => &[
            "failed: kernel fail on the emulator: ",
            "block [1, 0, 0], thread [6, 0, 0] panicked at ",
            &source,
            "an assertion about two values failed",
        ],
        false => &[
            "failed: ",
            &source,
            ", block [1, 0, 0], thread [6, 0, 0]: an assertion about two values failed",
        ],
    };
    failed_saying(&output, &output.stdout, parts)
}

/// Under `Panics::Message`: the whole message beside file, line, block and thread, on the emulator in the
/// error of the launch, and on a GPU on standard error.
fn panic_message(device: &Device) -> Result<(), Failed> {
    let output = process("refuse", device)?;
    let source = format!("src/lib.rs:{PANICKING_LINE}");
    let message = "700 is 3.50 times 0xc8";
    if device.properties().is_emulated() {
        let place = "block [1, 0, 0], thread [6, 0, 0]";
        return failed_saying(&output, &output.stdout, &[place, &source, message]);
    }
    failed_saying(&output, &output.stdout, &["failed: "])?;
    // NVIDIA's driver says the place in its way, the emulated one in the emulator's.
    let said = String::from_utf8_lossy(&output.stderr);
    let places = [
        "block: [1,0,0], thread: [6,0,0]",
        "block [1, 0, 0], thread [6, 0, 0]",
    ];
    let place = places.into_iter().find(|it| said.contains(it));
    failed_saying(
        &output,
        &output.stderr,
        &[place.unwrap_or(places[0]), &source, message],
    )
}

/// Whether a process failed and each part is in what it said.
fn failed_saying(output: &Output, said: &[u8], parts: &[&str]) -> Result<(), Failed> {
    let said = String::from_utf8_lossy(said);
    match parts.iter().find(|part| !said.contains(**part)) {
        Some(part) => Err(format!("{part:?} is not in {output:?}").into()),
        None if output.status.code() != Some(1) => Err(format!("{:?}", output.status).into()),
        None => Ok(()),
    }
}

/// Launches of two host threads whose kernels wait for each other run at the same time, and each is told its own
/// panic. On a GPU the first would take the other's context with it.
pub(crate) fn two_launches_that_fail() -> Result<(), Failed> {
    let device = &emulator(ptx())?;
    let come = &device.buffer_filled(1, 0u32)?;
    let fails_at = |at: u32| -> Result<(), Failed> {
        let shape = LaunchConfig::blocks(1, 32);
        launch!(
            device,
            output::meet_and_fail::entry(),
            shape,
            come.slice(..),
            2,
            at
        );
        Ok(())
    };
    let said = thread::scope(|scope| {
        let threads = [3, 17].map(|at| scope.spawn(move || fails_at(at)));
        threads.map(|thread| thread.join().expect("it does not panic"))
    });
    for (said, at) in said.into_iter().zip([3, 17]) {
        let failed = said.expect_err("a thread fails");
        let text = failed.message().unwrap_or_default();
        let own = format!("block [0, 0, 0], thread [{at}, 0, 0] panicked at ");
        if !text.contains(&own) || !text.contains("src/output.rs:") {
            return Err(format!("{own:?} is not in {text:?}").into());
        }
    }
    // Records are used again.
    let come = &device.buffer_filled(1, 1u32)?;
    let shape = LaunchConfig::blocks(1, 32);
    launch!(
        device,
        output::meet_and_fail::entry(),
        shape,
        come.slice(..),
        2,
        32
    );
    Ok(())
}

/// A function that is there in PTX, and panics where the host calls it.
fn gpu_only(device: &Device) -> Result<(), Failed> {
    let mut out = device.buffer_filled(64, 0u32)?;
    let shape = LaunchConfig::blocks(1, 32);
    launch!(
        device,
        output::where_it_runs::entry(),
        shape,
        out.slice_mut(..)
    );
    equal(&out.to_vec()?, &[90; 64])
}

/// The function is in the PTX under its own name, for every architecture.
pub(crate) fn externally_visible() -> Result<(), Failed> {
    let is_there = |text: &str| {
        let mut lines = text.lines();
        lines.any(|line| {
            line.starts_with(".visible .func") && line.contains(" conformance_visible(")
        })
    };
    match ptx().iter().find(|(_, text, _)| !is_there(text)) {
        Some((arch, ..)) => {
            Err(format!("conformance_visible is not in the PTX of sm_{arch}").into())
        }
        None if ptx().is_empty() => Err("there is no PTX".into()),
        None => Ok(()),
    }
}
