//! What more devices would do, from what few do and what the links between them were measured to do.

use std::fmt;

use super::{DevicesRow, Exchange, Kind};
use crate::driver::{Device, Stream};
use crate::measure::{Interval, Summary};
use crate::study::StudyError;

/// Bytes of a copy that shows what a link carries: on an emulated device little, as its copies are the host's.
const COPIED: usize = 256 << 20;
const COPIED_EMULATED: usize = 1 << 20;
/// Copies that are timed.
const COPIES: usize = 9;

/// What grows with the number of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Nothing: each device has less to do.
    Strong,
    /// The problem: each device has as much to do as one alone.
    Weak,
}

impl fmt::Display for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Growth::Strong => "strong",
            Growth::Weak => "weak",
        })
    }
}

/// What the link between two devices does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFigures {
    /// 1e9 bytes per second that a copy moves in one direction.
    pub gigabytes_per_second: f64,
}

/// A copy from the first device to the second.
///
/// # Errors
/// [`StudyError::Driver`]: there is too little memory, or the driver refuses the copy.
pub fn measured_link(devices: &[Device]) -> Result<Option<LinkFigures>, StudyError> {
    let [first, second, ..] = devices else {
        return Ok(None);
    };
    let bytes = match first.properties().is_emulated() {
        true => COPIED_EMULATED,
        false => COPIED,
    };
    // Without access a copy takes its way through the host's memory, which is what the link then is.
    if first.can_access_peer(second)? {
        first.enable_peer_access(second)?;
    }
    let (from, mut to) = (
        first.buffer_zeroed::<u8>(bytes)?,
        second.buffer_zeroed::<u8>(bytes)?,
    );
    let stream = Stream::new(first)?;
    let mut copy = || -> Result<f64, StudyError> {
        let interval = Interval::of(&stream, || {
            // SAFETY: both live until the stream has been synchronised, and nothing else touches them.
            unsafe { stream.copy_peer(from.slice(..), to.slice_mut(..)) }
        })?;
        stream.synchronize()?;
        Ok(interval.milliseconds()?)
    };
    copy()?;
    let times = (0..COPIES).map(|_| copy()).collect::<Result<Vec<_>, _>>()?;
    let median = Summary::of(&times).map_or(f64::NAN, |it| it.median);
    Ok(Some(LinkFigures {
        gigabytes_per_second: bytes as f64 / median / 1e6,
    }))
}

/// The time of a step on any number of devices: what no device is spared, what they share, and what they exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Microseconds that each device takes however many there are: launches, and what each does of all the vector.
    pub fixed_us: f64,
    /// Microseconds of one device that all divide between them.
    pub divided_us: f64,
    /// Microseconds of an exchange but for its bytes, as between the devices that were measured.
    pub latency_us: f64,
    /// Bytes of the vector that all devices need.
    pub bytes: f64,
    /// The link's rate, at which a device receives what is not its own.
    pub link: LinkFigures,
    /// Whether the bytes go while the numbers are computed.
    pub overlaps: bool,
}

/// The parts of a predicted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Microseconds.
    pub us: f64,
    /// Of these, for the exchange.
    pub exchange_us: f64,
    /// Which part is the greatest.
    pub limit: &'static str,
}

impl Model {
    /// From the times of a step without an exchange on one device and on `devices`, and the exchange's time there.
    ///
    /// The first two are `fixed + divided` and `fixed + divided / devices`.
    pub fn fitted(
        [one_us, many_us]: [f64; 2],
        devices: usize,
        exchange_us: f64,
        (exchange, bytes, link): (Exchange, f64, LinkFigures),
    ) -> Model {
        let share = 1.0 - 1.0 / devices as f64;
        let divided_us = ((one_us - many_us) / share).clamp(0.0, one_us);
        let mut model = Model {
            fixed_us: one_us - divided_us,
            divided_us,
            latency_us: 0.0,
            bytes,
            link,
            overlaps: exchange == Exchange::Peer,
        };
        let exposed = model.step(devices).exchange_us;
        model.latency_us = (exchange_us - exposed).max(0.0);
        model
    }

    /// A step on so many devices.
    pub fn step(&self, devices: usize) -> Step {
        let shares = devices as f64;
        let divided_us = self.divided_us / shares;
        let received = self.bytes * (1.0 - 1.0 / shares);
        let bytes_us = received / self.link.gigabytes_per_second / 1e3;
        // What goes while the numbers are computed costs only what it takes longer.
        let exposed_us = match self.overlaps {
            true => (bytes_us - divided_us).max(0.0),
            false => bytes_us,
        };
        let latency_us = if devices > 1 { self.latency_us } else { 0.0 };
        let parts = [
            (divided_us, "the work that the devices share"),
            (
                self.fixed_us,
                "launches and the work that each device repeats",
            ),
            (latency_us, "the exchange's latency"),
            (exposed_us, "the links' bandwidth"),
        ];
        let greatest = parts.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        Step {
            us: parts.iter().map(|part| part.0).sum(),
            exchange_us: latency_us + exposed_us,
            limit: greatest.map_or("", |part| part.1),
        }
    }

    /// A measured row's study on another number of devices, of the same size.
    pub fn row(&self, measured: &DevicesRow, devices: usize) -> DevicesRow {
        let step = self.step(devices);
        let name = measured.device.split_once(" x ").map_or("", |it| it.1);
        DevicesRow {
            exchange: measured.exchange.clone(),
            devices,
            exchange_us: Some(step.exchange_us),
            exchange_percent: Some(100.0 * step.exchange_us / step.us),
            limit: Some(step.limit.to_owned()),
            kind: Kind::Predicted,
            checked: false,
            ..DevicesRow::alone(
                measured.study,
                measured.size,
                step.us,
                format!("{devices} x {name}, from {}", measured.device),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkFigures = LinkFigures {
        gigabytes_per_second: 100.0,
    };

    #[test]
    fn what_was_measured_is_predicted() {
        for exchange in [Exchange::Gather, Exchange::Peer] {
            let model = Model::fitted([110.0, 60.0], 2, 7.0, (exchange, 65_536.0, LINK));
            assert_eq!((model.fixed_us, model.divided_us), (10.0, 100.0));
            let step = model.step(2);
            assert!(
                (step.us - 67.0).abs() < 1e-9 && (step.exchange_us - 7.0).abs() < 1e-9,
                "{step:?}"
            );
            assert_eq!(model.step(1).us, 110.0);
        }
    }

    #[test]
    fn the_limit_is_the_greatest_part() {
        let model = Model::fitted([110.0, 60.0], 2, 7.0, (Exchange::Gather, 65_536.0, LINK));
        assert_eq!(model.step(4).limit, "the work that the devices share");
        assert_eq!(
            model.step(16).limit,
            "launches and the work that each device repeats"
        );
        // 100 MB at 100 GB/s.
        let model = Model {
            bytes: 1e8,
            ..model
        };
        assert_eq!(model.step(16).limit, "the links' bandwidth");
        // They go while the numbers are computed, for as long as that takes.
        let model = Model {
            overlaps: true,
            bytes: 1e6,
            ..model
        };
        assert!((model.step(16).exchange_us - model.latency_us - (9.375 - 6.25)).abs() < 1e-9);
    }
}
