//! The curves of a chart against an axis: which rows are of one, what it is called, and its marks.

use std::collections::HashSet;

use itertools::Itertools;

use crate::report::plot::{Axis, Joined, Mark, MarkKind, Scale, Series};
use crate::table::{Against, Panel, Quantity, StudyRows, Unit, listed};

/// The values of a panel that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Those of the row's device.
    Measured,
    /// The most that the roofs of a GPU allow in its place.
    Roofs,
    /// Those that the model predicts for a GPU in its place.
    Model,
    /// The same beside what was measured.
    ModelBeside,
}

/// The rows of a chart and what tells its curves apart.
pub(super) struct Curves<'a> {
    rows: &'a StudyRows,
    against: &'a Against,
    /// The columns of axes that differ and do not follow from the others.
    keys: Vec<&'a str>,
    /// The names of the axis's values in order, where they are no numbers.
    names: Vec<String>,
}

/// The resources that limit the blocks of a multiprocessor: letters in charts, names in files, and words.
const LIMITS: [(&str, &str, &str); 4] = [
    ("W", "warps", "warps"),
    ("B", "blocks", "blocks"),
    ("R", "registers", "registers"),
    ("S", "shared_memory", "shared memory"),
];

/// Columns whose values say what they are.
const BARE: [&str; 7] = [
    "kernel",
    "dtype",
    "mode",
    "work",
    "dispatch",
    "collective",
    "cache",
];

