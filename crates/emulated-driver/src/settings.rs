//! Settings of the emulated devices and their checks in the environment. `ridgepoint emulate` sets them; a program that
//! is started by hand may, too.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use engine::memory::DEVICES;
use occupancy::{ComputeCapability, Multiprocessor};

use crate::findings::say;

/// `off`: launches are not checked, but for bounds. The default is `on`.
pub const CHECKS: &str = "RIDGEPOINT_DRIVER_CHECKS";
/// Each launch is run again under so many seeds, from a copy of all memory.
pub const SEEDS: &str = "RIDGEPOINT_DRIVER_SEEDS";
/// Launches are run under this seed alone.
pub const SEED: &str = "RIDGEPOINT_DRIVER_SEED";
/// The answer to a launch in which something was found: `error`, `report` or `sticky`.
pub const ON_FINDING: &str = "RIDGEPOINT_DRIVER_ON_FINDING";
/// `on`: benign findings count as all others do.
pub const STRICT: &str = "RIDGEPOINT_DRIVER_STRICT";
/// The folder for a file per finding.
pub const FINDINGS: &str = "RIDGEPOINT_DRIVER_FINDINGS";
/// The folder for a file per process, which says what was launched.
pub const RECORD: &str = "RIDGEPOINT_DRIVER_RECORD";
/// `on`: what launches do is counted, and printed as the process ends.
pub const COUNTS: &str = "RIDGEPOINT_DRIVER_COUNTS";
/// How many devices there are: 1 to 64.
pub const NUMBER_OF_DEVICES: &str = "RIDGEPOINT_DRIVER_DEVICES";
/// The architecture of the devices: `sm_90`.
pub const ARCH: &str = "RIDGEPOINT_DRIVER_ARCH";
/// Bytes of memory of a device; by default an eighth of the system's, 1 to 8 GiB.
pub const MEMORY: &str = "RIDGEPOINT_DRIVER_MEMORY";
/// How many blocks of instructions a warp may go through in a launch.
pub const STEPS: &str = "RIDGEPOINT_DRIVER_STEPS";
/// Seconds after which a launch is ended.
pub const TIME_LIMIT: &str = "RIDGEPOINT_DRIVER_TIME_LIMIT";
/// The socket of a debugger's front. The process that loads a module first is debugged.
pub const DEBUGGER: &str = "RIDGEPOINT_DRIVER_DEBUGGER";
/// `on`: each call of the driver is printed.
pub const CALLS: &str = "RIDGEPOINT_DRIVER_CALLS";

/// The devices that a program sees, and in which order: numbers with commas between. CUDA's own variable.
pub const VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";

/// The version of CUDA whose driver this is like.
pub(crate) const VERSION: i32 = 13_000;

/// Bytes of memory beyond which a launch is not run again, under seeds or to go back: all of it is copied.
pub(crate) const MOST_COPIED: u64 = 1 << 30;

/// The answer to a launch in which something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFinding {
    /// An error, of this launch alone.
    Error,
    /// Success: the program goes on with what the launch has written until then.
    Report,
    /// An error, of this and all later calls of the context, as on a GPU.
    Sticky,
}

impl FromStr for OnFinding {
    type Err = ();

    fn from_str(text: &str) -> Result<OnFinding, ()> {
        match text {
            "error" => Ok(OnFinding::Error),
            "report" => Ok(OnFinding::Report),
            "sticky" => Ok(OnFinding::Sticky),
            _ => Err(()),
        }
    }
}

/// A switch of the environment.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Switch(bool);

impl FromStr for Switch {
    type Err = ();

    fn from_str(text: &str) -> Result<Switch, ()> {
        match text {
            "on" | "1" => Ok(Switch(true)),
            "off" | "0" => Ok(Switch(false)),
            _ => Err(()),
        }
    }
}

/// The devices, and how launches are run.
pub(crate) struct Settings {
    pub(crate) is_checked: bool,
    pub(crate) is_strict: bool,
    pub(crate) seeds: u64,
    pub(crate) seed: Option<u64>,
    pub(crate) on_finding: OnFinding,
    pub(crate) findings: Option<PathBuf>,
    pub(crate) record: Option<PathBuf>,
    pub(crate) is_counted: bool,
    /// The numbers of the devices that the program sees, in its order.
    pub(crate) devices: Vec<u32>,
    pub(crate) capability: ComputeCapability,
    pub(crate) multiprocessor: Multiprocessor,
    pub(crate) multiprocessors: u32,
    pub(crate) memory: u64,
    pub(crate) steps: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) debugger: Option<PathBuf>,
    pub(crate) shows_calls: bool,
}

