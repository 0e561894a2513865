//! Files that are read whole, and files that others may have put into the place of one's own.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// The most bytes of a file of PTX or machine code.
pub const MAX_IMAGE_BYTES: u64 = 256 << 20;

/// Reads a file whole, of at most so many bytes: what another has written is not taken into memory unasked. A pipe or a
/// device is read until it ends or has given more.
///
/// ```
/// use std::path::Path;
///
/// use ridgepoint_driver::{MAX_IMAGE_BYTES, read_whole};
///
/// assert_eq!(read_whole(Path::new("/dev/null"), MAX_IMAGE_BYTES)?, b"");
/// let error = read_whole(Path::new("/dev/zero"), 1000).unwrap_err();
/// assert_eq!(error.to_string(), "it has more than 1000 bytes, and at most 1000 are read");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The system's; [`io::ErrorKind::FileTooLarge`] with both sizes.
pub fn read_whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Limited::open(File::open(path)?, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A reader of at most so many bytes, which fails where there are more.
///
/// ```
/// use std::io::Read;
///
/// use ridgepoint_driver::Limited;
///
/// let mut text = String::new();
/// Limited::new(&b"n,ns"[..], 4).read_to_string(&mut text)?;
/// assert_eq!(text, "n,ns");
/// let error = Limited::new(&b"n,ns"[..], 3).read_to_string(&mut text).unwrap_err();
/// assert_eq!(error.to_string(), "it has more than 3 bytes, and at most 3 are read");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Limited<R> {
    from: R,
    left: u64,
    most: u64,
}

impl<R: Read> Limited<R> {
    /// Reads from this.
    pub fn new(from: R, most: u64) -> Limited<R> {
        Limited {
            from,
            left: most,
            most,
        }
    }
}

impl Limited<File> {
    /// Reads from an open file, whose size is looked at first.
    ///
    /// ```
    /// use std::fs::File;
    ///
    /// use ridgepoint_driver::Limited;
    ///
    /// let program = File::open(std::env::current_exe()?)?;
    /// let error = Limited::open(program, 1).unwrap_err();
    /// assert!(error.to_string().ends_with(" bytes, and at most 1 are read"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_whole`].
    pub fn open(file: File, most: u64) -> io::Result<Limited<File>> {
        match file.metadata()?.len() {
            told if told > most => Err(too_large(&told.to_string(), most)),
            _ => Ok(Limited::new(file, most)),
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // One more than is left shows that there is more.
        let room = bytes.len().min(
            usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
        );
        let count = self.from.read(&mut bytes[..room])?;
        let left = self.left.checked_sub(count as u64);
        self.left =
            left.ok_or_else(|| too_large(&format!("more than {}", self.most), self.most))?;
        Ok(count)
    }
}

/// Opens a regular file as the options say. What else is in its place is refused: a link is not followed, and a pipe is not
/// waited for.
///
/// ```
/// use std::fs::OpenOptions;
/// use std::path::Path;
///
/// use ridgepoint_driver::open_regular;
///
/// let error = open_regular(Path::new("/dev/zero"), OpenOptions::new().read(true)).unwrap_err();
/// assert_eq!(error.to_string(), "it is a device, not a regular file");
/// ```
///
/// # Errors
/// The system's; [`io::ErrorKind::InvalidInput`] with what it is instead.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = options.custom_flags(flags.bits() as i32).open(path);
    let file = opened.map_err(|error| match path.is_symlink() {
        true => not_regular("link"),
        false => error,
    })?;
    let kind = file.metadata()?.file_type();
    match kind {
        _ if kind.is_file() => Ok(file),
        _ if kind.is_dir() => Err(not_regular("folder")),
        _ if kind.is_fifo() => Err(not_regular("pipe")),
        _ => Err(not_regular("device")),
    }
}

/// Reads a file whole that nobody but this user can have written or read: a regular file of theirs with the mode 0600 or
/// less.
///
/// ```
/// use std::path::Path;
///
/// use ridgepoint_driver::read_own;
///
/// assert!(read_own(Path::new("/proc/self/cmdline"), 100).is_err(), "all may read it");
/// ```
///
/// # Errors
/// As [`open_regular`] and [`read_whole`]; [`io::ErrorKind::PermissionDenied`] with the owner or the mode that it has.
pub fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let (found, user) = (file.metadata()?, geteuid().as_raw());
    let denied = |text: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    if found.uid() != user {
        return denied(format!(
            "it belongs to user {}, and this is user {user}",
            found.uid()
        ));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return denied(format!(
            "its mode is {mode:04o}, and others must have no access: 0600"
        ));
    }
    let mut bytes = Vec::new();
    Limited::open(file, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_regular(what: &str) -> io::Error {
    let text = format!("it is a {what}, not a regular file");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn too_large(actual: &str, most: u64) -> io::Error {
    let text = format!("it has {actual} bytes, and at most {most} are read");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::{env, fs, process};

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_told_with_its_size_beyond() {
        let path = env::temp_dir().join(format!("ridgepoint-whole-{}", process::id()));
        fs::write(&path, "12345").expect("written");
        let (read, refused) = (read_whole(&path, 5), read_whole(&path, 4));
        fs::remove_file(&path).expect("it is there");
        assert_eq!(read.expect("5 of 5 bytes"), b"12345");
        let error = refused.expect_err("5 of 4 bytes");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has 5 bytes, and at most 4 are read");
    }

    #[test]
    fn a_file_is_ones_own_that_others_have_no_access_to() {
        let path = env::temp_dir().join(format!("ridgepoint-own-{}", process::id()));
        let link = path.with_extension("link");
        let mut said = Vec::new();
        let mut options = OpenOptions::new();
        let own = options.write(true).create_new(true).mode(0o600);
        own.open(&path)
            .and_then(|mut file| io::Write::write_all(&mut file, b"12345"))
            .expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let read = read_own(&path, 5);
        let refused = [
            read_own(&path, 4),
            read_own(&link, 5),
            read_own(&env::temp_dir(), 5),
        ];
        said.extend(refused.map(|it| it.expect_err("refused").to_string()));
        let open = fs::Permissions::from_mode(0o640);
        fs::set_permissions(&path, open).expect("they are ours");
        said.push(read_own(&path, 5).expect_err("refused").to_string());
        fs::remove_file(&path)
            .and_then(|()| fs::remove_file(&link))
            .expect("they are there");
        assert_eq!(read.expect("our own"), b"12345");
        let expected = [
            "it has 5 bytes, and at most 4 are read",
            "it is a link, not a regular file",
            "it is a folder, not a regular file",
            "its mode is 0640, and others must have no access: 0600",
        ];
        assert_eq!(said, expected);
    }
}
