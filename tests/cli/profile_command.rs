//! `ridgepoint profile` as a user types it: the page's commands word for word, planted mistakes whose lines are
//! named first, the JSON and the annotated source.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::browser::Page;
use crate::guides::{blocks, shows};
use serde_json::Value;
use tempfile::TempDir;

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with the files that the tests and the page name.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (from, to) in [
        ("examples/benches/nvcc.ptx", "nvcc.ptx"),
        ("crates/ptx/tests/corpus/triton_add_75.ptx", "triton.ptx"),
        ("tests/planted/planted.ptx", "planted.ptx"),
        ("tests/planted/planted.cu", "planted.cu"),
    ] {
        fs::copy(tree().join(from), folder.path().join(to)).expect("copied");
    }
    folder
}

fn ridgepoint_in(folder: &Path, words: &str) -> Output {
    Command::new(support::ridgepoint())
        .args(words.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

#[track_caller]
fn succeeds(folder: &Path, words: &str) -> String {
    let output = ridgepoint_in(folder, words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {text}{errors}");
    text
}

#[test]
fn the_commands_of_the_page_run_word_for_word() {
    let folder = folder();
    let [launch, twice] = &blocks("profiling-a-kernel.md", "toml")[..] else {
        panic!("two launch files are expected");
    };
    fs::write(folder.path().join("saxpy.toml"), launch).expect("written");
    fs::write(folder.path().join("twice.toml"), twice).expect("written");
    let (mut runs, mut profiles) = (0, 0);
    for command in blocks("profiling-a-kernel.md", "sh")
        .iter()
        .flat_map(|it| it.lines())
    {
        match command.split_once(' ') {
            Some(("ridgepoint", words)) => {
                let said = succeeds(folder.path(), words);
                let (is_run, part) = match words.starts_with("run") {
                    true => (true, "nothing was found."),
                    false => (false, "Under the roofs of "),
                };
                assert!(said.contains(part), "{command}: {said}");
                if words.starts_with("run nvcc.ptx saxpy") {
                    shows("profiling-a-kernel.md", "saxpy of nvcc.ptx", &said);
                } else if words.starts_with("profile nvcc.ptx horner") {
                    shows("profiling-a-kernel.md", "horner, 64 blocks", &said);
                }
                runs += usize::from(is_run);
                profiles += usize::from(!is_run);
            }
            // Of a project: tests/cli/new_command.rs runs it there.
            _ => assert_eq!(command, "cargo bench -- profile --n 2^10"),
        }
    }
    assert_eq!((runs, profiles), (5, 4));
    assert_eq!(
        fs::read(folder.path().join("y.bin"))
            .expect("written")
            .len(),
        65536
    );
    for file in ["horner.json", "horner.html"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}

/// That `said` has the lines of a sample in their order, of which `..` leaves out the rest.
#[track_caller]
fn has_sample(said: &str, sample: &str) {
    let mut lines = said.lines();
    for wanted in sample
        .lines()
        .filter(|it| !it.is_empty() && it.trim() != "..")
    {
        // The cores of the machine, and how much faster it is than another.
        let wanted = wanted.split(" (2 cores)").next().unwrap_or_default();
        let wanted = wanted.strip_suffix("..").unwrap_or(wanted);
        let found = lines.any(|line| line.starts_with(wanted.trim_end()));
        assert!(found, "{wanted:?} is not in, or not in its place: {said}");
    }
}

#[test]
fn the_samples_of_the_page_are_what_its_commands_print() {
    let folder = folder();
    let samples = blocks("profiling-a-kernel.md", "text");
    let commands = blocks("profiling-a-kernel.md", "sh").concat();
    let command = |begin: &str| {
        let line = commands.lines().find(|line| line.contains(begin));
        let words = line.and_then(|it| it.strip_prefix("ridgepoint "));
        words.expect("a command of the page").to_owned()
    };
    let of = |words: &str| succeeds(folder.path(), words);
    let [ran, counted, advised] = &samples[..] else {
        panic!("three samples are expected: {samples:?}");
    };
    has_sample(&of(&command("run nvcc.ptx saxpy")), ran);
    has_sample(&of(&command("profile nvcc.ptx horner")), counted);
    let conflict =
        "profile planted.ptx conflict --grid 1 --block 1024 --arg f32[1024]=random --arg f32[1024]";
    // One line, which the page breaks.
    let flat = |text: &str| {
        text.replace(',', "")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(flat(&of(conflict)).contains(&flat(advised)), "{advised}");
}

#[test]
#[should_panic(expected = "\"  FLOP            7\" is not in")]
fn a_sample_of_another_figure_is_refused() {
    has_sample(
        "horner\n  FLOP            8\n",
        "horner\n..\n  FLOP            7\n",
    );
}

#[test]
fn shared_memory_that_the_launch_lacks_is_named() {
    let softmax = "crates/ptx/tests/corpus/triton_softmax_90.ptx --grid 1 --block 128 --arg f32[1024]=random \
                   --arg f32[1024] --arg u32:1024 --arg u32:1000 --arg u64:0 --arg u64:0";
    let output = ridgepoint_in(tree(), &format!("run {softmax} --seeds 0"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the dynamic shared memory, of which the launch has none"),
        "{said}"
    );
    assert!(said.contains("`--shared`"), "{said}");
}

/// Checks the counts of each line of the source beside its operations.
#[test]
fn lines_have_their_requests_barriers_atomics_new_sectors_and_strides() {
    let folder = folder();
    let profile = |words: &str| -> Value {
        succeeds(folder.path(), &format!("profile {words} --json p.json"));
        let text = fs::read_to_string(folder.path().join("p.json")).expect("written");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        document["profiles"][0].take()
    };
    let line = |profile: &Value, number: u32| -> Value {
        let lines = profile["lines"].as_array().expect("lines");
        let found = lines.iter().find(|it| it["line"] == number);
        found.expect("a line of planted.cu").clone()
    };
    let blocks = "--grid 4 --block 256 --arg f32[1024]=random --arg f32[1024]";
    let redundant = line(&profile(&format!("planted.ptx redundant {blocks}")), 32);
    assert_eq!(
        (&redundant["requests"], &redundant["new_sectors"]),
        (&8192.into(), &128.into())
    );
    let tile = "--grid 1 --block 1024 --arg f32[1024]=random --arg f32[1024]";
    let conflict = profile(&format!("planted.ptx conflict {tile}"));
    let loads = line(&conflict, 14);
    assert_eq!(loads["requests"], 64);
    let strides = loads["ptx"].as_array().expect("instructions").iter();
    let strides: Vec<i64> = strides.filter_map(|it| it["stride"].as_i64()).collect();
    assert!(
        strides.contains(&128) && strides.contains(&4),
        "{strides:?}"
    );
    let sum = |profile: &Value, of: &str| {
        let lines = profile["lines"].as_array().expect("lines").iter();
        lines.filter_map(|it| it[of].as_u64()).sum::<u64>()
    };
    assert_eq!(
        (sum(&conflict, "barriers"), sum(&conflict, "atomics")),
        (32, 0)
    );
    let histogram = tree().join("tests/machines/nvcc/examples.ptx");
    let arguments = "--grid 1 --block 256 --arg u8[4096]=ones --arg u64:4096 --arg u32[256]=zeros";
    let histogram = profile(&format!("{} histogram {arguments}", histogram.display()));
    assert_eq!(
        Some(sum(&histogram, "atomics")),
        histogram["totals"]["atomics"].as_u64()
    );
    assert_eq!(sum(&histogram, "atomics"), 4096 + 256);
}

/// Returns the first advice on a planted kernel, and the text.
fn first_advice(kernel: &str, shape: &str) -> (Value, String) {
    let folder = folder();
    let words = format!("profile planted.ptx {kernel} {shape} --json p.json");
    let said = succeeds(folder.path(), &words);
    let text = fs::read_to_string(folder.path().join("p.json")).expect("written");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    (document["profiles"][0]["advice"][0].take(), said)
}

#[test]
fn planted_mistakes_are_named_first_with_their_line() {
    let blocks = "--grid 4 --block 256 --arg f32[1024]=random --arg f32[1024]";
    let tile = "--grid 1 --block 1024 --arg f32[1024]=random --arg f32[1024]";
    for (kernel, shape, kind, line, parts) in [
        (
            "uncoalesced",
            blocks,
            "uncoalesced",
            5,
            ["loads 4 bytes per lane, 128 bytes apart: 12.5 % of the bytes moved are used (4096 of 32768)"].as_slice(),
        ),
        (
            "conflict",
            tile,
            "bank-conflict",
            14,
            &["128 bytes apart: 1,024 wavefronts", "32 would do, 32.0 times", "33 for 32"],
        ),
        (
            "divergent",
            blocks,
            "divergent-branch",
            20,
            &["diverges in 100.0 % of the warps that reach it (32 of 32)"],
        ),
        (
            "redundant",
            blocks,
            "redundant-load",
            32,
            &["8192 sectors, 128 of them new, each 64.0 times"],
        ),
    ] {
        let (advice, said) = first_advice(kernel, shape);
        assert_eq!(advice["kind"], kind, "{said}");
        assert_eq!((&advice["line"], &advice["file"]), (&line.into(), &"planted.cu".into()), "{said}");
        let told = said.split("Advice, what would save most time first\n").nth(1).expect("advice");
        let told = told.lines().next().expect("a line");
        assert!(told.contains(&format!("planted.cu:{line} ")), "{told}");
        for part in parts {
            assert!(told.replace(',', "").contains(&part.replace(',', "")), "{part:?}: {told}");
        }
    }
}

#[test]
fn the_advice_of_the_page_is_what_is_said() {
    let (_, said) = first_advice(
        "conflict",
        "--grid 1 --block 1024 --arg f32[1024]=random --arg f32[1024]",
    );
    shows("profiling-a-kernel.md", "Advice, what would save", &said);
}

#[test]
fn totals_are_those_of_the_launch() {
    let folder = folder();
    let said = succeeds(
        folder.path(),
        "profile nvcc.ptx saxpy --grid 4 --block 256 --arg i32:1000 --arg f32:2 --arg f32[1000]=random \
         --arg f32[1000]=ones --json saxpy.json",
    );
    for part in [
        "saxpy, 4 blocks of 256 threads",
        "fma f32 2,000",
        "12,000 bytes requested, 375 sectors of 32 bytes; 375 if coalesced (100.0 %)",
        "12,000 bytes: 8,000 read, 4,000 written",
        "L2 8,000 bytes; L1 of each block, all added up: 8,000 read, 4,000 written",
        "0.167 FLOP/byte",
        "1 of 32 branches diverge",
        "Under the roofs of NVIDIA H200: at least 2.50 ns, limited by memory",
        "nvcc.ptx:43  ld.global.f32 %f2, [%rd6];",
        "Nothing costs more than it must.",
    ] {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
    let text = fs::read_to_string(folder.path().join("saxpy.json")).expect("written");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let profile = &document["profiles"][0];
    assert_eq!(profile["totals"]["flop"], 2000);
    assert_eq!(profile["totals"]["l2_footprint"], 8000);
    assert_eq!(profile["totals"]["l1_read"], 8000);
    let lines = profile["lines"].as_array().expect("lines");
    // Each instruction is a line of its own, and none is left out.
    let sum = |of: &str| {
        lines
            .iter()
            .map(|it| it[of].as_u64().expect("a count"))
            .sum::<u64>()
    };
    assert_eq!(
        sum("warps"),
        profile["totals"]["warps"].as_u64().expect("a count")
    );
    assert_eq!(sum("bytes"), 12000);
    let share: f64 = lines.iter().filter_map(|it| it["share"].as_f64()).sum();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
}

#[test]
fn json_is_read_as_it_was_written() {
    let folder = folder();
    let words = "profile --workload horner --axis n=2^12 --axis k=3,16 --json p.json";
    let said = succeeds(folder.path(), words);
    assert_eq!(said.matches("Under the roofs of").count(), 2, "{said}");
    let text = fs::read_to_string(folder.path().join("p.json")).expect("written");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let written = document["profiles"].take();
    let read: Vec<ridgepoint::profile::Profile> =
        serde_json::from_value(written.clone()).expect("profiles");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), written);
    // An FMA each step, of each of the elements.
    assert_eq!(read[1].totals.sums.flop, 2 * 16 * 4096);
    let hottest = &read[1].lines[0];
    assert!(hottest.file.ends_with("polynomial.rs"), "{}", hottest.file);
}

/// Leaves a picture of the page in the target folder, as tmp/profile.png: docs/profile.png is one.
#[test]
fn the_page_shows_each_line_with_its_counts() {
    let folder = folder();
    let words = "profile planted.ptx conflict --grid 1 --block 1024 --arg f32[1024]=random \
                 --arg f32[1024] --page conflict.html";
    succeeds(folder.path(), words);
    let path = folder.path().join("conflict.html");
    let html = fs::read_to_string(&path).expect("written");
    assert!(
        !html.contains("http"),
        "it asks for something from a network"
    );
    let mut page = Page::open(&format!("file://{}", path.display()), [1280, 1250]);
    let row = |line: u32| format!("document.getElementById('p0-planted-cu-{line}')");
    let read = page.text(&format!("{}.innerText", row(14)));
    assert!(read.contains("y[i] = tile[i % 32][i / 32];"), "{read}");
    let advice = page.text(&format!("{}.nextElementSibling.innerText", row(14)));
    assert!(
        advice.contains("1,024 wavefronts") || advice.contains("1024 wavefronts"),
        "{advice}"
    );
    let heat = |page: &mut Page, line| {
        page.text(&format!("getComputedStyle({}).backgroundColor", row(line)))
    };
    assert_ne!(heat(&mut page, 14), heat(&mut page, 11));
    // The PTX is beneath the line, once that is opened.
    let open = format!(
        "{}.querySelector('details').open = true, {}.innerText",
        row(14),
        row(14)
    );
    let opened = page.text(&open);
    assert!(opened.contains("ld.shared.f32 %f2, [%r10];"), "{opened}");
    // A line without code is there, too.
    assert!(
        page.text("document.body.innerText")
            .contains("__shared__ float tile[32][32];")
    );
    let colour = "getComputedStyle(document.body).backgroundColor";
    let before = page.text(colour);
    page.point_at("#theme", &["mousePressed", "mouseReleased"]);
    assert_ne!(before, page.text(colour));
    page.point_at("#theme", &["mousePressed", "mouseReleased"]);
    assert_eq!(before, page.text(colour));
    let picture: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile.png");
    fs::write(picture, page.picture()).expect("written");
}

#[test]
fn what_cannot_be_profiled_is_told() {
    let folder = folder();
    let saxpy = "nvcc.ptx saxpy --grid 4 --block 256 --arg i32:9 --arg f32:2 --arg f32[9]=ones --arg f32[9]=ones";
    for (words, status, expected) in [
        (
            "".to_owned(),
            2,
            "name a PTX file, or a workload with --kernel",
        ),
        (
            format!("{saxpy} --workload horner"),
            2,
            "name one or the other",
        ),
        (format!("{saxpy} --roofs b300"), 2, "expected one of h200, "),
        ("--workload horner --k 0".to_owned(), 2, "from 1 to"),
        (saxpy.replace("i32:9", "i32:10"), 1, "argument 2"),
        (
            format!("{saxpy} --json /nonexistent/p.json"),
            3,
            "cannot write",
        ),
        (format!("{saxpy} --json p --page p"), 2, "name one output"),
    ] {
        let output = ridgepoint_in(folder.path(), &format!("profile {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// The model has no waits for other blocks of a cluster, and the profile says so in the place of a time.
#[test]
fn a_time_that_the_model_does_not_have_is_not_predicted() {
    let folder = folder();
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry meet() {\nbarrier.cluster.arrive;\n\
                barrier.cluster.wait;\nret;\n}\n";
    fs::write(folder.path().join("meet.ptx"), text).expect("written");
    let said = succeeds(folder.path(), "profile meet.ptx --grid 4 --block 64");
    let reason = "Its time is not predicted: the model does not have waits for blocks of a cluster";
    assert!(said.contains(reason), "{said}");
}
