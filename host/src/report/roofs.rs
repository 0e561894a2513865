//! The lines of a roofline chart: what is drawn of the roofs, and what is written at them.

use super::Chart;
use crate::ceilings::Quantity;
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
        label: format!("memory {}", BytesPerSec(memory)),
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
        let f64_roofs = Roofs::of(chart.device, Precision::F64);
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
