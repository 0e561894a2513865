//! Kernels of devices that share a vector, each by itself: it sends to its own words, or finds all of them there.

use kernels_gpu::distributed::{SEND_BLOCK, TAKE_BLOCK, gemv_send, take_look, take_normalized};
use kernels_gpu::norm::BLOCK;
use kernels_gpu::reduction::{from_word, to_word};
use kernels_gpu::vector::reference_norm;

use super::checked::{Checked, OfSize};
use super::gemv::{UNEVEN, exact_bits};
use super::norm::{self, MOST_UNUSUAL, NUMBERS, Numbers, OfPoint};
use super::registry::Listed;
use super::values::{Expected, Given, Output, check_each, check_same, epsilon, random, whole};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig};
use crate::vector::Real;
use crate::workload::{Case, Point, PointError};

/// The most rows in a check: each takes a block, whatever its length.
const MAX_ROWS: usize = 1000;
/// Columns of a matrix of many rows.
const COLUMNS: usize = 5;
/// Devices whose sums a norm is made of: more than a thread asks for at once, and some that are left.
const DEVICES: usize = 19;
/// The factors of the squares' roots in the three sums of `f64`: usual numbers, small ones and large ones.
const FACTORS: [f64; 3] = [
    1.0,
    f64::from_bits((1023 + 537) << 52),
    f64::from_bits((1023 - 538) << 52),
];
/// Words that a thread asks for at once.
const IN_FLIGHT: usize = 8;
/// No check waits for long.
const NANOSECONDS: u64 = 1_000_000_000;

pub(super) fn listed() -> Vec<Listed> {
    let all = [
        OfSize::elements(gemv_send::entry().name(), product),
        root::<f32>(),
        root::<f64>(),
    ];
    let listed = |it: &'static OfSize| Listed::checked(it, [Checked::of_size(it)]);
    let mut all: Vec<Listed> = all.into_iter().map(listed).collect();
    let takes = [
        OfSize::elements(take_normalized::entry().name(), normalized),
        OfSize::elements(take_look::entry().name(), look),
    ];
    all.extend(takes.map(taking));
    all.extend([sums::<f32>(), sums::<f64>()]);
    all
}

/// At sizes, too, that end behind each of the words that a thread asks for at once.
fn taking(it: &'static OfSize) -> Listed {
    let ends = [(96, 64), (128, 40), (257, 28)];
    let ends = ends.map(|(each, most)| Checked::of_size(it).each(each).most(most));
    Listed::checked(it, [Checked::of_size(it)].into_iter().chain(ends))
}

fn sums<T: Real>() -> Listed {
    let each = T::WIDTH as u64 + 1;
    let usual = squares::<T>(|_| Numbers::Usual);
    let unusual = squares::<T>(|at| Numbers::ALL[at.size(NUMBERS)]);
    let others = [Numbers::Large, Numbers::Small, Numbers::NotANumber];
    let unusual = Checked::of_size(unusual).at(NUMBERS, others.map(|it| it as u64));
    Listed::checked(
        usual,
        [
            Checked::of_size(usual).each(each),
            // At most 18,000 elements, which one block takes in whole turns and a rest.
            Checked::of_size(usual).each(3).most(6000),
            unusual.each(each).most(MOST_UNUSUAL),
        ],
    )
}

/// Words of two devices, one behind the other, and their addresses, as a kernel is given those that it sends to.
struct Sent {
    words: Output<u64>,
    targets: DeviceBuffer<u64>,
}

impl Sent {
    fn new(device: &Device, len: usize) -> Result<Sent, DriverError> {
        let mut words = Output::<u64>::new(device, 2 * len)?;
        let address = words.view().as_ptr().expose_provenance() as u64;
        let second = address + (len * size_of::<u64>()) as u64;
        let targets = device.buffer_from(&[address, second])?;
        Ok(Sent { words, targets })
    }

    fn numbers(&self) -> Result<Vec<f64>, PointError> {
        let words = self.words.contents()?;
        let (first, second) = words.split_at(words.len() / 2);
        check_same(second, first)?;
        Ok(first.iter().copied().map(from_word).collect())
    }
}

/// Words that have come, a full set to be emptied, and the flag of those that are lost.
struct Come {
    words: DeviceBuffer<u64>,
    spare: DeviceBuffer<u64>,
    lost: DeviceBuffer<u32>,
}

