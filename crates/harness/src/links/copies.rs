//! Copies between devices, by their copy engines and by kernels.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::ceilings::stream::{Vector, copy_u1, copy_u4, copy_u8};

use super::flow::{Flow, Measured, rate};
use super::{LinkError, LinkQuantity, LinkRow, Links, Outcome};
use crate::driver::{Device, DriverError, LaunchConfig, Prepared, Stream};

/// Threads per block of the kernels.
const BLOCK: u32 = 256;

/// A shape of the copying kernel: vectors that each thread has under way, and blocks per multiprocessor; without them there is a thread
/// for each.
#[derive(Clone, Copy)]
struct Shape {
    unroll: u32,
    per_multiprocessor: Option<u64>,
}

/// The fastest of these is what a link does. 16 blocks of 256 are twice the threads of a multiprocessor.
const SHAPES: [Shape; 4] = [
    Shape {
        unroll: 1,
        per_multiprocessor: None,
    },
    Shape {
        unroll: 4,
        per_multiprocessor: None,
    },
    Shape {
        unroll: 8,
        per_multiprocessor: Some(4),
    },
    Shape {
        unroll: 4,
        per_multiprocessor: Some(16),
    },
];

/// Data of a device that go to another, moved by a stream of one of both.
#[derive(Clone, Copy)]
pub(super) struct Direction {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) by: usize,
}

impl Direction {
    /// The other device than the one that moves the data.
    fn peer(self) -> usize {
        if self.by == self.from {
            self.to
        } else {
            self.from
        }
    }
}

/// Puts a transfer of one array to another into a stream.
pub(super) type Put<'p> = Box<
    dyn Fn(&Stream<'_>, Slice<'_, Vector>, SliceMut<'_, Vector>) -> Result<(), DriverError> + 'p,
>;

impl<'d> Links<'d> {
    /// By the copy engines of the device that data come from, and of the one that they go to.
    pub(super) fn copy(&mut self, pairs: &[(usize, usize)]) -> Result<Outcome, LinkError> {
        let sent: Vec<_> = pairs
            .iter()
            .map(|&(from, to)| Direction { from, to, by: from })
            .collect();
        let fetched: Vec<_> = pairs
            .iter()
            .map(|&(from, to)| Direction { from, to, by: to })
            .collect();
        let sent = self.copies(&sent, "sent")?;
        Ok(sent.faster(self.copies(&fetched, "fetched")?))
    }

    fn copies(&mut self, directions: &[Direction], verb: &str) -> Result<Outcome, LinkError> {
        let measured = self.transfer(directions, |_| {
            // SAFETY: `transfer` has the arrays and waits; what is copied is only read, and each target is of one stream.
            Ok(Box::new(|stream, from, to| unsafe {
                stream.copy_peer(from, to)
            }))
        })?;
        let is_staged = directions
            .iter()
            .any(|it| self.refusal(it.by, it.peer()).is_some());
        let way = if is_staged {
            LinkRow::STAGED
        } else {
            LinkRow::PEER
        };
        let by = format!("{}, {verb}", self.engine(directions[0].by));
        Ok(Outcome::of(measured, self.plan.bytes, by, way))
    }

    /// Returns the name of what copies without a kernel.
    pub(super) fn engine(&self, number: usize) -> &'static str {
        match self.devices[number].device.properties().is_emulated() {
            true => "the host's copy",
            false => "copy engine",
        }
    }

    /// By the copying kernel of the devices that data go to, where it reads, or come from.
    pub(super) fn kernel(
        &mut self,
        quantity: LinkQuantity,
        pairs: &[(usize, usize)],
    ) -> Result<Outcome, LinkError> {
        let reads = matches!(
            quantity,
            LinkQuantity::KernelRead | LinkQuantity::KernelReadBothWays
        );
        let by = |from, to| if reads { to } else { from };
        let directions = pairs.iter().map(|&(from, to)| Direction {
            from,
            to,
            by: by(from, to),
        });
        let directions: Vec<_> = directions.collect();
        let mut refusals = directions
            .iter()
            .filter_map(|it| self.refusal(it.by, it.peer()));
        if let Some(reason) = refusals.next() {
            return Ok(Outcome::none(reason));
        }
        let device = &self.devices[directions[0].by].device;
        // The emulator's times say nothing of a shape.
        let shapes = match device.properties().is_emulated() {
            true => &SHAPES[1..2],
            false => &SHAPES[..],
        };
        let (devices, vectors) = (self.devices, self.plan.vectors());
        let mut best = None;
        for shape in shapes {
            let measured = self.transfer(&directions, |by| {
                let prepared = shape.prepare(&devices[by].device, vectors)?.0;
                // SAFETY: `transfer` has the arrays and waits; both have as many vectors, aligned to 16 bytes. What is copied is only read,
                // and each target is of one stream. The grid has one dimension, and a thread for each vector without a loop.
                Ok(Box::new(move |stream, from, to| unsafe {
                    prepared.launch(stream, &(from, to))
                }))
            })?;
            let (prepared, config) = shape.prepare(device, vectors)?;
            let by = format!("{}, {} blocks of {BLOCK}", prepared.name(), config.grid[0]);
            let next = Outcome::of(measured, self.plan.bytes, by, LinkRow::PEER);
            best = Some(next.faster_than(best));
        }
        Ok(best.unwrap_or_else(|| unreachable!("there are shapes")))
    }

    /// Times directions at once, each by what `put` makes for the device that moves it, and compares what came.
    pub(super) fn transfer<'p>(
        &mut self,
        directions: &[Direction],
        put: impl Fn(usize) -> Result<Put<'p>, DriverError>,
    ) -> Result<Measured, LinkError> {
        for direction in directions {
            self.targets[direction.to].poison()?;
        }
        let mut flows = Vec::new();
        let mut targets: Vec<_> = self.targets.iter_mut().map(Some).collect();
        for &Direction { from, to, by } in directions {
            let put = put(by)?;
            let (source, contents) = (&self.sources[from], &self.contents);
            let target = targets[to]
                .take()
                .unwrap_or_else(|| unreachable!("a target is of one direction"));
            flows.push(Flow {
                stream: &self.streams[by][0],
                enqueue: Box::new(move |stream| {
                    put(stream, contents.part(source, from), target.slice_mut(..))
                }),
            });
        }
        let measured = rate(&mut flows, &self.plan, self.plan.bytes as f64)?;
        drop(flows);
        directions
            .iter()
            .try_for_each(|it| self.check(it.from, it.to))?;
        Ok(measured)
    }
}

impl Shape {
    fn prepare<'d>(
        self,
        device: &'d Device,
        vectors: usize,
    ) -> Result<(Prepared<'d, copy_u1>, LaunchConfig), DriverError> {
        let entry = match self.unroll {
            1 => copy_u1::entry(),
            4 => copy_u4::entry().with_signature::<copy_u1>(),
            _ => copy_u8::entry().with_signature::<copy_u1>(),
        };
        let full = LaunchConfig::linear(vectors.div_ceil(self.unroll as usize) as u64, BLOCK);
        let config = match self.per_multiprocessor {
            None => full,
            Some(blocks) => {
                let most = blocks * u64::from(device.properties().multiprocessors);
                LaunchConfig::blocks(full.grid[0].min(most), BLOCK)
            }
        };
        Ok((device.prepare(entry, config)?, config))
    }
}
