//! Memory: read, written, copied, scaled, combined.

use std::iter;
use std::ops::Range;
use std::thread;

use cuda_std::launch::{Entry, Signature};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::*;

use super::bench::{Bench, Timed, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::driver::{DeviceBuffer, LaunchConfig};

/// The factor of `scale` and `triad`.
pub(crate) const FACTOR: f32 = 0.75;

/// Threads a block.
const BLOCK_SIZES: [u32; 2] = [256, 512];

/// Blocks a multiprocessor; `None` is as many as take one tile each.
const GRIDS: [Option<u32>; 4] = [None, Some(8), Some(16), Some(32)];

/// Vectors that a thread has in flight.
pub(crate) const UNROLLS: [u32; 4] = [1, 2, 4, 8];

/// What is done with the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Read,
    Write,
    Copy,
    Scale,
    Triad,
}

impl Task {
    const ALL: [Task; 5] = [
        Task::Read,
        Task::Write,
        Task::Copy,
        Task::Scale,
        Task::Triad,
    ];

    fn quantity(self) -> Quantity {
        match self {
            Task::Read => Quantity::MemoryRead,
            Task::Write => Quantity::MemoryWrite,
            Task::Copy => Quantity::MemoryCopy,
            Task::Scale => Quantity::MemoryScale,
            Task::Triad => Quantity::MemoryTriad,
        }
    }

    /// Arrays that are read, and arrays that are written.
    fn arrays(self) -> (u32, u32) {
        match self {
            Task::Read => (1, 0),
            Task::Write => (0, 1),
            Task::Copy | Task::Scale => (1, 1),
            Task::Triad => (2, 1),
        }
    }
}

macro_rules! variant {
    ($unroll:expr; $u1:ident $u2:ident $u4:ident $u8:ident) => {
        match $unroll {
            1 => $u1::entry(),
            2 => $u2::entry().with_signature::<$u1>(),
            4 => $u4::entry().with_signature::<$u1>(),
            _ => $u8::entry().with_signature::<$u1>(),
        }
    };
}

pub(crate) fn writes(unroll: u32) -> Entry<write_u1> {
    variant!(unroll; write_u1 write_u2 write_u4 write_u8)
}

pub(crate) fn reads(unroll: u32) -> Entry<read_u1> {
    variant!(unroll; read_u1 read_u2 read_u4 read_u8)
}

pub(crate) fn copies(unroll: u32) -> Entry<copy_u1> {
    variant!(unroll; copy_u1 copy_u2 copy_u4 copy_u8)
}

pub(crate) fn scales(unroll: u32) -> Entry<scale_u1> {
    variant!(unroll; scale_u1 scale_u2 scale_u4 scale_u8)
}

pub(crate) fn triads(unroll: u32) -> Entry<triad_u1> {
    variant!(unroll; triad_u1 triad_u2 triad_u4 triad_u8)
}

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let mut arrays = Arrays::new(bench)?;
    let mut found = Vec::new();
    for task in Task::ALL {
        let mut ceilings = Vec::new();
        for unroll in UNROLLS {
            // With one vector in flight a thread takes no second one.
            let grids = if unroll == 1 { &GRIDS[..1] } else { &GRIDS };
            for block in BLOCK_SIZES {
                for &grid in grids {
                    let shape = shape(bench, block, grid, unroll, arrays.vectors);
                    let timed = arrays.time(bench, task, unroll, shape)?;
                    ceilings.push(timed.rate(task.quantity(), arrays.bytes(task), bench));
                }
            }
        }
        found.extend(highest(ceilings));
    }
    Ok(found)
}

/// The arrays of all tasks. `x` and `z` hold the pattern.
struct Arrays {
    vectors: u64,
    x: DeviceBuffer<Vector>,
    z: DeviceBuffer<Vector>,
    y: DeviceBuffer<Vector>,
    sums: DeviceBuffer<u32>,
    /// The wrapping sums of the words of `x`, of `x` scaled, and of `x` and `z` combined.
    plain: u32,
    scaled: u32,
    combined: u32,
}

impl Arrays {
    fn new(bench: &Bench<'_>) -> Result<Arrays, BenchError> {
        const ELEMENTS: u64 = size_of::<Vector>() as u64 / size_of::<f32>() as u64;
        let vectors = bench.effort.elements / ELEMENTS;
        let n = (vectors * ELEMENTS) as usize;
        let empty = |len: u64| bench.device.buffer_filled(len as usize, [f32::NAN; 4]);
        let mut arrays = Arrays {
            vectors,
            x: empty(vectors)?,
            z: empty(vectors)?,
            y: empty(vectors)?,
            sums: bench.device.buffer_filled(0, 0)?,
            plain: sum_of_elements(n, pattern),
            scaled: sum_of_elements(n, |i| FACTOR * pattern(i)),
            combined: sum_of_elements(n, |i| FACTOR.mul_add(pattern(i), pattern(i))),
        };
        let prepared = bench
            .device
            .prepare(writes(1), shape(bench, BLOCK_SIZES[0], None, 1, vectors))?;
        for array in [&mut arrays.x, &mut arrays.z] {
            // SAFETY: the array has so many vectors, aligned as device allocations are, and lives
            // until the stream is synchronised.
            unsafe { prepared.launch(&bench.stream, &(array.slice_mut(..), vectors)) }?;
        }
        bench.stream.synchronize()?;
        Ok(arrays)
    }

