//! The columns of a table of records.

use crate::sweep::Record;

/// A column: its name, and the text of its cell in a row.
pub type Column = (&'static str, fn(&Record) -> String);

/// Name and text of each column. The first five are the roofline exercise's, to the letter:
/// `k,ai,gflops,bandwidth,percent_peak` as `%d,%.6f,%.2f,%.2f,%.2f`. Others come after them.
pub const COLUMNS: [Column; 20] = [
    ("k", |row| row.k.to_string()),
    ("ai", |row| format!("{:.6}", row.ai)),
    ("gflops", |row| format!("{:.2}", row.gflops)),
    ("bandwidth", |row| format!("{:.2}", row.bandwidth)),
    ("percent_peak", |row| format!("{:.2}", row.percent_peak)),
    ("kernel", |row| row.kernel.to_owned()),
    ("dtype", |row| row.dtype.to_owned()),
    ("vector", |row| row.vector.to_string()),
    ("n", |row| row.n.to_string()),
    ("block", |row| row.block.to_string()),
    ("grid", |row| row.grid.to_string()),
    ("mean_ms", |row| format!("{:.6}", row.mean_ms)),
    ("median_ms", |row| format!("{:.6}", row.median_ms)),
    ("min_ms", |row| format!("{:.6}", row.min_ms)),
    ("rms_percent", |row| format!("{:.3}", row.rms_percent)),
    ("limiting_roof", |row| row.limiting_roof.name().to_owned()),
    ("roof_gflops", |row| format!("{:.2}", row.roof_gflops)),
    ("percent_roof", |row| format!("{:.2}", row.percent_roof)),
    ("device", |row| row.device.clone()),
    ("checked", |row| row.checked.to_string()),
];
