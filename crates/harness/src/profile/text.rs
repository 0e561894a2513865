//! A profile as text.

use std::fmt::Write;

use super::{
    Advice, BufferRow, ClassRow, Formula, Instruction, Line, Profile, SpaceRow, Totals, Verdict,
};
use crate::prediction;
use crate::table::{listed, significant, time_text};

/// Totals, verdict, the hottest `most` lines, and advice.
pub fn text(profile: &Profile, most: usize) -> String {
    format!(
        "{}, {}\n\n{}\nHottest lines, by share of issue slots, sectors and wavefronts\n{}{}",
        profile.kernel,
        profile.at,
        totals(profile),
        hottest(&profile.lines, most) + no_source(profile),
        advice(profile)
    )
}

/// Sums and verdict.
pub(super) fn totals(profile: &Profile) -> String {
    let totals = &profile.totals;
    let mut rows = vec![
        ("launched", launched(totals)),
        ("instructions", instructions(totals)),
        ("by class", classes(&profile.classes)),
        ("FLOP", flop(&profile.classes)),
    ];
    rows.extend(
        profile
            .spaces
            .iter()
            .map(|it| (it.space.as_str(), space(it))),
    );
    rows.extend([
        ("least traffic", least(totals)),
        ("footprint", footprint(totals)),
        ("buffers", buffers(&profile.buffers)),
        ("intensity", intensity(totals)),
        ("formula", profile.formula.map_or(String::new(), formula)),
        ("divergence", divergence(totals)),
        ("barriers", at_all(totals.sums.barriers, "by warps")),
        ("atomics", at_all(totals.sums.atomics, "by lanes")),
        ("occupancy", resources(profile)),
    ]);
    let mut text = String::new();
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {name:<16}{value}");
    }
    format!(
        "{text}\n{}\n{}\n",
        verdict(&profile.verdict),
        predicted(profile)
    )
}

/// The predicted time and its causes, or why there is none.
fn predicted(profile: &Profile) -> String {
    match (&profile.predicted, &profile.not_predicted) {
        (Some(it), _) => prediction::text(it, &format!("A launch of {} blocks", number(it.blocks))),
        (None, reason) => {
            let reason = reason.as_deref().unwrap_or("nothing says why");
            format!("Its time is not predicted: {reason}")
        }
    }
}

fn space(of: &SpaceRow) -> String {
    let mut text = format!("{} bytes requested", number(of.bytes));
    if of.sectors > 0 {
        text += &format!(
            ", {} sectors of 32 bytes; {} if coalesced ({})",
            number(of.sectors),
            number(of.least_sectors),
            percent(of.least_sectors as f64 / of.sectors as f64),
        );
    }
    if of.wavefronts > 0 {
        text += &format!(
            ", {} wavefronts, {} of them conflicts",
            number(of.wavefronts),
            number(of.conflicts),
        );
    }
    text
}

fn launched(totals: &Totals) -> String {
    format!(
        "launches {}, blocks {}, threads {}",
        number(totals.launches),
        number(totals.blocks),
        number(totals.launched_threads)
    )
}

fn instructions(totals: &Totals) -> String {
    format!(
        "{} by warps, {} by threads",
        number(totals.sums.warps),
        number(totals.sums.threads)
    )
}

fn classes(rows: &[ClassRow]) -> String {
    let parts = rows.iter().map(|row| match &row.element {
        Some(element) => format!("{} {element} {}", row.class, number(row.warps)),
        None => format!("{} {}", row.class, number(row.warps)),
    });
    wrapped(parts.collect())
}

