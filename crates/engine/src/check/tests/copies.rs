use super::*;

/// Two stages of copies: the first is read.
fn pipeline(wait: Option<Option<u32>>, barrier: bool, reader: u32) -> Option<FindingKind> {
    let (mut device, block, _) = frame(64);
    let (x, who) = (device.x, one(block, 0));
    let mut cached = Cached::default();
    for stage in 0..2 {
        let (to, from) = ([stage * 16; LANES], [x + stage * 16; LANES]);
        let (to, from) = (Lanes::new(&to, 1, 16), Lanes::new(&from, 1, 16));
        let direction = crate::memory::Direction::Read;
        device
            .memory
            .resolve(&from, direction, &mut cached)
            .unwrap();
        let copy = Copy {
            instruction: 50,
            to: &to,
            from: Some(&from),
        };
        device
            .checker
            .copy(&device.memory, &mut cached, who, &copy)
            .unwrap();
        device.checker.commit(who);
    }
    if let Some(but) = wait {
        device.checker.wait(who, but);
    }
    if barrier {
        device.checker.barrier(block).unwrap();
    }
    class(device.shared(block, reader, READ, 0, 4))
}

#[test]
fn waits() {
    let pending = Some(FindingKind::PendingCopy);
    let race = Some(FindingKind::Race {
        reason: RaceReason::Weak,
    });
    for (wait, barrier, reader, found) in [
        (None, false, 0, pending),
        (None, true, 0, pending),
        (None, true, 33, pending),
        (Some(Some(2)), true, 33, pending),
        (Some(Some(1)), true, 33, None),
        (Some(Some(0)), true, 33, None),
        (Some(None), true, 33, None),
        (Some(Some(1)), false, 0, None),
        (Some(Some(1)), false, 33, race),
    ] {
        assert_eq!(
            pipeline(wait, barrier, reader),
            found,
            "{wait:?} {barrier} {reader}"
        );
    }
}

/// docs/design/checks.md says why: it is no finding, other than of bulk copies.
#[test]
fn a_block_may_end_before_its_threads_copies_have_landed() {
    let (mut device, block, _) = frame(64);
    let (to, from) = ([0; LANES], [device.x; LANES]);
    let (to, from) = (Lanes::new(&to, 1, 16), Lanes::new(&from, 1, 16));
    let copy = Copy {
        instruction: 50,
        to: &to,
        from: Some(&from),
    };
    let (mut cached, who) = (Cached::default(), one(block, 0));
    let copied = device.checker.copy(&device.memory, &mut cached, who, &copy);
    assert_eq!(copied, Ok(()));
    // In flight, and so found by whoever reads it.
    assert_eq!(
        class(device.shared(block, 0, READ, 0, 4)),
        Some(FindingKind::PendingCopy)
    );
    assert_eq!(device.checker.end_block(block), Ok(()));
}

#[test]
fn both_ends_stay_as_they_are_meanwhile() {
    for (waits, found) in [(true, None), (false, Some(FindingKind::PendingCopy))] {
        for is_source in [true, false] {
            let (mut device, block, _) = frame(64);
            let (x, who) = (device.x, one(block, 0));
            begin_copy(&mut device, who);
            if waits {
                device.checker.wait(who, Some(0));
            }
            let result = if is_source {
                device.at(block, 0, WRITE, x + 4, 4)
            } else {
                device.shared(block, 0, WRITE, 4, 4)
            };
            assert_eq!(class(result), found);
        }
    }
}

/// Copies 16 bytes from the first element to the begin of shared memory.
fn begin_copy(device: &mut Device, who: Accessors) {
    let (to, from) = ([0; LANES], [device.x; LANES]);
    let (to, from) = (Lanes::new(&to, 1, 16), Lanes::new(&from, 1, 16));
    let copy = Copy {
        instruction: 50,
        to: &to,
        from: Some(&from),
    };
    let mut cached = Cached::default();
    device
        .checker
        .copy(&device.memory, &mut cached, who, &copy)
        .unwrap();
    device.checker.commit(who);
}

/// Its blocks have not ended, and their copies never land.
#[test]
fn a_launch_that_has_failed_leaves_no_copies_behind() {
    let (mut device, block, _) = frame(64);
    begin_copy(&mut device, one(block, 0));
    device.checker.end_launch(device.launch);

    let operation = device.streams.enqueue(device.stream);
    device.launch = device.checker.launch(operation, shape(64));
    let later = device.block(0);
    let x = device.x;
    assert_eq!(class(device.at(later, 0, WRITE, x, 4)), None);
}
