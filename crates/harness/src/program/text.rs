//! The analysis as text for a terminal: what the host waited for, and the tables of both sides.

use itertools::Itertools;

use super::analysis::{Analysis, ProcessFacts};
use super::roofline;
use super::story;
use super::tables::{Part, Row, WaitRow};
use crate::table::{TimesRow, Width, counted, time_text, times_table};

/// Rows of a table that are shown.
const ROWS: usize = 20;
/// Waits that are shown, and what each waited for.
const WAITS: usize = 10;
const PARTS: usize = 3;

/// The whole text.
pub fn text(analysis: &Analysis, width: Width) -> String {
    let mut sections = vec![head(analysis), story::text(analysis), waits(analysis)];
    sections.push(format!(
        "Host side: calls of CUDA\n{}",
        table(&analysis.host, analysis.whole_ns, width)
    ));
    let timed = match analysis.is_emulated {
        true => "emulated, without times",
        false => "timed by CUPTI",
    };
    sections.push(format!(
        "Device side: kernels and copies, {timed}\n{}",
        table(&analysis.device, analysis.whole_ns, width)
    ));
    let roofline = analysis.roofline.as_ref();
    sections.extend(roofline.map(|it| roofline::text(it, analysis.whole_ns, width)));
    sections.join("\n\n")
}

fn head(analysis: &Analysis) -> String {
    let mut lines = Vec::new();
    for process in &analysis.processes {
        lines.push(subject(process));
        lines.extend(shortcomings(process));
    }
    lines.extend(parts(analysis));
    match analysis.is_emulated {
        true => lines.push(
            "The device was emulated: counts and order are those of a GPU, and there are no times."
                .to_owned(),
        ),
        false => lines.push(format!(
            "From the first call to the last: {}.",
            time_text(analysis.whole_ns)
        )),
    }
    lines.join("\n")
}

fn subject(process: &ProcessFacts) -> String {
    let devices = match &process.devices[..] {
        [] => String::new(),
        devices => format!(" on {}", devices.iter().unique().join(", ")),
    };
    format!(
        "{}: {} and {} of work{devices}, recorded by {}",
        process.command.join(" "),
        counted(process.calls, "call"),
        counted(process.activities, "piece"),
        process.recorded_by,
    )
}

/// The recorded part of each process, where parts were asked for: `Recorded within ranges of NVTX named "step": 3 parts, 12.3 ms in
/// all.`
pub(super) fn parts(analysis: &Analysis) -> impl Iterator<Item = String> {
    let parts = analysis.processes.iter().filter_map(|it| it.part.as_ref());
    parts.map(|part| {
        let count = counted(part.count, "part");
        let all = match analysis.is_emulated || part.count == 0 {
            true => String::new(),
            false => format!(", {} in all", time_text(part.total_ns)),
        };
        format!("Recorded {}: {count}{all}.", part.asked)
    })
}

/// The gaps of a recording, which a reader has to know before all else.
fn shortcomings(process: &ProcessFacts) -> Vec<String> {
    let mut all = Vec::new();
    if !process.has_ended {
        all.push("its recording has no end: it was killed, or still runs".to_owned());
    }
    if process.refused > 0 {
        let records = counted(process.refused, "record");
        all.push(format!(
            "{records} found no room in the file: record a part of the program"
        ));
    }
    if process.lost > 0 {
        all.push(format!(
            "the recorder lost {} of devices",
            counted(process.lost, "record")
        ));
    }
    if process.uncalled > 0 {
        let pieces = counted(process.uncalled, "piece");
        all.push(format!("the calls of {pieces} of work are not known"));
    }
    let line = |it: String| format!("warning: process {}: {it}", process.id);
    all.into_iter().map(line).collect()
}

/// The waits of the host.
pub(super) fn waits(analysis: &Analysis) -> String {
    let rows = analysis.waits.iter().take(WAITS).map(wait);
    let mut lines: Vec<String> = rows.collect();
    let more = analysis.waits.len().saturating_sub(WAITS);
    if more > 0 {
        lines.push(format!(
            "  and at {}",
            counted(more as u64, "further place")
        ));
    }
    match lines.is_empty() {
        true => "No call waited for the device.".to_owned(),
        false => format!("Waits, and what they waited for\n{}", lines.join("\n")),
    }
}

/// A line: `cudaMemcpyAsync at train.py:38: 4.95 ms, of which 4.94 ms the kernel nrm2 launched at train.py:37`.
pub(super) fn wait(row: &WaitRow) -> String {
    let mut parts: Vec<String> = row.parts.iter().take(PARTS).map(part).collect();
    let more = row.parts.iter().skip(PARTS);
    let (count, sum) = more.fold((0, 0.0), |(count, sum), it| (count + 1, sum + it.total_ns));
    let others = counted(count, "other");
    let Some(times) = row.times else {
        if count > 0 {
            parts.push(others);
        }
        let behind = match parts.is_empty() {
            true => "with nothing to wait for".to_owned(),
            false => format!("behind {}", parts.join(", ")),
        };
        let calls = counted(row.count, "call");
        return format!("  {} at {}: {calls} {behind}", row.function, row.place);
    };
    if count > 0 {
        parts.push(format!("{} {others}", time_text(sum)));
    }
    let mut own = |time: f64, what: &str| {
        if time > 0.0 {
            parts.push(format!("{} {what}", time_text(time)));
        }
    };
    own(
        row.own_ns,
        if row.count == 1 {
            "the copy"
        } else {
            "the copies"
        },
    );
    own(row.rest_ns, "on the host");
    let calls = match row.count {
        1 => String::new(),
        count => format!(" in {}", counted(count, "call")),
    };
    let total = time_text(times.total_ns);
    format!(
        "  {} at {}: {total}{calls}, of which {}",
        row.function,
        row.place,
        parts.join(", ")
    )
}

fn part(part: &Part) -> String {
    match part.total_ns > 0.0 {
        true => format!("{} {}", time_text(part.total_ns), part.what),
        false => part.what.clone(),
    }
}

fn table(rows: &[Row], whole_ns: f64, width: Width) -> String {
    let shown = rows.iter().take(ROWS).map(|row| TimesRow {
        count: row.count,
        times: row.times,
        names: vec![row.name.clone(), place(row)],
    });
    let shown: Vec<TimesRow> = shown.collect();
    let table = times_table(&shown, &["Name", "Where"], whole_ns, width);
    match rows.len().saturating_sub(ROWS) {
        0 => table,
        more => format!("{table}\nand {}", counted(more as u64, "more row")),
    }
}

/// The place, and the library's function that made the call for it.
fn place(row: &Row) -> String {
    match &row.place.through {
        Some(through) => format!("{} ({through})", row.place),
        None => row.place.to_string(),
    }
}
