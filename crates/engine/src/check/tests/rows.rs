//! Accesses of whole warps are judged as if each lane had come by itself.

use super::oracle::Random;
use super::*;
use crate::check::Strength;
use crate::memory::{Direction, Pattern};

/// Three warps of a block and one of another.
const WARPS: [(usize, u32); 4] = [(0, 0), (0, 1), (0, 2), (1, 0)];
const SEEDS: u64 = 16_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// By lanes of a warp at an instruction.
    Access(usize, u32, AccessKind, Row),
    SyncWarp(usize, u32),
    Barrier(usize),
    /// By lanes of a warp.
    Fence(usize, u32),
    /// A lane of a warp releases, and a lane of another acquires.
    Message((usize, u32), (usize, u32)),
}

/// Lane 0 is at `start`, the others so many bytes further on each, up to lane `fold`, which is `jump` bytes behind `start`, and
/// so on.
#[derive(Clone, Copy, Debug)]
struct Row {
    mask: u32,
    start: u64,
    step: u64,
    fold: usize,
    jump: u64,
    bytes: u32,
}

const RELAXED: (Order, Scope) = (Order::Relaxed, Scope::Device);
const UPDATE: AccessKind = AccessKind::Atomic(RELAXED.0, RELAXED.1);
const POLL: AccessKind = AccessKind::Read(Strength::Strong(RELAXED.0, RELAXED.1));

/// Warps read, some of what they did comes to be known to a thread, and that writes.
fn steps(random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    // Of some programs most accesses are atomics of a word or two.
    let updates = random.of(&[0, 0, 8]);
    let most = random.of(&[7, 7, 20]);
    for _ in 0..2 + random.below(most) {
        let warp = random.below(WARPS.len());
        if random.below(12) < updates {
            let (what, site) = random.of(&[(UPDATE, 1010), (UPDATE, 1011), (POLL, 1020)]);
            let word = Row {
                mask: random.of(&[u32::MAX, u32::MAX, 0xff, 0b1_0010, 1]),
                start: random.of(&[0, 0, 0, 16]),
                step: 0,
                fold: 32,
                jump: 0,
                bytes: 4,
            };
            steps.push(Step::Access(warp, site, what, word));
            continue;
        }
        steps.push(match random.below(13) {
            12 => Step::Fence(warp, random.of(&[u32::MAX, 0b1_0010])),
            0 => Step::Barrier(random.below(2)),
            1 => Step::SyncWarp(warp, random.of(&[u32::MAX, 0b1_0010])),
            2 => Step::Message(
                (warp, lane(random)),
                (random.below(WARPS.len()), lane(random)),
            ),
            _ => Step::Access(warp, 1000 + random.below(2) as u32, READ, row(random)),
        });
    }
    let writer = (random.below(WARPS.len()), lane(random));
    for warp in 0..WARPS.len() {
        if random.below(3) > 0 {
            steps.push(Step::SyncWarp(warp, u32::MAX));
        }
        if random.below(5) > 0 {
            steps.push(Step::Message((warp, lane(random)), writer));
        }
    }
    let written = Row {
        mask: 1 << writer.1,
        start: random.of(&[0, 4, 16]),
        step: 0,
        fold: 32,
        jump: 0,
        bytes: 4,
    };
    let (what, site) = random.of(&[(WRITE, 1002), (WRITE, 1002), (READ, 1003)]);
    steps.push(Step::Access(writer.0, site, what, written));
    steps
}

fn lane(random: &mut Random) -> u32 {
    random.of(&[0, 1, 4])
}

fn row(random: &mut Random) -> Row {
    let bytes = random.of(&[4, 4, 4, 4, 4, 8, 16, 2]);
    let step = u64::from(bytes);
    Row {
        mask: random.of(&[u32::MAX, u32::MAX, 0xff, 0b1_0010, 1]),
        start: random.of(&[0, 0, 16]),
        step: random.of(&[step, step, 0]),
        fold: random.of(&[32, 32, 16, 8, 2]),
        jump: random.of(&[0, 0, 64, 256]),
        bytes,
    }
}

