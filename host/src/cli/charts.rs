//! Files that charts and reports go to.

use std::io;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Failure;
use super::console::Console;
use super::destination::{Destination, Unfinished, is_standard};
use super::{colours, streams};
use crate::report::{
    AxisChart, Chart, ChartError, ChartFormat, HtmlReport, LinksPicture, OccupancyChart, Paint,
    ProgramChart, SavedChart, ScalingChart,
};

/// A chart for a file and for the terminal.
pub(super) trait Drawn {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError>;

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError>;

    /// Why there is nothing to draw, where that is nobody's error.
    fn nothing(&self) -> Option<&'static str> {
        None
    }
}

impl Drawn for Chart<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(Chart::text(self, columns, paint))
    }

    fn nothing(&self) -> Option<&'static str> {
        self.is_empty().then_some(
            "no chart: no row has an intensity and a rate, which a roofline's marks take",
        )
    }
}

impl Drawn for SavedChart<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        SavedChart::text(self, columns, paint)
    }
}

impl Drawn for LinksPicture<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(LinksPicture::text(self, columns, paint))
    }

    fn nothing(&self) -> Option<&'static str> {
        self.is_empty()
            .then_some("no picture: no link was measured")
    }
}

impl Drawn for ProgramChart<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(ProgramChart::text(self, columns, paint))
    }

    fn nothing(&self) -> Option<&'static str> {
        self.is_empty()
            .then_some("no chart: no counted kernel has computed floating-point numbers")
    }
}

impl Drawn for OccupancyChart<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(OccupancyChart::text(self, columns, paint))
    }
}

impl Drawn for ScalingChart<'_> {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(ScalingChart::text(self, columns, paint))
    }

    fn nothing(&self) -> Option<&'static str> {
        self.is_empty().then_some(
            "no chart: no row of several devices has a speedup, which takes a measurement of one device",
        )
    }
}

impl Drawn for AxisChart {
    fn draw(&self, format: ChartFormat, file: &mut Vec<u8>) -> Result<(), ChartError> {
        self.write(format, file)
    }

    fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(AxisChart::text(self, columns, paint))
    }

    fn nothing(&self) -> Option<&'static str> {
        self.is_empty()
            .then_some("no chart: no row has a value of the axis and a result")
    }
}

/// Charts that are opened before anything is measured, and appear when they are drawn.
pub(super) struct ChartFiles {
    files: Vec<(ChartFormat, Destination)>,
    /// Whether one is drawn on the terminal.
    on_terminal: bool,
}

impl ChartFiles {
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let open = |path: &PathBuf| {
            let format = ChartFormat::of(path).unwrap_or(ChartFormat::Svg);
            Ok((format, Destination::open(path, Unfinished::IsNothing)?))
        };
        let (terminal, files): (Vec<&PathBuf>, Vec<_>) =
            paths.iter().partition(|path| is_standard(path));
        Ok(ChartFiles {
            files: files.into_iter().map(open).collect::<Result<_, _>>()?,
            on_terminal: !terminal.is_empty(),
        })
    }

    /// Whether any is asked for.
    pub(super) fn are_wanted(&self) -> bool {
        self.on_terminal || !self.files.is_empty()
    }

    /// Writes the same chart to each.
    pub(super) fn write(self, console: &Console, drawn: &impl Drawn) -> Result<(), Failure> {
        if let Some(reason) = drawn.nothing() {
            if self.are_wanted() {
                console.warn(reason);
            }
            return Ok(());
        }
        if self.on_terminal {
            let text = drawn.text(streams::columns(), colours::of_charts());
            let text = text.map_err(Failure::failed)? + "\n";
            // It fits, and escapes have no width.
            streams::draw(&text);
        }
        for (format, destination) in self.files {
            let path = destination.path().to_path_buf();
            destination.write_whole(|output| {
                let mut chart = Vec::new();
                drawn.draw(format, &mut chart).map_err(io::Error::other)?;
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

/// A name whose ending is a chart's, or `-`.
pub(super) fn chart_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ChartFormat::of(&path) {
        Some(_) => Ok(path),
        None if is_standard(&path) => Ok(path),
        None => Err("the name must end in .svg or .png, or be - for the terminal"),
    })
}
