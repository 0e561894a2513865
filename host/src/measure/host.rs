//! What the host's own cores can do: the roofs of the emulator.
//!
//! They are measured, since no data sheet says what a core makes of scalar code, and they are the
//! host's: nothing here says anything about a GPU.

use std::hint::black_box;
use std::ops::{Add, Mul};
use std::thread;
use std::time::Instant;

use cuda_std::GpuFloat;

use crate::model::{BytesPerSec, FlopsPerSec, Precision, Roofs};

/// Measures this host's roofs with all cores at once, in some tenths of a second.
pub fn host_roofs(precision: Precision) -> Roofs {
    match precision {
        Precision::F32 => measure::<f32>(),
        Precision::F64 => measure::<f64>(),
    }
}

/// What the chains are of.
trait Real:
    GpuFloat + From<f32> + Add<Output = Self> + Mul<Output = Self> + Send + Sync + 'static
{
}
impl Real for f32 {}
impl Real for f64 {}

fn measure<T: Real>() -> Roofs {
    let fma = chains(|value: T, x| value.mul_add(x, x));
    let add_mul = chains(|value: T, x| value * x + x);
    Roofs {
        memory: copy(),
        fma,
        add_mul,
        peak: if fma > add_mul { fma } else { add_mul },
    }
}

/// The rate of `step`, two operations, in enough independent chains to keep a core busy.
fn chains<T: Real>(step: impl Fn(T, T) -> T + Sync) -> FlopsPerSec {
    const CHAINS: usize = 48;
    const STEPS: usize = 200_000;
    let work = || {
        let x = black_box(T::from(0.5));
        let mut values = [x; CHAINS];
        for _ in 0..STEPS {
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
    FlopsPerSec(2.0 * (CHAINS * STEPS * simt::cores()) as f64 / seconds)
}

/// The rate at which all cores copy, bytes read plus bytes written, out of cache.
fn copy() -> BytesPerSec {
    const BYTES: usize = 64 << 20;
    let part = BYTES / simt::cores();
    let source = vec![1u8; BYTES];
    let mut target = vec![2u8; BYTES];
    let seconds = best_of_five(|| {
        thread::scope(|scope| {
            for (target, source) in target.chunks_mut(part).zip(source.chunks(part)) {
                scope.spawn(|| target.copy_from_slice(source));
            }
        });
        black_box(&target);
    });
    BytesPerSec(2.0 * BYTES as f64 / seconds)
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
