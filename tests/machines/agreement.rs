//! The same cases on the emulator and on a GPU: both agree with the float64 reference, and with
//! each other bit for bit. nvcc's kernels, too, in nvcc/mod.rs.

use super::nvcc;
use cuda_std::packed::F16x2;
use gpu_test::{Failed, Trial, alike, on_both};
use itertools::iproduct;
use kernels_gpu::polynomial::{Element, Form, ILPS, WIDTHS, reference};
use ridgepoint::driver::{Device, DeviceValue, LaunchConfig, Stream};
use ridgepoint::kernels::embedded_ptx;

/// Sizes around those of a warp, a block and a grid, few of them multiples of a vector.
const SIZES: [usize; 13] = [0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1000, 65_537];
const DEGREES: [u32; 9] = [1, 2, 7, 16, 31, 100, 127, 129, 300];
/// Threads per block, and blocks in the grid if not one thread for each vector.
const LAUNCHES: [(u32, Option<u64>); 4] = [(256, None), (32, None), (100, None), (64, Some(3))];
/// Elements behind the output that no kernel may touch.
const GUARD: usize = 8;

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kernel in iproduct!([Form::PowerSum, Form::Horner], WIDTHS, ILPS) {
        trials.extend(trials_of::<f32>(kernel));
        trials.extend(trials_of::<f64>(kernel));
        trials.extend(trials_of::<F16x2>(kernel));
    }
    trials.extend(nvcc::trials());
    trials
}

/// Form, elements in a vector, vectors a thread.
type Kernel = (Form, u32, u32);

fn trials_of<T: Element + DeviceValue>(kernel: Kernel) -> [Trial; 2] {
    let (form, width, ilp) = kernel;
    let name = T::kernel(form, width, ilp).map_or("missing", |entry| entry.name());
    on_both(
        &format!("agreement::{name}"),
        embedded_ptx(),
        move |device| {
            each_case::<T>(|case| {
                let output = alike(device, embedded_ptx(), |device| case.run(device, kernel));
                let output =
                    output.map_err(|failed| case.failure(failed.message().unwrap_or("failed")))?;
                case.check(&output)
            })
        },
    )
}

struct Case<T> {
    x: Vec<T>,
    k: u32,
    block: u32,
    grid: Option<u64>,
}

fn each_case<T: Element>(
    mut test: impl FnMut(&Case<T>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(42);
    for n in SIZES {
        // The largest is there for its many blocks: few steps and one shape show what they do.
        let (degrees, launches) = if n > 1000 {
            (&DEGREES[..5], &LAUNCHES[..1])
        } else {
            (&DEGREES[..], &LAUNCHES[..])
        };
        for &k in degrees {
            for &(block, grid) in launches {
                // Negative x cancel, x above 1 grow.
                let x = (0..n)
                    .map(|_| T::from_numbers(|| T::X * (2.0 * random.f64() - 1.0)))
                    .collect();
                test(&Case { x, k, block, grid })?;
            }
        }
    }
    Ok(())
}

impl<T: Element + DeviceValue> Case<T> {
    fn run(&self, device: &Device, (form, width, ilp): Kernel) -> Result<Vec<T>, Failed> {
        let n = self.x.len();
        let x = device.buffer_from(&self.x)?;
        let mut y = device.buffer_filled(n + GUARD, T::from_f64(0.0))?;
        y.poison()?;
        let full = LaunchConfig::linear((n as u64).div_ceil(u64::from(width * ilp)), self.block);
        let shape = LaunchConfig::blocks(self.grid.unwrap_or(full.grid[0]), self.block);
        let entry = T::kernel(form, width, ilp).ok_or("no such kernel")?;
        let prepared = device.prepare(entry, shape)?;
        let stream = Stream::new(device)?;
        // SAFETY: y has more elements than x, and both live until the stream is synchronised.
        unsafe { prepared.launch(&stream, &(x.slice(..), y.slice_mut(..n), self.k)) }?;
        stream.synchronize()?;
        Ok(y.to_vec()?)
    }

    fn check(&self, output: &[T]) -> Result<(), Failed> {
        let (body, guard) = output.split_at(self.x.len());
        for (i, (x, y)) in self.x.iter().zip(body).enumerate() {
            for (x, actual) in x.numbers().zip(y.numbers()) {
                let expected = reference::<T>(x, self.k);
                let error = (actual - expected.value).abs();
                if error.is_nan() || error > expected.error {
                    let what = format!("element {i} is {y:?}, expected {expected:?}");
                    return Err(self.failure(&what));
                }
            }
        }
        let is_untouched = |value: &T| value.numbers().all(f64::is_nan);
        match guard.iter().position(|value| !is_untouched(value)) {
            Some(i) => Err(self.failure(&format!("element {i} behind the end was written"))),
            None => Ok(()),
        }
    }

    fn failure(&self, what: &str) -> Failed {
        let Case { x, k, block, grid } = self;
        let n = x.len();
        format!("n={n} k={k} block={block} grid={grid:?}: {what}").into()
    }
}