    /// Bytes that a task moves.
    fn bytes(&self, task: Task) -> f64 {
        let (read, written) = task.arrays();
        f64::from(read + written) * self.vectors as f64 * size_of::<Vector>() as f64
    }

    /// Times a task and checks what it wrote. `unroll` is one of [`UNROLLS`], and blocks are whole
    /// warps where the task reads.
    fn time(
        &mut self,
        bench: &Bench<'_>,
        task: Task,
        unroll: u32,
        shape: LaunchConfig,
    ) -> Result<Timed, BenchError> {
        let (plain, scaled, combined) = (self.plain, self.scaled, self.combined);
        match task {
            Task::Read => self.read(bench, unroll, shape),
            Task::Write => self.put(bench, writes(unroll), shape, plain, |it| {
                (it.y.slice_mut(..), it.vectors)
            }),
            Task::Copy => self.put(bench, copies(unroll), shape, plain, |it| {
                (it.x.slice(..), it.y.slice_mut(..))
            }),
            Task::Scale => self.put(bench, scales(unroll), shape, scaled, |it| {
                (it.x.slice(..), it.y.slice_mut(..), FACTOR)
            }),
            Task::Triad => self.put(bench, triads(unroll), shape, combined, |it| {
                (it.x.slice(..), it.z.slice(..), it.y.slice_mut(..), FACTOR)
            }),
        }
    }

    fn read(
        &mut self,
        bench: &Bench<'_>,
        unroll: u32,
        shape: LaunchConfig,
    ) -> Result<Timed, BenchError> {
        self.room_for_sums(bench, shape)?;
        let arguments = (self.x.slice(..), self.sums.slice_mut(..));
        // SAFETY: sums has a place for each warp, and blocks are whole warps.
        let timed = unsafe { bench.time(reads(unroll), shape, &arguments) }?;
        timed.check("the sum of the words", self.sum()?, self.plain)?;
        Ok(timed)
    }

    /// A launch that writes `y`, the words of which should add up to `expected`.
    fn put<S: Signature>(
        &mut self,
        bench: &Bench<'_>,
        entry: Entry<S>,
        shape: LaunchConfig,
        expected: u32,
        arguments: fn(&mut Arrays) -> S::Arguments<'_>,
    ) -> Result<Timed, BenchError> {
        self.y.poison()?;
        // SAFETY: the arrays have the same length, are apart, and are aligned as device allocations
        // are.
        let timed = unsafe { bench.time(entry, shape, &arguments(self)) }?;
        timed.check("the sum of the words", self.sum_of_y(bench)?, expected)?;
        Ok(timed)
    }

    /// Adds up the words of `y`, with a kernel that is checked when it reads `x`.
    fn sum_of_y(&mut self, bench: &Bench<'_>) -> Result<u32, BenchError> {
        let shape = shape(bench, BLOCK_SIZES[0], Some(8), 1, self.vectors);
        self.room_for_sums(bench, shape)?;
        let prepared = bench.device.prepare(reads(1), shape)?;
        // SAFETY: as in `read`.
        unsafe { prepared.launch(&bench.stream, &(self.y.slice(..), self.sums.slice_mut(..))) }?;
        bench.stream.synchronize()?;
        self.sum()
    }

    /// A place for each warp of a launch, none of them written.
    fn room_for_sums(&mut self, bench: &Bench<'_>, shape: LaunchConfig) -> Result<(), BenchError> {
        let warps = shape.grid[0] * shape.block_threads() / u64::from(WARP);
        if self.sums.len() as u64 != warps {
            self.sums = bench.device.buffer_filled(warps as usize, 0)?;
        }
        self.sums.poison()?;
        Ok(())
    }

    /// The wrapping sum of what the warps wrote.
    fn sum(&self) -> Result<u32, BenchError> {
        Ok(sum_of_words(&self.sums.to_vec()?))
    }
}

fn shape(
    bench: &Bench<'_>,
    block: u32,
    grid: Option<u32>,
    unroll: u32,
    vectors: u64,
) -> LaunchConfig {
    let full = LaunchConfig::linear(vectors.div_ceil(u64::from(unroll)), block);
    match grid {
        Some(blocks) if bench.per_multiprocessor(blocks, block).grid[0] < full.grid[0] => {
            bench.per_multiprocessor(blocks, block)
        }
        _ => full,
    }
}

/// The wrapping sum of words, such as warps that add up words have written.
pub(crate) fn sum_of_words(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
}

/// The wrapping sum of the words of `n` elements, on all cores of the host.
pub(crate) fn sum_of_elements(n: usize, element: impl Fn(usize) -> f32 + Sync) -> u32 {
    let sum =
        |range: Range<usize>| range.fold(0u32, |sum, i| sum.wrapping_add(element(i).to_bits()));
    sum_of_words(&on_all_cores(n, sum))
}

/// What comes of each part of `0..n`, a part for each core of the host.
pub(crate) fn on_all_cores<T: Send>(n: usize, of: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let cores = crate::driver::cores();
    let size = n.div_ceil(cores);
    let part = &|core: usize| of((core * size).min(n)..((core + 1) * size).min(n));
    thread::scope(|scope| {
        let start = |core| thread::Builder::new().spawn_scoped(scope, move || part(core));
        let started: Vec<_> = (1..cores).map(start).collect();
        let first = part(0);
        let others = (1..).zip(started).map(|(core, started)| match started {
            Ok(thread) => thread.join().expect("arithmetic does not panic"),
            // There are no more threads.
            Err(_) => part(core),
        });
        iter::once(first).chain(others).collect()
    })
}
