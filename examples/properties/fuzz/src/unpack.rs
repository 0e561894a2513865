//! libFuzzer looks for a packed text with which the kernel goes wrong.

#![no_main]

use std::sync::LazyLock;
use std::sync::atomic::AtomicU8;

use libfuzzer_sys::fuzz_target;
use properties::{ptx, unpacked};
use ridgepoint_driver::{Device, Emulation, LaunchConfig, Schedule, coverage};

/// libFuzzer looks into this section for counts that are not of the host's code.
#[unsafe(link_section = "__libfuzzer_extra_counters")]
static EDGES: [AtomicU8; 1 << 14] = [const { AtomicU8::new(0) }; 1 << 14];

/// The PTX is read once.
static DEVICE: LazyLock<Device> =
    LazyLock::new(|| Device::emulator_with(Emulation::default(), ptx()).expect("an emulator"));

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (threads, seed, packed) = input;
    let launch = LaunchConfig::blocks(2, 1 + u32::from(threads) % 64);
    let device = DEVICE.with_emulation(Emulation {
        schedule: Schedule::Seeded(seed.into()),
        is_checked: true,
        ..Emulation::default()
    });
    let device = device.expect("it is the emulator");
    let ran = coverage::edges_into(&EDGES, || unpacked(&device, packed, 100, launch));
    if let Err(error) = ran {
        let (block, packed) = (launch.block[0], packed.escape_ascii());
        panic!("{error}\nblocks of {block} threads, seed {seed}, packed b\"{packed}\"");
    }
});
