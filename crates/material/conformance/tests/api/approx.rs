//! `cuda_std::approx`, within the errors that its documentation states, of accurate values in `f64`.

use conformance_kernels::float::{self, APPROXIMATIONS};
use gpu_test::{Device, Failed};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[("approx::errors", errors)];

/// The promise on a result.
enum Promise {
    /// This value, with an absolute error; exactly this where it is no finite `f32`.
    Near(f64, f64),
    /// Anything.
    Nothing,
}
use Promise::{Near, Nothing};

/// A function of a number, and for the division of a divisor.
type Promised = fn(f64, f64) -> Promise;

/// In the order of [`APPROXIMATIONS`].
const PROMISED: [Promised; APPROXIMATIONS.len()] = [
    |x, _| angle(x, x.sin()),
    |x, _| angle(x, x.cos()),
    |x, _| Near(x.exp2(), 2.0 * unit(x.exp2())),
    |x, _| {
        let relative = if (0.5..=2.0).contains(&x) {
            1.0
        } else {
            x.log2().abs()
        };
        Near(x.log2(), relative * (-22f64).exp2())
    },
    |x, _| Near(1.0 / x, unit(1.0 / x)),
    |x, _| relative(1.0 / x.sqrt(), -22.9),
    |x, _| relative(x.sqrt(), -23.0),
    |x, divisor| match divisor.abs() {
        magnitude if ((-126f64).exp2()..=126f64.exp2()).contains(&magnitude) => {
            Near(x / divisor, 2.0 * unit(x / divisor))
        }
        _ => Nothing,
    },
    |x, _| relative(x.tanh(), -11.0),
    |x, _| match x.exp2() {
        tiny if tiny < f32::MIN_POSITIVE.into() => Near(0.0, 0.0),
        value => Near(value, 2.0 * unit(value)),
    },
];

fn angle(x: f64, value: f64) -> Promise {
    const TURN: f64 = std::f64::consts::TAU;
    match x.abs() {
        magnitude if magnitude <= TURN => Near(value, (-20.5f64).exp2()),
        magnitude if magnitude <= 50.0 * TURN => Near(value, (-14.7f64).exp2()),
        magnitude if magnitude.is_finite() => Nothing,
        _ => Near(f64::NAN, 0.0),
    }
}

fn relative(value: f64, exponent: f64) -> Promise {
    Near(value, value.abs() * exponent.exp2())
}

/// A unit in the last place of an `f32` of this magnitude.
fn unit(value: f64) -> f64 {
    (value.abs().log2().floor().max(-126.0) - 23.0).exp2()
}

/// Each with a divisor.
fn inputs() -> Vec<[f32; 2]> {
    let edges = [
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -1.0,
        f32::MIN_POSITIVE,
    ];
    let small = (0..400).map(|i| (i - 200) as f32 * 0.0317);
    let angles = (0..200).map(|i| (i - 100) as f32 * 3.1);
    let magnitudes = (-140..128).map(|exponent| (exponent as f32).exp2() * 1.37);
    let all = edges
        .into_iter()
        .chain(small)
        .chain(angles)
        .chain(magnitudes);
    all.enumerate()
        .map(|(i, x)| [x, ((i as i32 * 37 % 254 - 127) as f32).exp2() * -1.21])
        .collect()
}

fn errors(device: &Device) -> Result<(), Failed> {
    let inputs = inputs();
    let x = device.buffer_from(&inputs)?;
    let mut out = device.buffer_filled(inputs.len(), [0f32; APPROXIMATIONS.len()])?;
    let shape = LaunchConfig::linear(inputs.len() as u64, 128);
    launch!(
        device,
        float::approximations::entry(),
        shape,
        x.slice(..),
        out.slice_mut(..)
    );
    let mut failures = Vec::new();
    for (&[x, divisor], results) in inputs.iter().zip(out.to_vec()?) {
        for (i, value) in results.into_iter().enumerate() {
            let promise = PROMISED[i](x.into(), divisor.into());
            if !keeps(value, &promise)
                && let Near(exact, allowed) = promise
            {
                let name = APPROXIMATIONS[i];
                failures.push(format!(
                    "{name}({x:e}; {divisor:e}) is {value:e}, not {exact:e} ± {allowed:e}"
                ));
            }
        }
        far_divisor(x, divisor, results[7])?;
    }
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("{count} failures: {}", failures[..count.min(20)].join("\n")).into()),
    }
}

fn keeps(value: f32, promise: &Promise) -> bool {
    let Near(exact, allowed) = *promise else {
        return true;
    };
    if exact.is_nan() {
        return value.is_nan();
    }
    let is_beyond = (exact as f32).is_infinite();
    let near = (f64::from(value) - exact).abs() <= allowed;
    if is_beyond {
        value == exact as f32
    } else {
        near
    }
}

/// A quotient by more than 2^126 is 0, or NaN where the dividend is infinite.
fn far_divisor(x: f32, divisor: f32, quotient: f32) -> Result<(), Failed> {
    if divisor.abs() <= 126f32.exp2() {
        return Ok(());
    }
    let kept = if x.is_finite() {
        quotient == 0.0
    } else {
        quotient.is_nan()
    };
    if kept {
        return Ok(());
    }
    Err(format!("fast_div({x:e}, {divisor:e}) is {quotient:e}").into())
}
