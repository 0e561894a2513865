//! Kernels of devices that share a vector, each by itself: it sends to its own words, or finds all of them there.

use std::ops::RangeInclusive;

use kernels_gpu::distributed::{SEND_BLOCK, TAKE_BLOCK, gemv_send, take_look, take_normalized};
use kernels_gpu::norm::BLOCK;
use kernels_gpu::reduction::{from_word, to_word};
use kernels_gpu::vector::reference_norm;

use super::checked::{Checked, OfSize};
use super::gemv::{UNEVEN, exact_bits};
use super::norm::{self, Grid};
use super::numbers::{NUMBERS, Numbers, wide};
use super::registry::Listed;
use super::values::{Expected, Given, Output, check_each, check_same, whole};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig};
use crate::vector::Real;
use crate::workload::{Axis, Case, Point, PointError};

/// The most rows in a check: each takes a block, whatever its length.
const MAX_ROWS: usize = 1000;
/// Columns of a matrix of many rows.
const COLUMNS: usize = 5;
/// Devices whose sums a norm is made of: the last of them is each of those that a thread asks for at once.
const DEVICES: RangeInclusive<u64> = 1..=18;
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
    let products = OfSize::elements(gemv_send::entry().name(), product);
    let mut all = vec![Listed::checked(products, [Checked::of_size(products)])];
    all.extend([root::<f32>(), root::<f64>()].map(|it| {
        let checked = Checked::of_size(it).at(NUMBERS, 0..Numbers::ALL.len() as u64);
        Listed::checked(it, [checked.of_sizes(DEVICES)])
    }));
    let takes = [
        OfSize::elements(take_normalized::entry().name(), normalized),
        OfSize::elements(take_look::entry().name(), look),
    ];
    all.extend(takes.map(taking));
    all.extend([sums::<f32>(), sums::<f64>()]);
    all
}

fn taking(it: &'static OfSize) -> Listed {
    // The last number is each of those that a thread asks for at once.
    let ends = (0..IN_FLIGHT as u64).map(|i| u64::from(TAKE_BLOCK) * i + 100);
    // A thread has two groups of numbers.
    let others = Checked::of_size(it).at(NUMBERS, 1..Numbers::ALL.len() as u64);
    let all = Checked::of_size(it);
    let ends = Checked::of_size(it).of_sizes(ends);
    Listed::checked(it, [all, ends, others.of_sizes([8195])])
}

fn sums<T: Real>() -> Listed {
    let it = squares::<T>();
    Listed::checked(it, norm::of_norms::<T>(it))
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
        if let Some(place) = first.iter().position(|&word| word == 0) {
            return Err(format!("word {place} says that nothing has come").into());
        }
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
    kind: Numbers,
    numbers: Vec<f64>,
}

impl Normalized {
    fn new(device: &Device, kind: Numbers, n: usize) -> Result<Normalized, DriverError> {
        let numbers = kind.of::<f64>(n);
        Ok(Normalized {
            kind,
            come: Come::new(device, &numbers)?,
            out: Output::new(device, n)?,
            length: Output::new(device, 1)?,
            numbers,
        })
    }

    fn check(&self) -> Result<(), PointError> {
        let norm = self.kind.norm_of(&self.numbers);
        self.length.check([norm].into_iter())?;
        self.out.check(self.numbers.iter().map(|x| Expected {
            value: x / norm.value,
            tolerance: 4.0 * f64::EPSILON * (x / norm.value).abs(),
        }))?;
        self.come.check()
    }
}

