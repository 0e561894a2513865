//! Speed against what is in flight: where a curve bends, Little's law is met.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{self, ChartError, ChartFormat, FONT, PALETTE, Picture, headed, mark, plain};
use crate::driver::Facts;
use crate::sweep::occupancy::OccupancyRecord;

const NEEDED_COLOUR: RGBColor = RGBColor(60, 60, 60);

/// What a chart of an occupancy study shows: one plot for each kernel, one curve for each number of
/// independent operations a thread.
pub struct OccupancyChart<'a> {
    /// The device that made the records.
    pub device: &'a Facts,
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
}

impl Picture for OccupancyChart<'_> {
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
                "A point for each block size and occupancy. Dashed: latency x rate, both measured \
                 (Little's law).{emulated}"
            ),
        )?;
        let kernels = self.kernels();
        let plots = body.split_evenly((1, kernels.len().max(1)));
        for (kernel, plot) in kernels.iter().zip(&plots) {
            let records: Vec<&OccupancyRecord> = self
                .records
                .iter()
                .filter(|record| record.kernel == *kernel)
                .collect();
            draw_kernel(plot, kernel, &records)?;
        }
        area.present()?;
        Ok(())
    }
}

fn draw_kernel<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    kernel: &str,
    records: &[&OccupancyRecord],
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
        .caption(kernel, (FONT, 20))
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
        .x_label_formatter(&plain)
        .light_line_style(RGBColor(245, 245, 245))
        .draw()?;
    plot.draw_series(DashedLineSeries::new(
        [(needed, 0.0), (needed, top)],
        8,
        5,
        NEEDED_COLOUR.stroke_width(2),
    ))?
    .label(format!("needed: {needed:.0}"))
    .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], NEEDED_COLOUR.stroke_width(2)));
    let mut ilps: Vec<u32> = records.iter().map(|record| record.ilp).collect();
    ilps.sort_unstable();
    ilps.dedup();
    for (index, ilp) in ilps.into_iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let points = records
            .iter()
            .filter(|record| record.ilp == ilp)
            .map(|record| (record.in_flight.provided, record.rate));
        plot.draw_series(points.map(|at| EmptyElement::at(at) + mark((0, 0), index, colour)))?
            .label(format!("ILP {ilp}"))
            .legend(move |at| EmptyElement::at(at) + mark((12, 0), index, colour));
    }
    plot.configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font((FONT, 15))
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    Ok(())
}
