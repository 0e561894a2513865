//! Every item of ptx-std on the emulator and on a GPU, against what the host works out by itself.
//! Items without a case here: see docs/writing-kernels.md.

use conformance::ptx;
use conformance_kernels::{memory, migrated, output, thread, warp};
use cuda_std::glam::UVec2;
use gpu_test::{Arguments, Device, Failed, Trial, equal, on_both};
use ridgepoint::driver::{Shape, Stream};

type Case = fn(&Device) -> Result<(), Failed>;

const CASES: &[(&str, Case)] = &[
    ("thread::places", places),
    ("thread::barriers", barriers),
    ("thread::fences", fences),
    ("thread::convergence", convergence),
    ("warp::votes", votes),
    ("warp::matches", matches),
    ("warp::reductions", reductions),
    ("warp::shuffles", shuffles),
    ("warp::shuffled_types", shuffled_types),
    ("shared::values_of_1_to_16_bytes", values_of_1_to_16_bytes),
    ("shared::generic_arrays", generic_arrays),
    ("shared::unrolled", unrolled),
    ("shared::statics", statics),
    ("shared::dynamic", dynamic),
    ("mem::heap", heap),
    ("kernel::generic", generic_kernels),
    ("kernel::parameters", parameters),
    ("kernel::bounds", bounds),
    ("migrated::vecadd", vecadd),
    ("migrated::gemm_tiled", gemm_tiled),
    ("migrated::mandelbrot", mandelbrot),
];

fn main() {
    let trials: Vec<Trial> = CASES
        .iter()
        .flat_map(|&(name, case)| on_both(name, ptx(), case))
        .collect();
    gpu_test::run(&Arguments::from_args(), trials).exit();
}

/// Launches a kernel and waits for it.
macro_rules! launch {
    ($device:expr, $entry:expr, $shape:expr, $($argument:expr),*) => {{
        let prepared = $device.prepare($entry, $shape)?;
        let stream = Stream::new($device)?;
        // SAFETY: each case gives the buffers that its kernel asks for, and waits here.
        unsafe { prepared.launch(&stream, &($($argument,)*)) }?;
        stream.synchronize()?;
    }};
}

/// What the threads of a kernel write: `per_thread` words each.
macro_rules! words {
    ($device:expr, $entry:expr, $shape:expr, $per_thread:expr $(, $argument:expr)*) => {{
        let shape: Shape = $shape;
        let blocks: u64 = shape.grid.iter().product();
        let words = (blocks * shape.block_threads()) as usize * $per_thread;
        let mut out = $device.buffer_filled(words, u64::MAX)?;
        launch!($device, $entry, shape, out.slice_mut() $(, $argument)*);
        out.to_vec()?
    }};
}

/// The words that each thread of a one-dimensional launch should have written.
fn expected<const N: usize>(shape: Shape, of_thread: impl Fn(u32, u32) -> [u64; N]) -> Vec<u64> {
    let blocks = 0..shape.grid[0] as u32;
    let threads = move |block| (0..shape.block[0]).map(move |thread| (block, thread));
    blocks
        .flat_map(threads)
        .flat_map(|(block, thread)| of_thread(block, thread))
        .collect()
}