impl<'a> Curves<'a> {
    pub(super) fn new(rows: &'a StudyRows, against: &'a Against) -> Curves<'a> {
        let mut curves = Curves {
            rows,
            against,
            keys: Vec::new(),
            names: Vec::new(),
        };
        let cells = curves.cells(&against.column);
        let is_number = |cell: &str| cell.is_empty() || cell.parse::<f64>().is_ok();
        if !cells.iter().all(|it| is_number(it)) {
            let names = cells.into_iter().unique().filter(|it| !it.is_empty());
            curves.names = names.map(str::to_owned).collect();
        }
        curves.keys = curves.telling();
        curves
    }

    fn cells(&self, column: &str) -> Vec<&'a str> {
        let rows = self.rows.rows.iter();
        rows.map(|row| self.rows.cell(row, column)).collect()
    }

    /// The axes that differ. One of numbers that are the same wherever all others are, such as the shared memory that a
    /// workload takes for its block, is none.
    fn telling(&self) -> Vec<&'a str> {
        let others = self.against.others.iter().map(String::as_str);
        let differs = |column: &&str| !self.cells(column).iter().all_equal();
        let mut keys: Vec<&str> = others.filter(differs).collect();
        let points = |keys: &[&str]| {
            let of = |row: &'a Vec<String>| {
                let columns = keys.iter().copied().chain([self.against.column.as_str()]);
                let cells = columns.map(|column| self.rows.cell(row, column));
                cells.collect::<Vec<&str>>()
            };
            self.rows.rows.iter().map(of).collect::<HashSet<_>>().len()
        };
        let all = points(&keys);
        let is_number = |column: &str| {
            let cells = self.cells(column);
            cells.iter().all(|it| it.parse::<f64>().is_ok())
        };
        for column in keys.clone() {
            let without: Vec<&str> = keys.iter().copied().filter(|it| *it != column).collect();
            if is_number(column) && points(&without) == all {
                keys = without;
            }
        }
        keys
    }

    /// The values that all rows have in common: `copy. n = 65536, ilp = 4. `
    pub(super) fn common(&self) -> String {
        let said = self.against.others.iter().filter_map(|column| {
            let cells = self.cells(column);
            let first = cells.first().filter(|it| !it.is_empty())?;
            let is_told = cells.iter().all_equal() && !(column == "cache" && *first == "warm");
            is_told.then(|| match BARE.contains(&column.as_str()) {
                true => (*first).to_owned(),
                false => format!("{} = {first}", words(column)),
            })
        });
        let said: Vec<String> = said.collect();
        match said.is_empty() {
            true => String::new(),
            false => format!("{}. ", said.join(", ")),
        }
    }

    fn name(&self, row: &[String]) -> String {
        let parts = self.keys.iter().filter_map(|column| {
            let cell = self.rows.cell(row, column);
            (!cell.is_empty()).then(|| match BARE.contains(column) {
                true => cell.to_owned(),
                false => format!("{} {cell}", words(column)),
            })
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Of the one curve that there is.
    fn common_name(&self, row: &[String]) -> String {
        match self.rows.cell(row, "kernel") {
            "" => "all rows".to_owned(),
            kernel => kernel.to_owned(),
        }
    }

    /// How many rows have no place on the axis.
    pub(super) fn without_value(&self) -> usize {
        let rows = self.rows.rows.iter();
        rows.filter(|row| self.x(row).is_none()).count()
    }

    /// A row's place on the axis.
    fn x(&self, row: &[String]) -> Option<f64> {
        if self.names.is_empty() {
            return self.rows.number(row, &self.against.column);
        }
        let cell = self.rows.cell(row, &self.against.column);
        let place = self.names.iter().position(|it| it == cell)?;
        Some(place as f64 + 1.0)
    }

    /// Whether some row has a value by the model.
    pub(super) fn has_model(&self, panel: &Panel) -> bool {
        let mut rows = self.rows.rows.iter();
        rows.any(|row| self.rows.number(row, panel.modelled).is_some())
    }

    /// The curves of a panel, each with marks in the order of the axis.
    pub(super) fn series(&self, panel: &Panel, unit: &str, of: Of) -> Vec<Series> {
        let is_of_unit = |row: &&Vec<String>| match panel.unit {
            Unit::Fixed(_) => true,
            Unit::Column(column) => self.rows.cell(row, column) == unit,
        };
        let rows: Vec<_> = self.rows.rows.iter().filter(is_of_unit).collect();
        let names = rows.iter().map(|row| self.name(row)).unique();
        let mut noted = HashSet::new();
        let series = names.map(|name| {
            let own = rows.iter().filter(|row| self.name(row) == name);
            let marks = own.filter_map(|row| Some((*row, self.mark(row, panel, of)?)));
            let mut marks: Vec<(&Vec<String>, Mark)> = marks.collect();
            marks.sort_by(|a, b| a.1.x.total_cmp(&b.1.x));
            if panel.quantity == Quantity::Occupancy {
                self.note_limits(&mut marks, &mut noted);
            }
            Series {
                joined: match self.names.is_empty() {
                    true => Joined::Marks,
                    false => Joined::Not,
                },
                marks: marks.into_iter().map(|(_, mark)| mark).collect(),
                name: {
                    let name = match (name.as_str(), rows.first()) {
                        ("", Some(row)) => self.common_name(row),
                        _ => name,
                    };
                    match of {
                        Of::ModelBeside => format!("{name}, predicted"),
                        _ => name,
                    }
                },
            }
        });
        series.filter(|it| !it.marks.is_empty()).collect()
    }

    /// Letters at the first mark of each limit, once where curves coincide.
    fn note_limits(
        &self,
        marks: &mut [(&Vec<String>, Mark)],
        noted: &mut HashSet<(u64, u64, String)>,
    ) {
        let mut before = String::new();
        for (row, mark) in marks {
            let limit = self.letters(row);
            if limit != before && noted.insert((mark.x.to_bits(), mark.y.to_bits(), limit.clone()))
            {
                mark.letters = (!limit.is_empty()).then(|| limit.clone());
            }
            before = limit;
        }
    }

    /// `RS`: [`LIMITS`].
    fn letters(&self, row: &[String]) -> String {
        let of = |name: &str| {
            let found = LIMITS.iter().find(|(_, column, _)| *column == name);
            found.map_or("?", |(letter, ..)| *letter)
        };
        let cell = self.rows.cell(row, "limited_by");
        cell.split_whitespace().map(of).collect()
    }

    /// The letters that are used, and what they stand for: `W warps, R registers`.
    pub(super) fn legend(&self) -> String {
        let cells = self.cells("limited_by");
        let is_used = |column: &str| {
            let mut names = cells.iter().flat_map(|it| it.split_whitespace());
            names.any(|it| it == column)
        };
        let used = LIMITS.iter().filter(|(_, column, _)| is_used(column));
        used.map(|(letter, _, words)| format!("{letter} {words}"))
            .join(", ")
    }

    /// `registers and shared memory`
    fn limits(&self, row: &[String]) -> String {
        let cell = self.rows.cell(row, "limited_by");
        listed(&cell.split_whitespace().collect::<Vec<_>>()).replace('_', " ")
    }

    fn mark(&self, row: &[String], panel: &Panel, of: Of) -> Option<Mark> {
        let is_computed = panel.quantity == Quantity::Occupancy;
        let column = match of {
            _ if is_computed => panel.measured,
            Of::Measured => panel.measured,
            Of::Roofs => panel.predicted,
            Of::Model | Of::ModelBeside => panel.modelled,
        };
        let y = self.rows.number(row, column)?;
        let is_measured = of == Of::Measured && !is_computed;
        // Shares of the time.
        let interval = match of {
            _ if is_computed => None,
            Of::Measured => {
                let rms = self.rows.number(row, "rms_percent").unwrap_or(0.0) / 100.0;
                (rms > 0.0 && rms < 1.0).then_some((1.0 - rms, 1.0 + rms))
            }
            Of::Roofs => None,
            Of::Model | Of::ModelBeside => {
                let [ms, low, high] = ["model_ms", "model_low_ms", "model_high_ms"]
                    .map(|it| self.rows.number(row, it));
                Some((low? / ms?, high? / ms?))
            }
        };
        let noise = interval.map(|(low, high)| match panel.quantity {
            // Where a time varies, its rate does the other way.
            Quantity::Speed => (y / high, y / low),
            _ => (y * low, y * high),
        });
        Some(Mark {
            x: self.x(row)?,
            y,
            kind: match is_measured {
                true => MarkKind::Measured,
                false => MarkKind::Predicted,
            },
            noise,
            tip: self.tip(row, panel, y),
            note: None,
            letters: None,
        })
    }

    fn tip(&self, row: &[String], panel: &Panel, y: f64) -> String {
        let unit = match panel.unit {
            Unit::Fixed(unit) => unit,
            Unit::Column(column) => self.rows.cell(row, column),
        };
        let at = format!(
            "{} = {}",
            self.against.name,
            self.rows.cell(row, &self.against.column)
        );
        let value = format!("{}: {y:.4} {unit}", panel.name);
        let limits = match self.limits(row) {
            limits if limits.is_empty() => None,
            limits => Some(format!("occupancy limited by {limits}")),
        };
        let limits_of = ["model_limit", "predicted_limit"];
        let limit = limits_of.map(|column| self.rows.cell(row, column));
        let limit = limit.into_iter().find(|it| !it.is_empty());
        let predicted = limit.map(|it| format!("predicted: limited by {it}"));
        let registers = match self.rows.cell(row, "registers") {
            "" => None,
            registers => Some(format!("{registers} registers per thread")),
        };
        let lines = [Some(at), Some(value), limits, registers, predicted];
        lines.into_iter().flatten().join("\n")
    }

    /// Logarithmic where values are apart by factors, and with names where they are no numbers.
    pub(super) fn x_axis<'m>(&self, marks: impl Iterator<Item = &'m Mark> + Clone) -> Axis {
        /// Values that are closer have a linear axis.
        const APART: f64 = 3.0;
        let name = &self.against.title;
        if !self.names.is_empty() {
            return Axis::named(name, self.names.clone());
        }
        let x = || marks.clone().map(|mark| mark.x);
        let (least, most) = x().minmax().into_option().unwrap_or((0.0, 1.0));
        if least > 0.0 && most >= APART * least {
            let is_power = |it: &f64| it.log2().fract() == 0.0;
            let powers = x().filter(is_power).count();
            let range = (least / 1.5, most * 1.5);
            return match 2 * powers >= x().count() {
                true => Axis::log2(name, range),
                false => Axis::log(name, range),
            };
        }
        let margin = match most > least {
            true => 0.06 * (most - least),
            false => 0.5 * most.abs().max(1.0),
        };
        Axis {
            name: name.clone(),
            range: (least - margin, most + margin),
            scale: Scale::Linear,
            names: Vec::new(),
        }
    }
}

/// `dynamic_shared` as `dynamic shared`.
fn words(column: &str) -> String {
    match column {
        "blocks_per_sm" => "blocks per multiprocessor".to_owned(),
        "dynamic_shared" => "shared".to_owned(),
        "shared_bytes" => "shared bytes".to_owned(),
        column => column.replace('_', " "),
    }
}
