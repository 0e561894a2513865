//! Where everything stands: a figure becomes a scene.

use std::collections::HashSet;

use super::curves;
use super::geometry::{Place, Rect, cross};
use super::labels::{self, Obstacles};
use super::legend::{self, Entry, Sample};
use super::scene::{
    Anchor, Ink, Item, LINE, Line, Role, Scene, Shape, ShapeKind, Stroke, Text, width, wrapped,
};
use super::ticks::{Tick, ticks};
use super::{Figure, Guide, Joined, Mark, MarkKind, Path, Plot, Series, Source};

/// Sizes of fonts in pixels. On a picture of the usual width that is shown 400 pixels wide, the smallest
/// has a size of 7.
const TITLE: f64 = 22.0;
const LABEL: f64 = 15.0;
/// Between the picture's edges and all else.
const MARGIN: f64 = 14.0;
/// Side by side at most: the labels of narrower plots have no room.
const ABREAST: usize = 3;
const NARROWEST: f64 = 300.0;

/// See [`Figure::scene`].
pub(super) fn scene(figure: &Figure, width: f64) -> Scene {
    let names = figure.names();
    let room = width - 2.0 * MARGIN;
    let mut items = Vec::new();
    let mut y = heading(figure, room, &mut items);
    let widest = ((room / NARROWEST).floor() as usize).clamp(1, ABREAST);
    let rows = figure.plots.len().div_ceil(widest);
    let columns = figure.plots.len().div_ceil(rows.max(1)).max(1);
    let mut unplaced = Vec::new();
    for row in figure.plots.chunks(columns) {
        let share = room / columns as f64;
        let height = (0.62 * share).clamp(260.0, 470.0);
        for (index, plot) in row.iter().enumerate() {
            let left = MARGIN + share * index as f64;
            let area = Rect {
                left,
                top: y,
                right: left + share - if columns > 1 { MARGIN } else { 0.0 },
                bottom: y + height,
            };
            let mut drawing = Drawing::new(plot, area, &names);
            drawing.draw();
            items.append(&mut drawing.items);
            unplaced.append(&mut drawing.unplaced);
        }
        y += height + MARGIN / 2.0;
    }
    let mut legend = Vec::new();
    // Names of series are short, and stand in more columns.
    let mut said = HashSet::new();
    unplaced.retain(|entry: &Entry| said.insert(entry.text.clone()));
    for entries in [legend_entries(figure, &names), unplaced] {
        let (mut items, height) = legend::items(&entries, (MARGIN, y), room, LABEL);
        legend.append(&mut items);
        y += height;
    }
    Scene {
        width,
        height: (y + MARGIN).ceil(),
        title: match figure.title.is_empty() {
            true => figure
                .plots
                .first()
                .map_or_else(String::new, |plot| plot.caption.clone()),
            false => figure.title.clone(),
        },
        items,
        legend,
    }
}

/// Title and subtitle; the y below them.
fn heading(figure: &Figure, room: f64, items: &mut Vec<Item>) -> f64 {
    let mut y = MARGIN;
    for (text, size, ink) in [
        (&figure.title, TITLE, Ink::Text),
        (&figure.subtitle, LABEL, Ink::Faint),
    ] {
        for text in wrapped(text, size, room) {
            items.push(Item::Text(Text {
                at: (MARGIN, y + size),
                anchor: Anchor::Start,
                size,
                ink,
                text,
            }));
            y += LINE * size;
        }
    }
    y + MARGIN / 2.0
}

fn legend_entries(figure: &Figure, names: &[&str]) -> Vec<Entry> {
    let entry = |(index, name): (usize, &&str)| {
        let mut all = figure.plots.iter().flat_map(|plot| &plot.series);
        let series = all.find(|series| series.name == **name)?;
        let mark = series.marks.first()?;
        let is_joined = series.joined != Joined::Not;
        let line = is_joined.then(|| curves::line(index, Vec::new(), mark.kind));
        Some(Entry {
            text: series.name.clone(),
            sample: Sample::Mark(shape(index, mark, (0.0, 0.0)), line),
        })
    };
    names.iter().enumerate().filter_map(entry).collect()
}

