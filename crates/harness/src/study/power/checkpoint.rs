//! Checkpoints: files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tracing::trace_span;

/// The beginning of files, and the version of what follows.
const MAGIC: &[u8; 8] = b"RIDGEPW1";
/// The beginning of names of files that are not whole yet.
const UNFINISHED: &str = ".unfinished-";

/// The state of an iteration after a number of steps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Steps done.
    pub step: u64,
    /// The seed of the matrix and the first vector.
    pub seed: u64,
    /// The gap below the greatest eigenvalue.
    pub dominance: f64,
    /// Rayleigh's quotient.
    pub eigenvalue: f64,
    /// `‖A x - eigenvalue x‖` of the vector of length 1.
    pub residual: f64,
    /// The vector.
    pub vector: Vec<f64>,
}

impl Checkpoint {
    /// Writes it to the folder in binary and as text. A file gets its name once it is on the disk.
    ///
    /// # Errors
    /// A file cannot be created, written or renamed: the system's error, with the name of the file. Other
    /// files are not touched.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let _range =
            trace_span!("write a checkpoint", color = "orange", payload = self.step).entered();
        write_whole(&self.path(folder, "bin"), |file| {
            file.write_all(&self.to_bytes())
        })?;
        write_whole(&self.path(folder, "txt"), |file| self.write_text(file))
    }

    /// The newest whole checkpoint of the folder, of either form; `None` where there is none.
    ///
    /// # Errors
    /// The folder cannot be listed: the system's error, with its name. Files that cannot be read are none
    /// of its checkpoints.
    pub fn newest(folder: &Path) -> io::Result<Option<Checkpoint>> {
        let mut paths = files(folder)?;
        // Names sort by steps.
        paths.sort();
        Ok(paths.iter().rev().find_map(|path| Checkpoint::read(path)))
    }

    /// The checkpoint in this file, if it is whole.
    pub fn read(path: &Path) -> Option<Checkpoint> {
        // Other files may be endless, as pipes are.
        path.file_name()?.to_str()?.strip_prefix("step-")?;
        match path.extension()?.to_str()? {
            "bin" => Checkpoint::from_bytes(&fs::read(path).ok()?),
            "txt" => Checkpoint::from_text(&fs::read_to_string(path).ok()?),
            _ => None,
        }
    }

    fn path(&self, folder: &Path, extension: &str) -> PathBuf {
        folder.join(format!("step-{:08}.{extension}", self.step))
    }

    /// Little-endian: the header, the vector, and the CRC-32 of both.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for word in [self.vector.len() as u64, self.step, self.seed] {
            bytes.extend(word.to_le_bytes());
        }
        let numbers = [self.dominance, self.eigenvalue, self.residual];
        for number in numbers.iter().chain(&self.vector) {
            bytes.extend(number.to_le_bytes());
        }
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Checkpoint> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let rest = body.strip_prefix(MAGIC)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return None;
        }
        let (chunks, _) = rest.as_chunks();
        let mut words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk));
        let (len, step, seed) = (words.next()?, words.next()?, words.next()?);
        let mut numbers = words.map(f64::from_bits);
        let (dominance, eigenvalue, residual) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let vector: Vec<f64> = numbers.collect();
        (vector.len() as u64 == len).then_some(Checkpoint {
            step,
            seed,
            dominance,
            eigenvalue,
            residual,
            vector,
        })
    }

    /// A line for each field, then one for each element. The sum is that of the binary form.
    fn write_text(&self, file: &mut dyn Write) -> io::Result<()> {
        let bytes = self.to_bytes();
        let sum = bytes
            .last_chunk::<4>()
            .map_or(0, |sum| u32::from_le_bytes(*sum));
        writeln!(file, "ridgepoint power iteration")?;
        writeln!(file, "step {}\nseed {}", self.step, self.seed)?;
        // The shortest text that reads back as the same number.
        writeln!(file, "dominance {:e}", self.dominance)?;
        writeln!(file, "eigenvalue {:e}", self.eigenvalue)?;
        writeln!(file, "residual {:e}", self.residual)?;
        writeln!(file, "crc32 {sum:08x}\nvector")?;
        self.vector.iter().try_for_each(|x| writeln!(file, "{x:e}"))
    }

    fn from_text(text: &str) -> Option<Checkpoint> {
        let (header, vector) = text.split_once("vector\n")?;
        let field = |name: &str| {
            header
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        };
        let checkpoint = Checkpoint {
            step: field("step")?.parse().ok()?,
            seed: field("seed")?.parse().ok()?,
            dominance: field("dominance")?.parse().ok()?,
            eigenvalue: field("eigenvalue")?.parse().ok()?,
            residual: field("residual")?.parse().ok()?,
            vector: vector
                .lines()
                .map(|line| line.parse().ok())
                .collect::<Option<_>>()?,
        };
        let sum = u32::from_str_radix(field("crc32")?, 16).ok()?;
        let bytes = checkpoint.to_bytes();
        (bytes.last_chunk() == Some(&sum.to_le_bytes())).then_some(checkpoint)
    }
}

