//! Files that are recognised by their columns or their outermost fields: this program's own, and other tools'.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::driver::printable;

/// A kind of file, and what tells it: columns of a CSV, or the outermost fields of a JSON.
type Kind = (&'static str, &'static [&'static str]);

/// CSV of other tools.
const FOREIGN: [Kind; 7] = [
    ("a CSV of nvbench", &["Benchmark", "Device Name", "Samples"]),
    ("a table of mixbench", &["Compute iters", "ex.time"]),
    (
        "a CSV of hyperfine",
        &["command", "mean", "stddev", "median", "user", "system"],
    ),
    (
        "a CSV of google benchmark",
        &["name", "iterations", "real_time", "cpu_time", "time_unit"],
    ),
    (
        "a CSV of Nsight Compute",
        &["Kernel Name", "Process ID", "Metric Name"],
    ),
    (
        "a CSV of Nsight Compute",
        &["Kernel Name", "Process ID", "Block Size", "Grid Size"],
    ),
    (
        "a CSV of Nsight Systems",
        &["Time (%)", "Total Time (ns)", "Name"],
    ),
];

const LINKS: Kind = ("links of `ridgepoint links`", &["quantity", "from", "to"]);

/// CSV of this program that is of no roofline.
const OWN: [Kind; 3] = [
    LINKS,
    (
        "ceilings of `ridgepoint ceilings`",
        &["quantity", "datasheet", "variant"],
    ),
    (
        "lines of `ridgepoint profile`",
        &["kernel", "line", "share_percent"],
    ),
];

/// JSON of other tools and of this program.
const JSON: [Kind; 9] = [
    ("a JSON of nvbench", &["meta", "devices", "benchmarks"]),
    ("a JSON of google benchmark", &["context", "benchmarks"]),
    (
        "a JSON of pytest-benchmark",
        &["machine_info", "benchmarks"],
    ),
    ("a JSON of hyperfine", &["results"]),
    ("ceilings of `ridgepoint ceilings`", &["key", "ceilings"]),
    (
        "a profile of `ridgepoint profile`",
        &["ridgepoint", "profiles"],
    ),
    ("a timeline of --trace", &["traceEvents"]),
    LINKS,
    ("rows of a roofline or an occupancy study", &["rows"]),
];

fn found<'a>(kinds: &[Kind], names: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    let has = |wanted: &str| names.clone().any(|name| name.trim() == wanted);
    let found = kinds
        .iter()
        .find(|(_, fields)| fields.iter().all(|field| has(field)));
    found.map(|(name, _)| *name)
}

/// Returns the kind of another tool's CSV with these columns.
pub(crate) fn foreign<'a>(columns: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    found(&FOREIGN, columns)
}

/// Returns the kind of a CSV with these columns that holds no rows of a roofline.
pub fn other_than_a_roofline<'a>(
    columns: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'static str> {
    found(&FOREIGN, columns.clone()).or_else(|| found(&OWN, columns))
}

/// Says why a JSON is not what was `wanted`, such as "ceilings": where it breaks off or is no JSON, or what it is instead.
pub(crate) fn json_that_is_no(wanted: &str, text: &[u8], error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => format!("it breaks off in line {line}"),
        // A CSV, or any other text.
        Category::Syntax | Category::Io if (line, column) == (1, 1) => format!(
            "it does not begin like JSON; {wanted} are read from the JSON that `--output FILE.json` writes"
        ),
        Category::Syntax | Category::Io => {
            format!("line {line}, column {column} is no JSON: {}", reason(error))
        }
        Category::Data => instead(wanted, text).unwrap_or_else(|| {
            format!("line {line}, column {column}: {}", in_words(&reason(error)))
        }),
    }
}

/// The error of the parser without its place.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    printable(text).into_owned()
}

/// Rewords the parser's message on a value of another type for users.
fn in_words(reason: &str) -> String {
    if let Some(field) = reason.strip_prefix("missing field ") {
        return format!("the field {} is missing", field.trim_matches('`'));
    }
    let found = reason.strip_prefix("invalid type: ");
    let Some((found, expected)) = found.and_then(|it| it.split_once(", expected ")) else {
        return reason.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        other => other,
    };
    let expected = match expected.split(' ').next().unwrap_or_default() {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "struct" | "map" => "an object",
        _ => match expected {
            "a sequence" => "a list",
            "a map" => "an object",
            "a string" => "text",
            other => other,
        },
    };
    format!("{found} where {expected} is expected")
}

