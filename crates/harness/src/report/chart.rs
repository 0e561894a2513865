//! The roofline chart: rate against arithmetic intensity, both logarithmic, under the roofs.

mod predicted;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat};
use super::intensities::{Intensity, Source as IntensityOf, intensities};
use super::plot::{Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Plot, Series, Source};
use super::predicted::cases;
use super::roofs::{self, Named, memory_name};
use crate::ceilings::Ceilings;
use crate::driver::DeviceProperties;
use crate::links::LinkRoof;
use crate::model::{GpuRoofs, Precision, Roofs, TensorType};
use crate::sweep::{Record, by_series};
use crate::table::listed;
use predicted::{predicted, predicted_beside};

/// A roofline chart.
pub struct Chart<'a> {
    /// The device that made the records.
    pub device: &'a DeviceProperties,
    /// Its roofs.
    pub roofs: &'a BTreeMap<Precision, Roofs>,
    /// Its ceilings, where they are known: drawn beside the roofs.
    pub ceilings: Option<&'a Ceilings>,
    /// The roof of a link to the device, where one is drawn.
    pub link: Option<&'a LinkRoof>,
    /// The records, at least one.
    pub records: &'a [Record],
    /// The GPU that is drawn in the device's place: with its roofs, and hollow marks at the counted intensities, for
    /// what they allow. Nothing that was measured is drawn then.
    pub predicted: Option<&'a GpuRoofs>,
    /// Whether each row has a mark for each level of memory, and caches have roofs.
    pub levels: bool,
}

