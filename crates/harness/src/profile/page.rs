//! The annotated source: one HTML file, which opens from disk and asks for nothing from a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::text::{number, percent, saves, totals};
use super::{Line, Profile, Sums};
use crate::html::{self, escaped};

/// Lines around a counted one that are shown, too.
const AROUND: u32 = 3;

/// The page of these profiles.
pub fn page(profiles: &[Profile]) -> String {
    let names: BTreeSet<&str> = profiles.iter().map(|it| it.kernel.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let body: String = profiles.iter().enumerate().map(section).collect();
    html::page(
        &format!("Profile: {}", names.join(", ")),
        "Counted by the emulator, which executes PTX; nothing is measured",
        &body,
    )
}

fn section((index, profile): (usize, &Profile)) -> String {
    let mut html = format!(
        "<section id=\"profile-{index}\">\n<h2>{}</h2>\n",
        escaped(&profile.kernel)
    );
    html += &format!("<p class=\"faint\">{}</p>\n", escaped(&profile.at));
    html += &format!("<pre>{}</pre>\n", escaped(totals(profile).trim_end()));
    html += &advice(index, profile);
    let mut files: BTreeMap<&str, BTreeMap<u32, &Line>> = BTreeMap::new();
    for line in &profile.lines {
        files.entry(&line.file).or_default().insert(line.line, line);
    }
    let mut files: Vec<_> = files.into_iter().collect();
    let heat = |lines: &BTreeMap<u32, &Line>| lines.values().map(|it| it.share).sum::<f64>();
    files.sort_by(|a, b| heat(&b.1).total_cmp(&heat(&a.1)));
    for (file, lines) in files {
        html += &source(index, profile, file, &lines);
    }
    html + "</section>\n"
}

fn advice(index: usize, profile: &Profile) -> String {
    if profile.advice.is_empty() {
        return "<p>Nothing costs more than it must.</p>\n".to_owned();
    }
    let items = profile.advice.iter().map(|it| {
        format!(
            "<li><a href=\"#{}\">{}:{}</a> ({}) {}: {}.{}</li>\n",
            anchor(index, &it.file, it.line),
            escaped(&it.file),
            it.line,
            percent(it.share),
            escaped(&it.finding),
            escaped(&it.remedy),
            saves(it)
        )
    });
    let items: String = items.collect();
    format!("<h3>Advice, most expensive first</h3>\n<ol>\n{items}</ol>\n")
}

/// The lines of a file that were counted, and those around them.
fn source(index: usize, profile: &Profile, file: &str, lines: &BTreeMap<u32, &Line>) -> String {
    let mut html = format!(
        "<h3>{}</h3>\n<div class=\"table\"><table>\n<tr><th>share</th><th>instructions</th><th>FLOP</th>\
         <th>bytes</th><th>sectors</th><th>wavefronts</th><th>line</th><th class=\"code\">source</th></tr>\n",
        escaped(file)
    );
    let hottest = lines
        .values()
        .map(|it| it.share)
        .fold(f64::MIN_POSITIVE, f64::max);
    let shown: BTreeSet<u32> = lines
        .keys()
        .flat_map(|line| line.saturating_sub(AROUND).max(1)..=line + AROUND)
        .collect();
    let mut before = None;
    for number in shown {
        let text = profile.context.whole(file, number);
        let counted = lines.get(&number);
        if counted.is_none() && text.is_none() {
            continue;
        }
        if before.is_some_and(|before| before + 1 < number) {
            html += "<tr class=\"gap\"><td colspan=\"8\">...</td></tr>\n";
        }
        before = Some(number);
        html += &match counted {
            Some(line) => counted_row(index, profile, line, text, line.share / hottest),
            None => format!(
                "<tr><td colspan=\"6\"></td><td class=\"number\">{number}</td><td class=\"code\">{}</td></tr>\n",
                escaped(text.unwrap_or_default())
            ),
        };
    }
    html + "</table></div>\n"
}

fn counted_row(
    index: usize,
    profile: &Profile,
    line: &Line,
    text: Option<&str>,
    heat: f64,
) -> String {
    let all = profile.advice.iter();
    let advice: Vec<String> = all
        .filter(|it| (&it.file, it.line) == (&line.file, line.line))
        .map(|it| format!("<p>{}: {}.</p>", escaped(&it.finding), escaped(&it.remedy)))
        .collect();
    let class = if advice.is_empty() {
        ""
    } else {
        " class=\"advised\""
    };
    let known = text.or(line.text.as_deref());
    let own = known.map_or_else(String::new, escaped);
    // A line of PTX is its own instruction.
    let is_ptx =
        known.is_none() || line.ptx.iter().all(|it| it.line == line.line) && line.ptx.len() == 1;
    let code = match (is_ptx, known) {
        (true, Some(_)) => own,
        _ => format!(
            "<details><summary>{own}</summary>{}</details>",
            instructions(line)
        ),
    };
    format!(
        "<tr id=\"{}\"{class} style=\"background: rgba(var(--heat), {:.3})\"><td>{}</td>{}\
         <td class=\"number\">{}</td><td class=\"code\">{code}</td></tr>\n{}",
        anchor(index, &line.file, line.line),
        0.45 * heat,
        percent(line.share),
        cells(&line.sums),
        line.line,
        advised(&advice)
    )
}

/// A row below a line's, as wide as the table: beside the source, advice would be beyond the edge of a narrow window.
fn advised(advice: &[String]) -> String {
    match advice {
        [] => String::new(),
        _ => format!(
            "<tr class=\"advice\"><td colspan=\"8\">{}</td></tr>\n",
            advice.concat()
        ),
    }
}

fn instructions(line: &Line) -> String {
    let mut html = String::from("<table>");
    for it in &line.ptx {
        // Writing to a string does not fail.
        let _ = write!(
            html,
            "<tr>{}<td class=\"number\">{}</td><td class=\"code\">{}</td></tr>",
            cells(&it.sums),
            it.line,
            escaped(&it.text)
        );
    }
    html + "</table>"
}

fn cells(sums: &Sums) -> String {
    let columns = [
        sums.warps,
        sums.flop,
        sums.bytes,
        sums.sectors,
        sums.wavefronts,
    ];
    let cells = columns.map(|count| match count {
        0 => "<td></td>".to_owned(),
        count => format!("<td>{}</td>", number(count)),
    });
    cells.concat()
}

/// Returns the anchor that links lead to.
fn anchor(index: usize, file: &str, line: u32) -> String {
    format!("p{index}-{}-{line}", html::anchor(file))
}
