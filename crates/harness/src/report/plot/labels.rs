//! Labels where nothing else is.

use super::geometry::{Place, Rect};
use super::scene::{Anchor, Ink, Text};

/// Places that labels keep away from.
#[derive(Default)]
pub(super) struct Obstacles {
    pub(super) boxes: Vec<Rect>,
    pub(super) lines: Vec<(Place, Place)>,
}

impl Obstacles {
    /// A line through places.
    pub(super) fn line(&mut self, places: &[Place]) {
        let pairs = places.windows(2).map(|pair| (pair[0], pair[1]));
        self.lines.extend(pairs);
    }

    fn leave(&self, bounds: &Rect) -> bool {
        !self.boxes.iter().any(|other| bounds.overlaps(other))
            && !self.lines.iter().any(|line| bounds.is_hit_by(*line))
    }

    /// The text at the first of the places that is free, which is free no more; `None` where none is.
    pub(super) fn place(
        &mut self,
        text: &str,
        (size, ink): (f64, Ink),
        places: impl IntoIterator<Item = (Place, Anchor)>,
        within: &Rect,
    ) -> Option<Text> {
        let candidates = places.into_iter().map(|(at, anchor)| Text {
            at,
            anchor,
            size,
            ink,
            text: text.to_owned(),
        });
        let mut free = candidates.filter(|it| {
            let bounds = it.bounds();
            within.contains(&bounds) && self.leave(&bounds)
        });
        let found = free.next();
        self.boxes.extend(found.as_ref().map(Text::bounds));
        found
    }
}

/// Pixels between a label and its line.
const GAP: f64 = 5.0;

/// Beside a line that goes up to the right: on its upper left, then on its lower right, from the middle to both ends. At
/// its upper end last: beside a ridge point, its label would seem to be the flat roof's.
pub(super) fn beside_slope(from: Place, to: Place, size: f64) -> Vec<(Place, Anchor)> {
    const MIDDLE: [f64; 16] = [
        0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.1, 0.55, 0.45, 0.65, 0.35, 0.75, 0.25, 0.85, 0.15,
    ];
    const UPPER_END: [f64; 3] = [0.9, 0.95, 0.98];
    let on = |share: &f64| {
        (
            from.0 + share * (to.0 - from.0),
            from.1 + share * (to.1 - from.1),
        )
    };
    let above = |(x, y): Place| ((x - GAP, y - 0.3 * size - 1.0), Anchor::End);
    let below = |(x, y): Place| ((x + GAP, y + 0.85 * size + 1.0), Anchor::Start);
    let beside = |shares: &[f64]| {
        let places: Vec<Place> = shares.iter().map(on).collect();
        let above = places.iter().copied().map(above);
        let below = places.iter().copied().map(below);
        above.chain(below).collect::<Vec<_>>()
    };
    [beside(&MIDDLE), beside(&UPPER_END)].concat()
}

/// Above a level line, from its right end to the left, then below it.
pub(super) fn beside_flat(from: Place, to: Place, size: f64) -> Vec<(Place, Anchor)> {
    let along = |y: f64| {
        (0..=20).map(move |step| {
            let x = to.0 - GAP - f64::from(step) / 20.0 * (to.0 - from.0);
            ((x, y), Anchor::End)
        })
    };
    let above = along(from.1 - 0.3 * size - 1.0);
    above.chain(along(from.1 + 0.85 * size + 2.0)).collect()
}

/// On the right of a vertical line, from the top downwards, then on its left.
pub(super) fn beside_vertical(from: Place, to: Place, size: f64) -> Vec<(Place, Anchor)> {
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    let down = |x: f64, anchor: Anchor| {
        (0..20).map(move |step| {
            let y = top + size + f64::from(step) / 20.0 * (bottom - top);
            ((x, y), anchor)
        })
    };
    let right = down(from.0 + GAP, Anchor::Start);
    right.chain(down(from.0 - GAP, Anchor::End)).collect()
}

/// Everywhere in the frame, near the mark first, for a text of this width.
pub(super) fn near(mark: Place, (width, size): (f64, f64), frame: &Rect) -> Vec<(Place, Anchor)> {
    const STEP: f64 = 14.0;
    let steps = |from: f64, to: f64| {
        let all = (0..).map(move |step| from + f64::from(step) * STEP);
        all.take_while(move |it| *it <= to)
    };
    let lines = |left: f64| {
        let lines = steps(frame.top + size, frame.bottom - 0.3 * size);
        lines.map(move |y| (left, y))
    };
    let mut places: Vec<Place> = steps(frame.left, frame.right - width)
        .flat_map(lines)
        .collect();
    let distance = |&(left, y): &Place| {
        let x = mark.0.clamp(left, left + width);
        (mark.0 - x).hypot(mark.1 - y + 0.3 * size)
    };
    places.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let places = places.into_iter();
    places.map(|place| (place, Anchor::Start)).collect()
}
