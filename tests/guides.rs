//! Each sample of output in the guides is compared with what its command prints, by the test that runs the command.

#[path = "support/guides.rs"]
mod guides;

use std::fs;
use std::path::Path;

use guides::{blocks, missing};

/// The guides.
const PAGES: [&str; 2] = ["measuring-your-kernel.md", "profiling-a-kernel.md"];

/// The samples that no test compares, by how they begin, and why.
const NOT_COMPARED: [(&str, &str); 1] = [("NVIDIA H200\n", "printed by a GPU")];

/// The samples of a page that no test's source names, and that have no reason.
fn forgotten(page: &str, samples: &[String], tests: &str) -> Vec<String> {
    let calls: Vec<&str> = tests.split("shows(").skip(1).collect();
    let is_named = |sample: &String| {
        calls.iter().any(|call| {
            let mut quoted = call.split('"').skip(1).step_by(2);
            let of_page = quoted.next() == Some(page);
            of_page && quoted.next().is_some_and(|begin| sample.starts_with(begin))
        })
    };
    let has_reason = |sample: &String| {
        NOT_COMPARED
            .iter()
            .any(|(begin, _)| sample.starts_with(begin))
    };
    let forgotten = samples.iter().filter(|it| !is_named(it) && !has_reason(it));
    forgotten.cloned().collect()
}

#[test]
fn every_sample_of_the_guides_is_compared_with_what_is_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let sources = ["new_command.rs", "profile_command.rs"];
    let tests = sources.map(|name| fs::read_to_string(folder.join(name)).expect("a test"));
    let tests = tests.concat();
    for page in PAGES {
        let samples = blocks(page, "text");
        assert!(samples.len() >= 3, "{page}: {samples:?}");
        assert_eq!(forgotten(page, &samples, &tests), [""; 0], "{page}");
        let all = forgotten(page, &samples, "shows(\"another.md\", \"\", &printed)");
        assert!(!all.is_empty(), "{page}");
    }
}

#[test]
fn a_sample_that_is_not_what_is_printed_is_found() {
    let printed = "scale n = 65536  block =  64\n    0.9 GB/s ± 16.9 %, 20.8 % of the ceiling  8192 bytes in flight, \
        2234 needed  flagged: noisy\n\nscale: 100 % of the top speed (0.7 GB/s) from 75 % occupancy\n2 rows: occ.csv\n";
    let other = printed
        .replace("0.9 GB/s ± 16.9 %, 20.8", "17.0 GB/s ± 0.1 %, 3.0")
        .replace("2234 needed  flagged: noisy", "9 needed")
        .replace(
            "100 % of the top speed (0.7 GB/s) from 75",
            "97 % of the top speed (1.7 GB/s) from 100",
        );
    assert_eq!(missing(&other, printed), None);
    assert_eq!(
        missing("scale n = 65536 ..\n..\n2 rows: occ.csv", printed),
        None
    );
    for (from, to) in [
        ("64\n", "32\n"),
        ("8192 bytes", "4096 bytes"),
        ("2 rows", "3 rows"),
        ("top speed", "speed"),
    ] {
        assert!(
            missing(&printed.replace(from, to), printed).is_some(),
            "{to}"
        );
    }
    // In another order.
    assert!(missing("2 rows: occ.csv\nscale n = 65536 block = 64", printed).is_some());
    let table = "│ launch ┆ time ┆ ± % │\n│ scale f32, n 4096 ┆ 0.0414 ms ┆ 27.9 │\n";
    let wider = "┌──┐\n│ launch  ┆  time ┆ ± % │\n│ scale f32, n 4096 ┆ 0.04 ms ┆ 7.9 │\n";
    assert_eq!(missing(table, wider), None);
    assert!(missing(&table.replace("n 4096", "n 4097"), wider).is_some());
}
