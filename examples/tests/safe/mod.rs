//! The kernels without `unsafe`, and nvcc's twins of them, on both machines: the same data, the same references.

mod edges;

use std::fs;
use std::path::Path;

use cuda_std::group::workspace_words;
use cuda_std::launch::{Entry, Foreign, ForeignParameters, In, Out, SafeKernel};
use example_kernels::{diffusion, layer_norm, product, segmented_scan, softmax, spmv};
use gpu_test::{Device, Failed, Trial, on_both};
use ridgepoint_driver::{Emulation, LaunchConfig, Schedule, Stream};

/// A test that runs a kernel and its twin, and compares both with the reference.
type Case = fn(&Device) -> Result<(), Failed>;

/// A kernel's file, its test with its twin, and that of what the twin does not take.
const CASES: [(&str, Case, Case); 6] = [
    ("softmax", softmaxes, edges::softmaxes),
    ("layer_norm", layer_norms, edges::layer_norms),
    ("product", products, edges::products),
    ("diffusion", diffusions, edges::diffusions),
    ("spmv", sparse_products, edges::sparse_products),
    ("segmented_scan", segmented_scans, edges::segmented_scans),
];

pub(crate) fn trials() -> Vec<Trial> {
    let cases = CASES.into_iter();
    let both = cases.flat_map(|(name, case, edges)| {
        let edges = on_both(&format!("safe::{name}_edges"), examples::ptx(), edges);
        on_both(&format!("safe::{name}"), examples::ptx(), case)
            .into_iter()
            .chain(edges)
    });
    let unsafe_words = Trial::test("safe::without_unsafe", without_unsafe);
    let of_checks = Trial::test("safe::checked", checked);
    both.chain([unsafe_words, of_checks]).collect()
}

/// All of them with every access checked, in order and under a seed.
fn checked() -> Result<(), Failed> {
    for schedule in [Schedule::default(), Schedule::Seeded(1)] {
        let emulation = Emulation {
            schedule,
            is_checked: true,
            ..Emulation::default()
        };
        let device = Device::emulator_with(emulation, examples::ptx())?;
        for (_, case, edges) in CASES {
            case(&device)?;
            edges(&device)?;
        }
    }
    Ok(())
}

/// Of the kernels' sources, and of what a search finds where there is something.
fn without_unsafe() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/src");
    let says = |name: &str| -> Result<bool, Failed> {
        let text = fs::read_to_string(folder.join(name).with_extension("rs"))?;
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        Ok(code.into_iter().any(|line| line.contains("unsafe")))
    };
    for (name, _, _) in CASES {
        if says(name)? {
            return Err(format!("{name}.rs says `unsafe`").into());
        }
    }
    match says("scan")? {
        true => Ok(()),
        false => Err("scan.rs has `unsafe`, and the search does not find it".into()),
    }
}

/// Launches a kernel, and waits for it.
fn run<K: SafeKernel>(
    device: &Device,
    entry: Entry<K>,
    config: LaunchConfig,
    arguments: K::Arguments<'_>,
) -> Result<(), Failed> {
    let prepared = device.prepare(entry, config)?;
    Ok(prepared.run(&Stream::new(device)?, arguments)?)
}

/// Launches a twin, cooperatively, as far as that matters, and waits for it.
///
/// # Safety
/// The kernel has these parameters, and reaches only what the arguments hold.
unsafe fn run_twin<P: ForeignParameters + 'static>(
    device: &Device,
    kernel: &str,
    config: LaunchConfig,
    arguments: &P::Arguments<'_>,
) -> Result<(), Failed> {
    let loaded = device.load(examples::nvcc_ptx("twins.ptx"))?;
    let entry = Entry::<Foreign<P>>::foreign(kernel);
    let prepared = match kernel {
        "segmented_scan" => loaded.prepare_cooperative(entry, config)?,
        _ => loaded.prepare(entry, config)?,
    };
    let stream = Stream::new(&loaded)?;
    // SAFETY: the caller's contract; nothing is freed before the stream has been synchronised.
    unsafe { prepared.launch(&stream, arguments) }?;
    Ok(stream.synchronize()?)
}

