//! What a recorded program tells, on the terminal and in files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use recording::Recording;
use serde::Serialize;

use super::super::destination::{Destination, Unfinished};
use super::super::files::Files;
use super::super::{Failure, row_format, streams};
use crate::program::{self, Analysis, Program, TableRow};
use crate::report::Format;

/// The ending of the names of recordings.
const ENDING: &str = "rec";

/// The files that are asked for, and what is printed.
pub(in crate::cli) struct Outputs<'a> {
    /// The analysis.
    pub(in crate::cli) json: &'a Option<PathBuf>,
    /// What is printed.
    pub(in crate::cli) printed: &'a row_format::Arguments,
}

/// The files, opened before the program runs: a name that cannot be written shows.
pub(in crate::cli) struct Opened<'a> {
    json: Option<Destination>,
    printed: &'a row_format::Arguments,
}

/// The contents of the JSON file.
#[derive(Serialize)]
struct Document<'a> {
    ridgepoint: &'static str,
    program: &'a Analysis,
}

impl<'a> Outputs<'a> {
    pub(in crate::cli) fn open(self) -> Result<Opened<'a>, Failure> {
        if self.json.is_none() {
            self.printed.refuse_silence()?;
        }
        Files::default().outputs("--json", self.json).check()?;
        let open = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            path.map(|path| Destination::open(path, Unfinished::IsNothing))
                .transpose()
        };
        Ok(Opened {
            json: open(self.json)?,
            printed: self.printed,
        })
    }
}

impl Opened<'_> {
    /// Shows the program of the recordings in this folder.
    pub(in crate::cli) fn show(self, folder: &Path) -> Result<(), Failure> {
        let console = self.printed.console(0);
        console.begin("reading what was recorded".to_owned());
        let directory = env::current_dir().unwrap_or_default();
        let program = Program::of(recordings(folder)?, &directory).map_err(Failure::failed)?;
        let analysis = Analysis::of(&program);
        console.finish();
        let document = Document {
            ridgepoint: env!("CARGO_PKG_VERSION"),
            program: &analysis,
        };
        if self.printed.format() == Some(Format::Json) {
            let text = serde_json::to_string_pretty(&document).map_err(Failure::failed)?;
            streams::print(format!("{text}\n").as_bytes());
        } else {
            let rows: Vec<TableRow<'_>> = TableRow::all(&analysis).collect();
            let text = |width| program::text(&analysis, width);
            self.printed.show(&rows, &console, text)?;
        }
        if let Some(json) = self.json {
            json.write_whole(|file| Ok(serde_json::to_writer_pretty(file, &document)?))?;
        }
        Ok(())
    }
}

/// The recordings of a folder, by their names.
fn recordings(folder: &Path) -> Result<Vec<Recording>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::Failed(format!("cannot read {}: {error}", folder.display()))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|it| it == ENDING) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &PathBuf| Recording::read(path).map_err(Failure::failed);
    paths.iter().map(read).collect()
}
