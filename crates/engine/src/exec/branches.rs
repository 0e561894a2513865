//! Groups at branches.

use super::activation::Group;
use super::failure::Cause;
use super::program::Point;
use super::registers::{LANES, lanes_of};
use super::warp::Warp;

impl Warp {
    /// Splits a group at a branch; the part that is further back goes on.
    #[inline]
    pub(super) fn branch(
        &mut self,
        mut group: Group,
        lanes: u32,
        taken: u32,
        otherwise: u32,
    ) -> Group {
        let rest = group.mask & !lanes;
        let (on, other) = match (lanes, rest) {
            (_, 0) => ((taken, lanes), None),
            (0, _) => ((otherwise, rest), None),
            _ if taken < otherwise => ((taken, lanes), Some((otherwise, rest))),
            _ => ((otherwise, rest), Some((taken, lanes))),
        };
        if let Some((block, mask)) = other {
            self.ready.push(Group {
                at: Point::start_of(block),
                mask,
                ..group
            });
        }
        group.at = Point::start_of(on.0);
        group.mask = on.1;
        group
    }

    /// Splits a group by an index of each lane; the part that is furthest back goes on.
    ///
    /// # Errors
    /// The index of a lane lies beyond the last target.
    pub(super) fn switch(
        &mut self,
        mut group: Group,
        index: &[u32; LANES],
        targets: &[u32],
    ) -> Result<Group, Cause> {
        let mut blocks = [0; LANES];
        for lane in lanes_of(group.mask) {
            blocks[lane] = *targets
                .get(index[lane] as usize)
                .ok_or_else(|| beyond(index[lane], targets.len()))?;
        }
        let target = |lane: usize| blocks[lane];
        let mut rest = group.mask;
        let mut parts: Vec<(u32, u32)> = Vec::new();
        while rest != 0 {
            let block = target(rest.trailing_zeros() as usize);
            let lanes = lanes_of(rest)
                .filter(|&lane| target(lane) == block)
                .fold(0, |mask, lane| mask | 1 << lane);
            parts.push((block, lanes));
            rest &= !lanes;
        }
        parts.sort_unstable();
        for &(block, mask) in &parts[1..] {
            self.ready.push(Group {
                at: Point::start_of(block),
                mask,
                ..group
            });
        }
        (group.at, group.mask) = (Point::start_of(parts[0].0), parts[0].1);
        Ok(group)
    }
}

#[cold]
fn beyond(index: u32, targets: usize) -> Cause {
    Cause::misuse(format!(
        "`brx.idx` by {index}, and its list has {targets} targets"
    ))
}
