//! Occupancy, computed and measured, as text for people.

use super::predicted::{Both, Predicted, agreement};
use super::{Cell, Row, counted};
use crate::driver::DeviceProperties;
use crate::model::{OccupancyRow, Relief};
use crate::sweep::occupancy::{OccupancyRecord, best_blocks, knees, reached};
use crate::table::{self, Look, Width, cell, known, number};

impl Row for OccupancyRow {
    fn columns(&self) -> Vec<Cell> {
        vec![
            cell("arch", format!("sm_{}", self.arch)),
            cell("registers", self.registers),
            cell("shared_bytes", self.shared_bytes),
            cell("block", self.block),
            cell("resident_blocks", self.resident_blocks),
            cell("active_warps", self.active_warps),
            number("occupancy_percent", self.percent()),
            cell("limited_by", self.limited_by.join(" ")),
            known(
                "one_more_registers",
                self.one_more.and_then(|it| it.registers),
            ),
            known(
                "one_more_shared_bytes",
                self.one_more.and_then(|it| it.shared_bytes),
            ),
            known("refused", self.refused.as_ref()),
        ]
    }
}

/// A table for a terminal: a row per block.
pub fn model_table(rows: &[OccupancyRow], width: Width) -> String {
    let header = [
        "arch",
        "registers",
        "shared",
        "block",
        "blocks",
        "warps",
        "occupancy",
        "limited by",
        "one more block with",
    ];
    let rows = rows.iter().map(|row| {
        let limit = match &row.refused {
            Some(reason) => format!("refused: {reason}"),
            None => row.limited_by.join(", ").replace('_', " "),
        };
        [
            format!("sm_{}", row.arch),
            row.registers.to_string(),
            kib(row.shared_bytes),
            row.block.to_string(),
            row.resident_blocks.to_string(),
            format!("{} of {}", row.active_warps, row.max_warps),
            format!("{:.1} %", row.percent()),
            limit,
            row.one_more.map_or_else(String::new, relief_text),
        ]
    });
    let look = Look {
        width,
        is_right: |column| (1..7).contains(&column),
        spare: &["one more block with", "shared", "warps"],
    };
    let table = table::text(header, rows, look);
    format!("{table}\nblocks and warps: those that a multiprocessor holds at once.")
}

fn relief_text(relief: Relief) -> String {
    let registers = relief.registers.map(|it| format!("{it} registers"));
    let shared = relief.shared_bytes.map(kib);
    let parts: Vec<String> = [registers, shared].into_iter().flatten().collect();
    parts.join(" and ")
}

fn kib(bytes: u32) -> String {
    format!("{} KiB", f64::from(bytes) / 1024.0)
}

/// Two lines for a point: what runs at once, and what came out.
pub fn study_text(record: &OccupancyRecord) -> String {
    let driver = record.driver_blocks.map_or_else(String::new, |blocks| {
        match blocks == record.resident_blocks {
            true => ", as the driver says".to_owned(),
            false => format!(", but the driver says {blocks}"),
        }
    });
    let predicted = Predicted::of_study(record);
    let is_predicted = is_of_emulator(record) && predicted.is_some();
    let flagged = match record.flags[..] {
        _ if is_predicted => String::new(),
        [] => String::new(),
        _ => format!("  flagged: {}", record.flags.join(", ")),
    };
    let limit = record.max_registers.map_or_else(String::new, |limit| {
        let local = record.local_bytes.unwrap_or(0);
        format!(", at most {limit} registers and so {local} bytes of local memory per thread")
    });
    let axes = record.axes.0.iter();
    let axes = axes.filter_map(|(name, value)| Some(format!(" {name} = {}", value.as_ref()?)));
    let ceiling = record.percent_ceiling.map_or_else(String::new, |percent| {
        format!(", {percent:.1} % of the ceiling")
    });
    // The host's speed says nothing of a launch whose time on a GPU is predicted.
    let speed = match predicted {
        Some(it) if is_predicted => {
            let gpu = record.predicted_gpu.as_deref().unwrap_or_default();
            format!("predicted for {gpu}: {}{}", it.text(), of_model(record))
        }
        _ => format!(
            "{:.1} {} ± {:.1} %{ceiling}",
            record.rate, record.unit, record.rms_percent
        ),
    };
    let beside = match (predicted, &record.not_modelled) {
        (Some(it), _) if !is_of_emulator(record) => {
            let error =
                Both::of_study(record).map_or_else(String::new, |it| format!(" ({})", it.error()));
            format!(
                "\n    predicted time: {}{error}{}",
                it.text(),
                of_model(record)
            )
        }
        (None, Some(reason)) => format!("\n    time not predicted: {reason}"),
        _ => String::new(),
    };
    let in_flight = record.in_flight.map_or_else(String::new, |it| {
        let needed = match is_of_emulator(record) {
            true => String::new(),
            false => format!(", {:.0} needed", it.needed),
        };
        format!("  {:.0} {} in flight{needed}", it.provided, it.unit)
    });
    format!(
        "{}{}  block = {:4}  {:3.0} % occupancy: {} per multiprocessor{driver}, limited by \
         {}{limit}\n    {speed}{in_flight}  {:.2} waves, {:.0} % idle in the last{flagged}{beside}",
        record.kernel,
        axes.collect::<String>(),
        record.block,
        record.occupancy_percent,
        counted(record.resident_blocks.into(), "block"),
        table::listed(&record.limited_by).replace('_', " "),
        record.waves,
        record.tail_percent,
    )
}

