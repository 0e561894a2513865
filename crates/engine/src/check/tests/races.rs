use super::*;
use Order::{Acquire, Relaxed, Release};

/// Synchronisation of two threads between their accesses to one word.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    SyncWarp(u32),
    Barrier,
    /// Of warps 0 and 1 only.
    PartialBarrier,
    /// Warp 0 arrives, and warp 1 waits; the write comes after the arrival.
    ArriveTooEarly,
}

fn in_block(between: Between, second: u32) -> bool {
    let mut device = Device::new(96);
    let (block, x) = (device.block(0), device.x);
    let warp = |warp, mask| Accessors { block, warp, mask };
    if let Between::ArriveTooEarly = between {
        device.checker.arrive(warp(0, u32::MAX), 1);
    }
    assert_eq!(device.at(block, 0, WRITE, x, 4), Ok(()));
    match between {
        Between::Nothing => (),
        Between::SyncWarp(mask) => device.checker.sync_warp(warp(0, mask)),
        Between::Barrier => device.checker.barrier(block).unwrap(),
        Between::PartialBarrier => {
            device.checker.arrive(warp(0, u32::MAX), 1);
            device.checker.arrive(warp(1, u32::MAX), 1);
            device.checker.leave(warp(0, u32::MAX), 1);
            device.checker.leave(warp(1, u32::MAX), 1);
        }
        Between::ArriveTooEarly => {
            device.checker.arrive(warp(1, u32::MAX), 1);
            device.checker.leave(warp(1, u32::MAX), 1);
        }
    }
    is_race(device.at(block, second, READ, x, 4))
}

#[test]
fn within_a_block() {
    for (between, second, races) in [
        (Between::Nothing, 0, false),
        (Between::Nothing, 5, true),
        (Between::SyncWarp(u32::MAX), 5, false),
        (Between::SyncWarp(u32::MAX), 40, true),
        (Between::SyncWarp(0b10_0001), 5, false),
        (Between::SyncWarp(0b10_0001), 6, true),
        (Between::SyncWarp(0b10_0000), 5, true),
        (Between::Barrier, 95, false),
        (Between::PartialBarrier, 40, false),
        (Between::PartialBarrier, 70, true),
        (Between::ArriveTooEarly, 40, true),
    ] {
        assert_eq!(in_block(between, second), races, "{between:?}, {second}");
    }
}

/// The words that the lanes of a store write: by lane, or all the same.
#[derive(Clone, Copy, Debug)]
struct Word([u32; LANES]);

impl Stored for Word {
    fn bytes(&self, lane: u32) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.0[lane as usize].to_le_bytes());
        bytes
    }

    /// Nobody writes in these tests: it is what [`EQUAL`] stores.
    fn there(&self, lane: u32) -> [u8; 16] {
        EQUAL.bytes(lane)
    }
}

const EQUAL: Word = Word([7; LANES]);

impl Device {
    /// Lanes of warp 0 store words, each to its element of `x`.
    fn stores(&mut self, block: BlockId, mask: u32, elements: [u64; LANES], word: Word) -> Checked {
        let addresses = elements.map(|element| self.x + 4 * element);
        let lanes = Lanes::new(&addresses, mask, 4);
        let access = Access {
            unwritten: crate::check::Unwritten::Found,
            stored: Some(&word),
            ..self.access(WRITE, &lanes)
        };
        let who = Accessors {
            block,
            warp: 0,
            mask,
        };
        let mut cached = Cached::default();
        self.checker.global(&self.memory, &mut cached, who, &access)
    }
}

#[test]
fn one_store_of_equal_values_by_lanes_of_a_warp_is_no_race() {
    let distinct = Word(std::array::from_fn(|lane| lane as u32));
    let mut last_differs = EQUAL;
    last_differs.0[31] = 8;
    let pairs: [u64; LANES] = std::array::from_fn(|lane| lane as u64 / 2);
    let shuffled = std::array::from_fn(|lane| (lane as u64 * 5) % 32);
    for (elements, word, mask, races) in [
        ([0; LANES], EQUAL, u32::MAX, false),
        ([0; LANES], last_differs, u32::MAX, true),
        ([0; LANES], last_differs, u32::MAX >> 1, false),
        (pairs, EQUAL, u32::MAX, false),
        (pairs, distinct, u32::MAX, true),
        (pairs, distinct, 0x5555_5555, false),
        (shuffled, distinct, u32::MAX, false),
    ] {
        let mut device = Device::new(64);
        let block = device.block(0);
        let found = device.stores(block, mask, elements, word);
        assert_eq!(is_race(found), races, "{elements:?}, {word:?}, {mask:#x}");
    }
}

