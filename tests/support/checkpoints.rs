//! Checkpoints that a power iteration left in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use ridgepoint::study::Checkpoint;

/// The newest checkpoint, after every file with a name was found whole.
pub(crate) fn newest(folder: &Path) -> Option<Checkpoint> {
    for path in files(folder) {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let is_finished = name.starts_with("step-");
        assert!(is_finished || name.starts_with(".unfinished-"), "{name}");
        assert!(
            !is_finished || Checkpoint::read(&path).is_some(),
            "{name} is not whole"
        );
    }
    Checkpoint::newest(folder).expect("readable")
}

/// Its files.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}
