//! Matrices of numbers, in cells that are the darker the greater the number is.

use super::geometry::Place;
use super::network::Network;
use super::scene::{Anchor, Ink, Item, LINE, Line, Role, Scene, Stroke, Text, wrapped};

/// A matrix under its caption.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Matrix {
    pub(in crate::report) caption: String,
    /// The names of the lines, and those of the columns.
    pub(in crate::report) lines: Vec<String>,
    pub(in crate::report) columns: Vec<String>,
    /// Of each line and column: the share of the greatest number, 0 to 1, and the number.
    pub(in crate::report) cells: Vec<Vec<Option<(f64, String)>>>,
}

/// Pixels of a picture, of what surrounds it, and of cells, which are no wider than they are readable.
const WIDTH: f64 = 880.0;
const MARGIN: f64 = 24.0;
const GAP: f64 = 32.0;
const CELL_HEIGHT: f64 = 34.0;
const MAX_CELL_WIDTH: f64 = 110.0;
const LABELS: f64 = 70.0;
const TITLE: f64 = 20.0;
const CAPTION: f64 = 15.0;
const TEXT: f64 = 13.0;
/// Columns from which on a matrix has the whole width.
const WIDE: usize = 6;

/// The matrices below a title and a network, two side by side where they are small.
pub(in crate::report) fn matrices(
    [title, subtitle]: [&str; 2],
    network: Option<Network>,
    all: &[Matrix],
) -> Scene {
    let mut items = Vec::new();
    let mut top = MARGIN;
    for (text, size, ink) in [(title, TITLE, Ink::Text), (subtitle, TEXT, Ink::Faint)] {
        for line in wrapped(text, size, WIDTH - 2.0 * MARGIN) {
            top += LINE * size;
            items.push(label(&line, (MARGIN, top), Anchor::Start, (size, ink)));
        }
    }
    if let Some(network) = network {
        network.draw(&mut items, (MARGIN, top + GAP), WIDTH - 2.0 * MARGIN);
        top += GAP + network.height();
    }
    let beside = match all.iter().any(|matrix| matrix.columns.len() >= WIDE) {
        true => 1,
        false => 2,
    };
    let width = (WIDTH - 2.0 * MARGIN - GAP * (beside as f64 - 1.0)) / beside as f64;
    for line in all.chunks(beside) {
        top += GAP;
        for (number, matrix) in line.iter().enumerate() {
            let left = MARGIN + number as f64 * (width + GAP);
            draw(&mut items, matrix, (left, top), width);
        }
        top += line.iter().map(height).fold(0.0, f64::max);
    }
    Scene {
        width: WIDTH,
        height: (top + MARGIN).ceil(),
        title: title.to_owned(),
        items,
        legend: Vec::new(),
    }
}

fn height(matrix: &Matrix) -> f64 {
    LINE * (CAPTION + TEXT) + CELL_HEIGHT * matrix.lines.len() as f64 + TEXT
}

fn draw(items: &mut Vec<Item>, matrix: &Matrix, (left, top): Place, width: f64) {
    let columns = matrix.columns.len().max(1) as f64;
    let cell = ((width - LABELS) / columns).min(MAX_CELL_WIDTH);
    let caption = (left, top + CAPTION);
    items.push(label(
        &matrix.caption,
        caption,
        Anchor::Start,
        (CAPTION, Ink::Text),
    ));
    let names = top + LINE * (CAPTION + TEXT);
    let first = names + 0.5 * TEXT;
    let across = |column: usize| left + LABELS + cell * (column as f64 + 0.5);
    for (column, name) in matrix.columns.iter().enumerate() {
        items.push(label(
            name,
            (across(column), names),
            Anchor::Middle,
            (TEXT, Ink::Faint),
        ));
    }
    for (line, (name, cells)) in matrix.lines.iter().zip(&matrix.cells).enumerate() {
        let middle = first + CELL_HEIGHT * (line as f64 + 0.5);
        let base = middle + 0.36 * TEXT;
        let end = (left + LABELS - 8.0, base);
        items.push(label(name, end, Anchor::End, (TEXT, Ink::Faint)));
        for (column, found) in cells.iter().enumerate() {
            let Some((share, number)) = found else {
                continue;
            };
            let half = 0.5 * cell - 1.0;
            items.push(Item::Line(Line {
                places: vec![
                    (across(column) - half, middle),
                    (across(column) + half, middle),
                ],
                ink: Ink::Heat((share.clamp(0.0, 1.0) * 100.0).round() as u8),
                width: CELL_HEIGHT - 2.0,
                stroke: Stroke::Solid,
                role: Role::Cell,
            }));
            items.push(label(
                number,
                (across(column), base),
                Anchor::Middle,
                (TEXT, Ink::Number),
            ));
        }
    }
}

pub(super) fn label(text: &str, at: Place, anchor: Anchor, (size, ink): (f64, Ink)) -> Item {
    Item::Text(Text {
        at,
        anchor,
        size,
        ink,
        text: text.to_owned(),
    })
}