fn shape(index: usize, mark: &Mark, at: Place) -> Shape {
    Shape {
        at,
        kind: match mark.kind {
            MarkKind::Measured | MarkKind::Predicted => ShapeKind::of_series(index),
            MarkKind::Counted => ShapeKind::Halo,
            MarkKind::Counters => ShapeKind::Rhombus,
        },
        ink: Ink::Series(index),
        hollow: mark.kind != MarkKind::Measured,
        tip: None,
    }
}

fn guide_line(guide: &Guide, places: Vec<Place>) -> Line {
    let measured = guide.source == Source::Measured;
    Line {
        places,
        ink: if measured {
            Ink::MeasuredRoof
        } else {
            Ink::Roof
        },
        width: if measured { 1.3 } else { 2.0 },
        stroke: match measured || matches!(guide.path, Path::Vertical(_)) {
            true => Stroke::of_measured(guide.number),
            false => Stroke::Solid,
        },
        role: Role::Guide,
    }
}

/// A plot that is drawn.
struct Drawing<'a> {
    plot: &'a Plot,
    names: &'a [&'a str],
    /// The rectangle between the axes.
    frame: Rect,
    area: Rect,
    ticks: [Vec<Tick>; 2],
    obstacles: Obstacles,
    items: Vec<Item>,
    /// Entries without room in the plot.
    unplaced: Vec<Entry>,
}

