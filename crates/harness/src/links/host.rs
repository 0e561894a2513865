//! Copies between a device and the host's page-locked memory.

use kernels_gpu::ceilings::stream::Vector;

use super::contents::Contents;
use super::flow::Measured;
use super::{End, HostMemory, LinkError, LinkRow, Links, Outcome};
use crate::driver::{Device, DeviceBuffer, DriverError, Pending, Pinned, Stream};
use crate::measure::Interval;

/// A vector that no sender sends.
const POISON: Vector = [f32::from_bits(u32::MAX); 4];

impl HostMemory {
    pub(super) fn new(device: &Device, contents: &Contents) -> Result<HostMemory, DriverError> {
        let mut source = device.pinned(contents.vectors(), POISON)?;
        for (i, vector) in source.iter_mut().enumerate() {
            *vector = contents.vector(contents.host(), i);
        }
        Ok(HostMemory {
            source: Some(source),
            target: Some(device.pinned(contents.vectors(), POISON)?),
        })
    }
}

/// A direction that is timed, which has the host's memory until it ends.
struct UnderWay<'d> {
    time: Interval<'d>,
    copy: Pending<'d, Vector>,
}

impl<'d> UnderWay<'d> {
    fn begin(
        stream: &Stream<'d>,
        copy: impl FnOnce() -> Result<Pending<'d, Vector>, DriverError>,
    ) -> Result<Self, DriverError> {
        let mut begun = None;
        let time = Interval::of(stream, || {
            begun = Some(copy()?);
            Ok(())
        })?;
        let copy = begun.unwrap_or_else(|| unreachable!("the work was done"));
        Ok(UnderWay { time, copy })
    }

    /// Waits for it: the host's memory, and seconds.
    fn end(self, stream: &Stream<'_>) -> Result<(Pinned<Vector>, f64), DriverError> {
        let host = self.copy.wait()?;
        stream.synchronize()?;
        Ok((host, self.time.milliseconds()? / 1e3))
    }
}

/// Memory that a copy is to use, which the copy before has given back.
fn taken(memory: &mut Option<Pinned<Vector>>) -> Result<Pinned<Vector>, LinkError> {
    let lost = "a copy before has failed, and may still use the host's memory";
    memory
        .take()
        .ok_or_else(|| LinkError::wrong(lost.to_owned()))
}

impl<'d> Links<'d> {
    /// From the host to a device, from it to the host, or both at once, which `both` says by the pair of ends that it is of.
    pub(super) fn with_host(
        &mut self,
        from: End,
        to: End,
        both: bool,
    ) -> Result<Outcome, LinkError> {
        let (number, up, down) = match (from, to) {
            (End::Host, End::Device(number)) => (number, true, both),
            (End::Device(number), End::Host) => (number, both, true),
            _ => unreachable!("one of the ends is the host"),
        };
        if up {
            self.targets[number].poison()?;
        }
        let mut poisoned = taken(&mut self.host.target)?;
        poisoned.fill(POISON);
        self.host.target = Some(poisoned);
        let mut rates = Vec::new();
        for round in 0..=self.plan.rounds {
            let seconds = self.sample_with_host(number, up, down)?;
            let rate = seconds
                .into_iter()
                .flatten()
                .map(|it| self.plan.bytes as f64 / it);
            // The first is to warm up.
            if round > 0 {
                rates.push(rate.sum());
            }
        }
        if up {
            let host = self.contents.host();
            self.check(host, number)?;
        }
        if let (true, Some(came)) = (down, &self.host.target) {
            self.contents.check_part(came, 0, number)?;
        }
        let by = self.engine(number);
        let measured = Measured::of(&rates);
        Ok(Outcome::of(
            measured,
            self.plan.bytes,
            by.to_owned(),
            LinkRow::PAGE_LOCKED,
        ))
    }

    /// Seconds of a copy from the host, and of one to it.
    fn sample_with_host(
        &mut self,
        number: usize,
        up: bool,
        down: bool,
    ) -> Result<[Option<f64>; 2], LinkError> {
        let [to_device, to_host] = &self.streams[number];
        to_host.wait_event(&to_device.mark()?)?;
        let source = up.then(|| taken(&mut self.host.source)).transpose()?;
        let target = down.then(|| taken(&mut self.host.target)).transpose()?;
        let first = number * super::contents::APART;
        let (own_source, own_target): (&DeviceBuffer<Vector>, &mut DeviceBuffer<Vector>) =
            (&self.sources[number], &mut self.targets[number]);
        let sent = source
            .map(|host| UnderWay::begin(to_device, || Ok(to_device.upload(host, own_target, 0)?)));
        let fetched = target.map(|host| {
            UnderWay::begin(to_host, || Ok(to_host.download(own_source, first, host)?))
        });
        let mut seconds = [None, None];
        if let Some(sent) = sent.transpose()? {
            let (host, taken) = sent.end(to_device)?;
            self.host.source = Some(host);
            seconds[0] = Some(taken);
        }
        if let Some(fetched) = fetched.transpose()? {
            let (host, taken) = fetched.end(to_host)?;
            self.host.target = Some(host);
            seconds[1] = Some(taken);
        }
        Ok(seconds)
    }
}
