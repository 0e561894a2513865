//! Norms and the dot product, as users launch them.

use kernels_gpu::norm::BLOCK;
use kernels_gpu::normalize;
use kernels_gpu::vector::{normalize_blocks, reduction_blocks, reference_norm};

use super::checked::{Checked, OfSize};
use super::registry::Listed;
use super::values::{Expected, Given, Output, epsilon, random, whole};
use crate::driver::LaunchConfig;
use crate::vector::Real;
use crate::workload::Point;

/// The axis of checks that says which of [`Numbers::ALL`] a vector has.
pub(super) const NUMBERS: &str = "numbers";
/// The most elements of vectors of other than usual numbers.
pub(super) const MOST_UNUSUAL: usize = 3000;

pub(super) fn listed() -> Vec<Listed> {
    let mut listed = of_type::<f32>();
    listed.extend(of_type::<f64>());
    listed
}

fn of_type<T: Real>() -> Vec<Listed> {
    // So many elements that more blocks have some than a warp takes the sums of at once.
    let many = 2 * T::WIDTH as u64 + 1;
    let usual = |it: &'static OfSize| Checked::of_size(it).all_seeded().each(many);
    // At most 18,000 elements, which one block takes in whole turns and a rest; of f64 some threads have two vectors of it.
    let in_turns = |it: &'static OfSize| Checked::of_size(it).each(3).most(6000);
    // So many that threads come to the loop over several vectors.
    let each = T::WIDTH as u64 + 1;
    let unusual = |it: &'static OfSize| {
        let others = 1..Numbers::ALL.len() as u64;
        let checked = Checked::of_size(it).at(NUMBERS, others);
        checked.each(each).most(MOST_UNUSUAL)
    };
    let of_point = |at: &Point<'_>| Numbers::ALL[at.size(NUMBERS)];
    let [norms, roots] = [norm::<T>(|_| Numbers::Usual), norm::<T>(of_point)];
    let [normalizes, others] = [
        normalized::<T>(|_| Numbers::Usual),
        normalized::<T>(of_point),
    ];
    let [dots, no_numbers] = [false, true].map(dot::<T>);
    vec![
        Listed::checked(norms, [usual(norms), in_turns(norms), unusual(roots)]),
        Listed::checked(normalizes, [usual(normalizes), unusual(others)]),
        Listed::checked(dots, [usual(dots), usual(no_numbers).most(257)]),
    ]
}

/// The numbers that a norm is taken of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// From -1 to 1.
    Usual,
    /// Whose squares overflow.
    Large,
    /// Whose squares underflow.
    Small,
    /// Some of whose squares are subnormal, and others are not.
    SmallAndUsual,
    /// Some of which count as large, and others do not.
    LargeAndUsual,
    /// Few of which outweigh all others: those of the last lane of a warp.
    Unequal,
    /// One is infinite.
    Infinite,
    /// One is NaN.
    NotANumber,
    /// All are 0.
    Zero,
}

impl Numbers {
    pub(super) const ALL: [Numbers; 9] = [
        Numbers::Usual,
        Numbers::Large,
        Numbers::Small,
        Numbers::SmallAndUsual,
        Numbers::LargeAndUsual,
        Numbers::Unequal,
        Numbers::Infinite,
        Numbers::NotANumber,
        Numbers::Zero,
    ];

    pub(super) fn of<T: Real>(self, n: usize) -> Vec<T> {
        let (small, large): (f64, f64) = (T::SMALL.into(), T::LARGE.into());
        let number = |i: usize, x: f64| match self {
            Numbers::Usual => x,
            Numbers::Large => x * large * large.sqrt(),
            Numbers::Small => x * small * small.sqrt(),
            Numbers::SmallAndUsual => 8.0 * x * small,
            // `f64` counts as large from 2^486 on.
            Numbers::LargeAndUsual => x * large / f64::from(1 << 24),
            // Of 32 lanes with 2 or 4 elements each.
            Numbers::Unequal if matches!(i % 128, 62 | 124) => 1024.0 * x,
            Numbers::Unequal => x / 1024.0,
            Numbers::Infinite if i == n / 2 => f64::NEG_INFINITY,
            Numbers::NotANumber if i == n / 2 => f64::NAN,
            Numbers::Infinite | Numbers::NotANumber => x,
            Numbers::Zero => 0.0,
        };
        let numbers = (0..).zip(random::<T>(n));
        let numbers = numbers.map(|(i, x)| T::from_f64(number(i, x.into())));
        numbers.collect()
    }
}

