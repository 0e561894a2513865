//! Where an output goes.
//!
//! A file is written beside its place, as `NAME.partial`, and takes its name when it is whole: until
//! then an earlier one is as it was, also where the process is killed. The unfinished file is locked,
//! so that no two processes write one output. All unfinished files of the process are known here, for an end that no command
//! comes back from.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError as Held};
use std::thread;
use std::time::{Duration, Instant};

use super::streams::{Stdout, complain};
use super::{Failure, cannot_write};
use crate::driver::open_regular;

/// The ending of names of unfinished files.
pub(super) const UNFINISHED: &str = ".partial";

/// Names of standard output.
const STANDARD: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Whether the name is one of standard output's.
pub(super) fn is_standard(path: &Path) -> bool {
    STANDARD.iter().any(|name| path == Path::new(name))
}

/// The value of an unfinished file of this output to the process that could not finish it.
///
/// One that a killed process left is moved aside in any case: it may be another command's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// It has rows that took time to measure, and stays.
    HasRows,
    /// Nothing: it is removed.
    IsNothing,
}

/// An output that was opened before anything is measured, so that a name that cannot be written shows.
pub(super) struct Destination {
    /// As it was typed.
    path: PathBuf,
    place: Place,
}

enum Place {
    Standard,
    /// A device or a pipe, which is written as it is.
    Stream(File),
    Beside(Beside),
}

/// A file that is not in its place yet.
struct Beside {
    file: File,
    unplaced: Unplaced,
}

/// Where that file is, and where it belongs.
#[derive(Clone, PartialEq, Eq)]
struct Unplaced {
    partial: PathBuf,
    target: PathBuf,
    worth: Unfinished,
    /// Device and inode.
    identity: (u64, u64),
}

/// All unfinished files of this process. Who holds it may write to one.
static UNPLACED: Mutex<Vec<Unplaced>> = Mutex::new(Vec::new());

fn unplaced() -> MutexGuard<'static, Vec<Unplaced>> {
    UNPLACED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Brings unfinished files that have rows to their place, and removes the others. No file is written to afterwards: only for
