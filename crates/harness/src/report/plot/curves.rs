//! Lines through the marks of a series: solid between those that are measured.

use super::MarkKind;
use super::geometry::Place;
use super::scene::{Ink, Line, Role, Stroke};

/// A line of series number `index`, next to marks of this kind.
pub(super) fn line(index: usize, places: Vec<Place>, kind: MarkKind) -> Line {
    Line {
        places,
        ink: Ink::Series(index),
        width: 2.0,
        stroke: match kind {
            MarkKind::Predicted => Stroke::Dashed,
            _ => Stroke::Solid,
        },
        role: Role::Curve,
    }
}

/// The lines from each place to the next: another one begins where the marks become predicted, or measured again.
pub(super) fn lines(index: usize, ends: &[(Place, MarkKind)]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for pair in ends.windows(2) {
        let [(from, before), (to, kind)] = [pair[0], pair[1]];
        let kind = match before {
            MarkKind::Measured => kind,
            before => before,
        };
        let piece = line(index, vec![from, to], kind);
        match lines.last_mut() {
            Some(last) if last.stroke == piece.stroke => last.places.push(to),
            _ => lines.push(piece),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_solid_between_measured_marks_alone() {
        use MarkKind::{Measured, Predicted};
        let lines_of = |kinds: &[MarkKind]| {
            let ends = kinds.iter().enumerate();
            let ends: Vec<_> = ends.map(|(x, kind)| ((x as f64, 0.0), *kind)).collect();
            let lines = lines(0, &ends);
            lines
                .iter()
                .map(|it| (it.places.len(), it.stroke == Stroke::Dashed))
                .collect::<Vec<_>>()
        };
        assert_eq!(lines_of(&[Measured; 3]), [(3, false)]);
        assert_eq!(
            lines_of(&[Measured, Measured, Predicted, Predicted]),
            [(2, false), (3, true)]
        );
        assert_eq!(
            lines_of(&[Measured, Predicted, Measured, Measured]),
            [(3, true), (2, false)]
        );
        assert_eq!(lines_of(&[Measured]), []);
    }
}
