//! `ridgepoint ceilings` and `ridgepoint occupancy` as a user meets them, on the emulator.

use crate::support;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn ridgepoint(arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        // Nothing is kept for other commands in the user's own folder.
        .env(
            "XDG_CACHE_HOME",
            std::env::temp_dir().join("ridgepoint-test-cache"),
        )
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn success(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The rows of a CSV, each as pairs of column and cell.
fn rows(path: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_path(path).expect("a CSV");
    let header = reader.headers().expect("a header").clone();
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.expect("a row");
        let pairs = header.iter().zip(record.iter());
        pairs
            .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
            .collect()
    };
    reader.records().map(row).collect()
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    let found = row.iter().find(|(column, _)| column == name);
    &found.unwrap_or_else(|| panic!("a column {name}")).1
}

#[test]
fn ceilings_of_the_emulator_are_said_to_be_the_hosts() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("ceilings.csv");
    let json = folder.path().join("ceilings.json");
    let path = |path: &Path| path.to_str().expect("text").to_owned();
    let said = success(&ridgepoint(&[
        "ceilings",
        "--device",
        "cpu",
        "--n",
        "5000",
        "--output",
        &path(&csv),
    ]));
    assert!(
        said.contains("this host's, not a GPU's") && said.contains("memory copy"),
        "{said}"
    );
    assert!(!said.contains("Kept for other commands"), "{said}");
    let rows = rows(&csv);
    assert!(rows.len() > 20);
    for row in &rows {
        assert!(
            cell(row, "value")
                .parse::<f64>()
                .is_ok_and(|value| value > 0.0),
            "{row:?}"
        );
        assert!(cell(row, "device").contains("CPU emulator"));
        assert_eq!(cell(row, "datasheet"), "");
    }

    success(&ridgepoint(&[
        "ceilings",
        "--device",
        "cpu",
        "--output",
        &path(&json),
    ]));
    let small = [
        "--n", "2000", "--block", "128", "--ilp", "2", "--kernel", "copy",
    ];
    let study = folder.path().join("occupancy.csv");
    let files = [
        "--device",
        "cpu",
        "--ceilings",
        &path(&json),
        "--output",
        &path(&study),
    ];
    success(&ridgepoint(&[&["occupancy"], &small[..], &files].concat()));
    let other = text(&fs::read(&json).expect("written")).replace("CPU emulator", "GPU");
    fs::write(&json, other).expect("writable");
    let refused = ridgepoint(&[&["occupancy"], &small[..], &files].concat());
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused.stderr).contains("run `ridgepoint ceilings` again"));
}

#[test]
fn occupancy_is_computed_for_architectures_that_are_not_here() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("model.csv");
    let path = csv.to_str().expect("text");
    let said = success(&ridgepoint(&[
        "occupancy",
        "--arch",
        "sm_70,sm_90,sm_120",
        "--registers",
        "64",
        "--shared",
        "48KiB",
        "--block",
        "256,1024",
        "--output",
        path,
    ]));
    assert!(said.contains("48 registers and 44.5 KiB"), "{said}");
    let rows = rows(&csv);
    let found: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| ["arch", "block", "resident_blocks", "limited_by"].map(|name| cell(row, name)))
        .collect();
    assert_eq!(
        found,
        [
            ["sm_70", "256", "2", "shared_memory"],
            ["sm_70", "1024", "1", "registers"],
            ["sm_90", "256", "4", "registers shared_memory"],
            ["sm_90", "1024", "1", "registers"],
            ["sm_120", "256", "2", "shared_memory"],
            ["sm_120", "1024", "1", "warps registers"],
        ]
    );

    let unknown = ridgepoint(&["occupancy", "--arch", "sm_42"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).contains("expected one of 7.0"),
        "{}",
        text(&unknown.stderr)
    );
    // Where nothing of it can run, the table says why, and so does the status.
    let refused = ridgepoint(&["occupancy", "--arch", "sm_90", "--shared", "228KiB"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stdout);
    assert!(said.contains("232448 are possible"), "{said}");
    let some = success(&ridgepoint(&[
        "occupancy",
        "--arch",
        "sm_90",
        "--shared",
        "0,228KiB",
    ]));
    assert!(some.contains("232448 are possible"), "{some}");
}

