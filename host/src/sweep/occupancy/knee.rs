//! How little occupancy is enough.

use serde::Serialize;

use super::OccupancyRecord;
use crate::workload::Value;

/// What counts as top speed, percent of the fastest row.
const ENOUGH: f64 = 95.0;

/// The least occupancy with which a kernel reaches its top speed, for one variant of it, such as a number
/// of independent operations a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Knee {
    /// The kernel.
    pub kernel: String,
    /// What tells its rows apart: `ILP 4`.
    pub variant: String,
    /// The kernel's fastest row, of any variant.
    pub top: f64,
    /// Its unit.
    pub unit: &'static str,
    /// The row's speed as a percentage of `top`.
    pub percent_top: f64,
    /// The row's occupancy.
    pub occupancy_percent: f64,
    /// Whether that is top speed; otherwise the row is the fastest there is.
    pub enough: bool,
}

impl std::fmt::Display for Knee {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at_most = if self.enough { "" } else { "at most " };
        write!(
            formatter,
            "{}: {at_most}{:.0} % of the top speed ({:.1} {}) from {:.0} % occupancy",
            self.kernel, self.percent_top, self.top, self.unit, self.occupancy_percent
        )?;
        match self.variant.as_str() {
            "" => Ok(()),
            variant => write!(formatter, " with {variant}"),
        }
    }
}

/// What tells a row apart from the others of its kernel, but for the block and the shared memory: the axes
/// that are not the same in all of them, and the independent operations a thread (`ilp`) in any case.
pub fn variant(record: &OccupancyRecord, records: &[OccupancyRecord]) -> String {
    let of_kernel = || records.iter().filter(|it| it.kernel == record.kernel);
    let axes = record.axes.0.iter().enumerate();
    let parts = axes.filter_map(|(place, (name, value))| {
        let value = value.as_ref()?;
        let differs = of_kernel().any(|other| other.axes.0[place].1.as_ref() != Some(value));
        match (*name, value) {
            ("ilp", value) => Some(format!("ILP {value}")),
            (_, Value::Text(text)) if differs => Some(text.clone()),
            (name, value) if differs => Some(format!("{name} {value}")),
            _ => None,
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// A knee for each kernel and variant, in order of first appearance.
pub fn knees(records: &[OccupancyRecord]) -> Vec<Knee> {
    let variants: Vec<String> = records.iter().map(|row| variant(row, records)).collect();
    let rows: Vec<(&OccupancyRecord, &str)> = records
        .iter()
        .zip(variants.iter().map(String::as_str))
        .collect();
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (record, variant) in &rows {
        let group = (record.kernel.as_str(), *variant);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let knees = groups
        .into_iter()
        .filter_map(|(kernel, variant)| knee(&rows, kernel, variant));
    knees.collect()
}

fn knee(rows: &[(&OccupancyRecord, &str)], kernel: &str, variant: &str) -> Option<Knee> {
    let of_kernel = || rows.iter().filter(|(record, _)| record.kernel == kernel);
    let top = of_kernel()
        .map(|(record, _)| record.rate)
        .fold(0.0, f64::max);
    let percent = |record: &OccupancyRecord| 100.0 * record.rate / top;
    let members = || {
        of_kernel()
            .filter(|(_, it)| *it == variant)
            .map(|(record, _)| *record)
    };
    let least = members()
        .filter(|record| percent(record) >= ENOUGH)
        .min_by(|a, b| a.occupancy_percent.total_cmp(&b.occupancy_percent));
    let row = least.or_else(|| members().max_by(|a, b| a.rate.total_cmp(&b.rate)))?;
    Some(Knee {
        kernel: kernel.to_owned(),
        variant: variant.to_owned(),
        top,
        unit: row.unit,
        percent_top: percent(row),
        occupancy_percent: row.occupancy_percent,
        enough: least.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::AxisValues;
    use crate::sweep::occupancy::InFlight;

    fn row(ilp: u64, occupancy_percent: f64, rate: f64) -> OccupancyRecord {
        OccupancyRecord {
            kernel: "copy".to_owned(),
            axes: AxisValues(vec![("ilp", Some(ilp.into())), ("n", Some(64u64.into()))]),
            block: 256,
            dynamic_shared: 0,
            max_registers: None,
            registers: Some(32),
            local_bytes: Some(0),
            resident_blocks: 1,
            driver_blocks: None,
            occupancy_percent,
            limited_by: vec!["warps"],
            grid: 1,
            waves: 1.0,
            tail_percent: 0.0,
            unit: "GB/s",
            rate,
            percent_ceiling: Some(100.0),
            in_flight: Some(InFlight {
                unit: "bytes",
                needed: 1.0,
                provided: 1.0,
            }),
            mean_ms: 1.0,
            median_ms: 1.0,
            rms_percent: 0.0,
            device: "test".to_owned(),
            checked: true,
            flags: Vec::new(),
        }
    }

    #[test]
    fn the_knee_is_the_least_occupancy_with_top_speed() {
        let records = [
            row(1, 25.0, 1000.0),
            row(1, 100.0, 3000.0),
            row(4, 12.5, 3000.0),
            row(4, 25.0, 3900.0),
            row(4, 50.0, 4000.0),
        ];
        let found = knees(&records);
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                "copy: at most 75 % of the top speed (4000.0 GB/s) from 100 % occupancy with ILP 1",
                "copy: 98 % of the top speed (4000.0 GB/s) from 25 % occupancy with ILP 4",
            ]
        );
        assert!(knees(&[]).is_empty());
    }
}
