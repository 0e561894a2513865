//! The readers of saved rows: CSV and JSON, compared and merged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use ridgepoint_harness::compare::{Lacking, Merge, MergeOutput, Table};
use ridgepoint_harness::table::Format;

use super::Target;
use super::texts::mutant;

/// Rows as they were saved.
const OWN: [(&str, &[u8]); 3] = [
    ("csv", include_bytes!("../../corpus/roofline.csv")),
    ("csv", include_bytes!("../../corpus/study.csv")),
    ("json", include_bytes!("../../corpus/roofline.json")),
];

/// Mutants of rows.
#[derive(Debug)]
pub(super) struct Rows {
    files: Vec<(&'static str, Vec<u8>)>,
    folder: tempfile::TempDir,
}

impl Rows {
    pub(super) fn new(corpus: &[String]) -> io::Result<Rows> {
        let mut files: Vec<_> = OWN
            .iter()
            .map(|(format, bytes)| (*format, bytes.to_vec()))
            .collect();
        for path in corpus {
            for entry in fs::read_dir(path)? {
                let path = entry?.path();
                let extension = path
                    .extension()
                    .and_then(|it| it.to_str())
                    .unwrap_or_default();
                if let Some(format) = ["csv", "json"].into_iter().find(|it| *it == extension) {
                    files.push((format, fs::read(path)?));
                }
            }
        }
        let folder = tempfile::tempdir()?;
        Ok(Rows { files, folder })
    }
}

impl Target for Rows {
    fn run(&mut self, seed: u64) -> io::Result<&'static str> {
        let mut random = Rng::with_seed(seed);
        let (format, bytes) = &self.files[random.usize(..self.files.len())];
        let path = self.folder.path().join(format!("rows.{format}"));
        fs::write(&path, mutant(bytes, &mut random))?;
        let unchanged = self.folder.path().join(format!("unchanged.{format}"));
        fs::write(&unchanged, bytes)?;
        let is_table = Table::read(&path).is_ok();
        let is_merged = merged(&[path.clone(), unchanged.clone()]) | merged(&[path]);
        Ok(match (is_table, is_merged) {
            (true, _) => "read as rows",
            (false, true) => "merged, and not compared",
            (false, false) => "refused",
        })
    }
}

/// Merges files, into every format. Gives whether they could be.
fn merged(inputs: &[PathBuf]) -> bool {
    let mut texts = [Vec::new(), Vec::new()];
    let Ok(merge) = Merge::open(inputs, Lacking::Any) else {
        return false;
    };
    let outputs = texts
        .iter_mut()
        .zip(["x.csv", "x.json"])
        .filter_map(|(text, name)| {
            let path = Path::new(name);
            Some(MergeOutput {
                path: path.to_owned(),
                format: Format::of(path)?,
                writer: Box::new(text),
            })
        });
    let outputs = outputs.collect();
    merge.write(outputs).is_ok()
}