impl Come {
    fn new(device: &Device, numbers: &[f64]) -> Result<Come, DriverError> {
        let words: Vec<u64> = numbers.iter().copied().map(to_word).collect();
        Ok(Come {
            spare: device.buffer_from(&words)?,
            words: device.buffer_from(&words)?,
            lost: device.buffer_zeroed(1)?,
        })
    }

    /// Fails unless the set was emptied, and nothing lost.
    fn check(&self) -> Result<(), PointError> {
        check_same(&self.spare.to_vec()?, &vec![0; self.spare.len()])?;
        check_same(&self.lost.to_vec()?, &[0])
    }
}

fn product<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("n");
    // Few long rows, in vectors and without, and many short ones.
    let (rows, columns) = match n {
        33 => (2, UNEVEN),
        257 => (2, UNEVEN + 1),
        8 => (n, COLUMNS + 1),
        ..=MAX_ROWS => (n.max(1), COLUMNS),
        _ => (3, n),
    };
    let config = LaunchConfig::blocks(rows as u64, SEND_BLOCK);
    let arrays = at
        .launch(gemv_send::entry(), config)
        .arrays(move |device| {
            let mut numbers = whole::<f64>((rows + 1) * columns, exact_bits::<f64>());
            if rows == 8 {
                // Of the first row.
                numbers[columns] = f64::NAN;
            }
            let given = Given::new(device, numbers, columns, 0)?;
            Ok((given, Sent::new(device, rows + 1)?))
        })
        .check(move |(it, sent)| {
            let (x, a) = it.here();
            let numbers = sent.numbers()?;
            check_each(
                numbers[1..].iter().copied(),
                (0..rows).map(|row| {
                    let row = &a[row * columns..][..columns];
                    Expected::exactly(row.iter().zip(x).map(|(a, x)| a * x).sum())
                }),
            )
        });
    // SAFETY: device allocations are aligned, and there is a word for each row behind the first.
    Ok(unsafe {
        arrays.arguments_unchecked(move |(it, sent)| {
            let (a, x) = (it.y.slice(..), it.x.slice(..));
            (
                a,
                x,
                columns,
                1,
                rows.is_multiple_of(2),
                sent.targets.slice(..),
            )
        })
    })
}

/// Numbers that have come, and what is made of them.
struct Normalized {
    come: Come,
    out: Output<f64>,
    length: Output<f64>,
    numbers: Vec<f64>,
}

impl Normalized {
    fn new(device: &Device, n: usize) -> Result<Normalized, DriverError> {
        // By turns of all kinds but infinity and NaN.
        let numbers = Numbers::ALL[n % 6].of::<f64>(n);
        Ok(Normalized {
            come: Come::new(device, &numbers)?,
            out: Output::new(device, n)?,
            length: Output::new(device, 1)?,
            numbers,
        })
    }

    fn check(&self) -> Result<(), PointError> {
        let value = reference_norm(self.numbers.iter().copied());
        let tolerance = 2.0 * f64::EPSILON * value;
        self.length
            .check([Expected { value, tolerance }].into_iter())?;
        self.out.check(self.numbers.iter().map(|x| Expected {
            value: x / value,
            tolerance: 4.0 * f64::EPSILON * (x / value).abs(),
        }))?;
        self.come.check()
    }
}

fn normalized<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("n");
    let arrays = at
        .launch(take_normalized::entry(), blocks(n))
        .arrays(move |device| Normalized::new(device, n))
        .check(|it| it.check());
    // SAFETY: as many words in each set as numbers.
    Ok(unsafe {
        arrays.arguments_unchecked(move |it| {
            let Come { words, spare, lost } = &mut it.come;
            let sets = (words.slice_mut(..), spare.slice_mut(..));
            let (lost, out) = (lost.slice_mut(..), it.out.view());
            (sets.0, sets.1, out, n, it.length.view(), lost, NANOSECONDS)
        })
    })
}

