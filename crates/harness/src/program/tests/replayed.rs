//! Predicted savings of a change, beside real ones.

use recording::Memory::{Device, Pageable, Pinned};
use recording::Recording;

use super::machine::Machine;
use super::script::{Script, program};
use crate::program::{Advice, Analysis, Verdict, compare};

/// The analysis of a program, whose replay is as long as it was.
#[track_caller]
fn analysis(recording: Recording) -> Analysis {
    let analysis = Analysis::of(&program(recording));
    let error = analysis.story.replay_error.expect("it was replayed");
    assert!(error.abs() < 0.02, "the replay is {error} off");
    analysis
}

/// Compares the saving of the advice whose remedy has these words with the real one, in microseconds.
#[track_caller]
fn saves(before: (Recording, u64), after: (Recording, u64), words: &str) -> Advice {
    let analysis = analysis(before.0);
    let all = &analysis.story.advice;
    let advice = all.iter().find(|it| it.remedy.contains(words));
    let advice = advice.unwrap_or_else(|| panic!("no advice has {words:?}: {all:?}"));
    let real = before.1.abs_diff(after.1) as f64;
    let predicted = advice.saving_ns.expect("it was replayed") / 1000.0;
    assert!(
        (predicted / real - 1.0).abs() < 0.15,
        "{predicted} us are predicted, and {real} us were saved: {} to {}",
        before.1,
        after.1
    );
    advice.clone()
}

/// Steps, each with a value that the host reads, or does not.
fn reading(is_read: bool) -> (Recording, u64) {
    let mut machine = Machine::new();
    for _ in 0..200 {
        machine.works(20);
        for line in 10..14 {
            machine.works(2);
            machine.launches(line, 7, 30);
        }
        if is_read {
            machine.copies(15, 7, (Device, Pageable, 4));
        }
    }
    machine.copies(20, 7, (Device, Pageable, 4));
    machine.ends()
}

#[test]
fn a_value_that_stays_on_the_device() {
    let advice = saves(
        reading(true),
        reading(false),
        "Keep the value on the device",
    );
    assert!(
        advice.finding.contains("4 bytes at train.py:15 200 times"),
        "{}",
        advice.finding
    );
}

/// Every tenth step is written to a file, while the device waits or while it goes on.
fn checkpoints(is_asynchronous: bool) -> (Recording, u64) {
    const FILE: u64 = 1500;
    let mut machine = Machine::new();
    let mut owed = None;
    for step in 0..300 {
        machine.works(3);
        machine.launches(10, 7, 190);
        if step % 10 != 9 {
            continue;
        }
        machine.launches(12, 7, 20);
        if is_asynchronous {
            machine.copies(13, 7, (Device, Pinned, 8));
            machine.copies(14, 7, (Device, Pinned, 65536));
            let now = machine.free(7);
            if let Some(time) = owed.replace(now) {
                machine.waits_until(15, 7, time);
                machine.works(FILE);
            }
        } else {
            machine.copies(13, 7, (Device, Pageable, 8));
            machine.works(10);
            machine.copies(14, 7, (Device, Pageable, 65536));
            machine.works(FILE);
        }
    }
    if is_asynchronous {
        machine.waits(16);
        machine.works(FILE);
    }
    machine.ends()
}

#[test]
fn a_checkpoint_that_is_written_while_the_device_goes_on() {
    let advice = saves(checkpoints(false), checkpoints(true), "record an event");
    let lines: Vec<String> = advice.places.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["train.py:13", "train.py:14"]);
}

/// Batches that go to the device, through a kernel and back.
fn batches(is_pinned: bool, streams: u32) -> (Recording, u64) {
    let host = if is_pinned { Pinned } else { Pageable };
    let mut machine = Machine::new();
    for batch in 0..10 {
        let stream = batch % streams;
        machine.works(5);
        machine.copies(21, stream, (host, Device, 64 << 20));
        machine.launches(22, stream, 2700);
        machine.copies(23, stream, (Device, host, 64 << 20));
    }
    machine.waits(25);
    machine.ends()
}

#[test]
fn memory_that_is_page_locked() {
    let advice = saves(
        batches(false, 1),
        batches(true, 1),
        "Page-lock (pin) this memory",
    );
    assert!(
        advice.finding.contains("train.py:21 and train.py:23"),
        "{}",
        advice.finding
    );
}

/// Batches, and then steps whose value the host waits for.
fn batches_and_values(streams: u32) -> (Recording, u64) {
    let mut machine = Machine::new();
    for batch in 0..10 {
        let stream = batch % streams;
        machine.copies(21, stream, (Pinned, Device, 64 << 20));
        machine.launches(22, stream, 2700);
        machine.copies(23, stream, (Device, Pinned, 64 << 20));
    }
    machine.waits(25);
    for _ in 0..500 {
        machine.launches(30, 0, 20);
        machine.copies(31, 0, (Device, Pinned, 4));
        machine.waits_until(31, 0, machine.free(0));
        machine.works(30);
    }
    machine.ends()
}

#[test]
fn streams_are_for_batches_and_not_for_values() {
    saves(
        batches_and_values(1),
        batches_and_values(4),
        "several streams",
    );
}

#[test]
fn batches_in_several_streams() {
    saves(batches(true, 1), batches(true, 4), "several streams");
    saves(batches(false, 1), batches(true, 4), "several streams");
}

#[test]
fn a_program_that_keeps_its_device_busy_is_left_as_it_is() {
    let mut machine = Machine::new();
    for _ in 0..100 {
        machine.launches(10, 7, 500);
    }
    machine.waits(11);
    let analysis = analysis(machine.ends().0);
    assert_eq!(analysis.story.advice, []);
}

#[test]
fn a_gate_fails_where_idle_time_waits_or_copies_grow() {
    let of = |is_read| analysis(reading(is_read).0);
    let (blocking, kept) = (of(true), of(false));
    let verdicts = |before: &Analysis, after: &Analysis| {
        let figures = compare(before, after, 0.03).expect("both have work");
        let judged = figures
            .into_iter()
            .filter_map(|it| Some((it.figure, it.verdict?)));
        judged.collect::<Vec<_>>()
    };
    let all = [
        "idle time of the devices",
        "waits",
        "copies",
        "bytes of copies",
    ];
    assert_eq!(
        verdicts(&blocking, &kept),
        all.map(|it| (it, Verdict::Less))
    );
    assert_eq!(
        verdicts(&kept, &blocking),
        all.map(|it| (it, Verdict::More))
    );
    assert_eq!(verdicts(&kept, &kept), all.map(|it| (it, Verdict::Same)));
    let nothing = Analysis::of(&program(Script::new().end(10)));
    assert!(compare(&kept, &nothing, 0.03).is_err());
}

/// As PyTorch copies: the call that copies, and one that waits for it.
fn waiting_batches(is_changed: bool) -> (Recording, u64) {
    let mut machine = Machine::new();
    for batch in 0..10 {
        let stream = if is_changed { batch % 4 } else { 0 };
        for (line, from, to) in [(21, Pageable, Device), (23, Device, Pageable)] {
            let pinned = |it| {
                if is_changed && it == Pageable {
                    Pinned
                } else {
                    it
                }
            };
            machine.copies(line, stream, (pinned(from), pinned(to), 64 << 20));
            if !is_changed {
                machine.waits_until(line, stream, machine.free(stream));
            }
            if line == 21 {
                machine.launches(22, stream, 2700);
            }
        }
    }
    machine.waits(25);
    machine.ends()
}

#[test]
fn batches_that_wait_for_each_copy() {
    saves(
        waiting_batches(false),
        waiting_batches(true),
        "several streams",
    );
}
