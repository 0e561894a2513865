//! Launches of the dictionary's kernels, and what each should have written.

use cuda_std::group::workspace_words;
use cuda_std::launch::{Entry, Kernel};
use example_kernels::dictionary::*;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{LaunchConfig, Stream};

/// Launches any kernel, and waits for it.
fn launch<K: Kernel>(
    device: &Device,
    entry: Entry<K>,
    config: LaunchConfig,
    arguments: K::Arguments<'_>,
) -> Result<(), Failed> {
    let prepared = device.prepare(entry, config)?;
    let stream = Stream::new(device)?;
    // SAFETY: each case gives its kernel what it asks for, and waits here.
    unsafe { prepared.launch(&stream, &arguments) }?;
    Ok(stream.synchronize()?)
}

/// 0, 1, 2 ..
fn counted(len: usize) -> Vec<f32> {
    (0..len).map(|i| i as f32).collect()
}

pub(crate) fn functions(device: &Device) -> Result<(), Failed> {
    let config = LaunchConfig::blocks(2, 32);
    let x = device.buffer_from(&counted(100))?;
    let mut y = device.buffer_filled(100, f32::NAN)?;
    launch(
        device,
        scale::entry(),
        config,
        (x.slice(..), y.slice_mut(..), 2.0),
    )?;
    let doubled: Vec<f32> = counted(100).iter().map(|x| 2.0 * x).collect();
    equal(&y.to_vec()?, &doubled)?;
    launch(
        device,
        scale_by_pointer::entry(),
        config,
        (x.slice(..), y.slice_mut(..), 1.0),
    )?;
    equal(&y.to_vec()?, &counted(100))?;
    launch(device, clear::entry(), config, (y.slice_mut(..),))?;
    equal(&y.to_vec()?, &[0.0; 100])?;
    launch(device, fill_f32::entry(), config, (y.slice_mut(..), 3.0))?;
    equal(&y.to_vec()?, &[3.0; 100])?;
    let mut words = device.buffer_zeroed::<u64>(100)?;
    launch(device, fill_u64::entry(), config, (words.slice_mut(..), 9))?;
    equal(&words.to_vec()?, &[9; 100])?;
    let mut told = device.buffer_filled(3, [f32::NAN; 4])?;
    let with = Affine {
        factor: 3.0,
        offset: 0.5,
    };
    launch(
        device,
        functions_and_variables::entry(),
        config,
        (with, told.slice_mut(..)),
    )?;
    let expected = [9.0, 18.0, 36.0].map(|weighed| [weighed, 8.0, 6.5, 1.0]);
    equal(&told.to_vec()?, &expected)
}

/// Blocks of 32 x 2 x 2 threads, in a grid of 2 x 3 x 1.
pub(crate) fn indices(device: &Device) -> Result<(), Failed> {
    let config = LaunchConfig::grid([2, 3, 1], [32, 2, 2]);
    let mut out = device.buffer_filled(6 * 128, [u32::MAX; 12])?;
    launch(device, indices::entry(), config, (out.slice_mut(..),))?;
    let expected = |linear: u32| {
        let (block, thread) = (linear / 128, linear % 128);
        let (x, y, z) = (thread % 32, thread / 32 % 2, thread / 64);
        let [block_x, block_y] = [block % 2, block / 2];
        [
            x,
            block_y,
            32,
            1,
            z,
            block_x * 32 + x,
            block_y * 2 + y,
            block_x * 32 + x,
            z,
            linear,
            32,
            x,
        ]
    };
    equal(
        &out.to_vec()?,
        &(0..6 * 128).map(expected).collect::<Vec<_>>(),
    )
}

pub(crate) fn shared_memory(device: &Device) -> Result<(), Failed> {
    let config = LaunchConfig::blocks(2, 64).with_dynamic_shared(256);
    let x = device.buffer_from(&counted(128))?;
    let mut out = device.buffer_filled(128, [f32::NAN; 9])?;
    launch(
        device,
        shared_memory::entry(),
        config,
        (x.slice(..), out.slice_mut(..)),
    )?;
    let expected = |i: usize| {
        let (block, t) = (i / 64 * 64, i % 64);
        let turned = (block + 63 - t) as f32;
        let above_10 = if block == 0 { 53.0 } else { 64.0 };
        // The safe tile is filled with the grid's first elements and one.
        let safe = (63 - t) as f32 + 1.0;
        [
            turned,
            above_10,
            1.0,
            1.0,
            safe,
            (block + (t + 1) % 64) as f32,
            1.0,
            1.0,
            turned,
        ]
    };
    equal(&out.to_vec()?, &(0..128).map(expected).collect::<Vec<_>>())
}

