//! The annotated source of coverage.

use std::collections::BTreeMap;

use super::{Report, Share, Totals, by_line};
use crate::driver::coverage::{Branch, File};
use crate::html::{self, escaped};
use crate::profile::source::Context;
use crate::profile::text::number;

/// How many branches of a line are shown without being asked for.
const MOST_OPEN: usize = 3;

/// All kernels, and each file with all of its lines where it is on this machine.
pub(super) fn text(report: &Report) -> String {
    let mut body = kernels(report) + &files(report);
    let mut context = Context::default();
    for (section, (name, file)) in report.files.iter().enumerate() {
        if let Some(text) = report.texts.get(name) {
            context.insert(name, text);
        }
        body += &source(section, name, file, context.lines(name).unwrap_or_default());
    }
    html::page(
        "Coverage",
        "Executed by the emulator. A line's count is how often threads executed the most frequent of its instructions; \
         lines without instructions have none",
        &body,
    )
}

fn kernels(report: &Report) -> String {
    let rows = report.coverage.kernels.iter().map(|(name, kernel)| {
        let totals = kernel.files.values().map(Totals::of).sum();
        let launches = match kernel.launches {
            0 => "none".to_owned(),
            launches => number(launches),
        };
        let class = if kernel.launches == 0 {
            " class=\"missed\""
        } else {
            ""
        };
        format!(
            "<tr{class}><td class=\"name\">{}</td><td>{launches}</td>{}</tr>\n",
            escaped(name),
            shares(totals)
        )
    });
    table("Kernels", "<th>launches</th>", rows)
}

fn files(report: &Report) -> String {
    let rows = report
        .files
        .iter()
        .enumerate()
        .map(|(section, (name, file))| {
            format!(
                "<tr><td class=\"name\"><a href=\"#file-{section}\">{}</a></td>{}</tr>\n",
                escaped(name),
                shares(Totals::of(file))
            )
        });
    table("Files", "", rows)
}

fn table(title: &str, columns: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.collect();
    format!(
        "<h2>{title}</h2>\n<div class=\"table\"><table>\n<tr><th class=\"code\">name</th>{columns}<th>lines</th>\
         <th>branches</th><th>functions</th></tr>\n{rows}</table></div>\n"
    )
}

fn shares(totals: Totals) -> String {
    let cell = |share: Share| match share.all {
        0 => "<td></td>".to_owned(),
        all => format!("<td>{} % ({} of {all})</td>", share.text(), share.covered),
    };
    [totals.lines, totals.branches, totals.functions]
        .map(cell)
        .concat()
}

/// A file: every line that it has, or those of which something is known.
fn source(section: usize, name: &str, file: &File, text: &[String]) -> String {
    let branches = by_line(file);
    let last = file.lines.keys().next_back().copied().unwrap_or(0);
    let mut shown: Vec<u32> = (1..=last.max(text.len() as u32)).collect();
    if text.is_empty() {
        shown = file.lines.keys().copied().collect();
    }
    let rows = shown.into_iter().map(|line| {
        let text = text.get(line as usize - 1).map_or("", String::as_str);
        row((section, line), file, &branches, text)
    });
    let rows: String = rows.collect();
    format!(
        "<section id=\"file-{section}\">\n<h2>{}</h2>\n<div class=\"table\"><table>\n<tr><th>threads</th>\
         <th>branches</th><th>line</th><th class=\"code\">source</th></tr>\n{rows}</table></div>\n</section>\n",
        escaped(name)
    )
}

fn row(
    (section, line): (usize, u32),
    file: &File,
    branches: &BTreeMap<u32, Vec<&Branch>>,
    text: &str,
) -> String {
    let own = branches.get(&line).map_or(&[][..], Vec::as_slice);
    let is_partial = own.iter().any(|it| it.outcomes.contains(&0));
    let times = file.lines.get(&line);
    let class = match times {
        None => "",
        Some(0) => " class=\"missed\"",
        Some(_) if is_partial => " class=\"partial\"",
        Some(_) => " class=\"hit\"",
    };
    format!(
        "<tr id=\"file-{section}-{line}\"{class}><td>{}</td><td>{}</td><td class=\"number\">{line}</td><td class=\"code\">{}</td></tr>\n",
        times.map_or_else(String::new, |&times| number(times)),
        all_went(own),
        escaped(text)
    )
}

/// Where lanes went at the branches of a line; of many that is folded up.
fn all_went(branches: &[&Branch]) -> String {
    let each: Vec<String> = branches.iter().map(|it| went(it)).collect();
    let each = each.join("<br>");
    if branches.len() <= MOST_OPEN {
        return each;
    }
    let outcomes = || branches.iter().flat_map(|it| &it.outcomes);
    let never = outcomes().filter(|&&lanes| lanes == 0).count();
    format!(
        "<details><summary>{} branches, {never} of {} ways never taken</summary>{each}</details>",
        branches.len(),
        outcomes().count()
    )
}

/// `taken 3, not taken 0; 2 warps parted`
fn went(branch: &Branch) -> String {
    let lanes: Vec<String> = branch.outcomes.iter().map(|&it| number(it)).collect();
    let outcomes = match lanes.as_slice() {
        [taken, not_taken] => format!("taken {taken}, not taken {not_taken}"),
        targets => format!("to its targets {}", targets.join(", ")),
    };
    match branch.divergent {
        0 => outcomes,
        1 => format!("{outcomes}; 1 warp parted"),
        times => format!("{outcomes}; warps parted {} times", number(times)),
    }
}
