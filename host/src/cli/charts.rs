//! Files that charts go to.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::console::Console;
use super::{Failure, cannot_write};
use crate::report::{ChartError, ChartFormat, HtmlReport};

/// Files that are opened before anything is measured, so that a name that cannot be written shows.
pub(super) struct ChartFiles<'a>(Vec<(&'a Path, ChartFormat, File)>);

impl<'a> ChartFiles<'a> {
    pub(super) fn open(paths: &'a [PathBuf]) -> Result<Self, Failure> {
        let open = |path: &'a PathBuf| {
            let format = ChartFormat::of(path).unwrap_or(ChartFormat::Svg);
            let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
            Ok((path.as_path(), format, file))
        };
        paths
            .iter()
            .map(open)
            .collect::<Result<_, _>>()
            .map(ChartFiles)
    }

    /// Writes the same chart to each.
    pub(super) fn write(
        self,
        console: &Console,
        draw: impl Fn(ChartFormat, File) -> Result<(), ChartError>,
    ) -> Result<(), Failure> {
        for (path, format, file) in self.0 {
            draw(format, file).map_err(|error| cannot_write(path, &*error))?;
            console.say(&format!("Chart: {}", path.display()));
        }
        Ok(())
    }
}

/// Writes the HTML report, where one was asked for.
pub(super) fn write_report(
    path: Option<&Path>,
    console: &Console,
    report: impl FnOnce() -> HtmlReport,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    File::create(path)
        .and_then(|file| report().write(BufWriter::new(file)))
        .map_err(|error| cannot_write(path, &error))?;
    console.say(&format!("Report: {}", path.display()));
    Ok(())
}

/// A name whose ending is a chart's.
pub(super) fn chart_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match ChartFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err("the name must end in .svg or .png".to_owned()),
    }
}
