//! Kernels with bugs of any number of devices, each with a host thread of its own.

use std::thread;

use cuda_std::launch::{Entry, Signature, Slice};
use planted_kernels::teams;
use ridgepoint_driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Stream};

use crate::{Needs, places};

/// The signature of a launch of each device: the addresses of all flags and of all pieces, and its rank.
pub struct Team;

impl Signature for Team {
    type Arguments<'a> = (Slice<'a, u64>, Slice<'a, u64>, u32);
}

/// A kernel with a bug that takes several devices, and its correct twin.
pub struct TeamBug {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: fn() -> Entry<Team>,
    /// Its twin.
    pub fixed: fn() -> Entry<Team>,
    /// How the emulator's report begins.
    pub report: &'static str,
    /// Where the bug is seen, if a line is told: its word, as in [`Bug::report`](crate::Bug::report).
    pub place: &'static str,
}

impl TeamBug {
    /// Launches a kernel on all devices at the same time, and returns each one's sum.
    ///
    /// # Errors
    /// Memory or a kernel cannot be had. What became of each launch is in the results.
    pub fn run(
        &self,
        devices: &[&Device],
        entry: Entry<Team>,
    ) -> Result<Vec<Result<u32, DriverError>>, DriverError> {
        for device in devices {
            let others = devices.iter().filter(|it| !std::ptr::eq(**it, *device));
            others
                .clone()
                .try_for_each(|it| device.enable_peer_access(it))?;
        }
        let count = devices.len();
        let flags = devices.iter().map(|it| it.buffer_zeroed::<u32>(count));
        let flags: Vec<DeviceBuffer<u32>> = flags.collect::<Result<_, _>>()?;
        let pieces = devices
            .iter()
            .map(|it| it.buffer_uninitialized::<u32>(count + 1));
        let pieces: Vec<DeviceBuffer<u32>> = pieces.collect::<Result<_, _>>()?;
        let addresses = [addresses(&flags), addresses(&pieces)];
        let launched: Vec<Result<(), DriverError>> = thread::scope(|scope| {
            let addresses = &addresses;
            let ranks = devices.iter().enumerate();
            let ranks = ranks.map(|(rank, device)| {
                scope.spawn(move || launch(device, entry, addresses, rank as u32))
            });
            let ranks: Vec<_> = ranks.collect();
            ranks
                .into_iter()
                .map(|it| it.join().expect("it returns"))
                .collect()
        });
        let sum = |of: &DeviceBuffer<u32>| {
            let mut sum = [0];
            of.read(count, &mut sum).map(|()| sum[0])
        };
        let ended = launched.into_iter().zip(&pieces);
        Ok(ended
            .map(|(launched, pieces)| launched.and_then(|()| sum(pieces)))
            .collect())
    }

    /// The file and line where the emulator sees the bug.
    pub fn seen_at(&self) -> String {
        places(self.name, self.place, Needs::Any)
    }
}

/// Returns the sum of what so many devices contribute.
pub fn team_sum(devices: usize) -> u32 {
    (0..devices as u32).map(|rank| rank + 7).sum()
}

fn addresses(buffers: &[DeviceBuffer<u32>]) -> Vec<u64> {
    let address = |it: &DeviceBuffer<u32>| it.slice(..).as_ptr().expose_provenance() as u64;
    buffers.iter().map(address).collect()
}

fn launch(
    device: &Device,
    entry: Entry<Team>,
    [flags, pieces]: &[Vec<u64>; 2],
    rank: u32,
) -> Result<(), DriverError> {
    let prepared = device.prepare(entry, LaunchConfig::blocks(1, 1))?;
    let stream = Stream::new(device)?;
    let (flags, pieces) = (device.buffer_from(flags)?, device.buffer_from(pieces)?);
    // SAFETY: the addresses are of as many words as the kernel uses, whose buffers outlive the wait. None for the kernel with the
    // bug, which is why the program that launches it does nothing else.
    unsafe { prepared.launch(&stream, &(flags.slice(..), pieces.slice(..), rank)) }?;
    stream.synchronize()
}

macro_rules! teams {
    ($($name:ident / $fixed:ident: $report:literal at $place:literal;)*) => {
        /// All of them.
        pub const TEAM_BUGS: &[TeamBug] = &[$(TeamBug {
            name: stringify!($name),
            kernel: || teams::$name::entry().with_signature(),
            fixed: || teams::$fixed::entry().with_signature(),
            report: $report,
            place: $place,
        }),*];
    };
}

teams! {
    flag_for_too_few / flag_for_too_few_fixed: "goes on for ever, or for more than" at "";
    ring_one_step_short / ring_one_step_short_fixed:
        "uninitialised: block [0, 0, 0], thread [0, 0, 0] reads element" at "{reads}";
}
