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

const TEMPLATES: [(&str, &str); 9] = templates! {
    "Cargo.toml" = "template/Cargo.toml.template";
    "README.md" = "template/README.md";
    ".gitignore" = "template/gitignore";
    "build.rs" = "template/build.rs";
    "src/lib.rs" = "template/src/lib.rs";
    "src/main.rs" = "template/src/main.rs";
    "tests/scale.rs" = "template/tests/scale.rs";
    "kernels/Cargo.toml" = "template/kernels/Cargo.toml.template";
    "kernels/src/lib.rs" = "template/kernels/src/lib.rs";
};

/// What a package needs beside that where no source tree is there to point to.
const WITHOUT_TREE: [(&str, &str); 2] = templates! {
    "find_cuda_helper/Cargo.toml" = "template/find_cuda_helper/Cargo.toml.template";
    "find_cuda_helper/src/lib.rs" = "../../../../crates/find_cuda_helper/src/lib.rs";
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
        let without_tree = match self.source {
            Source::Tree(_) => &[][..],
            Source::Registry => &WITHOUT_TREE[..],
        };
        let templates = TEMPLATES.iter().chain(without_tree);
        templates.map(|&(path, template)| (path, self.fill(template)))
    }

    fn fill(&self, template: &str) -> String {
        let mut text = template
            .replace("@name@", &self.name.to_string())
            .replace("@crate@", &self.name.crate_name())
            .replace("@guide@", &self.source.guide());
        for (name, folder) in CRATES {
            text = text.replace(&format!("@{name}@"), &self.source.dependency(name, folder));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(source: Source) -> Vec<(&'static str, String)> {
        let name = "my-demo".parse().expect("a name");
        let project = Project {
            name: &name,
            source,
        };
        project.files().collect()
    }

    #[test]
    fn every_placeholder_is_filled() {
        for source in [Source::Tree("/tree".to_owned()), Source::Registry] {
            for (path, text) in files(source) {
                assert!(!text.contains('@'), "{path}: {text}");
            }
        }
    }

    #[test]
    fn without_a_tree_the_package_carries_the_crate_that_stands_in() {
        let paths = |source| -> Vec<&str> { files(source).iter().map(|file| file.0).collect() };
        let stand_in = "find_cuda_helper/src/lib.rs";
        assert!(paths(Source::Registry).contains(&stand_in));
        assert!(!paths(Source::Tree("/tree".to_owned())).contains(&stand_in));
    }

    #[test]
    fn a_failure_on_the_way_leaves_nothing_behind() {
        let parent = tempfile::tempdir().expect("a folder");
        let name = "demo".parse().expect("a name");
        let project = Project {
            name: &name,
            source: Source::Registry,
        };
        // The last step fails: a file is where the folder is to be.
        let file = parent.path().join("file");
        fs::write(&file, "").expect("it is written");
        assert!(project.write_new(parent.path(), &file).is_err());
        let left = fs::read_dir(parent.path()).expect("it is there").count();
        assert_eq!(left, 1, "the file alone");
    }
}
