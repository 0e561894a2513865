//! The polynomial kernels.

use kernels_gpu::polynomial::{Element, Form, WIDTHS, reference};

use super::Case;
use crate::driver::{Device, DeviceValue, DriverError, Shape, Stream};

/// Steps: more than a straight line has, and some that are left.
const K: u32 = 131;
const BLOCK: u32 = 128;

pub(super) fn cases() -> Vec<Case> {
    let forms = [Form::PowerSum, Form::Horner];
    let kernels = forms
        .iter()
        .flat_map(|&form| WIDTHS.map(|width| (form, width)));
    kernels
        .flat_map(|(form, width)| [case::<f32>(form, width), case::<f64>(form, width)])
        .flatten()
        .collect()
}

fn case<T: Element + DeviceValue>(form: Form, width: u32) -> Option<Case> {
    let kernel = T::kernel(form, width)?.name;
    let run = move |device: &Device, n: usize| {
        let x: Vec<T> = (0..n)
            .map(|i| T::from_f64((i % 201) as f64 / 100.0 - 1.0))
            .collect();
        let y = launch(device, form, width, &x).map_err(|error| error.to_string())?;
        for (i, (&x, y)) in x.iter().zip(y).enumerate() {
            let expected = reference(x.into(), K);
            let error = (y.into() - expected.value).abs();
            if error.is_nan() || error > T::tolerance(K) * expected.scale {
                return Err(format!("element {i} is {y:?}, expected {}", expected.value));
            }
        }
        Ok(())
    };
    Some(Case {
        kernel,
        run: Box::new(run),
    })
}

fn launch<T: Element + DeviceValue>(
    device: &Device,
    form: Form,
    width: u32,
    x: &[T],
) -> Result<Vec<T>, DriverError> {
    let kernel = T::kernel(form, width).expect("`case` has looked");
    let input = device.buffer_from(x)?;
    let mut output = device.buffer_uninitialized(x.len())?;
    let threads = x.len().div_ceil(width as usize) as u64;
    let prepared = device.prepare(kernel, Shape::linear(threads, BLOCK))?;
    let stream = Stream::new(device)?;
    // SAFETY: both buffers have as many elements, and outlive the wait.
    unsafe { prepared.launch(&stream, &(input.slice(), output.slice_mut(), K)) }?;
    stream.synchronize()?;
    output.to_vec()
}
