//! Coverage for people and for other tools: lcov, Cobertura, JSON, and an annotated page.
//!
//! [`Coverage`] is what the emulator has executed, by kernel. A [`Report`] adds it up by file and knows the sources' names and
//! texts; each format is a function of it.

mod cobertura;
mod json;
mod lcov;
mod page;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use crate::driver::coverage::{Branch, Coverage, File, PTX};

/// A format of files of coverage, by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.info`: the tracefiles of lcov.
    Lcov,
    /// `.xml`: Cobertura's reports.
    Cobertura,
    /// `.html`: the annotated source, which asks for no other file.
    Page,
    /// `.json`: by kernel.
    Json,
}

impl Format {
    /// The format of a file of this name.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "info" => Some(Format::Lcov),
            "xml" => Some(Format::Cobertura),
            "html" => Some(Format::Page),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// How many there are of something, and how many of them were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that were executed.
    pub covered: u64,
    /// All.
    pub all: u64,
}

/// The lines, branches and functions of a file, a kernel or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Lines with instructions.
    pub lines: Share,
    /// Outcomes of branches: two of most.
    pub branches: Share,
    /// Kernels and functions.
    pub functions: Share,
}

/// Coverage, with what is known of its files.
#[derive(Clone, Debug)]
pub struct Report {
    coverage: Coverage,
    /// Each file by its name, with all that kernels have executed of it.
    files: BTreeMap<String, File>,
    /// The texts of PTX that names no source, by their names.
    texts: BTreeMap<String, String>,
}

impl Report {
    /// The sums of the files that processes have left in a folder.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read, or is no record of coverage: the system's
    /// [`io::Error`].
    pub fn read(folder: &Path) -> io::Result<Report> {
        let coverage = Coverage::all_in(folder)?;
        let files = coverage.files().into_iter();
        let files: BTreeMap<String, File> =
            files.map(|(name, file)| (name.to_owned(), file)).collect();
        let mut texts = BTreeMap::new();
        for name in files.keys().filter(|name| name.ends_with(PTX)) {
            // Another `.ptx` is a source that names itself so, and is where it says.
            match fs::read_to_string(folder.join(name)) {
                Ok(text) => texts.insert(name.clone(), text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
        }
        Ok(Report {
            coverage,
            files,
            texts,
        })
    }

    /// Launches of all kernels.
    pub fn launches(&self) -> u64 {
        self.coverage.kernels.values().map(|it| it.launches).sum()
    }

    /// The kernels that were loaded and never launched.
    pub fn not_launched(&self) -> Vec<&str> {
        let kernels = self.coverage.kernels.iter();
        let idle = kernels.filter(|(_, kernel)| kernel.launches == 0);
        idle.map(|(name, _)| name.as_str()).collect()
    }

    /// All files together.
    pub fn totals(&self) -> Totals {
        self.files.values().map(Totals::of).sum()
    }

    /// The first lines that were not executed, as `FILE:LINE`, at most so many.
    pub fn missing(&self, most: usize) -> Vec<String> {
        let lines = self.files.iter().flat_map(|(name, file)| {
            let missed = file.lines.iter().filter(|(_, times)| **times == 0);
            missed.map(move |(line, _)| format!("{name}:{line}"))
        });
        lines.take(most).collect()
    }

    /// The report in a format, as a file in this folder.
    pub fn text(&self, format: Format, folder: &Path) -> String {
        match format {
            Format::Lcov => lcov::text(self, folder),
            Format::Cobertura => cobertura::text(self, folder),
            Format::Page => page::text(self),
            Format::Json => json::text(self),
        }
    }

    /// The files of PTX that a report in this format refers to, which belong beside it: names and texts.
    pub fn beside(&self, format: Format) -> impl Iterator<Item = (&str, &str)> {
        let refers = matches!(format, Format::Lcov | Format::Cobertura);
        let texts = self.texts.iter().filter(move |_| refers);
        texts.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The path of a file for other tools, which look for it from the folder that they are started in: this one.
    fn path(&self, name: &str, folder: &Path) -> PathBuf {
        if self.texts.contains_key(name) {
            return folder.join(name);
        }
        let here = Path::new(name);
        if here.is_absolute() || here.exists() {
            return here.to_owned();
        }
        // Places within a workspace are told from its root.
        let current = env::current_dir().unwrap_or_default();
        let above = current.ancestors().skip(1).map(|it| it.join(name));
        let found = above.into_iter().find(|path| path.exists());
        found.unwrap_or_else(|| here.to_owned())
    }
}

impl Share {
    fn of(covered: impl IntoIterator<Item = bool>) -> Share {
        let mut share = Share::default();
        for is_covered in covered {
            share.all += 1;
            share.covered += u64::from(is_covered);
        }
        share
    }

    /// In percent; of nothing 100.
    pub fn percent(&self) -> f64 {
        100.0 * self.rate()
    }

    /// In percent, cut after a digit: 100.0 means all.
    pub fn text(&self) -> String {
        format!("{:.1}", (10.0 * self.percent()).floor() / 10.0)
    }

    /// From 0 to 1; of nothing 1.
    fn rate(&self) -> f64 {
        match self.all {
            0 => 1.0,
            all => self.covered as f64 / all as f64,
        }
    }
}

impl Totals {
    fn of(file: &File) -> Totals {
        let outcomes = file.branches.values().flat_map(|it| &it.outcomes);
        Totals {
            lines: Share::of(file.lines.values().map(|&times| times > 0)),
            branches: Share::of(outcomes.map(|&lanes| lanes > 0)),
            functions: Share::of(file.functions.values().map(|it| it.threads > 0)),
        }
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Share) {
        self.covered += other.covered;
        self.all += other.all;
    }
}

impl std::iter::Sum for Totals {
    fn sum<I: Iterator<Item = Totals>>(all: I) -> Totals {
        all.fold(Totals::default(), |mut sum, it| {
            sum.lines += it.lines;
            sum.branches += it.branches;
            sum.functions += it.functions;
            sum
        })
    }
}

/// The branches of a file by line.
fn by_line(file: &File) -> BTreeMap<u32, Vec<&Branch>> {
    let mut lines: BTreeMap<u32, Vec<&Branch>> = BTreeMap::new();
    for (id, branch) in &file.branches {
        lines.entry(id.line).or_default().push(branch);
    }
    lines
}

#[cfg(test)]
mod tests;
