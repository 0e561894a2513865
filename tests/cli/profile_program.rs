//! `ridgepoint profile --recording FOLDER`: a recorded program shown on a terminal and in files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use recording::{
    Activity, Call, Counted, Device, End, Frame, Kernel, Log, Memory, Process, Record, Stack, Text,
    Work,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::perfetto::Perfetto;
use crate::support;

const MS: u64 = 1_000_000;

/// A folder with the recording of a loop whose blocking copy waits for a kernel.
fn recorded() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = Log::create(&folder.path().join("42.rec"), 1 << 20).expect("a recording");
    let text = |id, text: &str| {
        Record::Text(Text {
            id,
            text: text.to_owned(),
        })
    };
    let stack = |id, line| {
        Record::Stack(Stack {
            id,
            frames: vec![Frame::Source {
                function: "step".to_owned(),
                file: "/home/me/train.py".to_owned(),
                line,
            }],
            of_thread: 0,
        })
    };
    let process = Process {
        id: 42,
        parent: 1,
        command: vec!["python3".to_owned(), "train.py".to_owned()],
        time: 0,
        unix_time: 1_700_000_000_000_000_000,
        source: "CUPTI 13.0".to_owned(),
        is_emulated: false,
    };
    let device = Device {
        id: 0,
        name: "NVIDIA H100".to_owned(),
    };
    for record in [
        Record::Process(process),
        Record::Device(device),
        text(1, "cudaLaunchKernel"),
        text(2, "cudaMemcpyAsync"),
        text(3, "nrm2"),
        stack(1, 37),
        stack(2, 38),
    ] {
        log.write(&record);
    }
    for step in 0..10u64 {
        let begin = 5 * step * MS;
        let correlation = 2 * step as u32 + 1;
        let call = |name, stack, (start, end), correlation| {
            Record::Call(Call {
                name,
                thread: 42,
                stack,
                start,
                end,
                correlation,
                status: 0,
            })
        };
        let work = |work, (start, end), correlation| {
            Record::Activity(Activity {
                work,
                device: 0,
                context: 1,
                stream: 7,
                correlation,
                graph: 0,
                start,
                end,
            })
        };
        let kernel = Work::Kernel(Kernel {
            name: 3,
            grid: [1; 3],
            block: [256, 1, 1],
            registers: 32,
            shared: [0; 2],
        });
        let copy = Work::Copy {
            from: Memory::Device,
            to: Memory::Pageable,
            bytes: 8,
            peer: None,
        };
        for record in [
            call(1, 1, (begin, begin + 5_000), correlation),
            call(
                2,
                2,
                (begin + 6_000, begin + 4 * MS + 12_000),
                correlation + 1,
            ),
            work(kernel, (begin + 10_000, begin + 4 * MS), correlation),
            work(
                copy,
                (begin + 4 * MS + 1_000, begin + 4 * MS + 3_000),
                correlation + 1,
            ),
        ] {
            log.write(&record);
        }
    }
    log.write(&Record::End(End {
        time: 50 * MS,
        lost: 0,
        cost: 20_000,
    }));
    folder
}

/// The same with what was counted of the kernel in a run of its own: 19.2 GB of memory and half as many operations.
fn counted() -> TempDir {
    let folder = recorded();
    fs::create_dir(folder.path().join("counted")).expect("a folder");
    let path = folder.path().join("counted").join("43.rec");
    let log = Log::create(&path, 1 << 20).expect("a recording");
    let counts = [
        ("dram__bytes_read.sum", 9_600_000_000),
        ("dram__bytes_write.sum", 9_600_000_000),
        (
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            4_800_000_000,
        ),
    ];
    let names = counts.map(|it| it.0).into_iter().chain(["nrm2"]);
    log.write(&Record::Device(Device {
        id: 0,
        name: "NVIDIA H100".to_owned(),
    }));
    for (id, text) in (1..).zip(names) {
        let text = text.to_owned();
        log.write(&Record::Text(Text { id, text }));
    }
    log.write(&Record::Counted(Counted {
        kernel: 4,
        grid: [1; 3],
        block: [256, 1, 1],
        device: 0,
        correlation: 1,
        counts: (1..).zip(counts.map(|it| it.1)).collect(),
        problem: 0,
    }));
    folder
}

