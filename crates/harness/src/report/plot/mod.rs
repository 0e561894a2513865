//! One model of a chart behind SVG, PNG, HTML and the terminal: what is drawn is data, `layout` gives each
//! thing its place once, and the writers only write.
//!
//! Measured marks are filled, and predicted ones are hollow, in every one of them.

mod colours;
mod curves;
mod geometry;
mod labels;
mod layout;
mod legend;
mod matrix;
mod network;
mod png;
mod scene;
mod svg;
mod terminal;
mod ticks;

pub use terminal::Paint;

pub(super) use matrix::{Matrix, matrices};
pub(super) use network::Network;
pub(super) use scene::Scene;
pub(super) use svg::{Home, dark_rules};

/// Charts side by side, under one heading and over one legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// Empty where a page has its own headings.
    pub(super) title: String,
    /// Measured and predicted quantities, and their conditions.
    pub(super) subtitle: String,
    /// At least one.
    pub(super) plots: Vec<Plot>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plot {
    /// Stands above the chart where a figure has several.
    pub(super) caption: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) guides: Vec<Guide>,
    pub(super) series: Vec<Series>,
}

/// An axis and what of it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// With the unit.
    pub(super) name: String,
    /// Ascending; above 0 on a logarithmic axis.
    pub(super) range: (f64, f64),
    pub(super) scale: Scale,
    /// The names at 1, 2, .. of a linear axis whose values are no numbers; else none.
    pub(super) names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
    /// Logarithmic, with ticks at powers of two.
    Log2,
}

/// A line that is no data: a roof, or what is needed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guide {
    pub(super) label: String,
    pub(super) path: Path,
    pub(super) source: Source,
    /// Its number among lines of its source and kind: measured ones have different dashes.
    pub(super) number: usize,
    /// Points of it that are pointed out: ridge points.
    pub(super) dots: Vec<(f64, f64)>,
}

/// Where a guide runs, in the axes' units. What leaves the chart is cut off there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Path {
    /// y = rate x, as far as `top`.
    Slope { rate: f64, top: f64 },
    /// From some x to the right edge.
    Flat { height: f64, from: f64 },
    /// At an x, over the whole height.
    Vertical(f64),
}

/// Where a guide's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A data sheet, or the hardware's parts.
    Sheet,
    /// A measurement on the device.
    Measured,
}

/// Marks of one colour and shape. Series of one name have the same ones in all plots of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) joined: Joined,
    pub(super) marks: Vec<Mark>,
}

/// A way to join the marks of a series. A line is dashed next to a mark that is not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Joined {
    Not,
    Marks,
    /// A line from a place where another series has its mark.
    From((f64, f64)),
}

/// A mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) kind: MarkKind,
    /// The range of y that the samples' noise gives, where it is known.
    pub(super) noise: Option<(f64, f64)>,
    /// Text that a page shows when the mark is pointed at.
    pub(super) tip: String,
    /// Text beside it.
    pub(super) note: Option<String>,
    /// Letters next to it, which the subtitle explains.
    pub(super) letters: Option<String>,
}

/// The highest of marks and of their error bars, of which as much counts as is as high as the highest mark: a few samples that
/// are far apart have bars beside which the marks would lie on the axis.
pub(super) fn highest<'m>(marks: impl Iterator<Item = &'m Mark> + Clone) -> f64 {
    let mark = marks.clone().map(|mark| mark.y).fold(0.0, f64::max);
    let bars = marks.filter_map(|mark| mark.noise);
    let bar = bars.map(|(_, high)| high).fold(0.0, f64::max);
    mark.max(bar.min(2.0 * mark))
}

/// Whether a mark is of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// Filled.
    Measured,
    /// Hollow.
    Predicted,
    /// At the intensity that the emulator has counted: a ring around the others.
    Counted,
    /// At the intensity that the hardware's counters say: a rhombus around them.
    Counters,
}

impl Axis {
    pub(super) fn log(name: &str, range: (f64, f64)) -> Axis {
        Axis {
            name: name.to_owned(),
            range,
            scale: Scale::Log,
            names: Vec::new(),
        }
    }

    /// An axis whose values are names, in their order.
    pub(super) fn named(name: &str, names: Vec<String>) -> Axis {
        Axis {
            scale: Scale::Linear,
            range: (0.4, names.len() as f64 + 0.6),
            names,
            ..Axis::log(name, (0.0, 1.0))
        }
    }

    pub(super) fn log2(name: &str, range: (f64, f64)) -> Axis {
        Axis {
            scale: Scale::Log2,
            ..Axis::log(name, range)
        }
    }

    /// The share of the axis that lies before a value: 0 at its beginning, 1 at its end.
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log | Scale::Log2 => (value / low).ln() / (high / low).ln(),
        }
    }
}

impl Plot {
    /// The ends of what the chart shows of a guide; `None` where all of it is outside.
    fn ends(&self, path: Path) -> Option<[(f64, f64); 2]> {
        let (x, y) = (self.x.range, self.y.range);
        let is_in = |value: f64, range: (f64, f64)| range.0 <= value && value <= range.1;
        match path {
            Path::Slope { rate, top } => {
                let left = x.0.max(y.0 / rate);
                let right = x.1.min(y.1.min(top) / rate);
                (left < right).then_some([(left, left * rate), (right, right * rate)])
            }
            Path::Flat { height, from } => {
                let left = x.0.max(from);
                (is_in(height, y) && left < x.1).then_some([(left, height), (x.1, height)])
            }
            Path::Vertical(at) => is_in(at, x).then_some([(at, y.0), (at, y.1)]),
        }
    }
}

impl Figure {
    /// The names of all series, in order of first appearance: their numbers are their colours.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.plots.iter().flat_map(|plot| &plot.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    /// Everything in its place on a picture of this width in pixels.
    pub(super) fn scene(&self, width: f64) -> Scene {
        layout::scene(self, width)
    }

    /// The plots in characters, at most `columns` wide, with their legend.
    pub(super) fn text(&self, columns: usize, paint: Paint) -> String {
        terminal::text(self, columns, paint)
    }
}

/// The values' range, wider by `factor` at both ends.
pub(super) fn range(values: impl Iterator<Item = f64>, factor: f64) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    (least / factor, most * factor)
}

#[cfg(test)]
pub(super) use tests::faults;

#[cfg(test)]
mod tests;
