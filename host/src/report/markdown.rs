//! A Markdown table.

use std::io::{self, Write};

use super::columns::{cells, names};
use super::{Report, Row};

pub(super) struct Markdown<W: Write> {
    output: W,
}

impl<W: Write> Markdown<W> {
    pub(super) fn begin<R: Row>(mut output: W) -> io::Result<Self> {
        let names: Vec<&str> = names::<R>().collect();
        writeln!(output, "| {} |", names.join(" | "))?;
        writeln!(output, "|{}", "---|".repeat(names.len()))?;
        output.flush()?;
        Ok(Markdown { output })
    }
}

impl<W: Write, R: Row> Report<R> for Markdown<W> {
    fn row(&mut self, record: &R) -> io::Result<()> {
        let cells: Vec<String> = cells(record).map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(self.output, "| {} |", cells.join(" | "))?;
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
