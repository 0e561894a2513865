//! The file by which ranks find rank 0.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ridgepoint_driver::read_own;
use serde::{Deserialize, Serialize};

/// More than any rank writes.
const MAX_BYTES: u64 = 4096;

/// Where rank 0 is. Only those who can read the file know the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    /// The host's name.
    pub(super) host: String,
    pub(super) port: u16,
    /// Differs from run to run.
    pub(super) token: String,
}

/// The file of a job in a shared folder.
pub(super) fn path(folder: &Path, job: Option<&str>) -> PathBuf {
    match job {
        Some(job) => folder.join(format!("ridgepoint-{job}.rendezvous")),
        None => folder.join("ridgepoint.rendezvous"),
    }
}

impl Notice {
    pub(super) fn new(port: u16) -> io::Result<Notice> {
        let mut token = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut token)?;
        let hex = token.iter().map(|byte| format!("{byte:02x}"));
        Ok(Notice {
            host: hostname(),
            port,
            token: hex.collect(),
        })
    }

    /// Writes the file whole: nobody reads half of it.
    pub(super) fn publish(&self, path: &Path) -> io::Result<()> {
        let beside = path.with_extension(format!("{}.new", self.token));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)?;
        let written = serde_json::to_writer(&mut file, self).map_err(io::Error::from);
        let renamed = written
            .and_then(|()| file.flush())
            .and_then(|()| fs::rename(&beside, path));
        renamed.inspect_err(|_| {
            // What went wrong before is what is told.
            let _ = fs::remove_file(&beside);
        })
    }

    /// Reads the file, if it is there, nobody else can have written it, and it can be understood. Other things in its
    /// place are refused without waiting for them.
    pub(super) fn read(path: &Path) -> io::Result<Notice> {
        let text = read_own(path, MAX_BYTES)?;
        serde_json::from_slice(&text).map_err(|error| {
            let what = format!("not a rendezvous of ranks: {error}");
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }

    /// Whether the file is this one, and not that of another process.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        Notice::read(path).is_ok_and(|it| it == *self)
    }
}

/// This host's name, as other hosts of a cluster know it.
pub(crate) fn hostname() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "localhost".to_owned(), |it| it.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_is_written_and_only_its_own_token_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(folder.path(), Some("77.0"));
        assert!(path.ends_with("ridgepoint-77.0.rendezvous"));
        let (first, second) = (
            Notice::new(1).expect("random"),
            Notice::new(1).expect("random"),
        );
        assert_ne!(first.token, second.token);
        first.publish(&path).expect("written");
        assert!(first.is_at(&path) && !second.is_at(&path));
        second.publish(&path).expect("written over");
        assert!(second.is_at(&path) && !first.is_at(&path));
        let files = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1);
        fs::write(&path, "{").expect("written, with the mode that it has");
        let error = Notice::read(&path).expect_err("half");
        assert!(error.to_string().starts_with("not a rendezvous"), "{error}");
    }
}