#[test]
fn lanes_that_have_parted_store_one_after_the_other() {
    let all = [0; LANES];
    for (second, word, reader, races) in [
        (0xffff_0000, EQUAL, 20, false),
        (u32::MAX, EQUAL, 0, false),
        (0xffff_0000, Word([8; LANES]), 20, true),
    ] {
        let mut device = Device::new(64);
        let block = device.block(0);
        assert_eq!(device.stores(block, 0xffff, all, EQUAL), Ok(()));
        assert_eq!(device.at(block, 3, READ, device.x, 4), Ok(()));
        // The same instruction again.
        device.next -= 2;
        let found = device.stores(block, second, all, word);
        assert_eq!(is_race(found), races, "{second:#x} {word:?}");
        if !races {
            for thread in [reader, 3] {
                assert_eq!(
                    device.at(block, thread, READ, device.x, 4),
                    Ok(()),
                    "{thread}"
                );
            }
            assert!(is_race(device.at(block, reader, WRITE, device.x, 4)));
        }
    }
    // A lane that has gone ahead has read what others store at another instruction, or another warp's.
    let mut device = Device::new(64);
    let block = device.block(0);
    assert_eq!(device.stores(block, 0xffff, all, EQUAL), Ok(()));
    let found = class(device.stores(block, 0xffff_0000, all, EQUAL));
    assert_eq!(found, Some(FindingKind::EqualStores));
}

#[test]
fn lanes_that_store_at_once_are_judged_each() {
    let all = [0; LANES];
    let warp = |block| Accessors {
        block,
        warp: 0,
        mask: u32::MAX,
    };
    // Before the store: by lane 0 alone, and by all of them.
    let race = FindingKind::Race {
        reason: RaceReason::Weak,
    };
    for (before, expected) in [(READ, race), (WRITE, FindingKind::EqualStores)] {
        let mut device = Device::new(64);
        let (block, x) = (device.block(0), device.x);
        assert_eq!(device.at(block, 0, before, x, 4), Ok(()));
        let found = class(device.stores(block, u32::MAX, all, EQUAL));
        assert_eq!(found, Some(expected), "{before:?}");
    }
    let mut device = Device::new(64);
    let (block, x) = (device.block(0), device.x);
    assert_eq!(device.stores(block, u32::MAX, all, EQUAL), Ok(()));
    let found = class(device.stores(block, u32::MAX, all, EQUAL));
    assert_eq!(found, Some(FindingKind::EqualStores));
    device.checker.sync_warp(warp(block));
    assert_eq!(device.stores(block, u32::MAX, all, EQUAL), Ok(()));
    // After it: each reads what it has written, and so do others that have met the warp.
    for thread in [0, 31, 5, 0, 31] {
        assert_eq!(device.at(block, thread, READ, x, 4), Ok(()), "{thread}");
    }
    assert!(is_race(device.at(block, 32, READ, x, 4)));
    assert!(is_race(device.at(block, 3, WRITE, x, 4)));
    device.checker.barrier(block).unwrap();
    assert_eq!(device.at(block, 33, READ, x, 4), Ok(()));
    assert!(is_race(device.stores(block, u32::MAX, all, EQUAL)));
    // The lane that is not among those that stored.
    let mut device = Device::new(64);
    let (block, x) = (device.block(0), device.x);
    assert_eq!(device.stores(block, 0b110, all, EQUAL), Ok(()));
    assert_eq!(device.at(block, 1, READ, x, 4), Ok(()));
    assert!(is_race(device.at(block, 0, READ, x, 4)));
    // Nor is the thread of its number in another block.
    let other = device.block(1);
    assert!(is_race(device.at(other, 1, READ, x, 4)));
}

#[test]
fn a_weak_write_before_an_atomic_is_not_forgotten() {
    for ordered in [true, false] {
        let mut device = Device::new(32);
        let (block, flag) = (device.block(0), device.flag);
        device.at(block, 0, WRITE, flag, 4).unwrap();
        if ordered {
            device.checker.barrier(block).unwrap();
        }
        let add = AccessKind::Atomic(Relaxed, Scope::Block);
        device.at(block, 0, add, flag, 4).unwrap();
        assert_eq!(is_race(device.at(block, 1, add, flag, 4)), !ordered);
    }
}

#[test]
fn three_readers() {
    // Those that meet the writer do not hide the one that does not, whatever their order; in one
    // warp and in several.
    for lanes in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        for stride in [1, 32] {
            for met in [0b1110, 0b0110, 0b1100, 0b1010] {
                let mut device = Device::new(128);
                let (block, x, flag) = (device.block(0), device.x, device.flag);
                for lane in lanes {
                    device.at(block, lane * stride, READ, x, 4).unwrap();
                }
                for lane in (1..4).filter(|lane| met >> lane & 1 == 1) {
                    let add = AccessKind::Atomic(Release, Scope::Block);
                    device.at(block, lane * stride, add, flag, 4).unwrap();
                }
                device
                    .at(block, 0, load(Acquire, Scope::Block), flag, 4)
                    .unwrap();
                let raced = is_race(device.at(block, 0, WRITE, x, 4));
                assert_eq!(raced, met != 0b1110, "{lanes:?} {stride} {met:b}");
            }
        }
    }
}

