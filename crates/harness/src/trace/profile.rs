//! Where the time went: a table for the host side and one for the device side.

use std::time::Duration;

use super::Trace;
use crate::table::{Times, TimesRow, Width, duration_text, times_table};

/// The two tables. Percentages are of the whole time of the trace.
pub fn profile(trace: &Trace, width: Width) -> String {
    let whole = trace.ended.duration_since(trace.began);
    let calls = trace.calls.iter().map(|call| (call.function, call.took));
    let spans = trace.spans.iter().map(|span| (&*span.name, span.took));
    format!(
        "Traced for {}.\n\nHost side: calls of the driver\n{}\n\nDevice side: kernels and copies, timed \
         by {}\n{}",
        duration_text(whole),
        table(calls, whole, width),
        trace.source,
        table(spans, whole, width),
    )
}

/// A row for each name, the longest in all first.
fn table<'a>(
    times: impl Iterator<Item = (&'a str, Duration)>,
    whole: Duration,
    width: Width,
) -> String {
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    for (name, time) in times {
        let time = time.as_nanos() as f64;
        match groups.iter_mut().find(|(it, _)| *it == name) {
            Some((_, times)) => times.push(time),
            None => groups.push((name, vec![time])),
        }
    }
    let rows = groups.into_iter().map(|(name, times)| TimesRow {
        count: times.len() as u64,
        times: Times::of(times),
        names: vec![name.to_owned()],
    });
    let mut rows: Vec<TimesRow> = rows.collect();
    let total = |row: &TimesRow| row.times.map_or(0.0, |it| it.total_ns);
    rows.sort_by(|a, b| total(b).total_cmp(&total(a)));
    times_table(&rows, &["Name"], whole.as_nanos() as f64, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_name_are_added_up_and_the_longest_stand_first() {
        let ms = Duration::from_millis;
        let times = [
            ("short", ms(1)),
            ("long", ms(2)),
            ("long", ms(6)),
            ("short", ms(1)),
        ];
        let table = table(times.into_iter(), ms(20), Width::Any);
        let rows: Vec<&str> = table.lines().filter(|line| line.contains("ms")).collect();
        assert_eq!(rows.len(), 2, "{table}");
        for part in [
            "40.00",
            "8.00 ms",
            "4.00 ms ± 2.00 ms (2.00 ms ‥ 6.00 ms)",
            "long",
        ] {
            assert!(rows[0].contains(part), "{part:?} is not in {}", rows[0]);
        }
        assert!(
            rows[1].contains("10.00") && rows[1].contains("short"),
            "{table}"
        );
    }
}
