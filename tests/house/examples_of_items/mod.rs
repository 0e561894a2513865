//! Every public item of the crates that kernels and their hosts are written with is in an example that runs.
//!
//! An item is a module, a type, a trait, a function, a constant, a macro, or what another crate of these declares
//! (`pub use`); a method or a constant of a type or a trait. Fields and variants are their type's, and
//! implementations of traits the trait's. What is there on a GPU alone is not among them: documentation is tested
//! on the host.
//!
//! And each of their `# Errors`, as those of the library, says which and when.

mod attributes;
mod documents;
mod errors;
mod examples;
mod expand;
mod items;
mod place;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use items::Crate;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A crate's items, and those without an example.
fn looked_through(source: &Path) -> (usize, BTreeSet<String>) {
    let read = Crate::read(source);
    let without = examples::without_example(&read);
    let without = without.iter().map(|item| item.path.clone()).collect();
    (read.items.len(), without)
}

fn check(package: &str, folder: &str, at_least: usize) {
    let (count, without) = looked_through(&root().join(folder).join("src/lib.rs"));
    assert!(count >= at_least, "{package}: {count} public items");
    assert!(
        without.is_empty(),
        "{package}: {} of {count} public items are in no example that runs: {without:#?}",
        without.len()
    );
}

#[test]
fn every_public_item_of_the_driver_is_in_an_example() {
    check("ridgepoint-driver", "crates/driver", 100);
}

#[test]
fn every_public_item_of_ranks_is_in_an_example() {
    check("ridgepoint-ranks", "crates/ranks", 50);
}

#[test]
fn every_public_item_of_the_kernels_library_is_in_an_example() {
    check("ridgepoint-ptx-std", "crates/ptx-std", 300);
}

#[test]
fn the_errors_of_the_driver_and_the_library_have_names() {
    for (folder, at_least) in [
        ("crates/driver", 30),
        ("crates/harness", 70),
        ("crates/ranks", 15),
    ] {
        let read = Crate::read(&root().join(folder).join("src/lib.rs"));
        let (count, unnamed) = errors::unnamed(&read);
        assert!(count >= at_least, "{folder}: {count} sections");
        assert!(unnamed.is_empty(), "{folder}: {unnamed:#?}");
    }
}

#[test]
fn an_error_without_a_name_is_found() {
    let (count, unnamed) = errors::unnamed(&Crate::read(&root().join(PLANTED)));
    assert_eq!(unnamed, [": The driver's, or there is too little memory."]);
    assert_eq!(count, 2);
}

/// A crate of which each item is declared, named or hidden in another way.
const PLANTED: &str = "tests/house/examples_of_items/planted/lib.rs";

#[test]
fn an_item_without_an_example_is_named_whatever_declares_it() {
    let (count, without) = looked_through(&root().join(PLANTED));
    let expected = [
        "Elsewhere",
        "inner::Exported::unnamed",
        "inner::get_wide",
        "inner_late",
        "inner_late::unnamed_of_late",
        "unnamed",
        "Trait::unnamed",
        "shown_where_nobody_looks",
    ];
    assert_eq!(without, expected.map(str::to_owned).into());
    assert_eq!(count, 18);
}

#[test]
#[should_panic(expected = "0 public items")]
fn a_crate_without_items_fails() {
    check("empty", "tests/house/examples_of_items/planted/empty", 1);
}
