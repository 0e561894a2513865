use std::collections::BTreeSet;

use cuda_std::launch::{Slice, SliceMut};

use super::copies::Direction;
use super::store::link_roof;
use super::*;
use crate::driver::Emulation;
use crate::embedded::pattern::EACH;

/// Emulated devices without PTX, which run the kernels' Rust functions.
fn devices(count: u32) -> Vec<LinkDevice> {
    let device = |number| LinkDevice {
        name: format!("cpu:{number}"),
        device: Device::emulator_number(number, Emulation::default(), &[])
            .expect("a number of an emulator"),
    };
    (0..count).map(device).collect()
}

fn plan(bytes: u64) -> LinkPlan {
    LinkPlan {
        bytes,
        rounds: 1,
        transfers: 1,
        loads: 50,
        additions: 1,
    }
}

fn measured(devices: &[LinkDevice], bytes: u64) -> Vec<LinkRow> {
    let mut links = Links::new(devices, plan(bytes)).expect("links");
    let steps = links.steps();
    steps
        .into_iter()
        .map(|step| links.measure(step).expect("a row"))
        .collect()
}

#[test]
fn every_pair_has_every_row() {
    for (count, rows) in [(1, 3), (2, 2 * 3 + 3 + 6 * 2), (3, 3 * 3 + 3 * 3 + 6 * 6)] {
        let devices = devices(count);
        let all = measured(&devices, 4096);
        assert_eq!(all.len(), rows, "{count} devices");
        let unique: BTreeSet<_> = all
            .iter()
            .map(|row| (row.quantity.name(), &row.from, &row.to))
            .collect();
        assert_eq!(unique.len(), rows);
        for row in &all {
            assert!(
                row.value.is_some_and(|it| it > 0.0) && row.checked && row.emulated,
                "{row:?}"
            );
            let names = format!("{}{}", row.from_device, row.to_device);
            assert!(names.contains("CPU emulator"), "{row:?}");
            assert_ne!(row.from, row.to);
            assert!(!row.by.is_empty() && row.note.is_empty(), "{row:?}");
        }
    }
}

