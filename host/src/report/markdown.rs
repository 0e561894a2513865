//! A Markdown table.

use std::io::{self, Write};

use super::{COLUMNS, Report};
use crate::sweep::Record;

pub(super) struct Markdown<W: Write> {
    output: W,
}

impl<W: Write> Markdown<W> {
    pub(super) fn begin(mut output: W) -> io::Result<Self> {
        writeln!(output, "| {} |", COLUMNS.map(|(name, _)| name).join(" | "))?;
        writeln!(output, "|{}", "---|".repeat(COLUMNS.len()))?;
        output.flush()?;
        Ok(Markdown { output })
    }
}

impl<W: Write> Report for Markdown<W> {
    fn row(&mut self, record: &Record) -> io::Result<()> {
        let cells = COLUMNS.map(|(_, text)| text(record).replace('|', "\\|"));
        writeln!(self.output, "| {} |", cells.join(" | "))?;
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
