//! A plot in characters: lines in braille, two dots by four to a cell, and marks above them.

use std::collections::HashMap;

use super::scene::wrapped;
use super::ticks::{Tick, ticks};
use super::{Figure, MarkKind, Plot};

/// Cells of the plot's height.
const ROWS: usize = 18;
/// What marks are beyond the four shapes: letters, capitals where they are measured.
const MEASURED: [char; 4] = ['●', '▲', '■', '◆'];
const PREDICTED: [char; 4] = ['○', '△', '□', '◇'];
/// Where marks of several series lie in one cell.
const OVERLAP: char = '*';

/// See [`Figure::text`].
pub(super) fn text(figure: &Figure, columns: usize) -> String {
    let names = figure.names();
    let mut lines = Vec::new();
    let mut is_overlapped = false;
    let heading = [&figure.title, &figure.subtitle];
    // A letter of this size is a pixel wide.
    let size = 1.0 / super::scene::LETTER;
    let folded = |text: &str, room: usize| wrapped(text, size, room as f64 + 0.5);
    lines.extend(heading.into_iter().flat_map(|text| folded(text, columns)));
    for plot in &figure.plots {
        lines.push(String::new());
        if !plot.caption.is_empty() {
            lines.extend(folded(&plot.caption, columns));
        }
        let (plotted, overlaps) = drawn(plot, &names, columns);
        lines.extend(plotted);
        is_overlapped |= overlaps;
        for guide in &plot.guides {
            lines.extend(entry("─", &guide.label, columns));
        }
    }
    for (index, name) in names.iter().enumerate() {
        let mut all = figure.plots.iter().flat_map(|plot| &plot.series);
        let series = all.find(|series| series.name == *name);
        let mark = series.and_then(|series| series.marks.first());
        if let Some(symbol) = mark.and_then(|mark| symbol(index, mark.kind)) {
            lines.extend(entry(&symbol.to_string(), name, columns));
        }
    }
    if is_overlapped {
        lines.extend(entry(
            &OVERLAP.to_string(),
            "marks of several series",
            columns,
        ));
    }
    for (index, name) in names.iter().enumerate() {
        let series = figure.plots.iter().flat_map(|plot| &plot.series);
        let marks = series
            .filter(|it| it.name == *name)
            .flat_map(|it| &it.marks);
        for mark in marks {
            if let Some(note) = &mark.note {
                let sample = symbol(index, mark.kind).unwrap_or(' ');
                lines.extend(entry(&sample.to_string(), note, columns));
            }
        }
    }
    lines.join("\n")
}

/// A line of the legend, and what of it does not fit on it below.
fn entry(sample: &str, name: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(2).max(8);
    let lines = wrapped(name, 1.0 / super::scene::LETTER, room as f64 + 0.5);
    let numbered = lines.into_iter().enumerate();
    let line = |(index, line)| match index {
        0 => format!("{sample} {line}"),
        _ => format!("  {line}"),
    };
    numbered.map(line).collect()
}

/// `None` for what goes around a mark: a cell has no room for both.
fn symbol(index: usize, kind: MarkKind) -> Option<char> {
    let (shapes, first) = match kind {
        MarkKind::Measured => (MEASURED, b'A'),
        MarkKind::Predicted => (PREDICTED, b'a'),
        MarkKind::Counted | MarkKind::Counters => return None,
    };
    Some(match shapes.get(index) {
        Some(shape) => *shape,
        None => char::from(first + ((index - shapes.len()) % 26) as u8),
    })
}

/// The plot with its axes, and whether marks of several series lie in one cell.
fn drawn(plot: &Plot, names: &[&str], columns: usize) -> (Vec<String>, bool) {
    let y_ticks = ticks(&plot.y, |ticks| {
        let rows: Vec<usize> = ticks.iter().map(|it| row(plot, it.value)).collect();
        rows.windows(2).all(|pair| pair[0] >= pair[1] + 2)
    });
    let letters = |tick: &Tick| tick.label.chars().count();
    let margin = y_ticks.iter().map(letters).max().unwrap_or(0) + 1;
    let width = columns.saturating_sub(margin + 1).max(16);
    let mut cells = lines_of(plot, width);
    let overlaps = marks_of(plot, names, &mut cells);
    let mut text = vec![plot.y.name.clone()];
    for (index, cells) in cells.iter().enumerate() {
        let tick = y_ticks.iter().find(|tick| row(plot, tick.value) == index);
        let label = tick.map_or("", |tick| &tick.label);
        let edge = if tick.is_some() { '┤' } else { '│' };
        let cells: String = cells.iter().collect();
        text.push(format!("{label:>margin$}{edge}{}", cells.trim_end()));
    }
    text.extend(x_axis(plot, margin, width));
    (text, overlaps)
}

