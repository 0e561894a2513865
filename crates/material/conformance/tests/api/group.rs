//! `cuda_std::group`, and the outputs of warps, of blocks and of several dimensions.

use conformance::ptx;
use conformance_kernels::group;
use cuda_std::group::{Number, workspace_words};
use cuda_std::launch::{Entry, ShapedMut, Signature, Slice, SliceMut};
use gpu_test::{Device, Failed, emulator, equal};
use ridgepoint_driver::{
    DeviceBuffer, DeviceValue, DriverError, Emulation, LaunchConfig, Schedule, Stream,
};

use crate::support::{Case, launch, with};

pub(crate) const CASES: &[Case] = &[
    ("group::of_groups", of_groups),
    ("group::of_pairs", of_pairs),
    ("group::of_grid", of_grid),
    ("group::scan_of_grid", scan_of_grid),
    ("output::extents", extents),
    ("shared::tile", shared_tiles),
];

/// Blocks of whole warps, of partial ones, and of several dimensions.
fn shapes() -> Vec<LaunchConfig> {
    let shape = |grid: u64, block: [u32; 3]| LaunchConfig {
        block,
        ..LaunchConfig::blocks(grid, 1)
    };
    vec![
        shape(2, [32, 1, 1]),
        shape(3, [1, 1, 1]),
        shape(2, [45, 1, 1]),
        shape(1, [8, 5, 3]),
        shape(1, [1000, 1, 1]),
        shape(1, [16, 64, 1]),
    ]
}

fn threads(shape: &LaunchConfig) -> usize {
    shape.grid.iter().product::<u64>() as usize * shape.block_threads() as usize
}

/// Neighbours first, then neighbouring pairs.
fn tree<T: Copy>(values: &[T], op: impl Fn(T, T) -> T) -> T {
    let mut values = values.to_vec();
    while values.len() > 1 {
        values = values
            .chunks(2)
            .map(|two| two[1..].iter().fold(two[0], |a, b| op(a, *b)))
            .collect();
    }
    values[0]
}

/// Returns the result of a block's `reduce`.
fn block_tree<T: Copy>(values: &[T], op: impl Fn(T, T) -> T) -> T {
    let of_warps: Vec<T> = values.chunks(32).map(|warp| tree(warp, &op)).collect();
    tree(&of_warps, op)
}

/// Returns the result of each lane's `scan`, the lane's own value included.
fn lanes_scan<T: Copy>(values: &[T], op: impl Fn(T, T) -> T) -> Vec<T> {
    [1, 2, 4, 8, 16]
        .into_iter()
        .fold(values.to_vec(), |values, delta| {
            let through = |lane: usize| match lane.checked_sub(delta) {
                Some(other) => op(values[other], values[lane]),
                None => values[lane],
            };
            (0..values.len()).map(through).collect()
        })
}

/// The results of a block's `scan`: through each thread, before it, and in all.
struct Scanned<T> {
    through: Vec<T>,
    before: Vec<Option<T>>,
    total: T,
}

fn block_scan<T: Copy>(values: &[T], op: impl Fn(T, T) -> T) -> Scanned<T> {
    let of_warps: Vec<Vec<T>> = values
        .chunks(32)
        .map(|warp| lanes_scan(warp, &op))
        .collect();
    let totals: Vec<T> = of_warps.iter().map(|warp| warp[warp.len() - 1]).collect();
    let warps = lanes_scan(&totals, &op);
    let mut through = Vec::new();
    let mut before = Vec::new();
    for (number, warp) in of_warps.iter().enumerate() {
        let of_warps_before = number.checked_sub(1).map(|number| warps[number]);
        let behind = |value: T| of_warps_before.map_or(value, |before| op(before, value));
        before.push(of_warps_before);
        before.extend(
            warp[..warp.len() - 1]
                .iter()
                .map(|value| Some(behind(*value))),
        );
        through.extend(warp.iter().map(|value| behind(*value)));
    }
    Scanned {
        through,
        before,
        total: warps[warps.len() - 1],
    }
}

