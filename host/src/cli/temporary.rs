//! Folders that go with a command, however it ends.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use tempfile::TempDir;

/// How the name of each begins.
const PREFIX: &str = "ridgepoint-";

/// The file in each that is locked as long as its command runs, or a program that it has started. It has the boot in which it was
/// locked: other machines that share the folder do not see the lock.
const LOCK: &str = "in-use";

/// A name that no other machine and no other boot has.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A folder that is removed with this value; where the command is killed, by the next one.
pub(super) struct Temporary {
    folder: TempDir,
    _lock: File,
}

impl Temporary {
    /// Makes one where the system keeps temporary files, and removes those of commands that were killed.
    ///
    /// # Errors
    /// The file system does not take it.
    pub(super) fn new() -> io::Result<Temporary> {
        let place = env::temp_dir();
        let made = Temporary::within(&place)?;
        remove_unused(&place, made.path().metadata()?.uid());
        Ok(made)
    }

    fn within(place: &Path) -> io::Result<Temporary> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // It has its name once it is locked: one that is not locked is nobody's. Where nothing can be locked, nobody removes it.
        let unnamed = folder.path().join("locked");
        fs::write(&unnamed, boot())?;
        let lock = File::open(&unnamed)?;
        // Programs inherit it.
        fcntl(&lock, FcntlArg::F_SETFD(FdFlag::empty()))?;
        if lock.lock().is_ok() {
            fs::rename(unnamed, folder.path().join(LOCK))?;
        }
        Ok(Temporary {
            folder,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn boot() -> Vec<u8> {
    fs::read(BOOT).unwrap_or_default()
}

/// Removes a user's folders in which no command runs. What cannot be removed stays.
fn remove_unused(place: &Path, user: u32) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries {
        let is_own = |it: fs::Metadata| it.is_dir() && it.uid() == user;
        // Of the entry itself, and not of what a link points to.
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
            && entry.metadata().is_ok_and(is_own)
            && fs::read(entry.path().join(LOCK)).is_ok_and(|it| it == boot())
            && File::open(entry.path().join(LOCK)).is_ok_and(|it| it.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_commands_are_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let place = place.path();
        let used = Temporary::within(place).expect("a folder");
        let Temporary { folder, _lock } = Temporary::within(place).expect("a folder");
        let killed = folder.keep();
        let elsewhere = Temporary::within(place).expect("a folder").folder.keep();
        fs::write(elsewhere.join(LOCK), "another boot").expect("written");
        drop(_lock);
        // Not of this command's making.
        let others = place.join("ridgepoint-notes");
        fs::create_dir(&others).expect("a folder");
        let user = place.metadata().expect("it is there").uid();
        remove_unused(place, user + 1);
        assert!(killed.exists());
        remove_unused(place, user);
        assert!(used.path().join(LOCK).exists() && others.exists() && elsewhere.exists());
        assert!(!killed.exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
