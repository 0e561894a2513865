//! `--format` and `--quiet` of the commands whose results go to standard output.

use std::io;
use std::str::FromStr;

use clap::Args;
use serde::Serialize;

use super::console::{Console, Target};
use super::{Failure, streams};
use crate::report::{Format, RowText, Width, row_text};

#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Format of the rows: table, csv, json or md [default: table]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Shown>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Text for people.
    Table,
    Rows(Format),
}

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "table" => Ok(Shown::Table),
            text => {
                let rows = text.parse().map(Shown::Rows);
                rows.map_err(|_| "expected table, csv, json or md".to_owned())
            }
        }
    }
}

impl Arguments {
    /// The format of rows for programs, where they are asked for.
    pub(super) fn format(&self) -> Option<Format> {
        match self.format {
            Some(Shown::Rows(format)) => Some(format),
            Some(Shown::Table) | None => None,
        }
    }

    /// Where text for people goes: not between the rows.
    pub(super) fn target(&self) -> Target {
        match (self.quiet, self.format()) {
            (true, _) => Target::Nothing,
            (false, Some(_)) => Target::Stderr,
            (false, None) => Target::Stdout,
        }
    }

    /// A console for that text, with a progress bar of `steps`.
    pub(super) fn console(&self, steps: u64) -> Console {
        Console::new(self.target(), steps)
    }

    /// Refuses `--quiet` where nothing would be left of a command that changes nothing and always ends with 0.
    pub(super) fn refuse_silence(&self) -> Result<(), Failure> {
        match (self.quiet, self.format()) {
            (true, None) => Err(Failure::Usage(
                "--quiet would leave nothing of the results: add --format csv, json or md"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Shows the rows in the format that was asked for, or else the table.
    pub(super) fn show<R: Serialize>(
        &self,
        rows: &[R],
        console: &Console,
        table: impl FnOnce(Width) -> String,
    ) -> Result<(), Failure> {
        match self.format() {
            None => console.say(&table(console.width())),
            Some(Format::Json) if rows.is_empty() => streams::say("[]"),
            Some(format) => {
                let rows = rows.iter().enumerate();
                print(rows.map(|(index, row)| row_text(row, format, index)))?;
            }
        }
        Ok(())
    }
}

/// Prints rows, for programs.
pub(super) fn print(rows: impl Iterator<Item = io::Result<RowText>>) -> Result<(), Failure> {
    let mut tail = "";
    for row in rows {
        let row = row.map_err(Failure::failed)?;
        streams::print(&row.text);
        tail = row.tail;
    }
    streams::print(tail.as_bytes());
    Ok(())
}
