//! Strong accesses of several threads: messages that pass, and scopes that leave a thread out.

use super::*;
use Order::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

/// A message from one thread to another: what the first does after its write, the second before it
/// reads.
struct Message {
    fence: Option<(Order, Scope)>,
    store: AccessKind,
    load: AccessKind,
    second_fence: Option<(Order, Scope)>,
}

fn passes(message: &Message, other: (u64, u32)) -> bool {
    let mut device = Device::new(64);
    let (first, x, flag) = (device.block(0), device.x, device.flag);
    let second = if other.0 == 0 {
        first
    } else {
        device.block(other.0)
    };
    device.at(first, 0, WRITE, x, 4).unwrap();
    if let Some((order, scope)) = message.fence {
        device.fence(first, 0, order, scope);
    }
    if is_race(device.at(first, 0, message.store, flag, 4)) {
        return false;
    }
    if is_race(device.at(second, other.1, message.load, flag, 4)) {
        return false;
    }
    if let Some((order, scope)) = message.second_fence {
        device.fence(second, other.1, order, scope);
    }
    !is_race(device.at(second, other.1, READ, x, 4))
}

#[test]
fn messages() {
    use Scope::{Block, Device as Gpu, System};
    let message = |fence, store, load, second_fence| Message {
        fence,
        store,
        load,
        second_fence,
    };
    let both = |out, inn, scope| message(None, store(out, scope), load(inn, scope), None);
    let fences = |scope, inner| {
        let fence = Some((AcquireRelease, scope));
        message(fence, store(Relaxed, inner), load(Relaxed, inner), fence)
    };
    let far = (1, 0);
    let near = (0, 40);
    for (what, message, other, passed) in [
        ("release, acquire", both(Release, Acquire, Gpu), far, true),
        ("system", both(Release, Acquire, System), far, true),
        ("relaxed write", both(Relaxed, Acquire, Gpu), far, false),
        ("relaxed read", both(Release, Relaxed, Gpu), far, false),
        (
            "scope of a block, far",
            both(Release, Acquire, Block),
            far,
            false,
        ),
        (
            "scope of a block, near",
            both(Release, Acquire, Block),
            near,
            true,
        ),
        ("weak flag", message(None, WRITE, READ, None), near, false),
        ("fences", fences(Gpu, Gpu), far, true),
        ("fences of the block, far", fences(Block, Gpu), far, false),
        ("fences of the block, near", fences(Block, Gpu), near, true),
        ("flag of the block, far", fences(Gpu, Block), far, false),
        (
            "one fence",
            message(
                Some((SequentiallyConsistent, Gpu)),
                store(Relaxed, Gpu),
                load(Relaxed, Gpu),
                None,
            ),
            far,
            false,
        ),
        (
            "atomics",
            message(
                None,
                AccessKind::Atomic(Release, Gpu),
                AccessKind::Atomic(Acquire, Gpu),
                None,
            ),
            far,
            true,
        ),
        (
            "relaxed atomics",
            message(
                None,
                AccessKind::Atomic(Relaxed, Gpu),
                AccessKind::Atomic(Relaxed, Gpu),
                None,
            ),
            far,
            false,
        ),
        (
            "mixed scopes of the pattern",
            message(None, store(Release, Gpu), load(Acquire, Block), None),
            near,
            true,
        ),
    ] {
        assert_eq!(passes(&message, other), passed, "{what}");
    }
}

#[test]
fn atomics_of_another_block_carry_releases_on() {
    for (middle, races) in [
        (AccessKind::Atomic(Relaxed, Scope::Device), false),
        (store(Relaxed, Scope::Device), true),
    ] {
        let mut device = Device::new(32);
        let (x, flag) = (device.x, device.flag);
        let blocks = [0, 1, 2].map(|index| device.block(index));
        device.at(blocks[0], 0, WRITE, x, 4).unwrap();
        device
            .at(blocks[0], 0, store(Release, Scope::Device), flag, 4)
            .unwrap();
        device.at(blocks[1], 0, middle, flag, 4).unwrap();
        device
            .at(blocks[2], 0, load(Acquire, Scope::Device), flag, 4)
            .unwrap();
        assert_eq!(
            is_race(device.at(blocks[2], 0, READ, x, 4)),
            races,
            "{middle:?}"
        );
    }
}

#[test]
fn the_last_block_may_reset_the_counter() {
    for relaxed in [true, false] {
        let mut device = Device::new(32);
        let flag = device.flag;
        let blocks = [0, 1, 2].map(|index| device.block(index));
        let what = AccessKind::Atomic(Relaxed, Scope::Device);
        for block in blocks {
            device.at(block, 0, what, flag, 4).unwrap();
        }
        // The last has observed all others; the first has not.
        let who = blocks[if relaxed { 2 } else { 0 }];
        assert_eq!(is_race(device.at(who, 0, WRITE, flag, 4)), !relaxed);
    }
}

#[test]
fn a_write_that_was_observed_shows_no_other_of_its_thread() {
    // Two words, of which others may read the first alone: the scope of the second leaves them out.
    for scope in [Scope::Block, Scope::Device] {
        let mut device = Device::new(32);
        let (x, flag) = (device.x, device.flag);
        let [writer, reader] = [0, 1].map(|index| device.block(index));
        device
            .at(writer, 0, store(Relaxed, Scope::Device), flag, 4)
            .unwrap();
        device.at(writer, 0, store(Relaxed, scope), x, 4).unwrap();
        let look = load(Relaxed, Scope::Device);
        device.at(reader, 0, look, flag, 4).unwrap();
        let races = is_race(device.at(reader, 0, look, x, 4));
        assert_eq!(races, scope == Scope::Block, "{scope:?}");
    }
}

#[test]
fn scopes() {
    use Scope::{Block, Device as Gpu};
    for (first, second, far, found) in [
        (Block, Block, false, None),
        (
            Block,
            Block,
            true,
            Some(FindingKind::Race {
                reason: RaceReason::Scope,
            }),
        ),
        (
            Gpu,
            Block,
            true,
            Some(FindingKind::Race {
                reason: RaceReason::Scope,
            }),
        ),
        (Gpu, Gpu, true, None),
    ] {
        let mut device = Device::new(32);
        let (a, x) = (device.block(0), device.x);
        let b = if far { device.block(1) } else { a };
        device
            .at(a, 0, AccessKind::Atomic(Relaxed, first), x, 4)
            .unwrap();
        let result = device.at(b, 1, AccessKind::Atomic(Relaxed, second), x, 4);
        assert_eq!(class(result), found);
    }
}

#[test]
fn clusters() {
    for size in [1, 2] {
        let mut device = Device::new(32);
        let shape = Shape {
            blocks_per_cluster: size,
            ..shape(32)
        };
        device.launch = device
            .checker
            .launch(device.streams.enqueue(device.stream), shape);
        let (a, b, x) = (device.block(0), device.block(1), device.x);
        let add = AccessKind::Atomic(Relaxed, Scope::Cluster);
        device.at(a, 0, add, x, 4).unwrap();
        assert_eq!(is_race(device.at(b, 0, add, x, 4)), size == 1);
    }
}
