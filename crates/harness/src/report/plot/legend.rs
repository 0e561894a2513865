//! The legend: what marks and lines stand for, below the charts and outside of them.

use super::geometry::Place;
use super::scene::{Anchor, Ink, Item, LINE, Line, Shape, Text, width, wrapped};

/// A line of the legend.
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) sample: Sample,
}

/// The sample before its text.
pub(super) enum Sample {
    /// A mark, on a line where its series are joined.
    Mark(Shape, Option<Line>),
    /// A guide's line.
    Line(Line),
    /// Nothing: the text says what it is of.
    None,
}

/// Pixels of a sample.
const SAMPLE: f64 = 34.0;
/// Pixels between two columns.
const GAP: f64 = 18.0;

/// The legend's items below `top`, and its height: as many columns as the longest entry leaves.
pub(super) fn items(
    entries: &[Entry],
    (left, top): Place,
    room: f64,
    size: f64,
) -> (Vec<Item>, f64) {
    let most = room - SAMPLE;
    let longest = entries.iter().map(|it| width(&it.text, size).min(most));
    let column = longest.fold(0.0, f64::max) + SAMPLE + GAP;
    let columns = (((room + GAP) / column).floor() as usize).max(1);
    let (mut items, mut y) = (Vec::new(), top);
    for row in entries.chunks(columns) {
        let mut height: f64 = 0.0;
        for (index, entry) in row.iter().enumerate() {
            let x = left + column * index as f64;
            let lines = wrapped(&entry.text, size, most);
            items.extend(sample(&entry.sample, (x, y + 0.5 * LINE * size)));
            height = height.max(lines.len() as f64 * LINE * size);
            let placed = lines.into_iter().enumerate().map(|(line, text)| {
                Item::Text(Text {
                    at: (x + SAMPLE, y + (line as f64 * LINE + 0.95) * size),
                    anchor: Anchor::Start,
                    size,
                    ink: Ink::Text,
                    text,
                })
            });
            items.extend(placed);
        }
        y += height;
    }
    (items, y - top)
}

fn sample(sample: &Sample, (x, y): Place) -> Vec<Item> {
    let middle = (x + (SAMPLE - 8.0) / 2.0, y);
    let across = |line: &Line| {
        Item::Line(Line {
            places: vec![(x, y), (x + SAMPLE - 8.0, y)],
            ..line.clone()
        })
    };
    match sample {
        Sample::Mark(shape, line) => {
            let shape = Item::Shape(Shape {
                at: middle,
                ..shape.clone()
            });
            line.iter().map(across).chain([shape]).collect()
        }
        Sample::Line(line) => vec![across(line)],
        Sample::None => Vec::new(),
    }
}
