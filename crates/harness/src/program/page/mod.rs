//! The analysis as a page: an overview of the time, the story, tables, and the author's lines with what they cost.

mod overview;
mod source;

use itertools::Itertools;

use super::analysis::Analysis;
use super::model::Program;
use super::roofline;
use super::story;
use super::tables::Row;
use super::text;
use crate::html::{self, escaped};
use crate::table::{Times, Width, time_text};

/// Rows of a table that are shown.
const ROWS: usize = 100;

/// The page of a program and its analysis. `chart` is the SVG of its roofline, if there is one; `read` gives the text of a
/// source file, where it is found.
pub fn page(
    program: &Program,
    analysis: &Analysis,
    chart: Option<&str>,
    read: &dyn Fn(&str) -> Option<String>,
) -> String {
    let commands = analysis.processes.iter().map(|it| it.command.join(" "));
    let commands: Vec<String> = commands.collect();
    let whole = match analysis.is_emulated {
        true => "Recorded on emulated devices: counts and order, without times.".to_owned(),
        false => format!(
            "From the first call to the last: {}.",
            time_text(analysis.whole_ns)
        ),
    };
    let subtitle = text::parts(analysis).chain([whole]).join(" ");
    let mut body = String::new();
    if !analysis.is_emulated {
        body += &overview::overview(program);
    }
    body += &prose("Story", &story::text(analysis));
    body += &prose("Waits", &text::waits(analysis));
    body += &table(
        "Host side: calls of CUDA",
        &analysis.host,
        analysis.whole_ns,
    );
    body += &table(
        "Device side: kernels and copies",
        &analysis.device,
        analysis.whole_ns,
    );
    if let Some(roofline) = &analysis.roofline {
        let text = roofline::text(roofline, analysis.whole_ns, Width::Any);
        body += &prose("Roofline", &text);
        body += &chart.map(picture).unwrap_or_default();
    }
    body += &source::sources(analysis, read);
    html::page(
        &format!("Program: {}", commands.join("; ")),
        &subtitle,
        &body,
    )
}

/// A drawing with a style of its own.
fn picture(svg: &str) -> String {
    let mut address = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b' '..=b'~' if !b"#%\"<>&".contains(&byte) => address.push(char::from(byte)),
            _ => address += &format!("%{byte:02x}"),
        }
    }
    format!("<img alt=\"roofline\" style=\"width:100%;max-width:880px\" src=\"{address}\">\n")
}

/// Sentences, which are folded where the page is narrow.
fn prose(title: &str, text: &str) -> String {
    format!(
        "<h2>{title}</h2>\n<pre style=\"white-space: pre-wrap\">{}</pre>\n",
        escaped(text)
    )
}

fn table(title: &str, rows: &[Row], whole_ns: f64) -> String {
    let mut html = format!(
        "<h2>{}</h2>\n<div class=\"table\"><table>\n<tr><th>Time (%)</th><th>Total</th><th>Calls</th><th>mean</th>\
         <th>std</th><th>min</th><th>max</th><th class=\"code\">Name</th><th class=\"code\">Where</th></tr>\n",
        escaped(title)
    );
    for row in rows.iter().take(ROWS) {
        let cell = |of: &dyn Fn(&Times) -> String| row.times.as_ref().map(of).unwrap_or_default();
        let time = |of: &dyn Fn(&Times) -> f64| cell(&|it| time_text(of(it)));
        let numbers = [
            cell(&|it| format!("{:.2}", 100.0 * it.total_ns / whole_ns)),
            time(&|it| it.total_ns),
            row.count.to_string(),
            time(&|it| it.mean_ns),
            time(&|it| it.std_ns),
            time(&|it| it.min_ns),
            time(&|it| it.max_ns),
        ];
        let numbers = numbers.map(|it| format!("<td>{it}</td>"));
        let through = row.place.through.as_ref();
        let through = through.map(|it| format!(" ({})", escaped(it)));
        html += &format!(
            "<tr>{}<td class=\"code\">{}</td><td class=\"code\">{}</td></tr>\n",
            numbers.concat(),
            escaped(&row.name),
            source::link(&row.place) + &through.unwrap_or_default()
        );
    }
    html + "</table></div>\n"
}
