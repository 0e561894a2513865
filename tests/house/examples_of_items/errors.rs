//! `# Errors` of documentation: which, and when.

use super::items::Crate;

/// The names of errors: a variant or a function by a link, or words where it is text or the system's.
const NAMES: [&str; 4] = ["[`", "In words", "The system's error", "the system's error"];

/// How many sections there are, and those that name no error.
pub(crate) fn unnamed(read: &Crate) -> (usize, Vec<String>) {
    let texts = read.documents.iter().map(|(module, text)| (module, text));
    let sections = texts.filter_map(|(module, text)| {
        let (_, section) = text.split_once("# Errors")?;
        let section = section.split("\n # ").next()?.trim();
        Some(format!("{}: {section}", module.join("::")))
    });
    let sections: Vec<String> = sections.collect();
    let names_one = |section: &String| NAMES.iter().any(|name| section.contains(name));
    let count = sections.len();
    let unnamed = sections.into_iter().filter(|it| !names_one(it));
    (count, unnamed.collect())
}