pub(crate) fn warps(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&counted(64))?;
    let mut out = device.buffer_filled(64, [f32::NAN; 15])?;
    launch(
        device,
        warps::entry(),
        LaunchConfig::blocks(1, 64),
        (x.slice(..), out.slice_mut(..)),
    )?;
    let expected = |i: usize| {
        let (lane, first) = (i % 32, i / 32 * 32);
        let v = i as f32;
        let before: f32 = (first..i).map(|i| i as f32).sum();
        let total: f32 = (first..first + 32).map(|i| i as f32).sum();
        [
            (first + 3) as f32,
            if lane == 0 { v } else { v - 1.0 },
            if lane % 16 == 15 { -1.0 } else { v + 1.0 },
            (first + (lane ^ 1)) as f32,
            1.0,
            15.0,
            1.0,
            16.0,
            1.0,
            496.0,
            total,
            (first + 31) as f32,
            before + v,
            before,
            (first + 2) as f32 + 7.0,
        ]
    };
    equal(&out.to_vec()?, &(0..64).map(expected).collect::<Vec<_>>())
}

/// Whole numbers in a mixed order, of which no two are equal: the least and the greatest are in the middle.
fn mixed(len: usize) -> Vec<f32> {
    (0..len)
        .map(|i| ((i * 37 + 11) % len) as f32 - 60.0)
        .collect()
}

pub(crate) fn blocks(device: &Device) -> Result<(), Failed> {
    // A part of a warp, several warps, and as many as a block has.
    for (count, threads) in [(3, 40), (5, 160), (2, 1024)] {
        blocks_of(device, count, threads)?;
    }
    Ok(())
}

fn blocks_of(device: &Device, count: usize, threads: usize) -> Result<(), Failed> {
    let len = count * threads;
    let values = mixed(len);
    let x = device.buffer_from(&values)?;
    let mut sums = device.buffer_zeroed::<u32>(workspace_words::<f32>(count))?;
    let mut places = device.buffer_zeroed::<u32>(workspace_words::<(f32, u32)>(count))?;
    let mut out = device.buffer_filled(len, [f32::NAN; 7])?;
    let mut all = device.buffer_filled(2 * count, f32::NAN)?;
    let arguments = (
        x.slice(..),
        sums.slice_mut(..),
        places.slice_mut(..),
        out.slice_mut(..),
        all.slice_mut(..).shaped([count, 2]),
    );
    let config = LaunchConfig::blocks(count as u64, threads as u32);
    launch(device, blocks::entry(), config, arguments)?;
    let expected = values.chunks(threads).flat_map(|block| {
        let greatest = block.iter().copied().fold(f32::MIN, f32::max);
        let place = block.iter().position(|it| *it == greatest);
        let (mut before, mut running) = (0.0, f32::MIN);
        block.iter().enumerate().map(move |(rank, v)| {
            running = running.max(*v);
            let told = [
                block.iter().sum(),
                greatest,
                place.unwrap_or(usize::MAX) as f32,
                before,
                running,
                rank as f32,
                threads as f32,
            ];
            before += v;
            told
        })
    });
    equal(&out.to_vec()?, &expected.collect::<Vec<_>>())?;
    // The block that comes last to the sum need not be the one that comes last to the place.
    let all = all.to_vec()?;
    let told_by = |column: usize| -> Vec<f32> {
        let told = all.iter().skip(column).step_by(2).copied();
        told.filter(|told| *told != -1.0).collect()
    };
    equal(&told_by(0), &[values.iter().sum()])?;
    let least = values.iter().position(|it| *it == -60.0);
    equal(&told_by(1), &[least.unwrap_or(usize::MAX) as f32])
}

