#![allow(clippy::unwrap_used)]

use super::*;
use crate::finding_kind::FindingKind;

fn class(result: Result<(), Fault>) -> Option<FindingKind> {
    result.err().map(|fault| fault.kind)
}

fn read(memory: &Memory, address: u64, bytes: u32) -> Result<(), Fault> {
    let addresses = [address; LANES];
    let lanes = Lanes::new(&addresses, 4, bytes);
    memory.resolve(&lanes, Direction::Read, &mut Cached::default())
}

fn buffer(memory: &Memory, bytes: u64, name: &str) -> u64 {
    memory
        .allocate(bytes, 16, Contents::Defined, Label::new(name, 4))
        .unwrap()
}

#[test]
fn patterns() {
    let rising: [u64; LANES] = std::array::from_fn(|lane| 64 + lane as u64 * 8);
    let mut one_off = rising;
    one_off[3] += 8;
    let start = 64;
    for (addresses, mask, bytes, pattern) in [
        (rising, u32::MAX, 8, Pattern::Consecutive { start }),
        (rising, u32::MAX, 4, Pattern::Any),
        (one_off, u32::MAX, 8, Pattern::Any),
        (one_off, !8, 8, Pattern::Consecutive { start }),
        ([64; LANES], u32::MAX, 8, Pattern::Same { address: 64 }),
    ] {
        assert_eq!(Lanes::new(&addresses, mask, bytes).pattern, pattern);
    }
    assert_eq!(Lanes::new(&rising, 0b110, 8).span(), (72, 87));
    assert_eq!(
        Lanes::new(&one_off, u32::MAX, 8).span(),
        (64, 64 + 31 * 8 + 7)
    );
}

#[test]
fn bounds() {
    let memory = Memory::new(Limits::default());
    let x = buffer(&memory, 20, "x");
    for (address, bytes, found) in [
        (x, 16, None),
        (x + 16, 4, None),
        (x + 16, 8, Some(FindingKind::OutOfBounds)),
        (x + 20, 4, Some(FindingKind::OutOfBounds)),
        (x - 4, 4, Some(FindingKind::OutOfBounds)),
        (x + 2, 4, Some(FindingKind::Misaligned { alignment: 4 })),
        (0, 4, Some(FindingKind::NullPointer)),
        (4096, 4, Some(FindingKind::NullPointer)),
        (0x0100_0000_0000_0010, 4, Some(FindingKind::OtherSpace)),
    ] {
        assert_eq!(
            class(read(&memory, address, bytes)),
            found,
            "{address:#x} {bytes}"
        );
    }
    let far = read(&memory, x + 4 * 1000, 4).unwrap_err();
    assert_eq!(
        far.to_string(),
        "out of bounds: 4 bytes at element 1000 of `x` (of 5)"
    );
}

#[test]
fn a_guard_lies_between_neighbours() {
    let memory = Memory::new(Limits {
        guard: 4096,
        ..Limits::default()
    });
    let buffers = [0; 16].map(|_| buffer(&memory, 64, "x"));
    for start in buffers {
        assert_eq!(
            class(read(&memory, start + 64 + 4092, 4)),
            Some(FindingKind::OutOfBounds)
        );
        assert_eq!(
            class(read(&memory, start - 4096, 4)),
            Some(FindingKind::OutOfBounds)
        );
    }
}

#[test]
fn freed_memory() {
    let memory = Memory::new(Limits {
        quarantine_count: 2,
        ..Limits::default()
    });
    let buffers = ["a", "b", "c"].map(|name| buffer(&memory, 64, name));
    let mut cached = Cached::default();
    let addresses = [buffers[0]; LANES];
    let lanes = Lanes::new(&addresses, 1, 4);
    assert_eq!(memory.resolve(&lanes, Direction::Read, &mut cached), Ok(()));
    memory.free(buffers[0]).unwrap();
    // The instruction's cache does not outlive the allocation.
    let fault = memory
        .resolve(&lanes, Direction::Read, &mut cached)
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "use after free: 4 bytes at element 0 of `a` (of 16)"
    );
    assert_eq!(
        class(memory.free(buffers[0])),
        Some(FindingKind::DoubleFree)
    );
    assert_eq!(
        class(memory.free(buffers[1] + 16)),
        Some(FindingKind::NotAllocated)
    );
    memory.free(buffers[1]).unwrap();
    memory.free(buffers[2]).unwrap();
    // Only two are remembered.
    assert_eq!(
        class(read(&memory, buffers[0], 4)),
        Some(FindingKind::OutOfBounds)
    );
    assert_eq!(
        class(read(&memory, buffers[1], 4)),
        Some(FindingKind::UseAfterFree)
    );
}

#[test]
fn the_heap_has_a_limit() {
    let memory = Memory::new(Limits {
        heap_bytes: 1024,
        ..Limits::default()
    });
    let blocks: Vec<u64> = std::iter::from_fn(|| memory.heap_allocate(112, 1, 1).ok()).collect();
    assert_eq!(blocks.len(), 8);
    assert_eq!(
        class(memory.free(blocks[0])),
        Some(FindingKind::NotAllocated)
    );
    memory.heap_free(blocks[0]).unwrap();
    assert_eq!(
        class(memory.heap_free(blocks[0])),
        Some(FindingKind::DoubleFree)
    );
    assert_eq!(memory.heap_free(0), Ok(()));
    assert!(memory.heap_allocate(112, 1, 1).is_ok());
    assert_eq!(memory.allocations().len(), 8);
}

