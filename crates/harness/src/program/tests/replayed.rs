//! What a change is predicted to save, beside what it saves.

use recording::Memory::{Device, Pageable, Pinned};
use recording::Recording;

use super::machine::Machine;
use super::script::program;
use crate::program::{Advice, Analysis};

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
