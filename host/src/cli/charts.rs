//! Files that charts and reports go to.

use std::io;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Failure;
use super::console::Console;
use super::destination::{Destination, Unfinished};
use crate::report::{ChartError, ChartFormat, HtmlReport};

/// Charts that are opened before anything is measured, and appear when they are drawn.
pub(super) struct ChartFiles(Vec<(ChartFormat, Destination)>);

impl ChartFiles {
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let open = |path: &PathBuf| {
            let format = ChartFormat::of(path).unwrap_or(ChartFormat::Svg);
            Ok((format, Destination::open(path, Unfinished::IsNothing)?))
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
        draw: impl Fn(ChartFormat, &mut Vec<u8>) -> Result<(), ChartError>,
    ) -> Result<(), Failure> {
        for (format, destination) in self.0 {
            let path = destination.path().to_path_buf();
            destination.write_whole(|output| {
                let mut chart = Vec::new();
                draw(format, &mut chart).map_err(io::Error::other)?;
                output.write_all(&chart)
            })?;
            console.say(&format!("Chart: {}", path.display()));
        }
        Ok(())
    }
}

/// An HTML report that is opened before anything is measured, where one was asked for.
pub(super) struct ReportFile(Option<Destination>);

impl ReportFile {
    pub(super) fn open(path: Option<&PathBuf>) -> Result<Self, Failure> {
        let open = |path: &PathBuf| Destination::open(path, Unfinished::IsNothing);
        path.map(open).transpose().map(ReportFile)
    }

    pub(super) fn write(
        self,
        console: &Console,
        report: impl FnOnce() -> HtmlReport,
    ) -> Result<(), Failure> {
        let Some(destination) = self.0 else {
            return Ok(());
        };
        let path = destination.path().to_path_buf();
        destination.write_whole(|output| report().write(output))?;
        console.say(&format!("Report: {}", path.display()));
        Ok(())
    }
}

/// A name whose ending is a chart's.
pub(super) fn chart_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ChartFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err("the name must end in .svg or .png"),
    })
}
