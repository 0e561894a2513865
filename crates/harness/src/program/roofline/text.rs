//! A program's kernels under the roofs, as text.

use super::{KernelRow, Roofline, Uncounted};
use crate::table::{self, Look, Width, counted, listed, significant, time_text};

/// Kernels that are shown.
const ROWS: usize = 20;
/// Kernels whose advice is shown, and the share of all kernels' time from which on it is.
const ADVISED: usize = 5;
const SHARE: f64 = 0.05;

/// The table, what holds the longest kernels back, and what was not counted.
pub(in crate::program) fn text(roofline: &Roofline, whole_ns: f64, width: Width) -> String {
    let figures = "bytes of memory and operations by hardware counters, in a run of their own";
    let mut lines = vec![match &roofline.gpu {
        Some(gpu) => format!(
            "Kernels under the roofs of {} ({}): {figures}",
            gpu.name, gpu.roofs
        ),
        None => format!(
            "Kernels: {figures}. No roofs of this GPU are known; --roofs names a file of its ceilings"
        ),
    }];
    if !roofline.kernels.is_empty() {
        lines.push(table(&roofline.kernels, whole_ns, width));
    }
    let more = roofline.kernels.len().saturating_sub(ROWS);
    if more > 0 {
        lines.push(format!("and {}", counted(more as u64, "more row")));
    }
    lines.extend(advice(roofline));
    lines.extend(caveats(roofline));
    lines.join("\n")
}

/// Gaps of the figures, which a reader has to know.
fn caveats(roofline: &Roofline) -> Vec<String> {
    let mut lines = Vec::new();
    let uneven = roofline.kernels.iter().take(ROWS).filter(|it| !it.is_even);
    let uneven: Vec<&str> = uneven.map(|it| it.name.as_str()).collect();
    if !uneven.is_empty() {
        lines.push(format!(
            "Uneven: launches of one shape differ, and the first three stand for all, of {}.",
            listed(&uneven)
        ));
    }
    let mut not_counted = |of: &Uncounted, what: &str| {
        if of.launches > 0 {
            let launches = counted(of.launches, "launch");
            let time = time_text(of.total_ns);
            lines.push(format!("Not counted: {launches} {what}, {time} in all."));
        }
    };
    not_counted(
        &roofline.in_graphs,
        "by graphs, in shapes that no call launches",
    );
    not_counted(
        &roofline.uncounted,
        "in shapes of which the second run counted none",
    );
    if !roofline.missing.is_empty() {
        lines.push(format!(
            "The GPU has no metric {}: what would be counted so is taken for 0.",
            roofline.missing.join(", ")
        ));
    }
    lines.extend(roofline.problems.iter().map(|it| {
        let launches = counted(it.launches, "launch");
        format!("{launches} could not be counted: {}", it.reason)
    }));
    if roofline.unfinished > 0 {
        let processes = counted(roofline.unfinished, "process");
        lines.push(format!(
            "{processes} did not end while it was counted, and may lack launches."
        ));
    }
    lines
}

fn table(kernels: &[KernelRow], whole_ns: f64, width: Width) -> String {
    let header = [
        "Time (%)",
        "Total",
        "Launches",
        "GB/s",
        "GFLOP/s",
        "FLOP/byte",
        "% of roof",
        "Bound",
        "Kernel",
        "Where",
    ];
    let rows = kernels.iter().take(ROWS).map(|row| {
        let number = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), significant);
        let under = row.under.as_ref();
        vec![
            format!("{:.2}", 100.0 * row.total_ns / whole_ns),
            time_text(row.total_ns),
            row.launches.to_string(),
            significant(row.gbytes_per_s),
            number(row.gflop_per_s),
            number(row.flop_per_byte),
            under.map_or_else(
                || "-".to_owned(),
                |it| format!("{:.0} {}", it.percent, it.roof),
            ),
            under.map_or_else(|| "-".to_owned(), |it| it.bound.clone()),
            row.name.clone(),
            row.place.to_string(),
        ]
    });
    let look = Look {
        width,
        is_right: |column| column < 6,
        spare: &["Launches", "Bound", "FLOP/byte"],
    };
    table::text(header.map(str::to_owned).to_vec(), rows, look)
}

/// The advice for the kernels that take the longest.
fn advice(roofline: &Roofline) -> impl Iterator<Item = String> {
    let all: f64 = roofline.kernels.iter().map(|it| it.total_ns).sum();
    let long = roofline.kernels.iter().take(ADVISED);
    let long = long.filter(move |it| it.total_ns >= SHARE * all);
    long.filter_map(|it| Some(format!("  {}: {}", it.name, it.under.as_ref()?.advice)))
}
