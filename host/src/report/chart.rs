//! The roofline chart: rate against arithmetic intensity, both logarithmic, under the roofs.

use std::collections::BTreeMap;
use std::io::Write;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{self, ChartError, ChartFormat, FONT, PALETTE, Picture, headed, mark, plain};
use crate::ceilings::{Ceiling, Ceilings, Quantity};
use crate::driver::Facts;
use crate::model::{Limit, Precision, Roofs};
use crate::sweep::{Record, Series, by_series};

/// Roofs are drawn in these, one for each precision.
const ROOF_COLOURS: [RGBColor; 2] = [RGBColor(60, 60, 60), RGBColor(150, 150, 150)];

/// Measured roofs are drawn in this.
const MEASURED_COLOUR: RGBColor = RGBColor(120, 60, 140);

/// What a chart shows.
pub struct Chart<'a> {
    /// The device that made the records.
    pub device: &'a Facts,
    /// Its roofs.
    pub roofs: &'a BTreeMap<Precision, Roofs>,
    /// Its ceilings, where they are known: drawn beside the roofs.
    pub ceilings: Option<&'a Ceilings>,
    /// The records, at least one.
    pub records: &'a [Record],
}

type Result<T> = std::result::Result<T, ChartError>;
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
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<()> {
        canvas::write(self, format, output)
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

    /// The measured roofs of the precisions that the records have: thin lines, named at their left.
    fn draw_ceilings<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut Plot<'a, B>,
        frame: &Frame,
        ceilings: &Ceilings,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let style = MEASURED_COLOUR.stroke_width(1);
        let text = (FONT, 14)
            .into_font()
            .color(&MEASURED_COLOUR)
            .pos(Pos::new(HPos::Left, VPos::Bottom));
        let flats = self.roofs.keys().flat_map(|precision| match precision {
            Precision::F32 => vec![Quantity::FmaF32, Quantity::AddMulF32],
            Precision::F64 => vec![Quantity::FmaF64],
            Precision::F16x2 => vec![Quantity::FmaF16x2],
        });
        let mut top = frame.y.0;
        for ceiling in flats.filter_map(|quantity| ceilings.get(quantity)) {
            let y = ceiling.value / 1e9;
            top = top.max(y);
            let label = measured_label(ceiling);
            plot.draw_series(LineSeries::new([(frame.x.0, y), (frame.x.1, y)], style))?;
            plot.draw_series([
                EmptyElement::at((frame.x.0, y)) + Text::new(label, (6, -3), text.clone())
            ])?;
        }
        // One label on each side, because the lines are close together.
        for (quantity, side) in [
            (Quantity::MemoryCopy, HPos::Left),
            (Quantity::L2Read, HPos::Right),
        ] {
            let Some(ceiling) = ceilings.get(quantity) else {
                continue;
            };
            let x = |y: f64| y / (ceiling.value / 1e9);
            let low = (frame.x.0, frame.x.0 * ceiling.value / 1e9);
            plot.draw_series(LineSeries::new([low, (x(top), top)], style))?;
            let label = measured_label(ceiling);
            let gap = if matches!(side, HPos::Left) { 8 } else { -8 };
            let style = text.clone().pos(Pos::new(side, VPos::Center));
            let middle = (low.0 * x(top)).sqrt();
            plot.draw_series([
                EmptyElement::at((middle, middle / x(1.0))) + Text::new(label, (gap, 0), style)
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

impl Picture for Chart<'_> {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let frame = Frame::around(self).ok_or("there are no records to draw")?;
        let body = headed(area, &self.title(), &self.subtitle())?;
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
        if let Some(ceilings) = self.ceilings {
            self.draw_ceilings(&mut plot, &frame, ceilings)?;
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

fn measured_label(ceiling: &Ceiling) -> String {
    let value = ceiling.unit.text(ceiling.value);
    format!("{} measured, {value}", ceiling.quantity.name())
}

/// A curve's name: its kernel, and what of its launch is not the same for all curves.
fn label(series: &Series, all: &[Series]) -> String {
    let differs = |value: fn(&Series) -> String| all.iter().any(|one| value(one) != value(series));
    let mut label = format!("{} {}", series.kernel, series.dtype);
    type Part = (&'static str, fn(&Series) -> String);
    let parts: [Part; 6] = [
        ("vector", |series| series.vector.to_string()),
        ("ILP", |series| series.ilp.to_string()),
        ("n", |series| series.n.to_string()),
        ("block", |series| series.block.to_string()),
        ("grid", |series| series.grid.to_string()),
        ("cache", |series| series.cache.to_owned()),
    ];
    for (name, value) in parts {
        if differs(value) {
            label.push_str(&format!(", {name} {}", value(series)));
        }
    }
    label
}
