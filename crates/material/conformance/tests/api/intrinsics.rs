//! `cuda_std::intrinsics`: the same bits as on the host, but for NaNs and the approximations. On the
//! emulator both sides are one code: the known values are those of ptx-std's `tests/host/intrinsics`, which
//! has a case of every function.

use std::collections::BTreeSet;

use conformance_kernels::intrinsics::{self, GROUPS, Input};
use gpu_test::{Device, Failed};
use ridgepoint_driver::LaunchConfig;

use crate::float::{Inputs, same};
use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[
    ("intrinsics::arithmetic", arithmetic),
    ("intrinsics::conversions", conversions),
    ("intrinsics::integers", integers),
    ("intrinsics::powers", powers),
    ("intrinsics::angles", angles),
    ("intrinsics::special", special),
    ("intrinsics::parts", parts),
    ("intrinsics::pointers", pointers),
    ("intrinsics::fast", fast),
];

/// Rust-CUDA's module has 319 functions.
pub(crate) fn names() -> Result<(), Failed> {
    let names: BTreeSet<&str> = GROUPS.iter().copied().flatten().copied().collect();
    match names.len() {
        319 => Ok(()),
        count => Err(format!("{count} functions have a case, not 319").into()),
    }
}

/// Returns what a group's kernel writes for each input.
macro_rules! words {
    ($device:expr, $group:ident, $kernel:ident, $inputs:expr) => {{
        let columns: (Vec<_>, Vec<_>, Vec<_>, Vec<_>) = columns($inputs);
        let x = $device.buffer_from(&columns.0)?;
        let u = $device.buffer_from(&columns.1)?;
        let i = $device.buffer_from(&columns.2)?;
        let l = $device.buffer_from(&columns.3)?;
        let zeros = [0u64; intrinsics::$group::RESULTS.len()];
        let mut out = $device.buffer_filled($inputs.len(), zeros)?;
        let shape = LaunchConfig::linear($inputs.len() as u64, 128);
        let entry = intrinsics::$group::$kernel::entry();
        launch!(
            $device,
            entry,
            shape,
            x.slice(..),
            u.slice(..),
            i.slice(..),
            l.slice(..),
            out.slice_mut(..)
        );
        out.to_vec()?
    }};
}

macro_rules! groups {
    ($($group:ident: $kernel:ident;)*) => {$(
        fn $group(device: &Device) -> Result<(), Failed> {
            use intrinsics::$group::{RESULTS, results};
            let inputs = inputs();
            let actual = words!(device, $group, $kernel, &inputs);
            let expected: Vec<_> = inputs.iter().copied().map(results).collect();
            same("intrinsics", &RESULTS, &inputs, &actual, &expected)
        }
    )*};
}

groups! {
    arithmetic: intrinsics_arithmetic;
    conversions: intrinsics_conversions;
    integers: intrinsics_integers;
    powers: intrinsics_powers;
    angles: intrinsics_angles;
    special: intrinsics_special;
    parts: intrinsics_parts;
    pointers: intrinsics_pointers;
}

type Columns = (Vec<[f32; 3]>, Vec<[f64; 3]>, Vec<[i32; 3]>, Vec<[i64; 3]>);

fn columns(inputs: &[Input]) -> Columns {
    let mut columns = Columns::default();
    for &(x, u, i, l) in inputs {
        columns.0.push(x);
        columns.1.push(u);
        columns.2.push(i);
        columns.3.push(l);
    }
    columns
}

/// The numbers of `float`'s cases, with integers of all lengths.
fn inputs() -> Vec<Input> {
    let floats = f32::inputs().into_iter().zip(f64::inputs());
    let input = |(n, (x, u))| {
        let l = [0, 1, 2].map(|axis| integer(3 * n + axis));
        (x, u, l.map(|l| (l >> 16) as i32), l)
    };
    (0u64..).zip(floats).map(input).collect()
}

