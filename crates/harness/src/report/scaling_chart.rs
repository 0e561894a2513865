//! How much faster several devices are: speedup against their number, beside ideal scaling.

use std::io::Write;

use itertools::Itertools;

use super::canvas::{self, ChartError, ChartFormat, whole};
use super::plot::{
    Axis, Figure, Guide, Joined, Mark, MarkKind, Paint, Path, Plot, Series, Source, range,
};
use crate::driver::DeviceProperties;
use crate::table::counted;

/// The exchange of a row of one device.
const ALONE: &str = "alone";
/// The axis's reach beyond its values, as a factor.
const BEYOND: f64 = 1.12;

/// A row of a study on several devices, as far as it is drawn: its columns have these names.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingRow {
    /// `power` or `norm`.
    pub study: String,
    /// How the devices exchange; `alone` is the study on one device.
    pub exchange: String,
    /// How many devices.
    pub devices: usize,
    /// `strong` or `weak`.
    pub scaling: String,
    /// Rows and columns of the matrix, or elements of the vector.
    pub size: u64,
    /// How many times as much is done in a time as on one device, where that is known.
    pub speedup: Option<f64>,
    /// Whether nothing was measured.
    pub is_predicted: bool,
    /// How many percent longer a predicted step is than the measured one, where both are known.
    pub error_percent: Option<f64>,
    /// Devices that ran it, `2 x NAME`, or that it is predicted for and from, `4 x NAME, from 2 x NAME`.
    pub device: String,
}

impl ScalingRow {
    /// One device's name.
    pub fn device_name(&self) -> &str {
        let several = self.device.split_once(", from ");
        let several = several.map_or(&self.device[..], |it| it.0);
        let is_count = |text: &str| text.parse::<usize>().is_ok();
        let one = several.split_once(" x ").filter(|it| is_count(it.0));
        one.map_or(several, |it| it.1)
    }

    /// The most devices that it is predicted from.
    fn predicted_from(&self) -> Option<usize> {
        let (_, from) = self.device.split_once(", from ")?;
        from.split_once(" x ")?.0.parse().ok()
    }

    fn is_emulated(&self) -> bool {
        self.device_name().starts_with(DeviceProperties::EMULATOR)
    }
}

/// Rows of one study, of strong or of weak scaling, as a line for each exchange.
pub struct ScalingChart<'a> {
    /// The rows, at least one; those without a speedup have no mark.
    pub rows: &'a [ScalingRow],
    /// Stands in the place of the chart's own title.
    pub title: Option<&'a str>,
}

