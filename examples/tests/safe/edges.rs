//! Arguments that are shorter or longer than a kernel has use for, and blocks that are not of whole warps.

use cuda_std::group::workspace_words;
use example_kernels::{diffusion, layer_norm, product, segmented_scan, softmax, spmv};
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{LaunchConfig, Stream};

use super::{close, random, run};

/// A block with a part of a warp, alone and behind others.
const PARTS: [u32; 3] = [20, 40, 104];

/// Rows that `x` does not have are not written; all numbers are so small that their powers are 0.
pub(super) fn softmaxes(device: &Device) -> Result<(), Failed> {
    let (rows, columns) = (11, 70);
    let host: Vec<f32> = random(1, 9 * columns).iter().map(|x| x - 200.0).collect();
    let expected: Vec<f64> = host.chunks(columns).flat_map(softmax::reference).collect();
    let x = device.buffer_from(&host)?;
    for threads in PARTS {
        let mut y = device.buffer_filled(rows * columns, f32::NAN)?;
        let arguments = (x.slice(..), y.slice_mut(..).shaped([rows, columns]));
        let config = LaunchConfig::blocks(2, threads);
        run(device, softmax::softmax::entry(), config, arguments)?;
        written(&y.to_vec()?, &expected, "softmax")?;
    }
    Ok(())
}

/// Rows that `x` does not have are not written, nor columns without a gain or a bias.
pub(super) fn layer_norms(device: &Device) -> Result<(), Failed> {
    const EPSILON: f32 = 1e-3;
    let (rows, columns) = (7, 150);
    let host = random(2, 5 * columns);
    let x = device.buffer_from(&host)?;
    let (gain, bias) = (
        device.buffer_filled(columns, 1.5f32)?,
        device.buffer_filled(columns, -0.5f32)?,
    );
    for (threads, gains, biases) in [
        (20, 150, 150),
        (40, 140, 150),
        (104, 150, 149),
        (40, 150, 0),
    ] {
        let columns_written = gains.min(biases);
        let row = |row: &[f32]| -> Vec<f64> {
            let all = layer_norm::reference(row, 1.5, -0.5, EPSILON).enumerate();
            all.map(|(column, y)| {
                if column < columns_written {
                    y
                } else {
                    f64::NAN
                }
            })
            .collect()
        };
        let expected: Vec<f64> = host.chunks(columns).flat_map(row).collect();
        let mut y = device.buffer_filled(rows * columns, f32::NAN)?;
        let shaped = y.slice_mut(..).shaped([rows, columns]);
        let arguments = (
            x.slice(..),
            gain.slice(..gains),
            bias.slice(..biases),
            EPSILON,
            shaped,
        );
        let config = LaunchConfig::blocks(2, threads);
        run(device, layer_norm::layer_norm::entry(), config, arguments)?;
        written(&y.to_vec()?, &expected, "layer_norm")?;
    }
    Ok(())
}

/// Elements that a matrix does not have are 0, those behind its end are not looked at, nor is a row's end taken for more
/// than its own; a product of no terms is 0.
pub(super) fn products(device: &Device) -> Result<(), Failed> {
    // Ends in each part of a tile that a thread brings, and in both tiles along a row.
    let row_ends = [8, 20, 35, 50, 60, 66].map(|row| row * 21);
    for a_len in [8, 18].iter().flat_map(|k| row_ends.map(|row| row + k)) {
        product_of(device, 21, a_len, usize::MAX)?;
    }
    for row in [2, 6, 10, 14, 16, 17, 18, 19, 20] {
        product_of(device, 21, usize::MAX, row * COLUMNS + 9)?;
    }
    let mut inners = [0, 17, 21, 25, 29].into_iter();
    inners.try_for_each(|inner| product_of(device, inner, usize::MAX, usize::MAX))
}

const ROWS: usize = 67;
const COLUMNS: usize = 66;

