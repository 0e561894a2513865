use std::sync::Arc;

use super::*;
use crate::finding_kind::FindingKind;
use crate::memory::{Direction, FrameLayout, Kind, LocalVariable, Protection};

#[test]
fn global_bytes() {
    let (mut device, block, _) = frame(32);
    let fresh = device
        .memory
        .allocate(64, 16, Contents::Undefined, Label::new("y", 4))
        .unwrap();
    device.at(block, 0, WRITE, fresh, 2).unwrap();
    device.at(block, 0, READ, fresh, 2).unwrap();
    assert_eq!(
        class(device.at(block, 0, READ, fresh, 4)),
        Some(FindingKind::Uninitialised)
    );
    device.at(block, 0, WRITE, fresh + 2, 2).unwrap();
    device.at(block, 0, READ, fresh, 4).unwrap();
    // An atomic needs a value, and a strong store gives one.
    let add = AccessKind::Atomic(Order::Relaxed, Scope::Device);
    assert_eq!(
        class(device.at(block, 0, add, fresh + 8, 4)),
        Some(FindingKind::Uninitialised)
    );
    device
        .at(
            block,
            0,
            store(Order::Relaxed, Scope::Device),
            fresh + 12,
            4,
        )
        .unwrap();
    device.at(block, 0, add, fresh + 12, 4).unwrap();
    // What an unchecked launch has written nobody knows.
    device.checker.trust(&device.memory);
    device.at(block, 0, READ, fresh + 32, 16).unwrap();
}

#[test]
fn shared_reads_are_held_back() {
    let (mut device, block, _) = frame(64);
    device.shared(block, 0, READ, 8, 4).unwrap();
    assert_eq!(
        class(device.checker.barrier(block)),
        Some(FindingKind::Uninitialised)
    );
    // Where another thread writes before the next barrier, the race is what is wrong.
    device.shared(block, 0, READ, 16, 4).unwrap();
    assert!(is_race(device.shared(block, 40, WRITE, 16, 4)));
    device.checker.barrier(block).unwrap();
    device.shared(block, 0, WRITE, 8, 4).unwrap();
    device.checker.barrier(block).unwrap();
    device.shared(block, 40, READ, 8, 4).unwrap();
    device.checker.end_block(block).unwrap();
    // The next block's memory holds nothing again.
    let block = device.block(1);
    device.shared(block, 40, READ, 8, 4).unwrap();
    assert_eq!(
        class(device.checker.end_block(block)),
        Some(FindingKind::Uninitialised)
    );
}

/// A frame of one variable.
fn of_32_bytes(name: &str) -> Arc<FrameLayout> {
    let all = LocalVariable {
        kind: Kind::Local,
        label: Label::new(name, 4),
        offset: 0,
        bytes: 32,
    };
    Arc::new(FrameLayout {
        bytes: 32,
        alignment: 8,
        variables: vec![all],
    })
}

#[test]
fn local_memory() {
    let (mut device, block, mut local) = frame(32);
    let who = Accessors {
        block,
        warp: 0,
        mask: u32::MAX,
    };
    let offset = local.push(u32::MAX, &of_32_bytes("kernel"));
    device.checker.frame(who, offset, 32);
    let mut access = |local: &Local, what, at: u32, bytes| {
        let addresses = [u64::from(at); LANES];
        let lanes = Lanes::new(&addresses, u32::MAX, bytes);
        local.resolve(&lanes).map_err(|fault| fault.kind).map(|()| {
            let access = Access {
                instruction: 1,
                what,
                element_bytes: bytes,
                lanes: &lanes,
                unwritten: crate::check::Unwritten::Found,
                stored: None,
            };
            class(device.checker.local(who, &access, local))
        })
    };
    assert_eq!(access(&local, WRITE, offset, 4), Ok(None));
    assert_eq!(access(&local, READ, offset, 4), Ok(None));
    assert_eq!(
        access(&local, READ, offset, 8),
        Ok(Some(FindingKind::Uninitialised))
    );
    assert_eq!(
        access(&local, READ, offset + 32, 4),
        Err(FindingKind::OutOfBounds)
    );
    assert_eq!(
        access(&local, WRITE, offset + 28, 8),
        Err(FindingKind::Misaligned { alignment: 8 })
    );
    local.pop(u32::MAX);
    assert_eq!(
        access(&local, READ, offset, 4),
        Err(FindingKind::OutOfBounds)
    );
    let again = local.push(1, &of_32_bytes("callee"));
    assert_eq!(again, offset);
    device.checker.frame(who, again, 32);
}

