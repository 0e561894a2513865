//! `ridgepoint chart`, on the rows and ceilings of an emulated run.

use crate::support;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

fn ridgepoint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// A folder with the ceilings, and two kernels that were measured: once, for all tests.
fn measured() -> tempfile::TempDir {
    static FILES: OnceLock<[(&str, String); 2]> = OnceLock::new();
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES.get_or_init(measure) {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

fn measure() -> [(&'static str, String); 2] {
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
    ["ceilings.json", "rows.csv"].map(|name| {
        let text = fs::read_to_string(folder.path().join(name));
        (name, text.expect("written"))
    })
}

/// Whatever a workload's axes are called, curves go along the first, and differ in the others.
#[test]
fn rows_of_a_ladder_are_a_curve_for_each_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    let [rows, ceilings] = ["h200-ladder/ladder.csv", "h200-ceilings/ceilings.json"]
        .map(|file| results.join(file).display().to_string());
    let chart = [
        "chart",
        &rows,
        "--ceilings",
        &ceilings,
        "--mark",
        "step=mma_sync,n=4096",
        "--output",
        "a.svg",
    ];
    let drawn = ridgepoint(folder.path(), &chart);
    assert!(drawn.status.success(), "{drawn:?}");
    let svg = fs::read_to_string(folder.path().join("a.svg")).expect("written");
    let header_and_rows = fs::read_to_string(&rows).expect("rows");
    let steps: BTreeSet<&str> = header_and_rows
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').nth(7))
        .collect();
    assert!(steps.len() > 2, "{steps:?}");
    for step in steps {
        assert!(svg.contains(&format!("step {step}")), "{step}");
    }
    assert!(!svg.contains("grid "), "it follows from n and step");
    assert!(
        svg.contains("n = 4096: ") && !svg.contains("n 4096"),
        "n is what curves go along"
    );
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
        svg.matches("of the measured roof").count(),
        1,
        "one row is pointed out"
    );
    let png = fs::read(folder.path().join("a.png")).expect("written");
    assert!(png.starts_with(b"\x89PNG"));

    let some = chart(&["b.svg", "--only", "kernel=power-sum,k=1,k=100"]);
    assert!(some.status.success(), "{some:?}");
    let svg = fs::read_to_string(folder.path().join("b.svg")).expect("written");
    assert!(!svg.contains("horner") && !svg.contains("of the measured roof"));

    // Measured without ceilings, a row has no percentage of a measured roof.
    let rows = fs::read_to_string(folder.path().join("rows.csv")).expect("written");
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = header
        .iter()
        .position(|name| *name == "percent_measured_roof");
    let mut row = lines.find(|row| row[0] == "100").expect("a row");
    row[place.expect("a column")] = "";
    let bare = format!("{}\n{}\n", header.join(","), row.join(","));
    fs::write(folder.path().join("bare.csv"), bare).expect("writable");
    let words = "chart bare.csv --ceilings ceilings.json --output bare.svg --mark k=100";
    let marked = ridgepoint(folder.path(), &words.split(' ').collect::<Vec<_>>());
    assert!(marked.status.success(), "{marked:?}");
    let svg = fs::read_to_string(folder.path().join("bare.svg")).expect("written");
    assert!(svg.contains("Bound: ") && !svg.contains("of the measured roof"));

    products_have_the_roof_of_tensor_cores(folder.path(), &header, &row);

    for (condition, message) in [
        (
            "kernel=none",
            "no kernel is \"none\"; expected one of power-sum, horner",
        ),
        ("k=100,k=99", "no k is \"99\"; expected one of 1, 100"),
        ("colour=red", "has no column \"colour\": it has k, ai"),
        ("k", "a column and a value"),
    ] {
        for option in ["--only", "--mark"] {
            let refused = chart(&["c.svg", option, condition]);
            assert_eq!(refused.status.code(), Some(2));
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(said.contains(message), "{said}");
        }
    }

    // What XML has no place for, in the title.
    let titled = chart(&["e.svg", "--title", "a\u{1}b\u{1b}<\u{ffff}>"]);
    assert!(titled.status.success(), "{titled:?}");
    let svg = fs::read_to_string(folder.path().join("e.svg")).expect("written");
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let texts: Vec<&str> = document.descendants().filter_map(|it| it.text()).collect();
    assert!(
        texts
            .iter()
            .any(|it| it.trim() == "a\\u{1}b\\u{1b}<\u{fffd}>"),
        "{texts:?}"
    );

    let json = ridgepoint(
        folder.path(),
        &["merge", "rows.csv", "--output", "rows.json"],
    );
    assert!(json.status.success(), "{json:?}");
    let drawn = [
        "chart",
        "rows.json",
        "--ceilings",
        "ceilings.json",
        "--output",
        "f.svg",
    ];
    let drawn = ridgepoint(folder.path(), &drawn);
    assert!(drawn.status.success(), "{drawn:?}");

    // A full disk leaves a last row that is not whole.
    let rows = folder.path().join("rows.csv");
    let whole = fs::read_to_string(&rows).expect("written");
    let last = whole.lines().last().expect("rows").to_owned();
    let header = whole.lines().next().expect("a header");
    let columns = header.split(',').count();
    fs::write(&rows, format!("{whole}1,2,3")).expect("writable");
    let some = chart(&["d.svg"]);
    assert!(some.status.success(), "{some:?}");
    let said = String::from_utf8_lossy(&some.stderr);
    assert!(said.contains("rows.csv, row 5 is torn: 3 of"), "{said}");
    fs::write(&rows, format!("{whole}1,2,3\n{last}\n")).expect("writable");
    let refused = chart(&["d.svg"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains(&format!("rows.csv, row 5: 3 cells in {columns} columns")),
        "{said}"
    );
}

#[test]
fn empty_cells_are_no_part_of_a_curves_name() {
    let folder = measured();
    let rows = folder.path().join("rows.csv");
    let text = fs::read_to_string(&rows).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let mut writer = csv::Writer::from_path(&rows).expect("writable");
    writer.write_record(&header).expect("writable");
    for row in reader.records() {
        let row = row.expect("a row");
        let is_power = row.iter().any(|it| it == "power-sum");
        let cells = header.iter().zip(&row);
        let cells = cells.map(|(name, cell)| match name {
            "vector" if is_power => "",
            _ => cell,
        });
        writer.write_record(cells).expect("writable");
    }
    writer.flush().expect("writable");
    let line = "chart rows.csv --ceilings ceilings.json --output empty.svg";
    let output = ridgepoint(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    let svg = fs::read_to_string(folder.path().join("empty.svg")).expect("written");
    assert!(
        svg.contains(">power-sum<") && svg.contains(">horner, vector "),
        "{svg}"
    );
}

/// Ceilings that are not this device's, or none at all, and rows that a logarithmic axis has no place
/// for.
#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = measured();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    let (ceilings, rows) = (read("ceilings.json"), read("rows.csv"));
    let ceilings: serde_json::Value = serde_json::from_str(&ceilings).expect("JSON");
    let device = ceilings["key"]["device"]
        .as_str()
        .expect("a name")
        .to_owned();
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = ceilings.clone();
        change(&mut changed);
        fs::write(folder.path().join("other.json"), changed.to_string()).expect("writable");
    };
    let said_of = |arguments: &[&str]| {
        let output = ridgepoint(folder.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let chart = [
        "chart",
        "rows.csv",
        "--ceilings",
        "other.json",
        "--output",
        "x.svg",
    ];
    let sweep = [
        "roofline", "--device", "cpu", "--n", "64", "--k", "1", "--output", "x.csv",
    ];
    let sweep = [&sweep[..], &["--ceilings", "other.json"]].concat();

    with(&|it| it["key"]["device"] = "NVIDIA H200".into());
    let expected = format!("other.json holds the ceilings of NVIDIA H200, not of {device}");
    for arguments in [&chart[..], &sweep] {
        let said = said_of(arguments);
        assert!(said.contains(&expected), "{said}");
    }
    for value in [-1.0, 0.0] {
        with(&|it| it["ceilings"][2]["value"] = value.into());
        for arguments in [&chart[..], &sweep] {
            let said = said_of(arguments);
            let expected = format!("other.json: the value of memory copy is {value}");
            assert!(said.contains(&expected), "{said}");
        }
    }

    let said = said_of(&["chart", "rows.csv", "--output", "x.svg"]);
    assert!(
        said.contains("--ceilings is missing: rows.csv has rows of a roofline"),
        "{said}"
    );

    with(&|_| ());
    for value in ["-5", "0", "NaN"] {
        let mut lines = rows.lines();
        let header = lines.next().expect("a header");
        let row = lines
            .next()
            .expect("a row")
            .splitn(4, ',')
            .collect::<Vec<_>>();
        let row = [row[0], row[1], value, row[3]].join(",");
        fs::write(folder.path().join("rows.csv"), format!("{header}\n{row}\n")).expect("writable");
        let said = said_of(&chart);
        assert!(
            said.contains(&format!("rows.csv, row 1: gflops is \"{value}\"")),
            "{said}"
        );
    }
    assert!(!folder.path().join("x.svg").exists());
}

/// A row of a product, whose element type lanes do not have, lies under the measured roof of that type; without such a roof it
/// is refused, and so is a type that nothing has.
fn products_have_the_roof_of_tensor_cores(folder: &Path, header: &[&str], row: &[&str]) {
    let drawn = |types: &str, ceilings: &str| {
        let cell = |(name, cell): (&&str, &&str)| match *name {
            "dtype" => "bf16".to_owned(),
            "tensor_types" => types.to_owned(),
            _ => (*cell).to_owned(),
        };
        let row: Vec<String> = header.iter().zip(row).map(cell).collect();
        let rows = format!("{}\n{}\n", header.join(","), row.join(","));
        fs::write(folder.join("products.csv"), rows).expect("writable");
        let words = format!("chart products.csv --ceilings {ceilings} --output products.svg");
        ridgepoint(folder, &words.split(' ').collect::<Vec<_>>())
    };
    let output = drawn("bf16", "ceilings.json");
    assert!(output.status.success(), "{output:?}");
    let svg = fs::read_to_string(folder.join("products.svg")).expect("written");
    assert!(svg.contains("bf16 tensor cores, measured"), "{svg}");
    assert!(!svg.contains("tf32") && !svg.contains("FMA"), "{svg}");

    let all = fs::read_to_string(folder.join("ceilings.json")).expect("written");
    let mut all: serde_json::Value = serde_json::from_str(&all).expect("JSON");
    let list = all["ceilings"].as_array_mut().expect("a list");
    list.retain(|it| it["quantity"] != "tensor-bf16");
    fs::write(folder.join("few.json"), all.to_string()).expect("writable");
    for (types, ceilings, message) in [
        ("bf16", "few.json", "none of the rows' arithmetic"),
        ("", "ceilings.json", "bf16"),
    ] {
        let refused = drawn(types, ceilings);
        assert!(!refused.status.success(), "{refused:?}");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains(message), "{said}");
    }
}
