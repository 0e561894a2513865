//! Profiles of recorded programs, on the terminal and in files.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use recording::Recording;
use serde::Serialize;

use super::super::charts::ChartFiles;
use super::super::destination::{Destination, Unfinished};
use super::super::files::Files;
use super::super::option_values::refuse_without_effect;
use super::super::{Failure, roofs, row_format, streams};
use super::program::COUNTED;
use crate::model::GpuRoofs;
use crate::program::{self, Analysis, Counts, Program, Roofline, TableRow};
use crate::report::{ChartFormat, Format, ProgramChart, row_text};

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
    /// The roofline of counted kernels.
    pub(in crate::cli) plot: &'a [PathBuf],
    /// The roofs that were named.
    pub(in crate::cli) roofs: &'a roofs::Arguments,
    /// The options of printed rows.
    pub(in crate::cli) printed: &'a row_format::Arguments,
}

/// The files, opened before the program runs: a name that cannot be written shows.
pub(in crate::cli) struct Opened<'a> {
    json: Option<Destination>,
    page: Option<Destination>,
    timeline: Option<Destination>,
    csv: Option<Destination>,
    plot: ChartFiles,
    roofs: &'a roofs::Arguments,
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
        if files.iter().all(|it| it.is_none()) && self.plot.is_empty() {
            self.printed.refuse_silence()?;
        }
        let files = Files::default().outputs("--json", self.json);
        let files = files.outputs("--page", self.page);
        let files = files.outputs("--timeline", self.timeline);
        let files = files.outputs("--csv", self.csv);
        files.outputs("--plot", self.plot).check()?;
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
            plot: ChartFiles::open(self.plot)?,
            roofs: self.roofs,
            printed: self.printed,
        })
    }
}

impl Opened<'_> {
    /// Places the program's kernels under roofs, where they were counted. Returns the GPU whose roofs these are.
    fn roofline(
        &self,
        program: &Program,
        analysis: &mut Analysis,
        folder: &Path,
    ) -> Result<Option<GpuRoofs>, Failure> {
        let counted = folder.join(COUNTED);
        if !counted.is_dir() {
            refuse_without_effect(
                &[("--roofs", self.roofs.is_given())],
                "where no kernel was counted",
            )?;
            return Ok(None);
        }
        let counts = Counts::of(&recordings(&counted)?);
        let gpu = match self.roofs.is_given() {
            true => Some(self.roofs.gpu()),
            false => Roofline::own_roofs(program),
        };
        analysis.roofline = Some(Roofline::of(program, &counts, gpu.as_ref()));
        Ok(gpu)
    }

    /// Shows the program of the recordings in this folder.
    pub(in crate::cli) fn show(self, folder: &Path) -> Result<(), Failure> {
        let console = self.printed.console(0);
        console.begin("reading what was recorded".to_owned());
        let directory = env::current_dir().unwrap_or_default();
        let program = Program::of(recordings(folder)?, &directory).map_err(Failure::failed)?;
        let mut analysis = Analysis::of(&program);
        let gpu = self.roofline(&program, &mut analysis, folder)?;
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
        let commands = analysis.processes.iter().map(|it| it.command.join(" "));
        let title = commands.collect::<Vec<_>>().join("; ");
        let chart = analysis.roofline.as_ref().zip(gpu.as_ref());
        let chart = chart.map(|(roofline, gpu)| ProgramChart {
            title: &title,
            roofline,
            gpu,
        });
        if let Some(page) = self.page {
            // Names of files are relative to the current directory, as `Program::of` was told.
            let read = |file: &str| fs::read_to_string(file).ok();
            let svg = chart.as_ref().filter(|it| !it.is_empty()).map(svg);
            let svg = svg.transpose()?;
            let html = program::page(&program, &analysis, svg.as_deref(), &read);
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
        match chart {
            Some(chart) => self.plot.write(&console, &chart)?,
            None if self.plot.are_wanted() => console.warn(match analysis.roofline {
                Some(_) => {
                    "no chart: no roofs of the GPU are known; --roofs names a file of its ceilings"
                }
                None => "no chart: no kernel was counted",
            }),
            None => {}
        }
        Ok(())
    }
}

/// The chart as text.
fn svg(chart: &ProgramChart<'_>) -> Result<String, Failure> {
    let mut svg = Vec::new();
    let written = chart.write(ChartFormat::Svg, &mut svg);
    written.map_err(Failure::failed)?;
    String::from_utf8(svg).map_err(Failure::failed)
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
