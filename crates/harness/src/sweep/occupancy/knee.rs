//! How little occupancy is enough, and whether that is what Little's law says.

use std::collections::HashMap;

use serde::Serialize;

use super::OccupancyRecord;
use crate::ceilings::{AT_SPEED, crossing};
use crate::workload::Value;

/// The share that counts as top speed, percent of the fastest row.
const ENOUGH: f64 = 100.0 * AT_SPEED;

/// The least occupancy with which a kernel reaches its top speed, for one variant of it, such as a number
/// of independent operations per thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Knee {
    /// The kernel, and what tells its rows apart: [`families`].
    pub kernel: String,
    /// The variant that its rows are of: `ILP 4`.
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
        write!(formatter, "{}", self.kernel)?;
        if !self.variant.is_empty() {
            write!(formatter, " with {}", self.variant)?;
        }
        let (at_most, from) = match self.enough {
            true => ("", " from"),
            false => ("at most ", ", at"),
        };
        write!(
            formatter,
            ": {at_most}{:.0} % of the top speed ({:.1} {}){from} {:.0} % occupancy",
            self.percent_top, self.top, self.unit, self.occupancy_percent
        )
    }
}

/// The independent operations of a thread, where a kernel has instances with several: `ILP 4`.
pub fn variant(record: &OccupancyRecord) -> String {
    let axes = record.axes.0.iter();
    let mut ilp = axes.filter(|(name, _)| *name == "ilp");
    let ilp = ilp.next().and_then(|(_, value)| value.as_ref());
    ilp.map_or_else(String::new, |ilp| format!("ILP {ilp}"))
}

/// For each row, the rows whose speeds are of one kind with its: the kernel, and those of its other axes
/// that are not the same in all rows of the kernel. `scale, n 65536`
pub fn families(records: &[OccupancyRecord]) -> Vec<String> {
    // The first row of each kernel, and which axes differ from it in another.
    let mut kernels: HashMap<&str, (&OccupancyRecord, Vec<bool>)> = HashMap::new();
    for record in records {
        let axes = record.axes.0.len();
        let (first, differ) = kernels
            .entry(&record.kernel)
            .or_insert_with(|| (record, vec![false; axes]));
        let pairs = first.axes.0.iter().zip(&record.axes.0);
        for (differ, (of_first, own)) in differ.iter_mut().zip(pairs) {
            *differ |= of_first != own;
        }
    }
    let family = |record: &OccupancyRecord| {
        let (_, differ) = &kernels[record.kernel.as_str()];
        let axes = record.axes.0.iter().zip(differ);
        let axes = axes.filter(|((name, _), differs)| **differs && *name != "ilp");
        let parts = axes.filter_map(|((name, value), _)| match value.as_ref()? {
            Value::Text(text) => Some(text.clone()),
            value => Some(format!("{name} {value}")),
        });
        let kernel = [record.kernel.clone()].into_iter();
        kernel.chain(parts).collect::<Vec<_>>().join(", ")
    };
    records.iter().map(family).collect()
}

/// A knee for each family and variant, in order of first appearance.
pub fn knees(records: &[OccupancyRecord]) -> Vec<Knee> {
    let named = records.iter().zip(families(records));
    let rows: Vec<(&OccupancyRecord, String, String)> = named
        .map(|(row, family)| (row, family, variant(row)))
        .collect();
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (_, family, variant) in &rows {
        let group = (family.as_str(), variant.as_str());
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let knees = groups.into_iter();
    knees
        .filter_map(|(family, variant)| knee(&rows, family, variant))
        .collect()
}

fn knee(rows: &[(&OccupancyRecord, String, String)], family: &str, variant: &str) -> Option<Knee> {
    let of_family = || rows.iter().filter(|(_, it, _)| it == family);
    let rates = of_family().map(|(record, ..)| record.rate);
    let top = rates.fold(0.0, f64::max);
    let percent = |record: &OccupancyRecord| 100.0 * record.rate / top;
    let members = || {
        let members = of_family().filter(|(.., it)| it == variant);
        members.map(|(record, ..)| *record)
    };
    let least = members()
        .filter(|record| percent(record) >= ENOUGH)
        .min_by(|a, b| a.occupancy_percent.total_cmp(&b.occupancy_percent));
    let row = least.or_else(|| members().max_by(|a, b| a.rate.total_cmp(&b.rate)))?;
    Some(Knee {
        kernel: family.to_owned(),
        variant: variant.to_owned(),
        top,
        unit: row.unit,
        percent_top: percent(row),
        occupancy_percent: row.occupancy_percent,
        enough: least.is_some(),
    })
}

/// A kernel's bytes or operations in flight where it reaches its top speed, beside those of Little's law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// The kernel: [`families`].
    pub kernel: String,
    /// `bytes` or `operations`.
    pub unit: &'static str,
    /// The least per multiprocessor with which a variant reaches 95 % of the kernel's top speed, on a line between the rows around it.
    pub measured: f64,
    /// The product of the measured latency and the measured rate, and the time that the kernel's threads take longer for a
    /// load than those of the ceilings even where next to nothing is in flight: to begin, to end, and between their loads.
    pub named: f64,
}

impl std::fmt::Display for Reached {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{}: top speed from {:.0} {} in flight per multiprocessor; Little's law says {:.0}, {:.2} times as many",
            self.kernel,
            self.measured,
            self.unit,
            self.named,
            self.named / self.measured
        )
    }
}

