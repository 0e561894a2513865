//! Where the generated package finds Ridgepoint's crates.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::Failure;

/// The crates that a generated package names, and their folders in the source tree.
pub(super) const CRATES: [(&str, &str); 6] = [
    ("find_cuda_helper", "crates/shims/find_cuda_helper"),
    ("ridgepoint", ""),
    ("ridgepoint-driver", "crates/driver"),
    ("ridgepoint-gpu-test", "crates/tools/gpu-test"),
    ("ridgepoint-ptx-builder", "crates/ptx-builder"),
    ("ridgepoint-ptx-std", "crates/ptx-std"),
];

/// A source tree on this machine, by its absolute path. Nothing is taken from a registry: the crates
/// are not published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source(String);

impl Source {
    /// The tree that is named; without a name, the one that this command was built from.
    pub(super) fn find(named: Option<&Path>) -> Result<Source, Failure> {
        const OWN: &str = env!("CARGO_MANIFEST_DIR");
        match named {
            Some(folder) => tree(folder).map_err(Failure::Usage),
            None => tree(Path::new(OWN)).map_err(|error| {
                Failure::Failed(format!(
                    "the source tree that this command was built from is gone: {error}.\n\
                     Ridgepoint's crates are not on a registry yet: clone {} and name the clone with \
                     --path DIR",
                    env!("CARGO_PKG_REPOSITORY")
                ))
            }),
        }
    }

    /// Returns a manifest's entry for one of [`CRATES`].
    pub(super) fn dependency(&self, folder: &str) -> String {
        let root = Path::new(&self.0);
        match folder {
            // Joined with nothing, a path gets a slash.
            "" => path_key(root),
            folder => path_key(&root.join(folder)),
        }
    }

    /// Where to read how kernels are written.
    pub(super) fn guide(&self) -> String {
        format!("{}/docs/writing-kernels.md", self.0)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the Ridgepoint in {}", self.0)
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
    into_text(root).map(Source)
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
        let source = Source("/a \"b\"".to_owned());
        assert_eq!(
            source.dependency("crates/ptx-std"),
            r#"path = "/a \"b\"/crates/ptx-std""#
        );
    }

    #[test]
    fn this_tree_is_one_and_its_parts_are_none() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(tree(root).is_ok());
        let error = tree(&root.join("crates")).expect_err("it is none");
        assert!(
            error.contains("crates/shims/find_cuda_helper/Cargo.toml is not there"),
            "{error}"
        );
    }
}
