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
    // Both blocks count launches.
    let mut told = device.buffer_filled(64, [f32::NAN; 4])?;
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
    let weights = [9.0, 18.0, 36.0].into_iter().cycle();
    let expected: Vec<_> = weights
        .map(|weighed| [weighed, 8.0, 6.5, 1.0])
        .take(64)
        .collect();
    equal(&told.to_vec()?, &expected)
}

/// An output without elements, which no thread has one of.
pub(crate) fn nothing(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&counted(8))?;
    let mut floats = device.buffer_filled(8, f32::NAN)?;
    let mut words = device.buffer_filled(8, u64::MAX)?;
    let mut told = device.buffer_filled(8, [f32::NAN; 4])?;
    let mut places = device.buffer_filled(8, [u32::MAX; 12])?;
    let mut numbers = device.buffer_filled(8, [f32::NAN; 26])?;
    let mut times = device.buffer_filled(8, [u64::MAX; 3])?;
    let with = Affine {
        factor: 3.0,
        offset: 0.5,
    };
    let one = LaunchConfig::blocks(1, 32);
    let empty = (x.slice(..), floats.slice_mut(..0), 2.0);
    launch(device, scale::entry(), one, empty)?;
    launch(device, clear::entry(), one, (floats.slice_mut(..0),))?;
    launch(device, fill_f32::entry(), one, (floats.slice_mut(..0), 3.0))?;
    launch(device, fill_u64::entry(), one, (words.slice_mut(..0), 9))?;
    let empty = (with, told.slice_mut(..0));
    launch(device, functions_and_variables::entry(), one, empty)?;
    launch(device, indices::entry(), one, (places.slice_mut(..0),))?;
    let empty = (1.25, 0x0F0F, numbers.slice_mut(..0));
    launch(device, arithmetic::entry(), one, empty)?;
    let empty = (x.slice(..), times.slice_mut(..0));
    launch(device, debugging::entry(), one, empty)?;
    equal(&words.to_vec()?, &[u64::MAX; 8])?;
    equal(&places.to_vec()?, &[[u32::MAX; 12]; 8])?;
    equal(&times.to_vec()?, &[[u64::MAX; 3]; 8])?;
    let floats = [
        floats.to_vec()?,
        told.to_vec()?.concat(),
        numbers.to_vec()?.concat(),
    ]
    .concat();
    match floats.iter().all(|it| it.is_nan()) {
        true => Ok(()),
        false => Err("something was written".into()),
    }
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

/// A grid's blocks and a block's threads, by dimensions.
type Shape = ([u32; 3], [u32; 3]);

/// Of each thread of a grid, block after block: its index along x alone, and its value, which is that of this index.
fn threads_of((grid, block): Shape, values: &[f32]) -> Vec<(usize, f32)> {
    let count = |extents: [u32; 3]| extents.iter().product::<u32>();
    let mut all = Vec::new();
    for number in 0..count(grid) {
        for thread in 0..count(block) {
            let index = (number % grid[0] * block[0] + thread % block[0]) as usize;
            all.push((index, values[index]));
        }
    }
    all
}

pub(crate) fn blocks(device: &Device) -> Result<(), Failed> {
    // A part of a warp, several warps, as many as a block has, and several dimensions.
    let shapes = [
        ([3, 1, 1], [40, 1, 1]),
        ([5, 1, 1], [160, 1, 1]),
        ([2, 1, 1], [1024, 1, 1]),
        ([2, 3, 1], [20, 3, 2]),
        ([1, 2, 2], [16, 2, 2]),
    ];
    shapes
        .into_iter()
        .try_for_each(|shape| blocks_of(device, shape))
}

