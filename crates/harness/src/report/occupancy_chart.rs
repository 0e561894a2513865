//! Speed against what is in flight: where a curve bends, Little's law is met.

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat, whole};
use super::occupancy::is_of_emulator;
use super::plot::{
    Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Path, Plot, Scale, Series, Source, highest,
    range,
};
use super::predicted::{Predicted, cases};
use crate::driver::DeviceProperties;
use crate::sweep::occupancy::{OccupancyRecord, families, variant};
use crate::table::listed;

/// A chart of an occupancy study: one plot for each kernel and size, marks for each number of independent operations
/// per thread.
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
    /// There are no records to draw (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(
        &self,
        format: ChartFormat,
        output: impl std::io::Write,
    ) -> Result<(), ChartError> {
        canvas::write(&self.figure(), format, output)
    }

    /// The chart in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, paint: Paint) -> String {
        self.figure().text(columns, paint)
    }

    fn figure(&self) -> Figure {
        let has_model = self.records.iter().any(|it| it.model_ms.is_some());
        let hollow = format!("Hollow: predicted, with the interval of {}", cases());
        let law = "Dashed: latency x rate, both measured (Little's law).";
        let said = match (predicted_gpu(self.records), has_model) {
            (Some(_), _) => {
                format!("{hollow}, of what was counted on an emulator, which is not a GPU.")
            }
            (None, true) => format!("{law} {hollow}."),
            (None, false) if self.device.is_emulated() => {
                format!("{law} Emulated: these are not a GPU's times.")
            }
            (None, false) => law.to_owned(),
        };
        Figure {
            title: match predicted_gpu(self.records) {
                Some(gpu) => format!("Speed against work in flight: {gpu}, predicted"),
                None => format!(
                    "Speed against work in flight: {}, measured",
                    self.device.name
                ),
            },
            subtitle: format!("A mark per block size, occupancy and register limit. {said}"),
            plots: plots(self.records),
        }
    }
}

/// A plot for each family of rows.
pub(super) fn plots(records: &[OccupancyRecord]) -> Vec<Plot> {
    let families = families(records);
    let of = |wanted: &String| {
        let members = records.iter().zip(&families);
        let members = members.filter(|(_, family)| *family == wanted);
        let members: Vec<_> = members.map(|(record, _)| record).collect();
        plot(wanted, &members)
    };
    families.iter().unique().filter_map(of).collect()
}

/// Where a record stands: without what a thread has under way, occupancy is what there is to show.
fn place(record: &OccupancyRecord) -> f64 {
    match record.in_flight {
        Some(it) => it.provided,
        None => record.occupancy_percent,
    }
}

/// Speed of one kernel against what is in flight. `None` where there is nothing above 0.
fn plot(kernel: &str, records: &[&OccupancyRecord]) -> Option<Plot> {
    let first = records.first()?;
    let is_predicted = records.iter().any(|it| is_predicted(it));
    // That of the emulator's host is not what a GPU needs.
    let needed = first.in_flight.map(|it| it.needed);
    let needed = needed.filter(|_| !is_predicted);
    let variants: Vec<String> = records
        .iter()
        .map(|record| variant(record))
        .unique()
        .collect();
    let measured: MarkOf = |record| Some(mark(record));
    let kinds: [(&str, MarkOf); 2] = [("measured", measured), ("predicted", predicted_mark)];
    // Where no GPU was measured, there is only what is predicted.
    let kinds = &kinds[usize::from(is_predicted)..];
    let of = |wanted: &String, (kind, mark): &(&str, MarkOf)| Series {
        joined: Joined::Not,
        marks: records
            .iter()
            .filter(|record| variant(record) == *wanted)
            .filter_map(|record| mark(record))
            .collect(),
        name: match (wanted.as_str(), *kind) {
            ("", kind) => kind.to_owned(),
            (wanted, "predicted") if !is_predicted => format!("{wanted}, predicted"),
            (wanted, _) => wanted.to_owned(),
        },
    };
    let series = variants
        .iter()
        .flat_map(|wanted| kinds.iter().map(move |kind| of(wanted, kind)));
    let series: Vec<Series> = series.filter(|it| !it.marks.is_empty()).collect();
    let top = highest(series.iter().flat_map(|it| &it.marks)) * 1.15;
    let places = records.iter().map(|record| place(record)).chain(needed);
    let x = range(places, 1.5);
    if top <= 0.0 || x.0 <= 0.0 {
        return None;
    }
    let name = match first.in_flight {
        Some(it) => format!("{} in flight per multiprocessor", it.unit),
        None => "occupancy, %".to_owned(),
    };
    let guides = needed.map(|needed| Guide {
        label: {
            let unit = first.in_flight.map_or("", |it| it.unit);
            let count = match needed {
                10.0.. => whole(needed),
                _ => format!("{needed:.2}"),
            };
            format!("needed: {count} {unit}")
        },
        path: Path::Vertical(needed),
        source: Source::Measured,
        number: 0,
        dots: Vec::new(),
    });
    Some(Plot {
        caption: kernel.to_owned(),
        x: Axis::log(&name, x),
        y: Axis {
            name: first.unit.to_owned(),
            range: (0.0, top),
            scale: Scale::Linear,
            names: Vec::new(),
        },
        guides: guides.into_iter().collect(),
        series,
    })
}

/// A mark of a row, where it has one of this kind.
type MarkOf = fn(&OccupancyRecord) -> Option<Mark>;

/// The GPU that rows of the emulator are predicted for, where they have times.
pub(super) fn predicted_gpu(records: &[OccupancyRecord]) -> Option<&str> {
    let of_gpu = records.iter().filter(|it| is_predicted(it));
    of_gpu.filter_map(|it| it.predicted_gpu.as_deref()).next()
}

fn is_predicted(record: &OccupancyRecord) -> bool {
    is_of_emulator(record) && record.model_ms.is_some()
}

fn predicted_mark(record: &OccupancyRecord) -> Option<Mark> {
    let (time, rate) = (Predicted::of_study(record)?, record.model_rate?);
    Some(Mark {
        x: place(record),
        y: rate,
        kind: MarkKind::Predicted,
        noise: Some(time.rates(rate)),
        tip: format!(
            "block {}, {:.0} % occupancy, {} registers\npredicted: {rate:.1} {}, {},\nlimited by {}",
            record.block,
            record.occupancy_percent,
            record.registers.unwrap_or(0),
            record.unit,
            time.text(),
            time.limit,
        ),
        note: None,
        letters: None,
    })
}

fn mark(record: &OccupancyRecord) -> Mark {
    let rms = record.rms_percent / 100.0;
    let tip = format!(
        "block {}, {:.0} % occupancy, {} registers\n{:.1} {}, {:.1} % of the ceiling\nlimited by {}",
        record.block,
        record.occupancy_percent,
        record.registers.unwrap_or(0),
        record.rate,
        record.unit,
        record.percent_ceiling.unwrap_or(0.0),
        listed(&record.limited_by).replace('_', " "),
    );
    Mark {
        x: place(record),
        y: record.rate,
        kind: MarkKind::Measured,
        noise: (rms < 1.0).then(|| (record.rate / (1.0 + rms), record.rate / (1.0 - rms))),
        tip,
        note: None,
        letters: None,
    }
}
