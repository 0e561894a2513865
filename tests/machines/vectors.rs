//! Norms and normalized vectors where that is hard: on the emulator and on a GPU against a float64
//! reference, and twice for the same bits. `cases` has the ordinary ones.

use gpu_test::{Failed, Trial, on_both};
use kernels_gpu::vector::reference_norm;
use ridgepoint::driver::{Device, Stream};
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::vector::{Norm, Normalize, Real};

/// Of one block, and of several.
const SIZES: [usize; 4] = [1, 1000, 8195, 100_003];
/// On an H200, of a block for each multiprocessor, and of more than run at once.
const LARGE: [usize; 2] = [2_000_003, 13_000_001];

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(both("repeated_norms_f32", repeated_norms::<f32>));
    trials.extend(both("repeated_norms_f64", repeated_norms::<f64>));
    trials.extend(both("extreme_norms_f32", extreme_norms::<f32>));
    trials.extend(both("extreme_norms_f64", extreme_norms::<f64>));
    trials.extend(both("normalized_f32", normalized::<f32>));
    trials.extend(both("normalized_f64", normalized::<f64>));
    trials
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(&format!("vectors::{name}"), embedded_ptx(), case)
}

fn random<T: Real>(n: usize, scale: f64) -> Vec<T> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    (0..n)
        .map(|_| T::from_f64((random.f64() * 2.0 - 1.0) * scale))
        .collect()
}

fn wide<T: Real>(x: &[T]) -> impl Iterator<Item = f64> + Clone {
    x.iter().map(|&x| x.into())
}

/// Returns the error of one rounding of a number, relative to it.
fn epsilon<T: Real>() -> f64 {
    if T::NAME == "f32" {
        f64::from(f32::EPSILON)
    } else {
        f64::EPSILON
    }
}

fn near(what: &str, actual: f64, expected: f64, allowed: f64) -> Result<(), Failed> {
    let same = actual == expected || (actual.is_nan() && expected.is_nan());
    if same || (actual - expected).abs() <= allowed {
        return Ok(());
    }
    Err(format!("{what} is {actual:e}, not {expected:e} to {allowed:e}").into())
}

fn norm_of<T: Real>(device: &Device, x: &[T]) -> Result<T, Failed> {
    let buffer = device.buffer_from(x)?;
    let mut result = device.buffer_filled(2, T::from_f64(f64::NAN))?;
    let mut norm = Norm::<T>::new(device, x.len())?;
    let stream = Stream::new(device)?;
    for i in 0..2 {
        // SAFETY: the buffers live until the stream is synchronised.
        unsafe { norm.launch(&stream, buffer.slice(..), result.slice_mut(i..=i)) }?;
    }
    stream.synchronize()?;
    let [first, second] = result.to_vec()?[..] else {
        unreachable!("two elements")
    };
    let bits = |value: T| bytemuck::bytes_of(&value).to_vec();
    if bits(first) != bits(second) {
        return Err(format!("n = {}: first {first:?}, then {second:?}", x.len()).into());
    }
    Ok(first)
}

fn repeated_norms<T: Real>(device: &Device) -> Result<(), Failed> {
    for n in SIZES.into_iter().chain(LARGE) {
        let x = random::<T>(n, 3.0);
        let expected = reference_norm(wide(&x));
        let actual = norm_of(device, &x)?.into();
        near(
            &format!("norm of {n}"),
            actual,
            expected,
            2.0 * epsilon::<T>() * expected,
        )?;
    }
    Ok(())
}

/// Where squares overflow and underflow; infinity and NaN.
fn extreme_norms<T: Real>(device: &Device) -> Result<(), Failed> {
    let (large, small, tiny) = match T::NAME {
        "f32" => (1e30, 1e-30, 1e-42),
        _ => (1e300, 1e-300, 1e-320),
    };
    let n = 5000;
    for scales in [
        [large; 3],
        [small; 3],
        [tiny; 3],
        [large, 1.0, small],
        [1.0, small, tiny],
    ] {
        let mut x = random::<T>(n, 1.0);
        for (i, x) in x.iter_mut().enumerate() {
            *x = T::from_f64((*x).into() * scales[i % 3]);
        }
        let expected = reference_norm(wide(&x));
        let actual = norm_of(device, &x)?.into();
        // Of a subnormal number one unit is left, which is `tiny`'s smallest part.
        let unit = if T::NAME == "f32" {
            f64::from(f32::from_bits(1))
        } else {
            f64::from_bits(1)
        };
        let allowed = (2.0 * epsilon::<T>() * expected).max(unit);
        near(
            &format!("norm of elements about {scales:?}"),
            actual,
            expected,
            allowed,
        )?;
    }
    let mut x = random::<T>(n, 1.0);
    x[77] = T::from_f64(f64::NEG_INFINITY);
    near(
        "norm with infinity",
        norm_of(device, &x)?.into(),
        f64::INFINITY,
        0.0,
    )?;
    x[4321] = T::from_f64(f64::NAN);
    near(
        "norm with infinity and NaN",
        norm_of(device, &x)?.into(),
        f64::NAN,
        0.0,
    )?;
    near(
        "norm of zeros",
        norm_of(device, &[T::from_f64(0.0); 10])?.into(),
        0.0,
        0.0,
    )
}

fn normalized<T: Real>(device: &Device) -> Result<(), Failed> {
    let most = if device.properties().is_emulated() {
        2_000_003
    } else {
        20_000_003
    };
    for n in SIZES.into_iter().chain([most]) {
        for scale in [1.0, 1e30, 1e-30] {
            let x = random::<T>(n, scale);
            let expected_norm = reference_norm(wide(&x));
            let from = device.buffer_from(&x)?;
            let mut to = device.buffer_filled(n, T::from_f64(0.0))?;
            to.poison()?;
            let mut norm = device.buffer_filled(1, T::from_f64(f64::NAN))?;
            let mut normalize = Normalize::<T>::new(device, n)?;
            let stream = Stream::new(device)?;
            for _ in 0..2 {
                // SAFETY: the buffers live until the stream is synchronised.
                unsafe {
                    normalize.launch(
                        &stream,
                        from.slice(..),
                        to.slice_mut(..),
                        norm.slice_mut(..),
                    )
                }?;
            }
            stream.synchronize()?;
            let what = format!("n = {n}, scale {scale:e}: ");
            let actual = norm.to_vec()?[0].into();
            let allowed = 2.0 * epsilon::<T>() * expected_norm;
            near(&format!("{what}the norm"), actual, expected_norm, allowed)?;
            for (i, (x, y)) in wide(&x).zip(wide(&to.to_vec()?)).enumerate() {
                let expected = x / expected_norm;
                let allowed = 4.0 * epsilon::<T>() * expected.abs() + f64::from(f32::from_bits(2));
                near(&format!("{what}element {i}"), y, expected, allowed)?;
            }
        }
    }
    Ok(())
}
