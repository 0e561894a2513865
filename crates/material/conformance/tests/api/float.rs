//! `cuda_std::float`: the same bits as on the host, but for NaNs and `rsqrt` of `f32`. On the
//! emulator both sides are one code, whose values ptx-std's own tests check.

use std::fmt::Debug;

use conformance_kernels::float::{self, Word};
use cuda_std::{FloatExt, bf16, f16};
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[
    ("float::rsqrt", rsqrt),
    ("float::halves", halves),
    ("float::rounding", rounding),
    ("float::powers", powers),
    ("float::exponentials", exponentials),
    ("float::angles", angles),
    ("float::hyperbolic", hyperbolic),
    ("float::normal", normal),
    ("float::bessel", bessel),
    ("float::parts", parts),
];

/// A case for each group of kernels.
macro_rules! groups {
    ($($group:ident: $f32:ident $f64:ident;)*) => {$(
        fn $group(device: &Device) -> Result<(), Failed> {
            use float::$group::{$f32, $f64, RESULTS, results};
            macro_rules! compare {
                ($float:ident, $kernel:ident) => {{
                    let inputs = $float::inputs();
                    let numbers = numbers(inputs.len());
                    let x = device.buffer_from(&inputs)?;
                    let n = device.buffer_from(&numbers)?;
                    let mut out = device.buffer_filled(inputs.len(), [0u64; RESULTS.len()])?;
                    let shape = LaunchConfig::linear(inputs.len() as u64, 128);
                    let entry = $kernel::entry();
                    launch!(device, entry, shape, x.slice(..), n.slice(..), out.slice_mut(..));
                    let inputs: Vec<_> = inputs.into_iter().zip(numbers).collect();
                    let expected: Vec<_> = inputs.iter().map(|&(x, n)| results(x, n)).collect();
                    same(stringify!($float), &RESULTS, &inputs, &out.to_vec()?, &expected)
                }};
            }
            both(compare!(f32, $f32), compare!(f64, $f64))
        }
    )*};
}

groups! {
    rounding: rounding_f32 rounding_f64;
    powers: powers_f32 powers_f64;
    exponentials: exponentials_f32 exponentials_f64;
    angles: angles_f32 angles_f64;
    hyperbolic: hyperbolic_f32 hyperbolic_f64;
    normal: normal_f32 normal_f64;
    bessel: bessel_f32 bessel_f64;
    parts: parts_f32 parts_f64;
}

/// Returns the faults of either precision.
fn both(single: Result<(), Failed>, double: Result<(), Failed>) -> Result<(), Failed> {
    let failures = [single, double].into_iter().filter_map(Result::err);
    let messages: Vec<String> = failures
        .filter_map(|failure| failure.message().map(str::to_owned))
        .collect();
    if messages.is_empty() {
        return Ok(());
    }
    Err(messages.join("\n").into())
}

