//! `ridgepoint predict` as a user types it, and how far its times are from those that docs/results has of GPUs.

use crate::support;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::guides::{command, shows, typed};

/// The mean error of the rows below when this was written, and a point more. A change that makes it larger makes predictions worse:
/// `docs/results/prediction/table.py` says of which kernels.
const MOST_MEAN_ERROR: f64 = 0.055;

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn predict(words: &str) -> Output {
    Command::new(support::ridgepoint())
        .arg("predict")
        .args(words.split_whitespace())
        .current_dir(tree())
        .output()
        .expect("the command starts")
}

/// The rows that a command prints as JSON.
#[track_caller]
fn predicted(words: &str) -> Vec<Value> {
    let output = predict(&format!("{words} --format json"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {errors}");
    serde_json::from_slice(&output.stdout).expect("rows")
}

/// The rows of a study, by the names of their columns. Columns behind the times may have commas inside, and are not read.
fn study(path: &str) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(tree().join("docs/results").join(path)).expect("the study");
    let mut lines = text.lines().map(|it| it.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("columns").collect();
    let row = |cells| columns.iter().cloned().zip(cells).collect();
    lines.map(row).collect()
}

/// The measured milliseconds of the row that has these values.
#[track_caller]
fn measured(rows: &[HashMap<String, String>], values: &[(&str, &str)]) -> f64 {
    let has = |row: &&HashMap<String, String>| {
        let mut values = values.iter();
        values.all(|(name, value)| row[*name] == *value)
    };
    let row = rows.iter().find(has);
    let row = row.unwrap_or_else(|| panic!("no row of {values:?}"));
    row["median_ms"].parse().expect("a time")
}

/// Commands and the times that GPUs took.
fn compared() -> Vec<(String, f64)> {
    let mut all = Vec::new();
    let streams = study("h200-little/occupancy.csv");
    for (kernel, ilp, block, registers, residents) in [
        ("copy", "1", "64", 14, ["1", "8", "32"]),
        ("copy", "1", "128", 14, ["1", "4", "16"]),
        ("scale", "2", "256", 20, ["1", "2", "8"]),
        ("read", "1", "128", 20, ["2", "6", "16"]),
        ("elementwise", "2", "128", 28, ["1", "4", "16"]),
    ] {
        for resident in residents {
            let words = format!(
                "--workload {kernel} --axis n=2^16 --axis ilp={ilp} --axis block={block} --times 1024 --registers {registers} --resident {resident}"
            );
            let values = [
                ("kernel", kernel),
                ("ilp", ilp),
                ("block", block),
                ("resident_blocks", resident),
            ];
            all.push((words, measured(&streams, &values)));
        }
    }
    let of_nvcc = |file: &str, entry: &str, arguments: &str, (times, registers): (u32, u32)| {
        let arguments = arguments
            .split_whitespace()
            .map(|it| format!(" --arg {it}"));
        let arguments: String = arguments.collect();
        format!(
            "examples/benches/{file} {entry} --grid 64 --block 256{arguments} --times {times} --registers {registers}"
        )
    };
    let saxpy = of_nvcc(
        "nvcc.ptx",
        "saxpy",
        "u32:16384 f32:2.5 f32[16384]=ones f32[16384]=ones",
        (4096, 10),
    );
    let horner = |k| {
        of_nvcc(
            "nvcc.ptx",
            "horner",
            &format!("u32:16384 u32:{k} f32[16384]=ones f32[16384]"),
            (4096, 12),
        )
    };
    let bf16 = "u16[16384]=zeros u16[16384]=zeros u16[16384] bytes:403f u64:16384";
    let axpy = of_nvcc("plain.ptx", "axpy_bf16", bf16, (2048, 15));
    for (board, path) in [
        ("h200", "h200-idioms/workloads-1.csv"),
        ("h100", "h100-twins/workloads.csv"),
    ] {
        let rows = study(path);
        for (words, values) in [
            (&saxpy, &[("kernel", "nvcc-saxpy")][..]),
            (&horner(1), &[("kernel", "nvcc-horner"), ("k", "1")]),
            (&horner(100), &[("kernel", "nvcc-horner"), ("k", "100")]),
            (&axpy, &[("kernel", "nvcc-plain-axpy-bf16")]),
        ] {
            all.push((format!("{words} --roofs {board}"), measured(&rows, values)));
        }
    }
    all
}

#[test]
fn times_are_about_those_that_gpus_took() {
    let all = compared();
    let errors = all.iter().map(|(words, ms)| {
        let rows = predicted(words);
        let row = rows.last().expect("a row");
        let of = |name: &str| row[name].as_f64().expect("a time");
        let error = of("predicted_ms") / ms - 1.0;
        println!("{:+5.1} %  {words}", 100.0 * error);
        assert!(
            (of("low_ms")..of("high_ms")).contains(ms),
            "{words}: {ms} ms is not from {} to {}",
            of("low_ms"),
            of("high_ms")
        );
        error.abs()
    });
    let errors: Vec<f64> = errors.collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(
        mean < MOST_MEAN_ERROR,
        "the mean error of {} rows is {:.1} %, and {:.0} % are the most",
        errors.len(),
        100.0 * mean,
        100.0 * MOST_MEAN_ERROR
    );
}

#[test]
fn the_commands_of_the_page_show_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(
        tree().join("examples/benches/nvcc.ptx"),
        folder.path().join("nvcc.ptx"),
    )
    .expect("copied");
    let said = |command: String| {
        let output = typed(&support::ridgepoint(), folder.path(), &command).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let horner = command("prediction.md", "ridgepoint predict nvcc.ptx horner");
    shows("prediction.md", "horner of", &said(horner));
    let saxpy = command("prediction.md", "ridgepoint predict nvcc.ptx saxpy");
    shows("prediction.md", "saxpy of", &said(saxpy));
}

#[test]
fn a_study_names_the_best_block_as_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let command = command("prediction.md", "ridgepoint occupancy");
    let output = typed(&support::ridgepoint(), folder.path(), &command).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    shows("prediction.md", "copy ilp = 1", &said);
    // The emulator's launches alone are too small for a block to matter.
    let small = command.replace(" --times 16384", "");
    let output = typed(&support::ridgepoint(), folder.path(), &small).output();
    let said = String::from_utf8_lossy(&output.expect("a shell").stdout).into_owned();
    assert!(
        said.contains("Places of NVIDIA H200 stay empty with") && said.contains("--times"),
        "{said}"
    );
}

#[test]
fn what_bounds_a_launch_is_told() {
    let horner = |k: u32| {
        let words = format!(
            "examples/benches/nvcc.ptx horner --grid 64 --block 256 --arg u32:16384 --arg u32:{k} \
             --arg f32[16384]=ones --arg f32[16384] --times 4096 --registers 12"
        );
        predicted(&words).remove(0)
    };
    let (short, long) = (horner(1), horner(1000));
    assert_eq!(
        (&short["limit"], &long["limit"]),
        (&"latency".into(), &"issue".into())
    );
    let causes = short["causes"].as_str().expect("text");
    assert!(
        causes.contains("loads from global memory (examples/benches/nvcc.ptx:"),
        "{causes}"
    );
    let causes = long["causes"].as_str().expect("text");
    assert!(
        causes.contains("the queue for issue (examples/benches/nvcc.ptx:"),
        "{causes}"
    );
    let ms = |row: &Value| row["predicted_ms"].as_f64().expect("a time");
    assert!(ms(&long) > 8.0 * ms(&short));
}

/// Of a streaming kernel in blocks of 32 threads, too few warps are there.
#[test]
fn the_best_of_several_blocks_is_named() {
    let output = predict(
        "examples/benches/nvcc.ptx saxpy --grid 512 --block 32 --arg u32:16384 --arg f32:2.5 --arg f32[16384]=ones \
         --arg f32[16384]=ones --times 4096 --registers 10 --try-block 256",
    );
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("Fastest: saxpy") && last.ends_with("262144 blocks of 256 threads"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_predicted_is_refused_with_a_reason() {
    let saxpy = "examples/benches/nvcc.ptx saxpy --grid 64,2 --block 256 --registers 10 --arg u32:16384 --arg f32:1 \
                 --arg f32[16384]=ones --arg f32[16384]=ones";
    for (words, reason) in [
        ("", "nothing to predict"),
        (
            "--workload copy --roofs b200",
            "is not known well enough to predict times",
        ),
        (
            "--workload copy --roofs b300",
            "is not a GPU whose roofs are known",
        ),
        (
            "--workload copy --axis n=1024 --try-block 64",
            "its block is an axis",
        ),
        (
            &format!("{saxpy} --try-block 64"),
            "64 x 2 x 1 blocks of 256 x 1 x 1 threads",
        ),
        (
            &format!("{saxpy} --workload copy"),
            "cannot be predicted at once",
        ),
    ] {
        let output = predict(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(reason), "{words}: {said}");
    }
}
