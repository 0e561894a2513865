//! A roofline of rows that were measured before, some of which are pointed out.

use std::collections::BTreeSet;

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat};
use super::plot::{Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Plot, Series};
use super::roofs::{self, Named};
use crate::ceilings::{Ceilings, PLAUSIBLE_PERCENT};
use crate::links::LinkRoof;
use crate::model::{FlopsPerSec, Precision, TensorType};

/// A row of a roofline's CSV, as far as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRow {
    /// Values that the rows of a curve have in common.
    pub curve: String,
    /// The element type, where lanes compute.
    pub precision: Option<Precision>,
    /// The types whose matrices tensor cores multiply.
    pub tensor_types: Vec<TensorType>,
    /// FLOP/byte.
    pub ai: f64,
    /// 1e9 FLOP/s.
    pub gflops: f64,
    /// Whether its data stay in the level 2 cache, whose roof is above the memory's.
    pub in_l2: bool,
    /// Note on the row; `None` does not point it out.
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
    /// The roof of a link to it, where one is drawn.
    pub link: Option<&'a LinkRoof>,
}

impl SavedChart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// As [`SavedChart::text`]; there are no rows to draw (in words), or what `output` returns
    /// ([`io::Error`](std::io::Error)).
    pub fn write(
        &self,
        format: ChartFormat,
        output: impl std::io::Write,
    ) -> Result<(), ChartError> {
        canvas::write(&self.figure()?, format, output)
    }

    /// The chart in characters, at most `columns` wide.
    ///
    /// # Errors
    /// In words: the ceilings have no copy of memory, which is the roof on the left, or none of the rows' arithmetic.
    pub fn text(&self, columns: usize, paint: Paint) -> Result<String, ChartError> {
        Ok(self.figure()?.text(columns, paint))
    }

    /// Returns the numbers, from 0, of the rows that lie above their roof, each with the roof in 1e9 FLOP/s: what no launch does.
    pub fn above_roof(&self) -> Vec<(usize, f64)> {
        let slopes = roofs::measured_slopes(self.ceilings);
        let slope = |row: &SavedRow| {
            let names = if row.in_l2 { "L2" } else { "memory" };
            slopes.iter().find(|it| it.name.starts_with(names))
        };
        let rows = self.rows.iter().enumerate().filter_map(|(index, row)| {
            let flats = self.flats(row).into_iter().map(|it| it.value.giga());
            let flat = flats.reduce(f64::max)?;
            let roof = flat.min(row.ai * slope(row)?.value.giga());
            (100.0 * row.gflops > PLAUSIBLE_PERCENT * roof).then_some((index, roof))
        });
        rows.collect()
    }

    /// The roofs of a row's arithmetic.
    fn flats(&self, row: &SavedRow) -> Vec<Named<FlopsPerSec>> {
        let lanes = row.precision.into_iter();
        let lanes =
            lanes.flat_map(|precision| roofs::measured_arithmetic(precision, self.ceilings));
        let types = row.tensor_types.iter().copied().collect();
        lanes
            .chain(roofs::measured_tensor(&types, self.ceilings))
            .collect()
    }

    fn figure(&self) -> Result<Figure, ChartError> {
        let guides = self.guides()?;
        let marks: Vec<_> = self.rows.iter().map(|row| (row.ai, row.gflops)).collect();
        let [x, y] = roofs::ranges(&marks, &guides);
        let emulated = match self.ceilings.emulated {
            true => " Emulated: these are not a GPU's times.",
            false => "",
        };
        let device = &self.ceilings.key.device;
        let link = self.link.map_or("", |_| roofs::ABOUT_LINKS);
        let above = match self.above_roof().len() {
            0 => String::new(),
            1 => " 1 row lies above its roof: implausible.".to_owned(),
            count => format!(" {count} rows lie above their roofs: implausible."),
        };
        Ok(Figure {
            title: self.title.to_owned(),
            subtitle: format!(
                "{device}. Filled: measured; the roofs are measured, too.{emulated}{link}{above}"
            ),
            plots: vec![Plot {
                caption: String::new(),
                x: Axis::log(&roofs::intensity_axis(self.precisions().iter()), x),
                y: Axis::log(&roofs::rate_axis(self.precisions().iter()), y),
                guides,
                series: self.series(),
            }],
        })
    }

    /// The types of the rows.
    fn precisions(&self) -> BTreeSet<Precision> {
        self.rows.iter().filter_map(|row| row.precision).collect()
    }

    fn guides(&self) -> Result<Vec<Guide>, ChartError> {
        let slopes = roofs::measured_slopes(self.ceilings);
        // The cache's is not the roof of most rows.
        let memory = slopes.first().filter(|it| it.name.starts_with("memory"));
        let memory = memory.ok_or("the ceilings have no memory copy")?;
        let mut flats: Vec<_> = self
            .precisions()
            .into_iter()
            .flat_map(|precision| roofs::measured_arithmetic(precision, self.ceilings))
            .collect();
        let used = self.rows.iter().flat_map(|row| row.tensor_types.clone());
        flats.extend(roofs::measured_tensor(&used.collect(), self.ceilings));
        if flats.is_empty() {
            return Err(
                "the ceilings have none of the rows' arithmetic: run `ridgepoint ceilings` again"
                    .into(),
            );
        }
        let link = self.link.map(roofs::of_link);
        let slopes: Vec<_> = [memory.clone()].into_iter().chain(link).collect();
        Ok(roofs::guides(&slopes, &flats))
    }

    fn series(&self) -> Vec<Series> {
        let curves = self.rows.iter().map(|row| row.curve.as_str()).unique();
        let above: Vec<usize> = self
            .above_roof()
            .into_iter()
            .map(|(index, _)| index)
            .collect();
        let mark = |(index, row): (usize, &SavedRow)| Mark {
            x: row.ai,
            y: row.gflops,
            kind: MarkKind::Measured,
            noise: None,
            tip: String::new(),
            note: match (&row.note, above.contains(&index)) {
                (note, false) => note.clone(),
                (None, true) => Some("above its roof".to_owned()),
                (Some(note), true) => Some(format!("{note}. Above its roof")),
            },
            letters: None,
        };
        let series = curves.map(|curve| Series {
            name: match curve {
                "" => "rows".to_owned(),
                curve => curve.to_owned(),
            },
            joined: Joined::Marks,
            marks: self
                .rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.curve == curve)
                .map(mark)
                .collect(),
        });
        series.collect()
    }
}
