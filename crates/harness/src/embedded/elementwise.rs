//! Functions of each element of one vector or two.

use cuda_std::launch::{Entry, Signature};
use kernels_gpu::elementwise::{
    BLOCK, add_f32, add_f64, exp_f32, gelu_f32, mul_f32, mul_f64, relu_f32, relu_f64, sqrt_f32,
    sqrt_f64,
};
use kernels_gpu::functions::{Add, Axpy, Exp, Gelu, Mul, Relu, Scale, Sqrt};
use kernels_gpu::vector::{Argument, Map, Scalar, Zip, map_threads};

use super::checked::{Checked, OfSize};
use super::registry::Listed;
use super::values::{Expected, Given, epsilon, random};
use crate::driver::{Device, DriverError, LaunchConfig};
use crate::vector::Real;
use crate::workload::{Case, Point};

/// The greatest element.
const SPREAD: f64 = 20.0;
/// The factor of scale and axpy, and the divisor.
const FACTOR: f64 = 3.0;

pub(super) fn listed() -> Vec<Listed> {
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let gelu = move |x: f64| Expected {
        value: x * normal(x),
        tolerance: 3e-7 * (x * normal(x)).abs() + 2e-7 * x.abs().min(1.0),
    };
    let relu = |x: f64| x.max(0.0);
    let mut all = of_type::<f32>();
    all.extend(of_type::<f64>());
    all.extend([
        map::<f32, _>(relu_f32::entry(), Relu, rounded::<f32>(relu)),
        map::<f64, _>(relu_f64::entry(), Relu, rounded::<f64>(relu)),
        map::<f32, _>(sqrt_f32::entry(), Sqrt, rounded::<f32>(f64::sqrt)),
        map::<f64, _>(sqrt_f64::entry(), Sqrt, rounded::<f64>(f64::sqrt)),
        map::<f32, _>(exp_f32::entry(), Exp, near::<f32>(2.0, f64::exp)),
        map::<f32, _>(gelu_f32::entry(), Gelu, gelu),
        zip::<f32, _>(add_f32::entry(), Add, 0.0, |x, y| x + y),
        zip::<f64, _>(add_f64::entry(), Add, 0.0, |x, y| x + y),
        zip::<f32, _>(mul_f32::entry(), Mul, 0.0, |x, y| x * y),
        zip::<f64, _>(mul_f64::entry(), Mul, 0.0, |x, y| x * y),
    ]);
    all
}

/// The arguments of a kernel.
type Arguments<'a, S> = <S as Signature>::Arguments<'a>;

/// A function of the host's.
trait Function: Fn(f64) -> f64 + Copy + Send + Sync + 'static {}
impl<F: Fn(f64) -> f64 + Copy + Send + Sync + 'static> Function for F {}

/// A reference for a function of the device's.
trait Reference: Fn(f64) -> Expected + Copy + Send + Sync + 'static {}
impl<F: Fn(f64) -> Expected + Copy + Send + Sync + 'static> Reference for F {}

/// A function of the device's, given as itself.
trait Own: for<'a> Argument<Of<'a> = Self> + Copy + Send + Sync + 'static {}
impl<F: for<'a> Argument<Of<'a> = F> + Copy + Send + Sync + 'static> Own for F {}

fn of_type<T: Real>() -> Vec<Listed> {
    let factor = T::from_f64(FACTOR);
    // The reference of `f32` rounds twice.
    let axpy = |x: f64, y| FACTOR.mul_add(x, y);
    vec![
        map::<T, _>(T::scale(), Scale { factor }, rounded::<T>(|x| FACTOR * x)),
        map_by(T::scale_by(), rounded::<T>(|x| FACTOR * x)),
        map_by(T::divide_by(), near::<T>(2.0, |x| x / FACTOR)),
        zip::<T, _>(T::axpy(), Axpy { factor }, 1.0, axpy),
    ]
}