/// Numbers of 0 to 1.
fn random(seed: u64, len: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.f32()).collect()
}

/// Compares with numbers that may differ by a part of the largest.
fn close(actual: &[f32], expected: &[f64], what: &str) -> Result<(), Failed> {
    let largest = expected
        .iter()
        .fold(1e-30, |largest: f64, it| largest.max(it.abs()));
    let differs = |(a, b): (&f32, &f64)| {
        let error = (f64::from(*a) - b).abs();
        error.is_nan() || error > 1e-5 * largest
    };
    match actual.iter().zip(expected).position(differs) {
        _ if actual.len() != expected.len() => {
            Err(format!("{what}: {} elements", actual.len()).into())
        }
        Some(i) => Err(format!("{what}: element {i} is {}, not {}", actual[i], expected[i]).into()),
        None => Ok(()),
    }
}

const MATRICES: [[usize; 2]; 4] = [[1, 1], [5, 33], [70, 100], [3, 1000]];

/// Threads of a block: a few warps, and as many as the kernels take.
const BLOCKS: [u32; 2] = [64, 256];

/// Each of some extents with blocks of each size.
fn with_blocks<T: Copy>(extents: &[T]) -> impl Iterator<Item = (T, u32)> {
    extents
        .iter()
        .flat_map(|&extents| BLOCKS.map(|threads| (extents, threads)))
}

