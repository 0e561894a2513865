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
use super::values::{Expected, Given, epsilon, least, random};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig};
use crate::vector::Real;
use crate::workload::{Case, Point};

/// The greatest element.
const SPREAD: f64 = 20.0;
/// The factor of scale and axpy.
const FACTOR: f64 = 3.0;
/// Numbers at which a function goes another way, and around which it overflows or underflows in `f32`. So many that have no factor in
/// common with a vector's elements, each of which gets all of them.
const SPECIAL: [f64; 25] = [
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    f32::MAX as f64,
    f32::MIN as f64,
    f32::MIN_POSITIVE as f64,
    f64::MAX,
    -f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    88.7,
    89.0,
    100.0,
    -87.5,
    -95.0,
    -103.9,
    -104.0,
    -104.5,
    -150.0,
    0.95 * std::f64::consts::SQRT_2,
    -0.9 * std::f64::consts::SQRT_2,
];

pub(super) fn listed() -> Vec<Listed> {
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let gelu = move |x: f64| Expected {
        value: x * normal(x),
        tolerance: 3e-7 * (x * normal(x)).abs() + 2e-7 * x.abs().min(1.0) + least::<f32>(),
    };
    let relu = |x: f64| if x < 0.0 { 0.0 } else { x };
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
        map_by(T::scale_by(), 0.0, |x, factor| factor * x),
        map_by(T::divide_by(), 2.0, |x, divisor| x / divisor),
        zip::<T, _>(T::axpy(), Axpy { factor }, 1.0, axpy),
    ]
}

/// `of(x)`, rounded once. To round that of `f32` in `f64` first changes nothing: S. Figueroa, "When is
/// double rounding innocuous?", ACM SIGNUM Newsletter 30(3), 1995.
fn rounded<T: Real>(of: impl Function) -> impl Reference {
    near::<T>(0.0, of)
}

/// `of(x)` to so many units in the last place, or in that of the least normal number.
fn near<T: Real>(units: f64, of: impl Function) -> impl Reference {
    move |x| {
        let value: f64 = T::from_f64(of(x)).into();
        Expected {
            value,
            tolerance: units * (epsilon::<T>() * value.abs()).max(least::<T>()),
        }
    }
}

fn map<T: Real, F: Own>(
    entry: Entry<impl for<'a> Signature<Arguments<'a> = Arguments<'a, Map<T, F>>>>,
    function: F,
    expected: impl Reference,
) -> Listed {
    let entry: Entry<Map<T, F>> = entry.with_signature();
    mapped(
        entry,
        move |_, x| expected(x),
        |_, _| Ok(()),
        move |()| function,
    )
}

fn map_by<T: Real>(
    entry: Entry<Map<T, Scalar<T>>>,
    units: f64,
    of: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Listed {
    mapped(
        entry,
        move |n, x| {
            let scalar = scalar::<T>(n);
            near::<T>(units, move |x| of(x, scalar))(x)
        },
        |device, n| device.buffer_filled(1, T::from_f64(scalar::<T>(n))),
        |number: &DeviceBuffer<T>| number.slice(..),
    )
}

/// The factor or divisor of a vector of `n` elements, by turns of usual size, tiny and huge.
fn scalar<T: Real>(n: usize) -> f64 {
    let (small, large): (f64, f64) = (T::SMALL.into(), T::LARGE.into());
    [
        FACTOR,
        1.5 * small * small.sqrt(),
        1.5 * large * large.sqrt(),
    ][n % 3]
}

/// A map whose function is made of what `owner` holds.
fn mapped<T: Real, F: Argument, O: 'static>(
    entry: Entry<Map<T, F>>,
    expected: impl Fn(usize, f64) -> Expected + Copy + Send + Sync + 'static,
    owner: impl Fn(&Device, usize) -> Result<O, DriverError> + Copy + Send + Sync + 'static,
    function: impl for<'a> Fn(&'a O) -> F::Of<'a> + Copy + Send + Sync + 'static,
) -> Listed {
    of_vectors::<T>(entry.name(), move |at, config| {
        let n = at.size("n");
        let given = move |device| Given::new(device, numbers::<T>(n), n, n);
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| Ok((owner(device, n)?, given(device)?)))
            .check(move |(_, it)| {
                let (x, _) = it.here();
                it.out.check(x.iter().map(|&x| expected(n, x.into())))
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
    // Each of SPECIAL is among the elements that are less than a vector.
    let ends = 1..=3 * SPECIAL.len() as u64;
    let checked = || Checked::new(workload, &[BLOCK]);
    Listed::checked(workload, [checked(), checked().of_sizes(ends)])
}

/// `n` numbers by turns up to [`SPREAD`] in magnitude, up to 1, and [`SPECIAL`].
fn numbers<T: Real>(n: usize) -> Vec<T> {
    let numbers = (0..).zip(random::<T>(n));
    let number = |(i, x): (usize, T)| match i % 3 {
        1 => x.into(),
        2 => SPECIAL[i / 3 % SPECIAL.len()],
        _ => SPREAD * x.into(),
    };
    numbers.map(|it| T::from_f64(number(it))).collect()
}