fn integer(i: u64) -> i64 {
    const EDGES: [i64; 12] = [
        0,
        1,
        -1,
        i64::MIN,
        i64::MAX,
        // As `i32`, too: 1, the least, the greatest, and -1.
        0x1_0000,
        0x8000_0000_0000,
        0x7fff_ffff_0000,
        0xffff_ffff_0000,
        // Between two numbers of 24 digits, and just beyond.
        0x0100_0001,
        0x0080_0000_8000_0001,
        0x7f80_0001_0000,
    ];
    let bits = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let random = (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let length = (i / 4 % 64) as u32;
    match i % 4 {
        0 => EDGES[(random >> 40) as usize % EDGES.len()],
        _ => random.cast_signed() >> length,
    }
}

/// Returns what an approximation should be of two numbers, and by how much it may differ; nothing where its
/// error has no useful bound.
type Approximated = fn(f64, f64) -> Option<(f64, f64)>;

/// In the order of the kernel's results. The errors are those of the instructions that each consists
/// of, rounded up (CUDA C++ Programming Guide, "Intrinsic Functions").
const APPROXIMATED: [(&str, Approximated); 11] = [
    ("fast_sinf", |x, _| angle(x, x.sin(), 1e-6)),
    ("fast_cosf", |x, _| angle(x, x.cos(), 1e-6)),
    ("fast_tanf", |x, _| {
        let is_steep = x.cos().abs() < 0.1;
        angle(x, x.tan(), 2e-4).filter(|_| !is_steep)
    }),
    ("fast_expf", |x, _| power(x / std::f64::consts::LN_2)),
    ("fast_exp10f", |x, _| power(x * 10f64.log2())),
    ("fast_logf", |x, _| logarithm(x, x.ln())),
    ("fast_log2f", |x, _| logarithm(x, x.log2())),
    ("fast_log10f", |x, _| logarithm(x, x.log10())),
    ("rsqrtf", |x, _| {
        (x > 1e-30).then(|| (1.0 / x.sqrt(), 2e-7 / x.sqrt()))
    }),
    ("fast_powf", |x, y| {
        power(y * x.log2()).filter(|_| x > 0.0 && y.abs() < 50.0)
    }),
    ("fast_fdividef", |x, y| {
        let quotient = x / y;
        let is_normal = (1e-36..1e36).contains(&quotient.abs()) && (1e-36..1e36).contains(&y.abs());
        is_normal.then_some((quotient, quotient.abs() * 3e-7))
    }),
];

fn angle(x: f64, value: f64, error: f64) -> Option<(f64, f64)> {
    (x.abs() < std::f64::consts::TAU).then_some((value, error))
}

/// 2 to the power `exponent`, which is rounded to an `f32` before.
fn power(exponent: f64) -> Option<(f64, f64)> {
    let value = exponent.exp2();
    (exponent.abs() < 100.0).then_some((value, value * 5e-5))
}

fn logarithm(x: f64, value: f64) -> Option<(f64, f64)> {
    (1e-30..1e30)
        .contains(&x)
        .then_some((value, (value.abs() + 1.0) * 5e-7))
}

fn fast(device: &Device) -> Result<(), Failed> {
    let names = APPROXIMATED.map(|(name, _)| name);
    assert_eq!(names, intrinsics::fast::RESULTS);
    let inputs = inputs();
    let mut compared = [0; APPROXIMATED.len()];
    for (input, words) in inputs
        .iter()
        .zip(words!(device, fast, intrinsics_fast, &inputs))
    {
        let [x, y, _] = input.0;
        for (i, (name, approximated)) in APPROXIMATED.into_iter().enumerate() {
            let Some((exact, error)) = approximated(x.into(), y.into()) else {
                continue;
            };
            let actual = f32::from_bits(words[i] as u32);
            compared[i] += 1;
            let difference = (f64::from(actual) - exact).abs();
            if difference.is_nan() || difference > error {
                return Err(format!(
                    "{name}({x:e}, {y:e}) is {actual:e}, not {exact:e} ± {error:e}"
                )
                .into());
            }
        }
    }
    match compared.iter().position(|&count| count < 100) {
        None => Ok(()),
        Some(i) => Err(format!("{} is hardly compared", names[i]).into()),
    }
}