fn ridgepoint_in(folder: &Path, words: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn succeeds(folder: &Path, words: &[&str]) -> String {
    let output = ridgepoint_in(folder, words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {text}{errors}");
    text
}

#[test]
fn a_recorded_program_is_shown_with_its_lines() {
    let folder = recorded();
    let text = succeeds(folder.path(), &["profile", "--recording", "."]);
    for part in [
        "python3 train.py: 20 calls and 20 pieces of work on NVIDIA H100",
        "cudaMemcpyAsync at /home/me/train.py:38: 40.06 ms in 10 calls, of which 39.90 ms the kernel nrm2 launched at \
         /home/me/train.py:37, 20.00 us the copies",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn the_analysis_is_written_for_programs() {
    let folder = recorded();
    let words = [
        "profile",
        "--recording",
        ".",
        "--json",
        "program.json",
        "-f",
        "csv",
    ];
    let rows = succeeds(folder.path(), &words);
    let mut rows = csv::Reader::from_reader(rows.as_bytes());
    let sides = rows.records().map(|row| row.expect("a row")[0].to_owned());
    assert_eq!(
        sides.collect::<Vec<_>>(),
        ["host", "host", "device", "device"]
    );
    let text = fs::read_to_string(folder.path().join("program.json")).expect("written");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["program"]["waits"][0]["place"]["line"], 38);
}

#[test]
fn a_recorded_program_is_a_page_a_timeline_and_rows() {
    let folder = recorded();
    fs::write(folder.path().join("train.py"), "pass\n".repeat(50)).expect("written");
    let words =
        "profile --recording . --page program.html --timeline program.json --csv program.csv";
    let words: Vec<&str> = words.split(' ').collect();
    succeeds(folder.path(), &words);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    let page = read("program.html");
    for part in [
        "Overview",
        "cudaMemcpyAsync at /home/me/train.py:38",
        "-home-me-train-py-38\"",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    let timeline: Value = serde_json::from_str(&read("program.json")).expect("JSON");
    let events = timeline["traceEvents"].as_array().expect("events");
    let count = |kind: &str| events.iter().filter(|it| it["ph"] == kind).count();
    // 20 calls and 20 pieces of work, with an arrow between each.
    assert_eq!([count("X"), count("s"), count("f")], [40, 20, 20]);
    let csv = read("program.csv");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(rows.records().count(), 4);
}

#[test]
fn counted_kernels_lie_under_the_roofs_that_are_named() {
    let folder = counted();
    let words = "profile --recording . --roofs h200 --plot r.svg,r.png --json p.json --page p.html";
    let text = succeeds(folder.path(), &words.split(' ').collect::<Vec<_>>());
    // 19.2 GB in 3.99 ms, of which an H200 moves 4.8 TB/s: ten launches, of which each takes 4 ms but 10 us.
    for part in [
        "Kernels under the roofs of NVIDIA H200 (data sheet)",
        "100 memory",
        "bandwidth",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
    let document: Value = serde_json::from_slice(&read("p.json")).expect("JSON");
    let kernel = &document["program"]["roofline"]["kernels"][0];
    assert_eq!(
        (&kernel["name"], &kernel["launches"]),
        (&"nrm2".into(), &10.into())
    );
    assert_eq!(kernel["flop_per_byte"], 0.5);
    let svg = String::from_utf8(read("r.svg")).expect("text");
    assert!(
        svg.contains("nrm2") && svg.contains("memory 4.80 TB/s"),
        "{svg}"
    );
    assert!(read("r.png").starts_with(b"\x89PNG"));
    let page = String::from_utf8(read("p.html")).expect("text");
    assert!(
        page.contains("<img alt=\"roofline\""),
        "the page has the chart"
    );
}

#[test]
fn counters_that_count_nothing_are_refused() {
    let folder = recorded();
    for (words, status, expected) in [
        (
            "--on emulator --counters -- true",
            2,
            "the emulator has none",
        ),
        (
            "--plot r.svg -- true",
            2,
            "--plot has no effect without --counters",
        ),
        (
            "--on emulator --roofs h100 -- touch ran",
            2,
            "--roofs has no effect without --counters",
        ),
        (
            "--counters --recording .",
            2,
            "--counters has no effect with --recording",
        ),
        (
            "--counters saxpy.ptx",
            2,
            "--counters has no effect without a program",
        ),
        (
            "--recording . --roofs h100",
            2,
            "--roofs has no effect where no kernel was counted",
        ),
        (
            "--recording . --plot r.svg",
            0,
            "no chart: no kernel was counted",
        ),
    ] {
        let words = format!("profile {words}");
        let output = ridgepoint_in(folder.path(), &words.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(expected), "{words}: {errors}");
        assert_eq!(output.status.code(), Some(status), "{words}: {errors}");
    }
    assert!(
        !folder.path().join("ran").exists(),
        "refused before the program runs"
    );
}

#[test]
fn perfetto_reads_the_timeline() {
    let folder = recorded();
    let words = [
        "profile",
        "--recording",
        ".",
        "--timeline",
        "t.json",
        "-f",
        "csv",
    ];
    succeeds(folder.path(), &words);
    let mut perfetto = Perfetto::open(&folder.path().join("t.json"));
    let mut count = |what: &str| {
        let rows: Vec<(u64,)> = perfetto.query(&format!("select count(*) from {what}"));
        rows[0].0
    };
    assert_eq!(count("slice"), 40);
    // Each arrow leads from a call to its work.
    let launches = "flow join slice o on o.id = slice_out join slice i on i.id = slice_in \
                    where o.category = 'call' and i.category in ('kernel', 'copy')";
    assert_eq!(count(launches), 20);
    assert_eq!(count("stats where severity = 'error' and value > 0"), 0);
}

#[test]
fn two_recorded_programs_are_compared() {
    let folder = recorded();
    succeeds(
        folder.path(),
        &["profile", "--recording", ".", "--json", "a.json"],
    );
    let text = fs::read_to_string(folder.path().join("a.json")).expect("written");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["program"]["waits"][0]["count"] = 20.into();
    fs::write(folder.path().join("b.json"), document.to_string()).expect("written");
    let same = succeeds(folder.path(), &["compare", "a.json", "a.json"]);
    assert!(same.contains("idle time of the devices"), "{same}");
    let output = ridgepoint_in(folder.path(), &["compare", "a.json", "b.json"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("more by over 3 %: waits"), "{errors}");
}

#[test]
fn a_folder_without_recordings_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = ridgepoint_in(folder.path(), &["profile", "--recording", "."]);
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no process was recorded"), "{errors}");
}
