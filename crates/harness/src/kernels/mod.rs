//! Kernels without a GPU: what each needs of a multiprocessor, its PTX, its machine code.

mod code;
mod error;

use std::collections::BTreeSet;

use cuda_builder::resources::KernelResources;
pub use cuda_builder::resources::Report;
use serde::Serialize;

pub(crate) use code::report_with_max_registers;
pub use code::{disassemble, machine_code, ptx, report_of};
pub use error::KernelsError;

use crate::driver::Embedded;

/// A kernel's needs on one architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KernelRecord {
    /// The architecture: 90 for `sm_90`.
    pub arch: u32,
    /// Its needs, and its occupancy.
    #[serde(flatten)]
    pub resources: KernelResources,
}

/// The kernels that were asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inventory {
    /// By architecture, then by name.
    pub records: Vec<KernelRecord>,
    /// Architectures of which there is no report: none is embedded, and no `ptxas` here makes one.
    pub unreported: Vec<u32>,
}

/// The kernels of this PTX whose names contain `filter` or are among `launched`, those of the workload of that
/// name, on the architectures `arches`, or on every one that it has if that is empty.
///
/// # Errors
/// [`KernelsError::NotEmbedded`]: there is no PTX for an architecture; [`KernelsError::NoReport`]: none of
/// them has a report, and there is no `ptxas` to make one; [`KernelsError::Report`]: an embedded report
/// cannot be read; [`KernelsError::NoKernel`]: no kernel's name contains `filter`.
pub fn inventory(
    ptx: &[Embedded<'_>],
    arches: &[u32],
    filter: &str,
    launched: &BTreeSet<&str>,
) -> Result<Inventory, KernelsError> {
    check(ptx, arches)?;
    collect(ptx, arches, filter, launched)
}

fn collect(
    embedded: &[Embedded<'_>],
    arches: &[u32],
    filter: &str,
    launched: &BTreeSet<&str>,
) -> Result<Inventory, KernelsError> {
    let is_wanted = |name: &str| name.contains(filter) || launched.contains(name);
    let mut records = Vec::new();
    let mut unreported = Vec::new();
    let mut reported = false;
    for &(arch, ptx, report) in embedded {
        if !arches.is_empty() && !arches.contains(&arch) {
            continue;
        }
        let Some(report) = embedded_or_made(arch, ptx, report)? else {
            unreported.push(arch);
            continue;
        };
        reported = true;
        let wanted = report
            .kernels
            .into_iter()
            .filter(|kernel| is_wanted(&kernel.name));
        records.extend(wanted.map(|resources| KernelRecord { arch, resources }));
    }
    if !reported {
        return Err(KernelsError::NoReport { arches: unreported });
    }
    if records.is_empty() {
        return Err(KernelsError::unknown(filter, &names(embedded)));
    }
    Ok(Inventory {
        records,
        unreported,
    })
}

/// The report of the PTX: the embedded one, or where the build had no `ptxas`, one that it makes now.
/// `None` where there is no `ptxas` either, or it refuses the architecture.
fn embedded_or_made(
    arch: u32,
    ptx: &str,
    embedded: Option<&str>,
) -> Result<Option<Report>, KernelsError> {
    if let Some(json) = embedded {
        let report = Report::from_json(json).map_err(|error| KernelsError::Report {
            arch,
            error: error.to_string(),
        });
        return report.map(Some);
    }
    match code::report(arch, ptx, None) {
        Ok(report) => Ok(Some(report)),
        Err(KernelsError::NoTool(_) | KernelsError::Tool { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the kernels' needs on the newest architecture that has a report. `None` where there is no report.
pub fn newest_report(ptx: &[Embedded<'_>]) -> Option<Report> {
    let newest_first = ptx.iter().rev();
    newest_first
        .filter_map(|&(arch, ptx, report)| embedded_or_made(arch, ptx, report).ok()?)
        .next()
}

/// The names of the kernels in this PTX.
pub fn names(ptx: &[Embedded<'_>]) -> Vec<String> {
    let mut names: Vec<String> = ptx
        .iter()
        .flat_map(|(_, ptx, _)| code::entries(ptx))
        .map(|(name, _)| name.to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn check(ptx: &[Embedded<'_>], arches: &[u32]) -> Result<(), KernelsError> {
    let is_embedded = |arch| ptx.iter().any(|(it, ..)| *it == arch);
    match arches.iter().find(|arch| !is_embedded(**arch)) {
        Some(&arch) => Err(not_embedded(ptx, arch)),
        None => Ok(()),
    }
}

fn not_embedded(ptx: &[Embedded<'_>], arch: u32) -> KernelsError {
    KernelsError::NotEmbedded {
        arch,
        embedded: ptx.iter().map(|(arch, ..)| *arch).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"arch": 90, "key": "", "kernels": [{"name": "scale", "registers": 8,
        "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0, "static_shared_bytes": 0,
        "constant": [], "barriers": 0, "max_threads": null, "occupancy": []}]}"#;

    #[test]
    fn where_no_report_can_be_had_the_error_says_how_to_get_one() {
        // PTX that no ptxas takes, wherever this runs.
        let error = collect(&[(80, "", None), (90, "", None)], &[], "", &BTreeSet::new())
            .expect_err("nothing is reported")
            .to_string();
        for part in ["sm_80, sm_90", "ptxas", "ridgepoint doctor"] {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    }

    #[test]
    fn an_architecture_without_a_report_does_not_hide_the_others() {
        let embedded = [(70, "", None), (90, "", Some(REPORT))];
        let none = BTreeSet::new();
        let found = collect(&embedded, &[], "sca", &none).expect("one is reported");
        let launched = BTreeSet::from(["scale"]);
        let launching = collect(&embedded, &[], "copies", &launched).expect("it launches one");
        assert_eq!(launching, found);
        assert_eq!(found.records.len(), 1);
        assert_eq!(found.records[0].resources.registers, 8);
        assert_eq!(found.unreported, [70]);
        assert!(matches!(
            collect(&embedded, &[70], "", &none),
            Err(KernelsError::NoReport { arches }) if arches == [70]
        ));
        assert!(collect(&[(90, "", Some("{}"))], &[], "", &none).is_err());
    }
}
