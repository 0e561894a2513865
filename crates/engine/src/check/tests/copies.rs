use super::*;

/// Two stages of copies: the first is read.
fn pipeline(wait: Option<Option<u32>>, barrier: bool, reader: u32) -> Option<Class> {
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
    let pending = Some(Class::PendingCopy);
    let race = Some(Class::Race(Why::Weak));
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

#[test]
fn both_ends_stay_as_they_are_meanwhile() {
    for (waits, found) in [(true, None), (false, Some(Class::PendingCopy))] {
        for is_source in [true, false] {
            let (mut device, block, _) = frame(64);
            let (x, who) = (device.x, one(block, 0));
            let (to, from) = ([0; LANES], [x; LANES]);
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

#[test]
fn copies_of_a_launch_that_failed_are_over() {
    let (mut device, block, _) = frame(64);
    let (to, from) = ([0; LANES], [device.x; LANES]);
    let (to, from) = (Lanes::new(&to, 1, 16), Lanes::new(&from, 1, 16));
    let copy = Copy {
        instruction: 50,
        to: &to,
        from: Some(&from),
    };
    let (x, who) = (device.x, one(block, 0));
    let memory = &device.memory;
    let copied = device
        .checker
        .copy(memory, &mut Cached::default(), who, &copy);
    copied.unwrap();
    // Its block never ends.
    device.checker.end_launch(device.launch);
    device.launch = device
        .checker
        .launch(device.streams.enqueue(device.stream), shape(64));
    let next = device.block(0);
    assert_eq!(class(device.at(next, 0, WRITE, x, 4)), None);
}
