//! The author's lines, each with the calls that it made, how long they took and waited, and the work that it launched.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Analysis;
use super::super::place::Place;
use crate::html::{anchor, escaped};
use crate::table::{Times, time_text};

/// Lines around one that calls that are shown, too.
const AROUND: u32 = 3;

/// The costs of a line.
#[derive(Default)]
struct Sums {
    calls: u64,
    host_ns: f64,
    wait_ns: f64,
    device_ns: f64,
}

/// A place that the source has, as a link to it.
pub(super) fn link(place: &Place) -> String {
    let name = escaped(&place.to_string());
    match place.line {
        Some(line) => format!("<a href=\"#{}\">{name}</a>", id(&place.file, line)),
        None => name,
    }
}

fn id(file: &str, line: u32) -> String {
    format!("{}-{line}", anchor(file))
}

/// The files whose lines call, those that cost most first.
pub(super) fn sources(analysis: &Analysis, read: &dyn Fn(&str) -> Option<String>) -> String {
    let total = |times: Option<Times>| times.map_or(0.0, |it| it.total_ns);
    let host = analysis.host.iter().map(|row| {
        let sums = Sums {
            calls: row.count,
            host_ns: total(row.times),
            ..Sums::default()
        };
        (&row.place, sums)
    });
    let waits = analysis.waits.iter().map(|row| {
        let wait_ns = total(row.times);
        (
            &row.place,
            Sums {
                wait_ns,
                ..Sums::default()
            },
        )
    });
    let device = analysis.device.iter().map(|row| {
        let device_ns = total(row.times);
        (
            &row.place,
            Sums {
                device_ns,
                ..Sums::default()
            },
        )
    });
    let mut files: BTreeMap<&str, BTreeMap<u32, Sums>> = BTreeMap::new();
    for (place, more) in host.chain(waits).chain(device) {
        let Some(line) = place.line else {
            continue;
        };
        let sums = files
            .entry(&place.file)
            .or_default()
            .entry(line)
            .or_default();
        sums.calls += more.calls;
        sums.host_ns += more.host_ns;
        sums.wait_ns += more.wait_ns;
        sums.device_ns += more.device_ns;
    }
    let cost = |lines: &BTreeMap<u32, Sums>| lines.values().map(Sums::cost).sum::<f64>();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by(|a, b| cost(&b.1).total_cmp(&cost(&a.1)));
    let sections = files
        .into_iter()
        .map(|(file, lines)| section(file, &lines, read(file)));
    format!("<h2>Source</h2>\n{}", sections.collect::<String>())
}

impl Sums {
    fn cost(&self) -> f64 {
        self.host_ns + self.device_ns
    }
}

/// The lines of a file that call, and those around them where the file was found.
fn section(file: &str, lines: &BTreeMap<u32, Sums>, text: Option<String>) -> String {
    let text: Vec<&str> = text.as_deref().unwrap_or_default().lines().collect();
    let line_of = |number: u32| text.get(number.saturating_sub(1) as usize).copied();
    let most = lines
        .values()
        .map(Sums::cost)
        .fold(f64::MIN_POSITIVE, f64::max);
    let around = |&line: &u32| line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
    let shown: BTreeSet<u32> = lines.keys().flat_map(around).collect();
    let mut html = format!(
        "<h3>{}</h3>\n<div class=\"table\"><table>\n<tr><th>calls</th><th>on the host</th><th>of it waits</th>\
         <th>on devices</th><th>line</th><th class=\"code\">source</th></tr>\n",
        escaped(file)
    );
    let mut before = None;
    for number in shown {
        let sums = lines.get(&number);
        if sums.is_none() && line_of(number).is_none() {
            continue;
        }
        if before.is_some_and(|before| before + 1 < number) {
            html += "<tr class=\"gap\"><td colspan=\"6\">...</td></tr>\n";
        }
        before = Some(number);
        let code = escaped(line_of(number).unwrap_or_default());
        let end =
            format!("<td class=\"number\">{number}</td><td class=\"code\">{code}</td></tr>\n");
        html += &match sums {
            Some(sums) => format!(
                "<tr id=\"{}\" style=\"background: rgba(var(--heat), {:.3})\"><td>{}</td>{}{end}",
                id(file, number),
                0.45 * sums.cost() / most,
                sums.calls,
                [sums.host_ns, sums.wait_ns, sums.device_ns]
                    .map(cell)
                    .concat()
            ),
            None => format!("<tr><td colspan=\"4\"></td>{end}"),
        };
    }
    html + "</table></div>\n"
}

fn cell(time: f64) -> String {
    match time > 0.0 {
        true => format!("<td>{}</td>", time_text(time)),
        false => "<td></td>".to_owned(),
    }
}
