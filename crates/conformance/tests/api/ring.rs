//! What has the scope of the system, between devices that each have a host thread.

use std::thread;

use conformance::ptx;
use conformance_kernels::atomic::message::{BY_FENCES, BY_RELEASE, BY_SEQ_CST};
use conformance_kernels::atomic::ring::{self, BY_VOLATILE, Seat};
use cuda_std::launch::SliceMut;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{DeviceBuffer, DriverError, Emulation, LaunchConfig, Schedule, Stream};

use crate::support::with;

const LAPS: u32 = 20;

/// Of 2 to 8 devices: without checks, with them, counted, and under seeds.
pub(crate) fn of_emulated_devices() -> Result<(), Failed> {
    let checked = |schedule| Emulation {
        schedule,
        is_checked: true,
        ..Emulation::default()
    };
    let seeds = (0..4).map(Schedule::Seeded);
    let counted = Emulation {
        is_counted: true,
        ..Emulation::default()
    };
    let plain = seeds.clone().map(|schedule| Emulation {
        schedule,
        ..Emulation::default()
    });
    let all = [Emulation::default(), counted, checked(Schedule::InOrder)];
    let all = all.into_iter().chain(plain).chain(seeds.map(checked));
    for emulation in all {
        for ranks in [2, 3, 8u32] {
            // Of device 0 there are other cases.
            let open = |rank| Device::emulator_number(10 + rank, emulation.clone(), ptx());
            let devices: Vec<Device> = (0..ranks).map(open).collect::<Result<_, _>>()?;
            let devices: Vec<&Device> = devices.iter().collect();
            let why = |failed| with(failed, &format!("{ranks} devices, {emulation:?}"));
            of_devices(&devices).map_err(why)?;
        }
    }
    Ok(())
}

pub(crate) fn of_two_gpus(first: &Device, second: &Device) -> Result<(), Failed> {
    of_devices(&[first, second])
}

fn of_devices(devices: &[&Device]) -> Result<(), Failed> {
    let ranks = devices.len();
    for rank in 0..ranks {
        devices[rank].enable_peer_access(devices[(rank + 1) % ranks])?;
        devices[rank].enable_peer_access(devices[0])?;
    }
    for by in [BY_RELEASE, BY_SEQ_CST, BY_FENCES, BY_VOLATILE] {
        let zeros = |device: &&Device| device.buffer_filled(2, 0u64);
        let seats: Vec<DeviceBuffer<u64>> = devices.iter().map(zeros).collect::<Result<_, _>>()?;
        let seats = &seats;
        let launched: Vec<Result<(), DriverError>> = thread::scope(|scope| {
            let launch = |rank| scope.spawn(move || launch(devices[rank], seats, rank, by));
            let all: Vec<_> = (0..ranks).map(launch).collect();
            let joined = all.into_iter().map(|it| it.join());
            joined.map(|it| it.expect("it returns")).collect()
        });
        launched.into_iter().collect::<Result<(), _>>()?;
        let sum = (1..=ranks as u64).sum::<u64>() * u64::from(LAPS);
        // The flag, and above it the count.
        let last = u64::from(LAPS) | (u64::from(LAPS) * ranks as u64) << 32;
        equal(&seats[0].to_vec()?, &[sum, last]).map_err(|it| with(it, &format!("by {by}")))?;
    }
    Ok(())
}

/// Runs a rank's kernel to its end.
fn launch(
    device: &Device,
    seats: &[DeviceBuffer<u64>],
    rank: usize,
    by: u32,
) -> Result<(), DriverError> {
    let prepared = device.prepare(ring::ring::entry(), LaunchConfig::blocks(1, 32))?;
    let stream = Stream::new(device)?;
    let seat = |of: usize| {
        let all = seats[of].slice(..);
        let home = all.home().expect("a buffer's");
        // SAFETY: the words of a seat, which all ranks use as the kernel's contract says.
        unsafe { SliceMut::from_raw(all.as_ptr().cast_mut().cast::<Seat>(), 1).of(home) }
    };
    let (own, next) = (seat(rank), seat((rank + 1) % seats.len()));
    // SAFETY: the seats outlive the wait; all ranks are launched.
    unsafe { prepared.launch(&stream, &(own, next, seat(0), rank as u32, LAPS, by)) }?;
    stream.synchronize()
}
