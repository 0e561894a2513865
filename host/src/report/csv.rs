//! Comma-separated values.

use std::io::{self, Write};

use super::columns::{cells, names};
use super::{Report, Row};

pub(super) struct Csv<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> Csv<W> {
    pub(super) fn begin<R: Row>(output: W) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(names::<R>())?;
        writer.flush()?;
        Ok(Csv { writer })
    }
}

impl<W: Write, R: Row> Report<R> for Csv<W> {
    fn row(&mut self, record: &R) -> io::Result<()> {
        self.writer.write_record(cells(record))?;
        self.writer.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
