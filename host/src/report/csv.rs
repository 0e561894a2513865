//! Comma-separated values.

use std::io;

/// A line of these cells, for the first row after that of the column names.
pub(super) fn row(names: &[&str], cells: &[String], index: usize) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if index == 0 {
        writer.write_record(names)?;
    }
    writer.write_record(cells)?;
    writer.into_inner().map_err(|error| error.into_error())
}
