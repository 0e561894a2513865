//! Functions of each element of one vector or two.

use cuda_std::launch::Entry;
use kernels_gpu::elementwise::{
    BLOCK, add_f32, add_f64, exp_f32, gelu_f32, mul_f32, mul_f64, relu_f32, relu_f64, sqrt_f32,
    sqrt_f64,
};
use kernels_gpu::functions::{Add, Axpy, Exp, Gelu, Mul, Relu, Scale, Sqrt};
use kernels_gpu::vector::{Argument, Map, Scalar, Zip, map_threads};

use super::values::{Expected, Output, check_each, epsilon, random};
use super::{Case, Failure, launch};
use crate::driver::{Device, LaunchConfig};
use crate::vector::Real;

/// The greatest element.
const SPREAD: f64 = 20.0;
/// The factor of scale and axpy, and the divisor.
const FACTOR: f64 = 3.0;

pub(super) fn cases() -> Vec<Case> {
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let gelu = move |x: f64| Expected {
        value: x * normal(x),
        tolerance: 3e-7 * (x * normal(x)).abs() + 2e-7 * x.abs().min(1.0),
    };
    let relu = |x: f64| x.max(0.0);
    [
        of_type::<f32>(),
        of_type::<f64>(),
        vec![
            map(
                relu_f32::entry().with_signature(),
                Relu,
                rounded::<f32>(relu),
            ),
            map(
                relu_f64::entry().with_signature(),
                Relu,
                rounded::<f64>(relu),
            ),
            map(
                sqrt_f32::entry().with_signature(),
                Sqrt,
                rounded::<f32>(f64::sqrt),
            ),
            map(
                sqrt_f64::entry().with_signature(),
                Sqrt,
                rounded::<f64>(f64::sqrt),
            ),
            map(
                exp_f32::entry().with_signature(),
                Exp,
                near::<f32>(2.0, f64::exp),
            ),
            map(gelu_f32::entry().with_signature(), Gelu, gelu),
            zip(add_f32::entry().with_signature(), Add, 0.0, |x, y| x + y),
            zip(add_f64::entry().with_signature(), Add, 0.0, |x, y| x + y),
            zip(mul_f32::entry().with_signature(), Mul, 0.0, |x, y| x * y),
            zip(mul_f64::entry().with_signature(), Mul, 0.0, |x, y| x * y),
        ],
    ]
    .concat()
}

fn of_type<T: Real>() -> Vec<Case> {
    let factor = T::from_f64(FACTOR);
    // The reference of `f32` rounds twice.
    let axpy = |x: f64, y| FACTOR.mul_add(x, y);
    vec![
        map(T::scale(), Scale { factor }, rounded::<T>(|x| FACTOR * x)),
        map_by(T::scale_by(), rounded::<T>(|x| FACTOR * x)),
        map_by(T::divide_by(), near::<T>(2.0, |x| x / FACTOR)),
        zip(T::axpy(), Axpy { factor }, 1.0, axpy),
    ]
}

/// `of(x)`, rounded once. To round that of `f32` in `f64` first changes nothing: S. Figueroa, "When is
/// double rounding innocuous?", ACM SIGNUM Newsletter 30(3), 1995.
fn rounded<T: Real>(of: impl Fn(f64) -> f64) -> impl Fn(f64) -> Expected {
    near::<T>(0.0, of)
}

/// `of(x)` to so many units in the last place.
fn near<T: Real>(units: f64, of: impl Fn(f64) -> f64) -> impl Fn(f64) -> Expected {
    move |x| {
        let value: f64 = T::from_f64(of(x)).into();
        Expected {
            value,
            tolerance: units * epsilon::<T>() * value.abs(),
        }
    }
}

fn map<T, F>(
    entry: Entry<Map<T, F>>,
    function: F,
    expected: impl Fn(f64) -> Expected + Send + Sync + 'static,
) -> Case
where
    T: Real,
    F: for<'a> Argument<Of<'a> = F> + Copy + Send + Sync,
{
    Case::new(entry.name(), move |device, n| {
        mapped(device, entry, n, &expected, |_| Ok(()), |_| function)
    })
}

fn map_by<T: Real>(
    entry: Entry<Map<T, Scalar<T>>>,
    expected: impl Fn(f64) -> Expected + Send + Sync + 'static,
) -> Case {
    Case::new(entry.name(), move |device, n| {
        let number = |device: &Device| Ok(device.buffer_filled(1, T::from_f64(FACTOR))?);
        mapped(device, entry, n, &expected, number, |number| {
            number.slice(..)
        })
    })
}

/// Runs a map of `n` elements whose function is made of what `owner` holds.
fn mapped<T: Real, F: Argument, O>(
    device: &Device,
    entry: Entry<Map<T, F>>,
    n: usize,
    expected: &dyn Fn(f64) -> Expected,
    owner: impl Fn(&Device) -> Result<O, Failure>,
    function: impl for<'a> Fn(&'a O) -> F::Of<'a>,
) -> Result<(), Failure> {
    let x = numbers::<T>(n);
    let owner = owner(device)?;
    let from = device.buffer_from(&x)?;
    for shape in shapes::<T>(n) {
        let mut to = Output::new(device, n)?;
        let arguments = (function(&owner), from.slice(..), to.view(), n);
        // SAFETY: both have n elements, aligned as device allocations are.
        unsafe { launch(device, entry, shape, arguments) }?;
        let values = to.values()?.into_iter().map(Into::into);
        check_each(values, x.iter().map(|&x| expected(x.into())))?;
    }
    Ok(())
}

fn zip<T, F>(
    entry: Entry<Zip<T, F>>,
    function: F,
    units: f64,
    of: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
) -> Case
where
    T: Real,
    F: for<'a> Argument<Of<'a> = F> + Copy + Send + Sync,
{
    Case::new(entry.name(), move |device, n| {
        let both = numbers::<T>(2 * n);
        let (x, y) = both.split_at(n);
        let (x_there, y_there) = (device.buffer_from(x)?, device.buffer_from(y)?);
        for shape in shapes::<T>(n) {
            let mut to = Output::new(device, n)?;
            let (z, x_there) = (to.view(), x_there.slice(..));
            // SAFETY: all have n elements, aligned as device allocations are.
            unsafe {
                let arguments = (function, x_there, y_there.slice(..), z, n);
                launch(device, entry, shape, arguments)
            }?;
            let expected = x.iter().zip(y).map(|(&x, &y)| {
                let of_x = near::<T>(units, |x| of(x, y.into()));
                of_x(x.into())
            });
            check_each(to.values()?.into_iter().map(Into::into), expected)?;
        }
        Ok(())
    })
}

/// `n` numbers up to [`SPREAD`] in magnitude.
fn numbers<T: Real>(n: usize) -> Vec<T> {
    let numbers = random::<T>(n).into_iter();
    numbers.map(|x| T::from_f64(SPREAD * x.into())).collect()
}

/// A thread for each vector, and so few that each has several.
fn shapes<T: Real>(n: usize) -> [LaunchConfig; 2] {
    let full = LaunchConfig::linear(map_threads::<T>(n as u64), BLOCK);
    [full, LaunchConfig::blocks(2, BLOCK)]
}
