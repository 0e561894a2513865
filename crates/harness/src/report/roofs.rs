//! The roofs of a chart: data sheets' and measured ones, those that are as good as one drawn as one.

use std::collections::BTreeSet;
use std::fmt::Display;

use itertools::Itertools;

use super::plot::{Guide, Path, Source};
use crate::ceilings::{Ceilings, Quantity};
use crate::driver::DeviceProperties;
use crate::links::LinkRoof;
use crate::model::{BytesPerSec, FlopsPerSec, GpuRoofs, Precision, Roofs, TensorType};

/// Roofs that are closer than this are one line on a chart.
const CLOSE: f64 = 1.02;

/// Returns the name of the memory's bandwidth: the emulator's is not a GPU's.
pub(super) fn memory_name(device: &DeviceProperties) -> &'static str {
    match device.is_emulated() {
        true => "host memory copy",
        false => "memory",
    }
}

/// A bandwidth or an arithmetic rate with its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named<T> {
    pub(super) name: String,
    pub(super) value: T,
    /// The value for people.
    pub(super) text: String,
    pub(super) source: Source,
}

/// The lines of a roofline: bandwidths up to the highest roof, memory's first, and arithmetic from the
/// fastest bandwidth on, with a dot at each ridge point of the data sheet's or, without one, the
/// measured memory.
pub(super) fn guides(slopes: &[Named<BytesPerSec>], flats: &[Named<FlopsPerSec>]) -> Vec<Guide> {
    let flats = merged(flats);
    let top = flats.iter().map(|it| it.value.giga()).fold(0.0, f64::max);
    let rates = slopes.iter().map(|it| it.value.giga());
    let fastest = rates.fold(0.0, f64::max);
    let Some(memory) = slopes.first() else {
        return Vec::new();
    };
    let measured = |slopes: &[Named<BytesPerSec>]| {
        let measured = slopes.iter().filter(|it| it.source == Source::Measured);
        measured.count()
    };
    let sloping = slopes.iter().enumerate().map(|(index, slope)| Guide {
        label: format!("{} {}", slope.name, slope.text),
        path: Path::Slope {
            rate: slope.value.giga(),
            top,
        },
        source: slope.source,
        number: measured(&slopes[..index]),
        dots: Vec::new(),
    });
    let level = flats.iter().map(|flat| {
        let height = flat.value.giga();
        let ridge = (flat.value / memory.value).0;
        let has_ridge = flat.source == memory.source;
        let named = match has_ridge {
            true => format!(", ridge {ridge:.2}"),
            false => String::new(),
        };
        Guide {
            label: format!("{} {}{named}", flat.name, flat.text),
            path: Path::Flat {
                height,
                from: height / fastest,
            },
            source: flat.source,
            number: 0,
            dots: if has_ridge {
                vec![(ridge, height)]
            } else {
                Vec::new()
            },
        }
    });
    sloping.chain(level).collect()
}

/// The highest first; those of one source and nearly one height as one.
fn merged(flats: &[Named<FlopsPerSec>]) -> Vec<Named<FlopsPerSec>> {
    let mut flats = flats.to_vec();
    flats.sort_by(|a, b| b.value.0.total_cmp(&a.value.0));
    let mut merged: Vec<Named<FlopsPerSec>> = Vec::new();
    for flat in flats {
        let same = merged
            .iter_mut()
            .find(|known| known.source == flat.source && known.value.0 < CLOSE * flat.value.0);
        match same {
            Some(known) => known.name = format!("{}, {}", known.name, flat.name),
            None => merged.push(flat),
        }
    }
    merged
}

impl<T: Display> Named<T> {
    pub(super) fn new(name: impl Into<String>, value: T, source: Source) -> Named<T> {
        Named {
            name: name.into(),
            text: value.to_string(),
            value,
            source,
        }
    }
}

/// A roof of a precision's arithmetic.
fn of_lanes(
    precision: Precision,
    kind: &str,
    rate: FlopsPerSec,
    source: Source,
) -> Named<FlopsPerSec> {
    let measured = match source {
        Source::Sheet => "",
        Source::Measured => ", measured",
    };
    let name = format!("{} {kind}{measured}", precision.name());
    Named {
        text: precision.rate(rate),
        ..Named::new(name, rate, source)
    }
}

/// The arithmetic roofs of a precision.
pub(super) fn arithmetic(precision: Precision, roofs: &Roofs) -> Vec<Named<FlopsPerSec>> {
    let kinds = precision.arithmetic().iter();
    kinds
        .map(|(limit, kind)| of_lanes(precision, kind, roofs.ceiling(*limit), Source::Sheet))
        .collect()
}