#[test]
fn readers_of_other_blocks() {
    for met in [0b1110, 0b0110, 0b1100] {
        let mut device = Device::new(32);
        let (x, flag) = (device.x, device.flag);
        let blocks = [0, 1, 2, 3].map(|index| device.block(index));
        for block in &blocks[1..] {
            device.at(*block, 0, READ, x, 4).unwrap();
        }
        for index in (1..4).filter(|index| met >> index & 1 == 1) {
            let add = AccessKind::Atomic(Release, Scope::Device);
            device.at(blocks[index], 0, add, flag, 4).unwrap();
        }
        device
            .at(blocks[0], 0, load(Acquire, Scope::Device), flag, 4)
            .unwrap();
        assert_eq!(is_race(device.at(blocks[0], 0, WRITE, x, 4)), met != 0b1110);
    }
}

#[test]
fn sizes_and_bytes() {
    let add = AccessKind::Atomic(Relaxed, Scope::Device);
    for (first, second, found) in [
        ((add, 0, 4), (add, 0, 4), None),
        (
            (add, 0, 4),
            (add, 0, 8),
            Some(FindingKind::Race {
                reason: RaceReason::Size,
            }),
        ),
        (
            (add, 4, 4),
            (add, 0, 8),
            Some(FindingKind::Race {
                reason: RaceReason::Size,
            }),
        ),
        ((add, 0, 4), (add, 4, 4), None),
        (
            (add, 0, 4),
            (READ, 0, 4),
            Some(FindingKind::Race {
                reason: RaceReason::Weak,
            }),
        ),
        ((WRITE, 0, 1), (WRITE, 1, 1), None),
        (
            (WRITE, 0, 2),
            (WRITE, 1, 1),
            Some(FindingKind::Race {
                reason: RaceReason::Weak,
            }),
        ),
        (
            (WRITE, 0, 16),
            (READ, 15, 1),
            Some(FindingKind::Race {
                reason: RaceReason::Weak,
            }),
        ),
        ((WRITE, 0, 8), (READ, 8, 8), None),
        (
            (READ, 3, 1),
            (WRITE, 0, 4),
            Some(FindingKind::Race {
                reason: RaceReason::Weak,
            }),
        ),
        ((READ, 0, 8), (READ, 4, 4), None),
    ] {
        for far in [false, true] {
            let mut device = Device::new(32);
            let (a, x) = (device.block(0), device.x);
            let b = if far { device.block(1) } else { a };
            device.at(a, 0, first.0, x + first.1, first.2).unwrap();
            let result = device.at(b, 1, second.0, x + second.1, second.2);
            assert_eq!(class(result), found, "{first:?} {second:?}");
        }
    }
}

#[test]
fn coalesced_warps() {
    // Shifted by a lane, a neighbour's element: across lines, and beside the warp's own.
    for (shift, races) in [(0, false), (1, true), (-1, true), (32, false)] {
        for bytes in [1, 2, 4, 8, 16] {
            let mut device = Device::new(32);
            let (block, x) = (device.block(0), device.x + 1024);
            let at = |shift: i64| {
                std::array::from_fn(|lane| {
                    (x as i64 + (lane as i64 + shift) * i64::from(bytes)) as u64
                })
            };
            device
                .warp(block, 0, u32::MAX, WRITE, &at(0), bytes as u32)
                .unwrap();
            let result = device.warp(block, 0, u32::MAX, READ, &at(shift), bytes as u32);
            assert_eq!(is_race(result), races, "{shift} {bytes}");
        }
    }
}

#[test]
fn both_sides_are_named() {
    let mut device = Device::new(32);
    let (block, x) = (device.block(7), device.x);
    device.at(block, 4, READ, x + 20, 4).unwrap();
    let found = super::found(device.at(block, 3, WRITE, x + 20, 4)).unwrap();
    assert_eq!(
        found.to_string(),
        "race on element 5 of `x` (of 1024): block 7, thread 3 writes it at instruction 2, and \
         block 7, thread 4 read it at instruction 1"
    );
}

#[test]
fn blocks_in_turns_have_clocks_of_their_own() {
    let mut device = Device::new(64);
    let (a, b, x) = (device.block(0), device.block(1), device.x);
    for turn in 0..8 {
        device.at(a, turn, WRITE, x, 4).unwrap();
        device.at(b, turn, WRITE, x + 4, 4).unwrap();
        device.checker.barrier(a).unwrap();
        device.at(b, turn, READ, x + 4, 4).unwrap();
        device.checker.barrier(b).unwrap();
    }
    assert!(is_race(device.at(a, 0, READ, x + 4, 4)));
}

#[test]
fn block_after_block() {
    let mut device = Device::new(32);
    let x = device.x;
    let a = device.block(0);
    device.at(a, 0, WRITE, x, 4).unwrap();
    device.checker.end_block(a).unwrap();
    let b = device.block(1);
    assert!(is_race(device.at(b, 0, READ, x, 4)));
}
