//! The kernels of the study: their launches, and what they should write.

use cuda_std::launch::Entry;
use kernels_gpu::ceilings::chains::{FmaF32, Measured, Operation, Variant};
use kernels_gpu::ceilings::stream::{Vector, pattern};
use kernels_gpu::polynomial::{Element, Form, Polynomial, power_sum};
use kernels_gpu::studied::{axpys, norms, nrm2_ilp1, scales};

use super::axes::DEGREE;
use super::{Instance, Studied};
use crate::ceilings::bench::{Bench, Timed};
use crate::ceilings::memory::{Arrays, FACTOR, Task, kernel_name, on_all_cores, sum_of_elements};
use crate::ceilings::{BenchError, arithmetic};
use crate::driver::LaunchConfig;

/// Waves that a launch of chains has where the multiprocessors are full.
const WAVES: u64 = 4;

/// Elements of a vector.
const WIDTH: usize = size_of::<Vector>() / size_of::<f32>();

/// The error that a norm may have, relative to it: some neighbours are added up in `f32`.
const NORM_TOLERANCE: f64 = 1e-6;

/// The kernels and their arrays.
pub(super) struct Kernels {
    arrays: Arrays,
    /// The wrapping sum of the words of the polynomial's values, and the norm of x: known from when
    /// they are needed first.
    polynomials: Option<u32>,
    norm: Option<f64>,
}

impl Kernels {
    pub(super) fn new(bench: &Bench<'_>) -> Result<Kernels, BenchError> {
        Ok(Kernels {
            arrays: Arrays::new(bench)?,
            polynomials: None,
            norm: None,
        })
    }

    /// The shape of a launch in blocks of `block` threads, of which a multiprocessor holds
    /// `resident`.
    pub(super) fn shape(
        &self,
        instance: Instance,
        block: u32,
        resident: u32,
        bench: &Bench<'_>,
    ) -> LaunchConfig {
        let facts = bench.device.properties();
        let vectors = self.arrays.vectors;
        let full =
            |items: u64| LaunchConfig::linear(items.div_ceil(u64::from(instance.ilp)), block);
        match instance.kernel {
            // In one wave, so that nothing but what is resident changes.
            Studied::Nrm2 => {
                let at_once = bench.per_multiprocessor(resident, block);
                LaunchConfig::blocks(full(vectors).grid[0].min(at_once.grid[0]), block)
            }
            Studied::Polynomial => full(vectors * WIDTH as u64),
            Studied::Fma => {
                let threads = u64::from(facts.limits.threads_per_multiprocessor);
                LaunchConfig::linear(WAVES * u64::from(facts.multiprocessors) * threads, block)
            }
            _ => full(vectors),
        }
    }

    /// Bytes or operations of a launch.
    pub(super) fn amount(&self, kernel: Studied, shape: LaunchConfig, bench: &Bench<'_>) -> f64 {
        let vectors = self.arrays.vectors as f64;
        match (kernel.arrays(), kernel) {
            (Some((read, written)), _) => {
                f64::from(read + written) * vectors * size_of::<Vector>() as f64
            }
            (None, Studied::Polynomial) => 2.0 * f64::from(DEGREE) * vectors * WIDTH as f64,
            (None, _) => {
                let threads = (shape.grid[0] * shape.block_threads()) as f64;
                let steps = arithmetic::lines::<FmaF32>(bench) * FmaF32::LINE;
                threads * f64::from(steps) * FmaF32::OPERATIONS
            }
        }
    }