/// Returns the environment's settings, read once.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::of_environment);
    &SETTINGS
}

impl Settings {
    fn of_environment() -> Settings {
        let (capability, multiprocessor) = architecture();
        let is_on = |name, default| value(name).unwrap_or(Switch(default)) == Switch(true);
        let path = |name| env::var_os(name).map(PathBuf::from);
        Settings {
            is_checked: is_on(CHECKS, true),
            is_strict: is_on(STRICT, false),
            seeds: value(SEEDS).unwrap_or(0),
            seed: value(SEED),
            on_finding: value(ON_FINDING).unwrap_or(OnFinding::Error),
            findings: path(FINDINGS),
            record: path(RECORD),
            is_counted: is_on(COUNTS, false),
            devices: devices(),
            capability,
            multiprocessor,
            multiprocessors: capability.multiprocessors().unwrap_or(1),
            memory: value(MEMORY).unwrap_or_else(default_memory),
            steps: value(STEPS).unwrap_or(1 << 28),
            time: value(TIME_LIMIT).map(Duration::from_secs),
            debugger: path(DEBUGGER),
            shows_calls: is_on(CALLS, false),
        }
    }
}

/// Returns the devices that the program sees.
fn devices() -> Vec<u32> {
    let all = value(NUMBER_OF_DEVICES).unwrap_or(1).clamp(1, DEVICES);
    let Ok(asked) = env::var(VISIBLE_DEVICES) else {
        return (0..all).collect();
    };
    let seen = seen(&asked, all);
    if seen.is_empty() {
        say(&format!(
            "{VISIBLE_DEVICES} is `{asked}`, which leaves the program none of the emulated devices 0 to {}",
            all - 1
        ));
    }
    seen
}

/// Returns the devices of a list, up to the first that is none or that stands there already.
fn seen(list: &str, all: u32) -> Vec<u32> {
    let mut seen = Vec::new();
    for number in list.split(',').map(|it| it.trim().parse().ok()) {
        match number.filter(|it| *it < all && !seen.contains(it)) {
            Some(number) => seen.push(number),
            None => break,
        }
    }
    seen
}

/// The value of a variable; none where it is not set, or where that is said to be no value of it.
fn value<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    let value = text.trim().parse().ok();
    if value.is_none() {
        say(&format!(
            "{name} is `{text}`, which is no value of it; the default counts"
        ));
    }
    value
}

/// A share of the system's memory: of what a kernel reaches checks keep five times as many bytes, and some programs fill all that
/// they are told of.
fn default_memory() -> u64 {
    const GIB: u64 = 1 << 30;
    let all = engine::memory::system_bytes("MemTotal").unwrap_or(0);
    (all / 8 / GIB * GIB).clamp(GIB, 8 * GIB)
}

/// The architecture of the devices, and its limits.
fn architecture() -> (ComputeCapability, Multiprocessor) {
    const DEFAULT: u32 = 90;
    let asked = env::var(ARCH).ok();
    let number = asked.as_deref().and_then(|text| {
        let digits = text.trim_start_matches("sm_");
        digits.trim_end_matches(['a', 'f']).parse().ok()
    });
    let of = |number| {
        let capability = ComputeCapability::from_arch(number);
        Some((capability, Multiprocessor::of(capability).ok()?))
    };
    if let Some(known) = number.and_then(of) {
        return known;
    }
    if let Some(text) = asked {
        say(&format!(
            "{ARCH} is `{text}`, whose limits are not known; sm_{DEFAULT} counts"
        ));
    }
    of(DEFAULT).expect("the table of capabilities has the default")
}

#[cfg(test)]
mod tests {
    use super::seen;

    #[test]
    fn a_list_of_devices_ends_at_the_first_that_is_none() {
        for (list, expected) in [
            ("0,1,2", &[0, 1, 2][..]),
            ("2, 0", &[2, 0]),
            ("", &[]),
            ("-1", &[]),
            ("1,3,0", &[1]),
            ("1,x,0", &[1]),
            ("1,1,0", &[1]),
            ("none", &[]),
        ] {
            assert_eq!(seen(list, 3), expected, "{list}");
        }
    }
}
