//! Text for people.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::roofs::memory_name;
use crate::driver::DeviceProperties;
use crate::model::{Limit, Precision, Roofs};
use crate::sweep::{NOISY_PERCENT, PLAUSIBLE_PERCENT, Record, by_series};

/// Text from a file, such that a terminal shows its control characters and does not obey them.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|letter| match letter.is_control() {
        true => letter.escape_debug().to_string(),
        false => letter.to_string(),
    });
    Cow::Owned(shown.collect())
}

/// Two lines for a point: what it is, and what came out.
pub fn point(record: &Record) -> String {
    let noise = match record.flags[..] {
        [] => String::new(),
        _ if record.rms_percent > NOISY_PERCENT => {
            format!(
                "  warning: RMS deviation above {NOISY_PERCENT} %; {}",
                record.flags.join(", ")
            )
        }
        _ => format!("  flagged: {}", record.flags.join(", ")),
    };
    let measured = record
        .percent_measured_roof
        .map_or_else(String::new, |percent| {
            let above = match percent > PLAUSIBLE_PERCENT {
                true => {
                    ": more than that roof allows; were the ceilings measured with a smaller --n?"
                }
                false => "",
            };
            format!(", {percent:.1} % of the measured one{above}")
        });
    format!(
        "k = {:4}  AI = {:8.3} FLOP/byte  {} {}, {} x {} a thread, {} blocks of {}\n    \
         {:.4} ms ± {:.1} %  {:.1} GFLOP/s  {:.1} GB/s  {:.2} % of peak, {:.1} % of the {} \
         roof{measured}{noise}\n    bound by {}: {}",
        record.k,
        record.ai,
        record.kernel,
        record.dtype,
        record.ilp,
        record.vector,
        record.grid,
        record.block,
        record.mean_ms,
        record.rms_percent,
        record.gflops,
        record.bandwidth,
        record.percent_peak,
        record.percent_roof,
        record.limiting_roof.name(),
        record.bound.name(),
        record.advice,
    )
}

/// What the roofs are.
pub fn roofs(facts: &DeviceProperties, roofs: &BTreeMap<Precision, Roofs>) -> String {
    let mut text = String::new();
    let source = if facts.is_emulated() {
        ", measured on this host"
    } else {
        ""
    };
    for (precision, roofs) in roofs {
        let _ = writeln!(
            text,
            "{} roofs{source}: {} {}, FMA {}, add+mul {}\n\
             ridge point: {:.3} FLOP/byte under the FMA roof, {:.3} under the add+mul roof",
            precision.name(),
            memory_name(facts),
            roofs.memory,
            roofs.ceiling(Limit::Fma),
            roofs.ceiling(Limit::AddMul),
            roofs.ridge_point(Limit::Fma).0,
            roofs.ridge_point(Limit::AddMul).0,
        );
    }
    text
}

/// A table with a row for each kernel and launch: its best rate and bandwidth, and its ceiling.
pub fn summary(records: &[Record]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "kernel",
        "dtype",
        "vector",
        "ILP",
        "n",
        "block",
        "grid",
        "best GB/s",
        "best GFLOP/s",
        "at k",
        "ceiling",
        "% of its roof",
    ]);
    for (series, members) in by_series(records) {
        let fastest = members
            .iter()
            .copied()
            .max_by(|a, b| a.gflops.total_cmp(&b.gflops));
        let widest = members
            .iter()
            .map(|record| record.bandwidth)
            .fold(0.0, f64::max);
        let Some(fastest) = fastest else { continue };
        table.add_row([
            series.kernel.to_owned(),
            series.dtype.to_owned(),
            series.vector.to_string(),
            series.ilp.to_string(),
            series.n.to_string(),
            series.block.to_string(),
            series.grid.to_string(),
            format!("{widest:.1}"),
            format!("{:.1}", fastest.gflops),
            fastest.k.to_string(),
            ceiling(series.kernel).to_owned(),
            format!("{:.1}", fastest.percent_roof),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{table}\nFMA ceiling: each step is one fused multiply-add. add+mul ceiling: the step's add \
         and multiply cannot fuse, which on a GPU leaves half of the FMA rate.\n"
    )
}

fn ceiling(kernel: &str) -> &'static str {
    match kernel {
        "horner" => "FMA",
        _ => "add+mul",
    }
}
