//! Kernels of the examples under the roofline, beside what nvcc makes of the same in CUDA C++, and a
//! stencil whose tile, size and element type are axes.
//!
//! ```sh
//! cargo bench --package examples --bench workloads -- roofline --workload saxpy,nvcc-saxpy
//! ```

use std::env;
use std::path::PathBuf;

use example_kernels::horner::horner;
use example_kernels::saxpy::saxpy;
use example_kernels::stencil::{stencil_f32, stencil_f64};
use ridgepoint::driver::{Device, DeviceBuffer, DeviceValue, DriverError, LaunchConfig};
use ridgepoint::launch::{Entry, In, Out, Signature, Slice, SliceMut};
use ridgepoint::model::Operation::{Add, Fma, Multiply};
use ridgepoint::model::Precision::{self, F32, F64};
use ridgepoint::workload::{Axis, Case, Point, PointError, Workload, close};

ridgepoint::main!(
    examples::ptx();
    Stencil,
    Saxpy(Made::InRust),
    Saxpy(Made::ByNvcc),
    Horner(Made::InRust),
    Horner(Made::ByNvcc),
);

/// Where a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    InRust,
    ByNvcc,
}

/// nvcc.cu, compiled: beside this file, or where `NVCC_PTX` says.
fn nvcc_ptx() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/nvcc.ptx");
    env::var_os("NVCC_PTX").map_or_else(|| beside.into(), PathBuf::from)
}

/// The mean of each inner element of a square and its four neighbours.
struct Stencil;

impl Workload for Stencil {
    fn name(&self) -> &str {
        "stencil"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 13])
                .on_emulator([100])
                .help("rows and columns"),
            Axis::one_of("tile", [8, 16, 32], [16])
                .in_occupancy([8, 16, 32])
                .help("edge of a block"),
            Axis::one_of("dtype", ["f32", "f64"], ["f32", "f64"]).help("element types"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        match at.text("dtype") {
            "f64" => Ok(stencil(at, stencil_f64::entry(), F64)),
            _ => Ok(stencil(at, stencil_f32::entry(), F32)),
        }
    }
}

fn stencil<'d, T, S>(at: &Point<'d>, entry: Entry<S>, precision: Precision) -> Case<'d>
where
    T: DeviceValue + From<f32> + Into<f64>,
    S: for<'a> Signature<Arguments<'a> = (Slice<'a, T>, SliceMut<'a, T>, usize)>,
{
    let (n, tile) = (at.size("n"), at.whole("tile") as u32);
    let arrays = at
        .launch(entry, LaunchConfig::tiles([n as u64; 2], [tile; 2]))
        .arrays(move |device| {
            let x: Vec<T> = (0..n * n).map(|i| T::from(element(i))).collect();
            Ok((device.buffer_from(&x)?, device.buffer_zeroed::<T>(n * n)?))
        })
        .check(move |(_, y)| close(y, 1e-6, |i| mean(i, n)));
    // SAFETY: x and y have n rows of n, and the launch has two dimensions.
    let case =
        unsafe { arrays.arguments_unchecked(move |(x, y)| (x.slice(..), y.slice_mut(..), n)) };
    case.reads::<T>(n * n)
        .writes::<T>(n * n)
        .operations(precision, Add, 4 * n * n)
        .operations(precision, Multiply, n * n)
        .loads(size_of::<T>() as u32, 5)
}

/// An element of the stencil's input.
fn element(i: usize) -> f32 {
    (i % 7) as f32
}

/// What the stencil makes of it: nothing at the edges.
fn mean(i: usize, n: usize) -> f64 {
    let (row, column) = (i / n, i % n);
    if row == 0 || column == 0 || row + 1 == n || column + 1 == n {
        return 0.0;
    }
    let five = [i, i - 1, i + 1, i - n, i + n];
    five.map(|i| f64::from(element(i))).iter().sum::<f64>() / 5.0
}

/// y = a x + y
struct Saxpy(Made);

/// What y begins with.
const FIRST: f32 = 1.0;
/// A launch adds the product of these.
const X: f32 = 1.5;
const FACTOR: f32 = 2.0;