/// How the checker is told of an access.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    AtOnce,
    LaneByLane,
}

/// Which step races, and which thread of it if it is one thread's. Of several threads any may be told of, as of several that it
/// races with.
fn found(steps: &[Step], told: Told) -> Option<(usize, FindingKind, Option<Agent>)> {
    let mut device = Device::new(96);
    let blocks = [device.block(0), device.block(1)];
    steps.iter().enumerate().find_map(|(at, step)| {
        let checked = match *step {
            Step::Access(warp, site, what, row) => {
                access(&mut device, &blocks, warp, (site, what, row), told)
            }
            Step::SyncWarp(warp, mask) => {
                let (block, warp) = WARPS[warp];
                let who = Accessors {
                    block: blocks[block],
                    warp,
                    mask,
                };
                device.checker.sync_warp(who);
                Ok(())
            }
            Step::Fence(warp, mask) => {
                let (block, warp) = WARPS[warp];
                let who = Accessors {
                    block: blocks[block],
                    warp,
                    mask,
                };
                let (order, scope) = (Order::AcquireRelease, Scope::Device);
                device.checker.fence(who, order, scope);
                Ok(())
            }
            Step::Barrier(block) => device.checker.barrier(blocks[block]),
            Step::Message(from, to) => {
                let flag = device.flag;
                let mut tell = |(warp, lane): (usize, u32), what| {
                    let (block, warp) = WARPS[warp];
                    let told = device.at(blocks[block], warp * 32 + lane, what, flag, 4);
                    told.unwrap();
                };
                tell(from, store(Order::Release, Scope::Device));
                tell(to, load(Order::Acquire, Scope::Device));
                Ok(())
            }
        };
        let finding = super::found(checked)?;
        let is_one = matches!(step, Step::Access(.., row) if row.mask.is_power_of_two());
        Some((at, finding.kind, is_one.then_some(finding.now.agent)))
    })
}

fn access(
    device: &mut Device,
    blocks: &[BlockId; 2],
    warp: usize,
    (instruction, what, row): (u32, AccessKind, Row),
    told: Told,
) -> Checked {
    let (block, warp) = WARPS[warp];
    let block = blocks[block];
    let addresses = std::array::from_fn(|lane| {
        let (again, lane) = ((lane / row.fold) as u64, (lane % row.fold) as u64);
        device.x + row.start + again * row.jump + lane * row.step
    });
    let all = Lanes::new(&addresses, row.mask, row.bytes);
    let mut one = |lanes: &Lanes<'_>| {
        let mut cached = Cached::default();
        device
            .memory
            .resolve(lanes, Direction::Read, &mut cached)
            .unwrap();
        let who = Accessors {
            block,
            warp,
            mask: lanes.mask,
        };
        let access = Access {
            instruction,
            what,
            element_bytes: row.bytes,
            lanes,
            unwritten: crate::check::Unwritten::Found,
            stored: None,
        };
        device
            .checker
            .global(&device.memory, &mut cached, who, &access)
    };
    match told {
        Told::AtOnce => one(&all),
        Told::LaneByLane => all.each().try_for_each(|(lane, _)| {
            one(&Lanes {
                mask: 1 << lane,
                pattern: Pattern::Any,
                ..all
            })
        }),
    }
}

#[test]
fn a_warp_is_judged_as_its_lanes_are() {
    let (mut raced, mut clean) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let steps = steps(&mut random);
        let expected = found(&steps, Told::LaneByLane);
        assert_eq!(
            found(&steps, Told::AtOnce),
            expected,
            "seed {seed}: {steps:#?}"
        );
        *(if expected.is_some() {
            &mut raced
        } else {
            &mut clean
        }) += 1;
    }
    assert!(raced > 1_000 && clean > 1_000, "{raced} {clean}");
}
