use super::*;
use crate::memory::Direction;

/// How the second of two launches follows on the first.
#[derive(Clone, Copy, Debug)]
enum Follows {
    SameStream,
    OtherStream,
    AfterEvent,
    AfterHost,
    BeforeEvent,
}

#[test]
fn streams() {
    use Follows::*;
    for (follows, races) in [
        (SameStream, false),
        (OtherStream, true),
        (AfterEvent, false),
        (AfterHost, false),
        (BeforeEvent, true),
    ] {
        let mut device = Device::new(32);
        let (x, first) = (device.x, device.stream);
        let second = device.streams.stream();
        let early = device.streams.record(second);
        let block = device.block(0);
        device.at(block, 0, WRITE, x, 4).unwrap();
        device.checker.end_block(block).unwrap();
        device.checker.end_launch(device.launch);
        let stream = match follows {
            SameStream => first,
            OtherStream => second,
            AfterEvent => {
                let event = device.streams.record(first);
                device.streams.wait(second, &event);
                second
            }
            AfterHost => {
                device.streams.synchronise(first);
                second
            }
            BeforeEvent => {
                device.streams.wait(second, &early);
                second
            }
        };
        device.launch = device
            .checker
            .launch(device.streams.enqueue(stream), shape(32));
        let block = device.block(0);
        assert_eq!(
            is_race(device.at(block, 0, WRITE, x, 4)),
            races,
            "{follows:?}"
        );
        // The third launch, in the first stream, follows on the first launch alone.
        device.launch = device
            .checker
            .launch(device.streams.enqueue(first), shape(32));
        let block = device.block(0);
        device.at(block, 0, READ, x + 64, 4).unwrap();
    }
}

#[test]
fn copies_of_the_host() {
    for waits in [true, false] {
        let mut device = Device::new(32);
        let (x, block) = (device.x, device.block(0));
        device.at(block, 0, WRITE, x + 2000, 4).unwrap();
        device.checker.end_block(block).unwrap();
        device.checker.end_launch(device.launch);
        if waits {
            device.streams.synchronise_all();
        }
        let operation = device.streams.host();
        let result = device
            .checker
            .host(&device.memory, operation, (x + 3, 4001), Direction::Read);
        assert_eq!(is_race(result), !waits);
    }
    // A fill gives values, and what follows in its stream knows of it.
    let mut device = Device::new(32);
    let y = device
        .memory
        .allocate(999, 16, Contents::Undefined, Label::new("y", 4))
        .unwrap();
    for is_same in [true, false] {
        let stream = device.streams.stream();
        let operation = device.streams.enqueue(stream);
        device
            .checker
            .host(&device.memory, operation, (y, 999), Direction::Write)
            .unwrap();
        let next = if is_same {
            stream
        } else {
            device.streams.stream()
        };
        device.launch = device
            .checker
            .launch(device.streams.enqueue(next), shape(32));
        let block = device.block(0);
        assert_eq!(is_race(device.at(block, 0, READ, y + 992, 4)), !is_same);
        device.checker.end_block(block).unwrap();
        device.checker.end_launch(device.launch);
        device.streams.synchronise_all();
    }
}

/// Where several host threads launch, there is always a launch that the host has not waited for yet.
#[test]
fn what_is_before_everything_to_come_is_forgotten_though_a_launch_is_always_pending() {
    let mut device = Device::new(32);
    device.checker.end_launch(device.launch);
    let (x, flag) = (device.x, device.flag);
    let streams = [device.stream, device.streams.stream()];
    let mut most = (0, 0);
    for round in 0..10_000u64 {
        let stream = streams[round as usize % 2];
        let operation = device.streams.enqueue(stream);
        device.launch = device.checker.launch(operation, shape(32));
        let block = device.block(0);
        let own = x + 4 * (round % 2);
        device.at(block, 0, WRITE, own, 4).unwrap();
        let release = store(Order::Release, Scope::Device);
        device
            .at(block, 0, release, flag + 4 * (round % 2), 4)
            .unwrap();
        device.checker.end_block(block).unwrap();
        device.checker.end_launch(device.launch);
        // The other one's launch, the one before.
        device
            .streams
            .synchronise(streams[(round as usize + 1) % 2]);
        let world = &device.checker.world;
        most = (
            most.0.max(world.instances.len()),
            most.1.max(world.chains.kept()),
        );
    }
    assert!(most.0 < 5000 && most.1 < 8000, "{most:?}");
    // What is still pending is not forgotten.
    let operation = device.streams.enqueue(streams[0]);
    device.launch = device.checker.launch(operation, shape(32));
    let block = device.block(0);
    device.at(block, 0, READ, x + 4, 4).unwrap_err();
}
/// Two host threads: one waits for its launch, while that of the other, which began beside it, still runs.
#[test]
fn what_ran_beside_a_launch_is_not_before_it_once_the_host_has_waited() {
    for is_elsewhere in [false, true] {
        let mut device = Device::new(32);
        let (block, x) = (device.block(0), device.x);
        let other = device.block_elsewhere(u32::from(is_elsewhere), 32);
        device.at(block, 0, WRITE, x, 4).unwrap();
        device.checker.end_block(block).unwrap();
        device.checker.end_launch(device.launch);
        device.streams.synchronise(device.stream);
        let read = (x + 64, 4);
        let operation = device.streams.host();
        let direction = crate::memory::Direction::Read;
        let memory = &device.memory;
        device
            .checker
            .host(memory, operation, read, direction)
            .unwrap();
        assert!(is_race(device.at(other, 0, READ, x, 4)));
    }
}