/// `of(x)`, rounded once. To round that of `f32` in `f64` first changes nothing: S. Figueroa, "When is
/// double rounding innocuous?", ACM SIGNUM Newsletter 30(3), 1995.
fn rounded<T: Real>(of: impl Function) -> impl Reference {
    near::<T>(0.0, of)
}

/// `of(x)` to so many units in the last place.
fn near<T: Real>(units: f64, of: impl Function) -> impl Reference {
    move |x| {
        let value: f64 = T::from_f64(of(x)).into();
        Expected {
            value,
            tolerance: units * epsilon::<T>() * value.abs(),
        }
    }
}

fn map<T: Real, F: Own>(
    entry: Entry<impl for<'a> Signature<Arguments<'a> = Arguments<'a, Map<T, F>>>>,
    function: F,
    expected: impl Reference,
) -> Listed {
    let entry: Entry<Map<T, F>> = entry.with_signature();
    mapped(entry, expected, |_| Ok(()), move |_| function)
}

fn map_by<T: Real>(entry: Entry<Map<T, Scalar<T>>>, expected: impl Reference) -> Listed {
    let number = |device: &Device| device.buffer_filled(1, T::from_f64(FACTOR));
    mapped(entry, expected, number, |number| number.slice(..))
}

/// A map whose function is made of what `owner` holds.
fn mapped<T: Real, F: Argument, O: 'static>(
    entry: Entry<Map<T, F>>,
    expected: impl Reference,
    owner: impl Fn(&Device) -> Result<O, DriverError> + Copy + Send + Sync + 'static,
    function: impl for<'a> Fn(&'a O) -> F::Of<'a> + Copy + Send + Sync + 'static,
) -> Listed {
    of_vectors::<T>(entry.name(), move |at, config| {
        let n = at.size("n");
        let given = move |device| Given::new(device, numbers::<T>(n), n, n);
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| Ok((owner(device)?, given(device)?)))
            .check(move |(_, it)| {
                let (x, _) = it.here();
                it.out.check(x.iter().map(|&x| expected(x.into())))
            });
        // SAFETY: both have n elements, aligned as device allocations are.
        unsafe {
            arrays.arguments_unchecked(move |(owner, it)| {
                (function(owner), it.x.slice(..), it.out.view(), n)
            })
        }
    })
}

fn zip<T: Real, F: Own>(
    entry: Entry<impl for<'a> Signature<Arguments<'a> = Arguments<'a, Zip<T, F>>>>,
    function: F,
    units: f64,
    of: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Listed {
    let entry: Entry<Zip<T, F>> = entry.with_signature();
    of_vectors::<T>(entry.name(), move |at, config| {
        let n = at.size("n");
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| Given::new(device, numbers::<T>(2 * n), n, n))
            .check(move |it| {
                let (x, y) = it.here();
                let expected = x.iter().zip(y).map(|(&x, &y)| {
                    let of_x = near::<T>(units, move |x| of(x, y.into()));
                    of_x(x.into())
                });
                it.out.check(expected)
            });
        // SAFETY: all have n elements, aligned as device allocations are.
        unsafe {
            arrays.arguments_unchecked(move |it| {
                (function, it.x.slice(..), it.y.slice(..), it.out.view(), n)
            })
        }
    })
}

/// A thread for each vector, and so few that each has several.
fn of_vectors<T: Real>(
    name: &'static str,
    case: impl for<'d> Fn(&Point<'d>, LaunchConfig) -> Case<'d> + Send + Sync + 'static,
) -> Listed {
    let workload = OfSize::elements(name, move |at| {
        let threads = map_threads::<T>(at.whole("n"));
        Ok(case(at, at.linear(threads as usize)))
    });
    Listed::checked(workload, [Checked::new(workload, &[BLOCK])])
}

/// `n` numbers up to [`SPREAD`] in magnitude.
fn numbers<T: Real>(n: usize) -> Vec<T> {
    let numbers = random::<T>(n).into_iter();
    numbers.map(|x| T::from_f64(SPREAD * x.into())).collect()
}
