//! Equal stores that nothing orders, and what follows them.

use super::*;

/// A word that each lane stores, over what is there.
#[derive(Clone, Copy, Debug)]
struct Word {
    stored: u32,
    there: u32,
}

impl Word {
    fn bytes_of(word: u32) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&word.to_le_bytes());
        bytes
    }
}

impl Stored for Word {
    fn bytes(&self, _: u32) -> [u8; 16] {
        Word::bytes_of(self.stored)
    }

    fn there(&self, _: u32) -> [u8; 16] {
        Word::bytes_of(self.there)
    }
}

/// A block whose launch goes on after benign findings, and memory that it stores to.
struct Stores {
    device: Device,
    block: BlockId,
    word: u32,
}

impl Stores {
    fn new() -> Stores {
        let mut device = Device::new(96);
        let lenient = Shape {
            ends_with: Severity::Error,
            ..shape(96)
        };
        device.launch = device
            .checker
            .launch(device.streams.enqueue(device.stream), lenient);
        let block = device.block(0);
        Stores {
            device,
            block,
            word: 0,
        }
    }

    /// Lanes of a warp store a word to the first element of `x`, and then it is there.
    fn store(&mut self, (warp, mask): (u32, u32), stored: u32) -> Checked {
        let device = &mut self.device;
        let addresses = [device.x; LANES];
        let lanes = Lanes::new(&addresses, mask, 4);
        let word = Word {
            stored,
            there: self.word,
        };
        let access = Access {
            stored: Some(&word),
            ..device.access(WRITE, &lanes)
        };
        let who = Accessors {
            block: self.block,
            warp,
            mask,
        };
        let mut cached = Cached::default();
        let stored_so = device
            .checker
            .global(&device.memory, &mut cached, who, &access);
        self.word = stored;
        stored_so
    }

    fn at(&mut self, thread: u32, what: AccessKind) -> Checked {
        let x = self.device.x;
        self.device.at(self.block, thread, what, x, 4)
    }

    fn benign(&mut self) -> usize {
        self.device.checker.take_benign(self.device.launch).len()
    }
}

#[test]
fn equal_stores_of_warps_are_kept_and_the_launch_goes_on() {
    for mask in [1, 0xff00, u32::MAX] {
        let mut it = Stores::new();
        for warp in 0..3 {
            assert_eq!(it.store((warp, mask), 7), Ok(()), "{mask:#x}");
        }
        // Each thread reads what it has stored itself.
        for warp in 0..3 {
            let own = warp * 32 + mask.trailing_zeros();
            assert_eq!(it.at(own, READ), Ok(()), "{mask:#x}");
        }
        // Of each later pair the first is kept: both are at instructions of their own.
        assert_eq!(it.benign(), 2, "{mask:#x}");
        assert_eq!(it.benign(), 0, "they were taken");
    }
}

#[test]
fn what_is_unordered_after_any_of_equal_stores_races() {
    let stored = || {
        let mut it = Stores::new();
        assert_eq!(it.store((0, 1), 7), Ok(()));
        assert_eq!(it.store((1, 1), 7), Ok(()));
        it
    };
    // Another thread reads; another value is stored, by a third thread and by one of the two.
    assert!(is_race(stored().at(1, READ)));
    assert!(is_race(stored().store((2, 1), 8)));
    assert!(is_race(stored().store((0, 1), 8)));
    assert!(is_race(stored().store((1, 1), 8)));
    // Behind a barrier all is in order.
    let mut it = stored();
    it.device.checker.barrier(it.block).unwrap();
    assert_eq!(it.at(1, READ), Ok(()));
    it.device.checker.barrier(it.block).unwrap();
    assert_eq!(it.store((2, 1), 8), Ok(()));
}

#[test]
fn a_store_of_what_is_there_races_with_all_but_plain_stores() {
    for before in [
        READ,
        store(Order::Relaxed, Scope::Device),
        AccessKind::Atomic(Order::Relaxed, Scope::Device),
    ] {
        let mut it = Stores::new();
        it.word = 7;
        assert_eq!(it.at(40, before), Ok(()));
        assert!(is_race(it.store((0, 1), 7)), "{before:?}");
        assert_eq!(it.benign(), 0);
    }
}

/// A pair of words that all lanes store at once, of which the second is there already.
#[derive(Debug)]
struct Pair;

impl Stored for Pair {
    fn bytes(&self, _: u32) -> [u8; 16] {
        let mut bytes = Word::bytes_of(5);
        bytes[4..8].copy_from_slice(&7u32.to_le_bytes());
        bytes
    }

    fn there(&self, lane: u32) -> [u8; 16] {
        let mut bytes = self.bytes(lane);
        bytes[..4].fill(0);
        bytes
    }
}

#[test]
fn each_word_of_a_vector_is_compared_with_what_is_there() {
    for (word, races) in [(0, true), (1, false)] {
        let mut it = Stores::new();
        let address = it.device.x + 4 * word;
        let before = it.device.at(it.block, 40, WRITE, address, 4);
        assert_eq!(before, Ok(()));
        let addresses = [it.device.x; LANES];
        let lanes = Lanes::new(&addresses, u32::MAX, 8);
        let access = Access {
            stored: Some(&Pair),
            element_bytes: 4,
            ..it.device.access(WRITE, &lanes)
        };
        let who = Accessors {
            block: it.block,
            warp: 0,
            mask: u32::MAX,
        };
        let mut cached = Cached::default();
        let device = &mut it.device;
        let found = device
            .checker
            .global(&device.memory, &mut cached, who, &access);
        assert_eq!(is_race(found), races, "{word}");
        assert_eq!(it.benign(), usize::from(!races), "{word}");
    }
}