/// Describes the document, as far as its outermost fields tell.
fn instead(wanted: &str, text: &[u8]) -> Option<String> {
    type Fields = BTreeMap<String, IgnoredAny>;
    let fields = match serde_json::from_slice::<Fields>(text) {
        Ok(fields) => fields,
        Err(_) => match serde_json::from_slice::<Vec<Fields>>(text) {
            Ok(rows) => match rows.into_iter().next() {
                Some(first) => first,
                None => return Some(format!("it is an empty list, not {wanted}")),
            },
            Err(_) => {
                return Some(format!(
                    "it is neither an object nor a list of objects, not {wanted}"
                ));
            }
        },
    };
    let names = || fields.keys().map(String::as_str);
    match found(&JSON, names()) {
        Some(kind) if !kind.contains(wanted) => Some(format!("it is {kind}, not {wanted}")),
        Some(_) => None,
        None => {
            let few: Vec<_> = names()
                .take(6)
                .map(|it| printable(it).into_owned())
                .collect();
            Some(format!(
                "its fields are {}, which are not those of {wanted}",
                few.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(wanted: &str, text: &str) -> String {
        let error = serde_json::from_str::<Vec<u8>>(text).expect_err("no list of bytes");
        json_that_is_no(wanted, text.as_bytes(), &error)
    }

    #[test]
    fn files_are_named_by_what_they_are() {
        let nvbench = "Benchmark,Device,Device Name,Samples,Noise (%),Noise (%)";
        assert_eq!(foreign(nvbench.split(',')), Some("a CSV of nvbench"));
        let mixbench = "Compute iters, Flops/byte, ex.time,  GFLOPS, ex.time";
        assert_eq!(foreign(mixbench.split(',')), Some("a table of mixbench"));
        // A user's columns, and rows of links, which merge takes.
        assert_eq!(foreign("k,ai,gflops,kernel,results".split(',')), None);
        assert_eq!(foreign("quantity,from,to".split(',')), None);
        assert_eq!(
            other_than_a_roofline("quantity,from,to".split(',')),
            Some(LINKS.0)
        );
        assert_eq!(
            said("ceilings", r#"{"run": {}, "rows": []}"#),
            "it is rows of a roofline or an occupancy study, not ceilings"
        );
        assert_eq!(
            said("rows", r#"{"context": {}, "benchmarks": []}"#),
            "it is a JSON of google benchmark, not rows"
        );
        assert_eq!(
            said(
                "ceilings",
                r#"[{"quantity": "copy", "from": "host", "to": "cpu:0"}]"#
            ),
            "it is links of `ridgepoint links`, not ceilings"
        );
    }

    #[test]
    fn types_are_named_in_a_users_words() {
        for (reason, words) in [
            ("missing field `key`", "the field key is missing"),
            (
                "invalid type: null, expected u32",
                "null where a whole number is expected",
            ),
            (
                "invalid type: map, expected a sequence",
                "an object where a list is expected",
            ),
            (
                "invalid type: string \"no\", expected f64",
                "string \"no\" where a number is expected",
            ),
            (
                "invalid type: sequence, expected struct Key",
                "a list where an object is expected",
            ),
            ("unknown variant `x`", "unknown variant `x`"),
        ] {
            assert_eq!(in_words(reason), words);
        }
    }

    #[test]
    fn what_is_no_json_says_where() {
        assert_eq!(said("rows", "[1,\n2"), "it breaks off in line 2");
        let csv = said("ceilings", "k,ai\n1,2\n");
        assert!(
            csv.starts_with("it does not begin like JSON; ceilings are"),
            "{csv}"
        );
        let said = said("rows", "[1 2]");
        assert!(
            said.starts_with("line 1, column 4 is no JSON: expected"),
            "{said}"
        );
    }
}
