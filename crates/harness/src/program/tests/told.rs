//! The story of hand-made recordings, and their timelines.

use recording::{Memory, Synchronized};
use serde_json::Value;

use super::script::{Script, program};
use crate::program::{Analysis, Why, page, text, write_timeline};
use crate::table::Width;

/// The causes of the first device's gaps: why, the lines, and microseconds.
fn causes(script: Script, end: u64) -> Vec<(Why, String, String, f64)> {
    let analysis = Analysis::of(&program(script.end(end)));
    let device = &analysis.story.devices[0];
    let sum: f64 = device.causes.iter().map(|it| it.total_ns).sum();
    assert_eq!(sum, device.idle_ns, "each moment has one cause");
    let causes = device.causes.iter().map(|it| {
        let (place, next) = (it.place.to_string(), it.next.to_string());
        (it.why, place, next, it.total_ns / 1000.0)
    });
    causes.collect()
}

#[test]
fn a_gap_belongs_to_what_the_host_did_until_the_launch() {
    let mut script = Script::new();
    let first = script.call("cudaLaunchKernel", 1, (0, 5));
    script.kernel("k", (7, first), (10, 100));
    let wait = script.call("cudaDeviceSynchronize", 2, (20, 104));
    script.synchronization(Synchronized::Context, wait);
    script.call("cudaMalloc", 3, (304, 354));
    let second = script.call("cudaLaunchKernel", 4, (360, 365));
    script.kernel("k", (7, second), (368, 400));
    let line = |line: u32| format!("train.py:{line}");
    assert_eq!(
        causes(script, 500),
        [
            (Why::HostCode, line(2), line(4), 200.0),
            (Why::Memory, line(3), line(4), 50.0),
            (Why::Latency, line(4), line(4), 8.0),
            (Why::HostCode, line(3), line(4), 6.0),
            (Why::Blocked, line(2), line(4), 4.0),
        ]
    );
}

#[test]
fn a_gap_behind_a_launch_that_came_in_time_is_another_streams() {
    let mut script = Script::new();
    let first = script.call("cudaLaunchKernel", 1, (0, 5));
    script.kernel("k", (7, first), (10, 100));
    let second = script.call("cudaLaunchKernel", 2, (5, 10));
    script.kernel("k", (8, second), (400, 500));
    let causes = causes(script, 600);
    assert_eq!(
        (causes.len(), causes[0].0, causes[0].3),
        (1, Why::OtherStream, 300.0)
    );
}

#[test]
fn of_the_time_between_two_parts_nothing_is_told() {
    let mut script = Script::new();
    script.asked("from cudaProfilerStart to cudaProfilerStop, for 0.002 s");
    // The time that was asked for ends after the profiler's part, and after the process.
    script.part(0, &[2000, 60]);
    let first = script.call("cudaLaunchKernel", 1, (10, 15));
    script.kernel("k", (7, first), (20, 100));
    script.part(500, &[2000]);
    let second = script.call("cudaLaunchKernel", 2, (510, 515));
    script.kernel("k", (7, second), (520, 600));
    let third = script.call("cudaLaunchKernel", 2, (630, 635));
    script.kernel("k", (7, third), (640, 700));
    let analysis = Analysis::of(&program(script.end(900)));
    let device = &analysis.story.devices[0];
    assert_eq!((device.busy_ns, device.idle_ns), (220e3, 40e3));
    let part = analysis.processes[0].part.as_ref().expect("parts");
    assert_eq!((part.count, part.total_ns), (2, 460e3));
    let text = text(&analysis, Width::Any);
    let said = "Recorded from cudaProfilerStart to cudaProfilerStop, for 0.002 s: 2 parts, 460.00 us in all.";
    assert!(text.contains(said), "{text}");
}

#[test]
fn memory_has_a_peak_and_the_lines_that_made_it() {
    let mut script = Script::new();
    let mut allocate = |line, time, of| {
        let call = script.call("cudaMalloc", line, (time, time + 1));
        script.memory(of, call, time);
    };
    allocate(1, 0, (0x1000, 100, false));
    allocate(2, 10, (0x2000, 50, false));
    allocate(3, 20, (0x1000, 0, true));
    allocate(4, 30, (0x3000, 60, false));
    // Allocated before the recording began.
    allocate(5, 40, (0x9000, 0, true));
    let analysis = Analysis::of(&program(script.end(100)));
    let [memory] = &analysis.story.memory[..] else {
        panic!("one kind: {:?}", analysis.story.memory);
    };
    assert_eq!((&*memory.kind, memory.peak_bytes), ("device", 150));
    let course: Vec<u64> = memory.course.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!(course, [100, 150, 50, 110, 110]);
    let lines: Vec<(String, u64)> = memory
        .at_peak
        .iter()
        .map(|it| (it.place.to_string(), it.bytes))
        .collect();
    assert_eq!(
        lines,
        [
            ("train.py:1".to_owned(), 100),
            ("train.py:2".to_owned(), 50)
        ]
    );
}

