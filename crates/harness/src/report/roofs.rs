//! The roofs of a chart: data sheets' and measured ones, those that are as good as one drawn as one.

use std::collections::BTreeSet;

use super::plot::{Guide, Path, Source};
use crate::ceilings::{Ceilings, Quantity};
use crate::driver::DeviceProperties;
use crate::links::LinkRoof;
use crate::model::{BytesPerSec, FlopsPerSec, GpuRoofs, Limit, Precision, Roofs, TensorType};

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
    let sloping = slopes.iter().map(|slope| Guide {
        label: format!("{} {}", slope.name, slope.value),
        path: Path::Slope {
            rate: slope.value.giga(),
            top,
        },
        source: slope.source,
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
            label: format!("{} {}{named}", flat.name, flat.value),
            path: Path::Flat {
                height,
                from: height / fastest,
            },
            source: flat.source,
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

/// The arithmetic roofs of a precision.
pub(super) fn arithmetic(precision: Precision, roofs: &Roofs) -> [Named<FlopsPerSec>; 2] {
    [Limit::Fma, Limit::AddMul].map(|limit| Named {
        name: arithmetic_name(precision, limit),
        value: roofs.ceiling(limit),
        source: Source::Sheet,
    })
}

/// The roofs of tensor cores over rows that use them.
pub(super) fn tensor(types: &BTreeSet<TensorType>, roofs: &Roofs) -> Vec<Named<FlopsPerSec>> {
    let named = types.iter().filter_map(|&element| {
        Some(Named {
            name: format!("{} tensor cores", element.name()),
            value: roofs.tensor.get(element)?,
            source: Source::Sheet,
        })
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
        Some(Named {
            name: format!("{} tensor cores, measured", element.name()),
            value: FlopsPerSec(ceiling.value),
            source: Source::Measured,
        })
    });
    named.collect()
}

fn arithmetic_name(precision: Precision, limit: Limit) -> String {
    let name = if limit == Limit::Fma {
        "FMA"
    } else {
        "add+mul"
    };
    format!("{} {name}", precision.name())
}

/// The measured bandwidths: memory's, and the level 2 cache's.
pub(super) fn measured_slopes(ceilings: &Ceilings) -> Vec<Named<BytesPerSec>> {
    let quantities = [Quantity::MemoryCopy, Quantity::L2Read].into_iter();
    let named = quantities.filter_map(|quantity| {
        Some(Named {
            name: format!("{}, measured", quantity.name()),
            value: BytesPerSec(ceilings.get(quantity)?.value),
            source: Source::Measured,
        })
    });
    named.collect()
}

/// The measured bandwidth of the level 1 caches, for a chart that has points of that level.
pub(super) fn measured_l1(ceilings: &Ceilings) -> Option<Named<BytesPerSec>> {
    let ceiling = ceilings.get(Quantity::L1Read)?;
    Some(Named {
        name: format!("{}, measured", Quantity::L1Read.name()),
        value: BytesPerSec(ceiling.value),
        source: Source::Measured,
    })
}

/// The measured bandwidths of a predicted GPU's caches.
pub(super) fn caches(gpu: &GpuRoofs) -> Vec<Named<BytesPerSec>> {
    let caches = gpu.caches().iter().map(|(name, value)| Named {
        name: format!("{name}, measured"),
        value: *value,
        source: Source::Measured,
    });
    caches.collect()
}

/// Sentence below the title of a chart that has the roof of a link.
pub(super) const ABOUT_LINKS: &str = " The link's roof is measured, and is of bytes that cross it.";

/// Returns the most that a link gives to kernels.
pub(super) fn of_link(link: &LinkRoof) -> Named<BytesPerSec> {
    Named {
        name: link.name.clone(),
        value: link.rate,
        source: Source::Measured,
    }
}

/// The measured arithmetic of a precision.
pub(super) fn measured_arithmetic(
    precision: Precision,
    ceilings: &Ceilings,
) -> Vec<Named<FlopsPerSec>> {
    let limits = [Limit::Fma, Limit::AddMul].into_iter();
    let named = limits.filter_map(|limit| {
        let quantity = Quantity::arithmetic_rate(precision, limit)?;
        Some(Named {
            name: format!("{}, measured", arithmetic_name(precision, limit)),
            value: FlopsPerSec(ceilings.get(quantity)?.value),
            source: Source::Measured,
        })
    });
    named.collect()
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
