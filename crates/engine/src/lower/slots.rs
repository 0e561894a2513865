//! Which slot holds which register: those that are never live together share one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ptx::{Body, Reg, Type};

use super::flow::Piece;
use super::liveness::{live_in, steps};
use crate::exec::registers::Kind;
use crate::exec::slot_map::SlotMap;

/// The slots of a function's registers.
#[derive(Debug)]
pub(crate) struct Slots {
    of: Vec<Option<u32>>,
    kinds: Vec<Kind>,
    /// The kinds of the slots.
    pub(crate) map: SlotMap,
}

impl Slots {
    /// Gives slots to the registers of a body, and tells which may be read before they are written. `pinned` ones keep theirs
    /// to themselves, and the `returned` ones are read at the end.
    pub(crate) fn new(
        body: &Body,
        pieces: &[Piece],
        (pinned, returned): (&BTreeSet<Reg>, &[Reg]),
    ) -> (Slots, BTreeSet<Reg>) {
        let kinds: Vec<Kind> = body.registers.iter().map(|it| kind(it.ty)).collect();
        let mut slots = Slots {
            of: vec![None; kinds.len()],
            kinds,
            map: SlotMap::default(),
        };
        let mut free: HashMap<Kind, Vec<u32>> = HashMap::new();
        let mut held: BTreeMap<u32, Vec<Reg>> = BTreeMap::new();
        let mut live_in = live_in(body, pieces, returned);
        let mut intervals = intervals(body, pieces, &live_in);
        intervals.sort_unstable_by_key(|it| (it.first, it.register));
        for interval in intervals {
            // What ended before this begins.
            while let Some(entry) = held.first_entry().filter(|it| *it.key() < interval.first) {
                for register in entry.remove() {
                    let slot = slots.of[register.0 as usize].expect("it was given one");
                    free.entry(slots.kind(register)).or_default().push(slot);
                }
            }
            let (register, kind) = (interval.register, slots.kind(interval.register));
            let is_pinned = pinned.contains(&register);
            let again = free
                .get_mut(&kind)
                .filter(|_| !is_pinned)
                .and_then(Vec::pop);
            let slot = again.unwrap_or_else(|| slots.add(kind));
            slots.of[register.0 as usize] = Some(slot);
            if !is_pinned {
                held.entry(interval.last).or_default().push(register);
            }
        }
        (slots, std::mem::take(&mut live_in[0]))
    }

    /// Another slot.
    pub(crate) fn add(&mut self, kind: Kind) -> u32 {
        self.map.add(kind, 1)
    }

    /// So many slots, one behind the other: the first.
    pub(crate) fn add_row(&mut self, kind: Kind, count: u32) -> u32 {
        self.map.add(kind, count)
    }

    /// The slot of a register, and its kind. One that no instruction names has none until now.
    pub(crate) fn of(&mut self, register: Reg) -> (u32, Kind) {
        let kind = self.kind(register);
        let slot = match self.of[register.0 as usize] {
            Some(slot) => slot,
            None => self.add(kind),
        };
        self.of[register.0 as usize] = Some(slot);
        (slot, kind)
    }

    /// The slot of each register, where it has one, and its kind.
    pub(crate) fn of_registers(&self) -> Vec<Option<(u32, Kind)>> {
        let all = self.of.iter().zip(&self.kinds);
        all.map(|(slot, &kind)| slot.map(|slot| (slot, kind)))
            .collect()
    }

    pub(crate) fn kind(&self, register: Reg) -> Kind {
        self.kinds[register.0 as usize]
    }
}

/// Returns the kind of a register of a type.
pub(crate) fn kind(ty: Type) -> Kind {
    match ty.bits() {
        1 => Kind::Predicate,
        128 => Kind::Quad,
        64 => Kind::Double,
        _ => Kind::Word,
    }
}

/// Where a register is live, in steps of the pieces' order.
struct Interval {
    register: Reg,
    first: u32,
    last: u32,
}

/// One interval a register, from its first to its last moment, gaps included. A thread goes through
/// its own blocks one after another, and lanes do not touch each other's, so it does not matter in
/// which order a warp runs its groups. What is live behind guards whose answer a lane knows counts at these
/// guards, too, where the targets of pieces lie.
fn intervals(body: &Body, pieces: &[Piece], live_in: &[BTreeSet<Reg>]) -> Vec<Interval> {
    let mut ranges: HashMap<Reg, (u32, u32)> = HashMap::new();
    let mut touch = |register: Reg, step: u32| {
        let range = ranges.entry(register).or_insert((step, step));
        range.0 = range.0.min(step);
        range.1 = range.1.max(step);
    };
    let mut step = 0;
    for (index, piece) in pieces.iter().enumerate() {
        live_in[index]
            .iter()
            .for_each(|&register| touch(register, step));
        for accesses in steps(body, piece) {
            step += 1;
            accesses
                .iter()
                .for_each(|&(_, register)| touch(register, step));
        }
        step += 1;
        for target in piece.end.targets() {
            live_in[target]
                .iter()
                .for_each(|&register| touch(register, step));
        }
    }
    let interval = |(register, (first, last))| Interval {
        register,
        first,
        last,
    };
    ranges.into_iter().map(interval).collect()
}
