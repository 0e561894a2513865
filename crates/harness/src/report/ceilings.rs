//! A device's ceilings, as a table for people and as rows for programs.

use std::io::{self, Write};

use super::{Cell, Row};
use crate::ceilings::{Busy, Ceiling, Ceilings, IMPLAUSIBLE, PLAUSIBLE_PERCENT, Unit};
use crate::table::{self, Look, Width, cell, known, number};

/// `value` and `datasheet` are in `unit`.
impl Row for Ceiling {
    fn columns(&self) -> Vec<Cell> {
        vec![
            cell("quantity", self.quantity.name()),
            cell("value", format!("{:e}", self.value)),
            cell("unit", unit(self.unit)),
            known("datasheet", self.datasheet.map(|it| format!("{it:e}"))),
            known("percent", self.percent().map(|it| format!("{it:.2}"))),
            known("cycles", self.cycles.map(|it| format!("{it:.1}"))),
            number("clock_mhz", self.clock_hz.map(|it| it / 1e6)),
            number("median_ms", self.median_ms),
            number("rms_percent", self.rms_percent),
            cell("variant", &self.variant),
            cell("device", &self.device),
            cell("flags", flag(self.is_implausible())),
            cell("format", table::FORMAT),
        ]
    }
}

/// A table for a terminal, and another of the caches' plateaus.
pub fn ceilings_table(ceilings: &Ceilings, width: Width) -> String {
    let header = [
        "ceiling",
        "measured",
        "data sheet",
        "%",
        "cycles",
        "MHz",
        "± %",
        "by",
        "flags",
    ];
    let rows = ceilings.ceilings.iter().map(|row| {
        [
            row.quantity.name().to_owned(),
            row.unit.text(row.value),
            text(row.datasheet, |value| row.unit.text(value)),
            text(row.percent(), |value| format!("{value:.1}")),
            text(row.cycles, |value| format!("{value:.1}")),
            text(row.clock_hz, |value| format!("{:.0}", value / 1e6)),
            text(row.rms_percent, |value| format!("{value:.2}")),
            row.variant.clone(),
            flag(row.is_implausible()).to_owned(),
        ]
    });
    let look = Look {
        width,
        is_right: |column| (1..7).contains(&column),
        spare: &["by", "MHz", "cycles", "± %", "data sheet"],
    };
    let table = table::text(header, rows, look);
    let sets = ceilings.working_sets.iter().map(|set| {
        [
            size(set.bytes_per_multiprocessor),
            size(set.bytes),
            Unit::BytesPerSec.text(set.bytes_per_sec),
        ]
    });
    let look = Look {
        width,
        is_right: |_| true,
        spare: &[],
    };
    let header = ["bytes per multiprocessor", "bytes in all", "rate"];
    let sets = table::text(header, sets, look);
    let loads = ceilings.under_load.iter().map(|it| {
        [
            it.quantity.name().to_owned(),
            size(it.bytes_in_flight as u64),
            Unit::BytesPerSec.text(it.bytes_per_sec),
            Unit::Seconds.text(it.latency),
        ]
    });
    let look = Look {
        width,
        is_right: |column| column > 0,
        spare: &[],
    };
    let header = ["stream", "in flight per multiprocessor", "read", "latency"];
    let loads = table::text(header, loads, look);
    let busy = ceilings.busy.iter().map(|it| {
        [
            it.quantity.name().to_owned(),
            it.readers.to_string(),
            Unit::BytesPerSec.text(it.bytes_per_sec),
            format!("{:.0}", 100.0 * it.share),
            Unit::Seconds.text(it.latency),
            flag(it.is_implausible()).to_owned(),
        ]
    });
    let look = Look {
        width,
        is_right: |column| column > 0,
        spare: &[],
    };
    let header = [
        "chase",
        "blocks that read",
        "read",
        "% of ceiling",
        "latency",
        "flags",
    ];
    let busy = table::text(header, busy, look);
    let mut note = String::new();
    if ceilings.emulated {
        note += "The emulator ran the GPU's kernels on this host: the figures are this host's, not a GPU's.\n";
    }
    let is_flagged = ceilings.ceilings.iter().any(Ceiling::is_implausible)
        || ceilings.busy.iter().any(Busy::is_implausible);
    if is_flagged {
        note += &format!(
            "{IMPLAUSIBLE}: more than {PLAUSIBLE_PERCENT:.0} % of the data sheet, or of the ceiling of what is read.\n"
        );
    }
    format!(
        "{}, n = {}\n{note}{table}\nRates of reading the same bytes again, by how many bytes a \
         multiprocessor reads in between.\n{sets}\nMemory under load: latency is what is in flight, divided by the \
         rate (Little's law).\n{loads}\nA chase of one thread beside blocks that read the same memory or cache.\n{busy}",
        ceilings.key.device, ceilings.n
    )
}

/// One object with all that is known; [`crate::ceilings::load`] reads it.
///
/// # Errors
/// Errors of `output` ([`io::Error`]) when it is written to.
pub fn ceilings_json(ceilings: &Ceilings, mut output: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut output, ceilings)?;
    writeln!(output)
}

fn flag(is_implausible: bool) -> &'static str {
    match is_implausible {
        true => IMPLAUSIBLE,
        false => "",
    }
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
