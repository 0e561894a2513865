//! The roofline of a program's kernels: a mark for each.

use std::collections::BTreeSet;
use std::io::Write;

use super::canvas::{self, ChartError, ChartFormat};
use super::plot::{Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Plot, Series, Source};
use super::roofs::{self, Named};
use crate::model::{GpuRoofs, Precision, Roofs, TensorType};
use crate::program::{KernelRow, Roofline};
use crate::table::{counted, time_text};

/// Kernels that have a series each, those that take the longest; the others share one.
const NAMED: usize = 8;

/// A program's kernels under the roofs of its GPU.
pub struct ProgramChart<'a> {
    /// The program.
    pub title: &'a str,
    /// Its kernels.
    pub roofline: &'a Roofline,
    /// The GPU.
    pub gpu: &'a GpuRoofs,
}

impl ProgramChart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no kernels to draw (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<(), ChartError> {
        canvas::write(&self.figure(), format, output)
    }

    /// Whether no kernel has an intensity.
    pub fn is_empty(&self) -> bool {
        self.drawn().next().is_none()
    }

    /// The chart in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, paint: Paint) -> String {
        self.figure().text(columns, paint)
    }

    fn drawn(&self) -> impl Iterator<Item = &KernelRow> {
        self.roofline.kernels.iter().filter(|it| mark(it).is_some())
    }

    fn figure(&self) -> Figure {
        let guides = self.guides();
        let series = self.series();
        let marks = series.iter().flat_map(|it| &it.marks);
        let marks: Vec<(f64, f64)> = marks.map(|it| (it.x, it.y)).collect();
        let [x, y] = roofs::ranges(&marks, &guides);
        let precisions = self.precisions();
        let without = self.roofline.kernels.len() - self.drawn().count();
        let without = match without {
            0 => String::new(),
            1 => " 1 kernel computes no floating-point numbers, and has no place.".to_owned(),
            many => {
                format!(" {many} kernels compute no floating-point numbers, and have no place.")
            }
        };
        Figure {
            title: format!("Kernels of {}", self.title),
            subtitle: format!(
                "Times as it ran; bytes of memory and operations by hardware counters. Roofs of {}: {}.{without}",
                self.gpu.gpu.name,
                self.gpu.source()
            ),
            plots: vec![Plot {
                caption: String::new(),
                x: Axis::log(&roofs::intensity_axis(precisions.iter()), x),
                y: Axis::log(&roofs::rate_axis(precisions.iter()), y),
                guides,
                series,
            }],
        }
    }

    /// The types whose roofs are drawn.
    fn precisions(&self) -> BTreeSet<Precision> {
        let names = self.drawn().flat_map(|it| &it.precisions);
        names.filter_map(|it| it.parse().ok()).collect()
    }

    fn guides(&self) -> Vec<Guide> {
        let precisions = self.precisions();
        let known = precisions.iter();
        let known: Vec<(Precision, Roofs)> = known
            .filter_map(|it| Some((*it, self.gpu.roofs(*it)?)))
            .collect();
        let memory = known.iter().map(|(_, roofs)| roofs.memory);
        let memory = memory.max_by(|a, b| a.0.total_cmp(&b.0));
        let mut slopes: Vec<_> = memory
            .map(|it| Named::new("memory", it, Source::Sheet))
            .into_iter()
            .collect();
        slopes.extend(roofs::caches(self.gpu));
        let flats = known.iter();
        let mut flats: Vec<_> = flats
            .flat_map(|(precision, roofs)| roofs::arithmetic(*precision, roofs))
            .collect();
        let types = self.drawn().flat_map(|it| &it.tensor_types);
        let types: BTreeSet<TensorType> = types.filter_map(|it| TensorType::named(it)).collect();
        if let Some((_, roofs)) = known.first() {
            flats.extend(roofs::tensor(&types, roofs));
        }
        roofs::guides(&slopes, &flats)
    }

    fn series(&self) -> Vec<Series> {
        let drawn: Vec<&KernelRow> = self.drawn().collect();
        let (named, others) = drawn.split_at(drawn.len().min(NAMED));
        let of = |name: String, rows: &[&KernelRow]| Series {
            name,
            joined: Joined::Not,
            marks: rows.iter().filter_map(|it| mark(it)).collect(),
        };
        // Kernels of a library often have one name, and are told apart by who launches them.
        let name = |row: &KernelRow| {
            let is_same = |it: &&&KernelRow| it.name == row.name;
            match drawn.iter().filter(is_same).count() {
                1 => row.name.clone(),
                _ => format!("{} at {}", row.name, row.place),
            }
        };
        let named = named.iter().map(|it| of(name(it), &[it]));
        let others = (!others.is_empty()).then(|| of("other kernels".to_owned(), others));
        named.chain(others).collect()
    }
}

/// `None` for a kernel without operations, or without bytes of memory.
fn mark(row: &KernelRow) -> Option<Mark> {
    let (x, y) = (row.flop_per_byte?, row.gflop_per_s?);
    let under = row.under.as_ref();
    let under = under.map(|it| {
        format!(
            "\n{:.0} % of the {} roof, bound by {}",
            it.percent, it.roof, it.bound
        )
    });
    (x > 0.0 && x.is_finite() && y > 0.0 && y.is_finite()).then(|| Mark {
        x,
        y,
        kind: MarkKind::Measured,
        noise: None,
        tip: format!(
            "{} at {}\n{x:.3} FLOP/byte\n{y:.1} GFLOP/s, {:.1} GB/s\n{} in {}{}",
            row.name,
            row.place,
            row.gbytes_per_s,
            time_text(row.total_ns),
            counted(row.launches, "launch"),
            under.unwrap_or_default()
        ),
        note: None,
        letters: None,
    })
}