/// Parts that tell a curve apart: names and values.
type Parts = Vec<(&'static str, String)>;

impl Chart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// There are no records to draw (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<(), ChartError> {
        canvas::write(&self.figure(), format, output)
    }

    /// Whether no row has what a mark takes: where nothing is computed there is no intensity.
    pub fn is_empty(&self) -> bool {
        self.plot().series.is_empty()
    }

    /// The chart in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, paint: Paint) -> String {
        self.figure().text(columns, paint)
    }

    pub(super) fn figure(&self) -> Figure {
        let [title, mut subtitle] = self.heading();
        if self.link.is_some() {
            subtitle += roofs::ABOUT_LINKS;
        }
        Figure {
            title,
            subtitle,
            plots: vec![self.plot()],
        }
    }

    /// The curves under their roofs.
    pub(super) fn plot(&self) -> Plot {
        let guides = self.guides();
        let series = match self.predicted {
            Some(gpu) => self.predicted_series(gpu),
            None => self.measured_series(),
        };
        let series = [series, self.level_series()].concat();
        let marks = series.iter().flat_map(|series| &series.marks);
        let ends = |mark: &Mark| match (mark.kind, mark.noise) {
            (MarkKind::Predicted, Some((low, high))) => [low, high],
            _ => [mark.y; 2],
        };
        let marks = marks.flat_map(|mark| ends(mark).map(|y| (mark.x, y)));
        let marks: Vec<_> = marks.collect();
        let [x, y] = roofs::ranges(&marks, &guides);
        Plot {
            caption: String::new(),
            x: Axis::log(&roofs::intensity_axis(self.roofs.keys()), x),
            y: Axis::log(&roofs::rate_axis(self.roofs.keys()), y),
            guides,
            series,
        }
    }

    fn guides(&self) -> Vec<Guide> {
        let of_gpu = |precision: &Precision| self.predicted?.roofs(*precision);
        let sheets: Vec<(Precision, Roofs)> = self
            .roofs
            .iter()
            .map(|(precision, own)| (*precision, of_gpu(precision).unwrap_or(*own)))
            .collect();
        let memory = sheets.iter().map(|(_, roofs)| roofs.memory);
        let name = match self.predicted {
            Some(_) => "memory",
            None => memory_name(self.device),
        };
        let memory = memory.max_by(|a, b| a.0.total_cmp(&b.0));
        let mut slopes: Vec<_> = memory
            .map(|value| Named::new(name.to_owned(), value, Source::Sheet))
            .into_iter()
            .collect();
        let mut flats: Vec<_> = sheets
            .iter()
            .flat_map(|(precision, roofs)| roofs::arithmetic(*precision, roofs))
            .collect();
        let used = self.records.iter().flat_map(|it| it.tensor_types.clone());
        let used: BTreeSet<TensorType> = used.collect();
        if let Some((_, roofs)) = sheets.first() {
            flats.extend(roofs::tensor(&used, roofs));
        }
        // The device's own say nothing of another GPU.
        if let (Some(ceilings), None) = (self.ceilings, self.predicted) {
            slopes.extend(roofs::measured_slopes(ceilings));
            let of = |precision: &Precision| roofs::measured_arithmetic(*precision, ceilings);
            flats.extend(self.roofs.keys().flat_map(of));
            flats.extend(roofs::measured_tensor(&used, ceilings));
        }
        if self.levels {
            slopes.extend(self.predicted.map(roofs::caches).unwrap_or_default());
            let own = self.ceilings.filter(|_| self.predicted.is_none());
            slopes.extend(own.and_then(roofs::measured_l1));
        }
        slopes.extend(self.link.map(roofs::of_link));
        roofs::guides(&slopes, &flats)
    }

    fn measured_series(&self) -> Vec<Series> {
        let groups = by_series(self.records);
        let all: Vec<Parts> = groups.iter().map(|(series, _)| series.parts()).collect();
        let series = groups.iter().zip(&all).map(|((_, members), parts)| Series {
            name: label(parts, &all),
            joined: Joined::Marks,
            marks: members.iter().filter_map(|it| measured(it)).collect(),
        });
        let beside = Series {
            name: format!("hollow: predicted, with the interval of {}", cases()),
            joined: Joined::Not,
            marks: self.records.iter().filter_map(predicted_beside).collect(),
        };
        let series = series.chain([beside]).chain(self.intensities());
        series.filter(|it| !it.marks.is_empty()).collect()
    }

    /// Around the marks of rows whose counters were read, and beside predicted ones that have moved or computed something
    /// else than the formula says: where they lie by what was counted, and by the counters.
    fn intensities(&self) -> [Series; 2] {
        let is_ringed = |it: &&Record| match self.predicted {
            Some(_) => it.predicted_gflops.is_some() && is_counted_apart(it),
            None => it.dram_bytes.is_some(),
        };
        let ringed = || self.records.iter().filter(is_ringed);
        let of = |source, kind| {
            let marks = ringed().flat_map(move |record| {
                let mine = intensities(record).into_iter();
                let mine = mine.filter(move |it| it.source == source);
                mine.map(move |it| around(record, it, kind))
            });
            marks.collect()
        };
        [
            Series {
                name: "ring: operations and bytes of distinct sectors, counted by the emulator"
                    .to_owned(),
                joined: Joined::Not,
                marks: of(IntensityOf::Counted, MarkKind::Counted),
            },
            Series {
                name: "rhombus: operations and bytes of DRAM, measured by the GPU's counters"
                    .to_owned(),
                joined: Joined::Not,
                marks: of(IntensityOf::Measured, MarkKind::Counters),
            },
        ]
    }

    /// Where rows lie by the bytes that their caches move, at the same rates.
    fn level_series(&self) -> Vec<Series> {
        let levels: &[Level] = match self.levels {
            true => &[Level::L2, Level::L1],
            false => &[],
        };
        let series = levels.iter().map(|level| {
            let marks = self.records.iter().filter_map(|row| at_level(row, *level));
            Series {
                name: level.text().to_owned(),
                joined: Joined::Not,
                marks: marks.collect(),
            }
        });
        series.filter(|it| !it.marks.is_empty()).collect()
    }

    /// Curves that are the same, since the roofs do not know what tells their launches apart, are one.
    fn predicted_series(&self, gpu: &GpuRoofs) -> Vec<Series> {
        let mut curves: Vec<(Vec<Parts>, Vec<Mark>)> = Vec::new();
        for (series, members) in by_series(self.records) {
            let marks: Vec<Mark> = members.iter().filter_map(|it| predicted(it, gpu)).collect();
            if marks.is_empty() {
                continue;
            }
            let parts = series.parts();
            let is_same = |(all, known): &(Vec<Parts>, Vec<Mark>)| {
                let named = |of: &Parts| {
                    of.iter()
                        .filter(|(name, _)| name.is_empty())
                        .cloned()
                        .collect::<Parts>()
                };
                let places =
                    |marks: &[Mark]| marks.iter().map(|it| (it.x, it.y)).collect::<Vec<_>>();
                named(&all[0]) == named(&parts) && places(known) == places(&marks)
            };
            match curves.iter_mut().find(|curve| is_same(curve)) {
                Some((all, _)) => all.push(parts),
                None => curves.push((vec![parts], marks)),
            }
        }
        let joined: Vec<Parts> = curves.iter().map(|(all, _)| together(all)).collect();
        // What became one is told apart, too: `each 1 and 4`.
        let all: Vec<Parts> = curves.iter().flat_map(|(all, _)| all).cloned().collect();
        let curves = curves.into_iter().zip(&joined);
        let series = curves.map(|((_, marks), parts)| Series {
            name: label(parts, &all),
            joined: Joined::Not,
            marks,
        });
        let rings = self.intensities().into_iter();
        series
            .chain(rings.filter(|it| !it.marks.is_empty()))
            .collect()
    }

    /// Returns what is measured and what is predicted, and what all curves have in common.
    fn heading(&self) -> [String; 2] {
        let device = &self.device.name;
        let has_model = self.records.iter().any(|it| it.model_ms.is_some());
        match self.predicted {
            Some(gpu) => [
                format!(
                    "Roofline of {}, predicted: no GPU was measured",
                    gpu.gpu.name
                ),
                format!(
                    "Hollow: {} counted on an emulator, which is not a GPU{}. Roofs: {}.",
                    match has_model {
                        true => "predicted from what was",
                        false => "the most that the roofs allow of what was",
                    },
                    match has_model {
                        true => format!("; whiskers: the interval of {}", cases()),
                        false => String::new(),
                    },
                    gpu.source()
                ),
            ],
            None if self.device.is_emulated() => [
                format!("Roofline of {device}, measured on this host"),
                format!(
                    "{}Emulated: these are not a GPU's times; the roofs are this host's, measured.",
                    self.conditions()
                ),
            ],
            None => [
                format!("Roofline of {device}, measured"),
                format!(
                    "{}Filled: measured. Roofs: {}.",
                    self.conditions(),
                    match self.ceilings {
                        Some(_) =>
                            "solid, the data sheet's memory and lanes x 2 x clock; dashed, measured",
                        None => "the data sheet's memory, and lanes x 2 x clock",
                    }
                ),
            ],
        }
    }

    /// Describes what all curves have in common, but for the names of kernel and element type.
    fn conditions(&self) -> String {
        let all: Vec<Parts> = self
            .records
            .iter()
            .map(|row| row.series().parts())
            .collect();
        let Some(first) = all.first() else {
            return String::new();
        };
        let is_common = |part: &&(&'static str, String)| {
            let is_told = !part.0.is_empty()
                && part.0 != "cache"
                && (part.0, part.1.as_str()) != ("grid", "full");
            is_told && all.iter().all(|parts| parts.contains(part))
        };
        let common = first.iter().filter(is_common);
        let common = common
            .map(|(name, value)| format!("{name} = {value}"))
            .join(", ");
        match common.is_empty() {
            true => common,
            false => format!("{common}. "),
        }
    }
}