fn blocks_of(device: &Device, shape: Shape) -> Result<(), Failed> {
    let (grid, block) = shape;
    let [count, size] = [grid, block].map(|extents| extents.iter().product::<u32>() as usize);
    let values = mixed((grid[0] * block[0]) as usize);
    let threads = threads_of(shape, &values);
    let x = device.buffer_from(&values)?;
    let mut sums = device.buffer_zeroed::<u32>(workspace_words::<f32>(count))?;
    let mut places = device.buffer_zeroed::<u32>(workspace_words::<(f32, u32)>(count))?;
    let expected = threads.chunks(size).flat_map(|threads| {
        let (place, greatest) = threads.iter().fold((0, f32::MIN), |greatest, it| {
            if it.1 > greatest.1 { *it } else { greatest }
        });
        let (mut before, mut running) = (0.0, f32::MIN);
        threads.iter().enumerate().map(move |(rank, (_, v))| {
            running = running.max(*v);
            let told = [
                threads.iter().map(|(_, v)| v).sum(),
                greatest,
                (place % block[0] as usize) as f32,
                before,
                running,
                rank as f32,
                size as f32,
            ];
            before += v;
            told
        })
    });
    let expected: Vec<_> = expected.collect();
    // More rows than blocks, and more columns than a warp has lanes.
    let (rows, columns) = (2 * count + 1, 70);
    for elements in [threads.len() - 7, threads.len() + 9] {
        let mut out = device.buffer_filled(threads.len() + 9, [7.0; 7])?;
        let mut all = device.buffer_filled(rows * columns, f32::NAN)?;
        let arguments = (
            x.slice(..),
            sums.slice_mut(..),
            places.slice_mut(..),
            out.slice_mut(..elements),
            all.slice_mut(..).shaped([rows, columns]),
        );
        let config = LaunchConfig::grid(grid.map(u64::from), block);
        launch(device, blocks::entry(), config, arguments)?;
        let mut expected: Vec<_> = expected.iter().copied().cycle().take(elements).collect();
        expected.resize(threads.len() + 9, [7.0; 7]);
        equal(&out.to_vec()?, &expected)?;
        let all = all.to_vec()?;
        let told: Vec<f32> = all.iter().step_by(columns).copied().collect();
        of_the_last(&told, count, threads.iter().map(|(_, v)| v).sum())?;
        // The block that comes last to the sum need not be the one that comes last to the place.
        let least = values.iter().position(|it| *it == -60.0);
        for column in 1..columns {
            let told: Vec<f32> = all.iter().skip(column).step_by(columns).copied().collect();
            of_the_last(&told, count, least.unwrap_or(usize::MAX) as f32)?;
        }
    }
    Ok(())
}

/// One of so many blocks knows the result, in each of its rows, and the others say -1.
fn of_the_last(told: &[f32], blocks: usize, result: f32) -> Result<(), Failed> {
    let last = told.iter().position(|it| *it != -1.0).unwrap_or(0);
    let of_row = |row: usize| if row % blocks == last { result } else { -1.0 };
    equal(told, &(0..told.len()).map(of_row).collect::<Vec<_>>())
}

/// Sums before each thread of grids of other shapes than the page's, twice with one workspace.
pub(crate) fn scans(device: &Device) -> Result<(), Failed> {
    let shapes = [
        ([1, 1, 1], [32, 1, 1]),
        ([5, 1, 1], [40, 1, 1]),
        ([4, 1, 1], [160, 1, 1]),
        ([2, 1, 1], [1024, 1, 1]),
        ([2, 1, 2], [16, 2, 2]),
    ];
    for shape in shapes {
        let (grid, block) = shape;
        let values = mixed((grid[0] * block[0]) as usize);
        let threads = threads_of(shape, &values);
        let x = device.buffer_from(&values)?;
        let words = workspace_words::<f32>(grid.iter().product::<u32>() as usize);
        let mut workspace = device.buffer_zeroed::<u32>(words)?;
        // Of two elements a thread writes the same to both.
        let mut y = device.buffer_filled(threads.len() + 9, f32::NAN)?;
        let config = LaunchConfig::grid(grid.map(u64::from), block);
        let prepared = device.prepare_cooperative(scan_of_the_grid::entry(), config)?;
        let mut sum = 0.0;
        let expected = threads.iter().map(|(_, value)| {
            sum += value;
            sum - value
        });
        let mut expected: Vec<f32> = expected.collect();
        expected.extend_from_within(..9);
        for _ in 0..2 {
            let arguments = (x.slice(..), workspace.slice_mut(..), y.slice_mut(..));
            prepared.run(&Stream::new(device)?, arguments)?;
            equal(&y.to_vec()?, &expected)?;
        }
        let arguments = (x.slice(..), workspace.slice_mut(..), y.slice_mut(..0));
        prepared.run(&Stream::new(device)?, arguments)?;
        equal(&y.to_vec()?, &expected)?;
    }
    Ok(())
}

/// Grids with threads for some of the elements, for all of them, and for more; blocks of several warps.
pub(crate) fn dimensions(device: &Device) -> Result<(), Failed> {
    let shapes = [
        ([1, 2, 1], [8, 2, 2]),
        ([2, 3, 2], [5, 3, 3]),
        ([3, 3, 1], [2, 2, 1]),
        ([1, 1, 3], [5, 4, 2]),
        ([1, 1, 1], [2, 2, 3]),
        ([1, 1, 2], [3, 1, 1]),
        ([1, 1, 1], [8, 8, 4]),
        ([1, 1, 1], [16, 8, 8]),
    ];
    let mut all = shapes.into_iter();
    all.try_for_each(|shape| dimensions_of(device, shape))
}

