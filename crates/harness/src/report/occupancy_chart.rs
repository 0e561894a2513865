//! Speed against what is in flight: where a curve bends, Little's law is met.

use itertools::Itertools;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{
    self, ChartError, ChartFormat, FONT, HEADING, PALETTE, Picture, headed, mark, plain,
};
use crate::driver::DeviceProperties;
use crate::sweep::occupancy::{OccupancyRecord, families, variant};

const NEEDED_COLOUR: RGBColor = RGBColor(60, 60, 60);

/// Plots side by side at most: the labels of narrower ones overlap.
const ABREAST: usize = 3;
/// Height of a row of plots in pixels, where there are several.
const ROW: u32 = 360;
/// Height of the legend.
const LEGEND: u32 = 28;

/// What a chart of an occupancy study shows: one plot for each kernel and size, marks for each number
/// of independent operations per thread.
pub struct OccupancyChart<'a> {
    /// The device that made the records.
    pub device: &'a DeviceProperties,
    /// The records, at least one.
    pub records: &'a [OccupancyRecord],
}

impl OccupancyChart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no records, or the output cannot be written.
    pub fn write(
        &self,
        format: ChartFormat,
        output: impl std::io::Write,
    ) -> Result<(), ChartError> {
        canvas::write(self, format, output)
    }

    fn families(&self) -> Vec<String> {
        families(self.records).into_iter().unique().collect()
    }

    fn rows(&self) -> usize {
        self.families().len().div_ceil(ABREAST).max(1)
    }
}

impl Picture for OccupancyChart<'_> {
    fn height(&self) -> u32 {
        match self.rows() {
            1 => HEADING + LEGEND + ROW * 7 / 4,
            rows => HEADING + LEGEND + ROW * rows as u32,
        }
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), ChartError>
    where
        B::ErrorType: 'static,
    {
        let emulated = if self.device.is_emulated() {
            " Emulated: these are not a GPU's times."
        } else {
            ""
        };
        let body = headed(
            area,
            &format!("Speed against work in flight: {}", self.device.name),
            &format!(
                "A point for each block size, occupancy and limit of registers. Dashed: latency x \
                 rate, both measured (Little's law).{emulated}"
            ),
        )?;
        let named = self.records.iter().zip(families(self.records));
        let records: Vec<_> = named
            .map(|(it, family)| (it, family, variant(it)))
            .collect();
        let variants: Vec<&str> = records
            .iter()
            .map(|(.., it)| it.as_str())
            .unique()
            .collect();
        let (legend, body) = body.split_vertically(LEGEND);
        draw_legend(&legend, &variants)?;
        let kernels = self.families();
        let columns = kernels.len().div_ceil(self.rows()).max(1);
        let plots = body.split_evenly((self.rows(), columns));
        for (kernel, plot) in kernels.iter().zip(&plots) {
            let members = records.iter().filter(|(_, it, _)| it == kernel);
            let records: Vec<_> = members
                .map(|(record, _, it)| (*record, it.as_str()))
                .collect();
            draw_kernel(plot, kernel, &records, &variants)?;
        }
        area.present()?;
        Ok(())
    }
}

/// What the marks stand for.
fn draw_legend<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    variants: &[&str],
) -> Result<(), ChartError>
where
    B::ErrorType: 'static,
{
    /// Pixels of a letter.
    const LETTER: i32 = 9;
    let mut x = 28;
    for (index, variant) in variants.iter().enumerate() {
        area.draw(&mark((x, 12), index, PALETTE[index % PALETTE.len()]))?;
        let style = (FONT, 16).into_text_style(area);
        area.draw_text(variant, &style, (x + 14, 4))?;
        x += 45 + LETTER * variant.chars().count() as i32;
    }
    Ok(())
}

fn draw_kernel<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    kernel: &str,
    records: &[(&OccupancyRecord, &str)],
    variants: &[&str],
) -> Result<(), ChartError>
where
    B::ErrorType: 'static,
{
    let (first, _) = records.first().ok_or("there are no records to draw")?;
    let in_flight = first.in_flight;
    // Without what a thread has under way, occupancy is what there is to show.
    let place = |record: &OccupancyRecord| match record.in_flight {
        Some(it) => it.provided,
        None => record.occupancy_percent,
    };
    let needed = in_flight.map(|it| it.needed);
    let places = records
        .iter()
        .map(|(record, _)| place(record))
        .chain(needed);
    let (least, most) = places.fold((f64::INFINITY, 0.0f64), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    let rates = records.iter().map(|(record, _)| record.rate);
    let top = rates.fold(0.0, f64::max) * 1.15;
    let caption = match needed {
        Some(needed) => format!("{kernel}, needed: {needed:.0}"),
        None => kernel.to_owned(),
    };
    let unit = in_flight.map_or("occupancy, %".to_owned(), |it| {
        format!("{} in flight a multiprocessor", it.unit)
    });
    let mut plot = ChartBuilder::on(area)
        .caption(caption, (FONT, 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d((least / 1.5..most * 1.5).log_scale().base(2.0), 0.0..top)?;
    plot.configure_mesh()
        .x_desc(unit)
        .y_desc(first.unit)
        .axis_desc_style((FONT, 17))
        .label_style((FONT, 14))
        .x_labels(6)
        .y_labels(8)
        .x_label_formatter(&plain)
        .light_line_style(RGBColor(245, 245, 245))
        .draw()?;
    if let Some(needed) = needed {
        plot.draw_series(DashedLineSeries::new(
            [(needed, 0.0), (needed, top)],
            8,
            5,
            NEEDED_COLOUR.stroke_width(2),
        ))?;
    }
    for (index, variant) in variants.iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let points = records
            .iter()
            .filter(|(_, it)| it == variant)
            .map(|(record, _)| (place(record), record.rate));
        plot.draw_series(points.map(|at| EmptyElement::at(at) + mark((0, 0), index, colour)))?;
    }
    Ok(())
}