/// The best value and its place: NaN last, and of equals the first.
fn best<T: Number>(values: &[T], wins: impl Fn(&T, &T) -> bool) -> (T, u32) {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    let mut places = 0..values.len();
    let first = places.next().expect("a group has a thread");
    let place = places.fold(first, |best, place| {
        let (new, old) = (&values[place], &values[best]);
        if !is_nan(new) && (is_nan(old) || wins(new, old)) {
            place
        } else {
            best
        }
    });
    (values[place], place as u32)
}

/// Returns the results of each thread, as the kernel orders them, for one of warp and block.
fn told<T: Number>(
    values: &[T],
    reduced: impl Fn(fn(T, T) -> T) -> T,
    scanned: (T, Option<T>),
) -> ([T; 7], [u32; 2]) {
    let (least, greatest) = (best(values, |a, b| a < b), best(values, |a, b| a > b));
    let numbers = [
        reduced(T::plus),
        reduced(T::least),
        reduced(T::greatest),
        least.0,
        greatest.0,
        scanned.0,
        scanned.1.unwrap_or(T::ZERO),
    ];
    (numbers, [least.1, greatest.1])
}

/// Returns the results of the threads of a block.
fn told_in_block<T: Number>(values: &[T]) -> Vec<([T; 14], [u32; 4])> {
    let Scanned {
        through, before, ..
    } = block_scan(values, T::plus);
    let of_thread = |thread: usize| {
        let first = thread / 32 * 32;
        let warp = &values[first..values.len().min(first + 32)];
        let lanes = lanes_scan(warp, T::plus);
        let lane = thread - first;
        let in_warp = (lanes[lane], lane.checked_sub(1).map(|before| lanes[before]));
        let (a, places) = told(warp, |op| tree(warp, op), in_warp);
        let in_block = (through[thread], before[thread]);
        let (b, more) = told(values, |op| block_tree(values, op), in_block);
        let all: Vec<T> = a.into_iter().chain(b).collect();
        let all: [T; 14] = all
            .try_into()
            .unwrap_or_else(|_| unreachable!("seven and seven"));
        (all, [places[0], places[1], more[0], more[1]])
    };
    (0..values.len()).map(of_thread).collect()
}

fn of_groups_of<T, S>(
    device: &Device,
    entry: Entry<S>,
    value: impl Fn(usize) -> T,
    bits: impl Fn(T) -> u64,
) -> Result<(), Failed>
where
    T: Number + DeviceValue,
    [T; 14]: DeviceValue,
    S: for<'a> Signature<
        Arguments<'a> = (Slice<'a, T>, SliceMut<'a, [T; 14]>, SliceMut<'a, [u32; 4]>),
    >,
{
    for shape in shapes() {
        let x: Vec<T> = (0..threads(&shape)).map(&value).collect();
        let input = device.buffer_from(&x)?;
        let mut out = device.buffer_filled(x.len(), [T::ZERO; 14])?;
        let mut places = device.buffer_filled(x.len(), [u32::MAX; 4])?;
        launch!(
            device,
            entry,
            shape,
            input.slice(..),
            out.slice_mut(..),
            places.slice_mut(..)
        );
        let blocks = x
            .chunks(shape.block_threads() as usize)
            .flat_map(told_in_block);
        let (numbers, expected): (Vec<_>, Vec<_>) = blocks.unzip();
        let what = |error| with(error, &format!("{shape:?}"));
        let all = |rows: Vec<[T; 14]>| -> Vec<[u64; 14]> {
            rows.into_iter().map(|row| row.map(&bits)).collect()
        };
        equal(&all(out.to_vec()?), &all(numbers)).map_err(what)?;
        equal(&places.to_vec()?, &expected).map_err(what)?;
    }
    Ok(())
}

/// A number that looks like chance.
fn mixed(i: usize) -> u32 {
    (i as u32 ^ 0x9E37)
        .wrapping_mul(0x85EB_CA6B)
        .rotate_left(13)
        .wrapping_mul(0xC2B2_AE35)
}

/// Among them zeros of both signs, and NaN.
fn float(i: usize) -> f32 {
    match mixed(i) % 11 {
        0 => 0.0,
        1 => -0.0,
        2 if i > 40 => f32::NAN,
        _ => mixed(i) as f32 / 1e9 - 2.0,
    }
}