/// Blocks of a launch over `n` elements: by turns so many that a warp adds up their sums at once, one after the other, and that it
/// does not; one that has them in several turns; and as many as users launch.
pub(super) fn blocks<T: Real>(at: &Point<'_>) -> u64 {
    match at.whole("n") {
        100..1000 => 3,
        1000..4000 => 260,
        16_000..20_000 => 1,
        20_000..100_000 => 200,
        n => reduction_blocks::<T>(n, at.device().properties().multiprocessors),
    }
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

/// The numbers of a point's vector.
pub(super) trait OfPoint: Fn(&Point<'_>) -> Numbers + Send + Sync + 'static {}
impl<F: Fn(&Point<'_>) -> Numbers + Send + Sync + 'static> OfPoint for F {}

fn norm<T: Real>(numbers: impl OfPoint) -> &'static OfSize {
    OfSize::elements(T::nrm2().name(), move |at| {
        let (n, numbers) = (at.size("n"), numbers(at));
        let blocks = blocks::<T>(at);
        let arrays = at
            .launch(T::nrm2(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, 1)?;
                let partials = device.buffer_zeroed::<T::Sums>(blocks as usize)?;
                Ok((given, partials, device.buffer_zeroed(1)?))
            })
            .check(|(it, ..)| it.out.check([norm_of(it.here().0)].into_iter()));
        // SAFETY: x is aligned; one partial per block, and a ticket that begins at 0 and is 0 again after each launch.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, partials, ticket)| {
                let (partials, ticket) = (partials.slice_mut(..), ticket.slice_mut(..));
                (it.x.slice(..), it.out.view(), partials, ticket)
            })
        })
    })
}

fn normalized<T: Real>(numbers: impl OfPoint) -> &'static OfSize {
    OfSize::elements(T::normalize().name(), move |at| {
        let (n, numbers) = (at.size("n"), numbers(at));
        let multiprocessors = at.device().properties().multiprocessors;
        let blocks = match numbers {
            Numbers::Usual => normalize_blocks::<T>(n as u64, multiprocessors),
            // A block with several tiles.
            _ => 1,
        };
        let config = LaunchConfig::blocks(blocks, normalize::BLOCK);
        let arrays = at
            .launch(T::normalize(), config)
            .cooperative()
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, n)?;
                let length = Output::<T>::new(device, 1)?;
                let partials = device.buffer_zeroed::<T::Sums>(blocks as usize)?;
                Ok((given, length, partials, device.buffer_zeroed(1)?))
            })
            .check(|(it, length, ..)| {
                let (x, _) = it.here();
                let expected = norm_of(x);
                length.check([expected].into_iter())?;
                it.out.check(wide(x).map(|x| Expected {
                    value: x / expected.value,
                    tolerance: 4.0 * epsilon::<T>() * (x / expected.value).abs(),
                }))
            });
        // SAFETY: x and y have n elements and are aligned; one partial per block, and arrivals that begin with 0.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(it, length, partials, arrivals)| {
                let (partials, arrivals) = (partials.slice_mut(..), arrivals.slice_mut(..));
                let (x, y, length) = (it.x.slice(..), it.out.view(), length.view());
                (x, y, n, length, partials, arrivals)
            })
        })
    })
}

/// With NaN among the numbers, or without.
fn dot<T: Real>(has_nan: bool) -> &'static OfSize {
    OfSize::elements(T::dot().name(), move |at| {
        let (n, blocks) = (at.size("n"), blocks::<T>(at));
        let arrays = at
            .launch(T::dot(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                // Products add up exactly, and to far less than the greatest of them: what is lost of any shows.
                let mut numbers = whole::<T>(2 * n, 19);
                for i in n / 2..n {
                    let mirrored = n - 1 - i;
                    let y: f64 = numbers[n + mirrored].into();
                    numbers[i] = numbers[mirrored];
                    numbers[n + i] = T::from_f64(if i == mirrored { 3.0 } else { 3.0 - y });
                }
                if has_nan && n > 0 {
                    numbers[n / 2] = T::from_f64(f64::NAN);
                }
                let given = Given::<T>::new(device, numbers, n, 1)?;
                let partials = device.buffer_zeroed(blocks as usize)?;
                Ok((given, partials, device.buffer_zeroed(1)?))
            })
            .check(|(it, ..)| {
                let (x, y) = it.here();
                let sum: f64 = wide(x).zip(wide(y)).map(|(x, y)| x * y).sum();
                let rounded = T::from_f64(sum).into();
                it.out.check([Expected::exactly(rounded)].into_iter())
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