/// Names each result that differs, how often it does, and where first.
pub(crate) fn same<const N: usize>(
    float: &str,
    results: &[&str; N],
    inputs: &[impl Debug],
    actual: &[[u64; N]],
    expected: &[[u64; N]],
) -> Result<(), Failed> {
    let mut differences = Vec::new();
    for (result, name) in results.iter().enumerate() {
        let differs = |&i: &usize| actual[i][result] != expected[i][result];
        let places: Vec<usize> = (0..inputs.len()).filter(differs).collect();
        let Some(&first) = places.first() else {
            continue;
        };
        differences.push(format!(
            "{float} {name}: {} of {} differ, first that of {:?}: {:#x}, not {:#x}",
            places.len(),
            inputs.len(),
            inputs[first],
            actual[first][result],
            expected[first][result]
        ));
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(differences.join("\n").into())
}

/// Numbers for which functions of two are computed in all pairs, and pseudo-random ones.
pub(crate) trait Inputs: Copy {
    const EDGES: [Self; 27];

    fn of(value: f64) -> Self;

    fn inputs() -> Vec<[Self; 3]> {
        let edge = |i: usize| Self::EDGES[i % Self::EDGES.len()];
        let count = Self::EDGES.len();
        let pairs = (0..count * count).map(|i| [edge(i), edge(i / count), edge(i + i / count)]);
        let random = (0..300).map(|i| [0, 1, 2].map(|axis| Self::of(pseudo_random(3 * i + axis))));
        pairs.chain(random).collect()
    }
}

macro_rules! inputs {
    ($($float:ident)*) => {$(
        impl Inputs for $float {
            const EDGES: [Self; 27] = [
                0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -7.0, 0.1, -1.3, 19.75, 170.6, -745.2,
                88.8, 1e5, 1e-6, 1.0 - $float::EPSILON, 0.5 - 0.25 * $float::EPSILON,
                1.0 / $float::EPSILON + 1.0,
                $float::MIN_POSITIVE, $float::from_bits(1), -$float::MIN_POSITIVE / 3.0,
                $float::MAX, $float::INFINITY, $float::NEG_INFINITY, $float::NAN,
            ];

            fn of(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

inputs!(f32 f64);

/// Of all magnitudes, most of them moderate.
fn pseudo_random(i: u64) -> f64 {
    // SplitMix64.
    let mut bits = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    // From -1 to 1.
    let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    match i % 5 {
        0 => unit,
        1 => 10.0 * unit,
        2 => 500.0 * unit,
        3 => unit.abs(),
        _ => (80.0 * unit).exp2() * unit.signum(),
    }
}

/// Exponents and orders.
fn numbers(count: usize) -> Vec<i32> {
    const NUMBERS: [i32; 13] = [0, 1, -1, 2, 3, -5, 10, 31, -31, 127, -149, 1000, -1074];
    (0..count).map(|i| NUMBERS[i % NUMBERS.len()]).collect()
}

fn rsqrt(device: &Device) -> Result<(), Failed> {
    macro_rules! of_device {
        ($kernel:ident, $float:ident) => {{
            let inputs: Vec<$float> = $float::inputs().into_iter().map(|[x, ..]| x).collect();
            let x = device.buffer_from(&inputs)?;
            let mut out = device.buffer_filled::<$float>(inputs.len(), 0.0)?;
            let shape = LaunchConfig::linear(inputs.len() as u64, 128);
            launch!(
                device,
                float::$kernel::entry(),
                shape,
                x.slice(..),
                out.slice_mut(..)
            );
            (inputs, out.to_vec()?)
        }};
    }
    let (inputs, actual) = of_device!(rsqrt_f64, f64);
    let word = |x: &f64| [x.word()];
    let expected: Vec<_> = inputs
        .iter()
        .map(|&x| [FloatExt::rsqrt(x).word()])
        .collect();
    let actual: Vec<_> = actual.iter().map(word).collect();
    same("f64", &["x.rsqrt()"], &inputs, &actual, &expected)?;

    let (inputs, actual) = of_device!(rsqrt_f32, f32);
    for (x, actual) in inputs.into_iter().zip(actual) {
        let exact = 1.0 / f64::from(x).sqrt();
        let allowed = exact * (-22.9f64).exp2();
        let close = (f64::from(actual) - exact).abs() <= allowed;
        if !(close || f64::from(actual) == exact || actual.is_nan() && exact.is_nan()) {
            return Err(format!("f32 rsqrt of {x:e} is {actual:e}, not {exact:e}").into());
        }
    }
    Ok(())
}

fn halves(device: &Device) -> Result<(), Failed> {
    let inputs = f32::inputs().into_iter().map(|[x, ..]| x);
    let inputs: Vec<f32> = inputs.filter(|x| !x.is_nan()).collect();
    let x = device.buffer_from(&inputs)?;
    let mut out = device.buffer_filled(inputs.len(), [0u64; 4])?;
    let shape = LaunchConfig::linear(inputs.len() as u64, 128);
    launch!(
        device,
        float::halves::entry(),
        shape,
        x.slice(..),
        out.slice_mut(..)
    );
    let expected: Vec<_> = inputs
        .iter()
        .map(|&x| {
            let (half, brain) = (f16::from_f32(x), bf16::from_f32(x));
            let (half_bits, brain_bits) = (half.to_bits().into(), brain.to_bits().into());
            [
                half_bits,
                brain_bits,
                f32::from(half).word(),
                f32::from(brain).word(),
            ]
        })
        .collect();
    equal(&out.to_vec()?, &expected)
}