#[test]
fn a_launch_keeps_what_it_may_still_read() {
    let memory = Memory::new(Limits {
        quarantine_count: 0,
        ..Limits::default()
    });
    let running = memory.running();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..100 {
        let block = memory.heap_allocate(64, 1, 1).unwrap();
        seen.insert(block);
        // SAFETY: allocated above; nobody else has it.
        unsafe { (block as *mut u32).write(7) };
        memory.heap_free(block).unwrap();
        // SAFETY: freed, and kept for as long as `running` lives.
        assert_eq!(unsafe { (block as *const u32).read() }, 7);
    }
    // The same block again and again, not a hundred.
    assert_eq!(seen.len(), 1);
    drop(running);
}

#[test]
fn threads_resolve_while_others_allocate() {
    let memory = Memory::new(Limits::default());
    let x = buffer(&memory, 4096, "x");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    let block = memory.heap_allocate(32, 1, 1).unwrap();
                    memory.heap_free(block).unwrap();
                }
            });
        }
        let mut cached = Cached::default();
        let addresses = std::array::from_fn(|lane| x + lane as u64 * 4);
        for _ in 0..20_000 {
            let lanes = Lanes::new(&addresses, u32::MAX, 4);
            memory
                .resolve(&lanes, Direction::Write, &mut cached)
                .unwrap();
        }
    });
}

#[test]
fn shared_variables() {
    let variable = |name, bytes| Variable {
        label: Label::new(name, 4),
        bytes,
        alignment: 16,
    };
    let statics = [variable("a", 40), variable("b", 64)];
    let plain = Shared::new(&statics, 128, 0);
    assert_eq!(
        (plain.offset_of(0), plain.offset_of(1), plain.dynamic()),
        (Some(0), Some(48), 128)
    );
    let gaps = Shared::new(&statics, 128, 256);
    let dynamic = u64::from(gaps.dynamic());
    let resolve = |shared: &Shared, offset: u64| {
        let addresses = [offset; LANES];
        shared.resolve(&Lanes::new(&addresses, 1, 4))
    };
    for (shared, offset, text) in [
        (&gaps, 36, None),
        (
            &gaps,
            40,
            Some("out of bounds: 4 bytes at element 10 of the shared `a` (of 10)"),
        ),
        (
            &gaps,
            42,
            Some("misaligned: 4 bytes at element 10 of the shared `a` (of 10)"),
        ),
        // Where an index below 0 leads, and a generic pointer of the fourth block.
        (
            &gaps,
            0u64.wrapping_sub(4),
            Some("out of bounds: 4 bytes at element -1 of the shared `a` (of 10)"),
        ),
        (
            &gaps,
            (5 << 32) + 8,
            Some("shared memory of another block: 4 bytes at element 2 of the shared `a` (of 10)"),
        ),
        (&gaps, dynamic + 124, None),
        (
            &gaps,
            dynamic + 128,
            Some("out of bounds: 4 bytes at byte 128 of the dynamic shared memory (of 128 bytes)"),
        ),
        (&plain, u64::from(plain.bytes()) - 4, None),
        (
            &plain,
            u64::from(plain.bytes()),
            Some("out of bounds: 4 bytes at byte 128 of the dynamic shared memory (of 128 bytes)"),
        ),
    ] {
        let found = resolve(shared, offset).err().map(|fault| fault.to_string());
        assert_eq!(found.as_deref(), text, "{offset}");
    }
}

#[test]
fn a_pointer_into_a_part_of_dynamic_shared_memory_stays_there() {
    let layout = Shared::new(&[], 256, 256);
    let start = u64::from(layout.dynamic());
    let mut parts = Parts::default();
    let part = |by, number, offset, bytes| DynamicPart {
        by,
        number,
        start: start + offset,
        bytes,
        element_bytes: 4,
    };
    // 1 and 2 are those of a loop.
    for one in [
        part(7, 0, 0, 32),
        part(8, 1, 64, 16),
        part(8, 2, 80, 16),
        part(8, 2, 80, 32),
    ] {
        parts.declare(one);
    }
    let second = "element 0 of part 1 of the dynamic shared memory (of 4), by way of part 0 of the dynamic \
                  shared memory (of 8)";
    let cases = [
        (7, 28, None),
        (
            7,
            32,
            Some("element 8 of part 0 of the dynamic shared memory (of 8)"),
        ),
        (7, 64, Some(second)),
        (8, 76, None),
        (8, 108, None),
        (
            8,
            112,
            Some("element 8 of part 2 of the dynamic shared memory (of 8)"),
        ),
        (9, 0, None),
    ];
    for (by, offset, said) in cases {
        let addresses = [start + offset; LANES];
        let stray = parts.stray(by, &layout, &Lanes::new(&addresses, 1, 4));
        let place = stray.map(|it| it.place.to_string());
        assert_eq!(place.as_deref(), said, "{by} at {offset}");
    }
}

#[test]
fn a_heap_block_begins_without_what_another_has_left() {
    let memory = Memory::default();
    let start = memory.heap_allocate(64, 0, 1).expect("room");
    // SAFETY: allocated for 8 words.
    let words = |start: u64| unsafe {
        std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(start as usize), 8)
    };
    words(start).fill(start);
    memory.heap_free(start).expect("allocated");
    for _ in 0..4 {
        let again = memory.heap_allocate(64, 0, 1).expect("room");
        assert_eq!(words(again), [u64::MAX; 8]);
    }
}
