//! Where the generated package finds Ridgepoint's crates.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::Failure;

/// The crates that a generated package names, and their folders in the source tree.
pub(super) const CRATES: [(&str, &str); 5] = [
    ("find_cuda_helper", "crates/find_cuda_helper"),
    ("gpu-test", "crates/gpu-test"),
    ("ptx-builder", "crates/ptx-builder"),
    ("ptx-std", "crates/ptx-std"),
    ("ridgepoint", "."),
];

/// Where Ridgepoint's crates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A source tree on this machine, by its absolute path.
    Tree(String),
    /// The registry, at this command's version.
    Registry,
}

impl Source {
    /// The tree that is named; without a name the one that this command was built from, or the
    /// registry where that is gone.
    pub(super) fn find(named: Option<&Path>) -> Result<Source, Failure> {
        match named {
            Some(folder) => tree(folder).map_err(Failure::Usage),
            None => Ok(tree(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_or(Source::Registry)),
        }
    }

    /// What a manifest says of one of [`CRATES`].
    pub(super) fn dependency(&self, name: &str, folder: &str) -> String {
        match self {
            Source::Tree(root) if folder == "." => path_key(Path::new(root)),
            Source::Tree(root) => path_key(&Path::new(root).join(folder)),
            // Its name is taken on crates.io by what it stands in for: the package carries it.
            Source::Registry if name == "find_cuda_helper" => path_key(Path::new(name)),
            Source::Registry => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
        }
    }

    /// Where to read how kernels are written.
    pub(super) fn guide(&self) -> String {
        const GUIDE: &str = "docs/writing-kernels.md";
        match self {
            Source::Tree(root) => format!("{root}/{GUIDE}"),
            Source::Registry => format!("{}/blob/main/{GUIDE}", env!("CARGO_PKG_REPOSITORY")),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Tree(root) => write!(formatter, "the Ridgepoint in {root}"),
            Source::Registry => {
                write!(
                    formatter,
                    "Ridgepoint {} of crates.io",
                    env!("CARGO_PKG_VERSION")
                )
            }
        }
    }
}

/// The source tree in `folder`, or what speaks against there being one.
fn tree(folder: &Path) -> Result<Source, String> {
    let root = fs::canonicalize(folder)
        .map_err(|error| format!("no Ridgepoint in {}: {error}", folder.display()))?;
    for (name, crate_folder) in CRATES {
        let manifest = root.join(crate_folder).join("Cargo.toml");
        if !describes(&manifest, name) {
            return Err(format!(
                "no Ridgepoint in {}: {} is not there, or is not the crate {name}'s",
                folder.display(),
                manifest.display()
            ));
        }
    }
    into_text(root).map(Source::Tree)
}

fn describes(manifest: &Path, name: &str) -> bool {
    let line = format!("name = {name:?}");
    fs::read_to_string(manifest).is_ok_and(|text| text.lines().any(|it| it == line))
}

/// Manifests are UTF-8, and so must be the paths in them.
fn into_text(path: PathBuf) -> Result<String, String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| format!("{} is not UTF-8: no manifest can name it", path.display()))
}

/// `path = ".."`. A path that came from text is UTF-8, and JSON's strings are strings in TOML too.
fn path_key(path: &Path) -> String {
    format!("path = {}", serde_json::Value::from(path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_named_by_paths_with_their_quotes_escaped() {
        let source = Source::Tree("/a \"b\"".to_owned());
        assert_eq!(
            source.dependency("ptx-std", "crates/ptx-std"),
            r#"path = "/a \"b\"/crates/ptx-std""#
        );
    }

    #[test]
    fn the_registry_is_named_by_the_version_and_the_stand_in_by_a_path() {
        assert_eq!(
            Source::Registry.dependency("ptx-std", "crates/ptx-std"),
            format!("version = \"{}\"", env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(
            Source::Registry.dependency("find_cuda_helper", "crates/find_cuda_helper"),
            "path = \"find_cuda_helper\""
        );
    }

    #[test]
    fn this_tree_is_one_and_its_parts_are_none() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(matches!(tree(root), Ok(Source::Tree(_))));
        let error = tree(&root.join("crates")).expect_err("it is none");
        assert!(
            error.contains("crates/find_cuda_helper/Cargo.toml is not there"),
            "{error}"
        );
    }
}
