//! One JSON object: what is needed to repeat the run, and the rows with every sample.

use std::io::{self, Write};

use super::{Report, Row, RunFacts};

pub(super) struct Json<W: Write> {
    output: W,
    rows: usize,
}

impl<W: Write> Json<W> {
    pub(super) fn begin(mut output: W, run: &RunFacts) -> io::Result<Self> {
        write!(
            output,
            "{{\"run\": {},\n\"rows\": [",
            serde_json::to_string_pretty(run)?
        )?;
        output.flush()?;
        Ok(Json { output, rows: 0 })
    }
}

impl<W: Write, R: Row> Report<R> for Json<W> {
    fn row(&mut self, record: &R) -> io::Result<()> {
        let separator = if self.rows == 0 { "" } else { "," };
        write!(
            self.output,
            "{separator}\n{}",
            serde_json::to_string(record)?
        )?;
        self.rows += 1;
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.write_all(b"\n]}\n")?;
        self.output.flush()
    }
}