/// A product of matrices of which no more elements are lent.
fn product_of(device: &Device, inner: usize, a_len: usize, b_len: usize) -> Result<(), Failed> {
    let (mut a, mut b) = (random(3, ROWS * inner), random(4, inner * COLUMNS));
    // Infinite where the row before ends, in each part of a tile, and no number behind the last row.
    let infinite = [3, 16, 30, 45, 59];
    for row in infinite {
        if let Some(first) = a.get_mut(row * inner) {
            *first = f32::INFINITY;
        }
    }
    a.resize((ROWS + 1) * inner + 1, f32::NAN);
    b.resize((inner + 1) * COLUMNS, f32::NAN);
    let (device_a, device_b) = (device.buffer_from(&a)?, device.buffer_from(&b)?);
    let (a_len, b_len) = (a_len.min(a.len()), b_len.min(b.len()));
    a[a_len..].fill(0.0);
    b[b_len..].fill(0.0);
    let element = |i| product::reference(&a, &b, inner, COLUMNS, i);
    let mut expected: Vec<f64> = (0..ROWS * COLUMNS).map(element).collect();
    let mut c = device.buffer_filled(ROWS * COLUMNS, f32::NAN)?;
    let shaped = c.slice_mut(..).shaped([ROWS, COLUMNS]);
    let arguments = (
        device_a.slice(..a_len),
        device_b.slice(..b_len),
        inner,
        shaped,
    );
    let threads = [COLUMNS, ROWS].map(|extent| extent.div_ceil(product::OWN) as u64);
    let config = LaunchConfig::tiles(threads, [product::BLOCK; 2]);
    run(device, product::product::entry(), config, arguments)?;
    let mut actual = c.to_vec()?;
    for (actual, expected) in actual.iter_mut().zip(&mut expected) {
        // An infinite sum may also be NaN, where an element of `b` is not there.
        if !expected.is_finite() && !actual.is_finite() {
            (*actual, *expected) = (0.0, 0.0);
        }
    }
    close(&actual, &expected, "product")
}

/// Elements that `x` does not have are 0.
pub(super) fn diffusions(device: &Device) -> Result<(), Failed> {
    let (extents, own, neighbours) = ([5, 6, 40], 0.4, 0.1);
    let len = extents.iter().product::<usize>();
    let host = random(5, len);
    let x = device.buffer_from(&host)?;
    for (x_len, grid, block) in [
        (len - 1, [1, 1, 1], [32, 2, 2]),
        (len - 100, [2, 2, 1], [16, 2, 4]),
        (len - 300, [1, 2, 3], [40, 3, 4]),
        (700, [3, 3, 1], [16, 2, 1]),
        (0, [1, 1, 2], [4, 4, 4]),
    ] {
        let at = |i: usize| if i < x_len { host[i].into() } else { 0.0 };
        let element = |i| diffusion::reference(at, extents, own, neighbours, i);
        let expected: Vec<f64> = (0..len).map(element).collect();
        let mut y = device.buffer_filled(len, f32::NAN)?;
        let shaped = y.slice_mut(..).shaped(extents);
        let config = LaunchConfig::grid(grid, block);
        let arguments = (x.slice(..x_len), own, neighbours, shaped);
        run(device, diffusion::diffuse::entry(), config, arguments)?;
        close(&y.to_vec()?, &expected, "diffuse")?;
    }
    Ok(())
}

