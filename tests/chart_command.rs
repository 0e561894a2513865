//! `ridgepoint chart`, on the rows and ceilings of an emulated run.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn ridgepoint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// Measures two kernels, and the ceilings.
fn measured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let each: [&[&str]; 2] = [
        &[
            "ceilings",
            "--device",
            "cpu",
            "--n",
            "1000",
            "--output",
            "ceilings.json",
        ],
        &[
            "roofline",
            "--device",
            "cpu",
            "--n",
            "1000",
            "--kernel",
            "all",
            "--k",
            "1,100",
            "--runs",
            "1",
            "--ceilings",
            "ceilings.json",
            "--quiet",
            "--output",
            "rows.csv",
        ],
    ];
    for arguments in each {
        let output = ridgepoint(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    folder
}

#[test]
fn rows_are_drawn_again_and_pointed_out() {
    let folder = measured();
    let chart = |more: &[&str]| {
        let files = [
            "chart",
            "rows.csv",
            "--ceilings",
            "ceilings.json",
            "--output",
        ];
        ridgepoint(folder.path(), &[&files[..], more].concat())
    };
    let drawn = chart(&[
        "a.svg,a.png",
        "--title",
        "A lesson",
        "--mark",
        "kernel=horner,k=100",
    ]);
    assert!(drawn.status.success(), "{drawn:?}");
    let svg = fs::read_to_string(folder.path().join("a.svg")).expect("written");
    for part in [
        "A lesson",
        "horner, k = 100: ",
        "Bound: ",
        "f32 add+mul",
        "not a GPU",
    ] {
        assert!(svg.contains(part), "{part:?} is not in the chart");
    }
    assert_eq!(
        svg.matches("of its roof").count(),
        1,
        "one row is pointed out"
    );
    let png = fs::read(folder.path().join("a.png")).expect("written");
    assert!(png.starts_with(b"\x89PNG"));

    let some = chart(&["b.svg", "--only", "kernel=power-sum,k=1,k=100"]);
    assert!(some.status.success(), "{some:?}");
    let svg = fs::read_to_string(folder.path().join("b.svg")).expect("written");
    assert!(!svg.contains("horner") && !svg.contains("of its roof"));

    for (condition, message) in [
        ("kernel=none", "has no such row"),
        ("colour=red", "has no column \"colour\": it has k, ai"),
        ("k", "a column and a value"),
    ] {
        let refused = chart(&["c.svg", "--only", condition]);
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains(message), "{said}");
    }

    // A full disk leaves a last row that is not whole.
    let rows = folder.path().join("rows.csv");
    let whole = fs::read_to_string(&rows).expect("written");
    let last = whole.lines().last().expect("rows").to_owned();
    fs::write(&rows, format!("{whole}1,2,3")).expect("writable");
    let some = chart(&["d.svg"]);
    assert!(some.status.success(), "{some:?}");
    fs::write(&rows, format!("{whole}1,2,3\n{last}\n")).expect("writable");
    let refused = chart(&["d.svg"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("rows.csv, row 5: 3 cells, not"), "{said}");
}
