//! The site of this tree is whole, and faults that are planted in another are found.

use std::fs;
use std::path::Path;

fn tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

#[test]
fn the_site_of_this_tree_is_whole() {
    let site = tempfile::tempdir().expect("a folder");
    let faults = book::build(tree(), site.path()).expect("a site");
    assert!(faults.is_empty(), "{faults}");
    assert!(faults.pages > 30, "{} pages", faults.pages);
    // Where a newcomer begins, and a link to a file that the site does not have.
    let read = |name: &str| fs::read_to_string(site.path().join(name)).expect(name);
    assert!(read("index.html").contains("writing-kernels.html"));
    let repository = "https://github.com/ridgepoint/ridgepoint/blob/main/crates/";
    assert!(read("architecture.html").contains(repository));
    assert!(read("testing-kernels.html").contains("\"results/emulator-speed/index.html\""));
}

/// A book of two pages, with what is planted in the first.
fn planted(first: &str) -> book::Faults {
    let tree = tempfile::tempdir().expect("a folder");
    let docs = tree.path().join("docs");
    fs::create_dir(&docs).expect("a folder");
    let config = "[book]\ntitle = \"t\"\nsrc = \"docs\"\n[output.html]\ngit-repository-url = \"https://x\"\n";
    fs::write(tree.path().join("book.toml"), config).expect("writable");
    fs::write(tree.path().join("LICENSE"), "free").expect("writable");
    fs::write(docs.join("SUMMARY.md"), "# S\n\n- [a](a.md)\n- [b](b.md)\n").expect("writable");
    fs::write(docs.join("a.md"), first).expect("writable");
    fs::write(docs.join("b.md"), "# B\n\n## A heading\n").expect("writable");
    fs::write(docs.join("c.svg"), "<svg/>").expect("writable");
    if first.contains("unlisted") {
        fs::write(docs.join("d.md"), "# D\n").expect("writable");
    }
    book::build(tree.path(), &tree.path().join("site")).expect("a site")
}

#[test]
fn planted_faults_are_found() {
    let good =
        "# A\n\n[1](b.md) [2](b.md#a-heading) [3](../LICENSE) [4](https://elsewhere) ![5](c.svg)\n";
    assert!(planted(good).is_empty(), "{}", planted(good));
    for (bad, fault) in [
        ("[1](no.md)", "dead link: a.html: no.html"),
        (
            "[1](b.md#no-heading)",
            "dead link: a.html: b.html#no-heading",
        ),
        ("[1](../NO)", "dead link: a.html: ../NO"),
        ("![1](no.png)", "missing file: a.html: no.png"),
        ("unlisted", "not in SUMMARY.md: d.md"),
    ] {
        let said = planted(&format!("{good}\n{bad}\n"));
        assert!(
            !said.is_empty() && said.to_string().contains(fault),
            "{bad}: {said}"
        );
    }
}

#[test]
fn a_listed_page_that_does_not_exist_is_refused() {
    let tree = tempfile::tempdir().expect("a folder");
    fs::write(
        tree.path().join("book.toml"),
        "[book]\nsrc = \"docs\"\n[build]\ncreate-missing = false\n",
    )
    .expect("writable");
    fs::create_dir(tree.path().join("docs")).expect("a folder");
    fs::write(tree.path().join("docs/SUMMARY.md"), "- [a](a.md)\n").expect("writable");
    let refused = book::build(tree.path(), &tree.path().join("site"));
    assert!(refused.is_err_and(|it| it.contains("a.md")));
    let empty = book::faults(&tree.path().join("docs"), &tree.path().join("docs"));
    assert!(!empty.expect("readable").is_empty(), "no page was read");
}
