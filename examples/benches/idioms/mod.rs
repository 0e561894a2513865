//! Pairs of kernels with one result: `NAME-plain`, as one writes it at first, and `NAME-fast`. The plain ones of taps and powers
//! are `plain-conv-rows` and `plain-power-mod`. docs/fast-kernels.md explains them.

use example_kernels::idioms::{
    Bytes, Modulus, axpb_in_a_loop, axpb_once, mirror_by_division, mirror_in_two_dimensions,
    power_by_product, taps_by_five, threshold_by_sixteen, threshold_bytes,
};
use ridgepoint::driver::{Device, DeviceBuffer};
use ridgepoint::prelude::*;

use crate::plain::{
    EXPONENT, MODULUS, are_powers, are_taps, bases, digit, digits, numbers, size, weights,
};

/// An input and an output.
type Pair = (DeviceBuffer<f32>, DeviceBuffer<f32>);

/// Which of a pair.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Plain,
    Fast,
}

impl Form {
    fn of(self, [plain, fast]: [&'static str; 2]) -> &'static str {
        match self {
            Form::Plain => plain,
            Form::Fast => fast,
        }
    }
}

pub(crate) fn once(form: Form) -> impl Workload {
    const A: f32 = 1.5;
    const B: f32 = 0.25;
    let name = form.of(["once-plain", "once-fast"]);
    from_fn(name, size(1 << 26, 1000), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| digits(device, n, n, |x| x);
        let check = |(_, y): &Pair| close(y, 1e-6, |i| f64::from(A * digit(i) + B));
        let case = match form {
            Form::Plain => at
                .launch(axpb_in_a_loop::entry(), at.linear(n))
                .arrays(arrays)
                .check(check)
                .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), A, B)),
            Form::Fast => at
                .launch(axpb_once::entry(), at.linear(n))
                .arrays(arrays)
                .check(check)
                .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), A, B)),
        };
        Ok(case.reads::<f32>(n).writes::<f32>(n))
    })
}

pub(crate) fn mirror(form: Form) -> impl Workload {
    let name = form.of(["mirror-plain", "mirror-fast"]);
    from_fn(name, size(8192, 40), move |at| {
        let n = at.size("n");
        let arrays = move |device: &Device| digits(device, n * n, n * n, |x| x);
        let check =
            move |(_, y): &Pair| close(y, 0.0, |at| f64::from(digit(at / n * n + n - 1 - at % n)));
        let case = match form {
            Form::Plain => at
                .launch(mirror_by_division::entry(), at.linear(n * n))
                .arrays(arrays)
                .check(check)
                .arguments(move |(x, y)| (x.slice(..), y.slice_mut(..), n as u32)),
            Form::Fast => at
                .launch(
                    mirror_in_two_dimensions::entry(),
                    LaunchConfig::tiles([n as u64; 2], [64, 4]),
                )
                .arrays(arrays)
                .check(check)
                .arguments(move |(x, y)| (x.slice(..), y.slice_mut(..).shaped([n, n]))),
        };
        Ok(case.reads::<f32>(n * n).writes::<f32>(n * n))
    })
}

pub(crate) fn threshold(form: Form) -> impl Workload {
    const THRESHOLD: u8 = 5;
    const WIDTH: usize = size_of::<Bytes>();
    let name = form.of(["bytes-plain", "bytes-fast"]);
    from_fn(name, size(1 << 28, 1024), move |at| {
        let n = at.size("n") / WIDTH * WIDTH;
        let byte = |i: usize| (i * 37 % 11) as u8;
        let expected = move |i| if byte(i) > THRESHOLD { 255 } else { 0 };
        let case = match form {
            Form::Plain => at
                .launch(threshold_bytes::entry(), at.linear(n))
                .arrays(move |device| {
                    let x: Vec<u8> = (0..n).map(byte).collect();
                    Ok((device.buffer_from(&x)?, device.buffer_uninitialized(n)?))
                })
                .check(move |(_, y): &(_, DeviceBuffer<u8>)| numbers(&y.to_vec()?, expected))
                .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), THRESHOLD)),
            Form::Fast => at
                .launch(threshold_by_sixteen::entry(), at.linear(n / WIDTH))
                .arrays(move |device| {
                    let sixteen = |i| Bytes(core::array::from_fn(|k| byte(WIDTH * i + k)));
                    let x: Vec<Bytes> = (0..n / WIDTH).map(sixteen).collect();
                    Ok((
                        device.buffer_from(&x)?,
                        device.buffer_uninitialized(n / WIDTH)?,
                    ))
                })
                .check(move |(_, y): &(_, DeviceBuffer<Bytes>)| {
                    let found: Vec<u8> = y.to_vec()?.iter().flat_map(|it| it.0).collect();
                    numbers(&found, expected)
                })
                .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), THRESHOLD)),
        };
        Ok(case.reads::<u8>(n).writes::<u8>(n))
    })
}

pub(crate) fn taps() -> impl Workload {
    from_fn("taps-fast", size(4096, 40), |at| {
        let n = at.size("n");
        let m = n - 4;
        let size = n as u32;
        let case = at
            .launch(taps_by_five::entry(), at.linear(m * m))
            .arrays(move |device| digits(device, n * n, m * m, |x| x))
            .check(move |(_, y)| are_taps(y, n))
            .arguments(move |(x, y)| (x.slice(..), y.slice_mut(..), weights(), size));
        Ok(case.reads::<f32>(n * n).writes::<f32>(m * m))
    })
}

pub(crate) fn powers() -> impl Workload {
    from_fn("powers-fast", size(1 << 20, 100), |at| {
        let n = at.size("n");
        let case = at
            .launch(power_by_product::entry(), at.linear(n))
            .arrays(move |device| bases(device, n))
            .check(|(_, y)| are_powers(y))
            .arguments(|(x, y)| {
                (
                    x.slice(..),
                    y.slice_mut(..),
                    EXPONENT,
                    Modulus::new(MODULUS),
                )
            });
        Ok(case.reads::<u64>(n).writes::<u64>(n))
    })
}
