//! The most that the emulator reaches on this host: its roofs.
//!
//! They are measured, since no data sheet says what a host's cores make of a GPU's code, and they are
//! the host's: nothing here says anything about a GPU. The arithmetic is that of the polynomial's
//! kernels, because a roof of other code is one that these may exceed.

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use itertools::iproduct;
use kernels_gpu::polynomial::{ILPS, WIDTHS};

use super::bench::{Bench, BenchError, Effort};
use crate::driver::{Device, free_host_memory, host_memory};
use crate::embedded::Polynomial;
use crate::measure::Runs;
use crate::model::{BytesPerSec, FlopsPerSec, Precision, Roofs, TensorRoofs};
use crate::workload::{GridSize, Loaded};

/// Measures the roofs of an emulator with the library's kernels, with all cores at once, in some tenths of a
/// second. Each is the best of several passes, since other processes may keep the cores busy during one.
///
/// # Errors
/// [`HostRoofsError::Memory`]: the host has too little memory for two arrays; [`HostRoofsError::Bench`]: a
/// kernel did not run, or its output is wrong.
pub fn host_roofs(device: &Device, precision: Precision) -> Result<Roofs, HostRoofsError> {
    const PASSES: usize = 3;
    let precision = precision.measured_as();
    let loaded = Loaded::default();
    let effort = Effort {
        runs: Runs {
            warmup: 0,
            timed: 2,
        },
        ..Effort::of(device)
    };
    let bench = Bench::new(device, &loaded, &effort)?;
    let has_vectors = |width: &u32| *width == 1 || precision.arithmetic().len() > 1;
    let widths = || WIDTHS.into_iter().filter(has_vectors);
    let kernels = |form| {
        iproduct!([form], widths(), ILPS)
            .map(Variant::new)
            .collect()
    };
    let mut horner: Vec<Variant> = kernels(Polynomial::HORNER);
    let mut power_sum: Vec<Variant> = match precision.arithmetic() {
        [_] => Vec::new(),
        _ => kernels(Polynomial::POWER_SUM),
    };
    let mut copy = Copy::new().map_err(|needed| HostRoofsError::Memory {
        needed,
        free: free_host_memory(),
    })?;
    let mut memory = 0.0f64;
    for _ in 0..PASSES {
        memory = memory.max(copy.rate());
        horner
            .iter_mut()
            .chain(&mut power_sum)
            .try_for_each(|variant| variant.run(&bench, precision))?;
    }
    let highest = |variants: &[Variant]| variants.iter().map(|it| it.rate).fold(0.0, f64::max);
    let fma = highest(&horner);
    // Where it is not measured: an add or a multiply takes the slot of a multiply-add.
    let add_mul = match power_sum[..] {
        [] => fma / 2.0,
        _ => highest(&power_sum),
    };
    Ok(Roofs {
        memory: BytesPerSec(memory),
        fma: FlopsPerSec(fma),
        add_mul: FlopsPerSec(add_mul),
        // The host has no instructions for them, and computes them.
        special: Some(FlopsPerSec(add_mul)),
        tensor: TensorRoofs::NONE,
        peak: FlopsPerSec(fma.max(add_mul)),
    })
}

/// Why the host's roofs cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostRoofsError {
    /// There is too little memory for the arrays.
    #[error(
        "measuring the host's memory roof takes two buffers of {needed} bytes; {free} bytes are free"
    )]
    Memory {
        /// Bytes of a buffer.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A kernel did not run, or its output is wrong.
    #[error("measuring the host's roofs: {0}")]
    Bench(#[from] BenchError),
}

/// Up to this degree no number overflows (`kernels_gpu::polynomial::Element::X`).
const HIGHEST_DEGREE: u32 = 1000;

/// A kernel of the polynomial, and how fast it was so far.
struct Variant {
    workload: Polynomial,
    width: u32,
    ilp: u32,
    /// The degree up to which launches were too short.
    k: u32,
    /// Operations per second.
    rate: f64,
}

impl Variant {
    fn new((workload, width, ilp): (Polynomial, u32, u32)) -> Variant {
        Variant {
            workload,
            width,
            ilp,
            k: HIGHEST_DEGREE / 64,
            rate: 0.0,
        }
    }

    /// Times launches so long that what surrounds the arithmetic is nothing. One that others have made
    /// long is followed by longer ones in the next pass.
    fn run(&mut self, bench: &Bench<'_>, precision: Precision) -> Result<(), BenchError> {
        const THREADS: u32 = 64;
        /// Enough for each core to have a block all the time.
        const BLOCKS_PER_CORE: u32 = 8;
        const LONG_ENOUGH_SECONDS: f64 = 2e-3;
        let threads = BLOCKS_PER_CORE * THREADS * crate::driver::cores() as u32;
        let n = u64::from(threads * self.width * self.ilp) * u64::from(precision.numbers());
        loop {
            let values = [
                ("k", self.k.into()),
                ("dtype", precision.name().into()),
                ("vector", self.width.into()),
                ("ilp", self.ilp.into()),
                ("n", n.into()),
            ];
            let timed = bench.measure(&self.workload, &values, THREADS, GridSize::Full)?;
            let shortest = timed.shortest_seconds();
            let operations = 2.0 * f64::from(self.k) * n as f64;
            self.rate = self.rate.max(operations / shortest);
            if shortest >= LONG_ENOUGH_SECONDS || self.k == HIGHEST_DEGREE {
                return Ok(());
            }
            self.k = (2 * self.k).min(HIGHEST_DEGREE);
        }
    }
}

/// Memory that all cores copy, too much for caches.
struct Copy {
    source: Vec<u64>,
    target: Vec<u64>,
}

impl Copy {
    const BYTES: usize = 64 << 20;
    const WORDS: usize = Self::BYTES / size_of::<u64>();
    /// Memory that the emulator takes beside them, to read the kernels' PTX and to run it.
    const SPARE: u64 = 48 << 20;

    fn new() -> Result<Copy, u64> {
        let copy = Copy {
            source: host_memory(Self::WORDS, 1)?,
            target: host_memory(Self::WORDS, 2)?,
        };
        match free_host_memory() >= Self::SPARE {
            true => Ok(copy),
            false => Err(Self::BYTES as u64),
        }
    }

    /// Bytes read plus bytes written in a second.
    fn rate(&mut self) -> f64 {
        let seconds = best(3, || {
            let start = Instant::now();
            self.run();
            black_box(&self.target);
            start.elapsed().as_secs_f64()
        });
        2.0 * Self::BYTES as f64 / seconds
    }

    fn run(&mut self) {
        let part = Self::WORDS / crate::driver::cores();
        let parts = self.target.chunks_mut(part).zip(self.source.chunks(part));
        let parts = Mutex::new(parts);
        let next = || parts.lock().expect("copies do not panic").next();
        let work = || {
            while let Some((target, source)) = next() {
                target.copy_from_slice(source);
            }
        };
        thread::scope(|scope| {
            for _ in 1..crate::driver::cores() {
                // Where there are no more threads, those that there are do its work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// The shortest of so many times.
fn best(times: usize, mut seconds: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| seconds()).fold(f64::INFINITY, f64::min)
}
