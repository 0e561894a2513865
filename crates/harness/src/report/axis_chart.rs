//! Speed, occupancy and time against an axis of a study: a line for each combination of its other axes.

mod series;

use std::io::Write;

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat};
use super::counted;
use super::plot::{Axis, Figure, Guide, Mark, Paint, Path, Plot, Scale, Series, Source, highest};
use super::predicted::cases;
use crate::driver::DeviceProperties;
use crate::table::{Against, Panel, Quantity, Study, StudyRows, Unit, listed};
use series::{Curves, Of};

/// Rows of a study, drawn against one of its axes. Of rows with predictions only these are drawn, hollow.
pub struct AxisChart {
    rows: StudyRows,
    study: &'static Study,
    against: Against,
    /// Stands in the place of the chart's own title.
    title: Option<String>,
}

const OCCUPANCY: &str = "theoretical occupancy, %";

impl AxisChart {
    /// Rows against an axis.
    ///
    /// # Errors
    /// In words: the rows are of no study or of several devices, or the axis is not theirs, with the axes that are.
    pub fn new(rows: StudyRows, axis: &str) -> Result<AxisChart, String> {
        let study = rows.study().ok_or(
            "these rows are of no study that is drawn against an axis: roofline, occupancy, norm, pipeline, dispatch \
             and collectives are",
        )?;
        let against = study.against(axis, &rows)?;
        let devices = rows.rows.iter().map(|row| rows.cell(row, "device"));
        let devices: Vec<&str> = devices.unique().collect();
        if devices.len() > 1 {
            return Err(format!(
                "these rows are of several devices, and a chart is of one: {}; choose rows of one with --only device=NAME",
                devices.join(", ")
            ));
        }
        Ok(AxisChart {
            rows,
            study,
            against,
            title: None,
        })
    }

    /// The same under another title.
    #[must_use]
    pub fn titled(self, title: &str) -> AxisChart {
        AxisChart {
            title: Some(title.to_owned()),
            ..self
        }
    }

    /// Whether no row has a value of the axis and a result.
    pub fn is_empty(&self) -> bool {
        self.plots().is_empty()
    }

