//! The roofline chart: rate against arithmetic intensity, both logarithmic, under the roofs.

use std::collections::BTreeMap;
use std::io::Write;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{
    self, ChartError, ChartFormat, FONT, PALETTE, PLOT_WIDTH, Picture, ROOF_COLOUR, RooflinePlot,
    headed, mark, roofline_plot,
};
use super::roofs::{self, Frame};
use crate::ceilings::Ceilings;
use crate::driver::DeviceProperties;
use crate::model::{Precision, Roofs};
use crate::sweep::{Record, by_series};

/// Measured roofs are drawn in this.
const MEASURED_COLOUR: RGBColor = RGBColor(120, 60, 140);

/// Pixels from a label to one below it.
const LABEL_HEIGHT: i32 = 18;

/// Pixels of a letter of a label.
const LETTER_WIDTH: f64 = 9.3;

/// What a chart shows.
pub struct Chart<'a> {
    /// The device that made the records.
    pub device: &'a DeviceProperties,
    /// Its roofs.
    pub roofs: &'a BTreeMap<Precision, Roofs>,
    /// Its ceilings, where they are known: drawn beside the roofs.
    pub ceilings: Option<&'a Ceilings>,
    /// The records, at least one.
    pub records: &'a [Record],
}

type Result<T> = std::result::Result<T, ChartError>;

impl Chart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no records, or the output cannot be written.
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<()> {
        canvas::write(self, format, output)
    }

    /// The bandwidths, from the left edge to the top, where they are named: on the right of all lines
    /// those of memory, on the left a cache's.
    fn draw_slopes<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut RooflinePlot<'a, B>,
        frame: &Frame,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let high = frame.y.1;
        let slopes = roofs::slopes(self);
        let at_top = slopes.iter().map(|slope| high / slope.bandwidth.giga());
        let right = at_top.fold(0.0, f64::max);
        let mut below = 0;
        for slope in &slopes {
            let rate = slope.bandwidth.giga();
            let Some(line) = frame.slope(rate) else {
                continue;
            };
            plot.draw_series(LineSeries::new(line, line_style(slope.measured)))?;
            let (x, side, offset) = if slope.bandwidth > slopes[0].bandwidth {
                // As far from the end as the line goes to the left beside the label.
                (high / rate, HPos::Right, (-2 * LABEL_HEIGHT, 4))
            } else {
                below += 1;
                (right, HPos::Left, (8, 4 + LABEL_HEIGHT * (below - 1)))
            };
            let text = label_style(slope.measured, side, VPos::Top);
            let label = Text::new(slope.label.clone(), offset, text);
            plot.draw_series([EmptyElement::at((x, high)) + label])?;
        }
        Ok(())
    }

    /// The arithmetic roofs from their ridge points on, named above their right ends, and what was
    /// measured of them.
    fn draw_flats<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut RooflinePlot<'a, B>,
        frame: &Frame,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let slopes = roofs::slopes(self);
        let fastest = slopes
            .iter()
            .map(|slope| slope.bandwidth.giga())
            .fold(0.0, f64::max);
        for flat in roofs::flats(self) {
            let height = flat.height.giga();
            let ridge = height / slopes[0].bandwidth.giga();
            let ends = |from: f64, y: f64| [(from.max(frame.x.0), y), (frame.x.1, y)];
            for measured in &flat.measured {
                let y = measured.giga();
                plot.draw_series(LineSeries::new(ends(y / fastest, y), line_style(true)))?;
            }
            let (dash, gap) = if flat.fused { (1000, 0) } else { (8, 5) };
            let line = DashedLineSeries::new(ends(ridge, height), dash, gap, line_style(false));
            plot.draw_series(line)?;
            plot.draw_series([Circle::new((ridge, height), 4, ROOF_COLOUR.filled())])?;
            let text = label_style(false, HPos::Right, VPos::Bottom);
            let place = EmptyElement::at((frame.x.1, height));
            plot.draw_series([place + Text::new(flat.label, (-6, -6), text)])?;
        }
        Ok(())
    }

    fn draw_series<'a, B: DrawingBackend + 'a>(&self, plot: &mut RooflinePlot<'a, B>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let groups = by_series(self.records);
        let all: Vec<_> = groups.iter().map(|(series, _)| series.parts()).collect();
        for (index, (series, members)) in groups.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            // The same colour comes back with another shape.
            let marker = index + 2 * (index / PALETTE.len());
            let places = members
                .iter()
                .filter_map(|row| Some((row.ai?, row.gflops?)));
            let points: Vec<(f64, f64)> = places.collect();
            if points.is_empty() {
                continue;
            }
            plot.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
                .label(label(&series.parts(), &all))
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
        // What all curves have in common, but for the names of kernel and element type.
        let mut series = self.records.iter().map(|row| row.series().parts());
        let first = series.next().unwrap_or_default().into_iter();
        let shared: Vec<_> = first
            .filter(|(name, _)| !name.is_empty() && *name != "cache")
            .collect();
        let common = series.fold(shared, |mut shared, parts| {
            shared.retain(|part| parts.contains(part));
            shared
        });
        let common: Vec<String> = common
            .into_iter()
            .filter(|(name, value)| (*name, value.as_str()) != ("grid", "full"))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let common = common.join(", ");
        if self.device.is_emulated() {
            format!(
                "{common}. Emulated: these are not a GPU's times; the roofs are this host's, measured."
            )
        } else {
            format!(
                "{common}. Dark: the data sheet's memory, and lanes x 2 x clock; thin: measured."
            )
        }
    }
}

