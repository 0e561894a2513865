//! Common code of all charts: formats, how a figure becomes a file, and how a count is written.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use itertools::Itertools;

use super::plot::{Figure, Home, Scene};

/// Pixels of a picture's width. Shown 400 pixels wide, its labels are 7 pixels high.
const WIDTH: f64 = 880.0;

/// Why a chart was not drawn.
pub type ChartError = Box<dyn Error + Send + Sync>;

/// The file format of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartFormat {
    /// Vector graphics, dark where the reader's pages are.
    Svg,
    /// Pixels.
    Png,
}

impl ChartFormat {
    /// The format that a file's name asks for by its ending.
    pub fn of(path: &Path) -> Option<ChartFormat> {
        match path.extension()?.to_str()? {
            "svg" => Some(ChartFormat::Svg),
            "png" => Some(ChartFormat::Png),
            _ => None,
        }
    }
}

/// Writes a figure.
pub(super) fn write(
    figure: &Figure,
    format: ChartFormat,
    output: impl Write,
) -> Result<(), ChartError> {
    if figure.plots.iter().all(|plot| plot.series.is_empty()) {
        return Err("there are no records to draw".into());
    }
    write_scene(&figure.scene(WIDTH), format, output)
}

/// Writes a picture.
pub(super) fn write_scene(
    scene: &Scene,
    format: ChartFormat,
    mut output: impl Write,
) -> Result<(), ChartError> {
    match format {
        ChartFormat::Svg => output.write_all(scene.svg(Home::File).as_bytes())?,
        ChartFormat::Png => scene.write_png(&mut output)?,
    }
    output.flush()?;
    Ok(())
}

/// A count with its thousands apart.
pub(super) fn whole(count: f64) -> String {
    let digits = format!("{count:.0}");
    let from_the_right = digits.chars().rev().collect::<Vec<_>>();
    let groups = from_the_right
        .chunks(3)
        .map(|group| group.iter().rev().collect::<String>());
    groups.collect::<Vec<_>>().into_iter().rev().join(",")
}