    /// Writes the chart.
    ///
    /// # Errors
    /// There are no records to draw (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<(), ChartError> {
        canvas::write(&self.figure(), format, output)
    }

    /// The chart in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, paint: Paint) -> String {
        self.figure().text(columns, paint)
    }

    pub(super) fn figure(&self) -> Figure {
        let plots = self.plots();
        let names = plots.iter().map(|(name, _)| (*name).to_owned());
        let names: Vec<String> = names.unique().collect();
        Figure {
            title: match &self.title {
                Some(title) => title.clone(),
                None => self.own_title(&listed(&names)),
            },
            subtitle: self.subtitle(),
            plots: plots.into_iter().map(|(_, plot)| plot).collect(),
        }
    }

    fn own_title(&self, names: &str) -> String {
        let mut letters = names.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let names: String = first.chain(letters).collect();
        let against = &self.against.name;
        let of = match (self.is_predicted(), self.device()) {
            (true, _) => format!(": {}, predicted", self.gpu()),
            (false, "") => String::new(),
            (false, device) if self.is_emulated() => format!(": {device}, measured on this host"),
            (false, device) => format!(": {device}, measured"),
        };
        format!("{names} against {against}{of}")
    }

    fn subtitle(&self) -> String {
        let common = self.curves().common();
        let letters = self.curves().legend();
        let said = match (self.is_predicted(), self.device()) {
            (true, _) => &self.predicted_subtitle(),
            (false, "") => "Computed by the limits of the architecture; nothing was measured.",
            (false, _) if self.is_emulated() => "Emulated: these are not a GPU's times.",
            (false, _) if self.has_model() => &format!(
                "Filled: measured. Hollow: predicted, with the interval of {}.",
                cases()
            ),
            (false, _) => "Filled: measured.",
        };
        let occupancy = match letters.is_empty() {
            true => String::new(),
            false => format!(
                " Occupancy is computed, and its limits are marked where they change: {letters}."
            ),
        };
        let undrawn = match self.curves().without_value() {
            0 => String::new(),
            count => format!(
                " Not drawn: {} without {}.",
                counted(count as u64, "row"),
                self.against.name
            ),
        };
        [common.as_str(), said, &occupancy, &undrawn].concat()
    }

    fn predicted_subtitle(&self) -> String {
        const HOLLOW: &str =
            "Hollow: at most this speed and at least this time, by the roofs; no GPU was measured.";
        if self.has_model() {
            return format!(
                "Hollow: predicted, with the interval of {}; no GPU was measured.",
                cases()
            );
        }
        let flat: Vec<&str> = self.all_plots().1.iter().map(|(name, _)| *name).collect();
        let flat: Vec<&str> = flat.into_iter().unique().collect();
        match &flat[..] {
            [] => HOLLOW.to_owned(),
            flat => format!(
                "No GPU was measured, and its roofs allow the same {} whatever {} is, so only a measurement would tell.",
                listed(flat),
                self.against.name
            ),
        }
    }

    fn plots(&self) -> Vec<Named> {
        self.all_plots().0
    }

    /// A plot for each quantity of which there are values; and apart from them those that predict the same all along the axis,
    /// if there are others: a flat line would pass for a measurement.
    fn all_plots(&self) -> (Vec<Named>, Vec<Named>) {
        let is_flat = |(_, plot): &Named| self.is_predicted() && is_flat(plot);
        let (flat, drawn): (Vec<_>, Vec<_>) = self.each_plot().into_iter().partition(is_flat);
        match drawn.is_empty() {
            true => (flat, drawn),
            false => (drawn, flat),
        }
    }

    fn each_plot(&self) -> Vec<Named> {
        let panels = self.study.panels.iter();
        let plots = panels.flat_map(|panel| {
            let units = self.units(panel).into_iter();
            units.filter_map(|unit| Some((panel.name, self.plot(panel, &unit)?)))
        });
        let mut plots: Vec<Named> = plots.collect();
        // Where all rows compute, the bytes that they move meanwhile are not what they are about.
        let marks = |unit: &str| {
            let name = format!("speed, {unit}");
            let of_unit = plots.iter().find(|(_, it)| it.y.name == name);
            of_unit.map_or(0, |(_, plot)| count(plot))
        };
        let has_unit_column = self.rows.place("unit").is_some();
        if !has_unit_column && marks("GFLOP/s") > 0 && marks("GFLOP/s") >= marks("GB/s") {
            plots.retain(|(_, plot)| plot.y.name != "speed, GB/s");
        }
        plots
    }

    fn units(&self, panel: &Panel) -> Vec<String> {
        match panel.unit {
            Unit::Fixed(unit) => vec![unit.to_owned()],
            Unit::Column(column) => {
                let units = self.rows.rows.iter().map(|row| self.rows.cell(row, column));
                units.unique().map(str::to_owned).collect()
            }
        }
    }

    fn plot(&self, panel: &Panel, unit: &str) -> Option<Plot> {
        let curves = self.curves();
        let has_model = curves.has_model(panel);
        let series = match (self.is_predicted(), has_model) {
            (true, true) => curves.series(panel, unit, Of::Model),
            (true, false) => curves.series(panel, unit, Of::Roofs),
            (false, has_model) => {
                let beside = (has_model && !self.is_emulated()).then_some(Of::ModelBeside);
                let drawn = [Some(Of::Measured), beside].into_iter().flatten();
                drawn
                    .flat_map(|of| curves.series(panel, unit, of))
                    .collect()
            }
        };
        let marks = || series.iter().flat_map(|it: &Series| &it.marks);
        marks().next()?;
        let guides = match panel.quantity {
            Quantity::Speed => self.ceiling(unit),
            _ => None,
        };
        let y = y_axis(panel, unit, marks(), guides.as_ref());
        Some(Plot {
            caption: String::new(),
            x: curves.x_axis(marks()),
            y,
            guides: guides.into_iter().collect(),
            series,
        })
    }

    /// The measured ceiling, where rows of this unit have the same one.
    fn ceiling(&self, unit: &str) -> Option<Guide> {
        if self.is_predicted() || self.is_emulated() {
            return None;
        }
        let of = |row: &Vec<String>| {
            let percent = self.rows.number(row, "percent_ceiling")?;
            let rate = self.rows.number(row, "rate")?;
            (self.rows.cell(row, "unit") == unit && percent > 0.0).then(|| 100.0 * rate / percent)
        };
        let all: Vec<f64> = self.rows.rows.iter().filter_map(of).collect();
        let (least, most) = all.iter().copied().minmax().into_option()?;
        (most < 1.02 * least).then(|| Guide {
            label: format!("measured ceiling, {most:.0} {unit}"),
            path: Path::Flat {
                height: most,
                from: f64::MIN,
            },
            source: Source::Measured,
            number: 0,
            dots: Vec::new(),
        })
    }

    fn has_model(&self) -> bool {
        let mut panels = self.study.panels.iter();
        panels.any(|panel| self.curves().has_model(panel))
    }

    fn curves(&self) -> Curves<'_> {
        Curves::new(&self.rows, &self.against)
    }

    fn device(&self) -> &str {
        let first = self.rows.rows.first();
        first.map_or("", |row| self.rows.cell(row, "device"))
    }

    fn is_emulated(&self) -> bool {
        self.device().contains(DeviceProperties::EMULATOR)
    }

    fn is_predicted(&self) -> bool {
        !self.gpu().is_empty()
    }

    /// The GPU that rows of the emulator are predicted for; else empty.
    pub(super) fn gpu(&self) -> &str {
        let gpus = self
            .rows
            .rows
            .iter()
            .map(|row| self.rows.cell(row, "predicted_gpu"));
        let mut gpus = gpus.filter(|it| !it.is_empty());
        gpus.next().unwrap_or_default()
    }
}

