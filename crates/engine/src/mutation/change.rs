//! A change, and the process that makes it.

use std::env;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use crate::digest;

/// The environment variable that names the file with the change to make.
pub const FILE: &str = "RIDGEPOINT_MUTANT";

/// The ending of the mark that a change was made.
const MARK: &str = "made";

/// A replacement of a part of a module's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The digest of the module's text.
    pub module: u64,
    /// The bytes of the text that go.
    pub span: Range<u32>,
    /// The text that comes, in one line.
    pub text: String,
}

/// A text that is no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the digest of a module, the first byte and the end of what is replaced, and the text that replaces it"
)]
pub struct NoChange;

impl Change {
    /// The text with the change; none where it is another module's.
    #[must_use]
    pub fn make(&self, text: &str) -> Option<String> {
        let (start, end) = (self.span.start as usize, self.span.end as usize);
        if digest::of(text.bytes()) != self.module || end < start {
            return None;
        }
        let (before, behind) = (text.get(..start)?, text.get(end..)?);
        Some(format!("{before}{}{behind}", self.text))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.span;
        write!(
            formatter,
            "{:016x} {start} {end} {}",
            self.module, self.text
        )
    }
}

impl FromStr for Change {
    type Err = NoChange;

    fn from_str(text: &str) -> Result<Change, NoChange> {
        let mut words = text.splitn(4, ' ');
        let mut word = || words.next().ok_or(NoChange);
        let module = u64::from_str_radix(word()?, 16).map_err(|_| NoChange)?;
        let start = word()?.parse().map_err(|_| NoChange)?;
        let end = word()?.parse().map_err(|_| NoChange)?;
        Ok(Change {
            module,
            span: start..end,
            text: word()?.to_owned(),
        })
    }
}

/// Whether a process has made the change that is in this file, and could read the module then.
#[must_use]
pub fn has_been_made(file: &Path) -> bool {
    mark(file).exists()
}

fn mark(file: &Path) -> PathBuf {
    file.with_extension(MARK)
}

/// The text of a module with the change that this process is asked to make.
pub(crate) struct Changed {
    pub(crate) text: String,
    mark: PathBuf,
}

impl Changed {
    /// Leaves the mark: the module is one that can be loaded.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn has_been_read(&self) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", self.mark.display());
        fs::write(&self.mark, "").map_err(failed)
    }
}

/// The module's text with the change that this process is asked to make, if it is one of this module.
///
/// # Errors
/// It is asked to, and no change can be read.
pub(crate) fn changed(text: &str) -> Result<Option<Changed>, String> {
    static ASKED: OnceLock<Option<Result<(PathBuf, Change), String>>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| {
        let file = PathBuf::from(env::var_os(FILE)?);
        Some(read(&file).map(|change| (mark(&file), change)))
    });
    let Some(asked) = asked else {
        return Ok(None);
    };
    let (mark, change) = asked.as_ref().map_err(String::clone)?;
    let changed = |text| Changed {
        text,
        mark: mark.clone(),
    };
    Ok(change.make(text).map(changed))
}

fn read(file: &Path) -> Result<Change, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    text.and_then(|text| text.parse().map_err(|error: NoChange| error.to_string()))
        .map_err(|error| format!("{FILE}={}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_of_its_text_alone_and_is_read_as_it_was_written() {
        let text = "a + b; c";
        let change = Change {
            module: digest::of(text.bytes()),
            span: 2..3,
            text: "- 0f3F800000,".to_owned(),
        };
        assert_eq!(change.to_string().parse(), Ok(change.clone()));
        assert_eq!(change.make(text).as_deref(), Some("a - 0f3F800000, b; c"));
        assert_eq!(change.make("a + b; d"), None);
        let beyond = |span| {
            Change {
                span,
                ..change.clone()
            }
            .make(text)
        };
        assert_eq!(beyond(8..9), None);
        assert_eq!(beyond(Range { start: 3, end: 2 }), None);
        for wrong in ["", "0", "x 1 2 a", "0 a 2 b", "0 1 b"] {
            assert_eq!(wrong.parse::<Change>(), Err(NoChange), "{wrong}");
        }
    }
}