/// The parts of several curves as those of one: where they differ, all values.
fn together(all: &[Parts]) -> Parts {
    let names = all.iter().flatten().map(|(name, _)| *name).unique();
    let names: Vec<&'static str> = names.filter(|name| !name.is_empty()).collect();
    let unnamed = all[0].iter().filter(|(name, _)| name.is_empty()).cloned();
    let named = names.into_iter().map(|name| {
        let values = all.iter().flatten().filter(|(it, _)| *it == name);
        let values: Vec<&String> = values.map(|(_, value)| value).unique().collect();
        (name, listed(&values))
    });
    unnamed.chain(named).collect()
}

/// A curve's name: its kernel and element type, and what else is not the same for all curves.
fn label(parts: &Parts, all: &[Parts]) -> String {
    let named = parts.iter().filter(|(name, _)| name.is_empty());
    let names = named.map(|(_, value)| value).join(" ");
    let differs = |part: &&(&'static str, String)| {
        !part.0.is_empty() && !all.iter().all(|other| other.contains(part))
    };
    let others = parts.iter().filter(differs);
    let others = others.map(|(name, value)| format!("{name} {value}"));
    [names].into_iter().chain(others).join(", ")
}

/// `k = 1, ` where the record lies on a curve along k.
fn along(record: &Record) -> String {
    let along = record.along();
    along.map_or_else(String::new, |(name, value)| format!("{name} = {value}, "))
}

