//! A small report in each format.

use super::*;
use crate::driver::coverage::{BranchId, Function, Kernel};

/// A file with a line of each kind: executed, missed, and with a branch that was never taken.
fn report() -> Report {
    let id = |line| BranchId {
        line,
        module: 1,
        ptx_line: 90,
    };
    let branch = |outcomes: &[u64], divergent| Branch {
        outcomes: outcomes.to_vec(),
        divergent,
    };
    let function = |line, threads| Function { line, threads };
    let file = File {
        functions: [
            ("scale".to_owned(), function(3, 64)),
            ("a<b>".to_owned(), function(9, 0)),
        ]
        .into(),
        lines: [(3, 64), (4, 33), (9, 0)].into(),
        branches: [
            (id(3), branch(&[33, 31], 1)),
            (id(4), branch(&[0, 33], 0)),
            (id(9), branch(&[0, 0, 0], 0)),
        ]
        .into(),
    };
    let kernel = |launches| Kernel {
        launches,
        files: [("src/lib.rs".to_owned(), file.clone())].into(),
    };
    Report {
        coverage: Coverage {
            kernels: [
                ("scale".to_owned(), kernel(2)),
                ("idle".to_owned(), Kernel::default()),
            ]
            .into(),
        },
        files: [("src/lib.rs".to_owned(), file.clone())].into(),
        texts: BTreeMap::new(),
    }
}

#[test]
fn lcov_has_each_record_and_their_sums() {
    let expected = "TN:
SF:src/lib.rs
FN:9,a<b>
FN:3,scale
FNDA:0,a<b>
FNDA:64,scale
FNF:2
FNH:1
BRDA:3,0,0,33
BRDA:3,0,1,31
BRDA:4,0,0,0
BRDA:4,0,1,33
BRDA:9,0,0,-
BRDA:9,0,1,-
BRDA:9,0,2,-
BRF:7
BRH:3
DA:3,64
DA:4,33
DA:9,0
LF:3
LH:2
end_of_record
";
    let folder = Path::new("");
    let text = report().text(Format::Lcov, folder);
    // The file is found from where the test runs, or above.
    let name = text.lines().nth(1).and_then(|it| it.strip_prefix("SF:"));
    let name = name.expect("a file");
    assert!(name.ends_with("src/lib.rs"), "{name}");
    assert_eq!(text.replace(name, "src/lib.rs"), expected);
}

#[test]
fn cobertura_is_xml_whose_rates_are_its_lines() {
    let text = report().text(Format::Cobertura, Path::new(""));
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let document = roxmltree::Document::parse_with_options(&text, options).expect("XML");
    let root = document.root_element();
    assert_eq!(root.attribute("lines-covered"), Some("2"));
    assert_eq!(root.attribute("lines-valid"), Some("3"));
    assert_eq!(root.attribute("line-rate"), Some("0.6667"));
    assert_eq!(root.attribute("branches-covered"), Some("3"));
    let class = root.descendants().find(|it| it.has_tag_name("class"));
    let class = class.expect("a class");
    let lines = class.children().find(|it| it.has_tag_name("lines"));
    let lines = lines.expect("lines").children();
    let lines: Vec<_> = lines.filter(|it| it.is_element()).collect();
    let hits: Vec<_> = lines.iter().map(|it| it.attribute("hits")).collect();
    assert_eq!(hits, [Some("64"), Some("33"), Some("0")]);
    assert_eq!(lines[1].attribute("condition-coverage"), Some("50% (1/2)"));
    let methods = class.descendants().filter(|it| it.has_tag_name("method"));
    let names: Vec<_> = methods.filter_map(|it| it.attribute("name")).collect();
    assert_eq!(names, ["a<b>", "scale"]);
}

#[test]
fn the_page_and_json_say_which_kernels_never_ran_and_where_warps_parted() {
    let report = report();
    let page = report.text(Format::Page, Path::new(""));
    assert!(
        page.contains("taken 33, not taken 31; 1 warp parted"),
        "{page}"
    );
    assert!(page.contains("<td class=\"name\">idle</td><td>none</td>"));
    let json: serde_json::Value =
        serde_json::from_str(&report.text(Format::Json, Path::new(""))).expect("JSON");
    assert_eq!(json["totals"]["lines_covered"], 2);
    assert_eq!(json["kernels"]["idle"]["launches"], 0);
    let file = &json["kernels"]["scale"]["files"]["src/lib.rs"];
    assert_eq!(file["lines"]["4"], 33);
    assert_eq!(file["branches"][0]["divergent"], 1);
    assert_eq!(report.not_launched(), ["idle"]);
    assert_eq!(report.missing(8), ["src/lib.rs:9"]);
}

#[test]
fn all_is_not_said_of_almost_all() {
    let share = |covered, all| Share { covered, all };
    let texts = [share(9999, 10_000), share(1, 3), share(2, 2), share(0, 0)];
    assert_eq!(
        texts.map(|it| it.text()),
        ["99.9", "33.3", "100.0", "100.0"]
    );
}

#[test]
fn the_ending_is_the_format() {
    let of = |name: &str| Format::of(Path::new(name));
    assert_eq!(of("a/lcov.info"), Some(Format::Lcov));
    assert_eq!(of("coverage.xml"), Some(Format::Cobertura));
    assert_eq!(of("page.html"), Some(Format::Page));
    assert_eq!(of("c.json"), Some(Format::Json));
    assert_eq!((of("info"), of("c.txt")), (None, None));
}
