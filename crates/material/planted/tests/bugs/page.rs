//! docs/testing-kernels.md has a row for each planted bug, of one device, two or several, says how many there are, and shows a verdict of
//! compute-sanitizer only of those that it was run on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use planted::{BUGS, PAIR_BUGS, TEAM_BUGS};
use ridgepoint_driver::finding::Kind;

const NOT_RUN: &str = "not run yet";

fn read(path: &str) -> String {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    fs::read_to_string(tree.join(path)).expect("a file of this tree")
}

/// The first cells of the rows of a table of bugs, without marks, and whether the row has a verdict of each tool.
fn rows(text: &str) -> Vec<(String, bool)> {
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells.get(1)?.trim_matches('`');
        let is_one = BUGS.iter().any(|bug| bug.name == name);
        let verdicts = &cells[cells.len().saturating_sub(5)..];
        is_one.then(|| (name.to_owned(), !verdicts.contains(&NOT_RUN)))
    });
    rows.collect()
}

/// Returns the faults of a page, given the results of compute-sanitizer.
fn wrong(page: &str, results: &str) -> Vec<String> {
    let of_page = rows(page);
    let names: BTreeSet<&str> = of_page.iter().map(|(name, _)| name.as_str()).collect();
    let run: BTreeSet<String> = rows(results).into_iter().map(|(name, _)| name).collect();
    let missing = BUGS.iter().filter(|bug| !names.contains(bug.name));
    let missing = missing.map(|bug| format!("{} has no row", bug.name));
    let otherwise = of_page
        .iter()
        .filter(|(name, has_verdicts)| *has_verdicts != run.contains(name));
    let otherwise =
        otherwise.map(|(name, _)| format!("{name}: verdicts that the results lack, or none"));
    let counts = [
        format!("has {} bugs", BUGS.len()),
        format!("name all {},", BUGS.len()),
    ];
    let pairs = PAIR_BUGS.iter().map(|bug| bug.name);
    let several = pairs.chain(TEAM_BUGS.iter().map(|bug| bug.name));
    let several = several.map(|name| format!("\n| `{name}` | "));
    let counts = counts
        .into_iter()
        .chain(several)
        .chain([format!("has {} of two devices", PAIR_BUGS.len())])
        .chain([format!("{} of any number of devices", TEAM_BUGS.len())]);
    let counts = counts.filter(|it| !page.contains(it));
    let counts = counts.map(|it| format!("the page lacks {it:?}"));
    missing.chain(otherwise).chain(counts).collect()
}

fn the_page_has_every_bug_and_only_verdicts_of_tools_that_ran() {
    let page = read("docs/testing-kernels.md");
    let results = read("docs/results/h200-planted/bugs.md");
    assert_eq!(wrong(&page, &results), [""; 0]);

    let without = page.replace("| `buffer_reused` |", "| `buffer_used` |");
    assert_eq!(
        wrong(&without, &results),
        ["the page lacks \"\\n| `buffer_reused` | \""]
    );
    let without = page.replace("| `early_return` |", "| `late_return` |");
    assert_eq!(wrong(&without, &results), ["early_return has no row"]);
    let unrun = results.replace("| early_return |", "| late_return |");
    assert_eq!(wrong(&page, &unrun).len(), 1);
    let of_fewer = page.replace(&format!("has {} bugs", BUGS.len()), "has 12 bugs");
    assert_eq!(wrong(&of_fewer, &results).len(), 1);
}

/// The page's table of kinds, as the emulator has them.
fn table_of_kinds() -> String {
    let rows = Kind::ROWS.iter().map(|row| {
        let meaning: Vec<&str> = row.meaning.iter().map(|line| line.trim()).collect();
        format!(
            "| `{}` | {} | {} | {} |\n",
            row.variant,
            row.name,
            row.severity.name(),
            meaning.join(" ")
        )
    });
    let head = "| `finding::Kind` | name | severity | meaning |\n|---|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>()
}

fn the_page_has_every_kind_of_finding() {
    let (page, table) = (read("docs/testing-kernels.md"), table_of_kinds());
    assert!(table.lines().count() > 20, "{table}");
    assert!(
        page.contains(&table),
        "the page's table is not this:\n{table}"
    );
    let other = page.replace("| `Leak` | leak |", "| `Leak` | lost |");
    assert!(!other.contains(&table));
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![
        the_page_has_every_bug_and_only_verdicts_of_tools_that_ran,
        the_page_has_every_kind_of_finding,
    ]
    .into()
}