fn of_groups(device: &Device) -> Result<(), Failed> {
    of_groups_of(device, group::of_groups_u32::entry(), mixed, u64::from)?;
    let signed = |i| mixed(i).cast_signed();
    of_groups_of(device, group::of_groups_i32::entry(), signed, |x| x as u64)?;
    let wide = |i| u64::from(mixed(i)) << 20;
    of_groups_of(device, group::of_groups_u64::entry(), wide, |x| x)?;
    let wide = |i| i64::from(mixed(i).cast_signed()) * 3;
    of_groups_of(
        device,
        group::of_groups_i64::entry(),
        wide,
        i64::cast_unsigned,
    )?;
    // The bits of a NaN are not said: all are one.
    let bits = |x: f32| if x.is_nan() { 1 } else { x.to_bits().into() };
    of_groups_of(device, group::of_groups_f32::entry(), float, bits)?;
    let number = |i| f64::from(mixed(i)) / 3.0 - 4e8;
    of_groups_of(device, group::of_groups_f64::entry(), number, f64::to_bits)
}

fn of_pairs(device: &Device) -> Result<(), Failed> {
    for shape in shapes() {
        let x: Vec<u32> = (0..threads(&shape)).map(mixed).collect();
        let input = device.buffer_from(&x)?;
        let mut out = device.buffer_filled(x.len(), [u64::MAX; 13])?;
        launch!(
            device,
            group::of_pairs::entry(),
            shape,
            input.slice(..),
            out.slice_mut(..)
        );
        let pairs: Vec<(u32, u64)> = x.iter().map(|x| (*x, u64::from(*x) + 1)).collect();
        let votes = |warp: &[(u32, u64)]| {
            let ballot: u64 = (0..warp.len())
                .map(|lane| u64::from(warp[lane].0.is_multiple_of(3)) << lane)
                .sum();
            ballot << 2
                | u64::from(warp.iter().any(|(x, _)| x.is_multiple_of(64))) << 1
                | u64::from(warp.iter().all(|(x, _)| !x.is_multiple_of(97)))
        };
        let of_block = |values: &[(u32, u64)]| -> Vec<[u64; 13]> {
            let Scanned {
                through,
                before,
                total,
            } = block_scan(values, group::in_order);
            let of_thread = |thread: usize| {
                let first = thread / 32 * 32;
                let warp = &values[first..values.len().min(first + 32)];
                let (lane, len) = (thread - first, warp.len() as u64);
                let lanes = lanes_scan(warp, group::in_order);
                let source = if len > 3 { 3 } else { lane };
                [
                    lane.checked_sub(1).map_or(7, |before| lanes[before].1),
                    lanes[lane].1,
                    lanes[warp.len() - 1].1,
                    before[thread].map_or(7, |before| before.1),
                    through[thread].1,
                    total.1,
                    warp[0].0.into(),
                    values[0].1,
                    warp[source].0.into(),
                    votes(warp),
                    (1 << len) - 1,
                    (lane as u64) << 32 | len,
                    (thread as u64) << 32 | values.len() as u64,
                ]
            };
            (0..values.len()).map(of_thread).collect()
        };
        let expected: Vec<[u64; 13]> = pairs
            .chunks(shape.block_threads() as usize)
            .flat_map(of_block)
            .collect();
        equal(&out.to_vec()?, &expected).map_err(|error| with(error, &format!("{shape:?}")))?;
    }
    Ok(())
}

/// Returns the result of a grid's `reduce`.
fn grid_tree<T: Copy>(values: &[T], block: usize, op: impl Fn(T, T) -> T) -> T {
    let of_blocks: Vec<T> = values
        .chunks(block)
        .map(|block| block_tree(block, &op))
        .collect();
    let of_thread = |thread: usize| {
        let mut own = of_blocks.iter().skip(thread).step_by(block).copied();
        let first = own.next().expect("no more threads than blocks");
        own.fold(first, &op)
    };
    let of_threads: Vec<T> = (0..block.min(of_blocks.len())).map(of_thread).collect();
    block_tree(&of_threads, op)
}

/// The workspaces are ready for another launch, of any grid.
fn are_zero(spaces: &[Result<DeviceBuffer<u32>, DriverError>]) -> Result<(), Failed> {
    for space in spaces {
        let words = space.as_ref()?.to_vec()?;
        equal(&words, &vec![0; words.len()])?;
    }
    Ok(())
}

