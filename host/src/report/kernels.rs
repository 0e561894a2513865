//! Kernels and what they need, as a table for people and as rows for programs.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use cuda_builder::resources::BlockOccupancy;

use crate::kernels::KernelRecord;

/// The blocks whose occupancy the table for people shows; the other formats have them all.
const SHOWN: [u32; 5] = [64, 128, 256, 512, 1024];

/// Name and text of a column of the rows: one row for each kernel, architecture and block.
type Column = (&'static str, fn(&KernelRecord, &BlockOccupancy) -> String);

const COLUMNS: [Column; 15] = [
    ("kernel", |kernel, _| kernel.resources.name.clone()),
    ("arch", |kernel, _| format!("sm_{}", kernel.arch)),
    ("registers", |kernel, _| {
        kernel.resources.registers.to_string()
    }),
    ("static_shared_bytes", |kernel, _| {
        kernel.resources.static_shared_bytes.to_string()
    }),
    ("stack_bytes", |kernel, _| {
        kernel.resources.stack_bytes.to_string()
    }),
    ("spill_store_bytes", |kernel, _| {
        kernel.resources.spill_store_bytes.to_string()
    }),
    ("spill_load_bytes", |kernel, _| {
        kernel.resources.spill_load_bytes.to_string()
    }),
    ("barriers", |kernel, _| {
        kernel.resources.barriers.to_string()
    }),
    ("max_threads", |kernel, _| {
        kernel
            .resources
            .max_threads
            .map_or_else(String::new, |threads| threads.to_string())
    }),
    ("block", |_, block| block.block_threads.to_string()),
    ("blocks_per_multiprocessor", |_, block| {
        block.blocks.to_string()
    }),
    ("active_warps", |_, block| block.active_warps.to_string()),
    ("occupancy_percent", |_, block| {
        format!("{:.2}", 100.0 * block.fraction)
    }),
    ("limited_by", |_, block| block.limited_by.join(" ")),
    ("refused", |_, block| {
        block.refused.clone().unwrap_or_default()
    }),
];

/// A table for a terminal: a row a kernel and architecture.
pub fn kernels_table(records: &[KernelRecord]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let mut header: Vec<String> = [
        "kernel",
        "arch",
        "registers",
        "shared B",
        "stack B",
        "spills B",
    ]
    .map(str::to_owned)
    .to_vec();
    header.extend(SHOWN.map(|threads| format!("{threads}")));
    table.set_header(header);
    for record in records {
        table.add_row(table_row(record));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        if i >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!(
        "{table}\n\nThe last columns: theoretical occupancy in blocks of so many threads, without \
         dynamic shared memory,\nand what limits it: w warps, b blocks, r registers, s shared memory \
         (- such a block cannot run)"
    )
}

fn table_row(record: &KernelRecord) -> Vec<String> {
    let kernel = &record.resources;
    let mut row = vec![
        kernel.name.clone(),
        format!("sm_{}", record.arch),
        kernel.registers.to_string(),
        kernel.static_shared_bytes.to_string(),
        kernel.stack_bytes.to_string(),
        (kernel.spill_store_bytes + kernel.spill_load_bytes).to_string(),
    ];
    row.extend(SHOWN.map(|threads| {
        let block = kernel
            .occupancy
            .iter()
            .find(|block| block.block_threads == threads);
        block.map_or_else(String::new, short)
    }));
    row
}

/// `75% wr`: the resources by their first letters.
fn short(block: &BlockOccupancy) -> String {
    if block.refused.is_some() {
        return "-".to_owned();
    }
    let letters = block
        .limited_by
        .iter()
        .filter_map(|name| name.chars().next());
    format!(
        "{:.0}% {:<2}",
        100.0 * block.fraction,
        letters.collect::<String>()
    )
}

/// Comma-separated values: a row a kernel, architecture and block.
///
/// # Errors
/// They could not be written.
pub fn kernels_csv(records: &[KernelRecord], output: impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS.map(|(name, _)| name))?;
    for row in rows(records) {
        writer.write_record(row)?;
    }
    writer.flush()
}

/// A Markdown table with the rows of [`kernels_csv`].
///
/// # Errors
/// It could not be written.
pub fn kernels_markdown(records: &[KernelRecord], mut output: impl Write) -> io::Result<()> {
    writeln!(output, "| {} |", COLUMNS.map(|(name, _)| name).join(" | "))?;
    writeln!(output, "|{}", "---|".repeat(COLUMNS.len()))?;
    for row in rows(records) {
        writeln!(output, "| {} |", row.join(" | "))?;
    }
    Ok(())
}

/// An array of objects, one a kernel and architecture, with all that is known of it.
///
/// # Errors
/// It could not be written.
pub fn kernels_json(records: &[KernelRecord], mut output: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut output, records)?;
    writeln!(output)
}

fn rows(records: &[KernelRecord]) -> impl Iterator<Item = [String; COLUMNS.len()]> {
    records.iter().flat_map(|record| {
        let blocks = record.resources.occupancy.iter();
        blocks.map(move |block| COLUMNS.map(|(_, text)| text(record, block)))
    })
}
