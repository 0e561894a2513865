//! `--exchange`: in which ways the devices exchange, of those that they can.

use kernels_gpu::distributed::MOST_DEVICES;

use crate::cli::console::Console;
use crate::cli::option_values::each_once;
use crate::cli::{Failure, driver_failure};
use crate::driver::{Device, DriverError};
use crate::report::counted;
use crate::study::devices::Exchange;

/// The exchanges of threads of one process on so many of its devices, in the order in which they are measured. Those of `asked` are
/// measured everywhere; if none are, all that are possible, and what is left out is said.
///
/// # Errors
/// [`Exchange::Peer`] is asked for, and the devices cannot.
pub(super) fn of_threads(
    asked: &[Exchange],
    devices: &[Device],
    counts: &[usize],
    console: &Console,
) -> Result<Vec<(usize, Vec<Exchange>)>, Failure> {
    let of_count = |&count: &usize| {
        let mut exchanges = match asked {
            [] => vec![Exchange::Gather, Exchange::Graph, Exchange::Peer],
            _ => each_once(asked.to_vec()),
        };
        let reaches = |on: usize, peer: usize| devices[on].can_access_peer(&devices[peer]);
        if exchanges.contains(&Exchange::Peer)
            && let Some(why) = objection(count, reaches).map_err(driver_failure)?
        {
            if !asked.is_empty() {
                return Err(Failure::Usage(format!(
                    "--exchange peer: {why}; choose gather or graph, or other devices"
                )));
            }
            console.warn(&format!("peer is left out: {why}"));
            exchanges.retain(|&it| it != Exchange::Peer);
        }
        Ok((count, exchanges))
    };
    counts.iter().map(of_count).collect()
}

/// The exchanges of a launcher's processes.
///
/// # Errors
/// [`Exchange::Peer`] is asked for: processes cannot.
pub(super) fn of_processes(asked: &[Exchange]) -> Result<Vec<Exchange>, Failure> {
    match asked {
        [] => Ok(vec![Exchange::Gather, Exchange::Graph]),
        _ if asked.contains(&Exchange::Peer) => Err(Failure::Usage(
            "--exchange peer: the processes of a launcher do not reach each other's memory; choose gather or graph, or name all \
             devices in one process"
                .to_owned(),
        )),
        _ => Ok(each_once(asked.to_vec())),
    }
}

/// Why so many devices cannot store into each other's memory, if that is so. `reaches` says whether one can access that of another.
fn objection(
    count: usize,
    reaches: impl Fn(usize, usize) -> Result<bool, DriverError>,
) -> Result<Option<String>, DriverError> {
    if count > MOST_DEVICES {
        return Ok(Some(format!(
            "{}, and at most {MOST_DEVICES} can store into each other's memory",
            counted(count as u64, "device")
        )));
    }
    for (on, peer) in (0..count).flat_map(|on| (0..count).map(move |peer| (on, peer))) {
        if !reaches(on, peer)? {
            return Ok(Some(format!(
                "{}, of which number {on} cannot access the memory of number {peer}, both counted from 0",
                counted(count as u64, "device")
            )));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_devices_have_to_reach_each_other_and_are_not_too_many() {
        let of = |count, reaches: fn(usize, usize) -> bool| {
            objection(count, |on, peer| Ok(reaches(on, peer))).expect("no driver is asked")
        };
        assert_eq!(of(MOST_DEVICES, |_, _| true), None);
        let many = of(MOST_DEVICES + 1, |_, _| true).expect("too many");
        assert!(many.starts_with("33 devices, and at most 32"), "{many}");
        // The first two have a link, and the third has none.
        let linked = |on: usize, peer: usize| on == peer || on.max(peer) < 2;
        assert_eq!(of(2, linked), None);
        let apart = of(3, linked).expect("no link");
        assert!(
            apart.contains("number 0 cannot access the memory of number 2"),
            "{apart}"
        );
        let refused = objection(2, |_, _| Err(DriverError::NoGpu));
        assert!(matches!(refused, Err(DriverError::NoGpu)));
    }
}