#[test]
fn heap_blocks_that_nobody_can_reach() {
    let (device, _, _) = frame(64);
    let leak = || {
        let leaks = device.checker.leaks(&device.memory, device.launch, 1);
        leaks.err().map(|leak| leak.to_string())
    };
    let buffer = device
        .memory
        .allocate(64, 16, Contents::Defined, Label::new("list", 8))
        .unwrap();
    let blocks: [u64; 3] = std::array::from_fn(|_| device.memory.heap_allocate(64, 7, 1).unwrap());
    let said = "leak: no later kernel reaches a heap block of 64 bytes, allocated at instruction 7";
    assert_eq!(leak().as_deref(), Some(said));
    let put = |at: u64, value: u64| {
        let to = std::ptr::with_exposed_provenance_mut::<u64>(at as usize);
        // SAFETY: within an allocation of this test.
        unsafe { to.write(value) };
    };
    for block in blocks {
        (0..8).for_each(|word| put(block + 8 * word, 0));
    }
    // The buffer leads into the last, which leads to the others.
    put(buffer + 8, blocks[2] + 60);
    put(blocks[2], blocks[0]);
    assert_eq!(leak().as_deref(), Some(said));
    put(blocks[0] + 56, blocks[1]);
    assert_eq!(leak(), None);
    // Blocks of other launches are theirs.
    put(buffer + 8, 0);
    assert_eq!(leak().as_deref(), Some(said));
    for block in blocks {
        device.memory.heap_free(block).unwrap();
    }
    device.memory.heap_allocate(64, 7, 2).unwrap();
    assert_eq!(leak(), None);
}

#[test]
fn the_heap() {
    let (mut device, block, _) = frame(64);
    let one = device.memory.heap_allocate(64, 7, 1).unwrap();
    assert_eq!(
        class(device.at(block, 0, READ, one, 4)),
        Some(FindingKind::Uninitialised)
    );
    device.at(block, 0, WRITE, one, 4).unwrap();
    assert!(is_race(device.at(block, 1, WRITE, one, 4)));
    device.memory.heap_free(one).unwrap();
    assert_eq!(
        class(device.at(block, 0, READ, one, 4)),
        Some(FindingKind::UseAfterFree)
    );
    // Another block in the same place is another allocation.
    let mut limits = device.memory.limits();
    limits.quarantine_count = 0;
    device.memory.set_limits(limits);
    for _ in 0..4 {
        let next = device.memory.heap_allocate(64, 8, 1).unwrap();
        device.at(block, 3, WRITE, next, 4).unwrap();
        device.memory.heap_free(next).unwrap();
        device.checker.barrier(block).unwrap();
    }
}

#[test]
fn constants_and_the_last_lane() {
    let (mut device, block, _) = frame(32);
    let constants = [1u32; 8];
    let start = constants.as_ptr().expose_provenance() as u64;
    let label = Label::new("TABLE", 4);
    // SAFETY: the constants outlive the device's launches, and are protected.
    unsafe {
        device
            .memory
            .adopt(start, 32, Kind::Constant, label, Protection::ReadOnly)
    };
    device.at(block, 0, READ, start, 4).unwrap();
    let found = super::found(device.at(block, 0, WRITE, start + 4, 4)).unwrap();
    assert_eq!(
        found.to_string(),
        "write to constant memory: block 0, thread 0 writes element 1 of the constant `TABLE` \
         (of 8) at instruction 2"
    );
    let x = device.x + 4096 - 31 * 16;
    let past: [u64; LANES] = std::array::from_fn(|lane| x + lane as u64 * 16);
    let stray = super::found(device.warp(block, 0, u32::MAX, READ, &past, 16)).unwrap();
    assert_eq!(stray.kind, FindingKind::OutOfBounds);
    assert!(
        stray
            .to_string()
            .contains("thread 31 reads element 1024 of `x` (of 1024)"),
        "{stray}"
    );
    device
        .warp(block, 0, u32::MAX >> 1, READ, &past, 16)
        .unwrap();
    let direction = Direction::Read;
    let lanes = Lanes::new(&past, u32::MAX, 16);
    assert!(
        device
            .memory
            .resolve(&lanes, direction, &mut Cached::default())
            .is_err()
    );
}

#[test]
fn memory_for_what_is_kept_of_an_allocation_is_asked_for() {
    let (mut device, block, _) = frame(32);
    let start = 1 << 40;
    let label = Label::new("vast", 4);
    // SAFETY: nothing reaches it: the checker looks at addresses alone.
    unsafe {
        device
            .memory
            .adopt(start, 1 << 50, Kind::Buffer, label, Protection::ReadWrite)
    };
    let stop = device.at(block, 0, WRITE, start + 4, 4).unwrap_err();
    let Stop::NoMemory { bytes } = *stop else {
        panic!("{stop:?}");
    };
    assert!(bytes > 1 << 51, "{bytes}");
    let said = stop.to_string();
    assert!(
        said.contains(&format!("was asked for {bytes} bytes")),
        "{said}"
    );
}
