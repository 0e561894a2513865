//! The time that each advice would save: of a launch without the cost that it names, predicted again.

use super::advice::{Advice, Kind};
use super::{Subject, lines};
use crate::driver::count::{Class, Counted, Counts, Memory, Space};

/// Lanes of a warp.
const WARP: u64 = 32;

/// The advice with what each saves of `seconds`, the most first.
pub(super) fn ordered(
    advice: Vec<Advice>,
    counts: &Counts,
    subject: &Subject<'_>,
    seconds: f64,
) -> Vec<Advice> {
    let with_savings = advice.into_iter().map(|it| {
        let relieved = subject.predict(&relieved(counts, &it, &subject.ptx_file));
        let saves = relieved.ok().map(|less| (seconds - less.seconds).max(0.0));
        Advice {
            saves_seconds: saves,
            ..it
        }
    });
    let mut advice: Vec<Advice> = with_savings.collect();
    let saves = |it: &Advice| it.saves_seconds.unwrap_or(0.0);
    advice.sort_by(|a, b| saves(b).total_cmp(&saves(a)));
    advice
}

/// The counts without what the advice is about.
fn relieved(counts: &Counts, advice: &Advice, ptx_file: &str) -> Counts {
    let mut counts = counts.clone();
    let is_at = |it: &Counted| lines::place(it, ptx_file) == (advice.file.clone(), advice.line);
    if advice.kind == Kind::DivergentBranch {
        let splits = |it: &Counted| it.branch.map_or(0, |it| it.splits);
        let all: u64 = counts.instructions.iter().map(splits).sum();
        let own: u64 = counts
            .instructions
            .iter()
            .filter(|it| is_at(it))
            .map(splits)
            .sum();
        let share = own as f64 / all.max(1) as f64;
        counts
            .instructions
            .iter_mut()
            .for_each(|it| undivided(it, share));
        return counts;
    }
    let at = counts.instructions.iter_mut().filter(|it| is_at(it));
    for counted in at {
        let (class, threads) = (counted.class, counted.threads);
        match advice.kind {
            Kind::LocalMemory => counted.memory.retain(|it| it.space != Space::Local),
            kind => counted
                .memory
                .iter_mut()
                .for_each(|it| relieve(it, kind, class, threads)),
        }
    }
    counts
}

/// An instruction that is issued this share less often for lanes that go another way.
fn undivided(counted: &mut Counted, share: f64) {
    let least = counted.lanes.div_ceil(WARP);
    let idle = counted.warps.saturating_sub(least);
    counted.warps -= (share * idle as f64) as u64;
}

fn relieve(memory: &mut Memory, kind: Kind, class: Class, threads: u64) {
    match (kind, memory.space) {
        (Kind::Uncoalesced, Space::Global) => {
            memory.sectors = memory.sectors.min(memory.least_sectors);
            memory.new_sectors = memory.new_sectors.min(memory.sectors);
            memory.stride = Some((memory.bytes / threads.max(1)) as i64);
        }
        (Kind::BankConflict, Space::Shared) => {
            memory.wavefronts -= memory.conflicts;
            memory.conflicts = 0;
        }
        (Kind::RedundantLoad, Space::Global) if class == Class::Load => {
            let share = memory.new_sectors as f64 / memory.sectors.max(1) as f64;
            let of = |amount: u64| (share.min(1.0) * amount as f64) as u64;
            memory.requests = of(memory.requests);
            memory.bytes = of(memory.bytes);
            memory.sectors = memory.new_sectors.min(memory.sectors);
            memory.least_sectors = memory.least_sectors.min(memory.sectors);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(space: Space) -> Memory {
        Memory {
            space,
            requests: 10,
            bytes: 1280,
            sectors: 320,
            least_sectors: 40,
            new_sectors: 80,
            wavefronts: 320,
            conflicts: 310,
            stride: Some(128),
        }
    }

    #[test]
    fn each_kind_of_cost_is_taken_away() {
        let relieved = |kind, space| {
            let mut memory = memory(space);
            relieve(&mut memory, kind, Class::Load, 320);
            memory
        };
        let coalesced = relieved(Kind::Uncoalesced, Space::Global);
        assert_eq!((coalesced.sectors, coalesced.new_sectors), (40, 40));
        assert_eq!(coalesced.stride, Some(4));
        let banked = relieved(Kind::BankConflict, Space::Shared);
        assert_eq!((banked.wavefronts, banked.conflicts), (10, 0));
        let kept = relieved(Kind::RedundantLoad, Space::Global);
        assert_eq!((kept.sectors, kept.requests), (80, 2));
        // What is in another space is not the advice's.
        assert_eq!(
            relieved(Kind::Uncoalesced, Space::Shared),
            memory(Space::Shared)
        );
    }
}
