//! One test case, two machines: the CPU emulator everywhere, and a GPU where there is one.
//!
//! A test target with `harness = false` collects its cases and runs them:
//!
//! ```
//! use gpu_test::{Device, Failed};
//!
//! fn memory_is_there(device: &Device) -> Result<(), Failed> {
//!     let buffer = device.buffer_filled(1000, 7u32)?;
//!     gpu_test::equal(&buffer.to_vec()?, &[7; 1000])
//! }
//!
//! let ptx = &[]; // What CudaBuilder::embed_to wrote; this case launches nothing.
//! let trials = gpu_test::on_both("memory_is_there", ptx, memory_is_there);
//! # let arguments = gpu_test::Arguments { quiet: true, ..Default::default() };
//! // let arguments = gpu_test::Arguments::from_args();
//! let conclusion = gpu_test::run(&arguments, trials.into());
//! assert!(!conclusion.has_failed());
//! ```
//!
//! A case that needs a GPU and finds none is reported as ignored, with the reason; where
//! [`REQUIRE_GPU`] is set it fails instead. A case that needs two GPUs and finds one is ignored, unless
//! the variable is 2 or more.

mod gpu_thread;
mod processes;
mod schedules;
#[cfg(feature = "proptest")]
mod strategy;

use std::env;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::thread;

use bytemuck::bytes_of;
pub use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
pub use processes::run_in_processes;
use ridgepoint_driver::record::{self, EXACT};
pub use ridgepoint_driver::{Device, Embedded};
use ridgepoint_driver::{DeviceValue, Emulation, Schedule, gpus};
pub use schedules::{SCHEDULE, under_schedules};
#[cfg(feature = "proptest")]
pub use strategy::Schedules;

/// The environment variable that says how many GPUs must be there. What is not a number is 1.
pub const REQUIRE_GPU: &str = "RIDGEPOINT_REQUIRE_GPU";

/// PTX as [`Device::open`] takes it.
pub type Ptx = &'static [Embedded<'static>];

/// The environment variable that says under how many seeds, beside the order of the indices, the
/// emulator runs each case of [`on_both`]. None by default.
pub const SEEDS: &str = "RIDGEPOINT_SEEDS";

/// The environment variable that names the one seed under which the emulator runs each case.
pub const SEED: &str = "RIDGEPOINT_SEED";

/// Runs the cases that the arguments ask for, and says what became of each.
pub fn run(arguments: &Arguments, trials: Vec<Trial>) -> Conclusion {
    let conclusion = libtest_mimic::run(arguments, trials);
    record::tests(conclusion.num_passed + conclusion.num_failed);
    conclusion
}

/// Cases that need no device, as trials named by their modules and functions: what functions with `#[test]` are to a
/// program of the language's own harness. Each fails as those do, by a panic.
///
/// ```
/// fn two_and_two_are_four() {
///     assert_eq!(2 + 2, 4);
/// }
///
/// let trials = gpu_test::trials![two_and_two_are_four];
/// # let arguments = gpu_test::Arguments { quiet: true, ..Default::default() };
/// assert!(!gpu_test::run(&arguments, trials.into()).has_failed());
/// ```
#[macro_export]
macro_rules! trials {
    ($($case:ident),* $(,)?) => {
        [$($crate::of_host(concat!(module_path!(), "::", stringify!($case)), $case)),*]
    };
}

/// A trial of [`trials!`]. The first part of its path is the program.
#[doc(hidden)]
pub fn of_host(path: &str, case: fn()) -> Trial {
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    Trial::test(name, move || {
        case();
        Ok(())
    })
}

/// The case on the emulator, as `emulator::NAME`, and on the first GPU, as `cuda::NAME`.
pub fn on_both(
    name: &str,
    ptx: Ptx,
    case: impl Fn(&Device) -> Result<(), Failed> + Clone + Send + 'static,
) -> [Trial; 2] {
    let emulated = case.clone();
    let emulator = format!("emulator::{name}");
    [
        Trial::test(emulator.clone(), move || {
            under_seeds_as(Some(&emulator), number(SEEDS)?.unwrap_or(0), ptx, emulated)
        }),
        on_gpu(format!("cuda::{name}"), ptx, case),
    ]
}

/// A case that takes long and seldom fails. It is ignored unless it is asked for: `--include-ignored slow::` runs all of them.
pub fn slow(name: &str, case: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::test(format!("slow::{name}"), case)
        .with_kind("skipped: slow, .ci/full runs it")
        .with_ignored_flag(true)
}

/// The case on the first GPU alone. Such cases run one after the other.
pub fn on_gpu(
    name: impl Into<String>,
    ptx: Ptx,
    case: impl FnOnce(&Device) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    on_gpus(name, ptx, 1, move |devices| case(&devices[0]))
}

/// The case on the first two GPUs, both open in this process. Such cases, and those of [`on_gpu`], run
/// one after the other.
pub fn on_two_gpus(
    name: impl Into<String>,
    ptx: Ptx,
    case: impl FnOnce(&Device, &Device) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    on_gpus(name, ptx, 2, move |devices| case(&devices[0], &devices[1]))
}

