//! Profiles of recorded programs, on the terminal and in files.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use recording::Recording;
use serde::Serialize;

use super::super::destination::{Destination, Unfinished};
use super::super::files::Files;
use super::super::{Failure, row_format, streams};
use crate::program::{self, Analysis, Program, TableRow};
use crate::report::{Format, row_text};

/// The ending of the names of recordings.
const ENDING: &str = "rec";

/// The files that are asked for, and what is printed.
pub(in crate::cli) struct Outputs<'a> {
    /// The analysis.
    pub(in crate::cli) json: &'a Option<PathBuf>,
    /// The page.
    pub(in crate::cli) page: &'a Option<PathBuf>,
    /// The timeline.
    pub(in crate::cli) timeline: &'a Option<PathBuf>,
    /// The rows of both tables.
    pub(in crate::cli) csv: &'a Option<PathBuf>,
    /// The options of printed rows.
    pub(in crate::cli) printed: &'a row_format::Arguments,
}

/// The files, opened before the program runs: a name that cannot be written shows.
pub(in crate::cli) struct Opened<'a> {
    json: Option<Destination>,
    page: Option<Destination>,
    timeline: Option<Destination>,
    csv: Option<Destination>,
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
        let files = [self.json, self.page, self.timeline, self.csv];
        if files.iter().all(|it| it.is_none()) {
            self.printed.refuse_silence()?;
        }
        let files = Files::default().outputs("--json", self.json);
        let files = files.outputs("--page", self.page);
        let files = files.outputs("--timeline", self.timeline);
        files.outputs("--csv", self.csv).check()?;
        let open = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            path.map(|path| Destination::open(path, Unfinished::IsNothing))
                .transpose()
        };
        Ok(Opened {
            json: open(self.json)?,
            page: open(self.page)?,
            timeline: open(self.timeline)?,
            csv: open(self.csv)?,
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
        let rows: Vec<TableRow<'_>> = TableRow::all(&analysis).collect();
        if self.printed.format() == Some(Format::Json) {
            let text = serde_json::to_string_pretty(&document).map_err(Failure::failed)?;
            streams::print(format!("{text}\n").as_bytes());
        } else {
            let text = |width| program::text(&analysis, width);
            self.printed.show(&rows, &console, text)?;
        }
        if let Some(json) = self.json {
            json.write_whole(|file| Ok(serde_json::to_writer_pretty(file, &document)?))?;
        }
        if let Some(page) = self.page {
            // Names of files are relative to the current directory, as `Program::of` was told.
            let read = |file: &str| fs::read_to_string(file).ok();
            let html = program::page(&program, &analysis, &read);
            page.write_whole(|file| file.write_all(html.as_bytes()))?;
        }
        if let Some(timeline) = self.timeline {
            let write =
                |file: &mut dyn Write| program::write_timeline(&program, &analysis.story, file);
            timeline.write_whole(write)?;
        }
        if let Some(csv) = self.csv {
            csv.write_whole(|file| {
                for (index, row) in rows.iter().enumerate() {
                    file.write_all(&row_text(row, Format::Csv, index)?.text)?;
                }
                Ok(())
            })?;
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
