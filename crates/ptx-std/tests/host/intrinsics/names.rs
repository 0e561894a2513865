//! The names in the library's tables, and whether each has a case.

use std::collections::BTreeSet;
use std::path::Path;

use super::TESTED;

/// The functions that a module's source declares: those of its own, and those in tables, whose entries
/// are indented by four spaces.
fn declared(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut table = "";
    for line in source.lines() {
        if let Some(function) = line.strip_prefix("pub unsafe fn ") {
            names.insert(identifier(function).to_owned());
        } else if let Some((name, "")) = line.split_once("! {") {
            table = name;
        } else if line.starts_with(|c: char| !c.is_whitespace()) {
            table = "";
        } else if let Some(entry) = line.strip_prefix("    ")
            && entry.starts_with(|c: char| c.is_ascii_lowercase())
        {
            let name = identifier(entry);
            match table {
                "" => {}
                "intrinsics" | "storing_intrinsics" | "sines_and_cosines" => {
                    names.insert(name.to_owned());
                }
                "rounded" => {
                    names.extend(["rn", "rz", "rd", "ru"].map(|mode| format!("{name}_{mode}")));
                }
                "methods" => {
                    let single = identifier(entry[name.len()..].trim_start());
                    names.extend([name, single].map(str::to_owned));
                }
                other => panic!("a table of an unknown kind: {other}"),
            }
        }
    }
    names
}

/// Returns the identifier that the text starts with.
fn identifier(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default()
}

/// The functions in one list only.
fn differences(library: &BTreeSet<String>, tested: &[&[&str]]) -> Vec<String> {
    let tested = tested.iter().copied().flatten();
    let tested = tested.map(|&name| name.to_owned()).collect();
    library.symmetric_difference(&tested).cloned().collect()
}

#[test]
fn every_intrinsic_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/intrinsics");
    let mut library = BTreeSet::new();
    for file in folder.read_dir().expect("a folder of modules") {
        let source = std::fs::read_to_string(file.expect("a file").path()).expect("a module");
        library.extend(declared(&source));
    }
    assert!(library.len() >= 300, "only {} were found", library.len());
    assert_eq!(differences(&library, TESTED), [""; 0]);
}

#[test]
fn names_are_found_in_tables_of_all_kinds() {
    let library = declared(
        "\
macro_rules! rounded {
    not_this(x: i32) -> i32 = x;
}
intrinsics! {
    /// A function.
    first(x: i32) -> i32 = if x == 0 {
        1
    } else {
        x
    };
}
rounded! {
    second(x: f32) -> \"x\";
}
methods! {
    third thirdf(x) = GpuFloat::third;
}
storing_intrinsics! {
    fourth(x: f64 => b: *mut f64) -> f64 = (x, x);
}
sines_and_cosines! {
    fifth(x: f64) = (x, x);
}
pub unsafe fn sixth(tagp: *mut i8) -> f64 {
    let x = 1;
}
",
    );
    let all: &[&[&str]] = &[
        &["first", "second_rn", "second_rz", "second_rd", "second_ru"],
        &["third", "thirdf", "fourth", "fifth", "sixth"],
    ];
    assert_eq!(differences(&library, all), [""; 0]);
    assert_eq!(
        differences(&library, &[all[0], &["seventh", "thirdf"]]),
        ["fifth", "fourth", "seventh", "sixth", "third"]
    );
}
