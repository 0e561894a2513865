//! A plot in characters: lines in braille, two dots by four to a cell, and marks above them.

use std::collections::HashMap;

use super::scene::wrapped;
use super::ticks::{Tick, number, ticks};
use super::{Figure, MarkKind, Plot};

/// Cells of the plot's height.
const ROWS: usize = 18;
/// Shapes of marks; further series get letters, capitals where they are measured.
const MEASURED: [char; 4] = ['●', '▲', '■', '◆'];
const PREDICTED: [char; 4] = ['○', '△', '□', '◇'];
/// Where marks of several series lie in one cell.
const OVERLAP: char = '*';

/// Whether the marks of a plot in characters are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Characters alone.
    Plain,
    /// Each series in one of a terminal's own colours, by ANSI escapes.
    Ansi,
}

impl Paint {
    /// A mark of the series of this number, or of several where there is none.
    fn mark(self, symbol: &str, series: Option<usize>) -> String {
        /// Blue, yellow, green, magenta, cyan, red: those that a terminal's theme makes legible.
        const COLOURS: [u8; 6] = [34, 33, 32, 35, 36, 31];
        match (self, series) {
            (Paint::Ansi, Some(series)) => {
                let colour = COLOURS[series % COLOURS.len()];
                format!("\u{1b}[{colour}m{symbol}\u{1b}[0m")
            }
            _ => symbol.to_owned(),
        }
    }
}

/// See [`Figure::text`].
pub(super) fn text(figure: &Figure, columns: usize, paint: Paint) -> String {
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
        let (plotted, overlaps) = drawn(plot, &names, columns, paint);
        lines.extend(plotted);
        is_overlapped |= overlaps;
        for guide in &plot.guides {
            lines.extend(entry(("─", None), &guide.label, columns, paint));
        }
    }
    for (index, name) in names.iter().enumerate() {
        let mut all = figure.plots.iter().flat_map(|plot| &plot.series);
        let series = all.find(|series| series.name == *name);
        let mark = series.and_then(|series| series.marks.first());
        if let Some(symbol) = mark.and_then(|mark| symbol(index, mark.kind)) {
            let sample = (&*symbol.to_string(), Some(index));
            lines.extend(entry(sample, name, columns, paint));
        }
    }
    if is_overlapped {
        let sample = (&*OVERLAP.to_string(), None);
        lines.extend(entry(sample, "marks of several series", columns, paint));
    }
    for (index, name) in names.iter().enumerate() {
        let series = figure.plots.iter().flat_map(|plot| &plot.series);
        let marks = series
            .filter(|it| it.name == *name)
            .flat_map(|it| &it.marks);
        for mark in marks {
            // Beside a mark there is no room for letters.
            let letters = mark.letters.as_ref();
            let letters = letters.map(|it| format!("{it} from {} on", number(mark.x)));
            for note in mark.note.iter().chain(&letters) {
                let sample = symbol(index, mark.kind).unwrap_or(' ').to_string();
                lines.extend(entry((&sample, Some(index)), note, columns, paint));
            }
        }
    }
    lines.join("\n")
}

