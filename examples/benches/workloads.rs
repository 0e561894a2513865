//! Kernels of the examples under the roofline, beside what nvcc makes of the same in CUDA C++, and a
//! stencil whose tile, size and element type are axes. `twins` has those of several dimensions, of warps and of blocks,
//! `plain` those that are written as they come, `idioms` pairs of which one is faster.
//!
//! ```sh
//! cargo bench --package examples --bench workloads -- roofline --workload saxpy,nvcc-saxpy
//! ```

mod idioms;
mod plain;
mod twins;

use example_kernels::horner::horner;
use example_kernels::saxpy::saxpy;
use example_kernels::stencil::{element, mean, stencil_f32, stencil_f64};
use examples::nvcc_ptx;
use idioms::Form;
use ridgepoint::driver::{Device, DeviceBuffer, DriverError};
use ridgepoint::launch::{In, Out};
use ridgepoint::model::{Operation::Fma, Precision::F32};
use ridgepoint::prelude::*;

ridgepoint::main!(
    examples::ptx();
    stencil(),
    Saxpy(Made::InRust),
    Saxpy(Made::ByNvcc),
    Horner(Made::InRust),
    Horner(Made::ByNvcc),
    twins::softmaxes(Made::InRust),
    twins::softmaxes(Made::ByNvcc),
    twins::layer_norms(Made::InRust),
    twins::layer_norms(Made::ByNvcc),
    twins::products(Made::InRust),
    twins::products(Made::ByNvcc),
    twins::diffusions(Made::InRust),
    twins::diffusions(Made::ByNvcc),
    twins::sparse_products(Made::InRust),
    twins::sparse_products(Made::ByNvcc),
    twins::segmented_scans(Made::InRust),
    twins::segmented_scans(Made::ByNvcc),
    plain::stencils(Made::InRust),
    plain::stencils(Made::ByNvcc),
    plain::prices(Made::InRust),
    plain::prices(Made::ByNvcc),
    plain::convolutions(Made::InRust),
    plain::convolutions(Made::ByNvcc),
    plain::rows_of_convolutions(Made::InRust),
    plain::rows_of_convolutions(Made::ByNvcc),
    plain::powers(Made::InRust),
    plain::powers(Made::ByNvcc),
    plain::steps(Made::InRust),
    plain::steps(Made::ByNvcc),
    plain::swishes(Made::InRust),
    plain::swishes(Made::ByNvcc),
    plain::bfloats(Made::InRust),
    plain::bfloats(Made::ByNvcc),
    plain::sums_of_columns(Made::InRust),
    plain::sums_of_columns(Made::ByNvcc),
    idioms::once(Form::Plain),
    idioms::once(Form::Fast),
    idioms::mirror(Form::Plain),
    idioms::mirror(Form::Fast),
    idioms::threshold(Form::Plain),
    idioms::threshold(Form::Fast),
    idioms::taps(),
    idioms::powers(),
);

/// Where a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    InRust,
    ByNvcc,
}

/// nvcc.cu, compiled.
const PTX: &str = "nvcc.ptx";

// As docs/adding-a-workload.md has it, for a package that `ridgepoint new` wrote.
fn stencil() -> impl Workload {
    let n = Axis::whole("n", [1 << 13]).on_emulator([100]);
    let tile = Axis::one_of("tile", [8, 16, 32], [16]).in_occupancy([8, 16, 32]);
    let dtype = Axis::types([Precision::F32, Precision::F64]);
    from_fn("stencil", [n, tile, dtype], |at| match at.dtype() {
        Precision::F64 => stencil_of::<f64, _>(at, stencil_f64::entry()),
        _ => stencil_of::<f32, _>(at, stencil_f32::entry()),
    })
}

fn stencil_of<'d, T, S>(at: &Point<'d>, entry: Entry<S>) -> Result<Case<'d>, PointError>
where
    T: DeviceValue + From<f32> + Into<f64>,
    S: for<'a> Signature<Arguments<'a> = (Slice<'a, T>, SliceMut<'a, T>, usize)>,
{
    let (n, tile) = (at.size("n"), at.whole("tile") as u32);
    let run = at
        .launch(entry, LaunchConfig::tiles([n as u64; 2], [tile; 2]))
        .arrays(move |device| {
            let x: Vec<T> = (0..n * n).map(|i| element(i).into()).collect();
            Ok((device.buffer_from(&x)?, device.buffer_zeroed::<T>(n * n)?))
        })
        .check(move |(_, y)| close(y, 1e-6, |i| mean(i, n)));
    // SAFETY: x and y have n rows of n and are apart, and the launch has two dimensions.
    let case = unsafe { run.arguments_unchecked(move |(x, y)| (x.slice(..), y.slice_mut(..), n)) };
    let case = case.reads::<T>(n * n).writes::<T>(n * n);
    let case = case.loads(size_of::<T>() as u32, 5);
    let case = case.operations(at.dtype(), Operation::Add, 4 * n * n);
    Ok(case.operations(at.dtype(), Operation::Multiply, n * n))
}

/// y = a x + y
struct Saxpy(Made);

/// The first value of y's elements.
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
                    .launch_from::<(i32, f32, In<f32>, Out<f32>)>(nvcc_ptx(PTX), "saxpy", config)?
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
                    .launch_from::<(i32, i32, In<f32>, Out<f32>)>(nvcc_ptx(PTX), "horner", config)?
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