#[test]
fn an_occupancy_study_has_the_limits_of_the_emulated_gpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("a.csv");
    let path = csv.to_str().expect("text");
    for (device, name, resident_blocks) in [("cpu:sm_80", "sm_80", "4"), ("cpu", "sm_90", "5")] {
        let said = success(&ridgepoint(&[
            "occupancy",
            "--device",
            device,
            "--kernel",
            "copy",
            "--ilp",
            "1",
            "--n",
            "3000",
            "--block",
            "128",
            "--shared",
            "40KiB",
            "--output",
            path,
        ]));
        assert!(
            said.contains(&format!("the occupancy is that of {name};")),
            "{said}"
        );
        assert_eq!(cell(&rows(&csv)[0], "resident_blocks"), resident_blocks);
    }
}

#[test]
fn an_occupancy_study_measures_every_point_and_names_the_knees() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let outputs = [at("a.csv"), at("a.json"), at("a.md")].join(",");
    let charts = [at("a.svg"), at("a.png")].join(",");
    let axes = [
        "--kernel",
        "copy,read,scale,elementwise,nrm2,fma",
        "--n",
        "3000",
        "--block",
        "128,1024",
        "--ilp",
        "1,8",
        "--runs",
        "1",
    ];
    let files = ["--device", "cpu", "--output", &outputs, "--plot", &charts];
    let said = success(&ridgepoint(&[&["occupancy"], &axes[..], &files].concat()));
    for kernel in ["copy", "read", "scale", "elementwise", "nrm2", "fma"] {
        let is_knee = |line: &str| line.starts_with(kernel) && line.contains(" of the top speed ");
        assert!(said.lines().any(is_knee), "{kernel}: {said}");
    }
    assert!(
        said.contains(" with ILP 8: ") && said.contains("Emulated"),
        "{said}"
    );

    let rows = rows(&folder.path().join("a.csv"));
    for row in &rows {
        assert_eq!(
            (cell(row, "checked"), cell(row, "driver_blocks")),
            ("true", "")
        );
        let number = |name: &str| cell(row, name).parse::<f64>().expect("a number");
        let ilp = number("ilp");
        let bytes = match cell(row, "kernel") {
            "fma" => 1.0,
            "elementwise" => 32.0,
            _ => 16.0,
        };
        let threads = number("resident_blocks") * number("block");
        assert_eq!(number("in_flight_provided"), threads * ilp * bytes);
        assert!((number("occupancy_percent") - 100.0 * threads / 2048.0).abs() < 0.01);
    }
    let full = |row: &&Vec<(String, String)>| cell(row, "occupancy_percent") == "100.00";
    assert_eq!(
        rows.iter().filter(full).count(),
        16,
        "but for chains and reads, 8 in flight take more than 32 registers"
    );
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(at("a.json")).expect("written")).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(rows.len()));
    assert!(json["run"]["ceilings"]["ceilings"].is_array());
    assert!(
        fs::read_to_string(at("a.svg"))
            .expect("written")
            .contains("not a GPU")
    );
    assert!(
        fs::read(at("a.png"))
            .expect("written")
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn a_limit_of_registers_lets_more_blocks_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("a.csv");
    let axes = [
        "--device",
        "cpu",
        "--kernel",
        "power-sum",
        "--vector",
        "4",
        "--ilp",
        "1,4",
        "--max-registers",
        "any,32",
        "--block",
        "256",
        "--shared",
        "0,228KiB",
        "--n",
        "3000",
        "--runs",
        "1",
        "--output",
    ];
    let path = csv.to_str().expect("text");
    let said = success(&ridgepoint(&[&["occupancy"], &axes[..], &[path]].concat()));
    assert!(
        said.contains(
            "left out: power-sum k=100 dtype=f32 vector=4 ilp=1 n=3000 block=256 shared=233472"
        ),
        "{said}"
    );
    let rows = rows(&csv);
    let found: Vec<[&str; 2]> = rows
        .iter()
        .map(|row| ["ilp", "max_registers"].map(|name| cell(row, name)))
        .collect();
    // With 4 elements in flight the kernel takes fewer registers than the limit.
    assert_eq!(found, [["1", ""], ["4", ""], ["4", "32"]]);
    let number =
        |row: usize, name: &str| -> u32 { cell(&rows[row], name).parse().expect("digits") };
    assert!(number(1, "registers") > 32 && number(2, "registers") <= 32);
    assert!(number(1, "resident_blocks") < 8 && number(2, "resident_blocks") == 8);
    assert!(number(1, "local_bytes") == 0 && number(2, "local_bytes") > 0);
}

