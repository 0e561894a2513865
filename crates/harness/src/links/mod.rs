//! Ceilings of the links between devices, and between a device and the host: copies one way and both ways at once,
//! kernels that read and write another device's memory, the latency of such a load, and additions there.
//!
//! Copies are timed as NVIDIA's nvbandwidth does: so many in a row between two events, warmed up, the median of several such loops; both
//! ways at once each direction has a stream of its own, and the rates of both are added up. What is written to is filled with other
//! bits before, and compared afterwards.

mod additions;
mod contents;
mod copies;
mod error;
mod flow;
mod host;
mod latency;
mod plan;
mod row;
mod store;
mod topology;

pub use error::{LinkError, LinksFileError};
pub use plan::LinkPlan;
pub use row::{LinkQuantity, LinkRow};
pub use store::{LinkRoof, load_links};
pub use topology::{LinkShape, Topology};

use kernels_gpu::ceilings::stream::Vector;

use crate::driver::{Device, DeviceBuffer, DriverError, Pinned, Stream, free_host_memory};
use contents::Contents;
use flow::Measured;
use row::Outcome;

/// A device, and what rows call it: `cuda:0`, `cpu:1`.
#[derive(Debug)]
pub struct LinkDevice {
    /// Name in rows.
    pub name: String,
    /// The device, with the PTX of the embedded kernels.
    pub device: Device,
}

/// Where data come from or go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host's page-locked memory.
    Host,
    /// The device of this number in the list.
    Device(usize),
}

/// A row that is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The quantity to measure.
    pub quantity: LinkQuantity,
    /// Where data come from. What is measured both ways comes from both.
    pub from: End,
    /// Where they go.
    pub to: End,
}

/// The links of some devices: with each other, and with the host.
pub struct Links<'d> {
    devices: &'d [LinkDevice],
    plan: LinkPlan,
    contents: Contents,
    /// Of each device: what is copied from it.
    sources: Vec<DeviceBuffer<Vector>>,
    /// Of each device: what is copied to it.
    targets: Vec<DeviceBuffer<Vector>>,
    /// Of each device: two streams, the second for the other direction to the host.
    streams: Vec<[Stream<'d>; 2]>,
    host: HostMemory,
    /// Why kernels of a device cannot use another's memory, by both numbers.
    refusals: Vec<Vec<Option<String>>>,
}

/// Page-locked memory: what is copied from the host, and to it. A copy under way has it.
struct HostMemory {
    source: Option<Pinned<Vector>>,
    target: Option<Pinned<Vector>>,
}

