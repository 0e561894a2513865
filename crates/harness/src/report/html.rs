//! One HTML file with charts whose points show their values, tables, and the run: it opens from disk
//! and asks for nothing from a network.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::occupancy::study_findings;
use super::occupancy_chart::{plots, predicted_gpu};
use super::plot::{Figure, Home, dark_rules};
use super::{AxisChart, Cell, Chart, Row, RunFacts};
use crate::ceilings::Ceilings;
use crate::model::{Precision, Roofs};
use crate::sweep::Record;
use crate::sweep::occupancy::OccupancyRecord;
use crate::table::heading::heading;
use crate::table::{is_of_the_clock, is_outcome, listed};

const TEMPLATE: &str = include_str!("report.html");

/// Data that the page's script draws.
#[derive(Debug, Serialize)]
pub struct HtmlReport {
    title: String,
    subtitle: String,
    notes: Vec<String>,
    findings: Vec<String>,
    charts: Vec<Drawn>,
    tables: Vec<Cells>,
    facts: Vec<(&'static str, String)>,
}

/// A chart, for a page as wide as a screen and for one as narrow as a telephone.
#[derive(Debug, Serialize)]
struct Drawn {
    title: String,
    /// The names of the series, of which a reader chooses.
    series: Vec<String>,
    wide: String,
    narrow: String,
}

#[derive(Debug, Serialize)]
struct Cells {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Drawn {
    /// Pixels of the two widths.
    const WIDE: f64 = 1100.0;
    const NARROW: f64 = 400.0;

    fn new(title: String, figure: Figure) -> Drawn {
        let figure = Figure {
            // The page has it as a heading.
            title: String::new(),
            ..figure
        };
        let svg = |width| figure.scene(width).svg(Home::Page);
        Drawn {
            series: figure.names().into_iter().map(str::to_owned).collect(),
            wide: svg(Self::WIDE),
            narrow: svg(Self::NARROW),
            title,
        }
    }
}

impl HtmlReport {
    /// The report of a roofline sweep.
    pub fn of_roofline(run: &RunFacts, chart: &Chart<'_>) -> HtmlReport {
        let gpu = chart.predicted.map(|it| it.gpu.name.as_str());
        let of = |(&precision, &roofs): (&Precision, &Roofs)| {
            let own = |record: &&Record| record.dtype.as_deref() == Some(precision.name());
            let records: Vec<Record> = chart.records.iter().filter(own).cloned().collect();
            let chart = Chart {
                roofs: &BTreeMap::from([(precision, roofs)]),
                records: &records,
                ..*chart
            };
            let figure = chart.figure();
            let title = format!("{}: {}", precision.name(), figure.title);
            Drawn::new(title, figure)
        };
        HtmlReport {
            charts: chart.roofs.iter().map(of).collect(),
            tables: tables(chart.records, chart.ceilings, gpu),
            ..HtmlReport::empty("Roofline", run, gpu)
        }
    }

    /// The report of an occupancy study.
    pub fn of_occupancy(
        run: &RunFacts,
        records: &[OccupancyRecord],
        ceilings: &Ceilings,
    ) -> HtmlReport {
        let timed = predicted_gpu(records);
        let mut report = HtmlReport::empty("Occupancy", run, timed);
        report.findings = study_findings(records);
        let charts = plots(records).into_iter().map(|mut plot| {
            let caption = std::mem::take(&mut plot.caption);
            let figure = Figure {
                title: String::new(),
                subtitle: String::new(),
                plots: vec![plot],
            };
            Drawn::new(
                format!(
                    "{caption}: speed against work in flight, {}",
                    match timed {
                        Some(_) => "predicted",
                        None => "measured",
                    }
                ),
                figure,
            )
        });
        report.charts = charts.collect();
        let gpu = records.iter().find_map(|it| it.predicted_gpu.as_deref());
        report.tables = tables(records, Some(ceilings), gpu);
        report
    }

