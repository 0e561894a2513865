//! Vectors read, copied, scaled, combined, and their norm: kernels that memory bounds, with 1 to 8 loads
//! of 16 bytes of a thread under way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use cuda_std::launch::{Entry, Signature};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::{Vector, pattern};
use kernels_gpu::studied::{axpys, norms, scales};

use crate::ceilings::memory::{
    FACTOR, UNROLLS, copies, on_all_cores, reads, sum_of_elements, sum_of_words, writes,
};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Stream as Queue};
use crate::model::{Operation, Precision};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// A kernel over vectors.
#[derive(Clone, Copy, Debug)]
pub struct Stream(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Copy,
    Read,
    Scale,
    Elementwise,
    Nrm2,
}

impl Stream {
    /// y = x
    pub const COPY: Stream = Stream(Kind::Copy);
    /// The sum of x.
    pub const READ: Stream = Stream(Kind::Read);
    /// y = a x
    pub const SCALE: Stream = Stream(Kind::Scale);
    /// y = a x + z, of each element.
    pub const ELEMENTWISE: Stream = Stream(Kind::Elementwise);
    /// The Euclidean norm of x.
    pub const NRM2: Stream = Stream(Kind::Nrm2);
}

/// Elements of a vector.
const WIDTH: usize = size_of::<Vector>() / size_of::<f32>();

/// The error that a norm may have, relative to it: some neighbours are added up in `f32`.
const NORM_TOLERANCE: f64 = 1e-6;

impl Workload for Stream {
    fn name(&self) -> &str {
        match self.0 {
            Kind::Copy => "copy",
            Kind::Read => "read",
            Kind::Scale => "scale",
            Kind::Elementwise => "elementwise",
            Kind::Nrm2 => "nrm2",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::one_of("ilp", UNROLLS, UNROLLS)
                .help("loads of 16 bytes of a thread that are under way at once"),
            Axis::whole("n", [1 << 26])
                .on_emulator([1 << 14])
                .help("elements, f32, of each array"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        if !at.block().is_multiple_of(WARP) {
            let block = at.block();
            return Err(format!(
                "a block of {block} threads: the kernels need whole warps of {WARP}"
            )
            .into());
        }
        let ilp = at.whole("ilp") as u32;
        let vectors = at.size("n") / WIDTH;
        if vectors == 0 {
            return Err(
                format!("elements: {} given, at least {WIDTH} needed", at.size("n")).into(),
            );
        }
        let threads = vectors.div_ceil(ilp as usize);
        let config = at.linear(threads);
        let n = vectors * WIDTH;
        let there_is = "there is one for each of UNROLLS";
        Ok(match self.0 {
            Kind::Copy => {
                let expected = expected(self.0, n);
                // SAFETY: as `map` says, x and y have as many vectors.
                unsafe {
                    self.map(at, copies(ilp), config, vectors, expected, |it| {
                        (it.x.slice(..), it.y.slice_mut(..))
                    })
                }
                .loads(16, ilp)
            }
            Kind::Scale => {
                let entry = scales(ilp).expect(there_is);
                let expected = expected(self.0, n);
                // SAFETY: as for `copy`.
                unsafe {
                    self.map(at, entry, config, vectors, expected, |it| {
                        (it.x.slice(..), it.y.slice_mut(..), FACTOR)
                    })
                }
                .operations(Precision::F32, Operation::Multiply, n)
                .loads(16, ilp)
            }
            Kind::Elementwise => {
                let entry = axpys(ilp).expect(there_is);
                let expected = expected(self.0, n);
                // SAFETY: as for `copy`; z has as many vectors, too.
                unsafe {
                    self.map(at, entry, config, vectors, expected, |it| {
                        (it.x.slice(..), it.z.slice(..), it.y.slice_mut(..), FACTOR)
                    })
                }
                .reads::<f32>(n)
                .operations(Precision::F32, Operation::Fma, n)
                // One of each array.
                .loads(16, 2 * ilp)
            }
            Kind::Read => read(at, ilp, config, vectors),
            Kind::Nrm2 => norm(at, ilp, at.one_wave(threads), vectors),
        })
    }
}

/// The arrays of a launch that writes y.
struct Arrays {
    x: DeviceBuffer<Vector>,
    z: DeviceBuffer<Vector>,
    y: DeviceBuffer<Vector>,
}

impl Stream {
    /// A launch that writes y, the words of which should add up to `expected`.
    ///
    /// # Safety
    /// The kernel takes arrays of as many vectors each, apart and aligned as device allocations are, in
    /// blocks of whole warps and a grid of one dimension.
    unsafe fn map<'d, S: Signature>(
        &self,
        at: &Point<'d>,
        entry: Entry<S>,
        config: LaunchConfig,
        vectors: usize,
        expected: u32,
        arguments: impl for<'a> Fn(&'a mut Arrays) -> S::Arguments<'a> + 'd,
    ) -> Case<'d> {
        // Only one of them reads a second array.
        let others = if self.0 == Kind::Elementwise {
            vectors
        } else {
            0
        };
        let device = at.device();
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| {
                Ok(Arrays {
                    x: patterned(device, vectors)?,
                    z: patterned(device, others)?,
                    y: device.buffer_uninitialized(vectors)?,
                })
            })
            .check(move |arrays| adds_up(&[sum_on_device(device, &arrays.y)?], expected));
        // SAFETY: the caller's contract.
        let case = unsafe { arrays.arguments_unchecked(arguments) };
        case.reads::<Vector>(vectors).writes::<Vector>(vectors)
    }
}

