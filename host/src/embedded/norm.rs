//! Norms and the dot product, as users launch them.

use kernels_gpu::norm::BLOCK;
use kernels_gpu::normalize;
use kernels_gpu::vector::{normalize_blocks, reduction_blocks, reference_norm};

use super::Checked;
use super::values::{Expected, Output, check_each, epsilon, random};
use crate::driver::LaunchConfig;
use crate::vector::{Norm, Normalize, Real};

pub(super) fn checked() -> Vec<Checked> {
    let all = [
        norm::<f32>(),
        norm::<f64>(),
        normalized::<f32>(),
        normalized::<f64>(),
        dot::<f32>(),
        dot::<f64>(),
    ];
    all.into_iter().map(Checked::all_seeded).collect()
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

fn norm<T: Real>() -> Checked {
    Checked::of_size(T::nrm2().name(), |at| {
        let n = at.size("n");
        let multiprocessors = at.device().properties().multiprocessors;
        let blocks = reduction_blocks::<T>(n as u64, multiprocessors);
        let arrays = at
            .launch(T::nrm2(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let x = device.buffer_from(&random::<T>(n))?;
                Ok((x, Output::<T>::new(device, 1)?, Norm::<T>::new(device, n)?))
            })
            .check(move |(_, result, _)| {
                let actual = result.values()?[0].into();
                norm_of(&random::<T>(n)).check("the norm", actual)
            });
        // SAFETY: all launches are in one stream.
        Ok(unsafe {
            arrays.enqueue(|(x, result, norm), _, stream| {
                norm.launch(stream, x.slice(..), result.view())
            })
        })
    })
}

fn normalized<T: Real>() -> Checked {
    Checked::of_size(T::normalize().name(), |at| {
        let n = at.size("n");
        let multiprocessors = at.device().properties().multiprocessors;
        let blocks = normalize_blocks::<T>(n as u64, multiprocessors);
        let arrays = at
            .launch(
                T::normalize(),
                LaunchConfig::blocks(blocks, normalize::BLOCK),
            )
            .arrays(move |device| {
                let x = device.buffer_from(&random::<T>(n))?;
                let (y, length) = (Output::<T>::new(device, n)?, Output::<T>::new(device, 1)?);
                Ok((x, y, length, Normalize::<T>::new(device, n)?))
            })
            .check(move |(_, y, length, _)| {
                let x = random::<T>(n);
                let expected = norm_of(&x);
                expected.check("the norm", length.values()?[0].into())?;
                let quotients = wide(&x).map(|x| Expected {
                    value: x / expected.value,
                    tolerance: 4.0 * epsilon::<T>() * (x / expected.value).abs(),
                });
                check_each(wide(&y.values()?), quotients)
            });
        // SAFETY: all launches are in one stream.
        Ok(unsafe {
            arrays.enqueue(|(x, y, length, normalize), _, stream| {
                normalize.launch(stream, x.slice(..), y.view(), length.view())
            })
        })
    })
}

fn dot<T: Real>() -> Checked {
    Checked::of_size(T::dot().name(), |at| {
        let n = at.size("n");
        let multiprocessors = at.device().properties().multiprocessors;
        let blocks = reduction_blocks::<T>(n as u64, multiprocessors);
        let arrays = at
            .launch(T::dot(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let both = random::<T>(2 * n);
                let (x, y) = both.split_at(n);
                Ok((
                    device.buffer_from(x)?,
                    device.buffer_from(y)?,
                    Output::<T>::new(device, 1)?,
                    device.buffer_zeroed(blocks as usize)?,
                    device.buffer_zeroed(1)?,
                ))
            })
            .check(move |(_, _, result, ..)| {
                let both = random::<T>(2 * n);
                let (x, y) = both.split_at(n);
                let terms = || wide(x).zip(wide(y)).map(|(x, y)| x * y);
                let expected = Expected {
                    value: terms().sum(),
                    tolerance: epsilon::<T>() * terms().map(f64::abs).sum::<f64>(),
                };
                expected.check("the product", result.values()?[0].into())
            });
        // SAFETY: x and y are as long and aligned; a partial a block, and a ticket that begins at 0 and is 0
        // again after each launch.
        Ok(unsafe {
            arrays.arguments_unchecked(|(x, y, result, partials, ticket)| {
                (
                    x.slice(..),
                    y.slice(..),
                    result.view(),
                    partials.slice_mut(..),
                    ticket.slice_mut(..),
                )
            })
        })
    })
}
