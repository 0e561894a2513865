//! Speed against what is in flight: where a curve bends, Little's law is met.

use std::collections::BTreeSet;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{
    self, ChartError, ChartFormat, FONT, HEADING, PALETTE, Picture, headed, mark, plain,
};
use crate::driver::DeviceProperties;
use crate::sweep::occupancy::OccupancyRecord;

const NEEDED_COLOUR: RGBColor = RGBColor(60, 60, 60);

/// Plots side by side at most: the labels of narrower ones overlap.
const ABREAST: usize = 3;
/// Height of a row of plots in pixels, where there are several.
const ROW: u32 = 360;
/// Height of the legend.
const LEGEND: u32 = 28;

/// What a chart of an occupancy study shows: one plot for each kernel, one curve for each number of
/// independent operations a thread.
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

    fn kernels(&self) -> Vec<&'static str> {
        let mut kernels: Vec<&'static str> = Vec::new();
        for record in self.records {
            if !kernels.contains(&record.kernel) {
                kernels.push(record.kernel);
            }
        }
        kernels
    }

    fn ilps(&self) -> Vec<u32> {
        let ilps: BTreeSet<u32> = self.records.iter().map(|record| record.ilp).collect();
        ilps.into_iter().collect()
    }

    fn rows(&self) -> usize {
        self.kernels().len().div_ceil(ABREAST).max(1)
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
        let ilps = self.ilps();
        let (legend, body) = body.split_vertically(LEGEND);
        draw_legend(&legend, &ilps)?;
        let kernels = self.kernels();
        let columns = kernels.len().div_ceil(self.rows()).max(1);
        let plots = body.split_evenly((self.rows(), columns));
        for (kernel, plot) in kernels.iter().zip(&plots) {
            let records: Vec<&OccupancyRecord> = self
                .records
                .iter()
                .filter(|record| record.kernel == *kernel)
                .collect();
            draw_kernel(plot, kernel, &records, &ilps)?;
        }
        area.present()?;
        Ok(())
    }
}

/// What the marks stand for.
fn draw_legend<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    ilps: &[u32],
) -> Result<(), ChartError>
where
    B::ErrorType: 'static,
{
    const EACH: i32 = 90;
    for (index, ilp) in ilps.iter().enumerate() {
        let x = 28 + EACH * index as i32;
        area.draw(&mark((x, 12), index, PALETTE[index % PALETTE.len()]))?;
        let style = (FONT, 16).into_text_style(area);
        area.draw_text(&format!("ILP {ilp}"), &style, (x + 14, 4))?;
    }
    Ok(())
}

fn draw_kernel<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    kernel: &str,
    records: &[&OccupancyRecord],
    ilps: &[u32],
) -> Result<(), ChartError>
where
    B::ErrorType: 'static,
{
    let first = records.first().ok_or("there are no records to draw")?;
    let needed = first.in_flight.needed;
    let flights = records
        .iter()
        .map(|record| record.in_flight.provided)
        .chain([needed]);
    let (least, most) = flights.fold((f64::INFINITY, 0.0f64), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    let top = records.iter().map(|record| record.rate).fold(0.0, f64::max) * 1.15;
    let mut plot = ChartBuilder::on(area)
        .caption(format!("{kernel}, needed: {needed:.0}"), (FONT, 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d((least / 1.5..most * 1.5).log_scale().base(2.0), 0.0..top)?;
    plot.configure_mesh()
        .x_desc(format!(
            "{} in flight a multiprocessor",
            first.in_flight.unit
        ))
        .y_desc(first.unit)
        .axis_desc_style((FONT, 17))
        .label_style((FONT, 14))
        .x_labels(6)
        .y_labels(8)
        .x_label_formatter(&plain)
        .light_line_style(RGBColor(245, 245, 245))
        .draw()?;
    plot.draw_series(DashedLineSeries::new(
        [(needed, 0.0), (needed, top)],
        8,
        5,
        NEEDED_COLOUR.stroke_width(2),
    ))?;
    for (index, ilp) in ilps.iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let points = records
            .iter()
            .filter(|record| record.ilp == *ilp)
            .map(|record| (record.in_flight.provided, record.rate));
        plot.draw_series(points.map(|at| EmptyElement::at(at) + mark((0, 0), index, colour)))?;
    }
    Ok(())
}
