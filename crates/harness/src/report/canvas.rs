//! What all charts share: formats, font, colours and marks.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::prelude::*;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 760;
/// About as many pixels are between the axes of a roofline.
pub(super) const PLOT_WIDTH: f64 = 1076.0;
/// Pixels for title and subtitle.
pub(super) const HEADING: u32 = 64;
pub(super) const FONT: &str = "sans-serif";

/// Roofs are drawn in this; in a chart with the data sheet's and measured ones, the data sheet's.
pub(super) const ROOF_COLOUR: RGBColor = RGBColor(60, 60, 60);

/// Colours that remain apart for colour-blind readers: M. Okabe and K. Ito, "Color Universal
/// Design", 2008.
pub(super) const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Why a chart was not drawn.
pub type ChartError = Box<dyn Error + Send + Sync>;

/// The file format of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartFormat {
    /// Vector graphics.
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

/// A picture that can be drawn on any backend.
pub(super) trait Picture {
    /// Its height in pixels.
    fn height(&self) -> u32 {
        HEIGHT
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), ChartError>
    where
        B::ErrorType: 'static;
}

/// Writes a picture.
pub(super) fn write(
    picture: &impl Picture,
    format: ChartFormat,
    mut output: impl Write,
) -> Result<(), ChartError> {
    register_font();
    let size = (WIDTH, picture.height());
    match format {
        ChartFormat::Svg => {
            let mut text = String::new();
            let backend = SVGBackend::with_string(&mut text, size);
            picture.draw(&backend.into_drawing_area())?;
            // Names and titles may hold what XML does not, escaped or not.
            output.write_all(text.replace(is_not_xml, "\u{fffd}").as_bytes())?;
        }
        ChartFormat::Png => {
            let mut pixels = vec![0; (size.0 * size.1 * 3) as usize];
            let backend = BitMapBackend::with_buffer(&mut pixels, size);
            picture.draw(&backend.into_drawing_area())?;
            let mut encoder = png::Encoder::new(&mut output, size.0, size.1);
            encoder.set_color(png::ColorType::Rgb);
            encoder.write_header()?.write_image_data(&pixels)?;
        }
    }
    output.flush()?;
    Ok(())
}

/// Whether XML 1.0 has no place for a character.
fn is_not_xml(letter: char) -> bool {
    let is_space = matches!(letter, '\t' | '\n' | '\r');
    letter < ' ' && !is_space || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

/// Fills the area, writes title and subtitle, and gives what is left for the plot.
pub(super) fn headed<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    subtitle: &str,
) -> Result<DrawingArea<B, Shift>, ChartError>
where
    B::ErrorType: 'static,
{
    area.fill(&WHITE)?;
    let (heading, body) = area.split_vertically(HEADING);
    heading.draw_text(title, &(FONT, 26).into_text_style(area), (20, 10))?;
    let style = (FONT, 16)
        .into_text_style(area)
        .color(&RGBColor(90, 90, 90));
    heading.draw_text(subtitle, &style, (20, 40))?;
    Ok(body)
}

/// One of four shapes, so that curves are told apart without their colour.
pub(super) fn mark<B: DrawingBackend>(
    at: (i32, i32),
    kind: usize,
    colour: RGBColor,
) -> DynElement<'static, B, (i32, i32)> {
    const SIZE: i32 = 5;
    let (x, y) = at;
    match kind % 4 {
        0 => Circle::new(at, SIZE, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(at, SIZE + 1, colour.filled()).into_dyn(),
        2 => Rectangle::new(
            [(x - SIZE + 1, y - SIZE + 1), (x + SIZE - 1, y + SIZE - 1)],
            colour.filled(),
        )
        .into_dyn(),
        _ => Cross::new(at, SIZE, colour.stroke_width(3)).into_dyn(),
    }
}

/// A plot of rates over intensities.
pub(super) type RooflinePlot<'a, B> =
    ChartContext<'a, B, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// The axes of a roofline, both logarithmic.
pub(super) fn roofline_plot<'a, B: DrawingBackend + 'a>(
    area: &'a DrawingArea<B, Shift>,
    x: (f64, f64),
    y: (f64, f64),
) -> Result<RooflinePlot<'a, B>, ChartError>
where
    B::ErrorType: 'static,
{
    let mut plot = ChartBuilder::on(area)
        .margin(16)
        .margin_right(28)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?;
    plot.configure_mesh()
        .x_desc("arithmetic intensity, FLOP/byte")
        .y_desc("GFLOP/s")
        .axis_desc_style((FONT, 18))
        .label_style((FONT, 15))
        .x_label_formatter(&plain)
        .y_label_formatter(&plain)
        .light_line_style(RGBColor(240, 240, 240))
        .draw()?;
    Ok(plot)
}

/// A number without an exponent.
pub(super) fn plain(value: &f64) -> String {
    format!("{value}")
}

/// Charts look the same on every machine because they bring their own font.
fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // An invalid font would show in every test of a chart.
            let _ = plotters::style::register_font(FONT, style, epaint_default_fonts::UBUNTU_LIGHT);
        }
    });
}
