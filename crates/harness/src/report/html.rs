//! One HTML file with charts whose points show their values, tables, and the run: it opens from disk
//! and asks for nothing from a network.

use std::io::{self, Write};

use itertools::Itertools;
use serde::Serialize;

use super::roofs::{Frame, memory_name};
use super::{Row, RunFacts};
use crate::ceilings::{Ceilings, Quantity};
use crate::model::{BytesPerSec, FlopsPerSec, Limit, Precision, Roofs};
use crate::report::Chart;
use crate::sweep::occupancy::{OccupancyRecord, families, knees, variant};
use crate::sweep::{Record, Series, by_series};

const TEMPLATE: &str = include_str!("report.html");

/// What the page's script draws.
#[derive(Debug, Serialize)]
pub struct HtmlReport {
    title: String,
    subtitle: String,
    notes: Vec<String>,
    charts: Vec<Plot>,
    tables: Vec<Cells>,
    facts: Vec<(&'static str, String)>,
}

#[derive(Debug, Serialize)]
struct Plot {
    title: String,
    x: Axis,
    y: Axis,
    lines: Vec<Line>,
    series: Vec<Points>,
}

#[derive(Debug, Serialize)]
struct Axis {
    name: String,
    range: (f64, f64),
    log: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    dashed: bool,
}

#[derive(Debug, Serialize)]
struct Points {
    name: String,
    joined: bool,
    points: Vec<Point>,
}

#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    label: String,
}

