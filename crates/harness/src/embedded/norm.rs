//! Norms and the dot product, as users launch them.

use kernels_gpu::norm::BLOCK;
use kernels_gpu::normalize;
use kernels_gpu::vector::{normalize_blocks, reduction_blocks, reference_norm};

use super::checked::{Checked, OfSize};
use super::registry::Listed;
use super::values::{Expected, Given, Output, epsilon, random};
use crate::driver::LaunchConfig;
use crate::vector::{Norm, Normalize, Real};
use crate::workload::Point;

pub(super) fn listed() -> Vec<Listed> {
    let all = [
        norm::<f32>(),
        norm::<f64>(),
        normalized::<f32>(),
        normalized::<f64>(),
        dot::<f32>(),
        dot::<f64>(),
    ];
    let listed = |it: &'static OfSize| Listed::checked(it, [Checked::of_size(it).all_seeded()]);
    all.into_iter().map(listed).collect()
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

fn norm<T: Real>() -> &'static OfSize {
    OfSize::elements(T::nrm2().name(), |at| {
        let n = at.size("n");
        let arrays = at
            .launch(T::nrm2(), LaunchConfig::blocks(blocks::<T>(at), BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, random(n), n, 1)?;
                Ok((given, Norm::<T>::new(device, n)?))
            })
            .check(|(it, _)| it.out.check([norm_of(it.here().0)].into_iter()));
        // SAFETY: all launches are in one stream.
        Ok(unsafe {
            arrays
                .enqueue(|(it, norm), _, stream| norm.launch(stream, it.x.slice(..), it.out.view()))
        })
    })
}

fn normalized<T: Real>() -> &'static OfSize {
    OfSize::elements(T::normalize().name(), |at| {
        let n = at.size("n");
        let multiprocessors = at.device().properties().multiprocessors;
        let blocks = normalize_blocks::<T>(n as u64, multiprocessors);
        let config = LaunchConfig::blocks(blocks, normalize::BLOCK);
        let arrays = at
            .launch(T::normalize(), config)
            .arrays(move |device| {
                let given = Given::<T>::new(device, random(n), n, n)?;
                let length = Output::<T>::new(device, 1)?;
                Ok((given, length, Normalize::<T>::new(device, n)?))
            })
            .check(|(it, length, _)| {
                let (x, _) = it.here();
                let expected = norm_of(x);
                length.check([expected].into_iter())?;
                it.out.check(wide(x).map(|x| Expected {
                    value: x / expected.value,
                    tolerance: 4.0 * epsilon::<T>() * (x / expected.value).abs(),
                }))
            });
        // SAFETY: all launches are in one stream.
        Ok(unsafe {
            arrays.enqueue(|(it, length, normalize), _, stream| {
                normalize.launch(stream, it.x.slice(..), it.out.view(), length.view())
            })
        })
    })
}

fn dot<T: Real>() -> &'static OfSize {
    OfSize::elements(T::dot().name(), |at| {
        let (n, blocks) = (at.size("n"), blocks::<T>(at));
        let arrays = at
            .launch(T::dot(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, random(2 * n), n, 1)?;
                let partials = device.buffer_zeroed(blocks as usize)?;
                Ok((given, partials, device.buffer_zeroed(1)?))
            })
            .check(|(it, ..)| {
                let (x, y) = it.here();
                let terms = || wide(x).zip(wide(y)).map(|(x, y)| x * y);
                let expected = Expected {
                    value: terms().sum(),
                    tolerance: epsilon::<T>() * terms().map(f64::abs).sum::<f64>(),
                };
                it.out.check([expected].into_iter())
            });
        // SAFETY: x and y are as long and aligned; one partial per block, and a ticket that begins at 0 and is 0
        // again after each launch.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, partials, ticket)| {
                let (x, y) = (it.x.slice(..), it.y.slice(..));
                let (partials, ticket) = (partials.slice_mut(..), ticket.slice_mut(..));
                (x, y, it.out.view(), partials, ticket)
            })
        })
    })
}

fn blocks<T: Real>(at: &Point<'_>) -> u64 {
    reduction_blocks::<T>(at.whole("n"), at.device().properties().multiprocessors)
}
