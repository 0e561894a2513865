//! Boxes and lines in pixels, y downwards.

/// A place.
pub(super) type Place = (f64, f64);

/// A box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn around((x, y): Place, radius: f64) -> Rect {
        Rect {
            left: x - radius,
            top: y - radius,
            right: x + radius,
            bottom: y + radius,
        }
    }

    pub(super) fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn contains(&self, other: &Rect) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Whether a part of the line lies inside: of both axes, the part of it between the sides is kept.
    pub(super) fn is_hit_by(&self, (from, to): (Place, Place)) -> bool {
        let mut kept = (0.0f64, 1.0f64);
        let axes = [
            (from.0, to.0, self.left, self.right),
            (from.1, to.1, self.top, self.bottom),
        ];
        for (start, end, low, high) in axes {
            let length = end - start;
            if length == 0.0 {
                if start <= low || start >= high {
                    return false;
                }
                continue;
            }
            let (a, b) = ((low - start) / length, (high - start) / length);
            kept = (kept.0.max(a.min(b)), kept.1.min(a.max(b)));
        }
        kept.0 < kept.1
    }
}

/// Whether two lines meet.
pub(super) fn cross(a: (Place, Place), b: (Place, Place)) -> bool {
    let side = |line: (Place, Place), place: Place| {
        let ((x1, y1), (x2, y2)) = line;
        (x2 - x1) * (place.1 - y1) - (y2 - y1) * (place.0 - x1)
    };
    side(a, b.0) * side(a, b.1) <= 0.0 && side(b, a.0) * side(b, a.1) <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_hits_a_box_that_it_goes_through_and_no_other() {
        let square = Rect::around((10.0, 10.0), 5.0);
        for (line, expected) in [
            (((0.0, 0.0), (20.0, 20.0)), true),
            (((0.0, 10.0), (20.0, 10.0)), true),
            (((10.0, 0.0), (10.0, 4.0)), false),
            (((0.0, 9.0), (9.0, 0.0)), false),
            (((11.0, 11.0), (12.0, 12.0)), true),
            (((0.0, 15.0), (20.0, 15.0)), false),
        ] {
            assert_eq!(square.is_hit_by(line), expected, "{line:?}");
        }
    }

    #[test]
    fn lines_cross_where_each_has_its_ends_on_both_sides_of_the_other() {
        let across = ((0.0, 0.0), (10.0, 10.0));
        assert!(cross(across, ((0.0, 10.0), (10.0, 0.0))));
        assert!(!cross(across, ((0.0, 10.0), (4.0, 6.0))));
        assert!(!cross(across, ((1.0, 0.0), (11.0, 10.0))));
    }
}
