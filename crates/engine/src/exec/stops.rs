//! A warp under a director: it stops where it must be decided who goes on.

use super::activation::Group;
use super::code::Code;
use super::failure::Failed;
use super::op::Context;
use super::registers::lanes_of;
use super::warp::{TURNS, Warp};

/// Where a warp has stopped for a director.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At an access. It could go on.
    Asks,
    /// It waits or has ended.
    Waits,
    /// It has had its turn, and lets others go first.
    Yields,
    /// The same, and it waits for what others write as far as one can see.
    FailedPolls,
    /// The block has ended.
    Ended,
}

/// How a warp has come on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Directed {
    /// Turns of its groups since it let others go first.
    turns: u64,
    /// Whether one of those turns ended because it looked too often.
    has_looked: bool,
    /// How often it let others go first.
    yields: u64,
    /// The warp's steps when it last did.
    pub(super) since: u64,
    /// Whether the group that ran last asks who goes on.
    pub(super) asks: bool,
}

impl Directed {
    /// A group has had its turn. Where it looks for what others write, the warp has had its own.
    pub(super) fn has_had_turn(&mut self, looks: bool) {
        // No launch has so many turns that these or the groups' own come to the end of 64 bits.
        self.turns += if looks { TURNS } else { 1 };
        self.has_looked |= looks;
    }
}

impl Warp {
    /// Runs groups until a decision is asked for or the warp can go on no further.
    ///
    /// # Errors
    /// A thread failed.
    pub(crate) fn run_directed(
        &mut self,
        code: &Code<'_>,
        context: &mut Context<'_>,
    ) -> Result<Stop, Box<Failed>> {
        context.at.warp = self.index;
        loop {
            let Some(group) = self.next(code, context)? else {
                return Ok(Stop::Waits);
            };
            context.at.looks = group.looks;
            self.run_group(group, code, context)?;
            if std::mem::take(&mut self.directed.asks) {
                return Ok(Stop::Asks);
            }
            // Lanes may wait for lanes of their warp, which go first.
            let turns = |group: &Group| group.turns;
            let is_round = self.ready.iter().map(turns).min() == self.ready.iter().map(turns).max();
            if self.directed.turns >= TURNS && is_round {
                return Ok(self.lets_others_go(code));
            }
        }
    }

    /// Begins a new turn.
    fn lets_others_go(&mut self, code: &Code<'_>) -> Stop {
        let directed = &mut self.directed;
        directed.turns = 0;
        directed.yields += 1;
        let since = std::mem::replace(&mut directed.since, self.steps);
        match std::mem::take(&mut directed.has_looked) {
            true => {
                self.waited = self.steps.saturating_sub(since);
                if code.remembers() {
                    self.remember();
                }
                Stop::FailedPolls
            }
            false => Stop::Yields,
        }
    }

    /// How often it let others go first.
    pub(crate) fn yields(&self) -> u64 {
        self.directed.yields
    }

    /// Whether any of its lanes can go on.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether a lane can go on.
    pub(crate) fn is_at(&self, lane: u32) -> bool {
        self.ready.iter().any(|group| group.mask >> lane & 1 != 0)
    }

    /// The first lane of the group that goes next.
    pub(crate) fn next_lane(&self) -> Option<u32> {
        let first = self.first()?;
        Some(self.ready[first].mask.trailing_zeros())
    }

    /// Lanes that could go on instead of the group that asks: the first of each other group, and each of
    /// its own that could go ahead.
    pub(crate) fn alternatives(&self) -> Vec<u32> {
        let Some(asking) = self.asking() else {
            return Vec::new();
        };
        let own = self.ready[asking].mask;
        let own = if own.count_ones() > 1 { own } else { 0 };
        let others = self.ready.iter().enumerate().filter(|it| it.0 != asking);
        let others = others.map(|(_, group)| group.mask.trailing_zeros());
        others
            .chain(lanes_of(own).map(|lane| lane as u32))
            .collect()
    }

    /// The group that asked last.
    fn asking(&self) -> Option<usize> {
        self.ready.iter().rposition(|group| group.is_decided)
    }

    /// Lets a lane go ahead of those with which it asks.
    pub(crate) fn part(&mut self, lane: u32) {
        if let Some(asking) = self.asking()
            && let asking = &mut self.ready[asking]
            && asking.mask >> lane & 1 != 0
            && asking.mask != 1 << lane
        {
            let alone = Group {
                mask: 1 << lane,
                ..*asking
            };
            asking.mask &= !alone.mask;
            self.ready.push(alone);
        }
    }

    /// Makes the group of a lane the next, until it waits or has had its turn. Gives whether there is one.
    pub(crate) fn favour(&mut self, lane: u32) -> bool {
        let is_there = |group: &Group| group.mask >> lane & 1 != 0;
        let Some(place) = self.ready.iter().position(is_there) else {
            return false;
        };
        if self.first() != Some(place) {
            let turns = self.ready[place].turns;
            for (_, other) in self.ready.iter_mut().enumerate().filter(|it| it.0 != place) {
                other.turns = other.turns.max(turns.saturating_add(1));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Directed;

    #[test]
    fn turns_without_number_are_counted() {
        let mut directed = Directed::default();
        (0..=1u64 << 26).for_each(|_| directed.has_had_turn(true));
        assert!(directed.turns > u64::from(u32::MAX));
    }
}