fn dimensions_of(device: &Device, (grid, block): Shape) -> Result<(), Failed> {
    let mut buffers = Vec::new();
    for len in [6 * 7, 7 * 4 * 5, 4 * 9, 5] {
        buffers.push(device.buffer_filled(len, f32::NAN)?);
    }
    let [plane, volume, by_warps, by_blocks] = &mut buffers[..] else {
        return Err("four".into());
    };
    let arguments = (
        plane.slice_mut(..).shaped([6, 7]),
        volume.slice_mut(..).shaped([7, 4, 5]),
        by_warps.slice_mut(..).shaped([4, 9]),
        by_blocks.slice_mut(..).shaped([5, 1]),
    );
    let config = LaunchConfig::grid(grid.map(u64::from), block);
    launch(device, dimensions::entry(), config, arguments)?;
    let rows = |columns: usize, len: usize| {
        (0..len)
            .map(move |i| (10 * (i / columns) + i % columns) as f32)
            .collect::<Vec<_>>()
    };
    equal(&buffers[0].to_vec()?, &rows(7, 42))?;
    let voxel = |i: usize| (100 * (i / 20) + 10 * (i / 5 % 4) + i % 5) as f32;
    equal(
        &buffers[1].to_vec()?,
        &(0..140).map(voxel).collect::<Vec<_>>(),
    )?;
    equal(&buffers[2].to_vec()?, &rows(9, 36))?;
    let sum: u32 = (0..block.iter().product::<u32>()).sum();
    equal(&buffers[3].to_vec()?, &[sum as f32; 5])
}

/// Two blocks, and one thread alone, which must be the first.
pub(crate) fn atomics(device: &Device) -> Result<(), Failed> {
    let told = atomics_by(device, LaunchConfig::blocks(2, 64))?;
    // 128 additions of one that begins again behind 9.
    let expected = [256, 0, 128, 100 - 128, 127, -1, 7, 8];
    equal(&told.words, &expected.map(|word: i32| word as u32))?;
    equal(&told.counts, &[64, 64])?;
    equal(&told.floats, &[64.0, 64.0])?;
    if !(1..=128).contains(&told.first) {
        return Err(format!("no thread wrote {}", told.first).into());
    }
    let told = atomics_by(device, LaunchConfig::blocks(1, 1))?;
    equal(&told.words, &[2, 0, 1, 99, 0, 1, 7, 1])?;
    equal(&told.counts, &[1, 0])?;
    equal(&told.floats, &[0.5, 0.5])?;
    equal(&[told.first], &[1])
}

/// Words that atomics have changed.
struct Changed {
    words: Vec<u32>,
    /// Of each block.
    counts: Vec<u32>,
    floats: [f64; 2],
    /// The thread that came first, from 1.
    first: u32,
}

fn atomics_by(device: &Device, config: LaunchConfig) -> Result<Changed, Failed> {
    let mut words = device.buffer_from(&[0, 0, 0, 100u32, 0, 0, 0, 0])?;
    let mut counts = device.buffer_zeroed::<u32>(2)?;
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
        counts.slice_mut(..),
        float.slice_mut(..),
        double.slice_mut(..),
        flag.slice_mut(..),
        seen.slice_mut(..),
    );
    launch(device, atomics::entry(), config, arguments)?;
    Ok(Changed {
        words: words.to_vec()?,
        counts: counts.to_vec()?,
        floats: [float.to_vec()?[0].into(), double.to_vec()?[0]],
        first: seen.to_vec()?[0],
    })
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

/// Numbers where functions go another way, with the values of the error function there.
pub(crate) fn arithmetic(device: &Device) -> Result<(), Failed> {
    arithmetic_of(device, 1.25, 0.922_900_128_256_458, 0x0F0F)?;
    arithmetic_of(device, 0.5, 0.520_499_877_813_046_5, 0)?;
    arithmetic_of(device, 1.0, 0.842_700_792_949_714_9, 1)?;
    arithmetic_of(device, -2.75, -0.999_899_378_077_88, 0xF000_0003)?;
    arithmetic_of(device, -0.0625, -0.070_431_949_222_765_16, 0x8000_0000)?;
    arithmetic_of(device, 3.5, 0.999_999_256_901_627_6, u32::MAX)?;
    for limit in [1u32 << 31, 1 << 30].map(|limit| limit as f32) {
        arithmetic_of(device, limit, 1.0, 0x1234_5678)?;
        arithmetic_of(device, -limit, -1.0, 0x1234_5678)?;
        arithmetic_of(device, -2.0 * limit, -1.0, 0x1234_5678)?;
    }
    arithmetic_of(device, f32::NAN, f64::NAN, 0x1234_5678)
}