    /// Times a launch and checks what it wrote.
    pub(super) fn time(
        &mut self,
        bench: &Bench<'_>,
        Instance { kernel, ilp, .. }: Instance,
        shape: LaunchConfig,
    ) -> Result<Timed, BenchError> {
        let (scaled, combined) = (self.arrays.scaled, self.arrays.combined);
        match kernel {
            Studied::Copy => self.arrays.time(bench, Task::Copy, ilp, shape),
            Studied::Read => self.arrays.time(bench, Task::Read, ilp, shape),
            Studied::Scale => {
                let entry = there_is(scales(ilp));
                self.arrays.put(bench, entry, shape, scaled, |it| {
                    (it.x.slice(..), it.y.slice_mut(..), FACTOR)
                })
            }
            Studied::Elementwise => {
                let entry = there_is(axpys(ilp));
                self.arrays.put(bench, entry, shape, combined, |it| {
                    (it.x.slice(..), it.z.slice(..), it.y.slice_mut(..), FACTOR)
                })
            }
            Studied::Nrm2 => self.norm(bench, there_is(norms(ilp)), shape),
            Studied::Polynomial => {
                let expected = self.polynomials();
                let entry = there_is(power_sums(ilp));
                self.arrays.put(bench, entry, shape, expected, |it| {
                    let y = it.y.slice_mut(..).into_flattened();
                    (it.x.slice(..).as_flattened(), y, DEGREE)
                })
            }
            Studied::Fma => Ok(arithmetic::run(bench, chains(ilp), shape)?.0),
        }
    }

    fn norm(
        &mut self,
        bench: &Bench<'_>,
        entry: Entry<nrm2_ilp1>,
        shape: LaunchConfig,
    ) -> Result<Timed, BenchError> {
        let mut result = bench.device.buffer_filled(1, f32::NAN)?;
        let mut partials = bench.device.buffer_zeroed(shape.grid[0] as usize)?;
        let mut ticket = bench.device.buffer_zeroed(1)?;
        let arguments = (
            self.arrays.x.slice(..),
            result.slice_mut(..),
            partials.slice_mut(..),
            ticket.slice_mut(..),
        );
        // SAFETY: x is aligned as device allocations are; there is a partial sum for each block, a
        // ticket that begins at 0, and blocks are whole warps (`OccupancySweep::new`).
        let timed = unsafe { bench.time(entry, shape, &arguments) }?;
        let expected = self.norm_of_x();
        let actual = f64::from(result.to_vec()?[0]);
        let error = (actual - expected).abs();
        if error.is_nan() || error > NORM_TOLERANCE * expected {
            timed.check("the norm", actual, expected)?;
        }
        Ok(timed)
    }

    /// What the polynomial's words add up to, which the host computes to the last bit.
    fn polynomials(&mut self) -> u32 {
        let n = self.arrays.vectors as usize * WIDTH;
        let value = |i: usize| power_sum([[pattern(i)]], DEGREE)[0][0];
        *self
            .polynomials
            .get_or_insert_with(|| sum_of_elements(n, value))
    }

    fn norm_of_x(&mut self) -> f64 {
        let n = self.arrays.vectors as usize * WIDTH;
        let squares = |range: std::ops::Range<usize>| -> f64 {
            range.map(|i| f64::from(pattern(i)).powi(2)).sum()
        };
        let norm = || on_all_cores(n, squares).into_iter().sum::<f64>().sqrt();
        *self.norm.get_or_insert_with(norm)
    }
}

/// The name of the instance's kernel in the PTX.
pub(super) fn entry_name(Instance { kernel, ilp, .. }: Instance) -> &'static str {
    match kernel {
        Studied::Copy => kernel_name(Task::Copy, ilp),
        Studied::Read => kernel_name(Task::Read, ilp),
        Studied::Scale => there_is(scales(ilp)).name(),
        Studied::Elementwise => there_is(axpys(ilp)).name(),
        Studied::Nrm2 => there_is(norms(ilp)).name(),
        Studied::Polynomial => there_is(power_sums(ilp)).name(),
        Studied::Fma => chains(ilp).entry.name(),
    }
}

/// The kernel for so many elements a thread, in vectors of at most 4.
fn power_sums(elements: u32) -> Option<Entry<Polynomial<f32>>> {
    let width = elements.min(WIDTH as u32);
    f32::kernel(Form::PowerSum, width, elements / width)
}

fn chains(ilp: u32) -> &'static Variant<FmaF32> {
    let mut variants = FmaF32::VARIANTS.iter();
    there_is(variants.find(|variant| variant.chains == ilp))
}

/// The instance that [`Studied::ilp`] says there is.
fn there_is<T>(found: Option<T>) -> T {
    found.expect("`OccupancySweep::new` checked the ILP")
}