#[test]
fn points_that_cannot_run_are_refused_before_anything_is_measured() {
    for (arguments, message) in [
        (["--shared", "300KiB"], "bytes of shared memory per block"),
        (["--ilp", "3"], "expected one of 1, 2, 4, 8"),
        (["--block", "2048"], "from 1 to 1024"),
        (["--n", "3"], "at least 4 needed"),
        (["--block", "100"], "whole warps of 32"),
    ] {
        let output = "/dev/null";
        let common = ["occupancy", "--device", "cpu", "--output", output];
        let refused = ridgepoint(&[&common[..], &arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&refused.stderr).contains(message),
            "{}",
            text(&refused.stderr)
        );
    }
}

/// A row of a run: a kernel, its median time and its deviation.
fn run_csv(folder: &Path, name: &str, rows: &[(&str, f64, f64)]) -> String {
    let path = folder.join(name);
    let row = |(kernel, ms, rms): &(&str, f64, f64)| format!("{kernel},256,{ms},{rms},10\n");
    let rows: String = rows.iter().map(row).collect();
    fs::write(
        &path,
        format!("kernel,block,median_ms,rms_percent,samples\n{rows}"),
    )
    .expect("writable");
    path.display().to_string()
}

#[test]
fn a_regression_outside_the_noise_ends_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = |name, rows: &[(&str, f64, f64)]| run_csv(folder.path(), name, rows);
    let before = csv("a.csv", &[("copy", 1.0, 0.1), ("fma", 2.0, 5.0)]);
    let same = csv("b.csv", &[("copy", 1.01, 0.1), ("fma", 2.08, 5.0)]);
    let unknown = csv("e.csv", &[("fma", 2.08, 5.0)]);
    let slower = csv("c.csv", &[("copy", 1.05, 0.1), ("fma", 1.5, 0.1)]);
    let said = success(&ridgepoint(&["compare", &before, &same]));
    assert!(
        said.contains("2 rows: 1 as fast as before, 0 faster, 0 slower, 1 unknown"),
        "{said}"
    );
    assert!(said.contains("unknown: the rows keep no samples"), "{said}");
    let strict = ridgepoint(&["compare", &before, &same, "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
    // A gate that could judge nothing fails.
    let nothing = ridgepoint(&["compare", &unknown, &unknown]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(
        text(&nothing.stderr).contains("1 row is not to be judged"),
        "{}",
        text(&nothing.stderr)
    );
    let output = ridgepoint(&["compare", &before, &slower, "--tolerance", "3%"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(
        said.contains("kernel copy, block 256") && said.contains("+5.00 %"),
        "{said}"
    );
    assert!(said.contains("1 faster, 1 slower"), "{said}");
    success(&ridgepoint(&[
        "compare",
        &before,
        &slower,
        "--tolerance",
        "6",
    ]));
    let missing = ridgepoint(&["compare", &before, &csv("d.csv", &[("copy", 1.0, 0.1)])]);
    assert!(text(&missing.stdout).contains("only before: kernel fma"));
    assert_eq!(missing.status.code(), Some(1));
    let none = ridgepoint(&["compare", &before, "/nonexistent.csv"]);
    assert!(text(&none.stderr).contains("cannot read /nonexistent.csv"));
    assert_eq!(none.status.code(), Some(3));
}

/// Both are this program, so that nothing is slower beyond what is tolerated; what either says of a wrong study is shown.
#[test]
fn two_programs_measure_in_turns() {
    let this = support::ridgepoint().display().to_string();
    let turns = [
        "compare",
        "--against",
        &this,
        "--turns",
        "2",
        "--tolerance",
        "1000000%",
    ];
    let study = [
        "--", "roofline", "--device", "cpu", "--n", "64", "--k", "1,2", "--runs", "5",
    ];
    let said = success(&ridgepoint(&[&turns[..], &study].concat()));
    assert!(said.contains("2 rows: 2 as fast as before"), "{said}");
    let wrong = ridgepoint(&[&turns[..], &["--", "roofline", "--kernel", "nothing"]].concat());
    assert_eq!(wrong.status.code(), Some(3));
    assert!(
        text(&wrong.stderr).contains("nothing"),
        "{}",
        text(&wrong.stderr)
    );
    let neither = ridgepoint(&["compare", "--against", "no-such-commit"]);
    assert_eq!(neither.status.code(), Some(2));
    let said = text(&neither.stderr);
    assert!(said.contains("neither a file nor a commit"), "{said}");
}

/// A commit's files are unpacked beside the target folder and built there: here by a stand-in for cargo, which says where it is and
/// names this program.
#[test]
fn a_commit_is_built_and_measured_in_turns() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let output = git.args(words).current_dir(folder.path()).output();
        let output = output.expect("git");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    fs::write(at("source"), "earlier").expect("writable");
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "one"]);
    fs::write(at("source"), "later").expect("writable");
    let this = support::ridgepoint().display().to_string();
    let cargo =
        format!("#!/bin/sh\ncat source >../cargo-saw\necho '{{\"executable\":\"{this}\"}}'\n");
    fs::write(at("cargo"), cargo).expect("writable");
    fs::set_permissions(at("cargo"), PermissionsExt::from_mode(0o755)).expect("its own");
    let words = "compare --against HEAD --turns 1 --tolerance 1000000% -- roofline --device cpu --n 64 --k 1 --runs 10";
    let mut command = Command::new(&this);
    command.args(words.split(' ')).env("CARGO", at("cargo"));
    let output = command.current_dir(folder.path()).output();
    let said = success(&output.expect("it starts"));
    assert!(said.contains("1 row: 1 as fast as before"), "{said}");
    let commit = git(&["rev-parse", "HEAD"]);
    let saw = at("target/ridgepoint-against")
        .join(commit)
        .join("cargo-saw");
    assert_eq!(fs::read_to_string(saw).expect("cargo ran there"), "earlier");
}

#[test]
fn files_of_several_runs_are_merged_without_what_a_full_disk_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = |name, rows: &[(&str, f64, f64)]| run_csv(folder.path(), name, rows);
    let first = csv("a.csv", &[("copy", 1.0, 0.1), ("fma", 2.0, 0.1)]);
    let second = csv("b.csv", &[("copy", 1.1, 0.1)]);
    let cut = fs::read_to_string(&second).expect("written") + "fma,25";
    fs::write(&second, cut).expect("writable");
    let output = folder.path().join("all.csv").display().to_string();
    let said = success(&ridgepoint(&[
        "merge", &first, &second, "--output", &output,
    ]));
    assert!(said.contains("3 rows"), "{said}");
    assert_eq!(rows(Path::new(&output)).len(), 3);
    fs::write(&second, "kernel,median_ms,rms_percent\ncopy,1,0\n").expect("writable");
    let refused = ridgepoint(&["merge", &first, &second, "--output", &output]);
    assert!(
        text(&refused.stderr).contains("no block;"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn a_run_compares_itself_with_a_baseline() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (first, second, fast) = (at("first.csv"), at("second.csv"), at("fast.csv"));
    let run = [
        "roofline", "--device", "cpu", "--n", "1000", "--k", "1,50", "--output",
    ];
    success(&ridgepoint(&[&run[..], &[&first]].concat()));
    let lenient = ["--baseline", &first, "--tolerance", "100000"];
    success(&ridgepoint(&[&run[..], &[&second], &lenient].concat()));

    // A baseline that was a thousand times as fast, and did next to nothing.
    let mut reader = csv::Reader::from_path(&first).expect("a CSV");
    let header = reader.headers().expect("a header").clone();
    let mut writer = csv::Writer::from_path(&fast).expect("writable");
    writer.write_record(&header).expect("writable");
    for row in reader.records() {
        let row = row.expect("a row");
        let cells = header
            .iter()
            .zip(row.iter())
            .map(|(name, cell)| match name {
                "median_ms" | "mean_ms" => {
                    format!("{:.9}", cell.parse::<f64>().expect("a number") / 1000.0)
                }
                "rms_percent" => "0.1".to_owned(),
                "samples_ms" | "round_samples" => String::new(),
                // By this the emulator's launches are judged.
                "counted_instructions" => "1".to_owned(),
                _ => cell.to_owned(),
            });
        writer.write_record(cells).expect("writable");
    }
    writer.flush().expect("writable");
    let output = ridgepoint(&[&run[..], &[&second], &["--baseline", &fast]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("2 rows are slower"),
        "{}",
        text(&output.stderr)
    );
}
