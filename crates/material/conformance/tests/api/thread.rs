//! `cuda_std::thread`.

use conformance_kernels::thread;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, expected, launch, words};

pub(crate) const CASES: &[Case] = &[
    ("thread::places", places),
    ("thread::barriers", barriers),
    ("thread::fences", fences),
    ("thread::convergence", convergence),
    ("thread::strides", strides),
];

fn places(device: &Device) -> Result<(), Failed> {
    let grid = [2u32, 3, 2];
    let block = [5u32, 3, 2];
    let shape = LaunchConfig {
        grid: grid.map(u64::from),
        block,
        dynamic_shared: 0,
    };
    let mut expected = Vec::new();
    let each = |extent: [u32; 3]| {
        let [x, y, z] = extent;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
    };
    let mut index = 0;
    for b in each(grid) {
        for t in each(block) {
            let at = |axis: usize| b[axis] * block[axis] + t[axis];
            let first = u32::from(b == [0; 3] && t == [0; 3]);
            expected.extend([t, b, block, grid].into_iter().flatten());
            expected.extend([
                index,
                at(0),
                at(0),
                at(1),
                at(0),
                at(1),
                at(2),
                first,
                32,
                1,
                1,
                1,
                1,
            ]);
            index += 1;
        }
    }
    let expected: Vec<u64> = expected.into_iter().map(u64::from).collect();
    let actual = words!(device, thread::places::entry(), shape, thread::PLACES);
    equal(&actual, &expected)
}

fn barriers(device: &Device) -> Result<(), Failed> {
    for threads in [1, 31, 33, 100, 128] {
        let shape = LaunchConfig::blocks(3, threads);
        let actual = words!(device, thread::barriers::entry(), shape, 5);
        let not_divisible = (0..threads).filter(|own| own % 3 != 0).count() as u64;
        let expected = expected(shape, |_, own| {
            let before = u64::from((own + threads - 1) % threads);
            [
                before * before,
                not_divisible,
                1,
                0,
                u64::from(threads > 77),
            ]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn fences(device: &Device) -> Result<(), Failed> {
    const BLOCKS: u64 = 64;
    let mut out = device.buffer_filled(BLOCKS as usize + 1, 0u64)?;
    let mut arrived = device.buffer_filled(1, 0u32)?;
    let shape = LaunchConfig::blocks(BLOCKS, 32);
    launch!(
        device,
        thread::fences::entry(),
        shape,
        out.slice_mut(..),
        arrived.slice_mut(..)
    );
    let mut expected: Vec<u64> = (1..=BLOCKS).collect();
    expected.push(BLOCKS * (BLOCKS + 1) / 2);
    equal(&out.to_vec()?, &expected)
}

fn convergence(device: &Device) -> Result<(), Failed> {
    for (threads, rounds) in [(64, 0), (64, 1), (33, 5), (1, 3)] {
        let shape = LaunchConfig::blocks(2, threads);
        let actual = words!(device, thread::convergence::entry(), shape, 1, rounds);
        let expected = expected(shape, |_, own| {
            let from = u64::from((own + rounds) % threads);
            [if from % 2 == 1 { from * 10 } else { from }]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn strides(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(3, 40);
    for len in [0usize, 7, 120, 1001] {
        let actual = words!(device, thread::strides::entry(), shape, 6, len);
        let expected = expected(shape, |block, own| {
            let index = u64::from(block * 40 + own);
            let elements = (index..len as u64).step_by(120);
            let count = elements.clone().count() as u64;
            [index, index, 40, 120, count, elements.sum()]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}