impl Picture for Chart<'_> {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let frame = frame_around(self).ok_or("there are no records to draw")?;
        let body = headed(area, &self.title(), &self.subtitle())?;
        let mut plot = roofline_plot(&body, frame.x, frame.y)?;
        self.draw_slopes(&mut plot, &frame)?;
        self.draw_flats(&mut plot, &frame)?;
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
}

/// The axes around the records and the roofs, with room for the bandwidths' names beside the ends of
/// their lines.
fn frame_around(chart: &Chart<'_>) -> Option<Frame> {
    let spread = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |range: Option<(f64, f64)>, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    };
    let slopes = roofs::slopes(chart);
    let memory = slopes[0].bandwidth.giga();
    let heights = || {
        roofs::flats(chart)
            .into_iter()
            .map(|flat| flat.height.giga())
    };
    let ridges = heights().map(|height| height / memory);
    let x = spread(&mut chart.records.iter().filter_map(|row| row.ai).chain(ridges))?;
    let y = spread(
        &mut chart
            .records
            .iter()
            .filter_map(|row| row.gflops)
            .chain(heights()),
    )?;
    let (left, top) = (x.0 / 1.6, y.1 * 4.0);
    let ends = slopes.iter().map(|slope| top / slope.bandwidth.giga());
    let last = ends.fold(0.0, f64::max);
    let longest = slopes.iter().map(|slope| slope.label.len()).max()?;
    // The share of the width that is right of the last line's end.
    let share = (longest as f64 + 2.0) * LETTER_WIDTH / PLOT_WIDTH;
    let right = left * (last / left).powf(1.0 / (1.0 - share));
    Some(Frame {
        x: (left, right.max(x.1 * 2.0)),
        y: (y.0 / 2.0, top),
    })
}

fn label_style(measured: bool, side: HPos, height: VPos) -> TextStyle<'static> {
    (FONT, 15)
        .into_font()
        .color(&colour(measured))
        .pos(Pos::new(side, height))
}

fn colour(measured: bool) -> RGBColor {
    if measured {
        MEASURED_COLOUR
    } else {
        ROOF_COLOUR
    }
}

fn line_style(measured: bool) -> ShapeStyle {
    colour(measured).stroke_width(if measured { 1 } else { 2 })
}

