//! Kernels without `unsafe`, and the same in CUDA C++, by the same code: see twins.cu.

use cuda_std::group::workspace_words;
use example_kernels::diffusion::diffuse;
use example_kernels::layer_norm::layer_norm;
use example_kernels::product::{OWN, product};
use example_kernels::segmented_scan::segmented_scan;
use example_kernels::softmax::softmax;
use example_kernels::spmv::spmv;
use example_kernels::{diffusion, layer_norm as norm, softmax as maxima};
use examples::nvcc_ptx;
use ridgepoint::driver::{Device, DeviceBuffer, DriverError};
use ridgepoint::launch::{In, Out};
use ridgepoint::model::Work;
use ridgepoint::prelude::*;

use crate::Made;

const PTX: &str = "twins.ptx";

/// Input and output.
type Pair = (DeviceBuffer<f32>, DeviceBuffer<f32>);

fn pair(device: &Device, x: &[f32]) -> Result<Pair, DriverError> {
    Ok((
        device.buffer_from(x)?,
        device.buffer_uninitialized(x.len())?,
    ))
}

/// The name of a kernel, or of its twin.
fn named(made: Made, [own, twin]: [&'static str; 2]) -> &'static str {
    match made {
        Made::InRust => own,
        Made::ByNvcc => twin,
    }
}

/// Rows of a matrix of which each is the first and a number.
fn shifted(rows: usize, row: &[f32]) -> Vec<f32> {
    let of_row = |number: usize| row.iter().map(move |x| x + (number % 8) as f32);
    (0..rows).flat_map(of_row).collect()
}

/// The first row.
fn row(columns: usize) -> Vec<f32> {
    (0..columns).map(|i| (i * 37 % 101) as f32 / 16.0).collect()
}

fn matrix(rows: u64, columns: u64) -> [Axis; 2] {
    [
        Axis::whole("rows", [rows])
            .within(1..=1 << 31)
            .on_emulator([9]),
        Axis::whole("columns", [columns])
            .within(1..=1 << 31)
            .on_emulator([128]),
    ]
}

pub(crate) fn softmaxes(made: Made) -> impl Workload {
    let name = named(made, ["softmax", "nvcc-softmax"]);
    from_fn(name, matrix(1 << 16, 1024), move |at| {
        let (rows, columns) = (at.size("rows"), at.size("columns"));
        let row = row(columns);
        let expected: Vec<f64> = maxima::reference(&row).collect();
        let arrays = move |device: &Device| pair(device, &shifted(rows, &row));
        let check = move |(_, y): &Pair| close(y, 1e-4, |i| expected[i % columns]);
        let config = at.linear(32 * rows);
        let case = match made {
            Made::InRust => at
                .launch(softmax::entry(), config)
                .arrays(arrays)
                .check(check)
                .arguments(move |(x, y)| (x.slice(..), y.slice_mut(..).shaped([rows, columns]))),
            Made::ByNvcc => {
                let launch = at.launch_from::<(In<f32>, Out<f32>, u64, u64)>(
                    nvcc_ptx(PTX),
                    "softmax",
                    config,
                )?;
                let launch = launch.arrays(arrays).check(check);
                // SAFETY: softmax has these parameters, and the arrays are of rows x columns; blocks are of whole warps.
                unsafe {
                    launch.arguments_unchecked(move |(x, y)| {
                        (x.slice(..), y.slice_mut(..), rows as u64, columns as u64)
                    })
                }
            }
        };
        Ok(case
            .reads::<f32>(rows * columns)
            .writes::<f32>(rows * columns))
    })
}

pub(crate) fn layer_norms(made: Made) -> impl Workload {
    const EPSILON: f32 = 1e-5;
    let name = named(made, ["layer-norm", "nvcc-layer-norm"]);
    from_fn(name, matrix(1 << 14, 4096), move |at| {
        let (rows, columns) = (at.size("rows"), at.size("columns"));
        let row = row(columns);
        let expected: Vec<f64> = norm::reference(&row, 1.5, 4.0, EPSILON).collect();
        let arrays = move |device: &Device| {
            let parameters = [1.5, 4.0].map(|value: f32| device.buffer_filled(columns, value));
            let [gain, bias] = parameters;
            let (x, y) = pair(device, &shifted(rows, &row))?;
            Ok((x, y, gain?, bias?))
        };
        let check = move |(_, y, ..): &(_, DeviceBuffer<f32>, _, _)| {
            close(y, 1e-3, |i| expected[i % columns])
        };
        let config = LaunchConfig::blocks(rows as u64, at.block());
        let case = match made {
            Made::InRust => at
                .launch(layer_norm::entry(), config)
                .arrays(arrays)
                .check(check)
                .arguments(move |(x, y, gain, bias)| {
                    let y = y.slice_mut(..).shaped([rows, columns]);
                    (x.slice(..), gain.slice(..), bias.slice(..), EPSILON, y)
                }),
            Made::ByNvcc => {
                let launch = at
                    .launch_from::<(In<f32>, In<f32>, In<f32>, f32, Out<f32>, u64, u64)>(
                        nvcc_ptx(PTX),
                        "layer_norm",
                        config,
                    )?;
                let launch = launch.arrays(arrays).check(check);
                // SAFETY: as of softmax; gain and bias have an element for each column.
                unsafe {
                    launch.arguments_unchecked(move |(x, y, gain, bias)| {
                        let (rows, columns) = (rows as u64, columns as u64);
                        (
                            x.slice(..),
                            gain.slice(..),
                            bias.slice(..),
                            EPSILON,
                            y.slice_mut(..),
                            rows,
                            columns,
                        )
                    })
                }
            }
        };
        Ok(case
            .reads::<f32>((rows + 2) * columns)
            .writes::<f32>(rows * columns))
    })
}

/// Square matrices, of which the elements of a row of A are alike, and of a column of B.
pub(crate) fn products(made: Made) -> impl Workload {
    let name = named(made, ["product", "nvcc-product"]);
    let n = Axis::whole("n", [4096])
        .within(1..=1 << 16)
        .on_emulator([64]);
    from_fn(name, [n], move |at| {
        let n = at.size("n");
        let of = |place: usize| 0.5 + (place % 11) as f32 / 8.0;
        let arrays = move |device: &Device| {
            let a: Vec<f32> = (0..n * n).map(|i| of(i / n)).collect();
            let b: Vec<f32> = (0..n * n).map(|i| of(i % n)).collect();
            let c = device.buffer_uninitialized::<f32>(n * n)?;
            Ok((device.buffer_from(&a)?, device.buffer_from(&b)?, c))
        };
        let check = move |(_, _, c): &(_, _, DeviceBuffer<f32>)| {
            close(c, 1e-3, |i| {
                n as f64 * f64::from(of(i / n)) * f64::from(of(i % n))
            })
        };
        let config = LaunchConfig::tiles([n.div_ceil(OWN) as u64; 2], [16; 2]);
        let case = match made {
            Made::InRust => at
                .launch(product::entry(), config)
                .arrays(arrays)
                .check(check)
                .arguments(move |(a, b, c)| {
                    (a.slice(..), b.slice(..), n, c.slice_mut(..).shaped([n, n]))
                }),
            Made::ByNvcc => {
                let launch = at.launch_from::<(In<f32>, In<f32>, u64, Out<f32>, u64, u64)>(
                    nvcc_ptx(PTX),
                    "product",
                    config,
                )?;
                let launch = launch.arrays(arrays).check(check);
                // SAFETY: product has these parameters, the matrices n x n elements, and the blocks 16 x 16 threads.
                unsafe {
                    let n = n as u64;
                    launch.arguments_unchecked(move |(a, b, c)| {
                        (a.slice(..), b.slice(..), n, c.slice_mut(..), n, n)
                    })
                }
            }
        };
        let case = case.reads::<f32>(2 * n * n).writes::<f32>(n * n);
        Ok(case.operations(Precision::F32, Operation::Fma, n * n * n))
    })
}

pub(crate) fn diffusions(made: Made) -> impl Workload {
    const PARTS: [f32; 2] = [0.4, 0.1];
    let name = named(made, ["diffusion", "nvcc-diffusion"]);
    let n = Axis::whole("n", [512]).within(3..=2048).on_emulator([20]);
    from_fn(name, [n], move |at| {
        let n = at.size("n");
        let element = |i: usize| 1.0 + (i % 13) as f32;
        let arrays =
            move |device: &Device| pair(device, &(0..n * n * n).map(element).collect::<Vec<_>>());
        let check = move |(_, y): &Pair| {
            let [own, neighbours] = PARTS;
            close(y, 1e-5, |i| {
                diffusion::reference(|i| element(i).into(), [n; 3], own, neighbours, i)
            })
        };
        let config = LaunchConfig::volume([n as u64; 3], [32, 4, 2]);
        let [own, neighbours] = PARTS;
        let case = match made {
            Made::InRust => at
                .launch(diffuse::entry(), config)
                .arrays(arrays)
                .check(check)
                .arguments(move |(x, y)| {
                    (
                        x.slice(..),
                        own,
                        neighbours,
                        y.slice_mut(..).shaped([n, n, n]),
                    )
                }),
            Made::ByNvcc => {
                let launch = at.launch_from::<(In<f32>, f32, f32, Out<f32>, u64, u64, u64)>(
                    nvcc_ptx(PTX),
                    "diffuse",
                    config,
                )?;
                let launch = launch.arrays(arrays).check(check);
                // SAFETY: diffuse has these parameters, and the arrays n x n x n elements.
                unsafe {
                    let n = n as u64;
                    launch.arguments_unchecked(move |(x, y)| {
                        (x.slice(..), own, neighbours, y.slice_mut(..), n, n, n)
                    })
                }
            }
        };
        Ok(case.reads::<f32>(n * n * n).writes::<f32>(n * n * n))
    })
}

/// A sparse matrix in compressed rows, a vector, and what both make: on the device, but for the last.
struct Sparse {
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<f32>,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    expected: Vec<f64>,
}

impl Sparse {
    /// `n` rows of 16 to 48 entries, some of them close to the diagonal and some anywhere.
    fn new(device: &Device, n: usize) -> Result<Sparse, DriverError> {
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for row in 0..n {
            let count = 16 + row * 7 % 33;
            let far = |entry: usize| {
                if entry.is_multiple_of(4) {
                    entry * 7919
                } else {
                    entry
                }
            };
            columns.extend((0..count).map(|entry| ((row + far(entry)) % n) as u32));
            starts.push(columns.len() as u32);
        }
        let values: Vec<f32> = (0..columns.len()).map(|i| 0.5 + (i % 3) as f32).collect();
        let x: Vec<f32> = (0..n).map(|i| 1.0 + (i % 5) as f32).collect();
        let element = |row| example_kernels::spmv::reference(&starts, &columns, &values, &x, row);
        Ok(Sparse {
            expected: (0..n).map(element).collect(),
            y: device.buffer_uninitialized(n)?,
            starts: device.buffer_from(&starts)?,
            columns: device.buffer_from(&columns)?,
            values: device.buffer_from(&values)?,
            x: device.buffer_from(&x)?,
        })
    }

    /// Returns the work of a launch, which depends on the matrix.
    fn work(&self) -> Work {
        let entries = self.values.len() as f64;
        let bytes = 8.0 * entries + 4.0 * (self.starts.len() + self.x.len()) as f64;
        let work = Work::default()
            .reads(bytes)
            .writes(4.0 * self.y.len() as f64);
        work.operations(Precision::F32, Operation::Fma, entries)
    }
}

pub(crate) fn sparse_products(made: Made) -> impl Workload {
    let name = named(made, ["spmv", "nvcc-spmv"]);
    let n = Axis::whole("n", [1 << 20])
        .within(1..=1 << 26)
        .on_emulator([100]);
    from_fn(name, [n], move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| Sparse::new(device, n);
        let check = |it: &Sparse| close(&it.y, 1e-5, |row| it.expected[row]);
        let work = |it: &Sparse| Ok(it.work());
        let config = at.linear(32 * n);
        let case = match made {
            Made::InRust => at
                .launch(spmv::entry(), config)
                .arrays(arrays)
                .check(check)
                .work(work)
                .arguments(move |it| {
                    let y = it.y.slice_mut(..).shaped([n, 1]);
                    (
                        it.starts.slice(..),
                        it.columns.slice(..),
                        it.values.slice(..),
                        it.x.slice(..),
                        y,
                    )
                }),
            Made::ByNvcc => {
                let launch = at
                    .launch_from::<(In<u32>, In<u32>, In<f32>, In<f32>, Out<f32>, u64)>(
                        nvcc_ptx(PTX),
                        "spmv",
                        config,
                    )?;
                let launch = launch.arrays(arrays).check(check).work(work);
                // SAFETY: spmv has these parameters, and the matrix n rows of entries whose columns the vector has.
                unsafe {
                    launch.arguments_unchecked(move |it| {
                        let (starts, columns) = (it.starts.slice(..), it.columns.slice(..));
                        (
                            starts,
                            columns,
                            it.values.slice(..),
                            it.x.slice(..),
                            it.y.slice_mut(..),
                            n as u64,
                        )
                    })
                }
            }
        };
        // A warp adds its lanes' sums in five steps.
        let tree = Work::default().operations(Precision::F32, Operation::Add, 160.0 * n as f64);
        Ok(case.overhead(tree))
    })
}

/// Segments of 100 elements, in two rows for each multiprocessor, whose blocks the device holds at once.
pub(crate) fn segmented_scans(made: Made) -> impl Workload {
    const SEGMENT: usize = 100;
    let name = named(made, ["segmented-scan", "nvcc-segmented-scan"]);
    let columns = Axis::whole("columns", [1 << 18])
        .within(1..=1 << 31)
        .on_emulator([600]);
    from_fn(name, [columns], move |at| {
        let rows = 2 * at.device().properties().multiprocessors as usize;
        let columns = at.size("columns");
        let n = rows * columns;
        let arrays = move |device: &Device| {
            let heads: Vec<u32> = (0..n).map(|i| i.is_multiple_of(SEGMENT).into()).collect();
            let (x, y) = pair(
                device,
                &(0..n)
                    .map(|i| 0.5 + (i % SEGMENT) as f32)
                    .collect::<Vec<_>>(),
            )?;
            let workspace = device.buffer_zeroed::<u32>(workspace_words::<(u32, f32)>(rows))?;
            Ok((device.buffer_from(&heads)?, x, y, workspace))
        };
        let check = |(_, _, y, _): &(_, _, DeviceBuffer<f32>, _)| {
            close(y, 1e-5, |i| {
                let place = (i % SEGMENT) as f64;
                (place + 1.0) * 0.5 + place * (place + 1.0) / 2.0
            })
        };
        let config = LaunchConfig::blocks(rows as u64, at.block());
        let case = match made {
            Made::InRust => at
                .launch(segmented_scan::entry(), config)
                .cooperative()
                .arrays(arrays)
                .check(check)
                .arguments(move |(heads, x, y, workspace)| {
                    let y = y.slice_mut(..).shaped([rows, columns]);
                    (heads.slice(..), x.slice(..), workspace.slice_mut(..), y)
                }),
            Made::ByNvcc => {
                let launch = at.launch_from::<(In<u32>, In<f32>, Out<u32>, Out<f32>, u64, u64)>(
                    nvcc_ptx(PTX),
                    "segmented_scan",
                    config,
                )?;
                let launch = launch.cooperative().arrays(arrays).check(check);
                // SAFETY: segmented_scan has these parameters, the arrays rows x columns elements, and the workspace three
                // words for each row and one, which launches leave as 0.
                unsafe {
                    launch.arguments_unchecked(move |(heads, x, y, workspace)| {
                        let (rows, columns) = (rows as u64, columns as u64);
                        (
                            heads.slice(..),
                            x.slice(..),
                            workspace.slice_mut(..),
                            y.slice_mut(..),
                            rows,
                            columns,
                        )
                    })
                }
            }
        };
        Ok(case.reads::<u32>(n).reads::<f32>(n).writes::<f32>(n))
    })
}