fn flop(rows: &[ClassRow]) -> String {
    let all: u64 = rows.iter().map(|row| row.flop).sum();
    let parts = rows.iter().filter(|row| row.flop > 0).map(|row| {
        let element = row.element.as_deref().unwrap_or_default();
        format!("{} {element} {}", row.class, number(row.flop))
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "none".to_owned(),
        false => wrapped(vec![format!("{}: {}", number(all), parts.join(", "))]),
    }
}

/// Parts in lines of their own where one line has no room.
fn wrapped(parts: Vec<String>) -> String {
    const WIDTH: usize = 88;
    let mut lines = vec![String::new()];
    for part in parts {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            *line = part;
        } else if line.len() + part.len() < WIDTH {
            *line += &format!(", {part}");
        } else {
            line.push(',');
            lines.push(part);
        }
    }
    lines.join(&format!("\n{:18}", ""))
}

fn least(totals: &Totals) -> String {
    format!(
        "{} bytes: {} read, {} written",
        number(totals.least_read + totals.least_written),
        number(totals.least_read),
        number(totals.least_written)
    )
}

fn footprint(totals: &Totals) -> String {
    format!(
        "L2 {} bytes; L1 of each block, all added up: {} read, {} written",
        number(totals.l2_footprint),
        number(totals.l1_read),
        number(totals.l1_written)
    )
}

fn buffers(rows: &[BufferRow]) -> String {
    let parts = rows.iter().map(|row| {
        let name = match row.name.as_str() {
            "" => "one without a name",
            name => name,
        };
        format!(
            "{name} of {}: {} read, {} written",
            number(row.bytes),
            number(row.read),
            number(row.written)
        )
    });
    wrapped(parts.collect())
}

/// Returns the workload's own figures, for comparison.
fn formula(of: Formula) -> String {
    let operations = of.numbers.operations();
    let flop = of
        .flop
        .map(|it| format!("{} {operations}", number(it as u64)));
    let bytes = of.bytes.map(|it| format!("{} bytes", number(it as u64)));
    let beside = [(of.overhead_flop, operations), (of.overhead_bytes, "bytes")];
    let beside = beside.into_iter().filter(|(amount, _)| *amount > 0.0);
    let beside =
        beside.map(|(amount, what)| format!("{} {what} of overhead", number(amount as u64)));
    let all: Vec<String> = [flop, bytes].into_iter().flatten().chain(beside).collect();
    format!("the workload says {}", all.join(", "))
}

fn intensity(totals: &Totals) -> String {
    match totals.intensity {
        Some(intensity) => format!("{} FLOP/byte", significant(intensity)),
        None => "none, without bytes".to_owned(),
    }
}

fn divergence(totals: &Totals) -> String {
    format!(
        "{} of lanes active; {} of {} branches diverge",
        percent(totals.active_lanes),
        number(totals.sums.splits),
        number(totals.branches)
    )
}

fn at_all(count: u64, what: &str) -> String {
    match count {
        0 => "none".to_owned(),
        count => format!("{} {what}", number(count)),
    }
}

fn resources(profile: &Profile) -> String {
    let Some(of) = &profile.resources else {
        let reason = profile.no_resources.as_deref();
        return format!("not known: {}", reason.unwrap_or("nothing says why"));
    };
    let occupancy = match of.occupancy {
        Some(occupancy) => format!(
            "{}, limited by {}",
            percent(occupancy),
            listed(&of.limited_by).replace('_', " ")
        ),
        None => "not known".to_owned(),
    };
    let spills = match of.spill_store_bytes + of.spill_load_bytes {
        0 => "no spills".to_owned(),
        _ => format!(
            "spills of {} bytes out and {} bytes in",
            of.spill_store_bytes, of.spill_load_bytes
        ),
    };
    format!(
        "{occupancy} (sm_{}, {} registers, {} bytes of shared memory, {spills})",
        of.arch, of.registers, of.shared_bytes
    )
}