fn arithmetic_of(device: &Device, x: f32, error_function: f64, n: u32) -> Result<(), Failed> {
    let mut out = device.buffer_filled(3, [f32::NAN; 26])?;
    launch(
        device,
        arithmetic::entry(),
        LaunchConfig::blocks(1, 32),
        (x, n, out.slice_mut(..)),
    )?;
    let wide = f64::from(x);
    let rounded = |n: u32| f64::from(n as f32);
    let expected: [f64; 26] = [
        wide.mul_add(wide, 1.0),
        f64::from(x.next_down()),
        wide.sqrt(),
        1.0 / wide.sqrt(),
        f64::from(wide.exp() as f32),
        f64::from(wide.exp() as f32),
        wide.sin(),
        wide.cos(),
        error_function,
        x.min(1.0).into(),
        x.round_ties_even().into(),
        x.is_nan().into(),
        wide,
        f64::from(x as i32 as f32),
        f64::from(x.round_ties_even() as i32 as f32),
        n.count_ones().into(),
        n.leading_zeros().into(),
        if n == 0 {
            0.0
        } else {
            (n.trailing_zeros() + 1).into()
        },
        rounded(n.reverse_bits()),
        rounded(n.rotate_left(4)),
        rounded(((u64::from(n) * u64::from(n)) >> 32) as u32),
        rounded(n.swap_bytes()),
        rounded(n.wrapping_sub(1)),
        // Halves end at 65504; of the others here all have so few bits that they are halves.
        if x.abs() > 65504.0 {
            wide * f64::INFINITY
        } else {
            wide
        },
        wide,
        2.0,
    ];
    for told in out.to_vec()? {
        for (place, (told, expected)) in told.iter().zip(expected).enumerate() {
            let told = f64::from(*told);
            let is_same = told == expected || told.is_nan() && expected.is_nan();
            let error = (told - expected).abs();
            // Sums, rounding, bits and conversions are exact; functions are so to a few bits.
            let is_exact = place == 1 || place >= 9;
            if !is_same && (is_exact || error.is_nan() || error > 1e-6 * expected.abs()) {
                return Err(format!("of {x}: number {place} is {told}, not {expected}").into());
            }
        }
    }
    Ok(())
}

pub(crate) fn debugging(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&counted(5))?;
    for (grid, block) in [([1, 1, 1], [64, 1, 1]), ([1, 2, 1], [8, 2, 2])] {
        // The first threads have two elements each.
        let mut out = device.buffer_filled(69, [u64::MAX; 3])?;
        let arguments = (x.slice(..), out.slice_mut(..));
        let config = LaunchConfig::grid(grid, block);
        launch(device, debugging::entry(), config, arguments)?;
        for (element, [cycles, machine, lane]) in out.to_vec()?.into_iter().enumerate() {
            let thread = element % 64;
            if cycles > 1 << 40 || machine != 1 || lane != thread as u64 % 32 {
                let told = format!("thread {thread}: {cycles} cycles, {machine}, lane {lane}");
                return Err(told.into());
            }
        }
    }
    Ok(())
}

/// Kernels that index without a check of their own: an element that is not there ends the launch. On the emulator
/// alone, as nothing runs on a GPU after a panic.
pub(crate) fn panics() -> Result<(), Failed> {
    let device = gpu_test::emulator(examples::ptx())?;
    let x = device.buffer_from(&counted(64))?;
    let bytes = device.buffer_from(&[3u8; 10])?;
    let mut out = device.buffer_filled(64, [f32::NAN; 9])?;
    let mut exchanged = device.buffer_filled(64, [f32::NAN; 15])?;
    let mut times = device.buffer_filled(64, [0u64; 3])?;
    let mut counts = device.buffer_zeroed::<u32>(3)?;
    let block = LaunchConfig::blocks(1, 64);
    let with_shared = block.with_dynamic_shared(256);
    let arguments = (x.slice(..63), out.slice_mut(..));
    let of_shared = launch(&device, shared_memory::entry(), with_shared, arguments);
    let arguments = (x.slice(..63), exchanged.slice_mut(..));
    let of_warps = launch(&device, warps::entry(), block, arguments);
    let arguments = (x.slice(..0), times.slice_mut(..));
    let of_debugging = launch(&device, debugging::entry(), block, arguments);
    let arguments = (counts.slice_mut(..).into_atomics(), bytes.slice(..));
    let of_histogram = launch(&device, histogram_of_bytes::entry(), block, arguments);
    let errors = [
        (of_shared, "index out of bounds"),
        (of_warps, "index out of bounds"),
        (of_debugging, "panicked at"),
        (of_histogram, "index out of bounds"),
    ];
    for (result, expected) in errors {
        let error = result
            .err()
            .ok_or_else(|| format!("no error with {expected:?}"))?;
        let error = error.message().unwrap_or_default();
        if !error.contains(expected) {
            return Err(format!("{error:?} does not say {expected:?}").into());
        }
    }
    Ok(())
}