/// A curve's name: its kernel and element type, and what else is not the same for all curves.
fn label(parts: &[(&'static str, String)], all: &[Vec<(&'static str, String)>]) -> String {
    let named = parts.iter().filter(|(name, _)| name.is_empty());
    let names: Vec<&str> = named.map(|(_, value)| value.as_str()).collect();
    let differs = |part: &&(&'static str, String)| {
        !part.0.is_empty() && !all.iter().all(|other| other.contains(part))
    };
    let others = parts.iter().filter(differs);
    let others = others.map(|(name, value)| format!("{name} {value}"));
    [names.join(" ")]
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceilings::load;
    use crate::driver::Emulation;
    use crate::embedded::Polynomial;
    use crate::model::FlopsPerByte;
    use crate::sweep::{Plan, Selection, Settings, Sweep};
    use crate::workload::Bench;
    use itertools::iproduct;
    use std::path::Path;

    /// Rows at 95 % of the data sheet's roofs, all else as the emulator has it.
    fn rows(device: &DeviceProperties, precisions: &[Precision], k: &[u32]) -> Vec<Record> {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let few = |workload| {
            let mut selection = Selection::defaults(workload, true);
            for (name, values) in &mut selection.values {
                match *name {
                    "k" => *values = vec![1u64.into()],
                    "n" => *values = vec![64u64.into()],
                    _ => {}
                }
            }
            selection
        };
        let plan = Plan {
            selected: vec![few(&Polynomial::POWER_SUM), few(&Polynomial::HORNER)],
            blocks: vec![32],
            ..Plan::default()
        };
        let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
        let mut rows = Vec::new();
        let count = sweep.points().len();
        for index in 0..count {
            let row = sweep.measure(index, None).expect("it runs");
            let arithmetic = row.arithmetic.expect("there are operations");
            for (&precision, &k) in iproduct!(precisions, k) {
                let roofs = Roofs::of_device(device, precision).expect("known");
                let ai = 2.0 * f64::from(k) / f64::from(2 * precision.bytes());
                let ceiling = (arithmetic, roofs.ceiling(arithmetic));
                let roof = roofs.limiting(FlopsPerByte(ai), ceiling);
                rows.push(Record {
                    ai: Some(ai),
                    gflops: Some(0.95 * roof.value.giga()),
                    dtype: Some(precision.name().to_owned()),
                    ..row.clone()
                });
            }
        }
        rows
    }

    /// What a text of the picture covers: left, top, right, bottom.
    fn texts(svg: &str) -> Vec<(String, [f64; 4])> {
        let attribute = |tag: &str, name: &str| {
            let (_, rest) = tag.split_once(&format!("{name}=\""))?;
            Some(rest.split('"').next()?.to_owned())
        };
        let number = |tag: &str, name: &str| attribute(tag, name)?.parse::<f64>().ok();
        svg.split("<text ")
            .skip(1)
            .filter(|text| !text.contains("rotate"))
            .map(|text| {
                let (tag, rest) = text.split_once('>').expect("a tag ends");
                let content = rest.split('<').next().unwrap_or_default().trim().to_owned();
                let size = number(tag, "font-size").expect("a size");
                let (x, y) = (number(tag, "x").expect("x"), number(tag, "y").expect("y"));
                // plotters writes sizes for a letter of 1.24 times the height.
                let width = 0.62 * size * content.len() as f64;
                let left = match attribute(tag, "text-anchor").as_deref() {
                    Some("end") => x - width,
                    Some("middle") => x - width / 2.0,
                    _ => x,
                };
                let top = match attribute(tag, "dy").as_deref() {
                    Some("0.76em") => y,
                    Some("-0.5ex") => y - size,
                    _ => y - size / 2.0,
                };
                (content, [left, top, left + width, top + size])
            })
            .collect()
    }

    /// The dots at the ridge points lie within a pixel of the first line of a roof, memory's.
    fn assert_ridges_are_on_the_memory_roof(svg: &str) {
        let document = roxmltree::Document::parse(svg).expect("well-formed");
        let named = |name: &'static str| {
            document
                .descendants()
                .filter(move |it| it.has_tag_name(name))
        };
        let number = |node: &roxmltree::Node, name: &str| -> f64 {
            let value = node.attribute(name).expect("an attribute");
            value.parse().expect("a number")
        };
        let of_roofs = |node: &roxmltree::Node| {
            [node.attribute("stroke"), node.attribute("fill")].contains(&Some("#3C3C3C"))
        };
        let line = named("polyline").find(of_roofs).expect("memory's roof");
        let points: Vec<f64> = line
            .attribute("points")
            .expect("points")
            .split([' ', ','])
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().expect("a number"))
            .collect();
        let [x1, y1, x2, y2] = points[..] else {
            panic!("a straight line, not {points:?}");
        };
        let mut ridges = 0;
        for dot in named("circle").filter(of_roofs) {
            let (x, y) = (number(&dot, "cx"), number(&dot, "cy"));
            let expected = y1 + (x - x1) * (y2 - y1) / (x2 - x1);
            assert!((y - expected).abs() <= 1.5, "({x}, {y}) is off {points:?}");
            ridges += 1;
        }
        assert!(ridges > 0, "no ridge points");
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        let device = crate::measure::h200();
        let path = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/results/h200-ceilings/ceilings.json"
        ));
        let ceilings = load(path, &device).expect("an H200's");
        let k = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
        for (precisions, k) in [
            (&[Precision::F32][..], &k[..]),
            (&[Precision::F32], &k[..3]),
            (&Precision::ALL, &k[..1]),
            (&[Precision::F64], &k),
            (&Precision::ALL, &k),
            (&[Precision::F32, Precision::F16x2], &k[8..]),
        ] {
            let records = rows(&device, precisions, k);
            let of = |&precision: &Precision| {
                (
                    precision,
                    Roofs::of_device(&device, precision).expect("known"),
                )
            };
            let chart = Chart {
                device: &device,
                roofs: &precisions.iter().map(of).collect(),
                ceilings: Some(&ceilings),
                records: &records,
            };
            let mut svg = Vec::new();
            chart
                .write(ChartFormat::Svg, &mut svg)
                .expect("memory takes all");
            let svg = String::from_utf8(svg).expect("text");
            assert_ridges_are_on_the_memory_roof(&svg);
            let texts = texts(&svg);
            for (text, [left, _, right, _]) in &texts {
                assert!(*left >= 0.0 && *right <= 1200.0, "{text:?} is cut");
            }
            assert!(
                texts.iter().any(|(text, _)| text.contains("f64 FMA")),
                "{texts:?}"
            );
            for (i, (a, [left, top, right, bottom])) in texts.iter().enumerate() {
                for (b, other) in &texts[..i] {
                    let apart = *left >= other[2]
                        || other[0] >= *right
                        || *top >= other[3]
                        || other[1] >= *bottom;
                    assert!(
                        apart,
                        "{a:?} at {:?} and {b:?} at {other:?}",
                        [left, top, right, bottom]
                    );
                }
            }
        }
    }
}
