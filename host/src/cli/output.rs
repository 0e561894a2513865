//! Files that rows go to while a command measures.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::console::{Console, Target};
use super::{Failure, cannot_write, is_standard};
use crate::report::{Format, Report, Row, RunFacts};

/// The files that each row goes to.
pub(super) struct Outputs<'a, R: Row>(Vec<Output<'a, R>>);

struct Output<'a, R: Row> {
    path: &'a Path,
    report: Box<dyn Report<R>>,
}

impl<'a, R: Row> Outputs<'a, R> {
    /// Opens each file, in `format` or in the one that its ending asks for.
    pub(super) fn open(
        paths: &'a [PathBuf],
        format: Option<Format>,
        run: &RunFacts,
    ) -> Result<Self, Failure> {
        let open = |path: &'a PathBuf| {
            let format = format.unwrap_or_else(|| Format::of(path));
            let begin = || -> io::Result<Box<dyn Report<R>>> {
                if is_standard(path) {
                    format.begin(io::stdout(), run)
                } else {
                    format.begin(File::create(path)?, run)
                }
            };
            let report = begin().map_err(|error| cannot_write(path, &error))?;
            Ok(Output { path, report })
        };
        paths
            .iter()
            .map(open)
            .collect::<Result<_, _>>()
            .map(Outputs)
    }

    /// Adds a row to each, which hold `before` of them.
    pub(super) fn row(&mut self, record: &R, before: usize) -> Result<(), Failure> {
        for output in &mut self.0 {
            output.report.row(record).map_err(|error| {
                Failure::Failed(format!(
                    "cannot write row {} to {}: {error}; the {before} rows before it are in the file",
                    before + 1,
                    output.path.display()
                ))
            })?;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.0.iter_mut().try_for_each(|output| {
            output
                .report
                .finish()
                .map_err(|error| cannot_write(output.path, &error))
        })
    }

    /// Says which files there are.
    pub(super) fn announce(&self, rows: usize, console: &Console) {
        for output in self.0.iter().filter(|output| !is_standard(output.path)) {
            console.say(&format!("{rows} rows: {}", output.path.display()));
        }
    }
}

/// Where text for people goes: not between the rows.
pub(super) fn target(quiet: bool, outputs: &[PathBuf]) -> Target {
    if quiet {
        Target::Nothing
    } else if outputs.iter().any(|path| is_standard(path)) {
        Target::Stderr
    } else {
        Target::Stdout
    }
}

/// The flag that Ctrl-C sets: the sweep ends after the point that runs.
pub(super) fn watch_for_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            // A second Ctrl-C does not wait for the point.
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::Failed(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(interrupted)
}
