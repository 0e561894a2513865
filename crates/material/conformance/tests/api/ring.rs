//! Operations with the scope of the system, between devices that each have a host thread.

use std::thread;
use std::time::{Duration, Instant};

use conformance::ptx;
use conformance_kernels::atomic::message::{BY_FENCES, BY_RELEASE, BY_SEQ_CST};
use conformance_kernels::atomic::ring::{self, BY_VOLATILE, Seat};
use cuda_std::launch::SliceMut;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{DeviceBuffer, DriverError, Emulation, LaunchConfig, Schedule, Stream};

use crate::support::with;

const LAPS: u32 = 20;

pub(crate) fn on_emulated_devices() -> Result<(), Failed> {
    // One after the other: all their host threads take turns.
    of_emulated_devices()?;
    waits()
}

/// Of 2 to 8 devices: without checks, with them, counted, and under seeds.
fn of_emulated_devices() -> Result<(), Failed> {
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
        let launched = each(ranks, |rank| launch(devices[rank], seats, rank, by));
        launched.into_iter().collect::<Result<(), _>>()?;
        let sum = (1..=ranks as u64).sum::<u64>() * u64::from(LAPS);
        // The flag, and above it the count.
        let last = u64::from(LAPS) | (u64::from(LAPS) * ranks as u64) << 32;
        equal(&seats[0].to_vec()?, &[sum, last]).map_err(|it| with(it, &format!("by {by}")))?;
    }
    Ok(())
}

/// A kernel waits for one that is launched late, and gives up where none comes, or where that fails.
fn waits() -> Result<(), Failed> {
    for (is_checked, first) in [(false, 20), (true, 30)] {
        // Devices with so many steps go through them in far less than the 5 s that they wait.
        let emulation = |steps| Emulation {
            is_checked,
            steps,
            ..Emulation::default()
        };
        let open = |number, steps| Device::emulator_number(number, emulation(steps), ptx());
        let devices = [open(first, 1 << 27)?, open(first + 1, 1 << 27)?];
        let hasty = devices[0]
            .with_emulation(emulation(1 << 14))
            .ok_or("an emulator")?;
        devices[0].enable_peer_access(&devices[1])?;
        devices[1].enable_peer_access(&devices[0])?;
        let seats = || -> Result<Vec<DeviceBuffer<u64>>, DriverError> {
            let each = devices.iter().map(|it| it.buffer_filled(2, 0u64));
            each.collect()
        };

        let late = seats()?;
        let launched = each(2, |rank| {
            thread::sleep(Duration::from_secs(rank as u64));
            launch(&devices[rank], &late, rank, BY_RELEASE)
        });
        launched.into_iter().collect::<Result<(), _>>()?;

        let alone = seats()?;
        let began = Instant::now();
        says(
            launch(&hasty, &alone, 0, BY_RELEASE),
            "goes on for ever, or for more than 16384 steps",
        )?;
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{:?}",
            began.elapsed()
        );

        // The second device's kernel gives up, because it is hasty, and with it the first one's.
        let stuck = seats()?;
        let hasty = devices[1]
            .with_emulation(emulation(1 << 14))
            .ok_or("an emulator")?;
        let began = Instant::now();
        let launched = each(2, |rank| match rank {
            // As rank 1, too: both wait.
            0 => launch(&devices[0], &stuck, 1, BY_RELEASE),
            _ => {
                thread::sleep(Duration::from_millis(100));
                launch(&hasty, &stuck, 1, BY_RELEASE)
            }
        });
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{:?}",
            began.elapsed()
        );
        let [first_said, second_said] = launched.try_into().map_err(|_| "two")?;
        says(second_said, "goes on for ever")?;
        let expected = format!("a kernel on cpu:{} has failed meanwhile", first + 1);
        says(first_said, &expected)?;
    }
    Ok(())
}

fn says(launched: Result<(), DriverError>, expected: &str) -> Result<(), Failed> {
    match launched {
        Err(error) if error.to_string().contains(expected) => Ok(()),
        other => Err(format!("{other:?} instead of {expected}").into()),
    }
}

/// Returns the result of each rank's host thread.
fn each(
    ranks: usize,
    run: impl Fn(usize) -> Result<(), DriverError> + Sync,
) -> Vec<Result<(), DriverError>> {
    thread::scope(|scope| {
        let run = &run;
        let all: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || run(rank)))
            .collect();
        let joined = all.into_iter().map(|it| it.join());
        joined.map(|it| it.expect("it returns")).collect()
    })
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