fn read<'d>(at: &Point<'d>, ilp: u32, config: LaunchConfig, vectors: usize) -> Case<'d> {
    let expected = expected(Kind::Read, vectors * WIDTH);
    let arrays = at
        .launch(reads(ilp), config)
        .arrays(move |device| {
            let sums = device.buffer_uninitialized::<u32>(warps(config))?;
            Ok((patterned(device, vectors)?, sums))
        })
        .check(move |(_, sums)| adds_up(&sums.to_vec()?, expected));
    // SAFETY: sums has a place for each warp, and blocks are whole warps (`case`).
    let case = unsafe { arrays.arguments_unchecked(|(x, sums)| (x.slice(..), sums.slice_mut(..))) };
    case.reads::<Vector>(vectors).loads(16, ilp)
}

fn norm<'d>(at: &Point<'d>, ilp: u32, config: LaunchConfig, vectors: usize) -> Case<'d> {
    let entry = norms(ilp).expect("there is one for each of UNROLLS");
    let n = vectors * WIDTH;
    let arrays = at
        .launch(entry, config)
        .arrays(move |device| {
            let x = patterned(device, vectors)?;
            let result = device.buffer_filled(1, f32::NAN)?;
            let partials = device.buffer_zeroed(config.grid[0] as usize)?;
            Ok((x, result, partials, device.buffer_zeroed(1)?))
        })
        .check(move |(_, result, ..)| {
            let (actual, expected) = (f64::from(result.to_vec()?[0]), norm_of_pattern(n));
            let error = (actual - expected).abs();
            match error <= NORM_TOLERANCE * expected {
                true => Ok(()),
                false => Err(format!("the norm is {actual}, not {expected}").into()),
            }
        });
    // SAFETY: x is aligned as device allocations are; there is a partial sum for each block, a ticket that
    // begins at 0 and is 0 again after each launch, and blocks are whole warps (`case`).
    let case = unsafe {
        arrays.arguments_unchecked(|(x, result, partials, ticket)| {
            (
                x.slice(..),
                result.slice_mut(..),
                partials.slice_mut(..),
                ticket.slice_mut(..),
            )
        })
    };
    case.reads::<Vector>(vectors)
        .operations(Precision::F32, Operation::Fma, n)
        .loads(16, ilp)
}

fn warps(config: LaunchConfig) -> usize {
    (config.grid[0] * config.block_threads() / u64::from(WARP)) as usize
}

const FILLING_BLOCK: u32 = 256;

/// So many vectors of the pattern.
fn patterned(device: &Device, vectors: usize) -> Result<DeviceBuffer<Vector>, DriverError> {
    let mut array = device.buffer_uninitialized::<Vector>(vectors)?;
    if vectors == 0 {
        return Ok(array);
    }
    let config = LaunchConfig::linear(vectors as u64, FILLING_BLOCK);
    let prepared = device.prepare(writes(1), config)?;
    let stream = Queue::new(device)?;
    // SAFETY: the array has so many vectors, aligned as device allocations are, and lives until the
    // stream is synchronised.
    unsafe { prepared.launch(&stream, &(array.slice_mut(..), vectors as u64)) }?;
    stream.synchronize()?;
    Ok(array)
}

/// The wrapping sum of the words of y, by the kernel that is checked when it reads x.
fn sum_on_device(device: &Device, y: &DeviceBuffer<Vector>) -> Result<u32, DriverError> {
    const BLOCKS: u64 = 8;
    let full = LaunchConfig::linear(y.len() as u64, FILLING_BLOCK);
    let most = BLOCKS * u64::from(device.properties().multiprocessors);
    let config = LaunchConfig::blocks(full.grid[0].min(most), FILLING_BLOCK);
    let mut sums = device.buffer_uninitialized::<u32>(warps(config))?;
    let stream = Queue::new(device)?;
    let prepared = device.prepare(reads(1), config)?;
    // SAFETY: sums has a place for each warp, and blocks are whole warps; both arrays live until the stream
    // is synchronised.
    unsafe { prepared.launch(&stream, &(y.slice(..), sums.slice_mut(..))) }?;
    stream.synchronize()?;
    Ok(sum_of_words(&sums.to_vec()?))
}

fn adds_up(words: &[u32], expected: u32) -> Result<(), PointError> {
    match sum_of_words(words) {
        actual if actual == expected => Ok(()),
        actual => Err(format!("the sum of the words is {actual}, not {expected}").into()),
    }
}

/// What the words of the output add up to.
fn expected(kind: Kind, n: usize) -> u32 {
    static KNOWN: Mutex<BTreeMap<(Kind, usize), u32>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry((kind, n)).or_insert_with(|| match kind {
        Kind::Scale => sum_of_elements(n, |i| FACTOR * pattern(i)),
        Kind::Elementwise => sum_of_elements(n, |i| FACTOR.mul_add(pattern(i), pattern(i))),
        _ => sum_of_elements(n, pattern),
    })
}

fn norm_of_pattern(n: usize) -> f64 {
    let squares =
        |range: Range<usize>| -> f64 { range.map(|i| f64::from(pattern(i)).powi(2)).sum() };
    on_all_cores(n, squares).into_iter().sum::<f64>().sqrt()
}
