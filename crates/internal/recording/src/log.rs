//! A log is a file in memory that the kernel writes back whatever becomes of the process.
//!
//! 24 bytes come first: a mark, the bytes that are complete, and the records that found no room. Records follow, each
//! with its length in four bytes in front. A record counts once the length of the whole includes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use nix::fcntl::{FallocateFlags, fallocate};

use crate::record::Record;

/// The first bytes of a file; the last is the format's version.
const MARK: [u8; 8] = *b"RDGPREC\x01";
const HEADER: usize = 24;
/// Where in the header the bytes that are complete, and the records without room, are counted.
const COMPLETE: usize = 8;
const REFUSED: usize = 16;

/// The file grows by so many bytes: a full disk is an answer here, and would be a signal where the memory is written.
const STEP: u64 = 8 << 20;

/// Takes the records of a process.
#[derive(Debug)]
pub struct Log {
    file: File,
    memory: MmapRaw,
    limit: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    complete: u64,
    /// The file's size.
    size: u64,
    /// Kept for its memory.
    buffer: Vec<u8>,
}

impl Log {
    /// Makes the file, which never grows beyond `limit` bytes.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn create(path: &Path, limit: u64) -> io::Result<Log> {
        let limit = limit.max(HEADER as u64);
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        let size = STEP.min(limit);
        reserve(&file, 0, size)?;
        let length = usize::try_from(limit).map_err(io::Error::other)?;
        let memory = MmapOptions::new().len(length).map_raw(&file)?;
        let log = Log {
            file,
            memory,
            limit,
            state: Mutex::new(State {
                complete: HEADER as u64,
                size,
                buffer: Vec::new(),
            }),
        };
        // SAFETY: the first `size` bytes are the file's, and nobody else has the map yet.
        unsafe { ptr::copy_nonoverlapping(MARK.as_ptr(), log.memory.as_mut_ptr(), MARK.len()) };
        log.count(COMPLETE).store(HEADER as u64, Ordering::Release);
        Ok(log)
    }

    /// Appends a record. One that finds no room is counted: [`Recording::refused`].
    pub fn write(&self, record: &Record) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        state.buffer.clear();
        state.buffer.extend([0; 4]);
        let is_written = postcard::to_io(record, &mut state.buffer).is_ok();
        let length = state.buffer.len();
        let fits = is_written && self.make_room(state, length as u64);
        if !fits {
            self.count(REFUSED).fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.buffer[..4].copy_from_slice(&(length as u32 - 4).to_le_bytes());
        // SAFETY: `make_room` says that the file has these bytes; only the holder of the lock writes behind `complete`.
        unsafe {
            let place = self.memory.as_mut_ptr().add(state.complete as usize);
            ptr::copy_nonoverlapping(state.buffer.as_ptr(), place, length);
        }
        state.complete += length as u64;
        self.count(COMPLETE)
            .store(state.complete, Ordering::Release);
    }

    /// Gives back the room that no record has taken. Records may follow all the same.
    pub fn trim(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.file.set_len(state.complete).is_ok() {
            state.size = state.complete;
        }
    }

    fn make_room(&self, state: &mut State, length: u64) -> bool {
        let end = state.complete + length;
        if end <= state.size {
            return true;
        }
        let size = end.next_multiple_of(STEP).min(self.limit);
        if end > size || reserve(&self.file, state.size, size - state.size).is_err() {
            return false;
        }
        state.size = size;
        true
    }

    fn count(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the header's bytes are the file's, a map is aligned to pages, and these bytes are only used so.
        unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().add(at).cast()) }
    }
}

/// Makes the file so large, with room on the disk.
fn reserve(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    let signed = |number: u64| i64::try_from(number).map_err(io::Error::other);
    let answer = fallocate(file, FallocateFlags::empty(), signed(from)?, signed(bytes)?);
    match answer {
        // Not every file system can reserve.
        Err(nix::Error::EOPNOTSUPP) => file.set_len(from + bytes),
        answer => answer.map_err(io::Error::from),
    }
}

/// The records that a process has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// In the order in which they were written; of the devices that is not the order of their times.
    pub records: Vec<Record>,
    /// How many more there were, for which the file had no room.
    pub refused: u64,
}

/// A file that is no log.
#[derive(Debug, thiserror::Error)]
pub enum NotALog {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Its first bytes are others.
    #[error("{}: no recording of this version of Ridgepoint", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A record cannot be read.
    #[error("{}: byte {at} of {size} begins no record", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The record's place.
        at: usize,
        /// The file's size.
        size: usize,
    },
}

impl Recording {
    /// Reads a log, which a process may still write.
    ///
    /// # Errors
    /// The file cannot be read, or is no log.
    pub fn read(path: &Path) -> Result<Recording, NotALog> {
        let bytes = fs::read(path).map_err(|error| NotALog::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        if bytes.len() < HEADER || bytes[..MARK.len()] != MARK {
            return Err(NotALog::Unknown {
                path: path.to_owned(),
            });
        }
        let complete = usize::try_from(number(&bytes, COMPLETE)).unwrap_or(usize::MAX);
        let mut at = HEADER;
        let mut records = Vec::new();
        while at < complete {
            let (record, next) = record(&bytes, at).ok_or_else(|| NotALog::Damaged {
                path: path.to_owned(),
                at,
                size: bytes.len(),
            })?;
            records.push(record);
            at = next;
        }
        Ok(Recording {
            records,
            refused: number(&bytes, REFUSED),
        })
    }
}

/// A record, and where it ends.
fn record(bytes: &[u8], at: usize) -> Option<(Record, usize)> {
    let body = at.checked_add(4)?;
    let length = bytes
        .get(at..body)?
        .try_into()
        .ok()
        .map(u32::from_le_bytes)?;
    let end = body.checked_add(length as usize)?;
    let (record, rest) = postcard::take_from_bytes(bytes.get(body..end)?).ok()?;
    rest.is_empty().then_some((record, end))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..at + 8].try_into();
    u64::from_le_bytes(bytes.expect("eight bytes of the header"))
}

#[cfg(test)]
mod tests;
