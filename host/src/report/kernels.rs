//! Kernels and what they need, as a table for people and as rows for programs.

use std::io::{self, Write};

use cuda_builder::resources::BlockOccupancy;

use super::Format;
use crate::kernels::KernelRecord;
use crate::table;

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
    let table = table::text(header, records.iter().map(table_row), |column| column >= 2);
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

/// A row a kernel, architecture and block; of JSON an object a kernel and architecture, with all that is
/// known of it.
///
/// # Errors
/// They could not be written.
pub fn kernels_rows(
    records: &[KernelRecord],
    format: Format,
    mut output: impl Write,
) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer_pretty(&mut output, records)?;
        return writeln!(output);
    }
    let names = COLUMNS.map(|(name, _)| name);
    output.write_all(&table::head(names, format)?)?;
    for row in rows(records) {
        let cells = row.iter().map(String::as_str);
        output.write_all(&table::line(cells, format)?)?;
    }
    Ok(())
}

fn rows(records: &[KernelRecord]) -> impl Iterator<Item = [String; COLUMNS.len()]> {
    records.iter().flat_map(|record| {
        let blocks = record.resources.occupancy.iter();
        blocks.map(move |block| COLUMNS.map(|(_, text)| text(record, block)))
    })
}