#[derive(Debug, Serialize)]
struct Cells {
    title: String,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl HtmlReport {
    /// The report of a roofline sweep.
    pub fn of_roofline(run: &RunFacts, chart: &Chart<'_>) -> HtmlReport {
        let charts = chart
            .roofs
            .iter()
            .map(|(precision, roofs)| roofline(chart, *precision, roofs));
        HtmlReport {
            charts: charts.collect(),
            tables: tables(chart.records, chart.ceilings),
            ..HtmlReport::empty("Roofline", run)
        }
    }

    /// The report of an occupancy study.
    pub fn of_occupancy(
        run: &RunFacts,
        records: &[OccupancyRecord],
        ceilings: &Ceilings,
    ) -> HtmlReport {
        let mut report = HtmlReport::empty("Occupancy", run);
        report
            .notes
            .extend(knees(records).iter().map(ToString::to_string));
        let families = families(records);
        let of = |wanted: &String| {
            let members = records.iter().zip(&families);
            let members: Vec<_> = members.filter(|(_, it)| *it == wanted).collect();
            flight(wanted, members.into_iter().map(|(record, _)| record))
        };
        report.charts = families.iter().unique().filter_map(of).collect();
        report.tables = tables(records, Some(ceilings));
        report
    }

    fn empty(what: &str, run: &RunFacts) -> HtmlReport {
        let device = &run.device;
        let emulated = device.is_emulated();
        let note = "Emulated: results match a GPU's; timings are those of this host.";
        let mut facts = vec![
            ("device", device.name.clone()),
            ("multiprocessors", device.multiprocessors.to_string()),
            (
                "memory",
                format!("{:.1} GiB", device.memory_bytes as f64 / f64::from(1 << 30)),
            ),
        ];
        if let Some(gpu) = &device.gpu {
            let (major, minor) = device.compute_capability;
            facts.push(("compute capability", format!("{major}.{minor}")));
            facts.push(("highest clock", format!("{:.0} MHz", gpu.clock_hz / 1e6)));
            let (major, minor) = gpu.cuda_version;
            facts.push(("driver", format!("CUDA {major}.{minor}")));
        }
        facts.push(("began", run.began.clone()));
        facts.push(("ridgepoint", run.version.to_owned()));
        facts.extend(run.commit.map(|commit| ("commit", commit.to_owned())));
        facts.push(("command", run.command.join(" ")));
        HtmlReport {
            title: format!("{what}: {}", device.name),
            subtitle: run.began.clone(),
            notes: emulated.then(|| note.to_owned()).into_iter().collect(),
            charts: Vec::new(),
            tables: Vec::new(),
            facts,
        }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// It could not be written.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        // A "</script>" in the data would end them.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        output.write_all(TEMPLATE.replacen("@DATA@", &data, 1).as_bytes())?;
        output.flush()
    }
}

fn tables<R: Row>(records: &[R], ceilings: Option<&Ceilings>) -> Vec<Cells> {
    let mut tables = vec![table("Rows", records)];
    tables.extend(ceilings.map(|it| table("Measured ceilings", &it.ceilings)));
    tables
}

fn table<R: Row>(title: &str, records: &[R]) -> Cells {
    Cells {
        title: title.to_owned(),
        columns: records.first().map_or_else(Vec::new, |first| {
            first.columns().into_iter().map(|(name, _)| name).collect()
        }),
        rows: records
            .iter()
            .map(|record| record.columns().into_iter().map(|(_, cell)| cell).collect())
            .collect(),
    }
}

/// `horner, f32, vector 4, ilp 1, ..`
fn named(series: &Series<'_>) -> String {
    let parts = series.parts().into_iter();
    let parts = parts.map(|(name, value)| format!("{name} {value}").trim_start().to_owned());
    parts.collect::<Vec<_>>().join(", ")
}

/// A chart of the rows of one precision under its roofs.
fn roofline(chart: &Chart<'_>, precision: Precision, roofs: &Roofs) -> Plot {
    let records: Vec<_> = chart
        .records
        .iter()
        .filter(|record| record.ai.is_some() && record.dtype.as_deref() == Some(precision.name()))
        .cloned()
        .collect();
    let series = by_series(&records)
        .into_iter()
        .map(|(series, members)| Points {
            name: named(&series),
            joined: true,
            points: members
                .iter()
                .filter_map(|record| Point::of(record))
                .collect(),
        });
    let measured = chart.ceilings;
    let value = |quantity| Some(measured?.get(quantity)?.value / 1e9);
    let rate = |limit| value(Quantity::arithmetic_rate(precision, limit)?);
    let flats = [
        Some(("FMA", roofs.ceiling(Limit::Fma).giga(), false)),
        Some(("add+mul", roofs.ceiling(Limit::AddMul).giga(), false)),
        rate(Limit::Fma).map(|it| ("FMA measured", it, true)),
        rate(Limit::AddMul).map(|it| ("add+mul measured", it, true)),
    ];
    let slopes = [
        Some((memory_name(chart.device), roofs.memory.giga(), false)),
        value(Quantity::MemoryCopy).map(|it| ("memory copy measured", it, true)),
        value(Quantity::L2Read).map(|it| ("L2 measured", it, true)),
    ];
    let (flats, slopes) = (flats.into_iter().flatten(), slopes.into_iter().flatten());
    let top = flats.clone().map(|(_, it, _)| it).fold(0.0, f64::max);
    let ends = slopes.clone().map(|(_, it, _)| top / it);
    let x = range(
        records.iter().filter_map(|record| record.ai).chain(ends),
        2.0,
    );
    let y = range(
        records
            .iter()
            .filter_map(|record| record.gflops)
            .chain([top]),
        2.0,
    );
    let flat_lines = flats.map(|(name, it, dashed)| Line {
        name: format!("{name} {}", FlopsPerSec(it * 1e9)),
        points: vec![(x.0, it), (x.1, it)],
        dashed,
    });
    let below_top = Frame { x, y: (y.0, top) };
    let slope_lines = slopes.filter_map(|(name, it, dashed)| {
        Some(Line {
            name: format!("{name} {}", BytesPerSec(it * 1e9)),
            points: below_top.slope(it)?.to_vec(),
            dashed,
        })
    });
    Plot {
        title: format!("Roofline, {}", precision.name()),
        lines: slope_lines.chain(flat_lines).collect(),
        series: series.collect(),
        x: Axis::log("arithmetic intensity, FLOP/byte", x),
        y: Axis::log("GFLOP/s", y),
    }
}

impl Point {
    /// `None` for a row whose intensity is not known.
    fn of(record: &Record) -> Option<Point> {
        let (ai, gflops) = (record.ai?, record.gflops?);
        let flags = match record.flags[..] {
            [] => String::new(),
            _ => format!("\nflagged: {}", record.flags.join(", ")),
        };
        let along = record
            .along()
            .map_or_else(String::new, |(name, value)| format!("{name} = {value}, "));
        Some(Point {
            x: ai,
            y: gflops,
            label: format!(
                "{along}{ai:.3} FLOP/byte\n{gflops:.1} GFLOP/s, {:.1} GB/s\n{:.4} ms ± {:.2} %\n{:.1} % \
                 of the {} roof, bound by {}\n{}{flags}",
                record.bandwidth?,
                record.mean_ms,
                record.rms_percent,
                record.percent_roof?,
                record.limiting_roof?.name(),
                record.bound?.name(),
                record.advice,
            ),
        })
    }
}

/// Speed of one kernel against what is in flight. `None` where that is not known.
fn flight<'a>(kernel: &str, records: impl Iterator<Item = &'a OccupancyRecord>) -> Option<Plot> {
    let members: Vec<_> = records
        .filter_map(|record| Some((record, record.in_flight?, variant(record))))
        .collect();
    let (first, in_flight, _) = members.first()?;
    let needed = in_flight.needed;
    let variants: Vec<&str> = members
        .iter()
        .map(|(.., it)| it.as_str())
        .unique()
        .collect();
    let top = members
        .iter()
        .map(|(record, ..)| record.rate)
        .fold(0.0, f64::max)
        * 1.1;
    let series = variants.into_iter().map(|variant| Points {
        name: variant.to_owned(),
        joined: false,
        points: members
            .iter()
            .filter(|(.., it)| it == variant)
            .map(|(record, in_flight, _)| Point {
                x: in_flight.provided,
                y: record.rate,
                label: format!(
                    "block {}, {:.0} % occupancy, {} registers\n{:.1} {}, {:.1} % of the ceiling\n\
                     limited by {}",
                    record.block,
                    record.occupancy_percent,
                    record.registers.unwrap_or(0),
                    record.rate,
                    record.unit,
                    record.percent_ceiling.unwrap_or(0.0),
                    record.limited_by.join(", "),
                ),
            })
            .collect(),
    });
    Some(Plot {
        title: format!("{kernel}: speed against what is in flight"),
        lines: vec![Line {
            name: format!("needed: {needed:.0}"),
            points: vec![(needed, 0.0), (needed, top)],
            dashed: true,
        }],
        series: series.collect(),
        x: Axis::log(
            &format!("{} in flight a multiprocessor", in_flight.unit),
            range(
                members
                    .iter()
                    .map(|(_, in_flight, _)| in_flight.provided)
                    .chain([needed]),
                1.5,
            ),
        ),
        y: Axis {
            name: first.unit.to_owned(),
            range: (0.0, top),
            log: false,
        },
    })
}

impl Axis {
    fn log(name: &str, range: (f64, f64)) -> Axis {
        Axis {
            name: name.to_owned(),
            range,
            log: true,
        }
    }
}

/// The values' range, wider by `factor` at both ends.
fn range(values: impl Iterator<Item = f64>, factor: f64) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    (least / factor, most * factor)
}