impl<'d> Links<'d> {
    /// Lets the devices reach each other's memory where they can, for as long as the process lasts, and prepares what is copied: two
    /// arrays of each device and two of the host, of `plan.bytes` each.
    ///
    /// # Errors
    /// [`LinkError::NoDevices`]: there is none; [`LinkError::Twice`]: one is named twice; [`LinkError::Amount`]: the plan has no
    /// whole vectors, no timings or nothing to time; [`LinkError::HostMemory`]: the host has too little memory;
    /// [`LinkError::Driver`]: a device has too little, or the driver refuses.
    pub fn new(devices: &'d [LinkDevice], plan: LinkPlan) -> Result<Links<'d>, LinkError> {
        plan.check()?;
        let Some(first) = devices.first() else {
            return Err(LinkError::NoDevices);
        };
        for (index, device) in devices.iter().enumerate() {
            if devices[..index].iter().any(|it| it.name == device.name) {
                return Err(LinkError::Twice(device.name.clone()));
            }
        }
        // The sums of what is sent take seconds per gigabyte.
        check_memory(devices, &plan)?;
        let contents = Contents::new(plan.vectors(), devices.len());
        let numbered = || devices.iter().enumerate();
        let sources = numbered().map(|(number, it)| contents.source(&it.device, number));
        let targets = devices
            .iter()
            .map(|it| it.device.buffer_uninitialized(plan.vectors()));
        let streams = devices
            .iter()
            .map(|it| Ok([Stream::new(&it.device)?, Stream::new(&it.device)?]));
        Ok(Links {
            devices,
            sources: sources.collect::<Result<_, _>>()?,
            targets: targets.collect::<Result<_, _>>()?,
            streams: streams.collect::<Result<_, DriverError>>()?,
            host: HostMemory::new(&first.device, &contents)?,
            refusals: refusals(devices)?,
            contents,
            plan,
        })
    }

    /// All rows, in the order of tables: of each quantity first those with the host.
    pub fn steps(&self) -> Vec<Step> {
        let count = self.devices.len();
        let quantities = LinkQuantity::ALL.into_iter();
        let of = |quantity: LinkQuantity| {
            let pairs = (0..count).flat_map(move |from| (0..count).map(move |to| (from, to)));
            let is_pair = move |(from, to): &(usize, usize)| match quantity.is_both_ways() {
                true => from < to,
                false => from != to,
            };
            let pairs = pairs
                .filter(is_pair)
                .map(|(from, to)| (End::Device(from), End::Device(to)));
            let step = move |(from, to)| Step { quantity, from, to };
            let host = (0..count).flat_map(move |number| host_pairs(quantity, End::Device(number)));
            host.chain(pairs).map(step).collect::<Vec<_>>()
        };
        quantities.flat_map(of).collect()
    }

    /// Measures a row, and compares what was written.
    ///
    /// # Errors
    /// [`LinkError::Wrong`]: something else came there than was sent; [`LinkError::Driver`]: there is too little memory, or the driver
    /// refuses. Devices that cannot reach each other are no error: the row says why.
    pub fn measure(&mut self, step: Step) -> Result<LinkRow, LinkError> {
        let outcome = match (step.from, step.to) {
            (End::Device(from), End::Device(to)) => self.between(step.quantity, from, to),
            (from, to) => self.with_host(from, to, step.quantity.is_both_ways()),
        }
        .map_err(|error| error.during(&self.name(step)))?;
        Ok(self.row(step, outcome))
    }

    /// A row's name, for people.
    pub fn name(&self, step: Step) -> String {
        let arrow = if step.quantity.is_both_ways() {
            "<->"
        } else {
            "->"
        };
        let [from, to] = [step.from, step.to].map(|end| self.end(end));
        format!("{}, {from} {arrow} {to}", step.quantity.name())
    }

    fn between(
        &mut self,
        quantity: LinkQuantity,
        from: usize,
        to: usize,
    ) -> Result<Outcome, LinkError> {
        match quantity {
            LinkQuantity::Copy => self.copy(&[(from, to)]),
            LinkQuantity::CopyBothWays => self.copy(&[(from, to), (to, from)]),
            LinkQuantity::KernelRead | LinkQuantity::KernelWrite => {
                self.kernel(quantity, &[(from, to)])
            }
            LinkQuantity::KernelReadBothWays | LinkQuantity::KernelWriteBothWays => {
                self.kernel(quantity, &[(from, to), (to, from)])
            }
            LinkQuantity::LoadLatency => self.load_latency(from, to),
            LinkQuantity::AddTogether | LinkQuantity::AddApart => {
                self.additions(quantity, from, to)
            }
        }
    }

    fn row(&self, step: Step, outcome: Outcome) -> LinkRow {
        let facts = |end| match end {
            End::Host => None,
            End::Device(number) => Some(self.devices[number].device.properties()),
        };
        let all = [facts(step.from), facts(step.to)];
        let names = all.map(|facts| facts.map_or_else(|| "host".to_owned(), |it| it.name.clone()));
        let [from_device, to_device] = names;
        LinkRow {
            quantity: step.quantity,
            from: self.end(step.from).to_owned(),
            to: self.end(step.to).to_owned(),
            value: outcome.measured.as_ref().map(|it| it.value),
            unit: step.quantity.unit(),
            rms_percent: outcome.measured.as_ref().map(|it| it.rms_percent),
            samples: outcome.measured.as_ref().map_or(0, |it| it.samples),
            bytes: outcome.bytes,
            by: outcome.by,
            way: outcome.way.to_owned(),
            note: outcome.note,
            from_device,
            to_device,
            emulated: all.into_iter().flatten().any(|it| it.is_emulated()),
            checked: outcome.measured.is_some(),
        }
    }

    fn end(&self, end: End) -> &'d str {
        match end {
            End::Host => "host",
            End::Device(number) => &self.devices[number].name,
        }
    }

    /// Why kernels of `on` do not reach the memory of `peer`.
    fn refusal(&self, on: usize, peer: usize) -> Option<&str> {
        self.refusals[on][peer].as_deref()
    }

    /// Compares what came to device `to` with what device `from` had.
    fn check(&self, from: usize, to: usize) -> Result<(), LinkError> {
        self.contents
            .check(&self.devices[to].device, &self.targets[to], from)
    }
}

/// Fails unless there is room for two arrays on each device and two on the host. Emulated devices have their memory of the host.
fn check_memory(devices: &[LinkDevice], plan: &LinkPlan) -> Result<(), LinkError> {
    let both = 2 * plan.bytes;
    let is_emulated = |it: &&LinkDevice| it.device.properties().is_emulated();
    let of_host = both * (1 + devices.iter().filter(is_emulated).count() as u64);
    let free = free_host_memory();
    if of_host > free {
        return Err(LinkError::HostMemory {
            needed: of_host,
            free,
        });
    }
    let check = |it: &LinkDevice| Ok(it.device.check_memory(both)?);
    devices.iter().try_for_each(check)
}

/// Where data come from and go to between the host and a device, of the quantities that are measured there.
fn host_pairs(quantity: LinkQuantity, device: End) -> Vec<(End, End)> {
    match quantity {
        LinkQuantity::Copy => vec![(End::Host, device), (device, End::Host)],
        LinkQuantity::CopyBothWays => vec![(End::Host, device)],
        _ => Vec::new(),
    }
}

/// Enables access of each to each, and says where there is none.
fn refusals(devices: &[LinkDevice]) -> Result<Vec<Vec<Option<String>>>, DriverError> {
    let of_pair = |on: &LinkDevice, peer: &LinkDevice| {
        if on.name == peer.name {
            return Ok(None);
        }
        match on.device.enable_peer_access(&peer.device) {
            Ok(()) => Ok(None),
            Err(DriverError::NoPeerAccess { reason, .. }) => Ok(Some(reason.to_owned())),
            Err(error) => Err(error),
        }
    };
    let of = |on| devices.iter().map(|peer| of_pair(on, peer)).collect();
    devices.iter().map(of).collect()
}

#[cfg(test)]
pub(crate) mod tests;