fn softmaxes(device: &Device) -> Result<(), Failed> {
    for ([rows, columns], threads) in with_blocks(&MATRICES) {
        let host: Vec<f32> = random(1, rows * columns)
            .iter()
            .map(|x| 20.0 * x - 10.0)
            .collect();
        let expected: Vec<f64> = host.chunks(columns).flat_map(softmax::reference).collect();
        let x = device.buffer_from(&host)?;
        let [mut y, mut twin] = [
            device.buffer_filled(host.len(), f32::NAN)?,
            device.buffer_filled(host.len(), f32::NAN)?,
        ];
        let config = LaunchConfig::blocks(2, threads);
        let shaped = y.slice_mut(..).shaped([rows, columns]);
        run(
            device,
            softmax::softmax::entry(),
            config,
            (x.slice(..), shaped),
        )?;
        close(&y.to_vec()?, &expected, "softmax")?;
        let arguments = (x.slice(..), twin.slice_mut(..), rows as u64, columns as u64);
        // SAFETY: of rows x columns elements, in blocks of whole warps.
        unsafe {
            run_twin::<(In<f32>, Out<f32>, u64, u64)>(device, "softmax", config, &arguments)
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's softmax")?;
    }
    Ok(())
}

fn layer_norms(device: &Device) -> Result<(), Failed> {
    const EPSILON: f32 = 1e-3;
    for ([rows, columns], threads) in with_blocks(&MATRICES) {
        let host = random(2, rows * columns);
        let row = |row: &[f32]| layer_norm::reference(row, 1.5, -0.5, EPSILON).collect::<Vec<_>>();
        let expected: Vec<f64> = host.chunks(columns).flat_map(row).collect();
        let x = device.buffer_from(&host)?;
        let (gain, bias) = (
            device.buffer_filled(columns, 1.5f32)?,
            device.buffer_filled(columns, -0.5f32)?,
        );
        let [mut y, mut twin] = [
            device.buffer_filled(host.len(), f32::NAN)?,
            device.buffer_filled(host.len(), f32::NAN)?,
        ];
        let config = LaunchConfig::blocks(2, threads);
        let shaped = y.slice_mut(..).shaped([rows, columns]);
        let arguments = (x.slice(..), gain.slice(..), bias.slice(..), EPSILON, shaped);
        run(device, layer_norm::layer_norm::entry(), config, arguments)?;
        close(&y.to_vec()?, &expected, "layer_norm")?;
        let (rows, columns) = (rows as u64, columns as u64);
        let arguments = (
            x.slice(..),
            gain.slice(..),
            bias.slice(..),
            EPSILON,
            twin.slice_mut(..),
            rows,
            columns,
        );
        // SAFETY: as above; gain and bias have an element for each column.
        unsafe {
            run_twin::<(In<f32>, In<f32>, In<f32>, f32, Out<f32>, u64, u64)>(
                device,
                "layer_norm",
                config,
                &arguments,
            )
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's layer_norm")?;
    }
    Ok(())
}

/// Extents that are those of tiles, and others.
fn products(device: &Device) -> Result<(), Failed> {
    for [rows, inner, columns] in [[64, 16, 64], [1, 1, 1], [70, 33, 129], [5, 100, 7]] {
        let (a, b) = (random(3, rows * inner), random(4, inner * columns));
        let element = |i| product::reference(&a, &b, inner, columns, i);
        let expected: Vec<f64> = (0..rows * columns).map(element).collect();
        let (a, b) = (device.buffer_from(&a)?, device.buffer_from(&b)?);
        let len = rows * columns;
        let [mut c, mut twin] = [
            device.buffer_filled(len, f32::NAN)?,
            device.buffer_filled(len, f32::NAN)?,
        ];
        let threads = [columns, rows].map(|extent| extent.div_ceil(product::OWN) as u64);
        let config = LaunchConfig::tiles(threads, [product::BLOCK; 2]);
        let shaped = c.slice_mut(..).shaped([rows, columns]);
        run(
            device,
            product::product::entry(),
            config,
            (a.slice(..), b.slice(..), inner, shaped),
        )?;
        close(&c.to_vec()?, &expected, "product")?;
        let (rows, columns) = (rows as u64, columns as u64);
        let arguments = (
            a.slice(..),
            b.slice(..),
            inner as u64,
            twin.slice_mut(..),
            rows,
            columns,
        );
        // SAFETY: of rows x inner, inner x columns and rows x columns elements, in blocks of 16 x 16.
        unsafe {
            run_twin::<(In<f32>, In<f32>, u64, Out<f32>, u64, u64)>(
                device, "product", config, &arguments,
            )
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's product")?;
    }
    Ok(())
}

/// A thread for each element, and one for each column of them.
fn diffusions(device: &Device) -> Result<(), Failed> {
    let (own, neighbours) = (0.4, 0.1);
    for (extents, deep) in [
        ([5, 6, 40], 5),
        ([3, 3, 3], 1),
        ([9, 1, 7], 9),
        ([12, 5, 33], 1),
    ] {
        let [planes, rows, columns] = extents;
        let host = random(5, planes * rows * columns);
        let element = |i| diffusion::reference(|i| host[i].into(), extents, own, neighbours, i);
        let expected: Vec<f64> = (0..host.len()).map(element).collect();
        let x = device.buffer_from(&host)?;
        let [mut y, mut twin] = [
            device.buffer_filled(host.len(), f32::NAN)?,
            device.buffer_filled(host.len(), f32::NAN)?,
        ];
        let config = LaunchConfig::volume([columns as u64, rows as u64, deep], [16, 2, 2]);
        let shaped = y.slice_mut(..).shaped(extents);
        run(
            device,
            diffusion::diffuse::entry(),
            config,
            (x.slice(..), own, neighbours, shaped),
        )?;
        close(&y.to_vec()?, &expected, "diffuse")?;
        let [planes, rows, columns] = extents.map(|extent| extent as u64);
        let arguments = (
            x.slice(..),
            own,
            neighbours,
            twin.slice_mut(..),
            planes,
            rows,
            columns,
        );
        // SAFETY: of planes x rows x columns elements.
        unsafe {
            run_twin::<(In<f32>, f32, f32, Out<f32>, u64, u64, u64)>(
                device, "diffuse", config, &arguments,
            )
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's diffuse")?;
    }
    Ok(())
}

/// Rows of no entry, of some and of many.
fn sparse_products(device: &Device) -> Result<(), Failed> {
    for (rows, threads) in with_blocks(&[1, 40, 100]) {
        let (mut starts, mut columns) = (vec![0u32], Vec::new());
        for row in 0..rows {
            columns.extend((0..row * 13 % 90).map(|entry| ((row + entry * entry) % rows) as u32));
            starts.push(columns.len() as u32);
        }
        // A buffer without elements has no address.
        columns.push(0);
        let (values, x) = (random(6, columns.len()), random(7, rows));
        let element = |row| spmv::reference(&starts, &columns, &values, &x, row);
        let expected: Vec<f64> = (0..rows).map(element).collect();
        let (starts, columns) = (device.buffer_from(&starts)?, device.buffer_from(&columns)?);
        let (values, x) = (device.buffer_from(&values)?, device.buffer_from(&x)?);
        let [mut y, mut twin] = [
            device.buffer_filled(rows, f32::NAN)?,
            device.buffer_filled(rows, f32::NAN)?,
        ];
        let config = LaunchConfig::blocks(3, threads);
        let shaped = y.slice_mut(..).shaped([rows, 1]);
        let arguments = (
            starts.slice(..),
            columns.slice(..),
            values.slice(..),
            x.slice(..),
            shaped,
        );
        run(device, spmv::spmv::entry(), config, arguments)?;
        close(&y.to_vec()?, &expected, "spmv")?;
        let (starts, columns) = (starts.slice(..), columns.slice(..));
        let arguments = (
            starts,
            columns,
            values.slice(..),
            x.slice(..),
            twin.slice_mut(..),
            rows as u64,
        );
        // SAFETY: a start for each row and one more, and entries whose columns x has; blocks are of whole warps.
        unsafe {
            run_twin::<(In<u32>, In<u32>, In<f32>, In<f32>, Out<f32>, u64)>(
                device, "spmv", config, &arguments,
            )
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's spmv")?;
    }
    Ok(())
}

fn segmented_scans(device: &Device) -> Result<(), Failed> {
    for ([rows, columns], threads) in with_blocks(&[[1, 1], [5, 100], [8, 64], [3, 700]]) {
        let len = rows * columns;
        let host = random(8, len);
        let starts: Vec<u32> = random(9, len).iter().map(|x| (*x < 0.02).into()).collect();
        let mut expected = Vec::new();
        segmented_scan::reference(&starts, &host, |sum| expected.push(sum));
        let (heads, x) = (device.buffer_from(&starts)?, device.buffer_from(&host)?);
        let mut workspace = device.buffer_zeroed(workspace_words::<(u32, f32)>(rows))?;
        let [mut y, mut twin] = [
            device.buffer_filled(len, f32::NAN)?,
            device.buffer_filled(len, f32::NAN)?,
        ];
        let config = LaunchConfig::blocks(rows as u64, threads);
        let prepared =
            device.prepare_cooperative(segmented_scan::segmented_scan::entry(), config)?;
        let stream = Stream::new(device)?;
        // Twice: the workspace is as it was.
        for _ in 0..2 {
            let shaped = y.slice_mut(..).shaped([rows, columns]);
            prepared.run(
                &stream,
                (
                    heads.slice(..),
                    x.slice(..),
                    workspace.slice_mut(..),
                    shaped,
                ),
            )?;
            close(&y.to_vec()?, &expected, "segmented_scan")?;
        }
        let (rows, columns) = (rows as u64, columns as u64);
        let arguments = (
            heads.slice(..),
            x.slice(..),
            workspace.slice_mut(..),
            twin.slice_mut(..),
            rows,
            columns,
        );
        // SAFETY: of rows x columns elements, with the words of the workspace, in a cooperative launch of whole warps.
        unsafe {
            run_twin::<(In<u32>, In<f32>, Out<u32>, Out<f32>, u64, u64)>(
                device,
                "segmented_scan",
                config,
                &arguments,
            )
        }?;
        close(&twin.to_vec()?, &expected, "nvcc's segmented_scan")?;
    }
    Ok(())
}
