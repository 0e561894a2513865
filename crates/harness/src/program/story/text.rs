//! The story as text for a terminal.

use super::super::analysis::Analysis;
use super::idle::Idle;
use super::memory::MemoryUse;
use super::overlap::Overlap;
use super::sentence::reason;
use super::{Advice, Story};
use crate::table::{counted, time_text};

/// Causes of a device's gaps that are shown.
const CAUSES: usize = 6;
/// Advice that is shown.
const ADVICE: usize = 8;
/// Lines whose memory is shown.
const LINES: usize = 3;

/// The story of the analysis.
pub(in crate::program) fn text(analysis: &Analysis) -> String {
    let story = &analysis.story;
    let mut lines = vec![story.sentence.clone()];
    for device in &story.devices {
        lines.extend(idle(device));
    }
    lines.extend(story.overlap.iter().map(overlap));
    if let Some(time) = story.launch_ns {
        lines.push(format!(
            "  {} took the host {} each",
            counted(story.launches, "launch"),
            time_text(time)
        ));
    }
    lines.extend(story.memory.iter().map(memory));
    lines.push(String::new());
    lines.extend(advice(story, analysis.whole_ns));
    lines.join("\n")
}

fn idle(device: &Idle) -> Vec<String> {
    let mut lines = vec![format!(
        "  device {} of process {}: idle {}, busy {}, {} before its first work",
        device.device,
        device.process,
        time_text(device.idle_ns),
        time_text(device.busy_ns),
        time_text(device.before_ns)
    )];
    let causes = device.causes.iter().take(CAUSES);
    lines.extend(causes.map(|it| format!("    {}, {}", reason(it), counted(it.count, "time"))));
    lines
}

fn overlap(it: &Overlap) -> String {
    format!(
        "  {}: {} at {:.1} GB/s, {:.0} % of it beside kernels",
        it.copies,
        time_text(it.total_ns),
        it.bytes as f64 / it.total_ns.max(1.0),
        100.0 * it.beside_kernels_ns / it.total_ns.max(1.0)
    )
}

fn memory(it: &MemoryUse) -> String {
    let shares = it.at_peak.iter().take(LINES);
    let shares = shares.map(|it| format!("{} at {}", size(it.bytes), it.place));
    let shares: Vec<String> = shares.collect();
    format!(
        "  memory, {}: at most {}: {}",
        it.kind,
        size(it.peak_bytes),
        shares.join(", ")
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        1024..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

fn advice(story: &Story, whole_ns: f64) -> Vec<String> {
    if story.advice.is_empty() {
        return vec!["No change that was tried would save as much as 1 %.".to_owned()];
    }
    let error = story.replay_error.map(|it| {
        format!(
            " (replayed as it was, the program lasts {:.1} % {} than it did)",
            100.0 * it.abs(),
            if it < 0.0 { "less" } else { "longer" }
        )
    });
    let mut lines = vec![format!(
        "What to change, by what it would save{}",
        error.unwrap_or_default()
    )];
    for it in story.advice.iter().take(ADVICE) {
        lines.push(one(it, whole_ns));
    }
    lines
}

fn one(advice: &Advice, whole_ns: f64) -> String {
    let saving = advice.saving_ns.map(|saving| {
        format!(
            "{} of {}, predicted: ",
            time_text(saving),
            time_text(whole_ns)
        )
    });
    let saving = saving.unwrap_or_default();
    format!(
        "  {saving}{}. {}",
        capital(&advice.finding, !saving.is_empty()),
        advice.remedy
    )
}

/// The text, with a capital where it begins a sentence.
fn capital(text: &str, is_within: bool) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !is_within => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}
