//! The parts of a picture, each in its place in pixels.

use super::geometry::{Place, Rect};
use crate::driver::printable;

/// The width of a letter and the height of a line, as shares of the font's size. Fonts that browsers
/// take for `sans-serif` are narrower on average.
pub(super) const LETTER: f64 = 0.62;
pub(super) const LINE: f64 = 1.3;
/// Where the letters of a line end above and below its base line.
const ASCENT: f64 = 0.8;
const DESCENT: f64 = 0.25;

/// The ink that something is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Ink {
    Text,
    /// Less important text.
    Faint,
    /// A number in a cell, which is pale on dark pages, too.
    Number,
    Grid,
    /// Roofs of a data sheet.
    Roof,
    /// Measured roofs.
    MeasuredRoof,
    /// The series of this number.
    Series(usize),
    /// A cell whose number is this percentage of the greatest.
    Heat(u8),
}

/// Which point of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Text {
    /// On its base line.
    pub(super) at: Place,
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) ink: Ink,
    pub(super) text: String,
}

impl Text {
    /// Returns the rectangle that it covers at most.
    pub(super) fn bounds(&self) -> Rect {
        let width = width(&self.text, self.size);
        let left = match self.anchor {
            Anchor::Start => self.at.0,
            Anchor::Middle => self.at.0 - width / 2.0,
            Anchor::End => self.at.0 - width,
        };
        Rect {
            left,
            top: self.at.1 - ASCENT * self.size,
            right: left + width,
            bottom: self.at.1 + DESCENT * self.size,
        }
    }
}

/// The pixels that a text is wide at most.
pub(super) fn width(text: &str, size: f64) -> f64 {
    LETTER * size * text.chars().count() as f64
}

/// The role of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Role {
    Grid,
    Guide,
    /// Joins the marks of a series.
    Curve,
    /// The range that noise gives.
    Noise,
    /// From a mark to its note.
    Leader,
    /// Of a matrix: as wide as the cell is high.
    Cell,
    /// Between two devices: the wider the faster.
    Link,
}

/// The pattern of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Stroke {
    Solid,
    Dashed,
    Dotted,
    DashDotted,
    LongDashed,
}

impl Stroke {
    /// The pattern of measured line number `index` of its kind: that of memory is dashed, and those of caches and links are others.
    pub(super) fn of_measured(index: usize) -> Stroke {
        use Stroke::{DashDotted, Dashed, Dotted, LongDashed};
        [Dashed, Dotted, DashDotted, LongDashed][index % 4]
    }

    /// Pixels that are drawn and left out, by turns; none where all are drawn.
    pub(super) fn pattern(self) -> &'static [u8] {
        match self {
            Stroke::Solid => &[],
            Stroke::Dashed => &[7, 5],
            Stroke::Dotted => &[2, 4],
            Stroke::DashDotted => &[10, 4, 2, 4],
            Stroke::LongDashed => &[16, 5],
        }
    }
}

/// A line through places.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Line {
    pub(super) places: Vec<Place>,
    pub(super) ink: Ink,
    pub(super) width: f64,
    pub(super) stroke: Stroke,
    pub(super) role: Role,
}

/// A shape at a place.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Shape {
    pub(super) at: Place,
    /// Its number: what is not the colour alone that tells series apart.
    pub(super) kind: ShapeKind,
    pub(super) ink: Ink,
    /// Nothing inside: what is predicted.
    pub(super) hollow: bool,
    /// Text that a page shows when the shape is pointed at: the series and the values.
    pub(super) tip: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum ShapeKind {
    Circle,
    Triangle,
    Square,
    Diamond,
    /// A ridge point.
    Dot,
    /// Around a mark that is pointed out.
    Ring,
    /// Around a mark: of what was counted, and of what counters say.
    Halo,
    Rhombus,
}

impl ShapeKind {
    /// That of the marks of series number `index`: a colour that is similar has another.
    pub(super) fn of_series(index: usize) -> ShapeKind {
        use ShapeKind::{Circle, Diamond, Square, Triangle};
        [Circle, Triangle, Square, Diamond][(index + 2 * (index / 7)) % 4]
    }

    /// Half of its width.
    pub(super) fn radius(self) -> f64 {
        match self {
            ShapeKind::Dot => 4.0,
            ShapeKind::Ring | ShapeKind::Rhombus => 11.0,
            ShapeKind::Halo => 8.0,
            ShapeKind::Circle => 5.0,
            ShapeKind::Square => 4.5,
            ShapeKind::Triangle | ShapeKind::Diamond => 6.5,
        }
    }

    /// Its corners around the middle; `None` for those that are round.
    pub(super) fn corners(self) -> Option<Vec<Place>> {
        let r = self.radius();
        match self {
            ShapeKind::Triangle => Some(vec![(0.0, -r), (r, 0.8 * r), (-r, 0.8 * r)]),
            ShapeKind::Square => Some(vec![(-r, -r), (r, -r), (r, r), (-r, r)]),
            ShapeKind::Diamond | ShapeKind::Rhombus => {
                Some(vec![(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)])
            }
            ShapeKind::Circle | ShapeKind::Dot | ShapeKind::Ring | ShapeKind::Halo => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) enum Item {
    Text(Text),
    Line(Line),
    Shape(Shape),
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Title for readers who see no picture.
    pub(super) title: String,
    pub(super) items: Vec<Item>,
    /// Outside of all charts.
    pub(super) legend: Vec<Item>,
}

impl Scene {
    pub(super) fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().chain(&self.legend)
    }
}

/// Lines of at most `most` pixels; a word that is longer is broken.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let letters = ((most / (LETTER * size)).floor() as usize).max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        // Names may come from files.
        let mut word: Vec<char> = printable(word).chars().collect();
        let room = lines
            .last()
            .map(|line| line.chars().count() + 1 + word.len());
        if let (Some(0..), Some(line)) = (room.filter(|it| *it <= letters), lines.last_mut()) {
            line.push(' ');
            line.extend(word);
            continue;
        }
        while word.len() > letters {
            let rest = word.split_off(letters);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        lines.push(word.into_iter().collect());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_there_is_room() {
        // Ten letters of size 10.
        let lines = wrapped("one two three abcdefghijklm n", 10.0, 62.1);
        assert_eq!(lines, ["one two", "three", "abcdefghij", "klm n"]);
        assert!(wrapped("", 10.0, 62.0).is_empty());
        assert_eq!(wrapped("a\u{1b}[2Jb", 10.0, 620.0), [r"a\u{1b}[2Jb"]);
    }
}
