//! Kernels as a user writes them at first, and the same in CUDA C++, by the same code: see plain.cu.

use std::fmt::Display;

use cuda_std::{bf16, f16};
use example_kernels::plain::{
    axpy_bf16, black_scholes, column_sums, conv_rows, conv5, particles, power_mod, stencil_safe,
    swish_f16,
};
use examples::nvcc_ptx;
use ridgepoint::driver::{Device, DeviceBuffer, DriverError};
use ridgepoint::launch::{In, Out};
use ridgepoint::prelude::*;

use crate::Made;

const PTX: &str = "plain.ptx";

/// The case of a kernel, or of its twin: the twin's parameters in brackets, and both their arguments, made of the arrays.
macro_rules! case {
    ($at:ident, $made:ident, $config:expr, $kernel:ident, $arrays:expr, $check:expr,
     $all:pat_param => ($($own:expr),*), [$($ty:ty),*] ($($twin:expr),*)) => {
        match $made {
            Made::InRust => $at
                .launch($kernel::entry(), $config)
                .arrays($arrays)
                .check($check)
                .arguments(move |$all| ($($own),*)),
            Made::ByNvcc => {
                let name = stringify!($kernel);
                let launch = $at.launch_from::<($($ty),*)>(nvcc_ptx(PTX), name, $config)?;
                let launch = launch.arrays($arrays).check($check);
                // SAFETY: the twin has these parameters, and the arrays as many elements as it reaches.
                unsafe { launch.arguments_unchecked(move |$all| ($($twin),*)) }
            }
        }
    };
}

fn name(made: Made, [own, twin]: [&'static str; 2]) -> &'static str {
    match made {
        Made::InRust => own,
        Made::ByNvcc => twin,
    }
}

pub(crate) fn size(gpu: u64, emulator: u64) -> [Axis; 1] {
    [Axis::whole("n", [gpu])
        .within(5..=1 << 28)
        .on_emulator([emulator])]
}

/// A number of few digits, which differs from its neighbours'.
pub(crate) fn digit(index: usize) -> f32 {
    1.0 + (index * 37 % 11) as f32 / 8.0
}

/// `len` digits from one on, and room for as many results as `results`.
pub(crate) fn digits<T: DeviceValue>(
    device: &Device,
    len: usize,
    results: usize,
    value: impl Fn(f32) -> T,
) -> Result<(DeviceBuffer<T>, DeviceBuffer<T>), DriverError> {
    let x: Vec<T> = (0..len).map(|i| value(digit(i))).collect();
    Ok((
        device.buffer_from(&x)?,
        device.buffer_uninitialized(results)?,
    ))
}

pub(crate) fn weights() -> [f32; 25] {
    core::array::from_fn(|i| (1 + i % 4) as f32 / 16.0)
}

pub(crate) fn stencils(made: Made) -> impl Workload {
    let name = name(made, ["plain-stencil", "nvcc-plain-stencil"]);
    from_fn(name, size(256, 12), move |at| {
        let n = at.size("n");
        let elements = n * n * n;
        let arrays = move |device: &Device| digits(device, elements, elements, |x| x);
        let expected = move |at: usize| {
            let (i, j, k) = (at % n, at / n % n, at / (n * n));
            let x = |at: usize| f64::from(digit(at));
            if [i, j, k].iter().any(|&it| it == 0 || it + 1 == n) {
                return x(at);
            }
            let near = [1, n, n * n]
                .into_iter()
                .map(|step| x(at - step) + x(at + step));
            0.4 * x(at) + 0.1 * near.sum::<f64>()
        };
        let check = move |(_, y): &(_, DeviceBuffer<f32>)| close(y, 1e-5, expected);
        let size = n as u32;
        let case = case!(at, made, at.linear(elements), stencil_safe, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..), size),
            [In<f32>, Out<f32>, u32] (x.slice(..), y.slice_mut(..), size));
        Ok(case.reads::<f32>(elements).writes::<f32>(elements))
    })
}