fn look<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("n");
    let arrays = at
        .launch(take_look::entry(), blocks(n))
        .arrays(move |device| {
            let mut it = Normalized::new(device, n)?;
            let before: Vec<f64> = it.numbers.iter().map(|x| -x).collect();
            it.out.write(&before)?;
            let kept = [Output::<f64>::new(device, n)?, Output::new(device, n)?];
            Ok((it, before, kept))
        })
        .check(|(it, before, kept)| {
            let kept = [kept[0].values()?, kept[1].values()?];
            // A second launch finds what the first has made.
            if kept[0] != it.out.values()? {
                check_same(&kept[0], before)?;
            }
            check_same(&kept[1], &it.numbers)?;
            it.check()
        });
    // SAFETY: as many words in each set as numbers, and as many elements.
    Ok(unsafe {
        arrays.arguments_unchecked(move |(it, _, [before, product])| {
            let Come { words, spare, lost } = &mut it.come;
            let sets = (words.slice_mut(..), spare.slice_mut(..));
            let (lost, out) = (lost.slice_mut(..), it.out.view());
            let length = it.length.view();
            (
                sets.0,
                sets.1,
                out,
                n,
                length,
                lost,
                NANOSECONDS,
                before.view(),
                product.view(),
            )
        })
    })
}

fn blocks(n: usize) -> LaunchConfig {
    let at_once = IN_FLIGHT * TAKE_BLOCK as usize;
    LaunchConfig::blocks(n.div_ceil(at_once).max(1) as u64, TAKE_BLOCK)
}

fn squares<T: Real>(numbers: impl OfPoint) -> &'static OfSize {
    OfSize::elements(T::squares_send().name(), move |at| {
        let (n, numbers) = (at.size("n"), numbers(at));
        let blocks = norm::blocks::<T>(at);
        let arrays = at
            .launch(T::squares_send(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, 0)?;
                let sent = Sent::new(device, 2 * T::SUMS)?;
                let partials = device.buffer_zeroed(blocks as usize)?;
                Ok((given, sent, partials, device.buffer_zeroed(1)?))
            })
            .check(move |(it, sent, ..)| {
                let (x, _) = it.here();
                let own = match numbers {
                    Numbers::Small if T::SUMS > 1 => 1,
                    Numbers::Large if T::SUMS > 1 => 2,
                    _ => 0,
                };
                // The first device's words are not this one's.
                let sums = sent.numbers()?[T::SUMS..].to_vec();
                let expected = (0..T::SUMS).map(|sum| {
                    let scaled = x.iter().map(|&x| FACTORS[sum] * x.into());
                    let value = reference_norm(scaled).powi(2);
                    let tolerance = 4.0 * epsilon::<T>() * value;
                    match sum == own {
                        true => Expected { value, tolerance },
                        false => Expected::exactly(0.0),
                    }
                });
                check_each(sums.into_iter(), expected)
            });
        // SAFETY: one partial per block, a ticket that begins at 0, and words for two devices.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, sent, partials, ticket)| {
                let (partials, ticket) = (partials.slice_mut(..), ticket.slice_mut(..));
                (it.x.slice(..), 1, sent.targets.slice(..), partials, ticket)
            })
        })
    })
}

fn root<T: Real>() -> &'static OfSize {
    OfSize::elements(T::take_root().name(), |at| {
        let n = at.size("n");
        let own = n % T::SUMS;
        let arrays = at
            .launch(T::take_root(), LaunchConfig::blocks(1, 32))
            .arrays(move |device| {
                // Of each device one of the sums.
                let squares = random::<f64>(n.max(1)).into_iter().cycle();
                let mut squares: Vec<f64> = squares.take(DEVICES).map(f64::abs).collect();
                if n == 257 {
                    squares[0] = f64::NAN;
                }
                let mut sums = vec![0.0; DEVICES * T::SUMS];
                for (number, square) in squares.iter().enumerate() {
                    sums[number * T::SUMS + own] = *square;
                }
                let come = Come::new(device, &sums)?;
                Ok((
                    come,
                    Output::<T>::new(device, 1)?,
                    squares.iter().sum::<f64>(),
                ))
            })
            .check(move |(come, length, sum)| {
                let value = sum.sqrt() / FACTORS[own];
                let tolerance = 2.0 * epsilon::<T>() * value;
                length.check([Expected { value, tolerance }].into_iter())?;
                come.check()
            });
        // SAFETY: the sums of so many devices.
        Ok(unsafe {
            arrays.arguments_unchecked(|(come, length, _)| {
                let Come { words, spare, lost } = come;
                let sets = (words.slice_mut(..), spare.slice_mut(..));
                (
                    sets.0,
                    sets.1,
                    DEVICES as u32,
                    length.view(),
                    lost.slice_mut(..),
                    NANOSECONDS,
                )
            })
        })
    })
}