#[test]
fn an_emulated_program_gets_advice_without_savings() {
    let mut script = Script::emulated(true);
    for step in 0..5 {
        let launch = script.call("cuLaunchKernel", 1, (step * 10, step * 10 + 1));
        script.kernel("k", (7, launch), (0, 0));
        let copy = script.call("cuMemcpyDtoH_v2", 2, (step * 10 + 2, step * 10 + 3));
        script.copy((Memory::Device, Memory::Pageable, 8), (7, copy), (0, 0));
    }
    let analysis = Analysis::of(&program(script.end(100)));
    let [advice] = &analysis.story.advice[..] else {
        panic!("one piece of advice: {:?}", analysis.story.advice);
    };
    assert_eq!((advice.count, advice.saving_ns), (5, None));
    assert!(
        analysis
            .story
            .sentence
            .contains("reads 8 bytes at train.py:2")
    );
    assert_eq!(analysis.story.devices, []);
    assert_eq!(analysis.story.replay_error, None);
}

#[test]
fn a_timeline_has_rows_arrows_ranges_and_memory() {
    let mut script = Script::new();
    let launch = script.call("cudaLaunchKernel", 1, (0, 5));
    script.kernel("k", (7, launch), (10, 100));
    let allocation = script.call("cudaMalloc", 2, (6, 8));
    script.memory((0x1000, 64, false), allocation, 7);
    script.range("step", (0, 90));
    let program = program(script.end(200));
    let analysis = Analysis::of(&program);
    let mut text = Vec::new();
    write_timeline(&program, &analysis.story, &mut text).expect("written");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    let of = |kind: &str| {
        events
            .iter()
            .filter(|it| it["ph"] == kind)
            .collect::<Vec<_>>()
    };
    let slices: Vec<(&str, f64, f64)> = of("X")
        .iter()
        .map(|it| {
            let number = |name: &str| it[name].as_f64().expect("a number");
            (
                it["name"].as_str().expect("a name"),
                number("ts"),
                number("dur"),
            )
        })
        .collect();
    assert_eq!(
        slices,
        [
            ("cudaLaunchKernel", 0.0, 5.0),
            ("cudaMalloc", 6.0, 2.0),
            ("step", 0.0, 90.0),
            ("k", 10.0, 90.0),
        ]
    );
    let [from, to] =
        [of("s"), of("f")].map(|it| (it.len(), it[0]["id"].clone(), it[0]["ts"].clone()));
    assert_eq!((from.0, &from.1), (to.0, &to.1));
    assert_eq!((from.2.as_f64(), to.2.as_f64()), (Some(0.0), Some(10.0)));
    assert_eq!(of("C")[0]["args"]["bytes"], 64);
    // All rows have names.
    assert_eq!(
        of("M")
            .iter()
            .filter(|it| it["name"] == "thread_name")
            .count(),
        3
    );
}

#[test]
fn a_page_has_the_authors_lines_and_no_markup_of_theirs() {
    let mut script = Script::new();
    let launch = script.call("cudaLaunchKernel", 2, (0, 5));
    script.kernel("k", (7, launch), (10, 100));
    let program = program(script.end(200));
    let analysis = Analysis::of(&program);
    let read = |file: &str| (file == "train.py").then(|| "import x\nif a < b: f()\n".to_owned());
    let page = page(&program, &analysis, None, &read);
    for part in [
        "id=\"train-py-2\"",
        "if a &lt; b: f()",
        "href=\"#train-py-2\"",
        "<path d=",
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
}

#[test]
fn a_killed_program_is_not_said_to_have_had_no_work() {
    let mut script = Script::new();
    script.call("cudaLaunchKernel", 1, (0, 5));
    let analysis = Analysis::of(&program(script.killed()));
    let sentence = analysis.story.sentence;
    assert!(
        sentence.contains("though the program made 1 launch"),
        "{sentence}"
    );
    let analysis = Analysis::of(&program(Script::new().end(10)));
    assert_eq!(analysis.story.sentence, "No device had any work.");
}