pub(crate) fn prices(made: Made) -> impl Workload {
    const RATE: f32 = 0.02;
    const VOLATILITY: f32 = 0.3;
    let name = name(made, ["plain-prices", "nvcc-plain-prices"]);
    from_fn(name, size(1 << 24, 1000), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| {
            let of = |f: fn(f32) -> f32| {
                let all: Vec<f32> = (0..n).map(|i| f(digit(i))).collect();
                device.buffer_from(&all)
            };
            let y = device.buffer_uninitialized::<f32>(n)?;
            Ok((of(|x| 20.0 * x)?, of(|x| 70.0 - 20.0 * x)?, of(|x| x)?, y))
        };
        let check = move |(.., y): &(_, _, _, DeviceBuffer<f32>)| {
            // Prices above a cent: below it the polynomial's own error shows.
            close(y, 2e-2, |i| {
                price(f64::from(digit(i)), RATE.into(), VOLATILITY.into())
            })
        };
        let case = case!(at, made, at.linear(n), black_scholes, arrays, check,
            (s, x, t, y) => (s.slice(..), x.slice(..), t.slice(..), y.slice_mut(..), RATE, VOLATILITY),
            [In<f32>, In<f32>, In<f32>, Out<f32>, f32, f32, u64]
            (s.slice(..), x.slice(..), t.slice(..), y.slice_mut(..), RATE, VOLATILITY, n as u64));
        Ok(case.reads::<f32>(3 * n).writes::<f32>(n))
    })
}

/// The price of a call of the data of [`prices`], of whose digit it is made.
fn price(digit: f64, rate: f64, volatility: f64) -> f64 {
    let (s, x, t) = (20.0 * digit, 70.0 - 20.0 * digit, digit);
    let cnd = |d: f64| {
        let k = 1.0 / (1.0 + 0.2316419 * d.abs());
        let terms = [
            1.330_274_4,
            -1.821_256,
            1.781_478,
            -0.356_563_78,
            0.319_381_53,
        ];
        let sum = terms.iter().fold(0.0, |sum, term| (sum + term) * k);
        let c = 0.398_942_3 * (-0.5 * d * d).exp() * sum;
        if d > 0.0 { 1.0 - c } else { c }
    };
    let root = volatility * t.sqrt();
    let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / root;
    s * cnd(d1) - x * (-rate * t).exp() * cnd(d1 - root)
}

pub(crate) fn convolutions(made: Made) -> impl Workload {
    let name = name(made, ["plain-conv5", "nvcc-plain-conv5"]);
    from_fn(name, size(4096, 40), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| digits(device, n * n, n * n, |x| x);
        let expected = move |at: usize| {
            let (i, j) = (at % n, at / n);
            let tap = |tap: usize| {
                let (u, v) = (i + tap % 5, j + tap / 5);
                let inside = (2..n + 2).contains(&u) && (2..n + 2).contains(&v);
                inside.then(|| f64::from(weights()[tap] * digit((v - 2) * n + u - 2)))
            };
            (0..25).filter_map(tap).sum::<f64>()
        };
        let check = move |(_, y): &(_, DeviceBuffer<f32>)| close(y, 1e-4, expected);
        let size = n as u32;
        let case = case!(at, made, at.linear(n * n), conv5, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..), weights(), size),
            [In<f32>, Out<f32>, [f32; 25], u32] (x.slice(..), y.slice_mut(..), weights(), size));
        Ok(case.reads::<f32>(n * n).writes::<f32>(n * n))
    })
}

pub(crate) fn rows_of_convolutions(made: Made) -> impl Workload {
    let name = name(made, ["plain-conv-rows", "nvcc-plain-conv-rows"]);
    from_fn(name, size(4096, 40), move |at| {
        let n = at.size("n");
        let m = n - 4;
        let arrays = move |device: &Device| digits(device, n * n, m * m, |x| x);
        let check = move |(_, y): &(_, DeviceBuffer<f32>)| are_taps(y, n);
        let size = n as u32;
        let case = case!(at, made, at.linear(m * m), conv_rows, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..), weights(), size),
            [In<f32>, Out<f32>, [f32; 25], u32] (x.slice(..), y.slice_mut(..), weights(), size));
        Ok(case.reads::<f32>(n * n).writes::<f32>(m * m))
    })
}