/// Returns the message on a copy that leaves out one vector.
fn without_one(devices: &[LinkDevice], bytes: u64, left_out: usize) -> String {
    let mut links = Links::new(devices, plan(bytes)).expect("links");
    let vectors = links.plan.vectors();
    let result = links.transfer(&[FETCHED], |_| {
        Ok(Box::new(move |stream, from, to| {
            let home = from.home().expect("a device's");
            for part in [0..left_out, left_out + 1..vectors] {
                // SAFETY: both parts lie in the arrays, which `transfer` has until it has waited.
                unsafe {
                    let from = Slice::from_raw(from.as_ptr().add(part.start), part.len()).of(home);
                    let at = to.as_ptr().add(part.start);
                    let to = SliceMut::from_raw(at, part.len()).of(to.home().expect("a device's"));
                    stream.copy_peer(from, to)?;
                }
            }
            Ok(())
        }))
    });
    result
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

/// From device 1 to device 0, by the latter's stream.
const FETCHED: Direction = Direction {
    from: 1,
    to: 0,
    by: 0,
};

#[test]
fn a_copy_that_leaves_something_out_is_found() {
    let devices = devices(2);
    let wrong = without_one(&devices, 4096, 255);
    assert!(wrong.contains("vector 255 of 256 did not come"), "{wrong}");
    // Of more elements than are compared each, a place and the sum.
    let much = (EACH as u64 + 12) * 4;
    let vectors = plan(much).vectors();
    let wrong = without_one(&devices, much, vectors - 1);
    assert!(wrong.contains("did not come"), "{wrong}");
    let wrong = without_one(&devices, much, 300);
    assert!(
        wrong.contains("the sum of the words that came is"),
        "{wrong}"
    );
}

#[test]
fn what_another_device_has_sent_is_found() {
    let devices = devices(2);
    let mut links = Links::new(&devices, plan(4096)).expect("links");
    let other = links
        .contents
        .source(&devices[1].device, 0)
        .expect("memory");
    let result = links.transfer(&[FETCHED], |_| {
        let other = &other;
        // SAFETY: the array is there until the test ends, and `transfer` waits.
        Ok(Box::new(move |stream, from, to| unsafe {
            stream.copy_peer(other.slice(..from.len()), to)
        }))
    });
    let wrong = result.err().expect("found").to_string();
    assert!(wrong.contains("vector 0 of 256 is"), "{wrong}");
}

#[test]
fn much_is_copied_and_compared() {
    let devices = devices(2);
    let mut links = Links::new(&devices, plan((EACH as u64 + 12) * 4)).expect("links");
    let ends = (End::Device(0), End::Device(1));
    for (quantity, (from, to)) in [
        (LinkQuantity::Copy, ends),
        (LinkQuantity::CopyBothWays, (End::Host, ends.1)),
    ] {
        let row = links.measure(Step { quantity, from, to }).expect("a row");
        assert!(row.checked && row.value.is_some(), "{row:?}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |devices: &[LinkDevice], plan: LinkPlan| {
        Links::new(devices, plan)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(refused(&[], plan(64)).starts_with("no devices"));
    let twice: Vec<LinkDevice> = devices(1).into_iter().chain(devices(1)).collect();
    assert!(refused(&twice, plan(64)).contains("cpu:0 is named twice"));
    let one = devices(1);
    assert!(refused(&one, plan(17)).contains("17 given; expected a multiple of 16"));
    assert!(refused(&one, plan(0)).contains("a multiple of 16"));
    let none = LinkPlan {
        rounds: 0,
        ..plan(64)
    };
    assert!(refused(&one, none).contains("timings: 0 given; expected at least 1"));
}

/// As two H200 have it.
pub(crate) fn row(quantity: LinkQuantity, from: &str, to: &str, value: Option<f64>) -> LinkRow {
    LinkRow {
        quantity,
        from: from.to_owned(),
        to: to.to_owned(),
        value,
        unit: quantity.unit(),
        rms_percent: Some(0.1),
        samples: 5,
        bytes: 64,
        by: "copy_u4".to_owned(),
        way: LinkRow::PEER.to_owned(),
        note: String::new(),
        from_device: "NVIDIA H200".to_owned(),
        to_device: "NVIDIA H200".to_owned(),
        emulated: false,
        checked: true,
    }
}

#[test]
fn the_roof_of_a_link_is_its_fastest_read_or_else_its_fastest_copy() {
    let host = row(LinkQuantity::Copy, "host", "cuda:0", Some(5e10));
    let copy = row(LinkQuantity::Copy, "cuda:1", "cuda:0", Some(4e11));
    let slow = row(LinkQuantity::KernelRead, "cuda:1", "cuda:0", Some(3e11));
    let fast = row(LinkQuantity::KernelRead, "cuda:2", "cuda:0", Some(3.5e11));
    let none = row(LinkQuantity::KernelRead, "cuda:3", "cuda:0", None);
    let of = |rows: &[&LinkRow]| {
        let rows: Vec<LinkRow> = rows.iter().map(|row| (*row).clone()).collect();
        link_roof(&rows, "NVIDIA H200").map(|roof| (roof.name, roof.rate.0))
    };
    let named = |name: &str, rate: f64| Some((name.to_owned(), rate));
    assert_eq!(
        of(&[&host, &copy, &slow, &fast, &none]),
        named("link cuda:2 -> cuda:0 (kernel reads)", 3.5e11)
    );
    assert_eq!(
        of(&[&host, &copy, &none]),
        named("link cuda:1 -> cuda:0 (copy)", 4e11)
    );
    assert_eq!(
        of(&[&host, &none]),
        named("link host -> cuda:0 (copy)", 5e10)
    );
    assert_eq!(of(&[&none]), None);
    assert_eq!(link_roof(&[fast], "NVIDIA H100"), None);
}

#[test]
fn a_file_of_links_is_read_or_says_what_is_wrong() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let read = |text: &str, device: &str| {
        std::fs::write(file.path(), text).expect("written");
        load_links(file.path(), device).map_err(|error| error.to_string())
    };
    let rows = serde_json::to_string(&[row(
        LinkQuantity::KernelRead,
        "cuda:1",
        "cuda:0",
        Some(3e11),
    )])
    .expect("JSON");
    assert_eq!(read(&rows, "NVIDIA H200").expect("a roof").rate.0, 3e11);
    let other = read(&rows, "NVIDIA H100").expect_err("another's");
    assert!(
        other.contains("no measured link to NVIDIA H100: it has those of NVIDIA H200"),
        "{other}"
    );
    let wrong = read(&rows.replace("300000000000.0", "-1.0"), "NVIDIA H200").expect_err("no rate");
    assert!(
        wrong.contains("kernel reads is -1; expected a finite number above 0"),
        "{wrong}"
    );
    assert!(
        read("{}", "NVIDIA H200")
            .expect_err("no rows")
            .contains("holds no rows of `ridgepoint links")
    );
    assert!(
        load_links(std::path::Path::new("/none"), "")
            .expect_err("no file")
            .to_string()
            .contains("cannot read")
    );
}
