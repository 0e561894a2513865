//! The lock of a folder of checkpoints: one folder, one run.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::StudyError;

/// A folder that this run alone writes to, until this is dropped or the process ends.
pub(super) struct FolderLock {
    /// The folder itself: nothing remains in it.
    _folder: File,
}

impl FolderLock {
    /// Locks a folder. On a file system without locks it goes without.
    ///
    /// # Errors
    /// [`StudyError::InUse`]: another run has it; [`StudyError::Io`]: it cannot be opened.
    pub(super) fn of(folder: &Path) -> Result<FolderLock, StudyError> {
        let failed = super::named("open the folder", folder);
        let file = File::open(folder).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(StudyError::InUse {
                folder: folder.to_path_buf(),
                process: holder(&file),
            }),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(FolderLock { _folder: file }),
        }
    }
}

/// Returns the process that has locked a file, where the system says so.
fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (process, place) = (words.get(4)?, words.get(5)?);
        let is_it = place.rsplit(':').next() == Some(inode.to_string().as_str());
        process.parse().ok().filter(|&it| is_it && it > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_of_one_run_until_that_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = FolderLock::of(folder.path()).expect("free");
        let Err(StudyError::InUse { process, .. }) = FolderLock::of(folder.path()) else {
            panic!("two runs in one folder");
        };
        assert!(process.is_none_or(|it| it == std::process::id()));
        drop(first);
        assert!(FolderLock::of(folder.path()).is_ok());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
