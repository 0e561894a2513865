//! A prediction for more devices, from what few do and what the links between them were measured to do.

use std::fmt;

use super::{DevicesRow, Exchange, Kind};
use crate::driver::{Device, Stream};
use crate::embedded::far_chase::FarChase;
use crate::measure::{Interval, Summary};
use crate::study::StudyError;

/// Bytes of a copy that shows what a link carries: on an emulated device little, as its copies are the host's.
const COPIED: usize = 256 << 20;
const COPIED_EMULATED: usize = 1 << 20;
/// Loads of a chase that shows how long one takes.
const LOADS: u32 = 20_000;
const LOADS_EMULATED: u32 = 500;
/// Copies, and chases, that are timed.
const COPIES: usize = 9;

/// The quantity that grows with the number of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Nothing: each device has less to do.
    Strong,
    /// The problem: each device has as much to do as one alone.
    Weak,
}

impl Growth {
    /// Returns the share of one device's whole work that each of so many devices has.
    fn share(self, devices: usize) -> f64 {
        match self {
            Growth::Strong => 1.0 / devices as f64,
            Growth::Weak => 1.0,
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Growth::Strong => "strong",
            Growth::Weak => "weak",
        })
    }
}

/// Figures of the link between two devices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkFigures {
    /// 1e9 bytes per second that a copy moves in one direction.
    pub gigabytes_per_second: f64,
    /// Microseconds from the store of a word until another device sees it: those of a load from its memory, or 0 where it has no access.
    pub hop_us: f64,
}

/// A copy from the first device to the second, and loads from its memory.
///
/// # Errors
/// [`StudyError::Driver`]: there is too little memory, or the driver refuses the copy; [`StudyError::Wrong`]: other words were loaded.
pub fn measured_link(devices: &[Device]) -> Result<Option<LinkFigures>, StudyError> {
    let [first, second, ..] = devices else {
        return Ok(None);
    };
    let bytes = match first.properties().is_emulated() {
        true => COPIED_EMULATED,
        false => COPIED,
    };
    // Without access a copy takes its way through the host's memory, which is what the link then is.
    let has_access = first.can_access_peer(second)?;
    if has_access {
        first.enable_peer_access(second)?;
    }
    let stream = Stream::new(first)?;
    let hop_us = match has_access {
        true => hop_us(second, first, &stream)?,
        false => 0.0,
    };
    let (from, mut to) = (
        first.buffer_zeroed::<u8>(bytes)?,
        second.buffer_zeroed::<u8>(bytes)?,
    );
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
        hop_us,
    }))
}

/// Microseconds of a load from another device's memory.
fn hop_us(there: &Device, reader: &Device, stream: &Stream<'_>) -> Result<f64, StudyError> {
    let loads = match reader.properties().is_emulated() {
        true => LOADS_EMULATED,
        false => LOADS,
    };
    let chased = FarChase::run((there, reader), stream, (loads, COPIES as u32))?;
    let [came, expected] = [chased.came, chased.expected].map(|it| it as f64);
    StudyError::check("the end of a chase over the link", came, expected, 0.0)?;
    Ok(Summary::of(&chased.samples).map_or(0.0, |it| 1e6 * it.median))
}

/// The problem of a study's step on a number of devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// How many devices.
    pub devices: usize,
    /// Rows and columns of the matrix, or elements of the vector.
    pub size: usize,
    /// Bytes that all devices need of each other.
    pub bytes: f64,
}

/// How long a step took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// On how many devices, and what of.
    pub problem: Problem,
    /// Microseconds.
    pub step_us: f64,
    /// Of these, for the exchange.
    pub exchange_us: f64,
}