/// `case` is given at least `count` GPUs.
fn on_gpus(
    name: impl Into<String>,
    ptx: Ptx,
    count: usize,
    case: impl FnOnce(&[Device]) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let run = move || gpu_thread::run(ptx, count, case);
    match missing(count) {
        Some(reason) if required(env::var_os(REQUIRE_GPU).as_deref()) < count => {
            Trial::test(name, run)
                .with_kind(format!("skipped: {reason}"))
                .with_ignored_flag(true)
        }
        _ => Trial::test(name, run).with_kind("cuda"),
    }
}

/// Why there are not so many GPUs, if there are not.
fn missing(count: usize) -> Option<String> {
    match gpus() {
        Ok(gpus) if gpus.len() >= count => None,
        Ok(gpus) => Some(format!("{count} GPUs are needed, {} is there", gpus.len())),
        Err(error) => Some(error.to_string()),
    }
}

/// How many GPUs must be there, as [`REQUIRE_GPU`] says.
fn required(variable: Option<&OsStr>) -> usize {
    let number = |text: &OsStr| text.to_str()?.parse().ok();
    variable.map_or(0, |text| number(text).unwrap_or(1))
}

/// The emulator, executing PTX. [`SEED`] or [`SCHEDULE`] may name its schedule.
///
/// # Errors
/// The variable is no seed or no schedule, or the emulator cannot read the PTX.
pub fn emulator(ptx: &[Embedded<'_>]) -> Result<Device, Failed> {
    let schedule = named_schedule()?.unwrap_or_default();
    Ok(Device::emulator_with(scheduled(schedule), ptx)?)
}

/// Runs the case on the emulator in order, and under each seed below `seeds`. Where [`SEED`] names
/// one, or [`SCHEDULE`], under that alone.
///
/// # Errors
/// The first failure, with the command that runs its schedule alone, and that for a shorter one which fails, where ten
/// seconds find one.
pub fn under_seeds(
    ptx: Ptx,
    seeds: u64,
    case: impl Fn(&Device) -> Result<(), Failed>,
) -> Result<(), Failed> {
    under_seeds_as(test_of_thread().as_deref(), seeds, ptx, case)
}

/// A test of the language's own harness has a thread of its name.
fn test_of_thread() -> Option<String> {
    let thread = thread::current();
    let name = thread.name().filter(|name| *name != "main");
    name.map(str::to_owned)
}

/// The one schedule that the environment names.
fn named_schedule() -> Result<Option<Schedule>, Failed> {
    match schedules::named()? {
        Some(choices) => Ok(Some(Schedule::Chosen(choices))),
        None => Ok(number(SEED)?.map(Schedule::Seeded)),
    }
}

fn under_seeds_as(
    test: Option<&str>,
    seeds: u64,
    ptx: &[Embedded<'_>],
    case: impl Fn(&Device) -> Result<(), Failed>,
) -> Result<(), Failed> {
    if let Some(schedule) = named_schedule()? {
        return schedules::under(schedule, ptx, case);
    }
    let in_order = emulator(ptx)?;
    case(&in_order)?;
    let run = |schedule: &Schedule| {
        let device = in_order.with_emulation(scheduled(schedule.clone()));
        case(&device.ok_or("it is the emulator")?)
    };
    for seed in 0..seeds {
        run(&Schedule::Seeded(seed)).map_err(|failed| {
            let message = failed.message().unwrap_or("failed");
            let again = replay(&command(), test);
            let shortest = schedules::shortest(seed, &again, run).unwrap_or_default();
            Failed::from(format!(
                "{message}\nThis schedule alone:\n  {SEED}={seed} {again}{shortest}"
            ))
        })?;
    }
    Ok(())
}

/// The command that runs the tests of this program again, as a shell reads it.
fn command() -> String {
    env::var(record::REPLAY).unwrap_or_else(|_| match env::var("CARGO_PKG_NAME") {
        Ok(package) => format!("cargo test -p {package} --tests{EXACT}"),
        Err(_) => format!("cargo test --tests{EXACT}"),
    })
}

/// The command for the test of this name alone, if it can name one.
fn replay(command: &str, test: Option<&str>) -> String {
    let Some(all) = command.strip_suffix(EXACT) else {
        return command.to_owned();
    };
    match test.and_then(|test| shlex::try_quote(test).ok()) {
        Some(test) => format!("{command} {test}"),
        None => all.to_owned(),
    }
}

fn scheduled(schedule: Schedule) -> Emulation {
    Emulation {
        schedule,
        ..Emulation::default()
    }
}

/// The number that an environment variable holds, if it is set.
fn number(variable: &str) -> Result<Option<u64>, Failed> {
    let Ok(text) = env::var(variable) else {
        return Ok(None);
    };
    let number = text
        .parse()
        .map_err(|_| Failed::from(format!("{variable} is {text:?}, not a number")))?;
    Ok(Some(number))
}

/// Returns what `run` gives on the device. A GPU has to give it bit for bit as the emulator does: of a kernel whose
/// arithmetic is the same on both, the compiler and the GPU have changed nothing.
///
/// ```
/// # use gpu_test::{Device, Failed, alike, equal};
/// fn case(device: &Device) -> Result<(), Failed> {
///     let ptx = &[]; // What CudaBuilder::embed_to wrote; this case launches nothing.
///     let sevenths = alike(device, ptx, |device| {
///         let buffer = device.buffer_filled(3, 1.0f32 / 7.0)?; // And a launch.
///         Ok(buffer.to_vec()?)
///     })?;
///     equal(&sevenths, &[1.0 / 7.0; 3])
/// }
/// # case(&gpu_test::emulator(&[]).expect("an emulator")).expect("alike");
/// ```
///
/// # Errors
/// Those of `run`, or an element that differs.
pub fn alike<T: DeviceValue + Debug>(
    device: &Device,
    ptx: Ptx,
    run: impl Fn(&Device) -> Result<Vec<T>, Failed>,
) -> Result<Vec<T>, Failed> {
    let output = run(device)?;
    if !device.properties().is_emulated() {
        same_bits(&output, &run(&emulator(ptx)?)?)?;
    }
    Ok(output)
}

fn same_bits<T: DeviceValue + Debug>(gpu: &[T], emulator: &[T]) -> Result<(), Failed> {
    if gpu.len() != emulator.len() {
        let (gpu, emulator) = (gpu.len(), emulator.len());
        return Err(format!("the GPU has {gpu} elements, the emulator {emulator}").into());
    }
    let differ = |(gpu, emulator): (&T, &T)| bytes_of(gpu) != bytes_of(emulator);
    match gpu.iter().zip(emulator).position(differ) {
        Some(i) => {
            let (gpu, emulator) = (&gpu[i], &emulator[i]);
            Err(format!("element {i} is {gpu:?} on the GPU, {emulator:?} on the emulator").into())
        }
        None => Ok(()),
    }
}

/// Fails where the elements differ, and names the first that does.
///
/// # Errors
/// The lengths or the elements differ.
pub fn equal<T: PartialEq + Debug>(actual: &[T], expected: &[T]) -> Result<(), Failed> {
    if actual.len() != expected.len() {
        let (actual, expected) = (actual.len(), expected.len());
        return Err(format!("{actual} elements, not {expected}").into());
    }
    match actual.iter().zip(expected).position(|(a, b)| a != b) {
        Some(i) => {
            let (actual, expected) = (&actual[i], &expected[i]);
            Err(format!("element {i} is {actual:?}, not {expected:?}").into())
        }
        None => Ok(()),
    }
}

/// Compiles the guide's code, and runs on the emulator what it launches: this crate has what that
/// needs.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/writing-kernels.md")]
struct WritingKernels;

/// As above.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/testing-kernels.md")]
struct TestingKernels;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_number_asks_for_so_many_gpus_and_anything_else_for_one() {
        let asked = |text: &str| required(Some(text.as_ref()));
        assert_eq!(required(None), 0);
        assert_eq!(
            ["0", "1", "yes", "", "2", "8"].map(asked),
            [0, 1, 1, 1, 2, 8]
        );
    }

    #[test]
    fn bits_are_compared_and_not_numbers() {
        assert!(same_bits(&[f32::NAN, 1.0], &[f32::NAN, 1.0]).is_ok());
        assert!(same_bits(&[0.0f32], &[-0.0]).is_err());
        assert!(same_bits(&[1.0f32], &[1.0, 2.0]).is_err());
        let failed = same_bits(&[1.0f32, 2.0], &[1.0, 2.5]).expect_err("they differ");
        let message = failed.message().unwrap_or_default();
        assert_eq!(message, "element 1 is 2.0 on the GPU, 2.5 on the emulator");
    }
    #[test]
    fn a_failure_under_a_seed_says_the_command_for_that_schedule_and_test() {
        let runs = Cell::new(0);
        let failed = under_seeds_as(Some("emulator::a b"), 16, &[], |_| {
            // In order, then under seeds 0 and 1.
            runs.set(runs.get() + 1);
            equal(&[runs.get() < 3], &[true])
        });
        let failed = failed.expect_err("the third run");
        let message = failed.message().unwrap_or_default();
        assert!(message.contains("\n  RIDGEPOINT_SEED=1 "), "{message}");
        assert!(message.ends_with(" --exact 'emulator::a b'"), "{message}");
        for (command, test, expected) in [
            (
                "check -- -p a -- --exact",
                Some("b"),
                "check -- -p a -- --exact b",
            ),
            ("check -- -p a -- --exact", None, "check -- -p a"),
            (
                "check --cargo run -- -p a",
                Some("b"),
                "check --cargo run -- -p a",
            ),
        ] {
            assert_eq!(replay(command, test), expected);
        }
    }
}
