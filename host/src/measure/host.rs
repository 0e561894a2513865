//! What the emulator reaches at most on this host: its roofs.
//!
//! They are measured, since no data sheet says what a host's cores make of a GPU's code, and they are
//! the host's: nothing here says anything about a GPU. The arithmetic is that of the polynomial's
//! kernels, because a roof of other code is one that these may exceed.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use cuda_std::launch::{Slice, SliceMut};
use cuda_std::packed::F16x2;
use itertools::iproduct;
use kernels_gpu::polynomial::{Element, Form, ILPS, WIDTHS};

use crate::driver::host_memory;
use crate::model::{BytesPerSec, FlopsPerSec, Precision, Roofs};

/// Measures the roofs with all cores at once, in some tenths of a second.
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

fn measure<T: Element>() -> Result<Roofs, u64> {
    let (fma, add_mul) = (highest::<T>(Form::Horner), highest::<T>(Form::PowerSum));
    Ok(Roofs {
        memory: copy()?,
        fma,
        add_mul,
        peak: if fma > add_mul { fma } else { add_mul },
    })
}

/// Elements that lie as in device memory: at multiples of 16 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Aligned<T>([T; LANES]);

const LANES: usize = 4;

/// The rate of the fastest kernel of a form.
fn highest<T: Element>(form: Form) -> FlopsPerSec {
    let rates = iproduct!(WIDTHS, ILPS).map(|(width, ilp)| rate::<T>(form, width, ilp));
    FlopsPerSec(rates.fold(0.0, f64::max))
}

/// Operations a second of one kernel, in launches so long that what surrounds the arithmetic is nothing.
fn rate<T: Element>(form: Form, width: u32, ilp: u32) -> f64 {
    const THREADS: u32 = 64;
    /// Enough for each core to have a block all the time.
    const BLOCKS_PER_CORE: u32 = 8;
    const LONG_ENOUGH_SECONDS: f64 = 2e-3;
    /// Up to this degree no number overflows (`Element::X`).
    const HIGHEST_DEGREE: u32 = 1000;
    let shape = simt::Shape {
        grid: [BLOCKS_PER_CORE * simt::cores() as u32, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
    };
    let elements = (shape.grid[0] * THREADS * width * ilp) as usize;
    let x = vec![Aligned([T::from_f64(T::X); LANES]); elements / LANES];
    let mut y = x.clone();
    let entry = T::kernel(form, width, ilp).expect("there is one for each of WIDTHS and ILPS");
    let call = entry.call;
    let mut seconds = |k: u32| {
        // SAFETY: x and y hold so many elements, which nothing else reaches until the launch has ended.
        let (x, y) = unsafe {
            (
                Slice::from_raw(x.as_ptr().cast::<T>(), elements),
                SliceMut::from_raw(y.as_mut_ptr().cast::<T>(), elements),
            )
        };
        let arguments = (x, y, k);
        let start = Instant::now();
        // SAFETY: y has room for x and is apart from it, both are aligned (`Aligned`), the grid is
        // one-dimensional, and k is at least 1.
        simt::launch(shape, &|| unsafe { call(&arguments) }).expect("the kernels are correct");
        start.elapsed().as_secs_f64()
    };
    let mut k = HIGHEST_DEGREE / 64;
    while k < HIGHEST_DEGREE && seconds(k) < LONG_ENOUGH_SECONDS {
        k = (2 * k).min(HIGHEST_DEGREE);
    }
    let shortest = (0..3).map(|_| seconds(k)).fold(f64::INFINITY, f64::min);
    let numbers = elements * T::from_f64(T::X).numbers().count();
    2.0 * f64::from(k) * numbers as f64 / shortest
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Device, DeviceChoice};
    use crate::measure::{CacheState, Runs, Sampling};
    use crate::sweep::{Axes, GridSize, Settings, Sweep};

    /// Whatever else the machine does makes rows slower, which are means; roofs are of the best times.
    #[test]
    fn no_kernel_of_a_sweep_is_much_faster_than_its_roof() {
        let emulator = Device::open(&DeviceChoice::Cpu).expect("always there");
        let axes = Axes {
            forms: vec![Form::PowerSum, Form::Horner],
            precisions: vec![Precision::F32, Precision::F64],
            vectors: vec![4],
            ilps: vec![1, 4],
            n: vec![1 << 14],
            blocks: vec![256],
            grids: vec![GridSize::Full],
            caches: vec![CacheState::Warm],
            k: vec![1000],
        };
        let runs = Runs {
            warmup: 1,
            timed: 3,
        };
        let sampling = Sampling {
            runs,
            noise_percent: None,
            most: 3,
        };
        let settings = Settings {
            sampling,
            twice: false,
            x: None,
        };
        let mut sweep = Sweep::new(&emulator, &axes, settings).expect("small");
        for point in sweep.points().to_vec() {
            let row = sweep.measure(&point, None).expect("it runs");
            assert!(row.percent_roof < 140.0, "{point}: {} %", row.percent_roof);
        }
    }
}
