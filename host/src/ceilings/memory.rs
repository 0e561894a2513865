//! Memory: read, written, copied, scaled, combined.

use cuda_std::launch::{Entry, Signature};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::*;

use super::bench::{Bench, Timed, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::driver::{Buffer, Shape};

/// The factor of `scale` and `triad`.
const FACTOR: f32 = 0.75;

/// Threads a block.
const BLOCK: u32 = 256;

/// Blocks a multiprocessor; `None` is as many as take one tile each.
const GRIDS: [Option<u32>; 4] = [None, Some(8), Some(16), Some(32)];

const ELEMENTS: u64 = size_of::<Vector>() as u64 / size_of::<f32>() as u64;

/// Kernels that differ in how many vectors a thread has in flight.
type Variants<S> = [(u32, Entry<S>); 4];

macro_rules! variants {
    ($u1:ident $u2:ident $u4:ident $u8:ident) => {
        [
            (1, $u1::entry()),
            (2, $u2::entry().with_signature::<$u1>()),
            (4, $u4::entry().with_signature::<$u1>()),
            (8, $u8::entry().with_signature::<$u1>()),
        ]
    };
}

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    use Quantity::*;

    let mut arrays = Arrays::new(bench)?;
    let n = arrays.vectors as usize * ELEMENTS as usize;
    let plain = wrapping_sum(n, pattern);
    let scaled = wrapping_sum(n, |i| FACTOR * pattern(i));
    let combined = wrapping_sum(n, |i| FACTOR.mul_add(pattern(i), pattern(i)));

    let writes = variants!(write_u1 write_u2 write_u4 write_u8);
    let reads = variants!(read_u1 read_u2 read_u4 read_u8);
    let copies = variants!(copy_u1 copy_u2 copy_u4 copy_u8);
    let scales = variants!(scale_u1 scale_u2 scale_u4 scale_u8);
    let triads = variants!(triad_u1 triad_u2 triad_u4 triad_u8);
    let bytes = |arrays: u32| f64::from(arrays) * n as f64 * size_of::<f32>() as f64;
    let best = [
        arrays.read(bench, &reads, plain, bytes(1))?,
        arrays.put(bench, MemoryWrite, bytes(1), &writes, plain, |it| {
            (it.y.slice_mut(), it.vectors)
        })?,
        arrays.put(bench, MemoryCopy, bytes(2), &copies, plain, |it| {
            (it.x.slice(), it.y.slice_mut())
        })?,
        arrays.put(bench, MemoryScale, bytes(2), &scales, scaled, |it| {
            (it.x.slice(), it.y.slice_mut(), FACTOR)
        })?,
        arrays.put(bench, MemoryTriad, bytes(3), &triads, combined, |it| {
            (it.x.slice(), it.z.slice(), it.y.slice_mut(), FACTOR)
        })?,
    ];
    Ok(best.into_iter().flatten().collect())
}

/// The arrays of all kernels. `x` and `z` hold the pattern.
pub(crate) struct Arrays {
    pub(crate) vectors: u64,
    pub(crate) x: Buffer<Vector>,
    z: Buffer<Vector>,
    pub(crate) y: Buffer<Vector>,
    sums: Buffer<u32>,
}

impl Arrays {
    pub(crate) fn new(bench: &Bench<'_>) -> Result<Arrays, BenchError> {
        let vectors = bench.effort.elements / ELEMENTS;
        let warps = GRIDS.iter().map(|&grid| {
            let shape = shape(bench, grid, 1, vectors);
            shape.grid[0] * u64::from(BLOCK / WARP)
        });
        let empty = |len: u64| bench.device.buffer_filled(len as usize, [f32::NAN; 4]);
        let mut arrays = Arrays {
            vectors,
            x: empty(vectors)?,
            z: empty(vectors)?,
            y: empty(vectors)?,
            sums: bench
                .device
                .buffer_filled(warps.max().unwrap_or(0) as usize, 0)?,
        };
        let prepared = bench
            .device
            .prepare(write_u1::entry(), shape(bench, None, 1, vectors))?;
        for array in [&mut arrays.x, &mut arrays.z] {
            // SAFETY: the array has so many vectors, aligned as device allocations are, and lives
            // until the stream is synchronised.
            unsafe { prepared.launch(&bench.stream, &(array.slice_mut(), vectors)) }?;
        }
        bench.stream.synchronize()?;
        Ok(arrays)
    }

