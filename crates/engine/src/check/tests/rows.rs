//! Accesses of whole warps are judged as if each lane had come by itself.

use super::oracle::Random;
use super::*;
use crate::memory::{Direction, Pattern};

/// Three warps of a block and one of another.
const WARPS: [(usize, u32); 4] = [(0, 0), (0, 1), (0, 2), (1, 0)];
const SEEDS: u64 = 8_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// By lanes of a warp at an instruction.
    Access(usize, u32, AccessKind, Row),
    SyncWarp(usize, u32),
    Barrier(usize),
    /// A lane of a warp releases, and a lane of another acquires.
    Message((usize, u32), (usize, u32)),
}

/// Lane 0 is at `start`, the others so many bytes further on each, up to lane `fold`, which is at `start` again, and so on.
#[derive(Clone, Copy, Debug)]
struct Row {
    mask: u32,
    start: u64,
    step: u64,
    fold: usize,
    bytes: u32,
}

/// Warps read, some of what they did comes to be known to a thread, and that writes.
fn steps(random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..2 + random.below(7) {
        let warp = random.below(WARPS.len());
        steps.push(match random.below(12) {
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
        bytes: 4,
    };
    steps.push(Step::Access(writer.0, 1002, WRITE, written));
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
        fold: random.of(&[32, 32, 16, 2]),
        bytes,
    }
}

/// How the checker is told of an access.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    AtOnce,
    LaneByLane,
}

/// Which step races, and which thread of it. Of several that it races with any may be told of.
fn found(steps: &[Step], told: Told) -> Option<(usize, FindingKind, Agent)> {
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
        Some((at, finding.kind, finding.now.agent))
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
    let addresses =
        std::array::from_fn(|lane| device.x + row.start + (lane % row.fold) as u64 * row.step);
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
