//! `--coverage` and `--fail-under`: what launches have executed of their kernels' source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use tempfile::TempDir;

use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::option_values::real;
use super::{Failure, cannot_write};
use crate::coverage::{Format, Report, Share};
use crate::driver::{coverage, printable};

/// Names in a list before it is cut off.
const MAX_NAMES: usize = 4;

#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Write which lines, branches and functions of the kernels were executed: .info for lcov, .xml for Cobertura,
    /// .html for an annotated page, .json by kernel; a list writes several
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_parser = file)]
    coverage: Vec<PathBuf>,

    /// Exit with status 1 if fewer lines of the kernels than this percentage were executed
    #[arg(long, value_name = "PERCENT", requires = "coverage", value_parser = percentage())]
    fail_under: Option<f64>,
}

fn file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Format::of(&path) {
        Some(_) => Ok(path),
        None => Err("expected a file that ends with .info, .xml, .html or .json".to_owned()),
    }
}

fn percentage() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    let expected = "a percentage from 0 to 100, such as 80";
    real(expected, |it| (0.0..=100.0).contains(&it))
}

impl Arguments {
    /// Opens the files, where there are any.
    pub(super) fn open(&self) -> Result<Option<Covering>, Failure> {
        if self.coverage.is_empty() {
            return Ok(None);
        }
        Files::default()
            .outputs("--coverage", &self.coverage)
            .check()?;
        let open = |path: &PathBuf| {
            let format = Format::of(path).expect("as the option's value was parsed");
            let destination = Destination::open(path, Unfinished::IsNothing)?;
            Ok((format, destination))
        };
        Ok(Some(Covering {
            outputs: self.coverage.iter().map(open).collect::<Result<_, _>>()?,
            fail_under: self.fail_under,
            folder: tempfile::tempdir().map_err(Failure::failed)?,
        }))
    }
}

/// The coverage of processes that are yet to run.
pub(super) struct Covering {
    outputs: Vec<(Format, Destination)>,
    fail_under: Option<f64>,
    /// Where each process leaves its own.
    folder: TempDir,
}

impl Covering {
    /// Lets a program and all that it starts keep their coverage.
    pub(super) fn watch(&self, program: &mut Command) {
        program.env(coverage::FOLDER, self.folder.path());
    }

    /// Keeps that of this process, before it loads a kernel.
    pub(super) fn watch_own(&self) -> Result<(), Failure> {
        coverage::keep_in(self.folder.path()).map_err(Failure::failed)
    }

    /// Writes the files, says through `say` how much was executed, and fails where that is too little.
    pub(super) fn finish(self, say: impl FnOnce(&str)) -> Result<(), Failure> {
        coverage::write().map_err(Failure::failed)?;
        let report = Report::read(self.folder.path()).map_err(Failure::failed)?;
        if report.launches() == 0 {
            return Err(Failure::Failed(
                "no coverage: no kernel was launched as PTX on the emulator".to_owned(),
            ));
        }
        if report.totals().lines.all == 0 {
            return Err(Failure::Failed(
                "no coverage: all lines of the kernels that were launched are a library's"
                    .to_owned(),
            ));
        }
        let mut written = Vec::new();
        for (format, destination) in self.outputs {
            let path = destination.path().to_owned();
            write(&report, format, destination)?;
            written.push(path.display().to_string());
        }
        say(&summary(&report, &written));
        match self.fail_under {
            Some(least) => expect(&report, least),
            None => Ok(()),
        }
    }
}

/// Writes a report, and beside it the PTX that it refers to.
fn write(report: &Report, format: Format, destination: Destination) -> Result<(), Failure> {
    let folder = destination.path().parent().unwrap_or(Path::new(""));
    for (name, text) in report.beside(format) {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| cannot_write(&path, &error))?;
    }
    let text = report.text(format, folder);
    destination.write_whole(|file| file.write_all(text.as_bytes()))
}

fn summary(report: &Report, written: &[String]) -> String {
    let totals = report.totals();
    let of = |what: &str, share: Share| {
        let (covered, all) = (share.covered, share.all);
        format!("\n  {what:<9} {:>5} % ({covered} of {all})", share.text())
    };
    let mut text = format!("Coverage: {}", written.join(", "));
    text += &of("lines", totals.lines);
    text += &of("branches", totals.branches);
    text += &of("functions", totals.functions);
    let idle = report.not_launched();
    if !idle.is_empty() {
        text += &format!("\n  not launched: {}", list(&idle));
    }
    text
}

fn expect(report: &Report, least: f64) -> Result<(), Failure> {
    let lines = report.totals().lines;
    if lines.percent() >= least {
        return Ok(());
    }
    let missing = report.missing(usize::MAX);
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    Err(Failure::Found(format!(
        "{} % of the lines of kernels were executed ({} of {}), and --fail-under asks for {least} %; not executed: {}",
        lines.text(),
        lines.covered,
        lines.all,
        list(&missing)
    )))
}

fn list(names: &[&str]) -> String {
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    let shown = printable(&shown);
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown.into_owned(),
        more => format!("{shown} and {more} more"),
    }
}
