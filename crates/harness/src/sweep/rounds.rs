//! The order in which the rounds of a sweep's points are taken: other points' lie between those of one.
//!
//! A device is slower for a while now and then: it frees memory, or its host is late. All samples of a point may lie in such a
//! while, and then say that the kernel is slow. So they are taken in rounds, and [`APART`] points begin between two of them.

/// Points that begin between two rounds of a point. So many rows for each round but the first are under way at once, and are
/// what a killed run loses.
const APART: usize = 8;

/// One round of one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) point: usize,
    pub(super) round: u32,
}

/// The steps of a sweep, and how many of them were taken.
pub(super) struct Rounds {
    pub(super) count: u32,
    steps: Vec<Step>,
    taken: usize,
}

impl Rounds {
    pub(super) fn new(points: usize, count: u32) -> Rounds {
        let times = points + (count as usize - 1) * APART;
        let at = |time: usize| {
            // A point's last round before others begin.
            (0..count).rev().filter_map(move |round| {
                let point = time.checked_sub(round as usize * APART)?;
                (point < points).then_some(Step { point, round })
            })
        };
        Rounds {
            count,
            steps: (0..times).flat_map(at).collect(),
            taken: 0,
        }
    }

    /// Takes out the steps up to the last round of a point; all of its own where that was taken before.
    pub(super) fn until(&mut self, point: usize) -> Vec<Step> {
        let last = Step {
            point,
            round: self.count - 1,
        };
        let left = &self.steps[self.taken..];
        match left.iter().position(|step| *step == last) {
            Some(place) => {
                self.taken += place + 1;
                left[..=place].to_vec()
            }
            None => (0..self.count).map(|round| Step { point, round }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(steps: &[Step]) -> Vec<(usize, u32)> {
        steps.iter().map(|it| (it.point, it.round)).collect()
    }

    #[test]
    fn others_lie_between_the_rounds_of_a_point_and_each_is_taken_once() {
        let mut rounds = Rounds::new(12, 2);
        let first = points(&rounds.until(0));
        let begun: Vec<(usize, u32)> = (0..APART).map(|point| (point, 0)).collect();
        assert_eq!(first, [&begun[..], &[(0, 1)]].concat());
        let mut all = first;
        for point in 1..12 {
            all.extend(points(&rounds.until(point)));
            assert_eq!(all.last(), Some(&(point, 1)));
        }
        all.sort_unstable();
        let each = (0..12).flat_map(|point| [(point, 0), (point, 1)]);
        assert_eq!(all, each.collect::<Vec<_>>());
    }

    #[test]
    fn as_many_rows_are_under_way_as_the_guide_says() {
        let under_way = |count| {
            let mut rounds = Rounds::new(100, count);
            let mut begun = 0;
            let of_row = |point| {
                let steps = rounds.until(point);
                begun += steps.iter().filter(|it| it.round == 0).count();
                begun - point
            };
            (0..100).map(of_row).max()
        };
        // docs/measuring.md, "Files".
        assert_eq!((under_way(4), under_way(1)), (Some(24), Some(1)));
    }

    #[test]
    fn few_points_take_turns_and_one_round_keeps_the_order() {
        let steps = points(&Rounds::new(2, 3).until(1));
        assert_eq!(steps, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]);
        assert_eq!(
            points(&Rounds::new(9, 1).until(2)),
            [(0, 0), (1, 0), (2, 0)]
        );
    }

    #[test]
    fn a_point_that_is_measured_again_has_all_its_rounds_again() {
        let mut rounds = Rounds::new(3, 2);
        rounds.until(2);
        assert_eq!(points(&rounds.until(1)), [(1, 0), (1, 1)]);
    }
}
