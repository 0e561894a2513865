//! Data that is handed on between devices, in one launch or by way of others.

use super::*;
use crate::memory::Direction;

/// Two devices, each with a stream, and what their kernels do.
struct Two {
    device: Device,
    streams: [Stream; 2],
}

const SET: AccessKind = AccessKind::Write(Strength::Strong(Order::Release, Scope::System));
const SEE: AccessKind = AccessKind::Read(Strength::Strong(Order::Acquire, Scope::System));

impl Two {
    fn new() -> Two {
        let mut device = Device::new(32);
        device.checker.end_launch(device.launch);
        let peer = device.memory.of_device(1);
        device.memory.enable_peer_access(&peer);
        let streams = [device.streams.stream(), device.streams.stream()];
        Two { device, streams }
    }

    /// A launch of one thread, from its begin to its end.
    fn runs(&mut self, rank: u32, accesses: &[(AccessKind, u64)]) -> Checked {
        let running = self.begins(rank);
        let ran = self.goes_on(running, accesses);
        self.ends(running);
        ran
    }

    fn begins(&mut self, rank: u32) -> (LaunchId, BlockId) {
        self.device.begin_in(self.streams[rank as usize], rank, 32)
    }

    fn goes_on(
        &mut self,
        (_, block): (LaunchId, BlockId),
        accesses: &[(AccessKind, u64)],
    ) -> Checked {
        let mut all = accesses.iter();
        all.try_for_each(|&(what, at)| self.device.at(block, 0, what, at, 4))
    }

    fn ends(&mut self, (launch, block): (LaunchId, BlockId)) {
        self.device.checker.end_block(block).unwrap();
        self.device.checker.end_launch(launch);
    }

    /// A copy in a stream, or one of the host's own.
    fn copies(&mut self, rank: Option<u32>, direction: Direction, at: u64) -> Checked {
        let streams = &mut self.device.streams;
        let operation = match rank {
            Some(rank) => streams.enqueue(self.streams[rank as usize]),
            None => streams.host(),
        };
        let memory = &self.device.memory;
        self.device
            .checker
            .host(memory, operation, (at, 4), direction)
    }
}

/// The host waits for the launch that has seen the flag, and not for the one that wrote.
#[test]
fn the_host_knows_what_a_launch_has_acquired_that_it_has_waited_for() {
    for seen in [
        Some(SEE),
        Some(AccessKind::Read(Strength::Strong(
            Order::Relaxed,
            Scope::System,
        ))),
        None,
    ] {
        let mut two = Two::new();
        let (x, flag) = (two.device.x, two.device.flag);
        let sender = two.begins(0);
        let receiver = two.begins(1);
        two.goes_on(sender, &[(WRITE, x), (SET, flag)]).unwrap();
        if let Some(see) = seen {
            two.goes_on(receiver, &[(see, flag)]).unwrap();
        }
        two.ends(receiver);
        two.device.streams.synchronise(two.streams[1]);
        let read = two.copies(None, Direction::Read, x);
        assert_eq!(is_race(read), seen.is_none());
        two.ends(sender);
    }
}

/// One kernel, or a copy, brings the data, and the next one says so.
#[test]
fn a_later_kernel_of_the_stream_hands_on_what_an_earlier_one_did() {
    for (first, second) in [
        ("kernel", "flag"),
        ("copy", "flag"),
        ("flag", "kernel"),
        ("flag", "copy"),
    ] {
        let mut two = Two::new();
        let (x, flag) = (two.device.x, two.device.flag);
        let receiver = two.begins(1);
        for step in [first, second] {
            match step {
                "kernel" => two.runs(0, &[(WRITE, x)]).unwrap(),
                "copy" => two.copies(Some(0), Direction::Write, x).unwrap(),
                _ => two.runs(0, &[(SET, flag)]).unwrap(),
            }
        }
        let read = two.goes_on(receiver, &[(SEE, flag), (READ, x)]);
        assert_eq!(is_race(read), first == "flag", "{first}, then {second}");
        two.ends(receiver);
    }
}

/// One kernel waits for the flag, and the next one of its stream uses the data.
#[test]
fn a_later_kernel_of_the_stream_knows_what_an_earlier_one_has_acquired() {
    for waits in [true, false] {
        let mut two = Two::new();
        let (x, flag) = (two.device.x, two.device.flag);
        let sender = two.begins(0);
        two.goes_on(sender, &[(WRITE, x), (SET, flag)]).unwrap();
        let see: &[(AccessKind, u64)] = if waits { &[(SEE, flag)] } else { &[] };
        two.runs(1, see).unwrap();
        let read = two.runs(1, &[(READ, x)]);
        assert_eq!(is_race(read), !waits);
        two.ends(sender);
    }
}