/// A line of the legend, with a sample of the series of that number, and what of it does not fit on it below.
fn entry(
    (sample, series): (&str, Option<usize>),
    name: &str,
    columns: usize,
    paint: Paint,
) -> Vec<String> {
    let room = columns.saturating_sub(2).max(8);
    let lines = wrapped(name, 1.0 / super::scene::LETTER, room as f64 + 0.5);
    let numbered = lines.into_iter().enumerate();
    let line = |(index, line)| match index {
        0 => format!("{} {line}", paint.mark(sample, series)),
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
fn drawn(plot: &Plot, names: &[&str], columns: usize, paint: Paint) -> (Vec<String>, bool) {
    let y_ticks = ticks(&plot.y, |ticks| {
        let rows: Vec<usize> = ticks.iter().map(|it| row(plot, it.value)).collect();
        rows.windows(2).all(|pair| pair[0] >= pair[1] + 2)
    });
    let letters = |tick: &Tick| tick.label.chars().count();
    let margin = y_ticks.iter().map(letters).max().unwrap_or(0) + 1;
    let width = columns.saturating_sub(margin + 1).max(16);
    let mut cells = lines_of(plot, width);
    let owners = marks_of(plot, names, &mut cells);
    let overlaps = owners.values().any(Option::is_none);
    let mut text = vec![plot.y.name.clone()];
    for (index, cells) in cells.iter().enumerate() {
        let tick = y_ticks.iter().find(|tick| row(plot, tick.value) == index);
        let label = tick.map_or("", |tick| &tick.label);
        let edge = if tick.is_some() { '┤' } else { '│' };
        let last = cells.iter().rposition(|cell| *cell != ' ');
        let cells = cells.iter().enumerate().take(last.map_or(0, |it| it + 1));
        let cells = cells.map(|(column, cell)| {
            let owner = owners.get(&(index, column)).copied().flatten();
            paint.mark(&cell.to_string(), owner)
        });
        text.push(format!(
            "{label:>margin$}{edge}{}",
            cells.collect::<String>()
        ));
    }
    text.extend(x_axis(plot, margin, width));
    (text, overlaps)
}

fn x_axis(plot: &Plot, margin: usize, width: usize) -> Vec<String> {
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
    let mut lines = vec![
        format!("{:margin$}└{axis}", ""),
        format!("{:margin$} {}", "", labels.trim_end()),
        format!("{:middle$}{}", "", plot.x.name),
    ];
    // What numbers stand for, where the names do not fit.
    let named = plot.x.names.iter().zip(&x_ticks);
    for (name, tick) in named.filter(|(name, tick)| **name != tick.label) {
        let columns = margin + 1 + width;
        lines.extend(entry((&tick.label, None), name, columns, Paint::Plain));
    }
    lines
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

/// Sets the marks. The number of the series that each cell belongs to, by row and column; none where several
/// do.
fn marks_of(
    plot: &Plot,
    names: &[&str],
    cells: &mut [Vec<char>],
) -> HashMap<(usize, usize), Option<usize>> {
    let mut owners = HashMap::new();
    for series in &plot.series {
        let index = names.iter().position(|name| *name == series.name);
        let index = index.unwrap_or_default();
        for mark in &series.marks {
            let Some(symbol) = symbol(index, mark.kind) else {
                continue;
            };
            let at = (row(plot, mark.y), column(plot, mark.x, cells[0].len()));
            let owner = owners.entry(at).or_insert(Some(index));
            if *owner != Some(index) {
                *owner = None;
            }
            cells[at.0][at.1] = if owner.is_some() { symbol } else { OVERLAP };
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Joined, Mark, Series};
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
            letters: None,
        };
        let series = |name: &str, marks| Series {
            name: name.to_owned(),
            joined: Joined::Not,
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
        let text = |figure| text(&figure, 60, Paint::Plain);
        let over = text(figure(10.0));
        assert!(over.contains("* marks of several series"), "{over}");
        assert_eq!(over.matches('*').count(), 2, "{over}");
        assert!(over.contains("\n● its best"), "{over}");
        let apart = text(figure(50.0));
        assert!(!apart.contains('*'), "{apart}");
        assert_eq!(apart.matches('▲').count(), 2, "{apart}");

        // In the plot and in the legend alike; several series' marks have no colour.
        let coloured = super::text(&figure(50.0), 60, Paint::Ansi);
        assert_eq!(
            coloured.matches("\u{1b}[33m▲\u{1b}[0m").count(),
            2,
            "{coloured:?}"
        );
        assert_eq!(
            coloured.matches("\u{1b}[34m●\u{1b}[0m").count(),
            3,
            "{coloured:?}"
        );
        let over = super::text(&figure(10.0), 60, Paint::Ansi);
        assert!(!over.contains("*\u{1b}"), "{over:?}");
    }
}
