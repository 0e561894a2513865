//! The roofline chart: rate against arithmetic intensity, both logarithmic, under the roofs.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::driver::Facts;
use crate::model::{Limit, Precision, Roofs};
use crate::sweep::{Record, Series, by_series};

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 760;
const FONT: &str = "sans-serif";

/// Colours that remain apart for colour-blind readers: M. Okabe and K. Ito, "Color Universal
/// Design", 2008.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Roofs are drawn in these, one for each precision.
const ROOF_COLOURS: [RGBColor; 2] = [RGBColor(60, 60, 60), RGBColor(150, 150, 150)];

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

/// What a chart shows.
pub struct Chart<'a> {
    /// The device that made the records.
    pub device: &'a Facts,
    /// Its roofs.
    pub roofs: &'a BTreeMap<Precision, Roofs>,
    /// The records, at least one.
    pub records: &'a [Record],
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
type Plot<'a, B> = ChartContext<
    'a,
    B,
    Cartesian2d<
        plotters::coord::combinators::LogCoord<f64>,
        plotters::coord::combinators::LogCoord<f64>,
    >,
>;

impl Chart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no records, or the output cannot be written.
    pub fn write(&self, format: ChartFormat, mut output: impl Write) -> Result<()> {
        register_font();
        match format {
            ChartFormat::Svg => {
                let mut text = String::new();
                self.draw(
                    &SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area(),
                )?;
                output.write_all(text.as_bytes())?;
            }
            ChartFormat::Png => {
                let mut pixels = vec![0; (WIDTH * HEIGHT * 3) as usize];
                self.draw(
                    &BitMapBackend::with_buffer(&mut pixels, (WIDTH, HEIGHT)).into_drawing_area(),
                )?;
                let mut encoder = png::Encoder::new(&mut output, WIDTH, HEIGHT);
                encoder.set_color(png::ColorType::Rgb);
                encoder.write_header()?.write_image_data(&pixels)?;
            }
        }
        output.flush()?;
        Ok(())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let frame = Frame::around(self).ok_or("there are no records to draw")?;
        area.fill(&WHITE)?;
        let (heading, body) = area.split_vertically(64);
        heading.draw_text(&self.title(), &(FONT, 26).into_text_style(area), (20, 10))?;
        let style = (FONT, 16)
            .into_text_style(area)
            .color(&RGBColor(90, 90, 90));
        heading.draw_text(&self.subtitle(), &style, (20, 40))?;
        let mut plot = ChartBuilder::on(&body)
            .margin(16)
            .margin_right(28)
            .x_label_area_size(48)
            .y_label_area_size(80)
            .build_cartesian_2d(
                (frame.x.0..frame.x.1).log_scale(),
                (frame.y.0..frame.y.1).log_scale(),
            )?;
        plot.configure_mesh()
            .x_desc("arithmetic intensity, FLOP/byte")
            .y_desc("GFLOP/s")
            .axis_desc_style((FONT, 18))
            .label_style((FONT, 15))
            .x_label_formatter(&plain)
            .y_label_formatter(&plain)
            .light_line_style(RGBColor(240, 240, 240))
            .draw()?;
        for ((precision, roofs), colour) in self.roofs.iter().zip(ROOF_COLOURS) {
            self.draw_roofs(&mut plot, &frame, *precision, roofs, colour)?;
        }
        self.draw_series(&mut plot)?;
        plot.configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .label_font((FONT, 15))
            .background_style(WHITE.mix(0.9))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        area.present()?;
        Ok(())
    }

    fn draw_roofs<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut Plot<'a, B>,
        frame: &Frame,
        precision: Precision,
        roofs: &Roofs,
        colour: RGBColor,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let name = precision.name();
        let slope = |x: f64| x * roofs.memory.giga();
        let ridges = [Limit::Fma, Limit::AddMul].map(|limit| roofs.ridge_point(limit).0);
        let top = ridges[0].max(ridges[1]).max(frame.x.0);
        plot.draw_series(LineSeries::new(
            [(frame.x.0, slope(frame.x.0)), (top, slope(top))],
            colour.stroke_width(2),
        ))?;
        let text = (FONT, 15)
            .into_font()
            .color(&colour)
            .pos(Pos::new(HPos::Right, VPos::Bottom));
        let middle = (frame.x.0 * top).sqrt();
        plot.draw_series([EmptyElement::at((middle, slope(middle)))
            + Text::new(format!("memory {}", roofs.memory), (-8, -4), text.clone())])?;
        for (limit, label) in [(Limit::Fma, "FMA"), (Limit::AddMul, "add+mul")] {
            let roof = roofs.ceiling(limit);
            let ceiling = roof.giga();
            let ridge = roofs.ridge_point(limit).0;
            plot.draw_series(DashedLineSeries::new(
                [(ridge.max(frame.x.0), ceiling), (frame.x.1, ceiling)],
                if limit == Limit::Fma { 1000 } else { 8 },
                if limit == Limit::Fma { 0 } else { 5 },
                colour.stroke_width(2),
            ))?;
            plot.draw_series([Circle::new((ridge, ceiling), 4, colour.filled())])?;
            let label = format!("{name} {label} {roof}, ridge point {ridge:.2} FLOP/byte");
            plot.draw_series([
                EmptyElement::at((frame.x.1, ceiling)) + Text::new(label, (-6, -5), text.clone())
            ])?;
        }
        Ok(())
    }

    fn draw_series<'a, B: DrawingBackend + 'a>(&self, plot: &mut Plot<'a, B>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let groups = by_series(self.records);
        let all: Vec<Series> = groups.iter().map(|(series, _)| *series).collect();
        for (index, (series, members)) in groups.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            // The same colour comes back with another shape.
            let marker = index + 2 * (index / PALETTE.len());
            let points: Vec<(f64, f64)> = members.iter().map(|row| (row.ai, row.gflops)).collect();
            plot.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
                .label(label(series, &all))
                .legend(move |(x, y)| {
                    EmptyElement::at((x, y))
                        + PathElement::new([(0, 0), (24, 0)], colour.stroke_width(2))
                        + mark((12, 0), marker, colour)
                });
            plot.draw_series(
                points
                    .iter()
                    .map(|&point| EmptyElement::at(point) + mark((0, 0), marker, colour)),
            )?;
        }
        Ok(())
    }

    fn title(&self) -> String {
        format!("Roofline of {}", self.device.name)
    }

    fn subtitle(&self) -> String {
        let common = self.records.first().map_or(String::new(), |first| {
            let same = |value: fn(&Record) -> u64| {
                let wanted = value(first);
                self.records
                    .iter()
                    .all(|row| value(row) == wanted)
                    .then_some(wanted)
            };
            let facts = [
                ("n", same(|row| row.n)),
                ("block", same(|row| u64::from(row.block))),
            ];
            let known = facts
                .iter()
                .filter_map(|(name, value)| Some(format!("{name} = {}", (*value)?)));
            known.collect::<Vec<_>>().join(", ")
        });
        if self.device.is_emulated() {
            format!(
                "{common}. Emulated: these are not a GPU's times; the roofs are this host's, measured."
            )
        } else {
            format!(
                "{common}. Memory roof: data sheet or bus; arithmetic roofs: lanes x 2 x clock."
            )
        }
    }
}

