//! The command line as a user meets it, on the emulator.

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Small enough to take no time, and a size that is no multiple of anything.
const SMALL: [&str; 6] = ["--device", "cpu", "--n", "1001", "--k", "1,2,50"];

fn roofline(arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .arg("roofline")
        .args(arguments)
        .output()
        .expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_command_says_the_version() {
    let said = |words: &[&str]| {
        let output = Command::new(support::ridgepoint()).args(words).output();
        let output = output.expect("the command starts");
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let version = said(&["--version"]);
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    for command in ["roofline", "occupancy", "kernels", "new", "merge", "run"] {
        assert_eq!(said(&[command, "--version"]), version, "{command}");
    }
}

/// The rows of a CSV that begins with the header, by an independent reader: Python's.
fn rows_by_name(path: &Path, columns: &str) -> String {
    let program = "import csv, sys\n\
        with open(sys.argv[1], newline='') as file:\n\
        \x20   for row in csv.DictReader(file):\n\
        \x20       print(*(row[name] for name in sys.argv[2].split(',')))";
    let output = Command::new("python3")
        .args(["-c", program])
        .arg(path)
        .arg(columns)
        .output()
        .expect("python3 is installed (setup.sh)");
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_exercises_five_columns_stand_first_and_can_be_read_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("roofline.csv");
    let output = roofline(&[&SMALL[..], &["--output", path.to_str().expect("text")]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(&path).expect("written");
    assert!(
        text.starts_with("k,ai,gflops,bandwidth,percent_peak,kernel,"),
        "{text}"
    );

    let rows = rows_by_name(&path, "k,ai,gflops,bandwidth,percent_peak,checked,mean_ms");
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(' ').collect()).collect();
    let intensities: Vec<_> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(
        intensities,
        [("1", "0.250000"), ("2", "0.500000"), ("50", "12.500000")]
    );
    for row in &rows {
        let number = |i: usize| row[i].parse::<f64>().expect("a number");
        let decimals = |i: usize| row[i].split_once('.').map_or(0, |(_, digits)| digits.len());
        assert!((2..=4).all(|i| decimals(i) == 2), "{row:?}");
        assert_eq!(row[5], "true");
        let seconds = number(6) / 1e3;
        assert!(
            (number(2) - 2.0 * number(0) * 1001.0 / seconds / 1e9).abs() < 0.011,
            "{row:?}"
        );
        assert!(
            (number(3) - 8.0 * 1001.0 / seconds / 1e9).abs() < 0.011,
            "{row:?}"
        );
    }
}

#[test]
fn every_variant_is_measured_and_every_output_says_that_it_is_emulated() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let outputs = [at("a.csv"), at("a.json"), at("a.md")].join(",");
    let charts = [at("a.svg"), at("a.png")].join(",");
    let size = ["--device", "cpu", "--n", "1002", "--k", "2,7"];
    let types = ["--kernel", "all", "--dtype", "f32,f64,f16x2"];
    let work = ["--vector", "1,4", "--ilp", "1,2"];
    let shapes = ["--block", "64,256", "--grid", "full,2x", "--runs", "2"];
    let files = ["--output", &outputs, "--plot", &charts];
    let output = roofline(&[&size[..], &types, &work, &shapes, &files].concat());
    assert!(output.status.success(), "{}", stderr(&output));

    let points = 2 * 3 * 2 * 2 * 2 * 2 * 2;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("CPU emulator") && text.contains("timings are those of this host"),
        "{text}"
    );
    assert!(
        text.contains("ridge point") && text.contains("add+mul"),
        "{text}"
    );
    let read = |name| fs::read_to_string(at(name)).expect("written");
    for (name, header) in [("a.csv", 1), ("a.md", 2)] {
        let rows: Vec<String> = read(name).lines().skip(header).map(str::to_owned).collect();
        assert_eq!(rows.len(), points, "{name}");
        assert!(
            rows.iter().all(|row| row.contains("CPU emulator")),
            "{name}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&read("a.json")).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(points));
    assert_eq!(
        json["rows"][0]["samples_ms"].as_array().map(Vec::len),
        Some(2)
    );
    assert!(json["run"]["device"]["gpu"].is_null(), "{json}");
    let chart = read("a.svg");
    assert!(chart.contains("counted on an emulator") && chart.contains("no GPU was measured"));
    assert!(
        fs::read(at("a.png"))
            .expect("written")
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn csv_on_standard_output_has_nothing_else_in_it() {
    let output = roofline(&[&SMALL[..], &["--output", "-"]].concat());
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.starts_with("k,ai,"), "{text}");
    assert!(stderr(&output).contains("CPU emulator"));
    let quiet = roofline(&[&SMALL[..], &["--output", "-", "--quiet"]].concat());
    assert_eq!(stderr(&quiet), "");
}

/// Arguments, the exit code and what the one line on standard error says.
#[test]
fn bad_input_is_one_clear_line_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept.csv");
    let cases: [(&[&str], i32, &[&str]); 18] = [
        (&["--n", "0"], 2, &["--n", "from 1 to 2^40"]),
        (&["--n", "2^40"], 2, &["n = 1099511627776", "bytes", "free"]),
        (&["--n", "many"], 2, &["many", "such as 2^10"]),
        (&["--block", "0"], 2, &["--block", "'0'", "from 1 to 1024"]),
        (
            &["--block", "2048"],
            2,
            &["--block", "'2048'", "from 1 to 1024"],
        ),
        (&["--k", "0"], 2, &["--k", "'0'", "from 1 to 2^20"]),
        (&["--kernel", "fft"], 2, &["fft", "power-sum, horner, all"]),
        (&["--dtype", "f16"], 2, &["f16", "f32, f64, f16x2"]),
        (&["--vector", "3"], 2, &["'3'", "one of 1, 2, 4"]),
        (&["--ilp", "8"], 2, &["'8'", "one of 1, 2, 4"]),
        (
            &["--dtype", "f16x2", "--n", "1001"],
            2,
            &["n = 1001 is odd", "f16x2"],
        ),
        (
            &["--dtype", "f16x2", "--x", "1.01"],
            2,
            &["--x 1.01, --k 1000", "f16x2"],
        ),
        (&["--grid", "0x"], 2, &["0x", "full"]),
        (&["--runs", "0"], 2, &["--runs", "'0'", "from 1 to 10000"]),
        (&["--x", "NaN"], 2, &["finite"]),
        (&["--x", "3", "--k", "1000"], 2, &["--x 3, --k 1000", "f32"]),
        (
            &["--device", "tpu"],
            2,
            &[
                "tpu",
                "one of auto, cuda, cuda:N, cpu, cpu:N, cpu:sm_NN; or all",
            ],
        ),
        (&["--plot", "chart.gif"], 2, &["chart.gif", ".svg or .png"]),
    ];
    for (arguments, code, expected) in cases {
        fs::write(&kept, "kept").expect("writable");
        let device: &[&str] = if arguments[0] == "--device" {
            &[]
        } else {
            &["--device", "cpu"]
        };
        let output = ["--output", kept.to_str().expect("text")];
        let result = roofline(&[arguments, device, &output].concat());
        let message = stderr(&result);
        assert_eq!(result.status.code(), Some(code), "{arguments:?}: {message}");
        for part in expected {
            assert!(
                message.contains(part),
                "{arguments:?}: {message:?} lacks {part:?}"
            );
        }
        assert!(!message.contains("panicked"), "{message}");
        assert_eq!(
            fs::read_to_string(&kept).expect("there"),
            "kept",
            "{arguments:?}"
        );
    }
}

#[test]
fn an_output_that_cannot_be_written_ends_with_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let a_folder = folder.path().to_str().expect("text");
    for (flag, path, what) in [
        ("--output", "/nonexistent/roofline.csv", "cannot write"),
        ("--output", a_folder, "cannot write"),
        ("--output", "/dev/full", "cannot write row 1 to"),
        ("--plot", "/nonexistent/chart.svg", "cannot write"),
        ("--report", a_folder, "cannot write"),
        ("--trace", "/nonexistent/trace.json", "cannot write"),
    ] {
        let mut arguments = [&SMALL[..], &[flag, path]].concat();
        let other = folder.path().join("other.csv").display().to_string();
        if flag != "--output" {
            arguments.extend(["--output", &other]);
        }
        let output = roofline(&arguments);
        assert_eq!(output.status.code(), Some(3), "{path}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(&format!("{what} {path}")),
            "{}",
            stderr(&output)
        );
        assert!(!Path::new(&other).exists(), "nothing was measured");
    }
}

/// A disk that fills up in the middle of a run, by a limit on the size of files.
#[test]
fn a_disk_that_fills_up_keeps_the_rows_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("full.csv");
    // SIGXFSZ ignored, so that the write fails as on a full disk; a block is 1024 bytes.
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" roofline --device cpu --n 1000 \
                  --kernel all --output \"$1\"";
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(support::ridgepoint())
        .arg(&path)
        .output()
        .expect("bash starts");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(
        message.contains("cannot write row") && message.contains("are in the file"),
        "{message}"
    );
    let text = fs::read_to_string(&path).expect("there");
    let rows: Vec<&str> = text.lines().collect();
    let columns = rows[0].split(',').count();
    assert!(rows.len() >= 3, "{text}");
    let is_whole = |row: &&str| row.split(',').count() == columns;
    assert!(rows.iter().all(is_whole) && text.ends_with('\n'), "{text}");
}

#[test]
fn rows_carry_what_it_takes_to_trust_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    let ceilings = folder.path().join("ceilings.json");
    let (path_text, ceilings_text) = (path.display().to_string(), ceilings.display().to_string());
    let measured = Command::new(support::ridgepoint())
        .args([
            "ceilings",
            "--device",
            "cpu",
            "--runs",
            "1",
            "--output",
            &ceilings_text,
        ])
        .output()
        .expect("the command starts");
    assert!(measured.status.success(), "{}", stderr(&measured));
    let trust = [
        "--cache",
        "warm,cold",
        "--aa",
        "--noise",
        "0.001%",
        "--max-runs",
        "12",
    ];
    let files = ["--output", &path_text, "--ceilings", &ceilings_text];
    let output = roofline(&[&SMALL[..], &trust, &files].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The host's times are in the file; what is said is of the GPU that was named.
    assert!(
        said.contains("predicted for NVIDIA H200: at most") && !said.contains("bound by"),
        "{said}"
    );

    let columns = "cache,samples,bound,percent_measured_roof,noise_floor_percent,clock_mhz,flags";
    let rows = rows_by_name(&path, columns);
    let caches: Vec<&str> = rows
        .lines()
        .filter_map(|row| row.split(' ').next())
        .collect();
    assert_eq!(caches, ["warm", "warm", "warm", "cold", "cold", "cold"]);
    for row in rows.lines() {
        let cells: Vec<&str> = row.split(' ').collect();
        assert_eq!(
            cells[1], "12",
            "noise of a thousandth of a percent is never reached: {row}"
        );
        assert!(
            ["bandwidth", "compute", "latency"].contains(&cells[2]),
            "{row}"
        );
        let number = |i: usize| cells[i].parse::<f64>().is_ok_and(f64::is_finite);
        assert!(number(3) && number(4), "{row}");
        assert_eq!(cells[5], "", "an emulator has no GPU's clock");
    }
    let text = fs::read_to_string(&path).expect("written");
    assert!(!text.to_lowercase().contains("nan"), "{text}");
}

/// docs/measuring.md says what each column of a sweep means.
#[test]
fn every_column_is_told_of() {
    let output = roofline(&[&SMALL[..], &["--output", "-", "--quiet"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = String::from_utf8(output.stdout).expect("text");
    let header = rows.lines().next().expect("a header");
    assert!(header.split(',').count() > 40, "{header}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/measuring.md");
    let page = fs::read_to_string(page).expect("the page");
    let untold = |name: &&str| !page.contains(&format!("`{name}`"));
    let untold: Vec<&str> = header.split(',').filter(untold).collect();
    assert!(untold.is_empty(), "docs/measuring.md lacks {untold:?}");
}

#[test]
fn a_partial_warp_is_allowed_and_warned_of() {
    let output = roofline(&[&SMALL[..], &["--block", "100", "--output", "-", "--quiet"]].concat());
    assert!(output.status.success());
    assert!(stderr(&output).contains("100 threads is not a multiple of the 32 lanes"));
}

#[test]
fn device_says_what_is_there_or_why_not() {
    let output = Command::new(support::ridgepoint())
        .arg("device")
        .output()
        .expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        text.contains("CPU emulator") && text.contains("Embedded PTX: sm_"),
        "{text}"
    );
    let has_gpu = ridgepoint::driver::gpus();
    match has_gpu {
        Ok(_) => assert!(text.contains("compute capability"), "{text}"),
        Err(reason) => assert!(text.contains(&reason.to_string()), "{text}"),
    }
}

#[test]
fn a_gpu_that_cannot_be_had_is_an_error_with_its_reason() {
    let Err(reason) = ridgepoint::driver::gpus() else {
        return;
    };
    let output = roofline(&["--device", "cuda", "--output", "/dev/null"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains(&reason.to_string()),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("--device cpu"),
        "{}",
        stderr(&output)
    );
}