impl Workload for Saxpy {
    fn name(&self) -> &str {
        match self.0 {
            Made::InRust => "saxpy",
            Made::ByNvcc => "nvcc-saxpy",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![n()]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let (n, config) = (at.size("n"), at.linear(at.size("n")));
        let case = match self.0 {
            Made::InRust => at
                .launch(saxpy::entry(), config)
                .arrays(move |device| vectors(device, n))
                .check(|(_, y)| is_a_sum(y))
                .arguments(|(x, y)| (FACTOR, x.slice(..), y.slice_mut(..))),
            Made::ByNvcc => {
                let arrays = at
                    .launch_from::<(i32, f32, In<f32>, Out<f32>)>(nvcc_ptx(), "saxpy", config)?
                    .arrays(move |device| vectors(device, n))
                    .check(|(_, y)| is_a_sum(y));
                // SAFETY: saxpy has these parameters, and the arrays have n elements.
                unsafe {
                    arrays.arguments_unchecked(move |(x, y)| {
                        (n as i32, FACTOR, x.slice(..), y.slice_mut(..))
                    })
                }
            }
        };
        Ok(case
            .reads::<f32>(2 * n)
            .writes::<f32>(n)
            .operations(F32, Fma, n)
            .loads(4, 2))
    }
}

fn n() -> Axis {
    Axis::whole("n", [1 << 26])
        .within(1..=i32::MAX as u64)
        .on_emulator([1 << 14])
        .help("elements")
}

fn vectors(
    device: &Device,
    n: usize,
) -> Result<(DeviceBuffer<f32>, DeviceBuffer<f32>), DriverError> {
    Ok((device.buffer_filled(n, X)?, device.buffer_filled(n, FIRST)?))
}

/// Each launch adds the same to every element, and there was one at least.
fn is_a_sum(y: &DeviceBuffer<f32>) -> Result<(), PointError> {
    let mut first = [0.0f32];
    y.read(0, &mut first)?;
    let launches = (first[0] - FIRST) / (FACTOR * X);
    if launches < 1.0 || launches.fract() != 0.0 {
        return Err(format!("element 0 is {}, after {launches} launches", first[0]).into());
    }
    close(y, 0.0, |_| f64::from(first[0]))
}

/// x + x^2 + .. + x^k, by a fused multiply-add a step.
struct Horner(Made);

impl Workload for Horner {
    fn name(&self) -> &str {
        match self.0 {
            Made::InRust => "horner",
            Made::ByNvcc => "nvcc-horner",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let degrees = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
        vec![
            Axis::whole("k", degrees)
                .within(1..=1 << 20)
                .help("degrees"),
            n(),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        const AT: f32 = 0.9;
        let (n, k) = (at.size("n"), at.whole("k") as u32);
        let config = at.linear(n);
        let vectors = move |device: &Device| {
            let x = device.buffer_filled(n, AT)?;
            Ok((x, device.buffer_uninitialized::<f32>(n)?))
        };
        let expected = (0..k).fold(0.0, |sum, _| f64::from(AT).mul_add(sum, f64::from(AT)));
        let case = match self.0 {
            Made::InRust => at
                .launch(horner::entry(), config)
                .arrays(vectors)
                .check(move |(_, y)| close(y, 1e-5, |_| expected))
                .arguments(move |(x, y)| (x.slice(..), y.slice_mut(..), k)),
            Made::ByNvcc => {
                let arrays = at
                    .launch_from::<(i32, i32, In<f32>, Out<f32>)>(nvcc_ptx(), "horner", config)?
                    .arrays(vectors)
                    .check(move |(_, y)| close(y, 1e-5, |_| expected));
                // SAFETY: horner has these parameters, and the arrays have n elements.
                unsafe {
                    arrays.arguments_unchecked(move |(x, y)| {
                        (n as i32, k as i32, x.slice(..), y.slice_mut(..))
                    })
                }
            }
        };
        Ok(case
            .reads::<f32>(n)
            .writes::<f32>(n)
            .operations(F32, Fma, n * k as usize)
            .loads(4, 1)
            .chains(1))
    }
}
