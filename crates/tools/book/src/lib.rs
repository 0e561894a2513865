//! Ridgepoint's site: `docs/` as a book, made by mdBook, and what is wrong with it.
//!
//! `cargo run --package ridgepoint-book` writes `target/book`. `mdbook build` makes the same pages, but links to files
//! outside of `docs/` lead nowhere there, and faults pass.

mod outward;
mod site;

use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;

pub use site::{Faults, faults};

use crate::outward::Outward;

/// Writes the site of a tree to a folder, and returns what is wrong with it.
///
/// # Errors
/// The reason why there is no site: no `book.toml`, a `SUMMARY.md` that lists a page that does not exist, a folder that
/// cannot be written.
pub fn build(tree: &Path, to: &Path) -> Result<Faults, String> {
    let explained = |error| format!("the book of {}: {error:#}", tree.display());
    let mut book = MDBook::load(tree).map_err(explained)?;
    book.config.build.build_dir = PathBuf::from(to);
    book.with_preprocessor(Outward);
    book.build().map_err(explained)?;
    faults(&book.source_dir(), to).map_err(|error| format!("{}: {error}", to.display()))
}
