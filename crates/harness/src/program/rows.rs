//! Rows of both tables for programs: CSV, JSON and Markdown.

use serde::Serialize;

use super::analysis::Analysis;
use super::tables::Row;

/// A row of either table.
#[derive(Clone, Debug, Serialize)]
pub struct TableRow<'a> {
    /// `host` or `device`.
    side: &'static str,
    name: &'a str,
    file: &'a str,
    line: Option<u32>,
    function: &'a str,
    through: Option<&'a str>,
    count: u64,
    bytes: Option<u64>,
    share_percent: Option<f64>,
    total_ns: Option<f64>,
    mean_ns: Option<f64>,
    std_ns: Option<f64>,
    min_ns: Option<f64>,
    max_ns: Option<f64>,
}

impl<'a> TableRow<'a> {
    /// All rows, the host's first.
    pub fn all(analysis: &'a Analysis) -> impl Iterator<Item = TableRow<'a>> {
        let of = |side, rows: &'a [Row]| {
            let whole = analysis.whole_ns;
            rows.iter().map(move |row| TableRow::new(side, row, whole))
        };
        of("host", &analysis.host).chain(of("device", &analysis.device))
    }

    fn new(side: &'static str, row: &'a Row, whole_ns: f64) -> TableRow<'a> {
        let times = row.times;
        TableRow {
            side,
            name: &row.name,
            file: &row.place.file,
            line: row.place.line,
            function: &row.place.function,
            through: row.place.through.as_deref(),
            count: row.count,
            bytes: row.bytes,
            share_percent: times.map(|it| 100.0 * it.total_ns / whole_ns),
            total_ns: times.map(|it| it.total_ns),
            mean_ns: times.map(|it| it.mean_ns),
            std_ns: times.map(|it| it.std_ns),
            min_ns: times.map(|it| it.min_ns),
            max_ns: times.map(|it| it.max_ns),
        }
    }
}