impl<'a> Drawing<'a> {
    /// Finds the place of the frame: left of it stand the labels of y, whatever they are.
    fn new(plot: &'a Plot, area: Rect, names: &'a [&'a str]) -> Drawing<'a> {
        let caption = if plot.caption.is_empty() {
            0.0
        } else {
            LINE * LABEL
        };
        let top = area.top + caption + LINE * LABEL + 8.0;
        let bottom = area.bottom - 2.0 * LINE * LABEL - 8.0;
        let y_ticks = ticks(&plot.y, |ticks| {
            let places: Vec<f64> = ticks
                .iter()
                .map(|it| plot.y.share(it.value) * (bottom - top))
                .collect();
            places
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= 1.2 * LABEL)
                && differ(ticks)
        });
        let widest = y_ticks.iter().map(|it| width(&it.label, LABEL));
        let left = area.left + widest.fold(0.0, f64::max) + 10.0;
        let right = area.right - 4.0;
        let x_ticks = ticks(&plot.x, |ticks| {
            let extent = |tick: &Tick| {
                let (middle, half) = (
                    left + plot.x.share(tick.value) * (right - left),
                    width(&tick.label, LABEL) / 2.0,
                );
                (middle - half, middle + half)
            };
            let extents: Vec<_> = ticks.iter().map(extent).collect();
            // One at an end may stand out as far as the area goes.
            let inside = |(from, to): &(f64, f64)| *from >= area.left && *to <= area.right;
            extents.windows(2).all(|pair| pair[1].0 - pair[0].1 >= 8.0)
                && extents.iter().all(inside)
                && differ(ticks)
        });
        Drawing {
            plot,
            names,
            frame: Rect {
                left,
                top,
                right,
                bottom,
            },
            area,
            unplaced: numbered(plot, &x_ticks),
            ticks: [x_ticks, y_ticks],
            obstacles: Obstacles::default(),
            items: Vec::new(),
        }
    }

    fn draw(&mut self) {
        self.axes();
        self.guides();
        let marks = self.marks();
        self.letters();
        self.guide_labels();
        self.notes();
        // Above all lines.
        self.items.extend(marks);
    }

    fn place(&self, (x, y): (f64, f64)) -> Place {
        let frame = &self.frame;
        (
            frame.left + self.plot.x.share(x) * (frame.right - frame.left),
            frame.bottom - self.plot.y.share(y) * (frame.bottom - frame.top),
        )
    }

    fn text(&mut self, text: &str, at: Place, anchor: Anchor, ink: Ink) {
        let text = Text {
            at,
            anchor,
            size: LABEL,
            ink,
            text: text.to_owned(),
        };
        self.items.push(Item::Text(text));
    }

    fn line(&mut self, line: Line) {
        self.items.push(Item::Line(line));
    }

    fn axes(&mut self) {
        let frame = self.frame;
        let [x_ticks, y_ticks] = self.ticks.clone();
        let grid = |places: Vec<Place>| Line {
            places,
            ink: Ink::Grid,
            width: 1.0,
            stroke: Stroke::Solid,
            role: Role::Grid,
        };
        // Where even the fewest ticks touch, some have no label.
        let mut taken = f64::NEG_INFINITY;
        for tick in x_ticks {
            let x = self.place((tick.value, self.plot.y.range.0)).0;
            self.line(grid(vec![(x, frame.top), (x, frame.bottom)]));
            let half = 0.5 * width(&tick.label, LABEL);
            if x - half < taken + 4.0 {
                continue;
            }
            taken = x + half;
            let at = (x, frame.bottom + 6.0 + LABEL);
            self.text(&tick.label, at, Anchor::Middle, Ink::Faint);
        }
        for tick in y_ticks {
            let y = self.place((self.plot.x.range.0, tick.value)).1;
            self.line(grid(vec![(frame.left, y), (frame.right, y)]));
            self.text(
                &tick.label,
                (frame.left - 6.0, y + 0.3 * LABEL),
                Anchor::End,
                Ink::Faint,
            );
        }
        let corners = [
            (frame.left, frame.top),
            (frame.left, frame.bottom),
            (frame.right, frame.bottom),
        ];
        self.line(grid(corners.to_vec()));
        let room = self.area.right - self.area.left;
        let first = |text: &str| {
            wrapped(text, LABEL, room)
                .into_iter()
                .next()
                .unwrap_or_default()
        };
        let (x_name, y_name) = (first(&self.plot.x.name), first(&self.plot.y.name));
        let middle = (self.area.left + self.area.right) / 2.0;
        self.text(
            &x_name,
            (middle, self.area.bottom - 6.0),
            Anchor::Middle,
            Ink::Text,
        );
        self.text(
            &y_name,
            (self.area.left, frame.top - 13.0),
            Anchor::Start,
            Ink::Text,
        );
        if !self.plot.caption.is_empty() {
            let caption = first(&self.plot.caption);
            let at = (middle, self.area.top + LABEL);
            self.text(&caption, at, Anchor::Middle, Ink::Text);
        }
    }

    fn guides(&mut self) {
        for guide in &self.plot.guides {
            let Some(ends) = self.plot.ends(guide.path) else {
                continue;
            };
            let places = ends.map(|end| self.place(end)).to_vec();
            self.obstacles.line(&places);
            self.line(guide_line(guide, places));
        }
        /// Pixels around a ridge point without text: a label beside it would seem to be of its roof, whosever it is.
        const CLEAR: f64 = 20.0;
        for &dot in self.plot.guides.iter().flat_map(|guide| &guide.dots) {
            let at = self.place(dot);
            if !self.frame.contains(&Rect::around(at, 0.0)) {
                continue;
            }
            self.obstacles.boxes.push(Rect::around(at, CLEAR));
            self.items.push(Item::Shape(Shape {
                at,
                kind: ShapeKind::Dot,
                ink: Ink::Roof,
                hollow: false,
                tip: None,
            }));
        }
    }

    /// Draws the curves and gives the marks, which stand above all else.
    fn marks(&mut self) -> Vec<Item> {
        let mut marks = Vec::new();
        for series in &self.plot.series {
            let index = self.names.iter().position(|name| *name == series.name);
            let index = index.unwrap_or_default();
            self.curves(series, index);
            for mark in &series.marks {
                let at = self.place((mark.x, mark.y));
                self.noise(mark, index);
                let tip = format!("{}\n{}", series.name, mark.tip);
                let shape = Shape {
                    tip: Some(tip),
                    ..shape(index, mark, at)
                };
                self.obstacles
                    .boxes
                    .push(Rect::around(at, shape.kind.radius() + 1.0));
                marks.push(Item::Shape(shape));
            }
        }
        marks
    }

    /// The lines through a series' marks.
    fn curves(&mut self, series: &Series, index: usize) {
        let begin = match series.joined {
            Joined::Not => return,
            Joined::Marks => None,
            Joined::From(place) => Some((self.place(place), MarkKind::Measured)),
        };
        let marks = series.marks.iter();
        let marks = marks.map(|mark| (self.place((mark.x, mark.y)), mark.kind));
        let ends: Vec<(Place, MarkKind)> = begin.into_iter().chain(marks).collect();
        for line in curves::lines(index, &ends) {
            self.obstacles.line(&line.places);
            self.line(line);
        }
    }

    /// An error bar, where it is longer than its mark.
    fn noise(&mut self, mark: &Mark, index: usize) {
        let Some((low, high)) = mark.noise else {
            return;
        };
        let range = self.plot.y.range;
        let ends = [low, high].map(|y| self.place((mark.x, y.clamp(range.0, range.1))));
        if ends[0].1 - ends[1].1 <= 2.0 * ShapeKind::of_series(index).radius() {
            return;
        }
        let bar = |places: Vec<Place>| Line {
            places,
            ink: Ink::Series(index),
            width: 1.5,
            stroke: Stroke::Solid,
            role: Role::Noise,
        };
        self.obstacles.line(&ends);
        self.line(bar(ends.to_vec()));
        for ((x, y), end) in ends.into_iter().zip([low, high]) {
            // A bar that leaves the picture has no end there.
            if (range.0..=range.1).contains(&end) {
                self.line(bar(vec![(x - 4.0, y), (x + 4.0, y)]));
            }
        }
    }

    /// Each guide's label beside it, where there is room, else in the legend.
    fn guide_labels(&mut self) {
        for guide in &self.plot.guides {
            let line = guide_line(guide, Vec::new());
            let candidates = self.plot.ends(guide.path).map(|ends| {
                let [from, to] = ends.map(|end| self.place(end));
                match guide.path {
                    Path::Slope { .. } => labels::beside_slope(from, to, LABEL),
                    Path::Flat { .. } => labels::beside_flat(from, to, LABEL),
                    Path::Vertical(_) => labels::beside_vertical(from, to, LABEL),
                }
            });
            let style = (LABEL, line.ink);
            let candidates = candidates.unwrap_or_default();
            let frame = self.frame;
            match self
                .obstacles
                .place(&guide.label, style, candidates, &frame)
            {
                Some(text) => self.items.push(Item::Text(text)),
                None => self.unplaced.push(Entry {
                    text: guide.label.clone(),
                    sample: Sample::Line(line),
                }),
            }
        }
    }

    /// The letters of marks, as near as there is room, with a line to the mark where they are not next to it.
    fn letters(&mut self) {
        /// Pixels from a mark to letters that are next to it.
        const NEXT: f64 = 22.0;
        let marks = self.plot.series.iter().flat_map(|series| &series.marks);
        let lettered =
            marks.filter_map(|mark| Some((self.place((mark.x, mark.y)), mark.letters.as_ref()?)));
        let lettered: Vec<(Place, &String)> = lettered.collect();
        let frame = self.frame;
        for (at, letters) in lettered {
            // Capitals are wider than letters are on average.
            let padded = format!("{letters}\u{a0}\u{a0}");
            let wide = width(&padded, LABEL);
            let candidates = labels::near(at, (wide, LABEL), &frame);
            let style = (LABEL, Ink::Text);
            let found = self.obstacles.place(&padded, style, candidates, &frame);
            let Some(text) = found else {
                continue;
            };
            let middle = text.at.0 + 0.5 * wide;
            let text = Text {
                text: letters.clone(),
                at: (middle, text.at.1),
                anchor: Anchor::Middle,
                ..text
            };
            let half = 0.5 * width(letters, LABEL);
            let end = nearest(at, (middle - half, middle + half), text.at.1);
            if (end.0 - at.0).hypot(end.1 - at.1) > NEXT {
                self.line(Line {
                    places: vec![at, end],
                    ink: Ink::Faint,
                    width: 1.0,
                    stroke: Stroke::Solid,
                    role: Role::Leader,
                });
            }
            self.items.push(Item::Text(text));
        }
    }

    /// A ring around each mark that is pointed out, and its note, with a line to it that meets no other.
    fn notes(&mut self) {
        let marks = self.plot.series.iter().flat_map(|series| &series.marks);
        let noted =
            marks.filter_map(|mark| Some((self.place((mark.x, mark.y)), mark.note.as_ref()?)));
        let noted: Vec<(Place, &String)> = noted.collect();
        let ring = |&(at, _): &(Place, &String)| Rect::around(at, ShapeKind::Ring.radius() + 1.0);
        self.obstacles.boxes.extend(noted.iter().map(ring));
        // Rings may overlap: what a line must not touch is another's mark.
        let marks: Vec<Rect> = noted.iter().map(|(at, _)| Rect::around(*at, 4.0)).collect();
        let mut leaders: Vec<(Place, Place)> = Vec::new();
        for (index, &(at, note)) in noted.iter().enumerate() {
            let shape = Shape {
                at,
                kind: ShapeKind::Ring,
                ink: Ink::Text,
                hollow: true,
                tip: None,
            };
            self.items.push(Item::Shape(shape.clone()));
            let wide = width(note, LABEL);
            let is_clear = |&((left, y), _): &(Place, Anchor)| {
                let leader = (at, nearest(at, (left, left + wide), y));
                let mut others = marks
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != index);
                !others.any(|(_, mark)| mark.is_hit_by(leader))
                    && !leaders.iter().any(|other| cross(*other, leader))
            };
            let frame = self.frame;
            let candidates = labels::near(at, (wide, LABEL), &frame);
            let candidates = candidates.into_iter().filter(is_clear);
            let style = (LABEL, Ink::Text);
            let Some(text) = self.obstacles.place(note, style, candidates, &frame) else {
                self.unplaced.push(Entry {
                    text: note.clone(),
                    sample: Sample::Mark(shape, None),
                });
                continue;
            };
            let leader = (at, nearest(at, (text.at.0, text.at.0 + wide), text.at.1));
            leaders.push(leader);
            self.line(Line {
                places: vec![leader.0, leader.1],
                ink: Ink::Faint,
                width: 1.0,
                stroke: Stroke::Solid,
                role: Role::Leader,
            });
            self.items.push(Item::Text(text));
        }
    }
}

/// The place of a text's edge, on this base line, that is nearest to a mark.
fn nearest(mark: Place, (left, right): (f64, f64), y: f64) -> Place {
    let x = mark.0.clamp(left, right);
    (x, mark.1.clamp(y - 0.8 * LABEL, y + 0.25 * LABEL))
}

/// Returns the names that numbers at an axis stand for, where they do not fit.
fn numbered(plot: &Plot, ticks: &[Tick]) -> Vec<Entry> {
    let named = plot.x.names.iter().zip(ticks);
    let numbers = named.filter(|(name, tick)| **name != tick.label);
    let entry = |(name, tick): (&String, &Tick)| Entry {
        text: format!("{}: {name}", tick.label),
        sample: Sample::None,
    };
    numbers.map(entry).collect()
}

/// Whether no two labels are the same.
fn differ(ticks: &[Tick]) -> bool {
    ticks.windows(2).all(|pair| pair[0].label != pair[1].label)
}
