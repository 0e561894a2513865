//! The polynomial kernels.

use cuda_std::packed::F16x2;
use itertools::iproduct;
use kernels_gpu::polynomial::{Element, Form, ILPS, Reference, WIDTHS, reference};

use super::values::{Expected, Output};
use super::{Case, launch};
use crate::driver::{DeviceValue, LaunchConfig};

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

fn case<T: Element + DeviceValue>((form, width, ilp): Kernel) -> Option<Case> {
    let entry = T::kernel(form, width, ilp)?;
    let case = Case::new(entry.name(), move |device, n| {
        let mut numbers = (0..).map(|i| T::X * (f64::from(i % 201) / 100.0 - 1.0));
        let x: Vec<T> = (0..n)
            .map(|_| T::from_numbers(|| numbers.next().expect("there is no end")))
            .collect();
        let from = device.buffer_from(&x)?;
        let threads = n.div_ceil((width * ilp) as usize) as u64;
        // A thread for each vector, and so few that each has several.
        for shape in [
            LaunchConfig::linear(threads, BLOCK),
            LaunchConfig::blocks(2, BLOCK),
        ] {
            let mut to = Output::new(device, n)?;
            let arguments = (from.slice(..), to.view(), K);
            // SAFETY: both buffers have as many elements.
            unsafe { launch(device, entry, shape, arguments) }?;
            for (i, (x, y)) in x.iter().zip(to.values()?).enumerate() {
                for (x, y) in x.numbers().zip(y.numbers()) {
                    let Reference { value, error, .. } = reference::<T>(x, K);
                    let expected = Expected {
                        value,
                        tolerance: error,
                    };
                    expected.check(&format!("element {i}"), y)?;
                }
            }
        }
        Ok(())
    });
    Some(case)
}