    /// The fastest launch that reads `x`.
    fn read(
        &mut self,
        bench: &Bench<'_>,
        variants: &Variants<read_u1>,
        expected: u32,
        bytes: f64,
    ) -> Result<Option<Ceiling>, BenchError> {
        let mut ceilings = Vec::new();
        for (entry, shape) in launches(bench, variants, self.vectors) {
            self.sums.poison()?;
            // SAFETY: sums has a place for each warp of the largest grid; blocks are whole warps.
            let timed =
                unsafe { bench.time(entry, shape, &(self.x.slice(), self.sums.slice_mut())) }?;
            timed.check("the sum of the words", sum_of(&self.sums, shape)?, expected)?;
            ceilings.push(timed.rate(Quantity::MemoryRead, bytes, bench));
        }
        Ok(highest(ceilings))
    }

    /// The fastest launch that writes `y`, the words of which should add up to `expected`.
    fn put<S: Signature>(
        &mut self,
        bench: &Bench<'_>,
        quantity: Quantity,
        bytes: f64,
        variants: &Variants<S>,
        expected: u32,
        arguments: fn(&mut Arrays) -> S::Arguments<'_>,
    ) -> Result<Option<Ceiling>, BenchError> {
        let mut ceilings = Vec::new();
        for (entry, shape) in launches(bench, variants, self.vectors) {
            self.y.poison()?;
            // SAFETY: the arrays have the same length, are apart, and are aligned as device
            // allocations are.
            let timed = unsafe { bench.time(entry, shape, &arguments(self)) }?;
            self.check(bench, &timed, expected)?;
            ceilings.push(timed.rate(quantity, bytes, bench));
        }
        Ok(highest(ceilings))
    }

    /// Fails where the words of `y` do not add up to `expected`. The kernel that adds them is one of
    /// those that `read` checks.
    pub(crate) fn check(
        &mut self,
        bench: &Bench<'_>,
        timed: &Timed,
        expected: u32,
    ) -> Result<(), BenchError> {
        let shape = shape(bench, Some(8), 1, self.vectors);
        let prepared = bench.device.prepare(read_u1::entry(), shape)?;
        self.sums.poison()?;
        // SAFETY: as in `read`.
        unsafe { prepared.launch(&bench.stream, &(self.y.slice(), self.sums.slice_mut())) }?;
        bench.stream.synchronize()?;
        timed.check("the sum of the words", sum_of(&self.sums, shape)?, expected)
    }
}

/// Every variant with every grid.
fn launches<S: Signature>(
    bench: &Bench<'_>,
    variants: &Variants<S>,
    vectors: u64,
) -> Vec<(Entry<S>, Shape)> {
    let of_variant = |&(unroll, entry): &(u32, Entry<S>)| {
        GRIDS.map(|grid| (entry, shape(bench, grid, unroll, vectors)))
    };
    variants.iter().flat_map(of_variant).collect()
}

fn shape(bench: &Bench<'_>, grid: Option<u32>, unroll: u32, vectors: u64) -> Shape {
    let full = Shape::linear(vectors.div_ceil(u64::from(unroll)), BLOCK);
    match grid {
        Some(blocks) if bench.per_multiprocessor(blocks, BLOCK).grid[0] < full.grid[0] => {
            bench.per_multiprocessor(blocks, BLOCK)
        }
        _ => full,
    }
}

/// The wrapping sum of what the launch's warps wrote.
fn sum_of(sums: &Buffer<u32>, shape: Shape) -> Result<u32, BenchError> {
    let warps = shape.grid[0] * shape.block_threads() / u64::from(WARP);
    let mut of_warps = vec![0; warps as usize];
    sums.read(0, &mut of_warps)?;
    Ok(of_warps.into_iter().fold(0, u32::wrapping_add))
}

/// The wrapping sum of the words of `n` elements, on all cores of the host.
pub(crate) fn wrapping_sum(n: usize, element: impl Fn(usize) -> f32 + Sync) -> u32 {
    let cores = simt::cores();
    let part = n.div_ceil(cores);
    let sum = |core: usize| {
        let range = core * part..((core + 1) * part).min(n);
        range.fold(0u32, |sum, i| sum.wrapping_add(element(i).to_bits()))
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..cores)
            .map(|core| scope.spawn(move || sum(core)))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("adding does not panic"))
            .fold(0, u32::wrapping_add)
    })
}