/// The ranges of the two axes.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn around(chart: &Chart<'_>) -> Option<Frame> {
        let spread = |values: &mut dyn Iterator<Item = f64>| {
            values.fold(None, |range: Option<(f64, f64)>, value| {
                let (low, high) = range.unwrap_or((value, value));
                Some((low.min(value), high.max(value)))
            })
        };
        let ridges = chart
            .roofs
            .values()
            .map(|roofs| roofs.ridge_point(Limit::Fma).0);
        let roofs = chart
            .roofs
            .values()
            .map(|roofs| roofs.ceiling(Limit::Fma).giga());
        let add_muls = chart
            .roofs
            .values()
            .map(|roofs| roofs.ceiling(Limit::AddMul).giga());
        let x = spread(&mut chart.records.iter().map(|row| row.ai).chain(ridges))?;
        let y = spread(
            &mut chart
                .records
                .iter()
                .map(|row| row.gflops)
                .chain(roofs)
                .chain(add_muls),
        )?;
        Some(Frame {
            x: (x.0 / 1.6, x.1 * 2.0),
            y: (y.0 / 2.0, y.1 * 2.5),
        })
    }
}

/// One of four shapes, so that curves are told apart without their colour.
fn mark<B: DrawingBackend>(
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

/// A curve's name: its kernel, and what of its launch is not the same for all curves.
fn label(series: &Series, all: &[Series]) -> String {
    let differs = |value: fn(&Series) -> String| all.iter().any(|one| value(one) != value(series));
    let mut label = format!("{} {}", series.kernel, series.dtype);
    type Part = (&'static str, fn(&Series) -> String);
    let parts: [Part; 4] = [
        ("vector", |series| series.vector.to_string()),
        ("n", |series| series.n.to_string()),
        ("block", |series| series.block.to_string()),
        ("grid", |series| series.grid.to_string()),
    ];
    for (name, value) in parts {
        if differs(value) {
            label.push_str(&format!(", {name} {}", value(series)));
        }
    }
    label
}

fn plain(value: &f64) -> String {
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