/// Whether these are the sums of 5 x 5 weighted digits, of n rows of n.
pub(crate) fn are_taps(y: &DeviceBuffer<f32>, n: usize) -> Result<(), PointError> {
    let m = n - 4;
    close(y, 1e-4, |at| {
        let (i, j) = (at % m, at / m);
        let tap = |tap: usize| weights()[tap] * digit((j + tap / 5) * n + i + tap % 5);
        (0..25).map(|one| f64::from(tap(one))).sum()
    })
}

pub(crate) const EXPONENT: u32 = 0xB57;
pub(crate) const MODULUS: u64 = 0xFFFF_FFFF_FFFF_FFC5;

fn base(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// n bases, and room for their powers.
pub(crate) fn bases(
    device: &Device,
    n: usize,
) -> Result<(DeviceBuffer<u64>, DeviceBuffer<u64>), DriverError> {
    let x: Vec<u64> = (0..n).map(base).collect();
    Ok((device.buffer_from(&x)?, device.buffer_uninitialized(n)?))
}

/// Whether these are the powers of the bases.
pub(crate) fn are_powers(y: &DeviceBuffer<u64>) -> Result<(), PointError> {
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64;
    numbers(&y.to_vec()?, |i| {
        let bits = (0..32).rev().map(|bit| EXPONENT >> bit & 1 == 1);
        bits.fold(1, |power, bit| {
            let square = times(power, power);
            if bit {
                times(square, base(i) % MODULUS)
            } else {
                square
            }
        })
    })
}

/// Whether these are the numbers.
pub(crate) fn numbers<T: Copy + PartialEq + Display>(
    found: &[T],
    expected: impl Fn(usize) -> T,
) -> Result<(), PointError> {
    match (0..found.len()).find(|&i| found[i] != expected(i)) {
        Some(i) => Err(format!("element {i} is {}, not {}", found[i], expected(i)).into()),
        None => Ok(()),
    }
}

pub(crate) fn powers(made: Made) -> impl Workload {
    let name = name(made, ["plain-power-mod", "nvcc-plain-power-mod"]);
    from_fn(name, size(1 << 20, 100), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| bases(device, n);
        let check = |(_, y): &(_, DeviceBuffer<u64>)| are_powers(y);
        let case = case!(at, made, at.linear(n), power_mod, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..), EXPONENT, MODULUS),
            [In<u64>, Out<u64>, u32, u64, u64]
            (x.slice(..), y.slice_mut(..), EXPONENT, MODULUS, n as u64));
        Ok(case.reads::<u64>(n).writes::<u64>(n))
    })
}

/// Eight properties of particles, and three that a step makes.
type Properties = ([DeviceBuffer<f32>; 8], [DeviceBuffer<f32>; 3]);

pub(crate) fn steps(made: Made) -> impl Workload {
    const STEP: f32 = 0.125;
    let name = name(made, ["plain-particles", "nvcc-plain-particles"]);
    from_fn(name, size(1 << 24, 1000), move |at| {
        let n = at.size("n");
        let of = |property: usize, i: usize| digit(i + 3 * property);
        let arrays = move |device: &Device| -> Result<Properties, DriverError> {
            let input = |property| {
                let all: Vec<f32> = (0..n).map(|i| of(property, i)).collect();
                device.buffer_from(&all)
            };
            let output = || device.buffer_uninitialized::<f32>(n);
            let inputs = [
                input(0)?,
                input(1)?,
                input(2)?,
                input(3)?,
                input(4)?,
                input(5)?,
                input(6)?,
                input(7)?,
            ];
            Ok((inputs, [output()?, output()?, output()?]))
        };
        let check = move |(_, outputs): &Properties| {
            outputs.iter().enumerate().try_for_each(|(axis, output)| {
                close(output, 1e-5, |i| {
                    let [x, v, mass, charge] =
                        [axis, axis + 3, 6, 7].map(|it| f64::from(of(it, i)));
                    let step = f64::from(STEP);
                    x + step * (v - charge / mass * x * step)
                })
            })
        };
        let step = [STEP.to_bits(), n as u32];
        let case = case!(at, made, at.linear(n), particles, arrays, check,
            ([a, b, c, d, e, f, g, h], [x, y, z]) => (
                a.slice(..), b.slice(..), c.slice(..), d.slice(..), e.slice(..), f.slice(..), g.slice(..),
                h.slice(..), x.slice_mut(..), y.slice_mut(..), z.slice_mut(..), STEP),
            [In<f32>, In<f32>, In<f32>, In<f32>, In<f32>, In<f32>, In<f32>, In<f32>, Out<f32>, Out<f32>,
             Out<f32>, [u32; 2]]
            (a.slice(..), b.slice(..), c.slice(..), d.slice(..), e.slice(..), f.slice(..), g.slice(..),
             h.slice(..), x.slice_mut(..), y.slice_mut(..), z.slice_mut(..), step));
        Ok(case.reads::<f32>(8 * n).writes::<f32>(3 * n))
    })
}