/// Two lines.
fn verdict(of: &Verdict) -> String {
    let memory = format!(
        "memory {} at {:.2} TB/s",
        seconds(of.memory_seconds),
        of.bandwidth / 1e12
    );
    let arithmetic = match (of.arithmetic_seconds, &of.arithmetic) {
        (Some(time), Some(name)) => format!(", {name} {}", seconds(time)),
        _ => ", no floating point of a known rate".to_owned(),
    };
    let ridge = of.ridge_point.map_or(String::new(), |ridge| {
        format!("; ridge point {} FLOP/byte", significant(ridge))
    });
    format!(
        "Under the roofs of {}: at least {}, limited by {}\n  {memory}{arithmetic}{ridge}",
        of.gpu,
        seconds(of.least_seconds),
        of.limit
    )
}

/// The hint for PTX whose lines are its own, because it names no source.
fn no_source(profile: &Profile) -> &'static str {
    match profile.lacks_source {
        true => "  The PTX names no source lines: compile it with -lineinfo.\n",
        false => "",
    }
}

fn hottest(lines: &[Line], most: usize) -> String {
    let mut text = String::new();
    for line in lines.iter().take(most) {
        // Where the source was not found, the instruction that does most says what the line is about.
        let most = |it: &&Instruction| (it.sums.sectors, it.sums.wavefronts, it.sums.warps);
        let own = || line.ptx.iter().max_by_key(most).map(|it| it.text.as_str());
        let written = line.text.as_deref().or_else(own).unwrap_or_default();
        // PTX has tabs.
        let written: Vec<&str> = written.split_whitespace().collect();
        text += &format!(
            "  {:>6}  {}:{}  {}\n          {}\n",
            percent(line.share),
            line.file,
            line.line,
            written.join(" "),
            counts(line)
        );
    }
    match lines.len().saturating_sub(most) {
        0 => {}
        more => text += &format!("  and {more} more\n"),
    }
    text
}

fn counts(line: &Line) -> String {
    let sums = &line.sums;
    let mut parts = Vec::new();
    let mut add = |count: u64, what: &str| {
        let what = match count {
            1 => what.strip_suffix('s').unwrap_or(what),
            _ => what,
        };
        if count > 0 {
            parts.push(format!("{} {what}", number(count)));
        }
    };
    add(sums.warps, "instructions");
    add(sums.flop, "FLOP");
    add(sums.bytes, "bytes");
    add(sums.sectors, "sectors");
    add(sums.wavefronts, "wavefronts");
    add(sums.conflicts, "conflicts");
    add(sums.splits, "divergences");
    parts.join(", ")
}

fn advice(profile: &Profile) -> String {
    if profile.advice.is_empty() {
        return "\nNothing costs more than it must.\n".to_owned();
    }
    let is_timed = profile.advice.iter().any(|it| it.saves_seconds.is_some());
    let order = match is_timed {
        true => "what would save most time first",
        false => "most expensive first",
    };
    let mut text = format!("\nAdvice, {order}\n");
    for advice in &profile.advice {
        text += &format!(
            "  {:>6}  {advice}{}\n",
            percent(advice.share),
            saves(advice)
        );
    }
    text
}

/// ` Predicted to save 1.20 us.`
pub(super) fn saves(advice: &Advice) -> String {
    let seconds = advice.saves_seconds;
    seconds.map_or_else(String::new, |it| match time_text(1e9 * it).as_str() {
        "0 ns" => " Predicted to save no time.".to_owned(),
        time => format!(" Predicted to save {time}."),
    })
}

/// Digits in groups of three.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn seconds(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        ..1e-6 => (1e9, "ns"),
        ..1e-3 => (1e6, "us"),
        ..1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", significant(seconds * factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_easily() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(number),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0.0, 0.125, 12.34, 1234.5].map(significant),
            ["0", "0.125", "12.3", "1234"]
        );
        assert_eq!(
            [2.5e-7, 4.1e-5, 0.5, 2.0].map(seconds),
            ["250 ns", "41.0 us", "500 ms", "2.00 s"]
        );
        let long = wrapped(vec!["x".repeat(50), "y".repeat(50)]);
        assert_eq!(long.lines().count(), 2);
    }
}