/// Values, four workspaces, results and places.
type OfGrid<'a, T> = (
    Slice<'a, T>,
    SliceMut<'a, u32>,
    SliceMut<'a, u32>,
    SliceMut<'a, u32>,
    SliceMut<'a, u32>,
    ShapedMut<'a, T, 2>,
    ShapedMut<'a, u64, 2>,
);

/// Launches twice with the same workspaces. `unwritten` is a value that no result has.
fn of_grid_of<T, S>(
    device: &Device,
    entry: Entry<S>,
    value: impl Fn(usize) -> T,
    bits: impl Fn(T) -> u64,
    unwritten: T,
) -> Result<(), Failed>
where
    T: Number + DeviceValue,
    S: for<'a> Signature<Arguments<'a> = OfGrid<'a, T>>,
{
    for (blocks, block) in [(1, 32), (5, 45), (70, 2), (40, 32)] {
        let shape = LaunchConfig::blocks(blocks as u64, block as u32);
        let x: Vec<T> = (0..blocks * block).map(&value).collect();
        let input = device.buffer_from(&x)?;
        let words = workspace_words::<(T, usize)>(blocks);
        let mut spaces = [(); 4].map(|()| device.buffer_zeroed::<u32>(words));
        for _ in 0..2 {
            let [a, b, c, d] = &mut spaces;
            let mut out = device.buffer_filled(blocks * 3, unwritten)?;
            let mut places = device.buffer_filled(blocks, u64::MAX)?;
            launch!(
                device,
                entry,
                shape,
                input.slice(..),
                a.as_mut()?.slice_mut(..),
                b.as_mut()?.slice_mut(..),
                c.as_mut()?.slice_mut(..),
                d.as_mut()?.slice_mut(..),
                out.slice_mut(..).shaped([blocks, 3]),
                places.slice_mut(..).shaped([blocks, 1]),
            );
            let out: Vec<u64> = out.to_vec()?.into_iter().map(&bits).collect();
            // A block has the threads that write its row's columns.
            let columns = [0, 1, 2].map(|column| {
                let mut of_blocks = out.iter().skip(column).step_by(3).copied();
                of_blocks.find(|&it| it != bits(unwritten))
            });
            let expected: [fn(T, T) -> T; 3] = [T::plus, T::least, T::greatest];
            let expected = expected.map(|op| Some(bits(grid_tree(&x, block, op))));
            equal(&columns, &expected).map_err(|error| with(error, &format!("{shape:?}")))?;
            let places = places.to_vec()?;
            let known: Vec<u64> = places
                .into_iter()
                .filter(|place| *place != u64::MAX)
                .collect();
            equal(&known, &[best(&x, |a, b| a > b).1.into()])?;
        }
        are_zero(&spaces)?;
    }
    Ok(())
}

fn of_grid(device: &Device) -> Result<(), Failed> {
    // Sums are of the whole range, and no result is the greatest number.
    of_grid_of(
        device,
        group::of_grid_u32::entry(),
        mixed,
        u64::from,
        u32::MAX,
    )?;
    let number = |i| f64::from(mixed(i)) / 7.0;
    let entry = group::of_grid_f64::entry();
    of_grid_of(device, entry, number, f64::to_bits, f64::NAN)
}

