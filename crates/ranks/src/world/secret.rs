//! The secret of the ranks of a run.

use std::fmt;
use std::path::PathBuf;

use ridgepoint_driver::read_own;

/// The variable with the secret itself.
const SECRET: &str = "RIDGEPOINT_SECRET";
/// The variable that names a file with it.
const SECRET_FILE: &str = "RIDGEPOINT_SECRET_FILE";

/// Characters of a secret: with fewer it could be guessed, and more do not fit into a greeting.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1024;

/// How ranks without a secret get one.
pub(crate) const NEEDED: &str = "a secret is needed, by which rank 0 knows the ranks of this run: give all of them \
    RIDGEPOINT_SECRET, 16 characters or more that nobody can guess, or RIDGEPOINT_SECRET_FILE, a file of mode 0600 with \
    them; or name a folder that all ranks share, by --rendezvous";

/// Where the secret of a run is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    /// In the environment of the ranks.
    Given(String),
    /// In a file.
    File(PathBuf),
}

/// Without the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Given(_) => formatter.write_str("Given(..)"),
            Secret::File(path) => formatter.debug_tuple("File").field(path).finish(),
        }
    }
}

impl Secret {
    /// The one that the environment names.
    pub(super) fn of(lookup: &impl Fn(&str) -> Option<String>) -> Option<Secret> {
        let file = || lookup(SECRET_FILE).map(|path| Secret::File(path.into()));
        lookup(SECRET).map(Secret::Given).or_else(file)
    }

    /// The secret.
    ///
    /// # Errors
    /// In words: the file cannot be read, or is another's or open to others; the secret is too short or too long.
    pub(crate) fn read(&self) -> Result<String, String> {
        let (text, of) = match self {
            Secret::Given(text) => (text.clone(), SECRET.to_owned()),
            Secret::File(path) => {
                let of = format!("{SECRET_FILE}, {}", path.display());
                let bytes = read_own(path, 2 * *LENGTHS.end() as u64);
                let bytes = bytes.map_err(|error| format!("{of}: {error}"))?;
                (String::from_utf8_lossy(&bytes).into_owned(), of)
            }
        };
        let text = text.trim();
        match text.len() {
            length if LENGTHS.contains(&length) => Ok(text.to_owned()),
            length => Err(format!(
                "{of}: the secret has {length} bytes, and must have {} to {}",
                LENGTHS.start(),
                LENGTHS.end()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    use super::*;

    #[test]
    fn a_secret_is_long_enough_and_its_file_nobody_elses() {
        let given = |text: &str| Secret::Given(text.to_owned()).read();
        assert_eq!(
            given(" 0123456789abcdef\n").as_deref(),
            Ok("0123456789abcdef")
        );
        let short = given("0123456789").expect_err("short");
        assert!(
            short.contains("has 10 bytes, and must have 16 to 1024"),
            "{short}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(b"0123456789abcdef\n"))
            .expect("written");
        let secret = Secret::File(path.clone());
        assert_eq!(secret.read().as_deref(), Ok("0123456789abcdef"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
        let open = secret.read().expect_err("open to others");
        assert!(open.contains("its mode is 0644"), "{open}");
        assert_eq!(format!("{:?}", Secret::Given("x".to_owned())), "Given(..)");
    }
}
