//! The files of a generated package. The templates are the files in `template/`, in which
//! `@name@`, `@crate@`, `@guide@` and the names of Ridgepoint's crates between two `@` are replaced.

use std::fs;
use std::io;
use std::path::Path;

use super::name::Name;
use super::source::{CRATES, Source};
use crate::cli::Failure;

/// A package that is to be written.
pub(super) struct Project<'a> {
    pub(super) name: &'a Name,
    pub(super) source: Source,
}

macro_rules! templates {
    ($($target:literal = $template:literal;)*) => {
        [$(($target, include_str!($template))),*]
    };
}

const TEMPLATES: [(&str, &str); 13] = templates! {
    "Cargo.toml" = "template/Cargo.toml.template";
    "rust-toolchain.toml" = "../../../../rust-toolchain.toml";
    "README.md" = "template/README.md";
    ".gitignore" = "template/gitignore";
    ".cargo/config.toml" = "template/config.toml";
    "build.rs" = "template/build.rs";
    "src/lib.rs" = "template/src/lib.rs";
    "src/main.rs" = "template/src/main.rs";
    "tests/scale.rs" = "template/tests/scale.rs";
    "benches/Cargo.toml" = "template/benches/Cargo.toml.template";
    "benches/kernels.rs" = "template/benches/kernels.rs";
    "kernels/Cargo.toml" = "template/kernels/Cargo.toml.template";
    "kernels/src/lib.rs" = "template/kernels/src/lib.rs";
};

impl Project<'_> {
    /// Writes the package into a new folder of its name in `parent`: all of it, or nothing.
    pub(super) fn write(&self, parent: &Path) -> Result<(), Failure> {
        let folder = parent.join(self.name.to_string());
        if fs::symlink_metadata(&folder).is_ok() {
            return Err(Failure::Usage(format!(
                "{} exists: choose another name, or remove it",
                folder.display()
            )));
        }
        self.write_new(parent, &folder).map_err(|error| {
            Failure::Failed(format!("cannot create {}: {error}", folder.display()))
        })
    }

    /// Writes into a temporary folder, which takes its place and name when it is complete.
    fn write_new(&self, parent: &Path, folder: &Path) -> io::Result<()> {
        let temporary = tempfile::Builder::new()
            .prefix(".ridgepoint-new-")
            .tempdir_in(parent)?;
        // The temporary folder itself is for its owner alone, and the package's is not.
        let complete = temporary.path().join("complete");
        for (path, text) in self.files() {
            let path = complete.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        fs::rename(&complete, folder)
    }

    /// Every file's path in the package, and its text.
    fn files(&self) -> impl Iterator<Item = (&'static str, String)> {
        let files = TEMPLATES.iter();
        files.map(|&(path, template)| (path, self.fill(template)))
    }

    fn fill(&self, template: &str) -> String {
        let mut text = template
            .replace("@name@", &self.name.to_string())
            .replace("@crate@", &self.name.crate_name())
            .replace("@guide@", &self.source.guide());
        for (name, folder) in CRATES {
            text = text.replace(&format!("@{name}@"), &self.source.dependency(folder));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source::find(None).unwrap_or_else(|_| panic!("this tree is one"))
    }

    #[test]
    fn every_placeholder_is_filled() {
        let name = "my-demo".parse().expect("a name");
        let project = Project {
            name: &name,
            source: source(),
        };
        for (path, text) in project.files() {
            assert!(!text.contains('@'), "{path}: {text}");
        }
    }

    #[test]
    fn a_failure_on_the_way_leaves_nothing_behind() {
        let parent = tempfile::tempdir().expect("a folder");
        let name = "demo".parse().expect("a name");
        let project = Project {
            name: &name,
            source: source(),
        };
        // The last step fails: a file is where the folder is to be.
        let file = parent.path().join("file");
        fs::write(&file, "").expect("it is written");
        assert!(project.write_new(parent.path(), &file).is_err());
        let left = fs::read_dir(parent.path()).expect("it is there").count();
        assert_eq!(left, 1, "the file alone");
    }
}
