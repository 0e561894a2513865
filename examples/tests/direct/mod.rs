//! The programs' kernels with what the programs do not launch them with, and all that each one writes.

use cuda_std::launch::{Entry, Kernel};
use example_kernels::{histogram, matmul, oscillator, path_tracer, reduction, saxpy, scan, sha256};
use gpu_test::{Device, Failed, Trial, equal, on_both};
use ridgepoint_driver::{LaunchConfig, Stream};

type Case = fn(&Device) -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let cases: [(&str, Case); 8] = [
        ("histogram", histograms),
        ("matmul", empty_products),
        ("oscillator", oscillators),
        ("path_tracer", images),
        ("reduction", sums),
        ("saxpy", saxpys),
        ("scan", scans),
        ("sha256", digests),
    ];
    let both = cases.map(|(name, case)| on_both(&format!("direct::{name}"), examples::ptx(), case));
    both.into_iter().flatten().collect()
}

/// Launches a kernel, and waits for it.
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

/// Counts that were there before, and blocks that take several rounds.
fn histograms(device: &Device) -> Result<(), Failed> {
    let bytes: Vec<u8> = (0..20_011u32).map(|i| (i * i % 251) as u8).collect();
    let device_bytes = device.buffer_from(&bytes)?;
    let mut counts = device.buffer_filled(histogram::BINS, 5u32)?;
    let arguments = (device_bytes.slice(..), counts.slice_mut(..));
    let config = LaunchConfig::blocks(2, histogram::BLOCK);
    launch(device, histogram::histogram::entry(), config, arguments)?;
    let mut expected = [5; histogram::BINS];
    for byte in bytes {
        expected[usize::from(byte)] += 1;
    }
    equal(&counts.to_vec()?, &expected)
}

/// Products of no terms: the matrices have elements that are not theirs.
fn empty_products(device: &Device) -> Result<(), Failed> {
    const ELEMENTS: usize = matmul::TILE * matmul::DEPTH;
    let a = device.buffer_filled(ELEMENTS, f32::NAN)?;
    let b = device.buffer_filled(ELEMENTS, f32::NAN)?;
    let mut c = device.buffer_filled(matmul::TILE * matmul::TILE, f32::NAN)?;
    let config = LaunchConfig::grid([1, 1, 1], [matmul::BLOCK[0], matmul::BLOCK[1], 1]);
    let arguments = (a.slice(..), b.slice(..), c.slice_mut(..), 0);
    launch(device, matmul::matmul::entry(), config, arguments)?;
    equal(&c.to_vec()?, &[0.0; matmul::TILE * matmul::TILE])
}

/// No step, one, and numbers of steps around those that are written out at once.
fn oscillators(device: &Device) -> Result<(), Failed> {
    for steps in [0, 1, 2, 3, 4, 5, 7, 8] {
        let parameters = oscillator::Parameters {
            stiffness: 40.0,
            damping: 0.5,
            step: 1e-2,
            steps,
        };
        let begin = |i: usize| oscillator::State {
            position: 1.0 + i as f32,
            velocity: -0.5 * i as f32,
        };
        let begun: Vec<_> = (0..70).map(begin).collect();
        for (elements, grid, block) in [
            (70, [2, 1, 1], [32, 1, 1]),
            (66, [2, 2, 1], [4, 2, 2]),
            (0, [1, 1, 1], [32, 1, 1]),
        ] {
            let mut states = device.buffer_from(&begun)?;
            let arguments = (parameters, states.slice_mut(..elements));
            let config = LaunchConfig::grid(grid, block);
            launch(device, oscillator::oscillate::entry(), config, arguments)?;
            for (i, actual) in states.to_vec()?.into_iter().enumerate() {
                let moved = oscillator::moved(parameters, begun[i]);
                let expected = if i < elements { moved } else { begun[i] };
                let close = |a: f32, b: f32| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
                if !close(actual.position, expected.position)
                    || !close(actual.velocity, expected.velocity)
                {
                    let told = format!("{steps} steps: {i} is at {actual:?}, not {expected:?}");
                    return Err(told.into());
                }
            }
        }
    }
    Ok(())
}

/// Images whose edges are not those of blocks, of several paths for each pixel, of one and of none.
fn images(device: &Device) -> Result<(), Failed> {
    for (width, height, samples) in [(50u32, 40u32, 8), (37, 61, 1), (3, 3, 0)] {
        let mut pixels = device.buffer_filled((width * height) as usize, [9u8; 4])?;
        let config = LaunchConfig::tiles([width.into(), height.into()], [16, 16]);
        let arguments = (pixels.slice_mut(..), width, height, samples);
        launch(device, path_tracer::trace::entry(), config, arguments)?;
        let (mut other, mut difference) = (0, 0i32);
        for (i, actual) in pixels.to_vec()?.into_iter().enumerate() {
            let (x, y) = (i as u32 % width, i as u32 / width);
            let expected = path_tracer::pixel(x, y, width, height, samples);
            let differences = [0, 1, 2, 3].map(|c| i32::from(actual[c]) - i32::from(expected[c]));
            match differences.iter().any(|it| it.abs() > 1) {
                true => other += 1,
                false => difference += differences.iter().map(|it| it.abs()).sum::<i32>(),
            }
        }
        // The host rounds otherwise: a path in some hundreds may take another way, and a channel in twenty be one off.
        let pixels = (width * height) as i32;
        if 50 * other > pixels || 20 * difference > pixels {
            let told = format!(
                "{other} of {pixels} pixels are others, channels are {difference} off in all"
            );
            return Err(told.into());
        }
    }
    Ok(())
}