/// `, 163.8 GB/s, limited by latency`
fn of_model(record: &OccupancyRecord) -> String {
    let rate = record.model_rate;
    let rate = rate.map_or_else(String::new, |it| format!(", {it:.1} {}", record.unit));
    let limit = record.model_limit.as_deref();
    format!("{rate}, limited by {}", limit.unwrap_or_default())
}

/// How little occupancy is enough for each kernel, and whether Little's law says so.
pub(super) fn study_findings(records: &[OccupancyRecord]) -> Vec<String> {
    let is_emulated = records.iter().any(is_of_emulator);
    let best = best_blocks(records, is_emulated).into_iter();
    let best = best.map(|it| it.to_string());
    let predicted = predicted_rates(records).filter(|_| is_emulated);
    // Nor does the host's speed say how little occupancy a GPU needs.
    let knees: Vec<String> = match predicted {
        Some(predicted) => {
            let knees = knees(&predicted).into_iter();
            knees.map(|it| format!("{it}, predicted")).collect()
        }
        None => knees(records).iter().map(ToString::to_string).collect(),
    };
    let of_gpus = reached(records).into_iter();
    // The latency and the rate of an emulator's host are not those of the launch.
    let of_gpus = of_gpus.filter(|_| !is_emulated);
    let reached = of_gpus.map(|it| it.to_string());
    let both: Vec<Both> = records.iter().filter_map(Both::of_study).collect();
    let findings = knees.into_iter().chain(reached).chain(best);
    findings.chain(agreement(&both)).collect()
}

/// The rows whose time is predicted, with the rates that it makes in the place of those that the device reached; `None` where there are none.
fn predicted_rates(records: &[OccupancyRecord]) -> Option<Vec<OccupancyRecord>> {
    let of = |row: &OccupancyRecord| {
        Some(OccupancyRecord {
            rate: row.model_rate?,
            ..row.clone()
        })
    };
    let rows: Vec<OccupancyRecord> = records.iter().filter_map(of).collect();
    (!rows.is_empty()).then_some(rows)
}

pub(super) fn is_of_emulator(record: &OccupancyRecord) -> bool {
    record.device.contains(DeviceProperties::EMULATOR)
}

/// These findings, and where model and driver differ.
pub fn study_summary(records: &[OccupancyRecord]) -> String {
    let mut lines = study_findings(records);
    let differ = |record: &&OccupancyRecord| {
        record
            .driver_blocks
            .is_some_and(|blocks| blocks != record.resident_blocks)
    };
    match records.iter().filter(differ).count() {
        0 => {}
        count => lines.push(format!(
            "warning: in {} the driver allows another number of blocks than the model",
            counted(count as u64, "row")
        )),
    }
    format!("\n{}\n", lines.join("\n"))
}