    /// The same with a chart against an axis before the others. One that is predicted stands in the place of those of the
    /// host's times, and the page is of its GPU.
    #[must_use]
    pub fn with(mut self, chart: &AxisChart) -> HtmlReport {
        let gpu = chart.gpu();
        if !gpu.is_empty() && !self.title.contains(gpu) {
            let study = self.title.split(':').next().unwrap_or_default();
            self.title = format!("{study}: {gpu}, predicted");
            self.notes = vec![predicted_note(gpu)];
            self.charts.clear();
            self.findings.clear();
        }
        let figure = chart.figure();
        self.charts
            .insert(0, Drawn::new(figure.title.clone(), figure));
        self
    }

    /// Without charts. The title names the one GPU that the page is of: what is predicted is of no other.
    fn empty(what: &str, run: &RunFacts, predicted: Option<&str>) -> HtmlReport {
        let device = &run.device;
        let emulated = device.is_emulated();
        let note = match predicted {
            Some(gpu) => predicted_note(gpu),
            None => "Emulated: results match a GPU's; timings are those of this host.".to_owned(),
        };
        let mut facts = vec![
            ("run on", device.name.clone()),
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
            title: match predicted {
                Some(gpu) => format!("{what}: {gpu}, predicted"),
                None => format!("{what}: {}", device.name),
            },
            subtitle: run.began.clone(),
            notes: emulated.then_some(note).into_iter().collect(),
            findings: Vec::new(),
            charts: Vec::new(),
            tables: Vec::new(),
            facts,
        }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Errors of `output` ([`io::Error`]) when it is written to or flushed.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        // A "</script>" in the data would end them.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        let series = self.charts.iter().map(|it| it.series.len()).max();
        // Of less weight than the rules of a point that is pointed at.
        let dark = dark_rules(
            ":where(:root[data-theme=\"dark\"]) svg ",
            0..series.unwrap_or(0),
        );
        let page = TEMPLATE.replacen("@DARK@", &dark, 1);
        output.write_all(page.replacen("@DATA@", &data, 1).as_bytes())?;
        output.flush()
    }
}

fn predicted_note(gpu: &str) -> String {
    format!(
        "Predicted for {gpu}: no GPU was measured. The results match a GPU's; timings are those of this host."
    )
}

/// Of rows that are predicted for a GPU, what its roofs allow stands apart from the times of the host.
fn tables<R: Row>(records: &[R], ceilings: Option<&Ceilings>, gpu: Option<&str>) -> Vec<Cells> {
    let mut tables = match gpu {
        None => vec![table("Rows", records, |_| true)],
        Some(gpu) => vec![
            table(&format!("Rows, predicted for {gpu}"), records, |it| {
                !is_of_the_clock(it)
            }),
            table("Times of this host, which is not a GPU", records, |it| {
                // Numbers of several units stand in one column.
                let is_unit = matches!(it, "unit" | "in_flight_unit");
                is_of_the_clock(it) || !is_outcome(it) || is_unit
            }),
        ],
    };
    tables.extend(ceilings.map(|it| {
        let title = match gpu.is_some() && it.emulated {
            true => "Ceilings of this host, which is not a GPU",
            false => "Measured ceilings",
        };
        table(title, &it.ceilings, |_| true)
    }));
    tables
}

/// The columns that hold something in any row and that are `wanted`.
fn table<R: Row>(title: &str, records: &[R], wanted: impl Fn(&str) -> bool) -> Cells {
    let rows: Vec<_> = records.iter().map(Row::columns).collect();
    let names = rows.first().into_iter().flatten().map(|(name, _)| *name);
    let is_filled = |place: &usize| rows.iter().any(|row| !row[*place].1.is_empty());
    let names: Vec<&str> = names.collect();
    let filled = (0..names.len()).filter(|place| is_filled(place) && wanted(names[*place]));
    let filled: Vec<usize> = filled.collect();
    let cells = |row: &Vec<Cell>| filled.iter().map(|place| in_words(&row[*place])).collect();
    Cells {
        title: title.to_owned(),
        columns: filled.iter().map(|place| heading(names[*place])).collect(),
        rows: rows.iter().map(cells).collect(),
    }
}

/// A cell as people read it: resources in words, and not as the columns of files have them.
fn in_words((name, cell): &Cell) -> String {
    match *name {
        "limited_by" | "limiting_roof" | "predicted_limit" => {
            listed(&cell.split(' ').collect::<Vec<_>>()).replace('_', " ")
        }
        _ => cell.clone(),
    }
}
