//! The lines of a roofline chart: what is drawn of the roofs, and what is written at them.

use super::Chart;
use crate::ceilings::Quantity;
use crate::driver::DeviceProperties;
use crate::model::{BytesPerSec, FlopsPerSec, Limit, Precision, Roofs};

/// Roofs that are closer than this are one line on a chart.
pub(super) const CLOSE: f64 = 1.02;

/// A bandwidth: rate = intensity x bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slope {
    pub(super) bandwidth: BytesPerSec,
    pub(super) label: String,
    pub(super) measured: bool,
}

/// The ranges of the two axes of a roofline, both logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    /// Intensities, FLOP/byte.
    pub(super) x: (f64, f64),
    /// Rates, in 1e9 a second.
    pub(super) y: (f64, f64),
}

impl Frame {
    /// The ends of what lies in the frame of rate = intensity x `bandwidth`, 1e9 bytes per second: a
    /// backend would bend a line that leaves it. `None` where all of it is outside.
    pub(super) fn slope(&self, bandwidth: f64) -> Option<[(f64, f64); 2]> {
        let left = self.x.0.max(self.y.0 / bandwidth);
        let right = self.x.1.min(self.y.1 / bandwidth);
        (left < right).then_some([(left, left * bandwidth), (right, right * bandwidth)])
    }
}

/// What the memory's bandwidth is called: the emulator's is none of a GPU.
pub(super) fn memory_name(device: &DeviceProperties) -> &'static str {
    match device.is_emulated() {
        true => "host memory copy",
        false => "memory",
    }
}

/// Arithmetic roofs of the same height.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flat {
    pub(super) height: FlopsPerSec,
    pub(super) label: String,
    /// What was measured of them.
    pub(super) measured: Vec<FlopsPerSec>,
    /// Whether an FMA roof is among them.
    pub(super) fused: bool,
}

/// The bandwidths of a chart, the data sheet's first.
pub(super) fn slopes(chart: &Chart<'_>) -> Vec<Slope> {
    let memory = chart
        .roofs
        .values()
        .map(|roofs| roofs.memory.0)
        .fold(0.0, f64::max);
    let sheet = Slope {
        bandwidth: BytesPerSec(memory),
        label: format!("{} {}", memory_name(chart.device), BytesPerSec(memory)),
        measured: false,
    };
    let measured = [Quantity::MemoryCopy, Quantity::L2Read]
        .into_iter()
        .filter_map(|quantity| {
            let bandwidth = BytesPerSec(chart.ceilings?.get(quantity)?.value);
            Some(Slope {
                bandwidth,
                label: format!("{} {bandwidth}", quantity.name()),
                measured: true,
            })
        });
    [sheet].into_iter().chain(measured).collect()
}

/// The arithmetic roofs of a chart, the highest first: those of its rows' types, and of a GPU the FMA
/// roof of f64 in any case.
pub(super) fn flats(chart: &Chart<'_>) -> Vec<Flat> {
    let of_rows = chart.roofs.iter().flat_map(|(&precision, roofs)| {
        [Limit::Fma, Limit::AddMul].map(|limit| (precision, limit, roofs.ceiling(limit)))
    });
    let mut roofs: Vec<_> = of_rows.collect();
    if !chart.roofs.contains_key(&Precision::F64) {
        let f64_roofs = Roofs::of_device(chart.device, Precision::F64);
        roofs.extend(f64_roofs.map(|roofs| (Precision::F64, Limit::Fma, roofs.fma)));
    }
    roofs.sort_by(|a, b| b.2.0.total_cmp(&a.2.0));
    roofs
        .chunk_by(|a, b| a.2.0 < CLOSE * b.2.0)
        .map(|same| flat(chart, same))
        .collect()
}

fn flat(chart: &Chart<'_>, same: &[(Precision, Limit, FlopsPerSec)]) -> Flat {
    let height = same[0].2;
    let ceiling = |precision, limit| {
        let quantity = Quantity::arithmetic_rate(precision, limit)?;
        Some(FlopsPerSec(chart.ceilings?.get(quantity)?.value))
    };
    let names = same.iter().map(|&(precision, limit, _)| {
        let name = if limit == Limit::Fma {
            "FMA"
        } else {
            "add+mul"
        };
        let measured = ceiling(precision, limit).map_or_else(String::new, |value| {
            format!(" (measured {})", digits(value))
        });
        format!("{} {name}{measured}", precision.name())
    });
    let names: Vec<String> = names.collect();
    let ridge = height / slopes(chart)[0].bandwidth;
    Flat {
        height,
        label: format!("{}: {height}, ridge point {:.2}", names.join(", "), ridge.0),
        measured: same
            .iter()
            .filter_map(|&(precision, limit, _)| ceiling(precision, limit))
            .collect(),
        fused: same.iter().any(|(_, limit, _)| *limit == Limit::Fma),
    }
}

/// The digits of a rate, without its unit.
fn digits(rate: FlopsPerSec) -> String {
    let text = rate.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Frame;

    /// Frames and bandwidths at random over many decades.
    #[test]
    fn a_slope_is_one_in_every_frame() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut decades = |from: f64, to: f64| 10f64.powf(from + (to - from) * random.f64());
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..100_000 {
            let (x, y) = (decades(-4.0, 3.0), decades(-4.0, 5.0));
            let frame = Frame {
                x: (x, x * decades(0.1, 6.0)),
                y: (y, y * decades(0.1, 6.0)),
            };
            let bandwidth = decades(-2.0, 5.0);
            let Some([(x1, y1), (x2, y2)]) = frame.slope(bandwidth) else {
                outside += 1;
                let corners = (frame.x.0 * bandwidth, frame.x.1 * bandwidth);
                assert!(
                    corners.0 >= frame.y.1 || corners.1 <= frame.y.0,
                    "{frame:?}, {bandwidth}"
                );
                continue;
            };
            inside += 1;
            let is_in = |value: f64, range: (f64, f64)| {
                value >= range.0 * (1.0 - 1e-12) && value <= range.1 * (1.0 + 1e-12)
            };
            assert!(
                is_in(x1, frame.x) && is_in(x2, frame.x),
                "{frame:?}, {bandwidth}"
            );
            assert!(
                is_in(y1, frame.y) && is_in(y2, frame.y),
                "{frame:?}, {bandwidth}"
            );
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(
                close((y2 / y1).ln(), (x2 / x1).ln()),
                "{frame:?}, {bandwidth}"
            );
            assert!(
                close((y1 / x1 / bandwidth).ln(), 0.0),
                "{frame:?}, {bandwidth}"
            );
        }
        assert!(inside > 10_000 && outside > 10_000, "{inside}, {outside}");
    }
}