/// Rows whose ends are not there, entries that are not there or have no values, out of order, or of columns that `x` does not have.
pub(super) fn sparse_products(device: &Device) -> Result<(), Failed> {
    let rows = 9;
    // The entries of rows 3 and 5 begin behind their end, and those of 4 end behind all; row 6 has more than there are values,
    // and rows 7 and 8 have no end.
    let starts = [0u32, 2, 40, 90, 70, 200, 90, 100];
    let mut columns: Vec<u32> = (0..110).map(|entry| entry * 7 % 50).collect();
    columns[1] = 50;
    columns[60] = u32::MAX;
    columns[99] = 49;
    let (values, x) = (random(6, columns.len()), random(7, 50));
    let row = |row: usize| -> f64 {
        let Some([start, end]) = starts.get(row..row + 2) else {
            return f64::NAN;
        };
        let entries = (*start as usize..*end as usize).filter(|_| *end <= 95);
        let product =
            |i: usize| Some(f64::from(values[i]) * f64::from(*x.get(columns[i] as usize)?));
        entries.filter_map(product).sum()
    };
    let expected: Vec<f64> = (0..7).map(row).collect();
    let (starts, columns) = (device.buffer_from(&starts)?, device.buffer_from(&columns)?);
    let (values, x) = (device.buffer_from(&values)?, device.buffer_from(&x)?);
    for threads in PARTS {
        let mut y = device.buffer_filled(rows, f32::NAN)?;
        let arguments = (
            starts.slice(..),
            columns.slice(..),
            values.slice(..95),
            x.slice(..),
            y.slice_mut(..).shaped([rows, 1]),
        );
        let config = LaunchConfig::blocks(2, threads);
        run(device, spmv::spmv::entry(), config, arguments)?;
        written(&y.to_vec()?, &expected, "spmv")?;
    }
    Ok(())
}

/// Elements without a head or a number are 0, in segments that go on.
pub(super) fn segmented_scans(device: &Device) -> Result<(), Failed> {
    for (columns, threads, heads_len, x_len) in [
        (100, 40, 500, 500),
        (100, 104, 430, 500),
        (80, 40, 400, 333),
        (1, 20, 5, 5),
        (300, 256, 1500, 1400),
    ] {
        let len = 5 * columns;
        // Whole numbers, whose sums are exact.
        let host: Vec<f32> = random(8, len).iter().map(|x| (x * 100.0).round()).collect();
        let starts: Vec<u32> = random(9, len).iter().map(|x| (*x < 0.05).into()).collect();
        let has = |i: usize| i < heads_len && i < x_len;
        let heads: Vec<u32> = (0..len)
            .map(|i| if has(i) { starts[i] } else { 0 })
            .collect();
        let numbers: Vec<f32> = (0..len)
            .map(|i| if has(i) { host[i] } else { 0.0 })
            .collect();
        let mut expected = Vec::new();
        segmented_scan::reference(&heads, &numbers, |sum| expected.push(sum as f32));
        let (heads, x) = (device.buffer_from(&starts)?, device.buffer_from(&host)?);
        let mut workspace = device.buffer_zeroed(workspace_words::<(u32, f32)>(5))?;
        let mut y = device.buffer_filled(len, f32::NAN)?;
        let config = LaunchConfig::blocks(5, threads);
        let entry = segmented_scan::segmented_scan::entry();
        let prepared = device.prepare_cooperative(entry, config)?;
        let arguments = (
            heads.slice(..heads_len),
            x.slice(..x_len),
            workspace.slice_mut(..),
            y.slice_mut(..).shaped([5, columns]),
        );
        prepared.run(&Stream::new(device)?, arguments)?;
        equal(&y.to_vec()?, &expected)?;
    }
    Ok(())
}

/// Compares those elements that are expected to have been written: the others, and all behind them, are still NaN.
fn written(actual: &[f32], expected: &[f64], what: &str) -> Result<(), Failed> {
    let (mut first, mut numbers) = (Vec::new(), Vec::new());
    for (i, actual) in actual.iter().enumerate() {
        match expected.get(i).filter(|expected| !expected.is_nan()) {
            Some(expected) => {
                first.push(*actual);
                numbers.push(*expected);
            }
            None if actual.is_nan() => {}
            None => return Err(format!("{what}: element {i} was written: {actual}").into()),
        }
    }
    close(&first, &numbers, what)
}
