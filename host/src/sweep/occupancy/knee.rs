//! How little occupancy is enough.

use serde::Serialize;

use super::OccupancyRecord;

/// What counts as top speed, percent of the fastest row.
const ENOUGH: f64 = 95.0;

/// The least occupancy with which a kernel reaches its top speed, for one number of independent
/// operations a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Knee {
    /// The kernel.
    pub kernel: &'static str,
    /// Independent operations a thread.
    pub ilp: u32,
    /// The kernel's fastest row, of any `ilp`.
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
            "{}: {at_most}{:.0} % of the top speed ({:.1} {}) from {:.0} % occupancy with ILP {}",
            self.kernel, self.percent_top, self.top, self.unit, self.occupancy_percent, self.ilp
        )
    }
}

/// A knee for each kernel and number of independent operations, in order of first appearance.
pub fn knees(records: &[OccupancyRecord]) -> Vec<Knee> {
    let mut groups: Vec<(&'static str, u32)> = Vec::new();
    for record in records {
        if !groups.contains(&(record.kernel, record.ilp)) {
            groups.push((record.kernel, record.ilp));
        }
    }
    groups
        .into_iter()
        .filter_map(|(kernel, ilp)| knee(records, kernel, ilp))
        .collect()
}

fn knee(records: &[OccupancyRecord], kernel: &'static str, ilp: u32) -> Option<Knee> {
    let of_kernel = || records.iter().filter(|record| record.kernel == kernel);
    let top = of_kernel().map(|record| record.rate).fold(0.0, f64::max);
    let percent = |record: &OccupancyRecord| 100.0 * record.rate / top;
    let members = || of_kernel().filter(|record| record.ilp == ilp);
    let least = members()
        .filter(|record| percent(record) >= ENOUGH)
        .min_by(|a, b| a.occupancy_percent.total_cmp(&b.occupancy_percent));
    let row = least.or_else(|| members().max_by(|a, b| a.rate.total_cmp(&b.rate)))?;
    Some(Knee {
        kernel,
        ilp,
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
    use crate::sweep::occupancy::InFlight;

    fn row(ilp: u32, occupancy_percent: f64, rate: f64) -> OccupancyRecord {
        OccupancyRecord {
            kernel: "copy",
            ilp,
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
            percent_ceiling: 100.0,
            in_flight: InFlight {
                unit: "bytes",
                needed: 1.0,
                provided: 1.0,
            },
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
