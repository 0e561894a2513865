//! Random programs: what the checker finds is what follows from PTX's memory model, computed by
//! transitive closure over all pairs of events.

use super::*;
use Order::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

/// Two blocks of three threads, two of which share a warp.
const THREADS: [(usize, u32); 6] = [(0, 0), (0, 1), (0, 40), (1, 0), (1, 1), (1, 40)];
/// The flag is reached by strong accesses of 4 bytes, and by weak ones; the rest by weak ones.
const FLAG: u64 = 64;
/// Another word of strong accesses.
const OTHER: u64 = FLAG + 4;
/// More were tried once.
const SEEDS: u64 = 12_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    Access(AccessKind, u64, u32),
    Fence(Order, Scope),
}

#[derive(Clone, Debug)]
enum Event {
    /// Of one thread.
    Step(usize, Step),
    /// These threads meet.
    Meet(Meeting, u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Meeting {
    Barrier,
    Partial,
    Warp,
}

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed * 7919 + 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    pub(super) fn of<T: std::marker::Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

fn event(random: &mut Random) -> Event {
    let thread = random.below(THREADS.len());
    let scope = random.of(&[Scope::Block, Scope::Device, Scope::Device, Scope::System]);
    let order = random.of(&[Relaxed, Acquire, Release, AcquireRelease]);
    let strong = match random.below(3) {
        0 => load(if order.acquires() { Acquire } else { Relaxed }, scope),
        1 => store(if order.releases() { Release } else { Relaxed }, scope),
        _ => AccessKind::Atomic(order, scope),
    };
    let weak = random.of(&[READ, WRITE]);
    let step = match random.below(24) {
        0..4 => {
            let bytes = random.of(&[1, 2, 4, 4, 8]);
            let address = random.below(32 / bytes) * bytes;
            Step::Access(weak, address as u64, bytes as u32)
        }
        4..11 => Step::Access(strong, random.of(&[FLAG, FLAG, OTHER]), 4),
        11 => Step::Access(weak, FLAG, 4),
        12..17 => Step::Fence(
            random.of(&[AcquireRelease, SequentiallyConsistent, Acquire, Release]),
            scope,
        ),
        _ => return meet(random),
    };
    Event::Step(thread, step)
}

fn meet(random: &mut Random) -> Event {
    let base = random.of(&[0, 3]);
    match random.below(4) {
        0 => Event::Meet(Meeting::Barrier, 0b111 << base),
        1 => Event::Meet(Meeting::Partial, random.of(&[0b011, 0b110, 0b101]) << base),
        _ => Event::Meet(Meeting::Warp, random.of(&[0b11, 0b01, 0b10]) << base),
    }
}

/// The event at which the checker finds the first race.
fn checked(events: &[Event], apart: Apart) -> Option<usize> {
    let mut device = Device::new(64);
    let other = |device: &mut Device| match apart {
        Apart::Blocks => device.block(1),
        Apart::Devices => device.block_elsewhere(1, 64),
    };
    let blocks = [device.block(0), other(&mut device)];
    events.iter().position(|event| match *event {
        Event::Step(thread, step) => {
            let (block, thread) = THREADS[thread];
            match step {
                Step::Access(what, address, bytes) => {
                    let x = device.x;
                    is_race(device.at(blocks[block], thread, what, x + address, bytes))
                }
                Step::Fence(order, scope) => {
                    device.fence(blocks[block], thread, order, scope);
                    false
                }
            }
        }
        Event::Meet(meeting, set) => {
            let block = blocks[usize::from(set > 0b111)];
            let threads = (0..6).filter(|thread| set >> thread & 1 == 1);
            let each = threads.map(|thread| one(block, THREADS[thread].1));
            match meeting {
                Meeting::Barrier => device.checker.barrier(block).unwrap(),
                Meeting::Partial => {
                    each.clone().for_each(|who| device.checker.arrive(who, set));
                    each.for_each(|who| device.checker.leave(who, set));
                }
                Meeting::Warp => device.checker.sync_warp(Accessors {
                    block,
                    warp: 0,
                    mask: each.fold(0, |mask, who| mask | who.mask),
                }),
            }
            false
        }
    })
}

/// By the letter, or as far as the checker may see less: a strong write that comes before an observed
/// one of the same address counts as observed, and so does any of the same thread to that address, since the checker tells them apart by
/// times alone; and atomic operations hand on what they read whatever their scopes.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Strict,
    Lenient,
}

/// Where the two blocks run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Apart {
    /// On one device, in one launch.
    Blocks,
    /// On two, in launches that run at the same time.
    Devices,
}