/// The time of a step on any number of devices: what no device is spared, what they share, and what they exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The quantity that grows with the devices.
    pub growth: Growth,
    /// Microseconds that each device takes however many share the problem: launches, and what each does of all the vector. If the problem
    /// grows, they are a part of `divided_us`: both stay the same then.
    pub fixed_us: f64,
    /// Microseconds of one device, for what all divide between them. If the problem grows, each device takes as long for its part.
    pub divided_us: f64,
    /// Microseconds of an exchange but for its bytes and for what each device adds.
    pub latency_us: f64,
    /// Microseconds of it that each device adds.
    pub latency_per_device_us: f64,
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
    /// With the least squares of what was measured, one device among it.
    ///
    /// Without its exchange, a step takes `fixed + divided / devices` if they share one problem: the relative differences count. If the problem
    /// grows, the time stays the same. The latency is what is left of the exchanges of several devices: with a hop for each more of
    /// them that a collective's ring has, or, from three numbers of devices on, a line.
    pub fn fitted(
        growth: Growth,
        measured: &[Measured],
        (exchange, link): (Exchange, LinkFigures),
    ) -> Model {
        let of_work = measured.iter().map(|it| {
            Point::relative(
                growth.share(it.problem.devices),
                it.step_us - it.exchange_us,
            )
        });
        let (fixed_us, divided_us) = line(&of_work.collect::<Vec<_>>());
        let mut model = Model {
            growth,
            fixed_us,
            divided_us,
            latency_us: 0.0,
            latency_per_device_us: 0.0,
            link,
            overlaps: exchange == Exchange::Peer,
        };
        let several = measured.iter().filter(|it| it.problem.devices > 1);
        let left = several.map(|it| Point {
            x: it.problem.devices as f64,
            y: (it.exchange_us - model.step(it.problem).exchange_us).max(0.0),
            weight: 1.0,
        });
        let left: Vec<Point> = left.collect();
        // Stores from kernels go to all devices at once; a collective's numbers go from each to the next.
        let hop_us = match exchange {
            Exchange::Peer => 0.0,
            Exchange::Gather | Exchange::Graph => link.hop_us,
        };
        (model.latency_us, model.latency_per_device_us) = match left.len() {
            ..LINE => parallel(&left, hop_us),
            _ => line(&left),
        };
        model
    }

    /// A step of a problem.
    pub fn step(&self, problem: Problem) -> Step {
        let devices = problem.devices as f64;
        let divided_us = self.divided_us * self.growth.share(problem.devices);
        let received = problem.bytes * (1.0 - 1.0 / devices);
        let bytes_us = received / self.link.gigabytes_per_second / 1e3;
        // What goes while the numbers are computed costs only what it takes longer.
        let exposed_us = match self.overlaps {
            true => (bytes_us - divided_us).max(0.0),
            false => bytes_us,
        };
        let latency_us = match problem.devices {
            ..2 => 0.0,
            _ => (self.latency_us + self.latency_per_device_us * devices).max(0.0),
        };
        let work = match self.growth {
            Growth::Strong => "the work that the devices share",
            Growth::Weak => "the work of each device",
        };
        let parts = [
            (divided_us, work),
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

    /// A measured row's study on another number of devices.
    pub fn row(&self, measured: &DevicesRow, problem: Problem) -> DevicesRow {
        let (step, devices) = (self.step(problem), problem.devices);
        let name = measured.device.split_once(" x ").map_or("", |it| it.1);
        let device = format!("{devices} x {name}, from {}", measured.device);
        DevicesRow {
            exchange: measured.exchange.clone(),
            devices,
            limit: Some(step.limit.to_owned()),
            kind: Kind::Predicted,
            checked: false,
            ..DevicesRow::alone(measured.study, problem.size, step.us, device)
        }
        .with_exchange(step.exchange_us, step.us)
    }
}

/// Numbers of several devices from which on the latency is a line.
const LINE: usize = 3;

/// A place that a line is to pass, and how much its distance counts.
struct Point {
    x: f64,
    y: f64,
    weight: f64,
}

impl Point {
    /// As a share of `y`.
    fn relative(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            weight: 1.0 / (y * y),
        }
    }
}

/// The line of this slope with the least squares of the distances, in the form of [`line`].
fn parallel(points: &[Point], slope: f64) -> (f64, f64) {
    let above = points.iter().map(|it| it.y - slope * it.x);
    let at_zero = above.sum::<f64>() / points.len().max(1) as f64;
    (at_zero, slope)
}

/// The line `at zero + slope x` with the least squares of the distances, of which neither number is below 0: both. Where all x are the
/// same, one number says all: it is the slope, or at zero where all x are 0.
fn line(points: &[Point]) -> (f64, f64) {
    /// The difference that rounding leaves of equal numbers.
    const ROUNDING: f64 = 1e-9;
    let sum = |of: fn(&Point) -> f64| points.iter().map(|it| it.weight * of(it)).sum::<f64>();
    let (w, x, y) = (sum(|_| 1.0), sum(|it| it.x), sum(|it| it.y));
    let (xx, xy) = (sum(|it| it.x * it.x), sum(|it| it.x * it.y));
    let spread = w * xx - x * x;
    let slope = match spread > ROUNDING * w * xx {
        true => (w * xy - x * y) / spread,
        false if xx > 0.0 => xy / xx,
        false => 0.0,
    };
    let at_zero = (y - slope * x) / w;
    if slope < 0.0 {
        (y / w, 0.0)
    } else if at_zero < 0.0 {
        (0.0, xy / xx)
    } else {
        (at_zero, slope)
    }
}

#[cfg(test)]
mod tests;