/// `None` for a row whose intensity or rate is not known.
fn measured(record: &Record) -> Option<Mark> {
    let (ai, gflops) = (record.ai?, record.gflops?);
    if gflops <= 0.0 {
        return None;
    }
    let flags = match record.flags[..] {
        [] => String::new(),
        _ => format!("\nflagged: {}", record.flags.join(", ")),
    };
    let rms = record.rms_percent / 100.0;
    let operation = record.operation();
    let tip = format!(
        "{}{ai:.3} {operation}/byte\n{gflops:.1} G{operation}/s, {:.1} GB/s\n{:.4} ms ± {:.2} %\n{:.1} % of the {} roof, bound \
         by {}\n{}{flags}",
        along(record),
        record.bandwidth?,
        record.mean_ms,
        record.rms_percent,
        record.percent_roof?,
        record.limiting_roof?.name(),
        record.bound?.name(),
        record.advice,
    );
    Some(Mark {
        x: ai,
        y: gflops,
        kind: MarkKind::Measured,
        noise: (record.samples > 1 && rms < 1.0)
            .then(|| (gflops / (1.0 + rms), gflops / (1.0 - rms))),
        tip,
        note: None,
        letters: None,
    })
}

/// Where a row lies by other figures than its own.
fn around(record: &Record, at: Intensity, kind: MarkKind) -> Mark {
    Mark {
        x: at.flop_per_byte,
        y: at.gflops,
        kind,
        noise: None,
        tip: format!(
            "{}{:.3} {operation}/byte, {}\n{:.1} G{operation}/s",
            along(record),
            at.flop_per_byte,
            at.source.name(),
            at.gflops,
            operation = record.operation(),
        ),
        note: None,
        letters: None,
    }
}

/// A cache whose bytes a row is drawn at beside those of memory.
#[derive(Clone, Copy)]
enum Level {
    L2,
    L1,
}

impl Level {
    fn text(self) -> &'static str {
        match self {
            Level::L2 => "at the bytes that L2 gives and takes",
            Level::L1 => "at the bytes that go through L1",
        }
    }

    /// A row's bytes, and whether the GPU's counters or the emulator say so.
    fn bytes(self, record: &Record) -> Option<(f64, MarkKind)> {
        let counted = |bytes: Option<u64>| Some((bytes? as f64, MarkKind::Predicted));
        match self {
            Level::L2 => match record.l2_bytes {
                Some(bytes) => Some((bytes, MarkKind::Measured)),
                None => counted(record.counted_l2_bytes),
            },
            Level::L1 => counted(record.counted_l1_bytes),
        }
    }
}

/// A row at the intensity of a level: its operations over the bytes of the level.
fn at_level(record: &Record, level: Level) -> Option<Mark> {
    let (gflops, ms) = match record.is_emulated {
        true => record.predicted_speed()?,
        false => (record.gflops?, record.mean_ms),
    };
    let (bytes, kind) = level.bytes(record).filter(|(bytes, _)| *bytes > 0.0)?;
    let flop_per_byte = gflops * 1e6 * ms / bytes;
    (flop_per_byte > 0.0).then(|| Mark {
        x: flop_per_byte,
        y: gflops,
        kind,
        noise: None,
        tip: format!(
            "{}{flop_per_byte:.3} {}/byte",
            along(record),
            record.operation()
        ),
        note: None,
        letters: None,
    })
}

/// Whether what was counted is of another intensity than the row's.
fn is_counted_apart(record: &Record) -> bool {
    /// Marks that are closer lie on each other.
    const CLOSE: f64 = 0.02;
    let both = record.counted_ai.zip(record.ai);
    both.is_some_and(|(counted, ai)| (counted / ai - 1.0).abs() > CLOSE)
}

#[cfg(test)]
mod tests;