/// A panel's name, and what it draws.
type Named = (&'static str, Plot);

/// Whether each curve has one height. Occupancy is computed for each launch, and drawn whatever it is.
fn is_flat(plot: &Plot) -> bool {
    let is_flat = |series: &Series| {
        let heights = || series.marks.iter().map(|mark| mark.y);
        let (least, most) = heights().minmax().into_option().unwrap_or_default();
        most - least <= 1e-6 * most
    };
    plot.y.name != OCCUPANCY && plot.series.iter().all(is_flat)
}

fn count(plot: &Plot) -> usize {
    plot.series.iter().map(|it| it.marks.len()).sum()
}

/// From 0 on, unless times are of several magnitudes; with the error bars and the ceiling in it.
fn y_axis<'m>(
    panel: &Panel,
    unit: &str,
    marks: impl Iterator<Item = &'m Mark> + Clone,
    ceiling: Option<&Guide>,
) -> Axis {
    /// Times that are further apart have a logarithmic axis.
    const MAGNITUDES: f64 = 20.0;
    let name = match panel.quantity {
        Quantity::Occupancy => OCCUPANCY.to_owned(),
        _ => format!("{}, {unit}", panel.name),
    };
    let ceiling = ceiling.and_then(|it| match it.path {
        Path::Flat { height, .. } => Some(height),
        _ => None,
    });
    let low = |mark: &Mark| mark.noise.map_or(mark.y, |(low, _)| low);
    let top = ceiling.unwrap_or(0.0).max(highest(marks.clone()));
    let bottom = marks.map(low).fold(f64::INFINITY, f64::min);
    if panel.quantity == Quantity::Time && bottom > 0.0 && top > MAGNITUDES * bottom {
        return Axis::log(&name, (bottom / 1.5, top * 1.5));
    }
    let top = match panel.quantity {
        Quantity::Occupancy => 100.0f64.max(top),
        _ => top,
    };
    Axis {
        name,
        range: (0.0, 1.15 * top),
        scale: Scale::Linear,
        names: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
