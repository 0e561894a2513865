//! Functions of each element of one vector or two.

use cuda_std::launch::Entry;
use kernels_gpu::elementwise::{
    BLOCK, add_f32, add_f64, exp_f32, gelu_f32, mul_f32, mul_f64, relu_f32, relu_f64, sqrt_f32,
    sqrt_f64,
};
use kernels_gpu::functions::{Add, Axpy, Exp, Gelu, Mul, Relu, Scale, Sqrt};
use kernels_gpu::vector::{Argument, Map, Scalar, Zip, map_threads};

use super::Checked;
use super::values::{Expected, Output, check_each, epsilon, random};
use crate::driver::{Device, DriverError};
use crate::vector::Real;
use crate::workload::{Case, GridSize, Point, PointError};

/// The greatest element.
const SPREAD: f64 = 20.0;
/// The factor of scale and axpy, and the divisor.
const FACTOR: f64 = 3.0;

pub(super) fn checked() -> Vec<Checked> {
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let gelu = move |x: f64| Expected {
        value: x * normal(x),
        tolerance: 3e-7 * (x * normal(x)).abs() + 2e-7 * x.abs().min(1.0),
    };
    let relu = |x: f64| x.max(0.0);
    let mut all = of_type::<f32>();
    all.extend(of_type::<f64>());
    all.extend([
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
    ]);
    all
}

/// A function of the host's.
trait Of: Fn(f64) -> f64 + Copy + Send + Sync + 'static {}
impl<F: Fn(f64) -> f64 + Copy + Send + Sync + 'static> Of for F {}

/// What a function of the device's should be.
trait Reference: Fn(f64) -> Expected + Copy + Send + Sync + 'static {}
impl<F: Fn(f64) -> Expected + Copy + Send + Sync + 'static> Reference for F {}

/// A function of the device's, given as itself.
trait Own: for<'a> Argument<Of<'a> = Self> + Copy + Send + Sync + 'static {}
impl<F: for<'a> Argument<Of<'a> = F> + Copy + Send + Sync + 'static> Own for F {}

fn of_type<T: Real>() -> Vec<Checked> {
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
fn rounded<T: Real>(of: impl Of) -> impl Reference {
    near::<T>(0.0, of)
}

/// `of(x)` to so many units in the last place.
fn near<T: Real>(units: f64, of: impl Of) -> impl Reference {
    move |x| {
        let value: f64 = T::from_f64(of(x)).into();
        Expected {
            value,
            tolerance: units * epsilon::<T>() * value.abs(),
        }
    }
}

fn map<T: Real, F: Own>(entry: Entry<Map<T, F>>, function: F, expected: impl Reference) -> Checked {
    mapped(entry, expected, |_| Ok(()), move |_| function)
}

fn map_by<T: Real>(entry: Entry<Map<T, Scalar<T>>>, expected: impl Reference) -> Checked {
    let number = |device: &Device| device.buffer_filled(1, T::from_f64(FACTOR));
    mapped(entry, expected, number, |number| number.slice(..))
}

/// A map whose function is made of what `owner` holds.
fn mapped<T: Real, F: Argument, O: 'static>(
    entry: Entry<Map<T, F>>,
    expected: impl Reference,
    owner: impl Fn(&Device) -> Result<O, DriverError> + Copy + Send + Sync + 'static,
    function: impl for<'a> Fn(&'a O) -> F::Of<'a> + Copy + Send + Sync + 'static,
) -> Checked {
    of_vectors(entry.name(), move |at| {
        let n = at.size("n");
        let config = at.linear(map_threads::<T>(n as u64) as usize);
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| {
                let x = device.buffer_from(&numbers::<T>(n))?;
                Ok((owner(device)?, x, Output::new(device, n)?))
            })
            .check(move |(_, _, y)| {
                let values = y.values()?.into_iter().map(Into::into);
                let x = numbers::<T>(n).into_iter();
                check_each(values, x.map(|x| expected(x.into())))
            });
        // SAFETY: both have n elements, aligned as device allocations are.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(owner, x, y)| {
                (function(owner), x.slice(..), y.view(), n)
            })
        })
    })
}

fn zip<T: Real, F: Own>(
    entry: Entry<Zip<T, F>>,
    function: F,
    units: f64,
    of: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Checked {
    of_vectors(entry.name(), move |at| {
        let n = at.size("n");
        let config = at.linear(map_threads::<T>(n as u64) as usize);
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| {
                let both = numbers::<T>(2 * n);
                let (x, y) = both.split_at(n);
                let z = Output::new(device, n)?;
                Ok((device.buffer_from(x)?, device.buffer_from(y)?, z))
            })
            .check(move |(_, _, z)| {
                let both = numbers::<T>(2 * n);
                let (x, y) = both.split_at(n);
                let expected = x.iter().zip(y).map(|(&x, &y)| {
                    let (x, y) = (x.into(), y.into());
                    near::<T>(units, move |x| of(x, y))(x)
                });
                check_each(z.values()?.into_iter().map(Into::into), expected)
            });
        // SAFETY: all have n elements, aligned as device allocations are.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(x, y, z)| {
                (function, x.slice(..), y.slice(..), z.view(), n)
            })
        })
    })
}

/// A thread for each vector, and so few that each has several.
fn of_vectors(
    name: &'static str,
    case: impl for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync + 'static,
) -> Checked {
    Checked {
        blocks: vec![BLOCK],
        grids: vec![GridSize::Full, GridSize::PerMultiprocessor(1)],
        ..Checked::of_size(name, case)
    }
}

/// `n` numbers up to [`SPREAD`] in magnitude.
fn numbers<T: Real>(n: usize) -> Vec<T> {
    let numbers = random::<T>(n).into_iter();
    numbers.map(|x| T::from_f64(SPREAD * x.into())).collect()
}