/// Writes a file beside its place, and moves it there once the disk has it.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(named("write", path))?;
    fill(&mut file, write).map_err(named("write", path))?;
    file.persist(path)
        .map_err(|error| named("write", path)(error.error))?;
    Ok(())
}

/// Adds to the system's error what was tried on which file.
pub(super) fn named(operation: &str, path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let message = format!("cannot {operation} {}: {error}", path.display());
        io::Error::new(error.kind(), message)
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(named("read the folder", folder))?;
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .map_err(named("read the folder", folder))
}

/// Brings the names of finished files to the disk too: without, a power failure may take the newest,
/// and leaves the others whole.
///
/// # Errors
/// The folder cannot be opened, or not be written to the disk: the system's error, with its name.
pub(super) fn keep_names(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(named("write the folder", folder))
}

fn fill(
    file: &mut NamedTempFile,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file.as_file_mut());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_data()
}

/// Removes what a run that was killed had not finished.
///
/// # Errors
/// The folder cannot be listed, or a file in it not be removed: the system's error, with the name of
/// either.
pub(super) fn tidy(folder: &Path) -> io::Result<()> {
    let is_unfinished = |path: &&PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with(UNFINISHED))
    };
    for path in files(folder)?.iter().filter(is_unfinished) {
        fs::remove_file(path).map_err(named("remove", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(step: u64) -> Checkpoint {
        Checkpoint {
            step,
            seed: 42,
            dominance: 0.05,
            eigenvalue: 1.0 - f64::EPSILON,
            residual: 1e-300,
            vector: vec![0.1, -0.0, f64::MIN_POSITIVE / 2.0, 1.0 / 3.0],
        }
    }

    #[test]
    fn both_forms_read_back_the_same_bits() {
        let folder = tempfile::tempdir().expect("a folder");
        checkpoint(10).write(folder.path()).expect("written");
        for name in ["step-00000010.bin", "step-00000010.txt"] {
            let read = Checkpoint::read(&folder.path().join(name)).expect(name);
            assert_eq!(read.to_bytes(), checkpoint(10).to_bytes(), "{name}");
        }
    }

    #[test]
    fn a_damaged_file_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        for step in [10, 20, 30] {
            checkpoint(step).write(folder.path()).expect("written");
        }
        let newest = || {
            let found = Checkpoint::newest(folder.path()).expect("readable");
            found.map(|checkpoint| checkpoint.step)
        };
        assert_eq!(newest(), Some(30));
        let damage = |name: &str, damage: fn(&mut Vec<u8>)| {
            let path = folder.path().join(name);
            let mut bytes = fs::read(&path).expect("there");
            damage(&mut bytes);
            fs::write(&path, bytes).expect("written");
        };
        damage("step-00000030.txt", |bytes| bytes.truncate(bytes.len() - 4));
        assert_eq!(newest(), Some(30), "the binary form is still whole");
        damage("step-00000030.bin", |bytes| bytes[70] ^= 1);
        assert_eq!(newest(), Some(20));
        let newer = checkpoint(40).to_bytes();
        fs::write(folder.path().join("of-something-else.bin"), newer).expect("written");
        assert_eq!(newest(), Some(20), "other files are not read");
        fs::write(folder.path().join(".unfinished-abc"), "x").expect("written");
        tidy(folder.path()).expect("tidied");
        assert!(!folder.path().join(".unfinished-abc").exists());
        assert_eq!(newest(), Some(20));
    }
}