fn x_axis(plot: &Plot, margin: usize, width: usize) -> [String; 3] {
    let column = |value: f64| column(plot, value, width);
    let start = |tick: &Tick| column(tick.value).saturating_sub(tick.label.chars().count() / 2);
    let end = |tick: &Tick| start(tick) + tick.label.chars().count();
    let x_ticks = ticks(&plot.x, |ticks| {
        ticks
            .windows(2)
            .all(|pair| end(&pair[0]) + 1 < start(&pair[1]))
            && ticks.iter().all(|it| end(it) <= width)
    });
    let mut axis = vec!['─'; width];
    let mut labels = vec![' '; width];
    for tick in &x_ticks {
        axis[column(tick.value)] = '┬';
        for (place, letter) in labels.iter_mut().skip(start(tick)).zip(tick.label.chars()) {
            *place = letter;
        }
    }
    let (axis, labels): (String, String) =
        (axis.into_iter().collect(), labels.into_iter().collect());
    let middle = (margin + 1 + width.saturating_sub(plot.x.name.chars().count()) / 2).max(1);
    [
        format!("{:margin$}└{axis}", ""),
        format!("{:margin$} {}", "", labels.trim_end()),
        format!("{:middle$}{}", "", plot.x.name),
    ]
}

/// The cell of a share of so many.
fn cell(share: f64, cells: usize) -> usize {
    ((share * cells as f64).floor().max(0.0) as usize).min(cells - 1)
}

fn row(plot: &Plot, y: f64) -> usize {
    ROWS - 1 - cell(plot.y.share(y), ROWS)
}

fn column(plot: &Plot, x: f64, width: usize) -> usize {
    cell(plot.x.share(x), width)
}

/// The guides in braille.
fn lines_of(plot: &Plot, width: usize) -> Vec<Vec<char>> {
    /// The bits of a cell's dots, by row and column: as Unicode numbers them.
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    const BLANK: u32 = 0x2800;
    let mut dots = vec![vec![0u32; width]; ROWS];
    for guide in &plot.guides {
        let Some([from, to]) = plot.ends(guide.path) else {
            continue;
        };
        let ends = [from, to].map(|(x, y)| (plot.x.share(x), plot.y.share(y)));
        let steps = 4 * width.max(ROWS);
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let along = |from: f64, to: f64| from + share * (to - from);
            let x = cell(along(ends[0].0, ends[1].0), 2 * width);
            let y = 4 * ROWS - 1 - cell(along(ends[0].1, ends[1].1), 4 * ROWS);
            dots[y / 4][x / 2] |= BITS[y % 4][x % 2];
        }
    }
    let letter = |bits: u32| match bits {
        0 => ' ',
        bits => char::from_u32(BLANK + bits).unwrap_or(' '),
    };
    let rows = dots.into_iter();
    rows.map(|row| row.into_iter().map(letter).collect())
        .collect()
}

/// Sets the marks, and says whether some of several series lie in one cell.
fn marks_of(plot: &Plot, names: &[&str], cells: &mut [Vec<char>]) -> bool {
    let mut owners = HashMap::new();
    let mut overlaps = false;
    for series in &plot.series {
        let index = names.iter().position(|name| *name == series.name);
        for mark in &series.marks {
            let Some(symbol) = symbol(index.unwrap_or_default(), mark.kind) else {
                continue;
            };
            let at = (row(plot, mark.y), column(plot, mark.x, cells[0].len()));
            let is_shared = *owners.entry(at).or_insert(index) != index;
            overlaps |= is_shared;
            let cell = &mut cells[at.0][at.1];
            if *cell != OVERLAP {
                *cell = if is_shared { OVERLAP } else { symbol };
            }
        }
    }
    overlaps
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Mark, Series};
    use super::*;

    #[test]
    fn marks_in_one_cell_and_notes_are_told() {
        let mark = |x: f64, note: Option<&str>| Mark {
            x,
            y: 10.0,
            kind: MarkKind::Measured,
            noise: None,
            tip: String::new(),
            note: note.map(str::to_owned),
        };
        let series = |name: &str, marks| Series {
            name: name.to_owned(),
            joined: false,
            marks,
        };
        let figure = |last| Figure {
            title: String::new(),
            subtitle: String::new(),
            plots: vec![Plot {
                caption: String::new(),
                x: Axis::log("x", (1.0, 100.0)),
                y: Axis::log("y", (1.0, 100.0)),
                guides: Vec::new(),
                series: vec![
                    series("first", vec![mark(10.0, Some("its best"))]),
                    series("second", vec![mark(last, None)]),
                ],
            }],
        };
        let over = text(&figure(10.0), 60);
        assert!(over.contains("* marks of several series"), "{over}");
        assert_eq!(over.matches('*').count(), 2, "{over}");
        assert!(over.contains("\n● its best"), "{over}");
        let apart = text(&figure(50.0), 60);
        assert!(!apart.contains('*'), "{apart}");
        assert_eq!(apart.matches('▲').count(), 2, "{apart}");
    }
}