/// The roofs of tensor cores over rows that use them.
pub(super) fn tensor(types: &BTreeSet<TensorType>, roofs: &Roofs) -> Vec<Named<FlopsPerSec>> {
    let named = types.iter().filter_map(|&element| {
        Some(Named::new(
            format!("{} tensor cores", element.name()),
            roofs.tensor.get(element)?,
            Source::Sheet,
        ))
    });
    named.collect()
}

/// The measured roofs of tensor cores over rows that use them.
pub(super) fn measured_tensor(
    types: &BTreeSet<TensorType>,
    ceilings: &Ceilings,
) -> Vec<Named<FlopsPerSec>> {
    let named = types.iter().filter_map(|&element| {
        let ceiling = ceilings.get(Quantity::tensor_rate(element)?)?;
        Some(Named::new(
            format!("{} tensor cores, measured", element.name()),
            FlopsPerSec(ceiling.value),
            Source::Measured,
        ))
    });
    named.collect()
}

/// The measured bandwidths: memory's, and the level 2 cache's.
pub(super) fn measured_slopes(ceilings: &Ceilings) -> Vec<Named<BytesPerSec>> {
    let quantities = [Quantity::MemoryCopy, Quantity::L2Read].into_iter();
    let named = quantities.filter_map(|quantity| {
        Some(Named::new(
            format!("{}, measured", quantity.name()),
            BytesPerSec(ceilings.get(quantity)?.value),
            Source::Measured,
        ))
    });
    named.collect()
}

/// The measured bandwidth of the level 1 caches, for a chart that has points of that level.
pub(super) fn measured_l1(ceilings: &Ceilings) -> Option<Named<BytesPerSec>> {
    let ceiling = ceilings.get(Quantity::L1Read)?;
    Some(Named::new(
        format!("{}, measured", Quantity::L1Read.name()),
        BytesPerSec(ceiling.value),
        Source::Measured,
    ))
}

/// The measured bandwidths of a predicted GPU's caches.
pub(super) fn caches(gpu: &GpuRoofs) -> Vec<Named<BytesPerSec>> {
    let caches = gpu
        .caches()
        .iter()
        .map(|(name, value)| Named::new(format!("{name}, measured"), *value, Source::Measured));
    caches.collect()
}

/// Sentence below the title of a chart that has the roof of a link.
pub(super) const ABOUT_LINKS: &str = " The link's roof is measured, and is of bytes that cross it.";

/// Returns the most that a link gives to kernels.
pub(super) fn of_link(link: &LinkRoof) -> Named<BytesPerSec> {
    Named::new(link.name.clone(), link.rate, Source::Measured)
}

/// The measured arithmetic of a precision.
pub(super) fn measured_arithmetic(
    precision: Precision,
    ceilings: &Ceilings,
) -> Vec<Named<FlopsPerSec>> {
    let named = precision.arithmetic().iter().filter_map(|(limit, kind)| {
        let quantity = Quantity::arithmetic_rate(precision, *limit)?;
        let rate = FlopsPerSec(ceilings.get(quantity)?.value);
        Some(of_lanes(precision, kind, rate, Source::Measured))
    });
    named.collect()
}

/// The name of the axis of intensities of kernels of these types.
pub(super) fn intensity_axis<'p>(types: impl Iterator<Item = &'p Precision>) -> String {
    format!("arithmetic intensity, {}", units(types, "", "/byte"))
}

/// The name of the axis of rates of kernels of these types.
pub(super) fn rate_axis<'p>(types: impl Iterator<Item = &'p Precision>) -> String {
    units(types, "G", "/s")
}

/// The units of operations of these types, each once.
fn units<'p>(types: impl Iterator<Item = &'p Precision>, before: &str, after: &str) -> String {
    let operations = types.map(|it| it.operation()).unique();
    let units: Vec<String> = operations
        .map(|it| format!("{before}{it}{after}"))
        .collect();
    match units[..] {
        [] => format!("{before}FLOP{after}"),
        _ => units.join(" or "),
    }
}

/// The axes' ranges around the marks, given as intensities and rates, and the roofs with their ridge
/// points.
pub(super) fn ranges(marks: &[(f64, f64)], guides: &[Guide]) -> [(f64, f64); 2] {
    let dots = guides.iter().flat_map(|guide| guide.dots.iter().copied());
    let heights = guides.iter().filter_map(|guide| match guide.path {
        Path::Flat { height, .. } => Some(height),
        _ => None,
    });
    let x = marks.iter().copied().chain(dots).map(|(x, _)| x);
    let y = marks.iter().map(|(_, y)| *y).chain(heights);
    let (left, right) = super::plot::range(x, 1.8);
    let (bottom, top) = super::plot::range(y, 2.0);
    [(left, right), (bottom, top)]
}
