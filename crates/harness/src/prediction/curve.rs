//! Measured points, and straight lines between them.

use serde::Deserialize;

/// Points in ascending order of their first figures, at least one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    pub(super) fn of(points: Vec<(f64, f64)>) -> Curve {
        Curve { points }
    }

    /// The figure at `x`: between two points on the line that joins them, and beyond the ends that of the end.
    pub(super) fn at(&self, x: f64) -> f64 {
        let next = self.points.partition_point(|point| point.0 < x);
        let (Some(before), Some(after)) = (next.checked_sub(1), self.points.get(next)) else {
            return self.points[next.min(self.points.len() - 1)].1;
        };
        let before = self.points[before];
        before.1 + (after.1 - before.1) * (x - before.0) / (after.0 - before.0)
    }

    pub(super) fn first(&self) -> f64 {
        self.points[0].1
    }

    pub(super) fn last(&self) -> f64 {
        self.points[self.points.len() - 1].1
    }

    /// The same with all second figures so many times as large.
    pub(super) fn times(&self, factor: f64) -> Curve {
        Curve::of(self.points.iter().map(|(x, y)| (*x, y * factor)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_joins_its_points_and_ends_with_them() {
        let curve = Curve::of(vec![(1.0, 10.0), (2.0, 30.0), (4.0, 40.0)]);
        let at = [0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0].map(|x| curve.at(x));
        assert_eq!(at, [10.0, 10.0, 20.0, 30.0, 35.0, 40.0, 40.0]);
        assert_eq!(Curve::of(vec![(5.0, 7.0)]).at(1.0), 7.0);
    }
}
