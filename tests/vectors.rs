//! Norms, products and elementwise kernels: on the emulator and on a GPU against a float64
//! reference, and twice for the same bits.

use cuda_std::launch::Entry;
use gpu_test::{Arguments, Failed, Trial, on_both};
use kernels_gpu::elementwise::{self, exp_f32, gelu_f32, relu_f32, sqrt_f32};
use kernels_gpu::functions::{Axpy, Exp, Gelu, Relu, Sqrt};
use kernels_gpu::norm;
use kernels_gpu::vector::{Argument, Map, map_threads, reduction_blocks, reference_norm};
use ridgepoint::driver::{Device, Shape, Stream, embedded_ptx};
use ridgepoint::vector::{Divide, Norm, Normalize, Product, Real, Scaled};

/// Around the sizes of a vector, a warp, a block's tile and a grid's.
const SIZES: [usize; 17] = [
    0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1000, 4096, 8192, 8195, 65_537, 100_003,
];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(both("norms_f32", norms::<f32>));
    trials.extend(both("norms_f64", norms::<f64>));
    trials.extend(both("extreme_norms_f32", extreme_norms::<f32>));
    trials.extend(both("extreme_norms_f64", extreme_norms::<f64>));
    trials.extend(both("normalized_f32", normalized::<f32>));
    trials.extend(both("normalized_f64", normalized::<f64>));
    trials.extend(both("dot_f32", dots::<f32>));
    trials.extend(both("dot_f64", dots::<f64>));
    trials.extend(both("gemv_f32", products::<f32>));
    trials.extend(both("gemv_f64", products::<f64>));
    trials.extend(both("scaled_f32", scaled::<f32>));
    trials.extend(both("scaled_f64", scaled::<f64>));
    trials.extend(both("functions", functions));
    gpu_test::run(&arguments, trials).exit();
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(name, embedded_ptx(), case)
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

/// What one rounding makes of a number, relative to it.
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
        unsafe { norm.launch(&stream, buffer.slice(), result.part_mut(i, 1)) }?;
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

