//! Labels where nothing else is.

use super::geometry::{Place, Rect};
use super::scene::{Anchor, Ink, Text};

/// What labels keep away from.
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

/// Beside a line that goes up to the right: on its upper left, then on its lower right, from the middle
/// to both ends.
pub(super) fn beside_slope(from: Place, to: Place, size: f64) -> Vec<(Place, Anchor)> {
    let on = |share: f64| {
        (
            from.0 + share * (to.0 - from.0),
            from.1 + share * (to.1 - from.1),
        )
    };
    let above = |(x, y): Place| ((x - GAP, y - 0.3 * size - 1.0), Anchor::End);
    let below = |(x, y): Place| ((x + GAP, y + 0.85 * size + 1.0), Anchor::Start);
    let shares = [
        0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1, 0.55, 0.45, 0.65, 0.35, 0.75, 0.25, 0.85,
        0.15, 0.95, 0.98,
    ];
    let above = shares.iter().map(|share| above(on(*share)));
    above
        .chain(shares.iter().map(|share| below(on(*share))))
        .collect()
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

/// Around a mark, near first.
pub(super) fn around((x, y): Place, size: f64) -> Vec<(Place, Anchor)> {
    let distances = [18.0, 40.0, 70.0, 110.0, 160.0, 220.0, 290.0];
    let rings = distances.iter().flat_map(|&d| {
        let half = 0.3 * size;
        [
            ((x + d, y + half), Anchor::Start),
            ((x + 0.7 * d, y + 0.7 * d + half), Anchor::Start),
            ((x - d, y + half), Anchor::End),
            ((x - 0.7 * d, y + 0.7 * d + half), Anchor::End),
            ((x, y + d + half), Anchor::Middle),
            ((x + 0.7 * d, y - 0.7 * d + half), Anchor::Start),
            ((x - 0.7 * d, y - 0.7 * d + half), Anchor::End),
            ((x, y - d + half), Anchor::Middle),
        ]
    });
    rings.collect()
}