fn places(device: &Device) -> Result<(), Failed> {
    let grid = [2u32, 3, 2];
    let block = [5u32, 3, 2];
    let shape = Shape {
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
        let shape = Shape::blocks(3, threads);
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
    let shape = Shape::blocks(BLOCKS, 32);
    launch!(
        device,
        thread::fences::entry(),
        shape,
        out.slice_mut(),
        arrived.slice_mut()
    );
    let mut expected: Vec<u64> = (1..=BLOCKS).collect();
    expected.push(BLOCKS * (BLOCKS + 1) / 2);
    equal(&out.to_vec()?, &expected)
}

fn convergence(device: &Device) -> Result<(), Failed> {
    for (threads, rounds) in [(64, 0), (64, 1), (33, 5), (1, 3)] {
        let shape = Shape::blocks(2, threads);
        let actual = words!(device, thread::convergence::entry(), shape, 1, rounds);
        let expected = expected(shape, |_, own| {
            let from = u64::from((own + rounds) % threads);
            [if from % 2 == 1 { from * 10 } else { from }]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

/// The lanes of the thread's warp, in a block of so many threads.
fn lanes(thread: u32, threads: u32) -> std::ops::Range<u32> {
    let first = thread / 32 * 32;
    0..(threads - first).min(32)
}

/// The lanes for which it holds, as a mask.
fn mask(lanes: std::ops::Range<u32>, holds: impl Fn(u32) -> bool) -> u64 {
    lanes
        .filter(|&lane| holds(lane))
        .map(|lane| 1 << lane)
        .sum()
}

fn votes(device: &Device) -> Result<(), Failed> {
    for threads in [32, 64, 33, 70, 1] {
        let shape = Shape::blocks(2, threads);
        let actual = words!(device, warp::votes::entry(), shape, 10);
        let expected = expected(shape, |_, thread| {
            let (lane, lanes) = (thread % 32, lanes(thread, threads));
            let all = mask(lanes.clone(), |_| true);
            let has_2 = lanes.contains(&2);
            [
                lane.into(),
                all,
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
        let shape = Shape::blocks(1, threads);
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
        let shape = Shape::blocks(2, threads);
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
            let shape = Shape::blocks(1, 64);
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

fn with(error: Failed, what: &str) -> Failed {
    format!("{what}: {}", error.message().unwrap_or_default()).into()
}

fn shuffled_types(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(1, 32);
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

fn values_of_1_to_16_bytes(device: &Device) -> Result<(), Failed> {
    const COUNT: usize = 3 * memory::BLOCK;
    macro_rules! turned {
        ($entry:expr, $value:expr) => {{
            let values: Vec<_> = (0..COUNT as u64).map($value).collect();
            let mut buffer = device.buffer_from(&values)?;
            launch!(device, $entry, Shape::blocks(3, 64), buffer.slice_mut());
            let expected: Vec<_> = values
                .chunks(memory::BLOCK)
                .flat_map(|block| block.iter().rev().copied())
                .collect();
            equal(&buffer.to_vec()?, &expected)?;
        }};
    }
    turned!(memory::turn_1::entry(), |i| i as u8);
    turned!(memory::turn_2::entry(), |i| i as u16 * 300);
    turned!(memory::turn_4::entry(), |i| i as u32 * 300_000);
    turned!(memory::turn_8::entry(), |i| i << 40 | i);
    turned!(memory::turn_12::entry(), |i| [i as u32, 7, i as u32 * 9]);
    turned!(memory::turn_16::entry(), |i| [i, i << 50]);
    Ok(())
}

fn generic_arrays(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(2, 64);
    let actual = words!(device, memory::generic_arrays::entry(), shape, 2);
    let expected = expected(shape, |_, own| {
        let other = 63 - own;
        [other.into(), (-(other as f32)).to_bits().into()]
    });
    equal(&actual, &expected)
}

fn unrolled(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(2, 64);
    let actual = words!(device, memory::unrolled::entry(), shape, 1);
    let expected = expected(shape, |_, own| {
        [(0..4).map(|round| u64::from((own + round) % 64)).sum()]
    });
    equal(&actual, &expected)
}

fn statics(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(2, 64);
    let actual = words!(device, memory::statics::entry(), shape, 3);
    let expected = expected(shape, |_, own| {
        let at = own as usize % 8;
        [
            u64::from(63 - own) * 3,
            [3, 1, 4, 1, 5, 9, 2, 6][at],
            [2, 3, 5, 7, 11, 13, 17, 19][at],
        ]
    });
    equal(&actual, &expected)
}

fn dynamic(device: &Device) -> Result<(), Failed> {
    // The second is more than a block has without being asked for.
    for (threads, bytes) in [(100, 400), (256, 100 * 1024)] {
        let shape = Shape::blocks(2, threads).with_dynamic_shared(bytes);
        let actual = words!(device, memory::dynamic::entry(), shape, 3);
        let expected = expected(shape, |_, own| {
            [u64::from(threads - 1 - own) + 7, bytes.into(), 1]
        });
        equal(&actual, &expected)?;
    }
    let too_much = Shape::blocks(1, 32).with_dynamic_shared(228 * 1024);
    refused(
        device,
        memory::dynamic::entry(),
        too_much,
        "bytes of dynamic shared memory",
    )
}

fn heap(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(2, 64);
    let actual = words!(device, memory::heap::entry(), shape, 1);
    let expected = expected(shape, |_, own| [(0..10 + u64::from(own)).sum()]);
    equal(&actual, &expected)
}

fn generic_kernels(device: &Device) -> Result<(), Failed> {
    for n in [0usize, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537] {
        let shape = Shape::blocks(3, 96);
        macro_rules! scaled {
            ($entry:expr, $factor:expr, $value:expr) => {{
                let values: Vec<_> = (0..n).map($value).collect();
                let mut buffer = device.buffer_from(&values)?;
                launch!(device, $entry, shape, $factor, buffer.slice_mut());
                let expected: Vec<_> = values.iter().map(|value| value * $factor).collect();
                equal(&buffer.to_vec()?, &expected)?;
            }};
        }
        scaled!(output::scale_f32::entry(), 1.1f32, |i| i as f32);
        scaled!(output::scale_f64::entry(), 1.1f64, |i| i as f64);
        scaled!(output::scale_i32::entry(), -3i32, |i| i as i32);

        let groups: Vec<[u32; 3]> = (0..n as u32).map(|i| [i, 2 * i, 7]).collect();
        let input = device.buffer_from(&groups)?;
        let mut sums = device.buffer_filled(n, 0u32)?;
        launch!(
            device,
            output::add_3::entry(),
            shape,
            input.slice(),
            sums.slice_mut()
        );
        let expected: Vec<u32> = groups.iter().map(|group| group.iter().sum()).collect();
        equal(&sums.to_vec()?, &expected)?;
    }
    let input = device.buffer_from(&[[1u32, 2], [3, 4]])?;
    let mut sums = device.buffer_filled(2, 0u32)?;
    let shape = Shape::blocks(1, 32);
    launch!(
        device,
        output::add_2::entry(),
        shape,
        input.slice(),
        sums.slice_mut()
    );
    equal(&sums.to_vec()?, &[3, 7])
}

fn parameters(device: &Device) -> Result<(), Failed> {
    let mixed = output::Mixed {
        small: 5,
        large: 1 << 40,
        array: [0, 0, 70],
    };
    let one = device.buffer_from(&[1000u32])?;
    let several = device.buffer_from(&[1u16, 2, 3])?;
    let mut out = device.buffer_filled(1, 0u64)?;
    launch!(
        device,
        output::parameters::entry(),
        Shape::blocks(1, 32),
        output::Unit,
        mixed,
        [0, 20_000, 0],
        true,
        one.slice(),
        several.slice(),
        out.slice_mut()
    );
    equal(
        &out.to_vec()?,
        &[(1 << 40) + 5 + 70 + 20_000 + 1 + 1000 + 6],
    )
}

fn bounds(device: &Device) -> Result<(), Failed> {
    let entry = output::add_3::entry();
    refused(device, entry, Shape::blocks(1, 256), "allows 1 to 128")?;
    let entry = memory::statics::entry();
    refused(device, entry, Shape::blocks(1, 32), "requires [64, 1, 1]")?;
    let shape = Shape {
        grid: [1, 1, 1],
        block: [1, 1, 128],
        dynamic_shared: 0,
    };
    refused(device, warp::votes::entry(), shape, "128 threads in z")?;
    let shape = Shape {
        grid: [1, 65_536, 1],
        ..Shape::blocks(1, 32)
    };
    refused(device, warp::votes::entry(), shape, "65536 blocks in y")
}

/// That the launch is an error before it begins, and which.
fn refused<S: cuda_std::launch::Signature>(
    device: &Device,
    entry: cuda_std::launch::Entry<S>,
    shape: Shape,
    why: &str,
) -> Result<(), Failed> {
    match device.prepare(entry, shape) {
        Ok(_) => Err(format!("{shape:?} was allowed").into()),
        Err(error) if error.to_string().contains(why) => Ok(()),
        Err(error) => Err(format!("{error} does not say {why:?}").into()),
    }
}

fn vecadd(device: &Device) -> Result<(), Failed> {
    for n in [1usize, 33, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let a_buffer = device.buffer_from(&a)?;
        let mut c = device.buffer_filled(n, f32::NAN)?;
        let shape = Shape::linear(n as u64, 128);
        let entry = migrated::vecadd::entry();
        launch!(
            device,
            entry,
            shape,
            a_buffer.slice(),
            a_buffer.slice(),
            c.slice_mut()
        );
        let expected: Vec<f32> = a.iter().map(|x| x + x).collect();
        equal(&c.to_vec()?, &expected)?;
    }
    Ok(())
}

fn gemm_tiled(device: &Device) -> Result<(), Failed> {
    for n in [1usize, 16, 33, 100] {
        // Small whole numbers, whose products and sums have no rounding error.
        let matrix = |seed: usize| -> Vec<f32> {
            (0..n * n).map(|i| ((i * seed) % 7) as f32 - 3.0).collect()
        };
        let (a, b) = (matrix(3), matrix(5));
        let (a_buffer, b_buffer) = (device.buffer_from(&a)?, device.buffer_from(&b)?);
        let mut c = device.buffer_filled(n * n, 1.0f32)?;
        launch!(
            device,
            migrated::gemm_tiled::entry(),
            Shape::tiles([n as u64; 2], [16, 16]),
            a_buffer.slice(),
            b_buffer.slice(),
            c.slice_mut(),
            n,
            2.0,
            3.0
        );
        let expected: Vec<f32> = (0..n * n)
            .map(|i| (i / n, i % n))
            .map(|(row, col)| (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum())
            .map(|sum: f32| 2.0 * sum + 3.0)
            .collect();
        equal(&c.to_vec()?, &expected)?;
    }
    Ok(())
}

fn mandelbrot(device: &Device) -> Result<(), Failed> {
    let size = UVec2::new(67, 41);
    let view = migrated::View {
        origin: (-2.0, -1.2),
        step: 0.05,
    };
    let mut pixels = device.buffer_filled((size.x * size.y) as usize, u32::MAX)?;
    let shape = Shape::tiles([size.x.into(), size.y.into()], [16, 8]);
    launch!(
        device,
        migrated::mandelbrot::entry(),
        shape,
        pixels.slice_mut(),
        size,
        view
    );
    let pixels = pixels.to_vec()?;
    let inside = pixels.iter().filter(|&&count| count == 100).count();
    let at_once = pixels.iter().filter(|&&count| count <= 1).count();
    // The set has an area of 1.507, each pixel of 1/400.
    if !(580..=640).contains(&inside) || at_once == 0 || pixels.iter().any(|&count| count > 100) {
        return Err(format!("{inside} pixels in the set, {at_once} far from it").into());
    }
    Ok(())
}
