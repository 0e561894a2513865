//! A roofline of rows that were measured before, some of which are pointed out.

use itertools::Itertools;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{
    self, ChartError, ChartFormat, FONT, PALETTE, Picture, ROOF_COLOUR, RooflinePlot, headed, mark,
    roofline_plot,
};
use super::roofs::{CLOSE, Frame};
use crate::ceilings::{Ceiling, Ceilings, Quantity};
use crate::model::{Limit, Precision};

type Result<T> = std::result::Result<T, ChartError>;

/// A row of a roofline's CSV, as far as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRow {
    /// What the rows of a curve have in common.
    pub curve: String,
    /// The element type.
    pub precision: Precision,
    /// FLOP/byte.
    pub ai: f64,
    /// 1e9 FLOP/s.
    pub gflops: f64,
    /// What is said of the row; `None` does not point it out.
    pub note: Option<String>,
}

/// Rows under their device's measured roofs.
pub struct SavedChart<'a> {
    /// The title.
    pub title: &'a str,
    /// The rows, at least one.
    pub rows: &'a [SavedRow],
    /// The ceilings of the device that made them.
    pub ceilings: &'a Ceilings,
}

impl SavedChart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no rows or no such ceilings, or the output cannot be written.
    pub fn write(&self, format: ChartFormat, output: impl std::io::Write) -> Result<()> {
        canvas::write(self, format, output)
    }

    fn memory(&self) -> Result<&Ceiling> {
        let found = self.ceilings.get(Quantity::MemoryCopy);
        found.ok_or_else(|| "the ceilings have no memory copy".into())
    }

    /// The arithmetic roofs of the types that the rows have, the highest first.
    fn flats(&self) -> Vec<&Ceiling> {
        let has = |precision: &Precision| self.rows.iter().any(|row| row.precision == *precision);
        let of_rows = Precision::ALL.into_iter().filter(has);
        let limits = of_rows.cartesian_product([Limit::Fma, Limit::AddMul]);
        let mut flats: Vec<_> = limits
            .filter_map(|(precision, limit)| Quantity::arithmetic_rate(precision, limit))
            .filter_map(|quantity| self.ceilings.get(quantity))
            .collect();
        flats.sort_by(|a, b| b.value.total_cmp(&a.value));
        flats
    }

    /// The ranges of intensities and of rates.
    fn frame(&self) -> Result<Frame> {
        let memory = self.memory()?.value;
        let flats = self.flats();
        let ridges = flats.iter().map(|flat| flat.value / memory);
        let tops = flats.iter().map(|flat| flat.value / 1e9);
        let x = spread(self.rows.iter().map(|row| row.ai).chain(ridges));
        let y = spread(self.rows.iter().map(|row| row.gflops).chain(tops));
        Ok(Frame {
            x: (x.0 / 1.6, x.1 * 2.0),
            y: (y.0 / 2.0, y.1 * 1.8),
        })
    }

    fn draw_roofs<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut RooflinePlot<'a, B>,
        frame: &Frame,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let memory = self.memory()?;
        let slope = memory.value / 1e9;
        let flats = self.flats();
        let top = flats.first().map_or(0.0, |flat| flat.value / 1e9);
        let line = ROOF_COLOUR.stroke_width(2);
        let text = (FONT, 16).into_font().color(&ROOF_COLOUR);
        let left = text.clone().pos(Pos::new(HPos::Right, VPos::Bottom));
        let below_top = Frame {
            y: (frame.y.0, top),
            ..*frame
        };
        if let Some([first, last]) = below_top.slope(slope) {
            plot.draw_series(LineSeries::new([first, last], line))?;
            let middle = (first.0 * last.0).sqrt();
            plot.draw_series([EmptyElement::at((middle, middle * slope))
                + Text::new(measured(memory), (-10, -2), left.clone())])?;
        }
        // Roofs that are as good as one are drawn as one.
        for same in flats.chunk_by(|a, b| a.value < CLOSE * b.value) {
            let y = same[0].value / 1e9;
            let ridge = y / slope;
            plot.draw_series(LineSeries::new([(ridge, y), (frame.x.1, y)], line))?;
            plot.draw_series([Circle::new((ridge, y), 4, ROOF_COLOUR.filled())])?;
            let mut names: Vec<&str> = same[1..].iter().map(|it| it.quantity.name()).collect();
            let first = measured(same[0]);
            names.push(&first);
            let label = format!("{}, ridge point {ridge:.1} FLOP/byte", names.join(", "));
            plot.draw_series([
                EmptyElement::at((frame.x.1, y)) + Text::new(label, (-6, -4), left.clone())
            ])?;
        }
        Ok(())
    }

    fn draw_rows<'a, B: DrawingBackend + 'a>(&self, plot: &mut RooflinePlot<'a, B>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let mut curves: Vec<&str> = Vec::new();
        for row in self.rows {
            if !curves.contains(&row.curve.as_str()) {
                curves.push(&row.curve);
            }
        }
        for (index, curve) in curves.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            let rows = || self.rows.iter().filter(|row| row.curve == *curve);
            let points = || rows().map(|row| (row.ai, row.gflops));
            plot.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
                .label(*curve)
                .legend(move |at| EmptyElement::at(at) + mark((12, 0), index, colour));
            plot.draw_series(
                points().map(|at| EmptyElement::at(at) + mark((0, 0), index, colour)),
            )?;
        }
        if curves.len() > 1 {
            plot.configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .label_font((FONT, 16))
                .background_style(WHITE.mix(0.9))
                .border_style(RGBColor(200, 200, 200))
                .draw()?;
        }
        Ok(())
    }

    /// A ring around each row that is pointed out, and what is said of it: on the left beside it, and
    /// further right below it, where there is room.
    fn draw_notes<'a, B: DrawingBackend + 'a>(
        &self,
        plot: &mut RooflinePlot<'a, B>,
        Frame { x, y }: Frame,
    ) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        const RADIUS: i32 = 12;
        let colour = PALETTE[1];
        let width = (x.1 / x.0).ln();
        // Shares of the height at which the notes stand.
        let mut heights = (0..).map(|line| 0.35 - 0.05 * f64::from(line));
        for row in self.rows {
            let Some(note) = &row.note else { continue };
            let at = (row.ai, row.gflops);
            let share = (row.ai / x.0).ln() / width;
            let side = if share < 0.6 { HPos::Left } else { HPos::Right };
            let style = (FONT, 18).into_font().color(&BLACK);
            let style = style.pos(Pos::new(side, VPos::Top));
            plot.draw_series([
                EmptyElement::at(at) + Circle::new((0, 0), RADIUS, colour.stroke_width(3))
            ])?;
            let (place, gap) = match heights.next() {
                Some(height) if share > 0.4 => {
                    let below = (row.ai, y.0 * (y.1 / y.0).powf(height));
                    plot.draw_series(LineSeries::new([at, below], colour))?;
                    (below, (0, 4))
                }
                _ => (at, (RADIUS + 6, RADIUS)),
            };
            let text = Text::new(note.clone(), gap, style);
            plot.draw_series([EmptyElement::at(place) + text])?;
        }
        Ok(())
    }
}

impl Picture for SavedChart<'_> {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        if self.rows.is_empty() {
            return Err("there are no rows to draw".into());
        }
        let frame = self.frame()?;
        let device = &self.memory()?.device;
        let emulated = match self.ceilings.emulated {
            true => " Emulated: these are not a GPU's times.",
            false => "",
        };
        let subtitle = format!("{device}. The roofs are measured.{emulated}");
        let body = headed(area, self.title, &subtitle)?;
        let mut plot = roofline_plot(&body, frame.x, frame.y)?;
        self.draw_roofs(&mut plot, &frame)?;
        self.draw_rows(&mut plot)?;
        self.draw_notes(&mut plot, frame)?;
        area.present()?;
        Ok(())
    }
}

fn measured(ceiling: &Ceiling) -> String {
    let value = ceiling.unit.text(ceiling.value);
    format!("{} {value}", ceiling.quantity.name())
}

fn spread(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0f64), |(least, most), it| {
        (least.min(it), most.max(it))
    })
}
