//! The story in a sentence.

use super::super::function::Purpose;
use super::super::model::Program;
use super::advice::Advice;
use super::idle::{Cause, Idle, Why};
use crate::table::{counted, time_text};

/// How busy the devices were, and what kept them idle most.
pub(super) fn sentence(program: &Program, devices: &[Idle], advice: &[Advice]) -> String {
    let most = devices
        .iter()
        .max_by(|a, b| a.busy_ns.total_cmp(&b.busy_ns));
    let Some(device) = most else {
        return of_structure(program, advice);
    };
    let span = (device.busy_ns + device.idle_ns).max(1.0);
    let share = |time: f64| format!("{:.0} %", 100.0 * time / span);
    let mut sentence = format!(
        "Kernels ran for {} of the {} from the device's first to its last work, and copies alone for {}",
        share(device.kernels_ns),
        time_text(span),
        share(device.busy_ns - device.kernels_ns)
    );
    sentence += &match device.causes.first() {
        Some(cause) if cause.total_ns > 0.01 * span => {
            format!(
                "; for {} it was idle, most {}.",
                share(device.idle_ns),
                reason(cause)
            )
        }
        _ => ".".to_owned(),
    };
    sentence
}

fn of_structure(program: &Program, advice: &[Advice]) -> String {
    let works = program.processes.iter().map(|it| it.activities.len());
    let works: usize = works.sum();
    if works == 0 {
        return of_nothing(program);
    }
    let pieces = counted(works as u64, "piece");
    match advice.first() {
        Some(advice) => format!("The devices had {pieces} of work, and {}.", advice.finding),
        None => format!("The devices had {pieces} of work, and nothing kept the host waiting."),
    }
}

/// Where no work was recorded, whether there was any.
fn of_nothing(program: &Program) -> String {
    let calls = program.processes.iter().flat_map(|it| &it.calls);
    match calls.filter(|it| it.purpose == Purpose::Launch).count() as u64 {
        0 => "No device had any work.".to_owned(),
        launches => format!(
            "No work of a device was recorded, though the program made {}: it ended before the records were handed \
             over.",
            counted(launches, "launch")
        ),
    }
}

/// While what the device was idle: `while the host ran its own code between train.py:38 and train.py:41 (200 ms)`.
pub(in crate::program) fn reason(cause: &Cause) -> String {
    let (place, next) = (&cause.place, &cause.next);
    let call = || format!("{} at {place}", cause.function);
    let what = match cause.why {
        Why::HostCode if !place.is_known() => {
            format!("while the host ran its own code before {next}")
        }
        Why::HostCode if place == next => format!("while the host ran its own code at {place}"),
        Why::HostCode => format!("while the host ran its own code between {place} and {next}"),
        Why::Launching => format!("while the host launched: {}", call()),
        Why::Blocked => format!("while the host was in {}", call()),
        Why::Memory => format!("while the host allocated or freed memory: {}", call()),
        Why::Loading => format!("while the host loaded a module: {}", call()),
        Why::OtherCall => format!("while the host was in {}", call()),
        Why::Latency => format!("while what was launched at {next} was on its way"),
        Why::OtherStream => format!("while the stream of {next} waited for other work"),
    };
    format!("{what} ({})", time_text(cause.total_ns))
}
