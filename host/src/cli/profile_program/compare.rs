//! `ridgepoint compare` of two analyses that `profile --json` has written.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;

use super::super::{Failure, row_format};
use crate::program::{Analysis, Verdict, compare, comparison_text};
use crate::table::listed;

/// The analyses of two programs.
pub(in crate::cli) struct Programs {
    before: Analysis,
    after: Analysis,
}

/// The part of a JSON file of `profile` that is read.
#[derive(Deserialize)]
struct Saved {
    program: Analysis,
}

impl Programs {
    /// Reads two files; `None` where they are no analyses: they may be rows.
    pub(in crate::cli) fn read(before: &Path, after: &Path) -> Option<Programs> {
        let read = |path: &Path| {
            let file = path.is_file().then(|| File::open(path).ok())??;
            let saved: Saved = serde_json::from_reader(BufReader::new(file)).ok()?;
            Some(saved.program)
        };
        Some(Programs {
            before: read(before)?,
            after: read(after)?,
        })
    }

    /// Shows both, and fails where idle time, waits or copies have grown by more than so many percent.
    pub(in crate::cli) fn compare(
        &self,
        tolerance: f64,
        printed: &row_format::Arguments,
    ) -> Result<(), Failure> {
        let figures =
            compare(&self.before, &self.after, tolerance / 100.0).map_err(Failure::failed)?;
        let text = |width| comparison_text(&figures, width);
        printed.show(&figures, &printed.console(0), text)?;
        let grown = figures
            .iter()
            .filter(|it| it.verdict == Some(Verdict::More));
        let grown: Vec<&str> = grown.map(|it| it.figure).collect();
        match grown.is_empty() {
            true => Ok(()),
            false => Err(Failure::Found(format!(
                "more by over {tolerance} %: {}",
                listed(&grown)
            ))),
        }
    }
}