/// the end of the process.
pub(super) fn settle() {
    /// A disk that does not answer keeps nobody.
    const PATIENCE: Duration = Duration::from_millis(100);
    let until = Instant::now() + PATIENCE;
    let files = loop {
        match UNPLACED.try_lock() {
            Ok(files) => break files,
            Err(Held::Poisoned(files)) => break files.into_inner(),
            Err(Held::WouldBlock) if Instant::now() > until => return,
            Err(Held::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    };
    for file in files.iter() {
        // There is nobody left to tell.
        let _ = file.settle();
    }
    // A thread that waits for it writes no further row.
    std::mem::forget(files);
}

impl Unplaced {
    fn settle(&self) -> io::Result<()> {
        let there = fs::symlink_metadata(&self.partial)?;
        if (there.dev(), there.ino()) != self.identity {
            return Ok(());
        }
        match self.worth == Unfinished::HasRows && there.len() > 0 {
            true => fs::rename(&self.partial, &self.target),
            false => fs::remove_file(&self.partial),
        }
    }
}

impl Destination {
    pub(super) fn open(path: &Path, worth: Unfinished) -> Result<Destination, Failure> {
        let place = match is_standard(path) {
            true => Ok(Place::Standard),
            false => Place::open(path, worth),
        };
        Ok(Destination {
            path: path.to_path_buf(),
            place: place.map_err(|error| cannot_write(path, &error))?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_standard(&self) -> bool {
        matches!(self.place, Place::Standard)
    }

    /// The file that is written until this one is finished, if that is another.
    pub(super) fn partial(&self) -> Option<&Path> {
        match &self.place {
            Place::Beside(beside) => Some(&beside.unplaced.partial),
            _ => None,
        }
    }

    /// Writes bytes from `start` of a file on, and on a stream after all others, in one piece.
    pub(super) fn write_from(&mut self, start: u64, bytes: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::Standard => Stdout.write_all(bytes),
            Place::Stream(file) => file.write_all(bytes),
            Place::Beside(Beside { file, .. }) => {
                // A row is in a file that is settled, or it is not.
                let _files = unplaced();
                file.seek(SeekFrom::Start(start))?;
                file.write_all(bytes)
            }
        }
    }

    /// Cuts a file off. What a stream was given cannot be taken back.
    pub(super) fn cut(&mut self, length: u64) -> io::Result<()> {
        match &self.place {
            Place::Beside(Beside { file, .. }) => file.set_len(length),
            _ => Ok(()),
        }
    }

    /// Brings the file to its place.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Place::Beside(beside) = &self.place else {
            return Ok(());
        };
        let mut files = unplaced();
        fs::rename(&beside.unplaced.partial, &beside.unplaced.target)
            .map_err(|error| cannot_write(&self.path, &error))?;
        files.retain(|file| *file != beside.unplaced);
        Ok(())
    }

    /// Writes all of it, and brings it to its place.
    pub(super) fn write_whole(
        mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut output = io::BufWriter::new(&mut self);
        let written = write(&mut output).and_then(|()| output.flush());
        drop(output);
        written.map_err(|error| match self.place {
            Place::Standard => Failure::NoOutput,
            _ => cannot_write(&self.path, &error),
        })?;
        self.finish()
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Standard => Stdout.write(bytes),
            Place::Stream(file) | Place::Beside(Beside { file, .. }) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Place {
    fn open(path: &Path, worth: Unfinished) -> io::Result<Place> {
        let target = match path.is_symlink() {
            true => followed(path),
            false => path.to_path_buf(),
        };
        let earlier = match fs::metadata(&target) {
            Ok(earlier) => Some(earlier),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if earlier.is_some() {
            // It must be possible to write what is to be replaced.
            let file = File::options().append(true).open(path)?;
            if !file.metadata()?.is_file() || target.starts_with("/proc") {
                return Ok(Place::Stream(file));
            }
        }
        let partial = with_ending(&target, UNFINISHED);
        let file = open_locked(&partial)?;
        let there = file.metadata()?;
        let unplaced_file = Unplaced {
            partial,
            target,
            worth,
            identity: (there.dev(), there.ino()),
        };
        unplaced().push(unplaced_file.clone());
        let beside = Beside {
            file,
            unplaced: unplaced_file,
        };
        if let Some(earlier) = earlier {
            beside.file.set_permissions(earlier.permissions())?;
        }
        Ok(Place::Beside(beside))
    }
}

impl Drop for Beside {
    /// Leaves nothing behind that is worth nothing. In its place, the file has another name by now.
    fn drop(&mut self) {
        let Unplaced { partial, worth, .. } = &self.unplaced;
        let mut files = unplaced();
        files.retain(|file| *file != self.unplaced);
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        if (is_empty || *worth == Unfinished::IsNothing) && is_at(&self.file, partial) {
            let _ = fs::remove_file(partial);
        }
    }
}

/// The file that a name leads to through symbolic links, by its path from the root. It need not exist.
pub(super) fn followed(path: &Path) -> PathBuf {
    /// As many as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let (Ok(folder), Some(name)) = (folder.canonicalize(), path.file_name()) else {
            break;
        };
        path = folder.join(name);
        match fs::read_link(&path) {
            // There, a link is an open file, which need not have a name.
            Ok(link) if !path.starts_with("/proc") => path = folder.join(link),
            _ => break,
        }
    }
    path
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Opens an unfinished file for this process alone, empty, in a place where nothing is: others may have put something
/// there in a folder that all write to.
fn open_locked(partial: &Path) -> io::Result<File> {
    loop {
        let created = File::options().write(true).create_new(true).open(partial);
        let (file, is_new) = match created {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match left_there(partial)? {
                    Some(file) => (file, false),
                    None => continue,
                }
            }
            Err(error) => return Err(error),
        };
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("another process is writing it, to {}", partial.display()),
            ));
        }
        // Some file systems have no locks. Who had this one may have moved the file away meanwhile.
        if !is_at(&file, partial) {
            continue;
        }
        match file.metadata()?.len() {
            _ if is_new => return Ok(file),
            0 => fs::remove_file(partial)?,
            _ => move_aside(partial)?,
        }
    }
}

/// The file that is in the place of an unfinished one, if it still is. A link is removed, and not followed.
fn left_there(partial: &Path) -> io::Result<Option<File>> {
    if partial.is_symlink() {
        complain(&format!(
            "warning: {} was a link, to no file of this command: it is removed",
            partial.display()
        ));
        return match fs::remove_file(partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        };
    }
    match open_regular(partial, File::options().write(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let text = format!("{}: {error}", partial.display());
            Err(io::Error::new(error.kind(), text))
        }
    }
}

/// Keeps what a run that was killed has written.
fn move_aside(partial: &Path) -> io::Result<()> {
    let mut names = (1..).map(|number| with_ending(partial, &format!(".{number}")));
    let free = names.find(|name| fs::symlink_metadata(name).is_err());
    let free = free.expect("no folder has files for all numbers");
    fs::rename(partial, &free)?;
    complain(&format!(
        "warning: {} is what a run that was killed has left: it is {} now",
        partial.display(),
        free.display()
    ));
    Ok(())
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), fs::symlink_metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}