fn norms<T: Real>(device: &Device) -> Result<(), Failed> {
    for n in SIZES {
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
    let most = if device.facts().is_emulated() {
        100_003
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
                    normalize.launch(&stream, from.slice(), to.slice_mut(), norm.slice_mut())
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

fn dots<T: Real>(device: &Device) -> Result<(), Failed> {
    for n in SIZES {
        let (x, y) = (random::<T>(n, 1.0), random::<T>(2 * n, 1.0)[n..].to_vec());
        let terms = || wide(&x).zip(wide(&y)).map(|(x, y)| x * y);
        let (expected, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
        let (x, y) = (device.buffer_from(&x)?, device.buffer_from(&y)?);
        let blocks = reduction_blocks::<T>(n as u64, device.facts().multiprocessors);
        let mut partials = device.buffer_zeroed(blocks as usize)?;
        let mut ticket = device.buffer_zeroed(1)?;
        let mut result = device.buffer_filled(1, T::from_f64(f64::NAN))?;
        let prepared = device.prepare(T::dot(), Shape::blocks(blocks, norm::BLOCK))?;
        let stream = Stream::new(device)?;
        // SAFETY: a partial a block; the buffers live until the stream is synchronised.
        unsafe {
            prepared.launch(
                &stream,
                &(
                    x.slice(),
                    y.slice(),
                    result.slice_mut(),
                    partials.slice_mut(),
                    ticket.slice_mut(),
                ),
            )
        }?;
        stream.synchronize()?;
        let actual = result.to_vec()?[0].into();
        near(
            &format!("dot of {n}"),
            actual,
            expected,
            epsilon::<T>() * size,
        )?;
    }
    Ok(())
}

fn products<T: Real>(device: &Device) -> Result<(), Failed> {
    for (rows, columns) in [(1, 1), (4, 8), (5, 7), (3, 1000), (130, 513), (64, 2048)] {
        let a = random::<T>(rows * columns, 1.0);
        let x = random::<T>(columns, 1.0);
        let (a_buffer, x_buffer) = (device.buffer_from(&a)?, device.buffer_from(&x)?);
        let mut y = device.buffer_filled(rows, T::from_f64(f64::NAN))?;
        let product = Product::<T>::new(device, rows as u32)?;
        let stream = Stream::new(device)?;
        // SAFETY: the buffers live until the stream is synchronised.
        unsafe { product.launch(&stream, a_buffer.slice(), x_buffer.slice(), y.slice_mut()) }?;
        stream.synchronize()?;
        for (row, actual) in wide(&y.to_vec()?).enumerate() {
            let terms = || {
                let row = &a[row * columns..][..columns];
                wide(row).zip(wide(&x)).map(|(a, x)| a * x)
            };
            let (expected, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
            let allowed = 16.0 * epsilon::<T>() * size;
            near(
                &format!("{rows} x {columns}, row {row}"),
                actual,
                expected,
                allowed,
            )?;
        }
    }
    Ok(())
}

fn scaled<T: Real>(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    for n in SIZES {
        let x = random::<T>(n, 5.0);
        let from = device.buffer_from(&x)?;
        let number = device.buffer_filled(1, T::from_f64(3.0))?;
        let mut to = device.buffer_filled(n, T::from_f64(f64::NAN))?;
        let shape = Shape::linear(map_threads::<T>(n as u64), elementwise::BLOCK);
        let factor = T::from_f64(3.0);
        let check = |name: &str, y: Vec<T>, expected: &dyn Fn(f64) -> f64| {
            wide(&x)
                .zip(wide(&y))
                .enumerate()
                .try_for_each(|(i, (x, y))| {
                    let expected = expected(x);
                    let allowed = 2.0 * epsilon::<T>() * expected.abs();
                    near(
                        &format!("{name}, n = {n}, element {i}"),
                        y,
                        expected,
                        allowed,
                    )
                })
        };
        let scale = Scaled::new(device, n)?;
        // SAFETY: here and below the buffers live until the stream is synchronised.
        unsafe { scale.launch(&stream, factor, from.slice(), to.slice_mut()) }?;
        stream.synchronize()?;
        check("scale", to.to_vec()?, &|x| 3.0 * x)?;

        let scale_by = device.prepare(T::scale_by(), shape)?;
        // SAFETY: as above.
        unsafe { scale_by.launch(&stream, &(number.slice(), from.slice(), to.slice_mut(), n)) }?;
        stream.synchronize()?;
        check("scale by the device's", to.to_vec()?, &|x| 3.0 * x)?;

        let divide = Divide::new(device, n)?;
        // SAFETY: as above.
        unsafe { divide.launch(&stream, number.slice(), from.slice(), to.slice_mut()) }?;
        stream.synchronize()?;
        check("divide", to.to_vec()?, &|x| x / 3.0)?;

        let axpy = device.prepare(T::axpy(), shape)?;
        // SAFETY: as above.
        unsafe {
            axpy.launch(
                &stream,
                &(
                    Axpy { factor },
                    from.slice(),
                    from.slice(),
                    to.slice_mut(),
                    n,
                ),
            )
        }?;
        stream.synchronize()?;
        check("axpy", to.to_vec()?, &|x| 4.0 * x)?;
    }
    Ok(())
}

fn functions(device: &Device) -> Result<(), Failed> {
    apply(
        device,
        "relu",
        relu_f32::entry().with_signature(),
        Relu,
        &|x| x.max(0.0),
    )?;
    apply(
        device,
        "exp",
        exp_f32::entry().with_signature(),
        Exp,
        &f64::exp,
    )?;
    apply(
        device,
        "sqrt",
        sqrt_f32::entry().with_signature(),
        Sqrt,
        &f64::sqrt,
    )?;
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    apply(
        device,
        "gelu",
        gelu_f32::entry().with_signature(),
        Gelu,
        &|x| x * normal(x),
    )
}

fn apply<F: for<'a> Argument<Of<'a> = F> + Copy>(
    device: &Device,
    name: &str,
    entry: Entry<Map<f32, F>>,
    function: F,
    expected: &dyn Fn(f64) -> f64,
) -> Result<(), Failed> {
    let n = 4099;
    let x = random::<f32>(n, 20.0);
    let from = device.buffer_from(&x)?;
    let mut to = device.buffer_filled(n, f32::NAN)?;
    let shape = Shape::linear(map_threads::<f32>(n as u64), elementwise::BLOCK);
    let prepared = device.prepare(entry, shape)?;
    let stream = Stream::new(device)?;
    // SAFETY: the buffers live until the stream is synchronised.
    unsafe { prepared.launch(&stream, &(function, from.slice(), to.slice_mut(), n)) }?;
    stream.synchronize()?;
    wide(&x).zip(wide(&to.to_vec()?)).try_for_each(|(x, y)| {
        let expected = expected(x);
        let allowed = 3e-7 * expected.abs() + 2e-7 * x.abs().min(1.0);
        near(&format!("{name}({x})"), y, expected, allowed)
    })
}
