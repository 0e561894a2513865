//! A device's ceilings, as a table for people and as rows for programs.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::{Cell, Row};
use crate::ceilings::{Ceiling, Ceilings, Unit};

/// `value` and `datasheet` are in `unit`.
impl Row for Ceiling {
    fn columns(&self) -> Vec<Cell> {
        vec![
            ("quantity", self.quantity.name().to_owned()),
            ("value", format!("{:e}", self.value)),
            ("unit", unit(self.unit).to_owned()),
            ("datasheet", text(self.datasheet, |it| format!("{it:e}"))),
            ("percent", text(self.percent(), |it| format!("{it:.2}"))),
            ("cycles", text(self.cycles, |it| format!("{it:.1}"))),
            (
                "clock_mhz",
                text(self.clock_hz, |it| format!("{:.0}", it / 1e6)),
            ),
            ("median_ms", format!("{:.6}", self.median_ms)),
            (
                "rms_percent",
                text(self.rms_percent, |it| format!("{it:.3}")),
            ),
            ("variant", self.variant.clone()),
            ("device", self.device.clone()),
        ]
    }
}

/// A table for a terminal, and another of the caches' plateaus.
pub fn ceilings_table(ceilings: &Ceilings) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "ceiling",
        "measured",
        "data sheet",
        "%",
        "cycles",
        "MHz",
        "± %",
        "by",
    ]);
    for row in &ceilings.ceilings {
        table.add_row([
            row.quantity.name().to_owned(),
            row.unit.text(row.value),
            text(row.datasheet, |value| row.unit.text(value)),
            text(row.percent(), |value| format!("{value:.1}")),
            text(row.cycles, |value| format!("{value:.1}")),
            text(row.clock_hz, |value| format!("{:.0}", value / 1e6)),
            text(row.rms_percent, |value| format!("{value:.2}")),
            row.variant.clone(),
        ]);
    }
    align_right(&mut table, 1..7);
    let mut sets = Table::new();
    sets.load_style(presets::UTF8_FULL_CONDENSED);
    sets.set_header(["read again after", "in all", "rate"]);
    for set in &ceilings.working_sets {
        sets.add_row([
            size(set.bytes_per_multiprocessor),
            size(set.bytes),
            Unit::BytesPerSec.text(set.bytes_per_sec),
        ]);
    }
    align_right(&mut sets, 0..3);
    let note = if ceilings.emulated {
        "The emulator ran the GPU's kernels on this host: the figures are the host's and no GPU's.\n"
    } else {
        ""
    };
    format!(
        "{}, n = {}\n{note}{table}\nThe same bytes read again and again: a multiprocessor reads so \
         many others in between.\n{sets}",
        ceilings.key.device, ceilings.n
    )
}

/// One object with all that is known; [`crate::ceilings::load`] reads it.
///
/// # Errors
/// It could not be written.
pub fn ceilings_json(ceilings: &Ceilings, mut output: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut output, ceilings)?;
    writeln!(output)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSec => "B/s",
        Unit::FlopsPerSec => "FLOP/s",
        Unit::OpsPerSec => "op/s",
        Unit::Seconds => "s",
    }
}

fn text(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(String::new, text)
}

fn size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let kib = bytes as f64 / KIB;
    if kib < KIB {
        format!("{kib:.0} KiB")
    } else {
        format!("{:.1} MiB", kib / KIB)
    }
}

fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for (i, column) in table.column_iter_mut().enumerate() {
        if columns.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
