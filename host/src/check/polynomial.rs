//! The polynomial kernels.

use cuda_std::packed::F16x2;
use itertools::iproduct;
use kernels_gpu::polynomial::{Element, Form, ILPS, WIDTHS, reference};

use super::Case;
use crate::driver::{Device, DeviceValue, DriverError, Shape, Stream};

/// Steps: more than a straight line has, and some that are left.
const K: u32 = 131;
const BLOCK: u32 = 128;

pub(super) fn cases() -> Vec<Case> {
    let kernels = iproduct!([Form::PowerSum, Form::Horner], WIDTHS, ILPS);
    kernels
        .flat_map(|kernel| {
            [
                case::<f32>(kernel),
                case::<f64>(kernel),
                case::<F16x2>(kernel),
            ]
        })
        .flatten()
        .collect()
}

/// Form, elements in a vector, vectors a thread.
type Kernel = (Form, u32, u32);

fn case<T: Element + DeviceValue>(kernel: Kernel) -> Option<Case> {
    let (form, width, ilp) = kernel;
    let name = T::kernel(form, width, ilp)?.name;
    let run = move |device: &Device, n: usize| {
        let mut numbers = (0..).map(|i| T::X * (f64::from(i % 201) / 100.0 - 1.0));
        let x: Vec<T> = (0..n)
            .map(|_| T::from_numbers(|| numbers.next().expect("there is no end")))
            .collect();
        let y = launch(device, kernel, &x).map_err(|error| error.to_string())?;
        for (i, (x, y)) in x.iter().zip(y).enumerate() {
            for (x, y) in x.numbers().zip(y.numbers()) {
                let expected = reference::<T>(x, K);
                let error = (y - expected.value).abs();
                if error.is_nan() || error > expected.error {
                    return Err(format!("element {i} is {y:?}, expected {}", expected.value));
                }
            }
        }
        Ok(())
    };
    Some(Case {
        kernel: name,
        run: Box::new(run),
    })
}

fn launch<T: Element + DeviceValue>(
    device: &Device,
    (form, width, ilp): Kernel,
    x: &[T],
) -> Result<Vec<T>, DriverError> {
    let kernel = T::kernel(form, width, ilp).expect("`case` has looked");
    let input = device.buffer_from(x)?;
    let mut output = device.buffer_uninitialized(x.len())?;
    let threads = x.len().div_ceil((width * ilp) as usize) as u64;
    let prepared = device.prepare(kernel, Shape::linear(threads, BLOCK))?;
    let stream = Stream::new(device)?;
    // SAFETY: both buffers have as many elements, and outlive the wait.
    unsafe { prepared.launch(&stream, &(input.slice(), output.slice_mut(), K)) }?;
    stream.synchronize()?;
    output.to_vec()
}