fn scan_of_grid(device: &Device) -> Result<(), Failed> {
    for (blocks, block) in [(1, 40), (6, 130), (16, 32)] {
        let shape = LaunchConfig::blocks(blocks as u64, block as u32);
        let x: Vec<f32> = (0..blocks * block)
            .map(|i| mixed(i) as f32 / 1e9 - 2.0)
            .collect();
        let input = device.buffer_from(&x)?;
        let mut spaces =
            [(); 4].map(|()| device.buffer_zeroed::<u32>(workspace_words::<(f32, u32)>(blocks)));
        let mut out = device.buffer_filled(x.len(), [f32::NAN; 3])?;
        let prepared = device.prepare_cooperative(group::scan_of_grid::entry(), shape)?;
        let stream = Stream::new(device)?;
        for _ in 0..2 {
            // Of one block: the last to come, which differs between launches.
            let mut place = device.buffer_filled(blocks, u32::MAX)?;
            let [a, b, c, d] = &mut spaces;
            prepared.run(
                &stream,
                (
                    input.slice(..),
                    a.as_mut()?.slice_mut(..),
                    b.as_mut()?.slice_mut(..),
                    c.as_mut()?.slice_mut(..),
                    d.as_mut()?.slice_mut(..),
                    out.slice_mut(..),
                    place.slice_mut(..).shaped([blocks, 1]),
                ),
            )?;
            let mut places = place.to_vec()?;
            places.retain(|place| *place != u32::MAX);
            equal(&places, &[best(&x, |a, b| a < b).1])?;
        }
        are_zero(&spaces)?;
        let mut expected = Vec::new();
        let mut blocks_before: Option<f32> = None;
        for (number, values) in x.chunks(block).enumerate() {
            let Scanned {
                through,
                before,
                total,
            } = block_scan(values, f32::plus);
            let behind = |value: f32| blocks_before.map_or(value, |before| before + value);
            let of_thread = |(through, before): (&f32, &Option<f32>)| {
                let before = before.map_or(blocks_before.unwrap_or(0.0), behind);
                [behind(*through), before, (number * block) as f32]
            };
            expected.extend(through.iter().zip(&before).map(of_thread));
            blocks_before = Some(behind(total));
        }
        let bits = |rows: &[[f32; 3]]| -> Vec<[u32; 3]> {
            rows.iter().map(|row| row.map(f32::to_bits)).collect()
        };
        equal(&bits(&out.to_vec()?), &bits(&expected))?;
    }
    Ok(())
}

/// All of them with every access checked, in order and under a seed.
pub(crate) fn checked() -> Result<(), Failed> {
    for schedule in [Schedule::default(), Schedule::Seeded(1)] {
        let emulation = Emulation {
            schedule,
            is_checked: true,
            ..Emulation::default()
        };
        let device = Device::emulator_with(emulation, ptx())?;
        for (_, case) in CASES {
            case(&device)?;
        }
    }
    Ok(())
}