/// Sums before each thread of grids of other shapes than the page's.
pub(crate) fn scans(device: &Device) -> Result<(), Failed> {
    for (count, threads) in [(1, 32), (5, 40), (4, 160), (2, 1024)] {
        let values = mixed(count * threads);
        let x = device.buffer_from(&values)?;
        let mut workspace = device.buffer_zeroed::<u32>(workspace_words::<f32>(count))?;
        let mut y = device.buffer_filled(values.len(), f32::NAN)?;
        let config = LaunchConfig::blocks(count as u64, threads as u32);
        let prepared = device.prepare_cooperative(scan_of_the_grid::entry(), config)?;
        let arguments = (x.slice(..), workspace.slice_mut(..), y.slice_mut(..));
        prepared.run(&Stream::new(device)?, arguments)?;
        let mut sum = 0.0;
        let expected = values.iter().map(|value| {
            sum += value;
            sum - value
        });
        equal(&y.to_vec()?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub(crate) fn dimensions(device: &Device) -> Result<(), Failed> {
    let mut buffers = Vec::new();
    for len in [6 * 7, 3 * 4 * 5, 4 * 9, 5] {
        buffers.push(device.buffer_filled(len, f32::NAN)?);
    }
    let [plane, volume, by_warps, by_blocks] = &mut buffers[..] else {
        return Err("four".into());
    };
    let arguments = (
        plane.slice_mut(..).shaped([6, 7]),
        volume.slice_mut(..).shaped([3, 4, 5]),
        by_warps.slice_mut(..).shaped([4, 9]),
        by_blocks.slice_mut(..).shaped([5, 1]),
    );
    launch(
        device,
        dimensions::entry(),
        LaunchConfig::grid([1, 2, 1], [8, 2, 2]),
        arguments,
    )?;
    let rows = |columns: usize, len: usize| {
        (0..len)
            .map(move |i| (10 * (i / columns) + i % columns) as f32)
            .collect::<Vec<_>>()
    };
    equal(&buffers[0].to_vec()?, &rows(7, 42))?;
    let voxel = |i: usize| (100 * (i / 20) + 10 * (i / 5 % 4) + i % 5) as f32;
    equal(
        &buffers[1].to_vec()?,
        &(0..60).map(voxel).collect::<Vec<_>>(),
    )?;
    equal(&buffers[2].to_vec()?, &rows(9, 36))?;
    equal(&buffers[3].to_vec()?, &[16.0; 5])
}

pub(crate) fn atomics(device: &Device) -> Result<(), Failed> {
    let mut words = device.buffer_from(&[0, 0, 0, 100u32, 0, 0, 0, 0])?;
    let (mut float, mut double) = (
        device.buffer_zeroed::<f32>(1)?,
        device.buffer_zeroed::<f64>(1)?,
    );
    let (mut flag, mut seen) = (
        device.buffer_zeroed::<u32>(1)?,
        device.buffer_zeroed::<u32>(1)?,
    );
    let arguments = (
        words.slice_mut(..),
        float.slice_mut(..),
        double.slice_mut(..),
        flag.slice_mut(..),
        seen.slice_mut(..),
    );
    launch(
        device,
        atomics::entry(),
        LaunchConfig::blocks(1, 64),
        arguments,
    )?;
    // 64 additions of one that begins again behind 9.
    equal(&words.to_vec()?, &[128, 64, 64, 36, 63, u32::MAX, 7, 4])?;
    equal(&float.to_vec()?, &[32.0])?;
    equal(&double.to_vec()?, &[32.0])?;
    let seen = seen.to_vec()?[0];
    match (1..=64).contains(&seen) {
        true => Ok(()),
        false => Err(format!("no thread wrote {seen}").into()),
    }
}

pub(crate) fn histogram(device: &Device) -> Result<(), Failed> {
    let bytes: Vec<u8> = (0..1000u32).map(|i| (i * i % 251) as u8).collect();
    let input = device.buffer_from(&bytes)?;
    let mut counts = device.buffer_zeroed::<u32>(256)?;
    let config = LaunchConfig::linear(1000, 64);
    let prepared = device.prepare(histogram_of_bytes::entry(), config)?;
    let stream = Stream::new(device)?;
    prepared.run(
        &stream,
        (counts.slice_mut(..).into_atomics(), input.slice(..)),
    )?;
    let mut expected = [0; 256];
    for byte in bytes {
        expected[usize::from(byte)] += 1;
    }
    equal(&counts.to_vec()?, &expected)
}

pub(crate) fn memory(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&counted(64))?;
    let mut y = device.buffer_filled(64, f32::NAN)?;
    launch(
        device,
        memory::entry(),
        LaunchConfig::blocks(1, 32),
        (x.slice(..), y.slice_mut(..)),
    )?;
    let expected = |i: usize| (i + i / 4 * 4 + if i % 4 == 3 { 5 } else { 0 }) as f32;
    equal(&y.to_vec()?, &(0..64).map(expected).collect::<Vec<_>>())
}

pub(crate) fn arithmetic(device: &Device) -> Result<(), Failed> {
    let (x, n) = (1.25f32, 0x0F0Fu32);
    let mut out = device.buffer_filled(3, [f32::NAN; 26])?;
    launch(
        device,
        arithmetic::entry(),
        LaunchConfig::blocks(1, 32),
        (x, n, out.slice_mut(..)),
    )?;
    let wide = f64::from(x);
    let expected: [f64; 26] = [
        2.5625,
        f64::from(x.next_down()),
        wide.sqrt(),
        1.0 / wide.sqrt(),
        wide.exp(),
        wide.exp(),
        wide.sin(),
        wide.cos(),
        0.922_900_128_256_458,
        1.0,
        1.0,
        0.0,
        wide,
        1.0,
        1.0,
        8.0,
        20.0,
        1.0,
        n.reverse_bits().into(),
        n.rotate_left(4).into(),
        0.0,
        n.swap_bytes().into(),
        (n - 1).into(),
        1.25,
        1.25,
        2.0,
    ];
    for told in out.to_vec()? {
        for (place, (told, expected)) in told.iter().zip(expected).enumerate() {
            let error = (f64::from(*told) - expected).abs();
            if error.is_nan() || error > 1e-6 * expected.abs() {
                return Err(format!("number {place} is {told}, not {expected}").into());
            }
        }
    }
    Ok(())
}

pub(crate) fn debugging(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&counted(5))?;
    let mut out = device.buffer_filled(64, [u64::MAX; 3])?;
    launch(
        device,
        debugging::entry(),
        LaunchConfig::blocks(1, 64),
        (x.slice(..), out.slice_mut(..)),
    )?;
    for (thread, [cycles, machine, lane]) in out.to_vec()?.into_iter().enumerate() {
        if cycles > 1 << 40 || machine != 1 || lane != thread as u64 % 32 {
            return Err(format!("thread {thread}: {cycles} cycles, {machine}, lane {lane}").into());
        }
    }
    Ok(())
}