/// Whole numbers, whose sums are exact: what each block adds up.
fn sums(device: &Device) -> Result<(), Failed> {
    let (block, width) = (reduction::BLOCK as usize, reduction::WIDTH);
    for (len, blocks) in [(1, 1), (7, 2), (1023, 1), (1024, 2), (5003, 3), (9001, 2)] {
        let host: Vec<f32> = (0..len).map(|i| (i * 37 % 1009) as f32).collect();
        let x = device.buffer_from(&host)?;
        let mut sums = device.buffer_filled(blocks, f32::NAN)?;
        let config = LaunchConfig::blocks(blocks as u64, reduction::BLOCK);
        let arguments = (x.slice(..), sums.slice_mut(..));
        launch(device, reduction::block_sums::entry(), config, arguments)?;
        // Vectors go round the threads of the grid, and the rest to the first of them.
        let mut expected = vec![0.0; blocks];
        let whole = len / width * width;
        for (i, value) in host.iter().enumerate() {
            let thread = if i < whole { i / width } else { i - whole };
            expected[thread / block % blocks] += value;
        }
        equal(&sums.to_vec()?, &expected)?;
    }
    Ok(())
}

/// A grid of several dimensions, fewer elements than threads, and none.
fn saxpys(device: &Device) -> Result<(), Failed> {
    let x = device.buffer_from(&(0..100).map(|i| i as f32).collect::<Vec<_>>())?;
    for (elements, grid, block) in [
        (100, [1, 1, 1], [32, 1, 1]),
        (100, [2, 3, 1], [4, 2, 2]),
        (90, [3, 1, 2], [8, 2, 1]),
        (0, [1, 1, 1], [32, 1, 1]),
    ] {
        let mut y = device.buffer_filled(100, 1.0f32)?;
        let config = LaunchConfig::grid(grid, block);
        let arguments = (2.0, x.slice(..), y.slice_mut(..elements));
        launch(device, saxpy::saxpy::entry(), config, arguments)?;
        let expected = (0..100).map(|i| {
            if i < elements {
                1.0 + 2.0 * i as f32
            } else {
                1.0
            }
        });
        equal(&y.to_vec()?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Each of the three launches by itself, with as many sums as several rounds of a block take.
fn scans(device: &Device) -> Result<(), Failed> {
    let mut untouched = device.buffer_filled(1, 5u32)?;
    let one = LaunchConfig::blocks(1, scan::BLOCK);
    launch(
        device,
        scan::scan_sums::entry(),
        one,
        (untouched.slice_mut(..), 0),
    )?;
    equal(&untouched.to_vec()?, &[5])?;
    for len in [1usize, 3, 1022, 1023, 1024, 1025, 2051, 4096, 9000] {
        let host: Vec<u32> = (0..len).map(|i| (i * 37 % 1009) as u32 + 1).collect();
        let x = device.buffer_from(&host)?;
        let tiles = len.div_ceil(scan::TILE);
        let mut sums = device.buffer_filled(tiles, u32::MAX)?;
        let config = LaunchConfig::blocks(tiles as u64, scan::BLOCK);
        let arguments = (x.slice(..), sums.slice_mut(..));
        launch(device, scan::tile_sums::entry(), config, arguments)?;
        let expected = host.chunks(scan::TILE).map(|tile| tile.iter().sum());
        equal(&sums.to_vec()?, &expected.collect::<Vec<u32>>())?;

        let before = |first: u32| -> Vec<u32> {
            let mut sum = first;
            let sums = host.iter().map(|it| {
                sum += it;
                sum - it
            });
            sums.collect()
        };
        // Elements behind the end are not touched.
        let mut scanned = device.buffer_from(&[&host[..], &[77; 5]].concat())?;
        let config = LaunchConfig::blocks(1, scan::BLOCK);
        let arguments = (scanned.slice_mut(..), len as u32);
        launch(device, scan::scan_sums::entry(), config, arguments)?;
        equal(&scanned.to_vec()?, &[&before(0)[..], &[77; 5]].concat())?;

        // Each tile begins with its own sum, and a tile without one is not written.
        let starts: Vec<u32> = (0..tiles as u32).map(|tile| 1000 * tile + 7).collect();
        let device_starts = device.buffer_from(&starts)?;
        let mut y = device.buffer_filled(len, u32::MAX)?;
        let config = LaunchConfig::blocks(tiles as u64 + 1, scan::BLOCK);
        let arguments = (x.slice(..), device_starts.slice(..), y.slice_mut(..));
        launch(device, scan::scan_tiles::entry(), config, arguments)?;
        let whole = before(0);
        let expected = (0..len).map(|i| {
            let tile = i / scan::TILE;
            whole[i] - whole[tile * scan::TILE] + starts[tile]
        });
        equal(&y.to_vec()?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// A grid of several dimensions, and no message.
fn digests(device: &Device) -> Result<(), Failed> {
    use sha2::{Digest, Sha256};

    let messages: Vec<[u8; sha256::MESSAGE]> =
        (0..20u8).map(|i| [i * 13; sha256::MESSAGE]).collect();
    let device_messages = device.buffer_from(&messages)?;
    for (elements, grid, block) in [(20, [2, 1, 2], [4, 2, 1]), (0, [1, 1, 1], [32, 1, 1])] {
        let mut digests = device.buffer_filled(20, [9u8; sha256::DIGEST])?;
        let config = LaunchConfig::grid(grid, block);
        let arguments = (device_messages.slice(..), digests.slice_mut(..elements));
        launch(device, sha256::sha256::entry(), config, arguments)?;
        let expected = messages
            .iter()
            .enumerate()
            .map(|(i, message)| match i < elements {
                true => Sha256::digest(message).into(),
                false => [9u8; sha256::DIGEST],
            });
        equal(&digests.to_vec()?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}