pub(crate) fn swishes(made: Made) -> impl Workload {
    const SLOPE: f32 = 1.5;
    let name = name(made, ["plain-swish-f16", "nvcc-plain-swish-f16"]);
    from_fn(name, size(1 << 25, 1000), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| digits(device, n, n, f16::from_f32);
        let check = move |(_, y): &(_, DeviceBuffer<f16>)| {
            close(y, 1e-3, |i| {
                let x = f64::from(digit(i));
                x / (1.0 + (-f64::from(SLOPE) * x).exp())
            })
        };
        let case = case!(at, made, at.linear(n), swish_f16, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..), SLOPE),
            [In<f16>, Out<f16>, f32, u64] (x.slice(..), y.slice_mut(..), SLOPE, n as u64));
        Ok(case.reads::<f16>(n).writes::<f16>(n))
    })
}

pub(crate) fn bfloats(made: Made) -> impl Workload {
    const FACTOR: f32 = 0.75;
    let name = name(made, ["plain-axpy-bf16", "nvcc-plain-axpy-bf16"]);
    from_fn(name, size(1 << 25, 1000), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| {
            let (x, y) = digits(device, n, n, bf16::from_f32)?;
            Ok((x, device.buffer_filled(n, bf16::from_f32(2.0))?, y))
        };
        let check = move |(.., y): &(_, _, DeviceBuffer<bf16>)| {
            close(y, 1e-2, |i| f64::from(FACTOR) * f64::from(digit(i)) + 2.0)
        };
        let factor = bf16::from_f32(FACTOR);
        let case = case!(at, made, at.linear(n), axpy_bf16, arrays, check,
            (x, z, y) => (x.slice(..), z.slice(..), y.slice_mut(..), factor),
            [In<bf16>, In<bf16>, Out<bf16>, bf16, u64]
            (x.slice(..), z.slice(..), y.slice_mut(..), factor, n as u64));
        Ok(case.reads::<bf16>(2 * n).writes::<bf16>(n))
    })
}

pub(crate) fn sums_of_columns(made: Made) -> impl Workload {
    const ROWS: usize = 64;
    let name = name(made, ["plain-column-sums", "nvcc-plain-column-sums"]);
    from_fn(name, size(1 << 20, 1000), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| digits(device, ROWS * n, n, |x| x);
        let check = move |(_, y): &(_, DeviceBuffer<f32>)| {
            let rows = |column| (0..ROWS).map(move |row| f64::from(digit(row * n + column)));
            close(y, 1e-5, |column| rows(column).sum())
        };
        let case = case!(at, made, at.linear(n), column_sums, arrays, check,
            (x, y) => (x.slice(..), y.slice_mut(..)),
            [In<f32>, Out<f32>, u64, u64]
            (x.slice(..), y.slice_mut(..), ROWS as u64, n as u64));
        Ok(case.reads::<f32>(ROWS * n).writes::<f32>(n))
    })
}