/// A workspace that is too short ends the launch, and threads that do not come are named.
pub(crate) fn refused() -> Result<(), Failed> {
    let device = emulator(ptx())?;
    let shape = LaunchConfig::blocks(3, 32);
    let x = device.buffer_filled(96, 1.0f32)?;
    let mut spaces = [(); 4].map(|()| device.buffer_zeroed::<u32>(workspace_words::<f32>(2)));
    let [a, b, c, d] = &mut spaces;
    let (mut out, mut place) = (device.buffer_zeroed(96)?, device.buffer_zeroed(3)?);
    let prepared = device.prepare_cooperative(group::scan_of_grid::entry(), shape)?;
    let stream = Stream::new(&device)?;
    let short = prepared.run(
        &stream,
        (
            x.slice(..),
            a.as_mut()?.slice_mut(..),
            b.as_mut()?.slice_mut(..),
            c.as_mut()?.slice_mut(..),
            d.as_mut()?.slice_mut(..),
            out.slice_mut(..),
            place.slice_mut(..).shaped([3, 1]),
        ),
    );
    let mut sums = device.buffer_zeroed::<f32>(64)?;
    let half = device.prepare(group::half_a_sum::entry(), LaunchConfig::blocks(1, 32))?;
    let half = half.run(&stream, (sums.slice_mut(..),));
    for (outcome, part) in [(short, "panicked"), (half, "half_a_sum")] {
        match outcome {
            Err(error) if error.to_string().contains(part) => {}
            other => return Err(format!("{part}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Every element is written, by the thread that the type says.
fn extents(device: &Device) -> Result<(), Failed> {
    let (rows, columns) = (7, 13);
    for (grid, block) in [
        ([1, 1, 1], [1, 1, 1]),
        ([2, 2, 1], [3, 2, 1]),
        ([1, 2, 2], [4, 1, 2]),
        ([5, 1, 1], [70, 1, 1]),
        ([1, 1, 3], [8, 8, 1]),
    ] {
        let shape = LaunchConfig::grid(grid, block);
        let mut buffers = [rows * columns; 5].map(|len| device.buffer_filled(len, u32::MAX));
        let [plane, tiles, volume, warps, blocks] = &mut buffers;
        let prepared = device.prepare(group::who_wrote::entry(), shape)?;
        prepared.run(
            &Stream::new(device)?,
            (
                plane.as_mut()?.slice_mut(..).shaped([rows, columns]),
                tiles.as_mut()?.slice_mut(..).shaped([rows, columns]),
                volume.as_mut()?.slice_mut(..).shaped([7, 1, 13]),
                warps.as_mut()?.slice_mut(..).shaped([rows, columns]),
                blocks.as_mut()?.slice_mut(..).shaped([rows, columns]),
            ),
        )?;
        let grid = grid.map(|extent| extent as usize);
        let block = block.map(|extent| extent as usize);
        let per_block = block.iter().product::<usize>();
        // The thread at a place of the grid, x, y, z.
        let thread_at = |[x, y, z]: [usize; 3]| {
            let of_block = (z / block[2] * grid[1] + y / block[1]) * grid[0] + x / block[0];
            of_block * per_block
                + (z % block[2] * block[1] + y % block[1]) * block[0]
                + x % block[0]
        };
        let all = [0, 1, 2].map(|axis| grid[axis] * block[axis]);
        let in_plane = |row: usize, column: usize| {
            let y = row % (all[1] * all[2]);
            thread_at([column % all[0], y % all[1], y / all[1]])
        };
        let warps_each = per_block.div_ceil(32);
        let of_warp = |row: usize, column: usize| {
            let warp = row % (grid.iter().product::<usize>() * warps_each);
            let first = warp % warps_each * 32;
            let lanes = (per_block - first).min(32);
            warp / warps_each * per_block + first + column % lanes
        };
        let of_block = |row: usize, column: usize| {
            row % grid.iter().product::<usize>() * per_block + column % per_block
        };
        let written = |by: &dyn Fn(usize, usize) -> usize| -> Vec<u32> {
            (0..rows * columns)
                .map(|i| by(i / columns, i % columns) as u32)
                .collect()
        };
        let in_volume =
            |plane: usize, column: usize| thread_at([column % all[0], 0, plane % all[2]]);
        let expected: [&dyn Fn(usize, usize) -> usize; 5] = [
            &in_plane,
            &|row, column| in_plane(row / 3, column / 2),
            &in_volume,
            &of_warp,
            &of_block,
        ];
        for (buffer, expected) in buffers.iter().zip(expected) {
            let Ok(buffer) = buffer else {
                return Err("a buffer".into());
            };
            equal(&buffer.to_vec()?, &written(expected))
                .map_err(|error| with(error, &format!("{shape:?}")))?;
        }
    }
    Ok(())
}

fn shared_tiles(device: &Device) -> Result<(), Failed> {
    let x: Vec<f64> = (0..120).map(|i| f64::from(mixed(i))).collect();
    let words: Vec<f32> = x.iter().map(|x| (*x / 3.0) as f32).collect();
    let (input, floats) = (device.buffer_from(&x)?, device.buffer_from(&words)?);
    for (blocks, block) in [(1, 32), (2, 7), (5, 64)] {
        let mut turned = device.buffer_filled(120, f64::NAN)?;
        let mut sums = device.buffer_filled(120, f32::NAN)?;
        let prepared = device.prepare(
            group::shared_tiles::entry(),
            LaunchConfig::blocks(blocks, block),
        )?;
        prepared.run(
            &Stream::new(device)?,
            (
                input.slice(..),
                floats.slice(..),
                turned.slice_mut(..).shaped([3, 40]),
                sums.slice_mut(..).shaped([3, 40]),
            ),
        )?;
        let other = |i: usize| i / 40 * 40 + 39 - i % 40;
        equal(
            &turned.to_vec()?,
            &(0..120).map(|i| x[other(i)]).collect::<Vec<_>>(),
        )?;
        let sum = |i: usize| {
            let four = words[i / 4 * 4..][..4].iter().sum::<f32>();
            words[i / 2 * 2] + words[i / 2 * 2 + 1] + words[i] + four
        };
        equal(&sums.to_vec()?, &(0..120).map(sum).collect::<Vec<_>>())?;
    }
    Ok(())
}
