use std::hint::black_box;
use std::time::Instant;

use super::*;
use crate::memory::Direction;

/// Run in release: `cargo test --release -p ridgepoint-engine -- --ignored --nocapture speed`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    for (name, what) in [("read", READ), ("write", WRITE)] {
        for (bytes, stride, words) in [
            (4, 1, 1 << 16),
            (4, 1, 1 << 22),
            (8, 1, 1 << 16),
            (16, 1, 1 << 16),
            (1, 1, 1 << 16),
            (4, 33, 1 << 16),
        ] {
            let nanoseconds = global(what, bytes, stride, words);
            println!(
                "{name} {bytes} bytes, stride {stride}, {words} elements: {nanoseconds:.2} ns"
            );
        }
    }
    println!("a block: {:.0} ns", blocks());
    println!("shared, read after a barrier: {:.2} ns", shared());
    println!("atomics, one address: {:.1} ns", atomics(0));
    println!("atomics, an address per lane: {:.1} ns", atomics(4));
}

fn global(what: AccessKind, bytes: u64, stride: u64, elements: u64) -> f64 {
    let mut device = Device::new(256);
    let size = elements * bytes * stride.min(2) + (1 << 16);
    let start = device
        .memory
        .allocate(size, 256, Contents::Defined, Label::new("y", 4))
        .unwrap();
    let mut cached = Cached::default();
    let rounds = ((1 << 23) / elements).max(2);
    let mut begin = Instant::now();
    for round in 0..=rounds {
        // The first one makes the shadow.
        if round == 1 {
            begin = Instant::now();
        }
        device.launch = device
            .checker
            .launch(device.streams.enqueue(device.stream), shape(256));
        for index in 0..elements / 256 {
            let block = device.block(index);
            for warp in 0..8 {
                let first = start + (index * 256 + u64::from(warp) * 32) * bytes;
                let addresses = std::array::from_fn(|lane| first + lane as u64 * bytes * stride);
                let lanes = Lanes::new(black_box(&addresses), u32::MAX, bytes as u32);
                let direction = if what.writes() {
                    Direction::Write
                } else {
                    Direction::Read
                };
                device
                    .memory
                    .resolve(&lanes, direction, &mut cached)
                    .unwrap();
                let access = Access {
                    instruction: 3,
                    what,
                    element_bytes: bytes as u32,
                    lanes: &lanes,
                    unwritten: crate::check::Unwritten::Found,
                    stored: None,
                };
                let who = Accessors {
                    block,
                    warp,
                    mask: u32::MAX,
                };
                // Strided warps meet each other: what is found costs nothing here.
                let _ = black_box(
                    device
                        .checker
                        .global(&device.memory, &mut cached, who, &access),
                );
            }
            let _ = device.checker.end_block(block);
        }
        device.checker.end_launch(device.launch);
        device.streams.synchronise_all();
    }
    begin.elapsed().as_nanos() as f64 / (rounds * elements) as f64
}

fn blocks() -> f64 {
    let mut device = Device::new(256);
    let begin = Instant::now();
    for index in 0..20_000 {
        let block = device.block(index);
        device.checker.end_block(block).unwrap();
    }
    begin.elapsed().as_nanos() as f64 / 20_000.0
}

fn shared() -> f64 {
    let (mut device, block, _) = frame(256);
    let begin = Instant::now();
    let rounds = 20_000;
    for _ in 0..rounds {
        for what in [WRITE, READ] {
            for warp in 0..8 {
                let addresses = std::array::from_fn(|lane| u64::from(warp) * 128 + lane as u64 * 4);
                let lanes = Lanes::new(black_box(&addresses), u32::MAX, 4);
                device.layout.resolve(&lanes).unwrap();
                let access = Access {
                    instruction: 3,
                    what,
                    element_bytes: 4,
                    lanes: &lanes,
                    unwritten: crate::check::Unwritten::Found,
                    stored: None,
                };
                let who = Accessors {
                    block,
                    warp,
                    mask: u32::MAX,
                };
                device.checker.shared(who, &access).unwrap();
            }
            device.checker.barrier(block).unwrap();
        }
    }
    begin.elapsed().as_nanos() as f64 / f64::from(rounds * 2 * 256)
}

fn atomics(stride: u64) -> f64 {
    let (mut device, block, _) = frame(256);
    let x = device.x;
    let begin = Instant::now();
    let rounds = 2_000;
    for _ in 0..rounds {
        for warp in 0..8 {
            let addresses = std::array::from_fn(|lane| x + lane as u64 * stride);
            let what = AccessKind::Atomic(Order::Relaxed, Scope::Device);
            device.next = 0;
            device
                .warp(block, warp, u32::MAX, what, &addresses, 4)
                .unwrap();
        }
    }
    begin.elapsed().as_nanos() as f64 / f64::from(rounds * 256)
}