impl ScalingChart<'_> {
    /// Writes the chart.
    ///
    /// # Errors
    /// No row has a speedup (in words), or what `output` returns ([`io::Error`](std::io::Error)).
    pub fn write(&self, format: ChartFormat, output: impl Write) -> Result<(), ChartError> {
        canvas::write(&self.figure(), format, output)
    }

    /// Whether no row of several devices has a speedup.
    pub fn is_empty(&self) -> bool {
        self.marked().all(|it| it.0.exchange == ALONE)
    }

    /// The chart in characters, at most `columns` wide.
    pub fn text(&self, columns: usize, paint: Paint) -> String {
        self.figure().text(columns, paint)
    }

    fn figure(&self) -> Figure {
        let has = |what: &dyn Fn(&ScalingRow) -> bool| self.marked().any(|it| what(it.0));
        let device = self.rows.first().map_or("", ScalingRow::device_name);
        let said = [
            device,
            ". Speedup: work per time over one device's. Filled: measured.",
            match has(&|row| row.is_predicted) {
                true => " Hollow, dashed: predicted by the model that is fitted to these.",
                false => "",
            },
            match has(&|row| row.error_percent.is_some()) {
                true => " Ringed: how much longer the predicted step is than the measured one.",
                false => "",
            },
            match has(&ScalingRow::is_emulated) {
                true => " Emulated: these are not a GPU's times.",
                false => "",
            },
        ];
        let own = || self.rows.first().map_or_else(String::new, title);
        Figure {
            title: self.title.map_or_else(own, str::to_owned),
            subtitle: said.concat(),
            plots: vec![self.plot()],
        }
    }

    fn plot(&self) -> Plot {
        let most = self.marked().map(|it| it.0.devices).max().unwrap_or(1) as f64;
        let speedups = self.marked().map(|it| it.1);
        Plot {
            caption: String::new(),
            x: Axis::log2("devices", range([1.0, most].into_iter(), BEYOND)),
            y: Axis::log2("speedup", range(speedups.chain([1.0, most]), BEYOND)),
            guides: vec![Guide {
                label: "ideal scaling".to_owned(),
                path: Path::Slope {
                    rate: 1.0,
                    top: f64::INFINITY,
                },
                source: Source::Sheet,
                number: 0,
                dots: Vec::new(),
            }],
            series: self.series(),
        }
    }

    /// The series of each exchange. Lines of measured marks begin at that of one device, and those of predicted marks at the last
    /// mark that they are predicted from.
    fn series(&self) -> Vec<Series> {
        let exchanges = self.marked().map(|it| &it.0.exchange).unique();
        exchanges
            .flat_map(|exchange| self.series_of(exchange))
            .collect()
    }

    fn series_of(&self, exchange: &str) -> Vec<Series> {
        let of_exchange = self.marked().filter(|it| it.0.exchange == exchange);
        let (predicted, measured): (Vec<_>, Vec<_>) = of_exchange
            .sorted_by_key(|it| it.0.devices)
            .partition(|it| it.0.is_predicted);
        let begin = match measured.first() {
            _ if exchange == ALONE => Joined::Not,
            Some((row, _)) if row.devices == 1 => Joined::Marks,
            _ => self.begin_at_one(),
        };
        let place = |from: Option<usize>| {
            let mut until = measured.iter().rev();
            let last = until.find(|(row, _)| from.is_none_or(|from| row.devices <= from));
            last.map_or(begin, |(row, speedup)| {
                Joined::From((row.devices as f64, *speedup))
            })
        };
        let lines = predicted
            .iter()
            .into_group_map_by(|it| it.0.predicted_from());
        let lines = lines.into_iter().sorted_by_key(|line| line.0);
        let lines = lines.map(|(from, line)| (place(from), line.into_iter().copied().collect()));
        let lines: Vec<(Joined, Vec<_>)> = lines.collect();
        std::iter::once((begin, measured.clone()))
            .chain(lines)
            .filter(|(_, marks)| !marks.is_empty())
            .map(|(joined, marks)| Series {
                name: exchange.to_owned(),
                joined,
                marks: marks.into_iter().map(mark).collect(),
            })
            .collect()
    }

    /// From the mark of one device on.
    fn begin_at_one(&self) -> Joined {
        let one = self.marked().find(|it| it.0.exchange == ALONE);
        one.map_or(Joined::Marks, |(row, speedup)| {
            Joined::From((row.devices as f64, speedup))
        })
    }

    /// The rows with their speedups, of which a logarithmic axis has no 0.
    fn marked(&self) -> impl Iterator<Item = (&ScalingRow, f64)> {
        let rows = self.rows.iter();
        rows.filter_map(|row| Some((row, row.speedup.filter(|it| *it > 0.0)?)))
    }
}

/// Returns the title: what was scaled.
fn title(row: &ScalingRow) -> String {
    let (study, size) = match row.study.as_str() {
        "power" => ("power iteration", format!("{0} x {0}", row.size)),
        "norm" => (
            "normalization",
            format!("{} elements", whole(row.size as f64)),
        ),
        other => (other, format!("size {}", row.size)),
    };
    match row.scaling.as_str() {
        "weak" => {
            let devices = counted(row.devices as u64, "device");
            format!("Weak scaling of {study}, {size} on {devices}")
        }
        _ => format!("Strong scaling of {study}, {size}"),
    }
}

fn mark((row, speedup): (&ScalingRow, f64)) -> Mark {
    Mark {
        x: row.devices as f64,
        y: speedup,
        kind: match row.is_predicted {
            true => MarkKind::Predicted,
            false => MarkKind::Measured,
        },
        noise: None,
        tip: String::new(),
        note: row
            .error_percent
            .map(|percent| format!("{} on {}: {percent:+.1} %", row.exchange, row.devices)),
        letters: None,
    }
}

#[cfg(test)]
mod tests;
