//! The files that a command reads and writes, compared with each other before it does either.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Failure;
use super::destination::{UNFINISHED, followed, is_standard};

/// Files by the options that name them.
#[derive(Default)]
pub(super) struct Files<'a>(Vec<Named<'a>>);

struct Named<'a> {
    option: &'static str,
    path: &'a Path,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Input,
    /// One whose rows would be there twice if it were named twice.
    InputOnce,
    /// Text, which may go to standard output.
    Text,
    /// One that is of use as a file only.
    File,
}

impl Role {
    fn is_read(self) -> bool {
        matches!(self, Role::Input | Role::InputOnce)
    }
}

/// Names of standard input.
const STANDARD_INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// The identity that tells files apart, whatever their names.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    StandardInput,
    StandardOutput,
    Existing { device: u64, inode: u64 },
    New(PathBuf),
}

impl<'a> Files<'a> {
    pub(super) fn inputs(
        self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Files<'a> {
        self.with(option, paths, Role::Input)
    }

    /// Inputs of which none may be named twice.
    pub(super) fn each_once(
        self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Files<'a> {
        self.with(option, paths, Role::InputOnce)
    }

    /// Outputs that `-` makes go to standard output.
    pub(super) fn texts(
        self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Files<'a> {
        self.with(option, paths, Role::Text)
    }

    /// Outputs that go to files only.
    pub(super) fn outputs(
        self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Files<'a> {
        self.with(option, paths, Role::File)
    }

    fn with(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
        role: Role,
    ) -> Files<'a> {
        let named = |path: &'a PathBuf| Named { option, path, role };
        self.0.extend(paths.into_iter().map(named));
        self
    }

    /// Refuses outputs that would be written over each other or over an input, and standard input twice.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let identities: Vec<Option<Identity>> = self.0.iter().map(Named::identity).collect();
        for (index, file) in self.0.iter().enumerate() {
            file.check()?;
            let earlier = identities[..index].iter().zip(&self.0);
            for (identity, other) in earlier {
                if *identity == Some(Identity::StandardInput) && *identity == identities[index] {
                    return Err(Failure::Usage(format!(
                        "{} {}: standard input can be read once",
                        file.option,
                        file.path.display()
                    )));
                }
                if identity.is_some() && *identity == identities[index] {
                    file.differs_from(other)?;
                }
            }
        }
        Ok(())
    }
}

impl Named<'_> {
    fn check(&self) -> Result<(), Failure> {
        let (option, path) = (self.option, self.path.display());
        if self.role == Role::File && is_standard(self.path) {
            return Err(Failure::Usage(format!(
                "{option} {path}: it does not go to standard output; name a file"
            )));
        }
        let is_unfinished = self.path.to_string_lossy().ends_with(UNFINISHED);
        if !self.role.is_read() && is_unfinished {
            return Err(Failure::Usage(format!(
                "{option} {path}: {UNFINISHED} is what unfinished files end with; choose another name"
            )));
        }
        Ok(())
    }

    /// Refuses the same file as another's, unless both are only read.
    fn differs_from(&self, other: &Named<'_>) -> Result<(), Failure> {
        let names = match self.path == other.path {
            true => self.path.display().to_string(),
            false => format!("{}, {}", other.path.display(), self.path.display()),
        };
        let message = match (other.role, self.role) {
            (Role::InputOnce, Role::InputOnce) => {
                format!("{} names one file twice: {names}", self.option)
            }
            (theirs, own) if theirs.is_read() && own.is_read() => return Ok(()),
            (theirs, _) if theirs.is_read() => format!(
                "{} would be written over what {} reads: {names}",
                self.option, other.option
            ),
            (_, own) if own.is_read() => format!(
                "{} would be written over what {} reads: {names}",
                other.option, self.option
            ),
            _ if self.option == other.option => {
                format!("{} names one output twice: {names}", self.option)
            }
            _ => format!(
                "{} and {} name one output: {names}",
                other.option, self.option
            ),
        };
        Err(Failure::Usage(message))
    }

    /// `None` for what cannot be mistaken: devices such as /dev/null.
    fn identity(&self) -> Option<Identity> {
        let is_input = self.role.is_read();
        if is_input
            && STANDARD_INPUT
                .iter()
                .any(|name| self.path == Path::new(name))
        {
            return Some(Identity::StandardInput);
        }
        if is_standard(self.path) {
            return (!is_input).then_some(Identity::StandardOutput);
        }
        match fs::metadata(self.path) {
            Ok(file) if file.file_type().is_char_device() => None,
            Ok(file) => Some(Identity::Existing {
                device: file.dev(),
                inode: file.ino(),
            }),
            Err(_) => Some(Identity::New(followed(self.path))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns the message on two outputs of these names, of which `kept` exists.
    fn said(first: &str, second: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("kept"), "").expect("written");
        fs::hard_link(at("kept"), at("hard")).expect("linked");
        symlink(at("kept"), at("soft")).expect("linked");
        symlink("new", at("dangling")).expect("linked");
        symlink(".", at("here")).expect("linked");
        let path = |name: &str| match name {
            "-" | "/dev/stdout" | "/dev/null" => PathBuf::from(name),
            name => at(name),
        };
        let (first, second) = (path(first), path(second));
        let files = Files::default()
            .inputs("--baseline", [&at("kept")])
            .texts("--output", [&first])
            .outputs("--report", [&second])
            .check();
        match files {
            Err(Failure::Usage(message)) => Some(message),
            other => other.err().map(|other| panic!("{other:?}")),
        }
    }

    #[test]
    fn one_file_by_two_names_is_refused() {
        for (first, second, expected) in [
            ("new", "new", "--output and --report name one output"),
            ("new", "./new", "name one output"),
            ("new", "dangling", "name one output"),
            ("here/new", "new", "name one output"),
            ("kept", "new", "over what --baseline reads"),
            ("new", "hard", "--report would be written over what"),
            ("soft", "new", "--output would be written over what"),
            ("new", "-", "--report -: it does not go to standard output"),
            ("new", "/dev/stdout", "does not go to standard output"),
            ("new.partial", "new", "unfinished files"),
        ] {
            let message = said(first, second).unwrap_or_default();
            assert!(message.contains(expected), "{first}, {second}: {message:?}");
        }
        for (first, second) in [("new", "other"), ("-", "new"), ("/dev/null", "/dev/null")] {
            assert_eq!(said(first, second), None, "{first}, {second}");
        }
    }
}
