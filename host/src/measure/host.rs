//! What the host's own cores can do: the roofs of the emulator.
//!
//! They are measured, since no data sheet says what a core makes of scalar code, and they are the
//! host's: nothing here says anything about a GPU.

use std::hint::black_box;
use std::ops::{Add, Mul};
use std::thread;
use std::time::Instant;

use cuda_std::packed::F16x2;
use cuda_std::{GpuFloat, f16};

use crate::driver::host_memory;
use crate::model::{BytesPerSec, FlopsPerSec, Precision, Roofs};

/// Measures this host's roofs with all cores at once, in some tenths of a second.
///
/// # Errors
/// So many bytes of memory are not to be had.
pub fn host_roofs(precision: Precision) -> Result<Roofs, u64> {
    match precision {
        Precision::F32 => measure::<f32>(),
        Precision::F64 => measure::<f64>(),
        Precision::F16x2 => measure::<F16x2>(),
    }
}

/// What the chains are of.
trait Real: Copy + Add<Output = Self> + Mul<Output = Self> + Send + Sync + 'static {
    /// Numbers in a value.
    const NUMBERS: usize;
    /// Steps of a chain: enough for some milliseconds.
    const STEPS: usize;

    /// A half.
    fn half() -> Self;

    /// `self * a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;
}

impl Real for f32 {
    const NUMBERS: usize = 1;
    const STEPS: usize = 200_000;

    fn half() -> f32 {
        0.5
    }

    fn fused(self, a: f32, b: f32) -> f32 {
        GpuFloat::mul_add(self, a, b)
    }
}

impl Real for f64 {
    const NUMBERS: usize = 1;
    const STEPS: usize = 200_000;

    fn half() -> f64 {
        0.5
    }

    fn fused(self, a: f64, b: f64) -> f64 {
        GpuFloat::mul_add(self, a, b)
    }
}

/// By many instructions: no host works on them at once.
impl Real for F16x2 {
    const NUMBERS: usize = 2;
    const STEPS: usize = 2000;

    fn half() -> F16x2 {
        F16x2::splat(f16::from_f32(0.5))
    }

    fn fused(self, a: F16x2, b: F16x2) -> F16x2 {
        self.mul_add(a, b)
    }
}

fn measure<T: Real>() -> Result<Roofs, u64> {
    let fma = chains(|value: T, x| value.fused(x, x));
    let add_mul = chains(|value: T, x| value * x + x);
    Ok(Roofs {
        memory: copy()?,
        fma,
        add_mul,
        peak: if fma > add_mul { fma } else { add_mul },
    })
}

/// The rate of `step`, two operations a number, in enough independent chains to keep a core busy.
fn chains<T: Real>(step: impl Fn(T, T) -> T + Sync) -> FlopsPerSec {
    const CHAINS: usize = 48;
    let work = || {
        let x = black_box(T::half());
        let mut values = [x; CHAINS];
        for _ in 0..T::STEPS {
            for value in &mut values {
                *value = step(*value, x);
            }
        }
        black_box(values);
    };
    let seconds = best_of_five(|| {
        thread::scope(|scope| {
            for _ in 0..simt::cores() {
                scope.spawn(work);
            }
        });
    });
    let operations = 2 * T::NUMBERS * CHAINS * T::STEPS * simt::cores();
    FlopsPerSec(operations as f64 / seconds)
}

/// The rate at which all cores copy, bytes read plus bytes written, out of cache.
fn copy() -> Result<BytesPerSec, u64> {
    const BYTES: usize = 64 << 20;
    let part = BYTES / simt::cores();
    let source = host_memory(BYTES, 1u8)?;
    let mut target = host_memory(BYTES, 2u8)?;
    let seconds = best_of_five(|| {
        thread::scope(|scope| {
            for (target, source) in target.chunks_mut(part).zip(source.chunks(part)) {
                scope.spawn(|| target.copy_from_slice(source));
            }
        });
        black_box(&target);
    });
    Ok(BytesPerSec(2.0 * BYTES as f64 / seconds))
}

/// Seconds that `work` takes, the best of five times.
fn best_of_five(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(time).fold(f64::INFINITY, f64::min)
}
