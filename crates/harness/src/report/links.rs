//! Links as matrices: as text, and as a picture with the numbers in it.

use std::io::Write;

use super::canvas::{self, ChartError, ChartFormat};
use super::plot::{Matrix, Network, Paint, matrices};
use crate::ceilings::Unit;
use crate::links::{LinkQuantity, LinkRow, Topology};
use crate::table::{self, Look, Width};

/// A matrix for each quantity, from the device of the line to that of the column, and what is to be said of the rows.
pub fn links_table(rows: &[LinkRow], width: Width) -> String {
    let tables = tables(rows).into_iter().map(|table| {
        let header = [vec!["from \\ to".to_owned()], table.columns.clone()].concat();
        let lines = table.lines.iter().zip(&table.cells).map(|(name, cells)| {
            let cells = cells
                .iter()
                .map(|cell| cell.clone().map_or_else(String::new, |it| it.1));
            std::iter::once(name.clone()).chain(cells)
        });
        let look = Look {
            width,
            is_right: |column| column > 0,
            spare: &[],
        };
        let text = table::text(header, lines, look);
        format!("{}\n{}", table.caption, text.trim_end())
    });
    let all: Vec<String> = tables.chain(notes(rows)).collect();
    all.join("\n\n") + "\n"
}

/// The matrices as a picture: the darker a cell, the nearer it is to the greatest of its matrix.
pub struct LinksPicture<'a> {
    /// Measured rows, at least one.
    pub rows: &'a [LinkRow],
}

impl LinksPicture<'_> {
    /// Draws it.
    ///
    /// # Errors
    /// No row has a value (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<(), ChartError> {
        if self.is_empty() {
            return Err("there are no measured links to draw".into());
        }
        let [title, subtitle] = heading(self.rows);
        let scene = matrices([&title, &subtitle], network(self.rows), &tables(self.rows));
        canvas::write_scene(&scene, format, output)
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.value.is_none())
    }

    /// The matrices in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, _: Paint) -> String {
        links_table(self.rows, Width::Columns(columns))
    }
}

/// The matrices of the quantities that were measured.
fn tables(rows: &[LinkRow]) -> Vec<Matrix> {
    let quantities = LinkQuantity::ALL.into_iter();
    let of = |quantity| {
        let rows: Vec<&LinkRow> = rows.iter().filter(|row| row.quantity == quantity).collect();
        (!rows.is_empty()).then(|| table_of(quantity, &rows))
    };
    quantities.filter_map(of).collect()
}

/// The links between the devices, where there are three or more.
fn network(rows: &[LinkRow]) -> Option<Network> {
    let topology = Topology::of(rows)?;
    let greatest = topology.rates.iter().map(|it| it.2).fold(0.0, f64::max);
    let share = |&(a, b, rate): &(usize, usize, f64)| (a, b, rate / greatest);
    Some(Network {
        caption: format!("{topology}."),
        links: topology.rates.iter().map(share).collect(),
        names: topology.devices,
    })
}

fn table_of(quantity: LinkQuantity, rows: &[&LinkRow]) -> Matrix {
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().flat_map(|row| [&row.from, &row.to]) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.sort_by_key(|name| (name != "host", place(name)));
    let values = rows.iter().filter_map(|row| row.value);
    let greatest = values.fold(0.0, f64::max);
    let both = quantity.is_both_ways();
    let cell = |from: &String, to: &String| {
        let is_of = |row: &&&LinkRow| {
            let is_turned = both && row.from == *to && row.to == *from;
            row.from == *from && row.to == *to || is_turned
        };
        let row = rows.iter().find(is_of)?;
        Some(match row.value {
            Some(value) => (value / greatest, number(row.unit, value)),
            None => (0.0, "none".to_owned()),
        })
    };
    let line = |from| names.iter().map(|to| cell(from, to)).collect();
    Matrix {
        caption: format!("{}, {}", quantity.name(), unit(quantity.unit())),
        cells: names.iter().map(line).collect(),
        columns: names.clone(),
        lines: names,
    }
}

/// A device's kind and number, by which names are sorted.
fn place(name: &str) -> (String, u32) {
    let (kind, number) = name.split_once(':').unwrap_or((name, "0"));
    (kind.to_owned(), number.parse().unwrap_or(0))
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSec => "GB/s",
        Unit::FlopsPerSec => "GFLOP/s",
        Unit::OpsPerSec => "Gop/s",
        Unit::Seconds => "ns",
    }
}

/// A value in that unit, with three digits or more.
fn number(unit: Unit, value: f64) -> String {
    let value = match unit {
        Unit::Seconds => value * 1e9,
        _ => value / 1e9,
    };
    match value {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        0.01.. => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// Returns the heading: what is measured, and on what.
fn heading(rows: &[LinkRow]) -> [String; 2] {
    let is_emulated = rows.iter().any(|row| row.emulated);
    let devices = devices(rows).join("; ");
    let about = match is_emulated {
        true => " Emulated: the figures are this host's, not a GPU's.",
        false => " Measured; both ways is the sum of both directions.",
    };
    [
        "Links: from the device of the line to that of the column".to_owned(),
        format!("{devices}.{about}"),
    ]
}

/// Each device with its name.
fn devices(rows: &[LinkRow]) -> Vec<String> {
    let ends = rows
        .iter()
        .flat_map(|row| [(&row.from, &row.from_device), (&row.to, &row.to_device)]);
    let mut found: Vec<(&String, &String)> = Vec::new();
    for end in ends.filter(|(short, _)| *short != "host") {
        if !found.contains(&end) {
            found.push(end);
        }
    }
    found.sort_by_key(|(short, _)| place(short));
    found
        .into_iter()
        .map(|(short, name)| format!("{short} is {name}"))
        .collect()
}

/// Notes what matrices do not say: why there is no number, what went through the host, and what is one device's alone.
fn notes(rows: &[LinkRow]) -> Vec<String> {
    let topology = Topology::of(rows).map(|it| format!("{it}."));
    let mut notes: Vec<String> = topology.into_iter().collect();
    let mut note = |text: String| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    for row in rows {
        if !row.note.is_empty() {
            note(format!(
                "{} -> {}: no access to the other's memory: {}",
                row.from, row.to, row.note
            ));
        }
        if row.way == LinkRow::STAGED {
            note(format!(
                "{} -> {}: copies are {}",
                row.from,
                row.to,
                LinkRow::STAGED
            ));
        }
    }
    if devices(rows).len() == 1 {
        note(
            "One device: there are no links between devices to measure, only those with the host."
                .to_owned(),
        );
    }
    if rows.iter().any(|row| row.emulated) {
        note("The emulator ran the GPU's kernels on this host: the figures are this host's, not a GPU's.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
