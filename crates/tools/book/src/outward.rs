//! Links from pages to what mdBook puts elsewhere: files of the tree that are not in the site, and each `README.md`.

use std::path::{Component, Path, PathBuf};

use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::errors::{Error, Result};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

/// Leads links to files outside of the book's folder to the repository, where these files are, and those to a
/// `README.md` to the `index.html` that mdBook makes of it.
pub(crate) struct Outward;

impl Preprocessor for Outward {
    fn name(&self) -> &str {
        "outward"
    }

    fn run(&self, context: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let key = "output.html.git-repository-url";
        let repository = context.config.get::<String>(key)?;
        let repository = repository.ok_or_else(|| Error::msg(format!("book.toml lacks {key}")))?;
        let source = context.config.book.src.clone();
        book.for_each_chapter_mut(|chapter| {
            // Where it was written; a README.md has been renamed by now.
            let Some(path) = &chapter.source_path else {
                return;
            };
            let folder = source.join(path.parent().unwrap_or(Path::new("")));
            chapter.content = with_targets(&chapter.content, |target| {
                let file = lexical(&folder.join(target))?;
                if !context.root.join(&file).exists() {
                    return None;
                }
                match file.starts_with(&source) {
                    true => Some(format!("{}index.html", target.strip_suffix("README.md")?)),
                    false => Some(format!("{repository}/blob/main/{}", file.display())),
                }
            });
        });
        Ok(book)
    }
}

/// A page in which some targets of links are replaced. Blocks of code have none.
fn with_targets(page: &str, replaced: impl Fn(&str) -> Option<String>) -> String {
    let mut is_code = false;
    let mut changed = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence {
            changed.push_str(line);
            continue;
        }
        let mut parts = line.split("](");
        changed.push_str(parts.next().unwrap_or_default());
        for part in parts {
            changed.push_str("](");
            let target = part.split(')').next().unwrap_or_default();
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            match replaced(file).filter(|_| !file.is_empty()) {
                Some(address) if heading.is_empty() => changed.push_str(&address),
                Some(address) => changed.push_str(&format!("{address}#{heading}")),
                None => changed.push_str(target),
            }
            changed.push_str(&part[target.len()..]);
        }
    }
    changed
}

/// A path without `.` and `..`, as far as these lead nowhere above its first folder.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir if plain.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_replaced_and_code_is_not() {
        let page = "[a](../x.rs#L3), [b](y.md#z) ![c](d.png\n```rust\n[e](../x.rs)\n```\n[f](#g)\n";
        let outside = |target: &str| target.strip_prefix("../").map(|it| format!("far/{it}"));
        let expected = page.replacen("../x.rs", "far/x.rs", 1);
        assert_eq!(with_targets(page, outside), expected);
    }

    #[test]
    fn a_path_is_made_plain_or_leads_above_the_tree() {
        let plain = |path: &str| lexical(Path::new(path));
        assert_eq!(plain("docs/results/../../a"), Some(PathBuf::from("a")));
        assert_eq!(plain("docs/../../a"), None);
    }
}
