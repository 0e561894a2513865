//! Kernels and what they need, as a table for people and as rows for programs.

use std::io::{self, Write};

use cuda_builder::resources::BlockOccupancy;

use super::{Cell, Format};
use crate::kernels::KernelRecord;
use crate::table::{self, Look, Width, cell, known, number};

/// The blocks whose occupancy the table for people shows; the other formats have them all.
const SHOWN: [u32; 5] = [64, 128, 256, 512, 1024];

/// A table for a terminal: a row per kernel and architecture.
pub fn kernels_table(records: &[KernelRecord], width: Width) -> String {
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
    let look = Look {
        width,
        is_right: |column| column >= 2,
        spare: &[
            "stack B", "shared B", "64", "512", "1024", "128", "spills B",
        ],
    };
    let table = table::text(header, records.iter().map(table_row), look);
    let room = match width {
        Width::Any => Width::Columns(100),
        room => room,
    };
    let note = "The columns 64 to 1024: theoretical occupancy in blocks of that many threads, without dynamic \
                shared memory, and what limits it: w warps, b blocks, r registers, s shared memory. A block with - \
                cannot run.";
    format!("{table}\n\n{}", room.fold(note))
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

/// `75 % wr`: the resources by their first letters.
fn short(block: &BlockOccupancy) -> String {
    if block.refused.is_some() {
        return "-".to_owned();
    }
    let letters = block
        .limited_by
        .iter()
        .filter_map(|name| name.chars().next());
    format!(
        "{:.0} % {:<2}",
        100.0 * block.fraction,
        letters.collect::<String>()
    )
}

/// A row per kernel, architecture and block; of JSON an object per kernel and architecture, with all that is
/// known of it.
///
/// # Errors
/// Errors of `output` ([`io::Error`]) when it is written to.
pub fn kernels_rows(
    records: &[KernelRecord],
    format: Format,
    mut output: impl Write,
) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer_pretty(&mut output, records)?;
        return writeln!(output);
    }
    let blocks = records.iter().flat_map(|record| {
        let blocks = record.resources.occupancy.iter();
        blocks.map(move |block| columns(record, block))
    });
    for (index, columns) in blocks.enumerate() {
        let names = columns.iter().map(|(name, _)| *name);
        let cells = columns.iter().map(|(_, cell)| cell.as_str());
        output.write_all(&table::row(names, cells, format, index)?)?;
    }
    Ok(())
}

fn columns(record: &KernelRecord, block: &BlockOccupancy) -> Vec<Cell> {
    let kernel = &record.resources;
    vec![
        cell("kernel", &kernel.name),
        cell("arch", format!("sm_{}", record.arch)),
        cell("registers", kernel.registers),
        cell("static_shared_bytes", kernel.static_shared_bytes),
        cell("stack_bytes", kernel.stack_bytes),
        cell("spill_store_bytes", kernel.spill_store_bytes),
        cell("spill_load_bytes", kernel.spill_load_bytes),
        cell("barriers", kernel.barriers),
        known("max_threads", kernel.max_threads),
        cell("block", block.block_threads),
        cell("blocks_per_multiprocessor", block.blocks),
        cell("active_warps", block.active_warps),
        number("occupancy_percent", 100.0 * block.fraction),
        cell("limited_by", block.limited_by.join(" ")),
        known("refused", block.refused.as_ref()),
    ]
}
