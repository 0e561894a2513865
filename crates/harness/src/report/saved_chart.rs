//! A roofline of rows that were measured before, some of which are pointed out.

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat};
use super::plot::{Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Plot, Series};
use super::roofs;
use crate::ceilings::Ceilings;
use crate::links::LinkRoof;
use crate::model::{Precision, TensorType};

/// A row of a roofline's CSV, as far as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRow {
    /// What the rows of a curve have in common.
    pub curve: String,
    /// The element type, where lanes compute.
    pub precision: Option<Precision>,
    /// The types whose matrices tensor cores multiply.
    pub tensor_types: Vec<TensorType>,
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
        Ok(Figure {
            title: self.title.to_owned(),
            subtitle: format!(
                "{device}. Filled: measured; the roofs are measured, too.{emulated}{link}"
            ),
            plots: vec![Plot {
                caption: String::new(),
                x: Axis::log("arithmetic intensity, FLOP/byte", x),
                y: Axis::log("GFLOP/s", y),
                guides,
                series: self.series(),
            }],
        })
    }

    fn guides(&self) -> Result<Vec<Guide>, ChartError> {
        let slopes = roofs::measured_slopes(self.ceilings);
        // The cache's is not the roof of most rows.
        let memory = slopes.first().filter(|it| it.name.starts_with("memory"));
        let memory = memory.ok_or("the ceilings have no memory copy")?;
        let has = |precision: &Precision| {
            let mut rows = self.rows.iter();
            rows.any(|row| row.precision == Some(*precision))
        };
        let of_rows = Precision::ALL.into_iter().filter(has);
        let mut flats: Vec<_> = of_rows
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
        let mark = |row: &SavedRow| Mark {
            x: row.ai,
            y: row.gflops,
            kind: MarkKind::Measured,
            noise: None,
            tip: String::new(),
            note: row.note.clone(),
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
                .filter(|row| row.curve == curve)
                .map(mark)
                .collect(),
        });
        series.collect()
    }
}
