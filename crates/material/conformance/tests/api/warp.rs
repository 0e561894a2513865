//! `cuda_std::warp`.

use std::ops::Range;

use conformance_kernels::warp;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, expected, with, words};

pub(crate) const CASES: &[Case] = &[
    ("warp::votes", votes),
    ("warp::matches", matches),
    ("warp::reductions", reductions),
    ("warp::shuffles", shuffles),
    ("warp::shuffled_types", shuffled_types),
];

fn votes(device: &Device) -> Result<(), Failed> {
    for threads in [32, 64, 33, 70, 1] {
        let shape = LaunchConfig::blocks(2, threads);
        let actual = words!(device, warp::votes::entry(), shape, 10);
        let expected = expected(shape, |_, thread| {
            let (lane, lanes) = (thread % 32, lanes(thread, threads));
            let all = mask(lanes.clone(), |_| true);
            let has_2 = lanes.contains(&2);
            [
                lane.into(),
                1,
                1,
                u64::from(!has_2),
                has_2.into(),
                0,
                mask(lanes.clone(), |other| other % 3 == 0),
                mask(lanes.clone(), |other| other % 4 == lane % 4),
                all,
                if lanes.len() == 1 { all } else { 0 },
            ]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn matches(device: &Device) -> Result<(), Failed> {
    for threads in [64, 45] {
        let shape = LaunchConfig::blocks(1, threads);
        let actual = words!(device, warp::matches::entry(), shape, 6);
        let expected = expected(shape, |_, thread| {
            let (lane, lanes) = (thread % 32, lanes(thread, threads));
            let same = |of: fn(u32) -> u32| mask(lanes.clone(), |other| of(other) == of(lane));
            [
                same(|lane| lane / 8),
                same(|lane| lane % 2),
                same(|lane| lane % 5),
                same(|lane| lane % 3),
                same(|lane| lane / 16),
                same(|_| 0),
            ]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn reductions(device: &Device) -> Result<(), Failed> {
    for threads in [64, 41] {
        let shape = LaunchConfig::blocks(2, threads);
        let actual = words!(device, warp::reductions::entry(), shape, 12);
        let expected = expected(shape, |_, thread| {
            let unsigned: Vec<u32> = lanes(thread, threads)
                .map(|lane| lane.wrapping_mul(2_654_435_761).wrapping_add(12345))
                .collect();
            let fold = |combine: fn(u32, u32) -> u32| {
                u64::from(unsigned.iter().copied().reduce(combine).unwrap_or_default())
            };
            let add = fold(u32::wrapping_add);
            let (and, or, xor) = (fold(|a, b| a & b), fold(|a, b| a | b), fold(|a, b| a ^ b));
            let signed = |combine: fn(i32, i32) -> i32| {
                let all = unsigned.iter().map(|&value| value as i32);
                u64::from(all.reduce(combine).unwrap_or_default() as u32)
            };
            [
                add,
                fold(u32::min),
                fold(u32::max),
                and,
                or,
                xor,
                add,
                signed(i32::min),
                signed(i32::max),
                and,
                or,
                xor,
            ]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn shuffles(device: &Device) -> Result<(), Failed> {
    for width in [32u32, 16, 8, 2, 1] {
        for n in [0u32, 1, 3, 7, 16, 31] {
            let shape = LaunchConfig::blocks(1, 64);
            let actual = words!(device, warp::shuffles::entry(), shape, 8, n, width);
            let expected = expected(shape, |_, thread| {
                let lane = thread % 32;
                let first = lane / width * width;
                let segment = first..first + width;
                let read = |from: Option<u32>, allowed: bool| {
                    let inside = from.filter(|_| allowed);
                    [inside.unwrap_or(lane).into(), u64::from(inside.is_some())]
                };
                let down = read(Some(lane + n), segment.contains(&(lane + n)));
                let up = lane.checked_sub(n);
                let up = read(up, up.is_some_and(|from| segment.contains(&from)));
                let index = read(Some(first + n % width), true);
                // A lane may read the segments before its own.
                let xor = read(Some(lane ^ n), lane ^ n < segment.end);
                [
                    down[0], down[1], up[0], up[1], index[0], index[1], xor[0], xor[1],
                ]
            });
            equal(&actual, &expected).map_err(|error| with(error, &format!("{n} of {width}")))?;
        }
    }
    Ok(())
}

fn shuffled_types(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(1, 32);
    let actual = words!(device, warp::shuffled_types::entry(), shape, 16);
    let expected = expected(shape, |_, thread| {
        let lane = u64::from(thread ^ 1);
        let narrow = thread as i64 ^ 1;
        let wide = u128::from(lane) << 100 | u128::from(lane) << 64 | u128::from(lane) << 40 | 3;
        [
            lane,
            lane * 1000,
            lane * 100_000,
            lane << 40 | 5,
            wide as u64,
            (wide >> 64) as u64,
            (narrow - 16) as u64,
            (narrow - 1600) as u64,
            (narrow - 16) as u64,
            (narrow - 16) as u64,
            wide as u64,
            (wide >> 64) as u64,
            (lane as f32 + 0.5).to_bits().into(),
            (lane as f64 + 0.5).to_bits(),
            lane + 0x3c00,
            lane + 0x3f80,
        ]
    });
    equal(&actual, &expected)
}

/// The lanes of the thread's warp, in a block of so many threads.
fn lanes(thread: u32, threads: u32) -> Range<u32> {
    let first = thread / 32 * 32;
    0..(threads - first).min(32)
}

/// The lanes for which it holds, as a mask.
fn mask(lanes: Range<u32>, holds: impl Fn(u32) -> bool) -> u64 {
    lanes
        .filter(|&lane| holds(lane))
        .map(|lane| 1 << lane)
        .sum()
}