/// The relations between pairs of events.
struct Oracle<'a> {
    rules: Rules,
    apart: Apart,
    events: &'a [Event],
    /// Base causality.
    before: Vec<Vec<bool>>,
    /// Per read, the writes that precede it in observation order.
    observed: Vec<Vec<usize>>,
}

impl<'a> Oracle<'a> {
    fn new(events: &'a [Event], rules: Rules, apart: Apart) -> Oracle<'a> {
        let len = events.len();
        let mut oracle = Oracle {
            rules,
            apart,
            events,
            before: vec![vec![false; len]; len],
            observed: vec![Vec::new(); len],
        };
        for later in 0..len {
            oracle.observe(later);
            for earlier in 0..later {
                oracle.before[earlier][later] =
                    oracle.is_program_order(earlier, later) || oracle.are_fences(earlier, later);
            }
        }
        for read in 0..len {
            for write in oracle.observed[read].clone() {
                oracle.synchronise(write, read);
            }
        }
        for middle in 0..len {
            for first in 0..len {
                if oracle.before[first][middle] {
                    for last in 0..len {
                        oracle.before[first][last] |= oracle.before[middle][last];
                    }
                }
            }
        }
        oracle
    }

    fn threads(&self, event: usize) -> u32 {
        match self.events[event] {
            Event::Step(thread, _) => 1 << thread,
            Event::Meet(_, set) => set,
        }
    }

    fn is_program_order(&self, earlier: usize, later: usize) -> bool {
        earlier < later && self.threads(earlier) & self.threads(later) != 0
    }

    fn access(&self, event: usize) -> Option<(AccessKind, u64, u32)> {
        match self.events[event] {
            Event::Step(_, Step::Access(what, address, bytes)) => Some((what, address, bytes)),
            _ => None,
        }
    }

    /// The order and scope of a strong access or a fence.
    fn strength(&self, event: usize) -> Option<(Order, Scope)> {
        match self.events[event] {
            Event::Step(_, Step::Access(what, ..)) => what.strong(),
            Event::Step(_, Step::Fence(order, scope)) => Some((order, scope)),
            Event::Meet(..) => None,
        }
    }

    /// Whether the scope of each includes the other.
    fn includes(&self, a: usize, b: usize) -> bool {
        let (Some((_, one)), Some((_, other))) = (self.strength(a), self.strength(b)) else {
            return false;
        };
        let is_near = (self.threads(a) > 0b111) == (self.threads(b) > 0b111);
        let needed = match self.apart {
            Apart::Blocks => Scope::Device,
            Apart::Devices => Scope::System,
        };
        is_near || one.min(other) >= needed
    }

    fn observe(&mut self, read: usize) {
        let Some((what, place @ (FLAG | OTHER), _)) = self.access(read) else {
            return;
        };
        let writes = |event: &usize| {
            self.access(*event)
                .is_some_and(|(what, address, _)| what.writes() && address == place)
        };
        let last = (0..read).rev().find(writes);
        let is_seen = |write: &usize| self.rules == Rules::Lenient || self.includes(*write, read);
        if let Some(write) = last.filter(|write| what.reads() && is_seen(write)) {
            let mut all = vec![write];
            if matches!(self.access(write), Some((AccessKind::Atomic(..), ..))) {
                all.extend(&self.observed[write]);
            }
            self.observed[read] = all;
        }
    }

    fn are_fences(&self, earlier: usize, later: usize) -> bool {
        let is_sc = |event: usize| {
            matches!(
                self.events[event],
                Event::Step(_, Step::Fence(SequentiallyConsistent, _))
            )
        };
        is_sc(earlier) && is_sc(later) && self.includes(earlier, later)
    }

    fn is_fence(&self, event: usize) -> bool {
        matches!(self.events[event], Event::Step(_, Step::Fence(..)))
    }

    fn synchronise(&mut self, write: usize, read: usize) {
        let releases = |event: usize| {
            self.strength(event)
                .is_some_and(|(order, _)| order.releases())
        };
        let acquires = |event: usize| {
            self.strength(event)
                .is_some_and(|(order, _)| order.acquires())
        };
        // Of the same word, or a fence.
        let address = |event: usize| self.access(event).map(|(_, address, _)| address);
        let writes = |event: usize| {
            address(event) == address(write)
                && self.access(event).is_some_and(|(what, ..)| what.writes())
        };
        let heads: Vec<usize> = (0..=write)
            .filter(|head| *head == write || self.is_program_order(*head, write))
            .filter(|head| releases(*head) && (self.is_fence(*head) || writes(*head)))
            .collect();
        let reads = |event: usize| event == read || self.is_fence(event);
        let tails: Vec<usize> = (read..self.events.len())
            .filter(|tail| *tail == read || self.is_program_order(read, *tail))
            .filter(|tail| acquires(*tail) && reads(*tail))
            .collect();
        for head in heads {
            for tail in &tails {
                if self.includes(head, *tail) {
                    self.before[head][*tail] = true;
                }
            }
        }
    }

    /// Whether a strong write was observed by what is before the event.
    fn is_observed(&self, write: usize, later: usize) -> bool {
        let is_lenient = self.rules == Rules::Lenient;
        (0..later)
            .filter(|read| self.before[*read][later])
            .any(|read| {
                self.observed[read].iter().any(|seen| {
                    let address = |event| self.access(event).map(|(_, address, _)| address);
                    let is_near = address(*seen) == address(write)
                        && (self.threads(*seen) == self.threads(write)
                            || self.before[write][*seen]);
                    *seen == write || (is_lenient && is_near)
                })
            })
    }

    fn races(&self, earlier: usize, later: usize) -> bool {
        let (Some(a), Some(b)) = (self.access(earlier), self.access(later)) else {
            return false;
        };
        let overlaps = a.1 < b.1 + u64::from(b.2) && b.1 < a.1 + u64::from(a.2);
        let is_atomic = self.includes(earlier, later);
        let is_strong_write = a.0.strong().is_some() && a.0.writes();
        overlaps
            && (a.0.writes() || b.0.writes())
            && !is_atomic
            && !self.before[earlier][later]
            && !(is_strong_write && self.is_observed(earlier, later))
    }

    fn first_race(&self) -> Option<usize> {
        (0..self.events.len()).find(|later| (0..*later).any(|earlier| self.races(earlier, *later)))
    }
}

/// Whether the checker finds the first race at the event where it is.
fn agree(events: &[Event], apart: Apart) -> bool {
    let [strict, lenient, found] = [
        Oracle::new(events, Rules::Strict, apart).first_race(),
        Oracle::new(events, Rules::Lenient, apart).first_race(),
        checked(events, apart),
    ]
    .map(|race| race.unwrap_or(events.len()));
    strict <= found && found <= lenient
}

/// A program without those events that make no difference.
fn shrink(mut events: Vec<Event>, apart: Apart) -> Vec<Event> {
    let mut at = 0;
    while at < events.len() {
        let mut fewer = events.clone();
        fewer.remove(at);
        if agree(&fewer, apart) {
            at += 1;
        } else {
            events = fewer;
            at = 0;
        }
    }
    events
}

#[test]
fn random_programs() {
    compare(Apart::Blocks);
}

#[test]
fn random_programs_of_two_devices() {
    compare(Apart::Devices);
}

fn compare(apart: Apart) {
    let (mut raced, mut clean) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let len = 4 + random.below(14);
        let events: Vec<Event> = (0..len).map(|_| event(&mut random)).collect();
        if !agree(&events, apart) {
            let events = shrink(events, apart);
            let text: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
            let oracle = Oracle::new(&events, Rules::Strict, apart).first_race();
            let found = checked(&events, apart);
            panic!(
                "seed {seed}: {found:?}, not {oracle:?}:\n{}",
                text.join("\n")
            );
        }
        let is_raced = Oracle::new(&events, Rules::Strict, apart)
            .first_race()
            .is_some();
        *(if is_raced { &mut raced } else { &mut clean }) += 1;
    }
    assert!(raced > 3_000 && clean > 3_000, "{raced} {clean}");
}
