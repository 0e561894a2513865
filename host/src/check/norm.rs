//! Norms and the dot product.

use cuda_std::launch::Entry;
use kernels_gpu::ceilings::stream::Vector;
use kernels_gpu::norm::BLOCK;
use kernels_gpu::studied::{norms, nrm2_ilp1};
use kernels_gpu::vector::{reduction_blocks, reference_norm};

use super::values::{Expected, Output, check_each, epsilon, random};
use super::{Case, launch};
use crate::ceilings::memory::UNROLLS;
use crate::driver::{LaunchConfig, Stream};
use crate::vector::{Norm, Normalize, Real};

/// Threads a block of the kernels that take blocks of any size.
const STUDIED_BLOCK: u32 = 96;
/// The most blocks of theirs: so few that a thread has much to do, and so many that the last block
/// adds up the others' sums with all its threads.
const STUDIED_BLOCKS: [u64; 2] = [7, 400];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        norm::<f32>(),
        norm::<f64>(),
        normalize::<f32>(),
        normalize::<f64>(),
        dot::<f32>(),
        dot::<f64>(),
    ];
    cases.extend(UNROLLS.into_iter().filter_map(norms).map(studied_norm));
    cases.into_iter().map(Case::all_seeded).collect()
}

fn wide<T: Real>(x: &[T]) -> impl ExactSizeIterator<Item = f64> + Clone {
    x.iter().map(|&x| x.into())
}

fn norm_of<T: Real>(x: &[T]) -> Expected {
    let value = reference_norm(wide(x));
    Expected {
        value,
        tolerance: 2.0 * epsilon::<T>() * value,
    }
}

fn norm<T: Real>() -> Case {
    Case::new(T::nrm2().name(), |device, n| {
        let x = random::<T>(n);
        let from = device.buffer_from(&x)?;
        let mut result = Output::new(device, 1)?;
        let mut norm = Norm::<T>::new(device, n)?;
        let stream = Stream::new(device)?;
        // SAFETY: the buffers live until the stream is synchronised.
        unsafe { norm.launch(&stream, from.slice(..), result.view()) }?;
        stream.synchronize()?;
        norm_of(&x).check("the norm", result.values()?[0].into())
    })
}

fn normalize<T: Real>() -> Case {
    Case::new(T::normalize().name(), |device, n| {
        let x = random::<T>(n);
        let from = device.buffer_from(&x)?;
        let (mut to, mut length) = (Output::new(device, n)?, Output::new(device, 1)?);
        let mut normalize = Normalize::<T>::new(device, n)?;
        let stream = Stream::new(device)?;
        // SAFETY: the buffers live until the stream is synchronised.
        unsafe { normalize.launch(&stream, from.slice(..), to.view(), length.view()) }?;
        stream.synchronize()?;
        let expected = norm_of(&x);
        expected.check("the norm", length.values()?[0].into())?;
        let quotients = wide(&x).map(|x| Expected {
            value: x / expected.value,
            tolerance: 4.0 * epsilon::<T>() * (x / expected.value).abs(),
        });
        check_each(wide(&to.values()?), quotients)
    })
}

fn dot<T: Real>() -> Case {
    let entry = T::dot();
    Case::new(entry.name(), move |device, n| {
        let both = random::<T>(2 * n);
        let (x, y) = both.split_at(n);
        let blocks = reduction_blocks::<T>(n as u64, device.properties().multiprocessors);
        let (x_there, y_there) = (device.buffer_from(x)?, device.buffer_from(y)?);
        let mut result = Output::new(device, 1)?;
        let mut partials = device.buffer_zeroed(blocks as usize)?;
        let mut ticket = device.buffer_zeroed(1)?;
        let arguments = (
            x_there.slice(..),
            y_there.slice(..),
            result.view(),
            partials.slice_mut(..),
            ticket.slice_mut(..),
        );
        // SAFETY: x and y are as long and aligned; a partial a block, and a ticket of 0.
        unsafe {
            launch(
                device,
                entry,
                LaunchConfig::blocks(blocks, BLOCK),
                arguments,
            )
        }?;
        let terms = || wide(x).zip(wide(y)).map(|(x, y)| x * y);
        let expected = Expected {
            value: terms().sum(),
            tolerance: epsilon::<T>() * terms().map(f64::abs).sum::<f64>(),
        };
        expected.check("the product", result.values()?[0].into())
    })
}

/// Of `n` vectors.
fn studied_norm(entry: Entry<nrm2_ilp1>) -> Case {
    Case::new(entry.name(), move |device, n| {
        let x = random::<f32>(n * size_of::<Vector>() / size_of::<f32>());
        let from = device.buffer_from(bytemuck::cast_slice::<f32, Vector>(&x))?;
        for most in STUDIED_BLOCKS {
            let blocks = (n as u64).div_ceil(STUDIED_BLOCK.into()).clamp(1, most);
            let mut result = Output::new(device, 1)?;
            let mut partials = device.buffer_zeroed(blocks as usize)?;
            let mut ticket = device.buffer_zeroed(1)?;
            let arguments = (
                from.slice(..),
                result.view(),
                partials.slice_mut(..),
                ticket.slice_mut(..),
            );
            let shape = LaunchConfig::blocks(blocks, STUDIED_BLOCK);
            // SAFETY: a partial a block, a ticket of 0, and blocks of whole warps.
            unsafe { launch(device, entry, shape, arguments) }?;
            let what = format!("the norm by {blocks} blocks");
            norm_of(&x).check(&what, result.values()?[0].into())?;
        }
        Ok(())
    })
}
