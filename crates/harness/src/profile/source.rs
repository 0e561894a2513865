//! The text of source files, as far as they are on this machine.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use crate::driver::read_whole;

/// The most bytes of a file of source: larger ones are shown without their lines.
const MAX_BYTES: u64 = 64 << 20;

/// Files by the names that places give them, each read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Context(BTreeMap<String, Option<Vec<String>>>);

impl Context {
    /// With a file of PTX, whose text is known.
    pub(crate) fn new(ptx_file: &str, ptx: Option<&str>) -> Context {
        let text = ptx.map(|text| text.lines().map(str::to_owned).collect());
        Context(BTreeMap::from([(ptx_file.to_owned(), text)]))
    }

    /// Adds a file whose text is known.
    pub(crate) fn insert(&mut self, file: &str, text: &str) {
        let lines = text.lines().map(str::to_owned).collect();
        self.0.insert(file.to_owned(), Some(lines));
    }

    /// A line of a file, from 1, without what stands before and behind it.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.0.entry(file.to_owned());
        let lines = lines.or_insert_with(|| read(file)).as_ref()?;
        let text = lines.get((line as usize).checked_sub(1)?)?;
        Some(text.trim().to_owned())
    }

    /// The lines of a file, as they are in it; none where it is not on this machine.
    pub(crate) fn lines(&mut self, file: &str) -> Option<&[String]> {
        let lines = self.0.entry(file.to_owned());
        lines.or_insert_with(|| read(file)).as_deref()
    }

    /// A line as it is in the file; none where [`Context::line`] has not read it.
    pub(crate) fn whole(&self, file: &str, line: u32) -> Option<&str> {
        let lines = self.0.get(file)?.as_ref()?;
        lines
            .get((line as usize).checked_sub(1)?)
            .map(String::as_str)
    }
}

fn read(file: &str) -> Option<Vec<String>> {
    let text = candidates(file).find_map(|path| read_whole(&path, MAX_BYTES).ok())?;
    let text = String::from_utf8_lossy(&text);
    Some(text.lines().map(str::to_owned).collect())
}

/// Where a file may be: places within a workspace are told from its root.
fn candidates(file: &str) -> impl Iterator<Item = PathBuf> {
    let here = env::current_dir().unwrap_or_default();
    let file = Path::new(file).to_owned();
    let folders: Vec<PathBuf> = here.ancestors().map(|folder| folder.join(&file)).collect();
    folders.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_from_any_folder_of_the_workspace() {
        let mut context = Context::new("a.ptx", Some("first\n  second;\n"));
        assert_eq!(context.line("a.ptx", 2), Some("second;".to_owned()));
        assert_eq!(context.whole("a.ptx", 2), Some("  second;"));
        assert_eq!(context.line("a.ptx", 0), None);
        assert_eq!(context.line("a.ptx", 3), None);
        let own = context.line("rust-toolchain.toml", 2);
        assert_eq!(own.as_deref(), Some("[toolchain]"));
        assert_eq!(context.line("no/such.rs", 1), None);
    }
}