fn normalized<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let (n, kind) = (at.size("n"), Numbers::at(at));
    let arrays = at
        .launch(take_normalized::entry(), blocks(n))
        .arrays(move |device| Normalized::new(device, kind, n))
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
    let (n, kind) = (at.size("n"), Numbers::at(at));
    let arrays = at
        .launch(take_look::entry(), blocks(n))
        .arrays(move |device| {
            let mut it = Normalized::new(device, kind, n)?;
            let before: Vec<f64> = it.numbers.iter().map(|x| -x).collect();
            it.out.write(&before)?;
            let kept = [Output::<f64>::new(device, n)?, Output::new(device, n)?];
            Ok((it, before, kept))
        })
        .check(|(it, before, kept)| {
            let kept = [kept[0].values()?, kept[1].values()?];
            // A second launch finds what the first has made.
            if check_same(&kept[0], &it.out.values()?).is_err() {
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

fn squares<T: Real>() -> &'static OfSize {
    OfSize::elements(T::squares_send().name(), move |at| {
        let (n, numbers) = (at.size("n"), Numbers::at(at));
        let blocks = norm::blocks::<T>(at);
        let arrays = at
            .launch(T::squares_send(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, 0)?;
                let sent = Sent::new(device, 2 * T::SUMS)?;
                Ok((given, sent, Grid::<T::Sums>::new(device, blocks)?))
            })
            .check(move |(it, sent, grid)| {
                // The first device's words are not this one's.
                let sums = sent.numbers()?[T::SUMS..].to_vec();
                let alone = match numbers {
                    Numbers::Usual => Some(0),
                    Numbers::Small if T::SUMS > 1 => Some(1),
                    Numbers::Large if T::SUMS > 1 => Some(2),
                    _ => None,
                };
                // A kind of numbers has a sum, and the others are 0.
                for sum in (0..T::SUMS).filter(|&sum| alone.is_some_and(|alone| sum != alone)) {
                    Expected::exactly(0.0).check(&format!("sum {sum}"), sums[sum])?;
                }
                let roots = sums.iter().zip(FACTORS);
                let roots = roots.map(|(sum, factor)| sum.sqrt() / factor);
                let root: f64 = T::from_f64(reference_norm(roots)).into();
                let norm = numbers.norm_of(it.here().0);
                norm.check("the root of the sums", root)?;
                grid.check()
            });
        // SAFETY: one partial per block, a ticket that begins at 0, and words for two devices.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, sent, grid)| {
                let (partials, ticket) = grid.views();
                (it.x.slice(..), 1, sent.targets.slice(..), partials, ticket)
            })
        })
    })
}

/// The sums of the square of a number, as [`Squares`](kernels_gpu::norm::Squares) has them.
fn square<T: Real>(x: f64) -> Vec<f64> {
    let own = match x.abs() {
        _ if T::SUMS == 1 => 0,
        x if x * FACTORS[2] > 2f64.powi(-52) => 2,
        x if x * FACTORS[1] < 2f64.powi(26) => 1,
        _ => 0,
    };
    let mut sums = vec![0.0; T::SUMS];
    sums[own] = (x * FACTORS[own]).powi(2);
    sums
}

fn root<T: Real>() -> &'static OfSize {
    OfSize::new(T::take_root().name(), Axis::whole("devices", [8]), |at| {
        let (devices, numbers) = (at.size("devices"), Numbers::at(at));
        let arrays = at
            .launch(T::take_root(), LaunchConfig::blocks(1, 32))
            .arrays(move |device| {
                // Of each device the square of a number.
                let x: Vec<T> = numbers.of(devices);
                let mut sums: Vec<f64> = wide(&x).flat_map(square::<T>).collect();
                if numbers == Numbers::NotANumber {
                    // Any of a device's sums may be the one that is no number.
                    let of_device = &mut sums[devices / 2 * T::SUMS..][..T::SUMS];
                    of_device.fill(0.0);
                    of_device[devices % T::SUMS] = f64::NAN;
                }
                Ok((Come::new(device, &sums)?, Output::<T>::new(device, 1)?, x))
            })
            .check(move |(come, length, x)| {
                length.check([numbers.norm_of(x)].into_iter())?;
                come.check()
            });
        // SAFETY: the sums of so many devices.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(come, length, _)| {
                let Come { words, spare, lost } = come;
                let sets = (words.slice_mut(..), spare.slice_mut(..));
                (
                    sets.0,
                    sets.1,
                    devices as u32,
                    length.view(),
                    lost.slice_mut(..),
                    NANOSECONDS,
                )
            })
        })
    })
}
