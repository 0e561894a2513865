//! Comma-separated values.

use std::io::{self, Write};

use super::{COLUMNS, Report};
use crate::sweep::Record;

pub(super) struct Csv<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> Csv<W> {
    pub(super) fn begin(output: W) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(COLUMNS.map(|(name, _)| name))?;
        writer.flush()?;
        Ok(Csv { writer })
    }
}

impl<W: Write> Report for Csv<W> {
    fn row(&mut self, record: &Record) -> io::Result<()> {
        self.writer
            .write_record(COLUMNS.map(|(_, text)| text(record)))?;
        self.writer.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