/// One for each family whose rows reach top speed within what they have in flight: not from the least on.
pub fn reached(records: &[OccupancyRecord]) -> Vec<Reached> {
    let all = families(records);
    let mut names: Vec<&String> = Vec::new();
    for name in &all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |name: &String| {
        let named = records.iter().zip(&all);
        let rows: Vec<&OccupancyRecord> = named
            .filter(|(_, it)| *it == name)
            .map(|(row, _)| row)
            .collect();
        let top = rows.iter().map(|row| row.rate).fold(0.0, f64::max);
        let mut variants: Vec<String> = rows.iter().map(|row| variant(row)).collect();
        variants.sort();
        variants.dedup();
        let found = variants.iter().filter_map(|own| {
            let mut rows: Vec<_> = rows.iter().filter(|row| variant(row) == *own).collect();
            rows.sort_by(|a, b| provided(a).total_cmp(&provided(b)));
            let first = **rows.first()?;
            let slow = first.rate < AT_SPEED * top;
            let curve = curve(rows.into_iter());
            let (amount, _) = crossing(curve.into_iter(), AT_SPEED * top).filter(|_| slow)?;
            Some((amount, first))
        });
        let (measured, first) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let in_flight = first.in_flight?;
        // By Little's law, too: what the first row would need at the ceiling's rate if its loads took no longer than they do.
        let own = first
            .percent_ceiling
            .map(|percent| in_flight.provided * ENOUGH / percent);
        let longer = own
            .zip(in_flight.unloaded)
            .map_or(0.0, |(own, stream)| own - stream);
        Some(Reached {
            kernel: name.clone(),
            unit: in_flight.unit,
            measured,
            named: in_flight.needed + longer,
        })
    };
    names.into_iter().filter_map(of).collect()
}

fn provided(row: &OccupancyRecord) -> f64 {
    row.in_flight.map_or(0.0, |it| it.provided)
}

/// Returns the amounts in flight, each with the rate of the fastest row that has it, ascending.
fn curve<'a>(rows: impl Iterator<Item = &'a &'a OccupancyRecord>) -> Vec<(f64, f64)> {
    let points = rows.filter_map(|row| Some((row.in_flight?.provided, row.rate)));
    let mut points: Vec<(f64, f64)> = points.collect();
    // Of the same amount the fastest comes first, and stays.
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    points.dedup_by_key(|(amount, _)| *amount);
    points
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sweep::AxisValues;
    use crate::sweep::occupancy::InFlight;

    /// A row of a streaming kernel.
    pub(in crate::sweep::occupancy) fn row(
        ilp: u64,
        occupancy_percent: f64,
        rate: f64,
    ) -> OccupancyRecord {
        OccupancyRecord {
            predicted_gpu: None,
            predicted_limit: None,
            predicted_rate: None,
            predicted_ms: None,
            model_ms: None,
            model_low_ms: None,
            model_high_ms: None,
            model_rate: None,
            model_blocks: None,
            model_limit: None,
            not_modelled: None,
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
            in_flight_needed: Some(1.0),
            in_flight_provided: Some(1.0),
            in_flight_unit: Some("bytes"),
            in_flight: Some(InFlight {
                unit: "bytes",
                needed: 1.0,
                unloaded: None,
                provided: 1.0,
            }),
            mean_ms: 1.0,
            median_ms: 1.0,
            rms_percent: 0.0,
            device: "test".to_owned(),
            checked: true,
            flags: Vec::new(),
            format: crate::table::FORMAT,
        }
    }

    #[test]
    fn speeds_of_different_sizes_are_not_compared() {
        let of = |n: u64, rate| OccupancyRecord {
            axes: AxisValues(vec![("n", Some(n.into()))]),
            ..row(1, 50.0, rate)
        };
        let records = [of(64, 100.0), of(4096, 3000.0)];
        let texts: Vec<String> = knees(&records).iter().map(ToString::to_string).collect();
        assert_eq!(
            texts[0],
            "copy, n 64: 100 % of the top speed (100.0 GB/s) from 50 % occupancy"
        );
        assert!(texts[1].starts_with("copy, n 4096: 100 % of the top speed (3000.0"));
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
                "copy with ILP 1: at most 75 % of the top speed (4000.0 GB/s), at 100 % occupancy",
                "copy with ILP 4: 98 % of the top speed (4000.0 GB/s) from 25 % occupancy",
            ]
        );
        assert!(knees(&[]).is_empty());
    }

    #[test]
    fn the_law_is_compared_where_a_variant_first_reaches_top_speed() {
        let of = |ilp, provided, rate| OccupancyRecord {
            in_flight: Some(InFlight {
                unit: "bytes",
                needed: 1020.0,
                // With the first row's rate and 1000 in flight, the ceiling's 1000 would need 1055 for 95 %.
                unloaded: Some(1000.0 * 95.0 / 90.0 - 300.0),
                provided,
            }),
            percent_ceiling: Some(rate / 10.0),
            ..row(ilp, 50.0, rate)
        };
        // A slower row with as much in flight does not count, nor does a variant that is at speed only with more.
        let rows = [
            of(1, 1000.0, 900.0),
            of(1, 1400.0, 800.0),
            of(1, 1400.0, 1000.0),
            of(2, 2000.0, 940.0),
            of(2, 4000.0, 990.0),
        ];
        let found = reached(&rows);
        assert_eq!(
            found[0].to_string(),
            "copy: top speed from 1200 bytes in flight per multiprocessor; Little's law says 1320, 1.10 times as many"
        );
        assert_eq!(found.len(), 1);
        // At speed with the least that there is: where it begins is not known.
        assert!(reached(&rows[2..3]).is_empty());
    }
}
