//! Devices in a circle, with a line for the link of each pair: the thicker and darker the faster it is.

use std::f64::consts::TAU;

use super::geometry::Place;
use super::matrix::label;
use super::scene::{Anchor, Ink, Item, LINE, Line, Role, Stroke, wrapped};

/// Devices and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Network {
    /// Text beside it.
    pub(in crate::report) caption: String,
    pub(in crate::report) names: Vec<String>,
    /// Both devices' numbers, and the share of the greatest rate, 0 to 1.
    pub(in crate::report) links: Vec<(usize, usize, f64)>,
}

/// Pixels of the circle, of what is beside it, and of the thickest line.
const RADIUS: f64 = 90.0;
const LABEL: f64 = 70.0;
const BESIDE: f64 = 40.0;
const TEXT: f64 = 13.0;
const THICKEST: f64 = 8.0;
/// The darkness of the slowest link, in percent, so that it is seen.
const PALEST: f64 = 12.0;

impl Network {
    /// The pixels that it is high.
    pub(super) fn height(&self) -> f64 {
        2.0 * (RADIUS + 2.0 * TEXT)
    }

    /// Draws it from a place on, as wide as there is room.
    pub(super) fn draw(&self, items: &mut Vec<Item>, (left, top): Place, width: f64) {
        let middle = (left + LABEL + RADIUS, top + 0.5 * self.height());
        let on_circle = |index: usize, radius: f64| {
            // The first is above, so that of four each has a side.
            let angle = TAU * (index as f64 / self.names.len() as f64 - 0.25);
            (
                middle.0 + radius * angle.cos(),
                middle.1 + radius * angle.sin(),
            )
        };
        // Fast links lie on slow ones.
        let mut links = self.links.clone();
        links.sort_by(|a, b| a.2.total_cmp(&b.2));
        items.extend(links.into_iter().map(|(a, b, share)| {
            Item::Line(Line {
                places: vec![on_circle(a, RADIUS), on_circle(b, RADIUS)],
                ink: Ink::Heat((100.0 * share).clamp(PALEST, 100.0).round() as u8),
                width: (THICKEST * share).max(1.0),
                stroke: Stroke::Solid,
                role: Role::Link,
            })
        }));
        for (index, name) in self.names.iter().enumerate() {
            let (x, y) = on_circle(index, RADIUS + 1.1 * TEXT);
            let anchor = match x - middle.0 {
                ..-1.0 => Anchor::End,
                1.0.. => Anchor::Start,
                _ => Anchor::Middle,
            };
            let at = (x, y + 0.36 * TEXT);
            items.push(label(name, at, anchor, (TEXT, Ink::Text)));
        }
        let text = middle.0 + RADIUS + LABEL + BESIDE;
        let lines = wrapped(&self.caption, TEXT, left + width - text);
        let first = middle.1 - 0.5 * LINE * TEXT * (lines.len() as f64 - 1.0);
        for (index, line) in lines.iter().enumerate() {
            let at = (text, first + LINE * TEXT * index as f64);
            items.push(label(line, at, Anchor::Start, (TEXT, Ink::Text)));
        }
    }
}
