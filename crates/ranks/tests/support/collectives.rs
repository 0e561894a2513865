//! Every collective, on whatever devices, against the host's own computation.

use std::time::Duration;

use ranks::{Element, Limits, Part, PartMut, RankError, Reduction, RunError, run_threads};
use ridgepoint_driver::{Device, Stream};

/// Short, so that the tests of faults are.
pub(crate) fn limits() -> Limits {
    Limits::of(Duration::from_secs(5))
}

/// Each rank's elements: `len` that differ from rank to rank, whose sums are exact in any order: a ring begins each part elsewhere.
pub(crate) fn elements(rank: usize, len: usize) -> Vec<f64> {
    let value = |i: usize| ((i * 7 + rank * 13) % 101) as f64 / 4.0;
    (0..len).map(value).collect()
}

/// Every collective of `len` elements per rank, as every rank should have it.
pub(crate) fn all_collectives(
    devices: &[Device],
    engine: &str,
    len: usize,
) -> Result<(), RunError<RankError>> {
    let size = devices.len();
    let whole = len * size;
    run_threads(devices, limits(), |rank| {
        let communicator = rank.communicator()?;
        assert!(
            communicator.engine().starts_with(engine),
            "{}",
            communicator.engine()
        );
        let (device, own) = (rank.device(), rank.rank());
        let stream = Stream::new(device)?;
        let x = device.buffer_from(&elements(own, whole))?;
        let mut sums = device.buffer_filled(whole, f64::NAN)?;
        let mut share = device.buffer_filled(len + 2, f64::NAN)?;
        let mut all = device.buffer_filled(whole, f64::NAN)?;
        let mut in_place = device.buffer_from(&elements(own, whole))?;
        let mut broadcast = device.buffer_from(&elements(own, whole))?;
        let mut gathered = device.buffer_from(&elements(own, whole))?;
        let mut scattered = device.buffer_from(&elements(own, whole))?;
        // SAFETY: all buffers live until the stream has been synchronised, and are not used before.
        unsafe {
            communicator.all_reduce(&stream, Reduction::Sum, &x, &mut sums)?;
            let part = PartMut::of(&mut share, 1..=len);
            communicator.reduce_scatter(&stream, Reduction::Sum, &x, part)?;
            communicator.all_gather(&stream, Part::of(&x, ..len), &mut all)?;
            communicator.all_reduce_in_place(&stream, Reduction::Min, &mut in_place, ..)?;
            communicator.broadcast(&stream, size - 1, &mut broadcast)?;
            communicator.all_gather_in_place(&stream, &mut gathered, ..)?;
            communicator.reduce_scatter_in_place(&stream, Reduction::Max, &mut scattered, ..)?;
        }
        communicator.synchronize(&stream)?;
        let of_all: Vec<Vec<f64>> = (0..size).map(|it| elements(it, whole)).collect();
        let reduced = |by: fn(f64, f64) -> f64| -> Vec<f64> {
            let of_place = |i: usize| of_all.iter().map(|it| it[i]).reduce(by);
            (0..whole).map(|i| of_place(i).expect("a rank")).collect()
        };
        let (sum, own_part) = (reduced(|a, b| a + b), own * len..(own + 1) * len);
        assert_eq!(sums.to_vec()?, sum);
        assert_eq!(share.to_vec()?[1..=len], sum[own_part.clone()]);
        assert!(share.to_vec()?[0].is_nan() && share.to_vec()?[len + 1].is_nan());
        let firsts: Vec<f64> = of_all.iter().flat_map(|it| it[..len].to_vec()).collect();
        assert_eq!(all.to_vec()?, firsts);
        assert_eq!(in_place.to_vec()?, reduced(f64::min));
        assert_eq!(broadcast.to_vec()?, of_all[size - 1]);
        let parts = of_all.iter().enumerate();
        let parts = parts.flat_map(|(rank, it)| it[rank * len..(rank + 1) * len].to_vec());
        assert_eq!(gathered.to_vec()?, parts.collect::<Vec<_>>());
        let scattered = &scattered.to_vec()?[own_part.clone()];
        assert_eq!(scattered, &reduced(f64::max)[own_part]);
        Ok::<_, RankError>(())
    })
    .map(|done| assert_eq!(done.len(), size))
}

/// Sums of every type, by two devices.
pub(crate) fn every_type(devices: &[Device]) {
    summed(devices, [200u8, 100], 44);
    summed(devices, [-5i32, 3], -2);
    summed(devices, [u32::MAX, 2], 1);
    summed(devices, [-5i64, 3], -2);
    summed(devices, [1u64 << 40, 1], (1 << 40) + 1);
    summed(devices, [0.5f32, 0.25], 0.75);
    summed(devices, [0.5f64, 0.25], 0.75);
    summed(
        devices,
        [half::f16::ONE, half::f16::ONE],
        half::f16::from_f32(2.0),
    );
    summed(
        devices,
        [half::bf16::ONE, half::bf16::ONE],
        half::bf16::from_f32(2.0),
    );
}

fn summed<T: Element + PartialEq + std::fmt::Debug>(devices: &[Device], values: [T; 2], sum: T) {
    let all = run_threads(devices, limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(rank.device())?;
        let mut x = rank.device().buffer_filled(3, values[rank.rank()])?;
        // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
        unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, 1..) }?;
        communicator.synchronize(&stream)?;
        Ok::<_, RankError>(x.to_vec()?)
    });
    let all = all.expect("sums");
    assert_eq!(all[0], [values[0], sum, sum]);
    assert_eq!(all[1], [values[1], sum, sum]);
}
