//! Where the time went: a table for the host side and one for the device side.

use std::time::Duration;

use super::Trace;
use crate::table::{self, Look, Width};

/// Times of the same name.
struct Group {
    name: String,
    times: Vec<Duration>,
}

/// The two tables. Percentages are of the whole time of the trace.
pub fn profile(trace: &Trace, width: Width) -> String {
    let whole = trace.ended.duration_since(trace.began);
    let calls = trace.calls.iter().map(|call| (call.function, call.took));
    let spans = trace.spans.iter().map(|span| (&*span.name, span.took));
    format!(
        "Traced for {}.\n\nHost side: calls of the driver\n{}\n\nDevice side: kernels and copies, timed \
         by {}\n{}",
        text(whole),
        table(groups(calls), whole, width),
        trace.source,
        table(groups(spans), whole, width),
    )
}

/// By name, the longest in all first.
fn groups<'a>(times: impl Iterator<Item = (&'a str, Duration)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (name, time) in times {
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.times.push(time),
            None => groups.push(Group {
                name: name.to_owned(),
                times: vec![time],
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.times.iter().sum::<Duration>()));
    groups
}

fn table(groups: Vec<Group>, whole: Duration, width: Width) -> String {
    let header = [
        "Time (%)",
        "Total time",
        "Calls",
        "mean ± std (min ‥ max)",
        "Name",
    ];
    let rows = groups.into_iter().map(|Group { name, times }| {
        let total: Duration = times.iter().sum();
        let mean = total.as_secs_f64() / times.len() as f64;
        let squares = times.iter().map(|time| (time.as_secs_f64() - mean).powi(2));
        let deviation = (squares.sum::<f64>() / times.len() as f64).sqrt();
        let least = times.iter().min().copied().unwrap_or_default();
        let most = times.iter().max().copied().unwrap_or_default();
        [
            format!("{:.2}", 100.0 * total.as_secs_f64() / whole.as_secs_f64()),
            text(total),
            times.len().to_string(),
            format!(
                "{} ± {} ({} ‥ {})",
                text(Duration::from_secs_f64(mean)),
                text(Duration::from_secs_f64(deviation)),
                text(least),
                text(most),
            ),
            name,
        ]
    });
    let look = Look {
        width,
        is_right: |column| column < 4,
        spare: &["mean ± std (min ‥ max)", "Calls"],
    };
    table::text(header, rows, look)
}

/// In the unit that leaves one to three digits before the point.
fn text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s if s >= 1e-6 => format!("{:.2} us", s * 1e6),
        s => format!("{:.0} ns", s * 1e9),
    }
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
        let table = table(groups(times.into_iter()), ms(20), Width::Any);
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
