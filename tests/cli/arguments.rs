//! Refusals of the command line before any work: values out of range, and options without effect.

use crate::support;
use std::path::Path;
use std::process::{Command, Output};

fn ridgepoint(arguments: &[&str], folder: &Path) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Rust's own messages on a number that it cannot read, without the limits that it should have kept to.
const RAW: [&str; 5] = [
    "invalid digit",
    "number too large",
    "cannot parse integer",
    "is not in 1..",
    "invalid float",
];

/// Runs a command line in an empty folder, where it leaves nothing.
fn assert_refused(arguments: &[&str], code: i32, expected: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = ridgepoint(arguments, folder.path());
    let message = stderr(&output);
    let context = format!("{arguments:?}: {message}");
    assert_eq!(output.status.code(), Some(code), "{context}");
    for part in expected {
        assert!(message.contains(part), "lacks {part:?}: {context}");
    }
    assert!(!RAW.iter().any(|raw| message.contains(raw)), "{context}");
    let left = std::fs::read_dir(folder.path()).expect("there").count();
    assert_eq!(left, 0, "files were written: {context}");
}

/// A command line, and parts of what is said of it.
type Case = (&'static str, &'static [&'static str]);

const WITHOUT_EFFECT: &[Case] = &[
    ("roofline --max-runs 12", &["--noise <PERCENT>"]),
    ("roofline --tolerance 3", &["--baseline <FILE>"]),
    (
        "roofline --noise 1 --max-runs 10",
        &["--max-runs 10", "the 10 of --runs"],
    ),
    (
        "roofline --noise 1 --runs 300 --max-runs 200",
        &["--max-runs 200", "the 300 of --runs"],
    ),
    (
        "roofline --device all --plot x.svg",
        &["--plot has no effect", "--device all"],
    ),
    (
        "roofline --device all --report x.html",
        &["--report has no effect"],
    ),
    (
        "roofline --device all --baseline x.csv",
        &["--baseline has no effect"],
    ),
    (
        "roofline --device all --profile",
        &["--profile has no effect"],
    ),
    (
        "occupancy --arch sm_90 --report x.html --plot x.svg",
        &["--arch", "--report"],
    ),
    (
        "occupancy --registers 64 --report x.html",
        &["--registers", "--report"],
    ),
    (
        "occupancy --arch sm_90 --kernel copy",
        &["--arch", "--kernel"],
    ),
    (
        "occupancy --arch sm_90 --device cpu --n 4096 --runs 2 --ilp 1",
        &["--device", "--n", "--runs"],
    ),
    (
        "occupancy --registers 64 --trace x.json --max-registers 32",
        &["--trace", "--max-registers"],
    ),
    (
        "occupancy --registers 64 --ceilings x.json --profile",
        &["--ceilings", "--profile"],
    ),
    (
        "occupancy --arch sm_90 --quiet",
        &["--quiet has no effect", "--output"],
    ),
    (
        "occupancy --device cpu --kernel fma --n 4096",
        &["--n has no effect", "fma"],
    ),
    (
        "dispatch --device cpu --device-times events",
        &["--device-times has no effect"],
    ),
    (
        "pipeline --device cpu --kernel matmul --weight 1",
        &["--weight has no effect"],
    ),
    (
        "pipeline --device cpu --mode sequential --slots 3",
        &["--slots has no effect"],
    ),
    (
        "pipeline --device cpu --batches 3 --chunks 2 --slots 7",
        &["--slots 7", "6 chunks"],
    ),
    ("power --device cpu --resume", &["--checkpoint <DIR>"]),
    (
        "power --device cpu --max-steps 5 --check-every 6",
        &["--check-every 6", "--max-steps 5"],
    ),
    (
        "ceilings --device cpu --no-cache",
        &["--no-cache has no effect on the emulator"],
    ),
    (
        "roofline --device cpu --trace x.json --device-times events",
        &["--device-times has no effect on the emulator"],
    ),
    (
        "norm --device cpu --profile --device-times auto",
        &["--device-times has no effect on the emulator"],
    ),
    (
        "norm --device cpu --quiet",
        &[
            "--quiet would leave nothing of what is measured: add --output, --plot, --trace or --profile",
        ],
    ),
    (
        "norm --devices cpu:0,cpu:1 --quiet",
        &["add --output, --plot, --trace or --profile"],
    ),
    (
        "power --device cpu --quiet",
        &["add --output, --checkpoint, --trace or --profile"],
    ),
    (
        "power --devices cpu:0,cpu:1 --quiet",
        &["add --output, --plot, --checkpoint, --trace or --profile"],
    ),
    (
        "roofline --device all --trace x.json",
        &["--trace has no effect with --device all: choose one device"],
    ),
];

#[test]
fn an_option_without_effect_is_refused() {
    for &(line, expected) in WITHOUT_EFFECT {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_refused(&arguments, 2, expected);
    }
}

#[test]
fn traces_are_offered_by_the_commands_that_work_on_a_device() {
    for command in [
        "compare", "merge", "new", "device", "kernels", "chart", "check",
    ] {
        for option in [
            &["--trace", "x.json"][..],
            &["--profile"],
            &["--device-times", "events"],
        ] {
            let expected = format!("unexpected argument '{}'", option[0]);
            assert_refused(&[&[command], option].concat(), 2, &[&expected]);
        }
    }
}

const OUT_OF_RANGE: &[Case] = &[
    (
        "roofline --k 1,1048577",
        &["'1048577'", "--k", "from 1 to 2^20"],
    ),
    ("roofline --n 2^41", &["'2^41'", "from 1 to 2^40"]),
    ("roofline --block 1025", &["'1025'", "from 1 to 1024"]),
    ("roofline --grid 4294967295x", &["1x to 1024x"]),
    ("roofline --x 1e999", &["a finite number"]),
    (
        "roofline --device cpu --x 1e-300",
        &["x = 1e-300 is 0 in f32"],
    ),
    (
        "roofline --device cpu --dtype f16x2 --x=-1e9",
        &["x = -1e9 is -inf in f16x2"],
    ),
    ("roofline --warmup 10001", &["from 0 to 10000"]),
    ("roofline --noise 0", &["percentage above 0"]),
    (
        "roofline --device cpu:sm_61",
        &[
            "compute capability 6.1 are not known: expected one of 7.0, 7.2,",
            "12.1",
        ],
    ),
    (
        "norm --device tpu",
        &["'tpu'", "one of auto, cuda, cuda:N, cpu, cpu:N, cpu:sm_NN"],
    ),
    (
        "norm --device cpu --n 2^10,2^39",
        &["4398046511104 bytes", "free"],
    ),
    ("norm --n 0", &["from 1 to 2^40"]),
    (
        "ceilings --device cpu --n 2^40",
        &["cannot allocate 4398046511104 bytes", "free"],
    ),
    ("occupancy --registers 0", &["'0'", "from 1 to 255"]),
    ("occupancy --arch 9.0", &["an architecture such as sm_90"]),
    (
        "occupancy --arch sm_90 --shared 2048KiB",
        &["'2048KiB'", "0 to 1024KiB"],
    ),
    (
        "occupancy --device cpu --max-registers 23",
        &["from 24 to 255", "or any"],
    ),
    ("dispatch --launches 4294967296", &["from 1 to 10000"]),
    (
        "pipeline --weight 1e300",
        &["'1e300'", "above 0 and at most 10"],
    ),
    ("pipeline --slots 1000000000000", &["from 1 to 10000"]),
    (
        "pipeline --device cpu --batches 10000 --chunks 2",
        &["are 20000 chunks; at most 10000"],
    ),
    (
        "pipeline --device cpu --size 32768 --batches 1000",
        &["bytes of host memory", "free"],
    ),
    ("pipeline --rounds 4294967295", &["from 1 to 1000"]),
    ("power --tolerance inf", &["'inf'", "above 0 and at most 1"]),
    ("power --dim 1", &["from 2 to 2^16"]),
];

#[test]
fn a_value_out_of_range_is_refused_with_its_range() {
    for &(line, expected) in OUT_OF_RANGE {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_refused(&arguments, 2, expected);
    }
    // The product of lists is limited too.
    let list = |from: u32| {
        (from..from + 400)
            .map(|it| it.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let (k, n) = (list(1), list(1000));
    let sweep = ["roofline", "--device", "cpu", "--k", &k, "--n", &n];
    assert_refused(&sweep, 2, &["160000 combinations", "at most 100000"]);
    let model = [
        "occupancy",
        "--arch",
        "sm_90",
        "--block",
        &k,
        "--shared",
        &n,
    ];
    assert_refused(&model, 2, &["160000 combinations", "at most 100000"]);
}

/// The names of a command's options whose values are one number each, from its help.
fn numeric_options(command: &str) -> Vec<String> {
    let output = ridgepoint(&[command, "--help"], Path::new("."));
    let help = String::from_utf8(output.stdout).expect("text");
    let option = |line: &str| {
        let (name, value) = line.trim().split_once(" <")?;
        let is_number = ["COUNT>", "NUMBER>", "PERCENT>", "N>"].contains(&value.split(' ').next()?);
        (is_number && name.starts_with("--")).then(|| name.to_owned())
    };
    help.lines().filter_map(option).collect()
}

#[test]
fn every_number_is_read_alike() {
    let mut count = 0;
    for command in crate::help::commands() {
        let command = command.as_str();
        for option in numeric_options(command) {
            count += 1;
            for value in ["", "-1", "NaN", "ten", "99999999999999999999999"] {
                // Any finite number will do.
                if option == "--x" && value.starts_with(['-', '9']) {
                    continue;
                }
                let expected = format!("invalid value '{value}' for '{option}");
                assert_refused(&[command, &option, value], 2, &[&expected, "expected a"]);
            }
        }
    }
    assert!(count >= 25, "{count} options were found");
}

#[test]
fn errors_of_the_system_name_the_path_and_what_was_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ok.csv");
    std::fs::write(&file, "").expect("writable");
    let file = file.to_str().expect("text");
    let create = format!("cannot create the folder {file}");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("writable");
    let empty = empty.to_str().expect("text");
    let nothing = format!("no complete checkpoint to resume from in {empty}");
    let cases: [(&[&str], i32, &str); 4] = [
        (&[file], 3, &create),
        (&["/proc/x"], 3, "cannot create the folder /proc/x"),
        (
            &["nothere", "--resume"],
            3,
            "cannot read the folder nothere",
        ),
        (&[empty, "--resume"], 2, &nothing),
    ];
    for (arguments, code, expected) in cases {
        let power = ["power", "--device", "cpu", "--dim", "4", "--checkpoint"];
        assert_refused(&[&power[..], arguments].concat(), code, &[expected]);
    }
}

#[test]
fn fewer_steps_than_the_default_between_two_checks_are_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let power = ["power", "--device", "cpu", "--dim", "4", "--max-steps", "5"];
    let output = ridgepoint(&power, folder.path());
    // Too few to converge.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("step     5"));
}

/// Returns a sweep's exit code where a process may map so many KiB, and its message.
fn with_memory(kib: u32) -> (Option<i32>, String) {
    let sweep = "roofline --device cpu --n 1024 --k 1 --output -";
    let output = Command::new("bash")
        .args(["-c", &format!("ulimit -v {kib}; exec \"$0\" {sweep}")])
        .arg(support::ridgepoint())
        .output()
        .expect("bash starts");
    (output.status.code(), stderr(&output))
}

/// Among limits from too few for the program itself to enough for all, there are some that the roofs' buffers are over.
#[test]
fn too_little_memory_is_an_error_with_its_bytes() {
    let said: Vec<_> = (100_000..=180_000)
        .step_by(8_000)
        .map(with_memory)
        .collect();
    let is_named = |(status, message): &(Option<i32>, String)| {
        *status == Some(2) && message.contains("67108864 bytes") && message.contains("free")
    };
    assert!(said.iter().any(is_named), "{said:?}");
}

/// Limits that leave room for the buffers, and for the stacks of some threads or of none.
#[test]
fn too_little_memory_for_threads_is_no_panic() {
    for kib in [180_000, 200_000, 250_000, 300_000] {
        let (status, message) = with_memory(kib);
        assert!(matches!(status, Some(0 | 2 | 3)), "{kib}: {message}");
        assert!(!message.contains("panicked"), "{kib}: {message}");
    }
}
