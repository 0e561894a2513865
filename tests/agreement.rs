//! The same cases on the emulator and on a GPU: both agree with the float64 reference, and with
//! each other bit for bit.

use gpu_test::{Arguments, Failed, Trial, emulator, on_gpu};
use kernels_gpu::polynomial::{Element, Form, WIDTHS, reference};
use ridgepoint::driver::{Device, DeviceValue, Shape, Stream, embedded_ptx};

/// Sizes around those of a warp, a block and a grid, few of them multiples of a vector.
const SIZES: [usize; 13] = [0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1000, 65_537];
const DEGREES: [u32; 9] = [1, 2, 7, 16, 31, 100, 127, 129, 1000];
/// Threads a block, and blocks in the grid if not one thread for each vector.
const LAUNCHES: [(u32, Option<u64>); 4] = [(256, None), (32, None), (100, None), (64, Some(3))];
/// Elements behind the output that no kernel may touch.
const GUARD: usize = 8;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for form in [Form::PowerSum, Form::Horner] {
        for width in WIDTHS {
            trials.extend(trials_of::<f32>(form, width));
            trials.extend(trials_of::<f64>(form, width));
        }
    }
    gpu_test::run(&arguments, trials).exit();
}

fn trials_of<T: Element + DeviceValue>(form: Form, width: u32) -> [Trial; 2] {
    let name = T::kernel(form, width).map_or("missing", |entry| entry.name);
    [
        Trial::test(format!("emulator::{name}"), move || {
            each_case::<T>(|case| case.check(&case.run(&emulator()?, form, width)?))
        }),
        on_gpu(format!("cuda::{name}"), embedded_ptx(), move |gpu| {
            let emulator = emulator()?;
            each_case::<T>(|case| {
                let output = case.run(gpu, form, width)?;
                case.check(&output)?;
                case.check_equal(&output, &case.run(&emulator, form, width)?)
            })
        }),
    ]
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
        for k in DEGREES {
            // A degree of 1000 for each of 65,537 elements is the slowest by far: once is enough.
            let launches = if n > 1000 {
                &LAUNCHES[..1]
            } else {
                &LAUNCHES[..]
            };
            for &(block, grid) in launches {
                // Negative x cancel, x above 1 grow.
                let x = (0..n)
                    .map(|_| T::from_f64(random.f64() * 2.02 - 1.01))
                    .collect();
                test(&Case { x, k, block, grid })?;
            }
        }
    }
    Ok(())
}

impl<T: Element + DeviceValue> Case<T> {
    fn run(&self, device: &Device, form: Form, width: u32) -> Result<Vec<T>, Failed> {
        let n = self.x.len();
        let x = device.buffer_from(&self.x)?;
        let mut y = device.buffer_filled(n + GUARD, T::from_f64(0.0))?;
        y.poison()?;
        let full = Shape::linear((n as u64).div_ceil(u64::from(width)), self.block);
        let shape = Shape::blocks(self.grid.unwrap_or(full.grid[0]), self.block);
        let entry = T::kernel(form, width).ok_or("no such kernel")?;
        let prepared = device.prepare(entry, shape)?;
        let stream = Stream::new(device)?;
        // SAFETY: y has more elements than x, and both live until the stream is synchronised.
        unsafe { prepared.launch(&stream, &(x.slice(), y.first_mut(n), self.k)) }?;
        stream.synchronize()?;
        Ok(y.to_vec()?)
    }

    fn check(&self, output: &[T]) -> Result<(), Failed> {
        let (body, guard) = output.split_at(self.x.len());
        for (i, (&x, &actual)) in self.x.iter().zip(body).enumerate() {
            let expected = reference(x.into(), self.k);
            let error = (actual.into() - expected.value).abs();
            let allowed = T::tolerance(self.k) * expected.scale;
            if error.is_nan() || error > allowed {
                return Err(self.failure(i, format!("{actual:?}, expected {expected:?}")));
            }
        }
        match guard.iter().position(|value| !(*value).into().is_nan()) {
            Some(i) => Err(self.failure(self.x.len() + i, "written behind the end".to_owned())),
            None => Ok(()),
        }
    }

    fn check_equal(&self, gpu: &[T], emulator: &[T]) -> Result<(), Failed> {
        let bits = |value: &T| bytemuck::bytes_of(value).to_vec();
        match gpu
            .iter()
            .zip(emulator)
            .position(|(a, b)| bits(a) != bits(b))
        {
            Some(i) => {
                let (gpu, emulator) = (gpu[i], emulator[i]);
                Err(self.failure(i, format!("GPU {gpu:?}, emulator {emulator:?}")))
            }
            None => Ok(()),
        }
    }

    fn failure(&self, element: usize, what: String) -> Failed {
        let Case { x, k, block, grid } = self;
        let n = x.len();
        format!("n={n} k={k} block={block} grid={grid:?}: element {element}: {what}").into()
    }
}
