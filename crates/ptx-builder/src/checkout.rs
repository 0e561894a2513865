//! Checkouts that share a target folder.
//!
//! Cargo tells packages that lie alike in two workspaces apart by when their files were changed, and not by where they
//! are: what one checkout has built passes for the other's. A build script runs again where another checkout built last,
//! because cargo compares [`WORKSPACE_VARIABLE`]; the nested build makes the kernel crate and its path dependencies anew.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::CudaBuilderError;
use crate::nested::{self, KernelCrate};
use crate::toolchain::Toolchain;

/// The environment variable that has the workspace's folder, which its `.cargo/config.toml` sets:
///
/// ```toml
/// [env]
/// RIDGEPOINT_WORKSPACE = { value = "", relative = true, force = true }
/// ```
///
/// Without it, kernels of a workspace that shares its target folder (`CARGO_TARGET_DIR`) with another checkout are
/// built again only once they are changed.
pub const WORKSPACE_VARIABLE: &str = "RIDGEPOINT_WORKSPACE";

/// A folder of nested builds that belongs to one checkout until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    _lock: File,
}

impl Claim {
    /// Claims the folder: waits until no other build uses the folder, and removes what other checkouts have built of the packages.
    pub(crate) fn new(
        toolchain: &Toolchain,
        kernels: &KernelCrate,
        folder: &Path,
    ) -> Result<Claim, CudaBuilderError> {
        let owners = folder.join("checkouts");
        let failed = |action, path: &Path| {
            let path = path.to_path_buf();
            move |error| CudaBuilderError::io(action, &path, error)
        };
        fs::create_dir_all(&owners).map_err(failed("create", &owners))?;
        let lock_path = owners.join(".lock");
        let lock = File::create(&lock_path).map_err(failed("write", &lock_path))?;
        match lock.lock() {
            // Some network folders have no locks, and cargo does without them, too.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => locked.map_err(failed("lock", &lock_path))?,
        }
        let foreign: Vec<Owned> = kernels
            .packages()
            .map(|(id, package)| Owned {
                marker: owners.join(id.replace('@', "-")),
                id,
                folder: package.display().to_string(),
            })
            .filter(|it| !it.is_ours())
            .collect();
        if !foreign.is_empty() && folder.join(nested::TARGET).is_dir() {
            let ids = foreign.iter().map(|it| it.id.as_str());
            nested::clean(toolchain, kernels, folder, ids)?;
        }
        for it in &foreign {
            fs::write(&it.marker, &it.folder).map_err(failed("write", &it.marker))?;
        }
        Ok(Claim { _lock: lock })
    }
}

/// A package that the folder has builds of.
struct Owned {
    id: String,
    folder: String,
    /// The file that has the folder of the package that was built last.
    marker: PathBuf,
}

impl Owned {
    fn is_ours(&self) -> bool {
        fs::read_to_string(&self.marker).is_ok_and(|folder| folder == self.folder)
    }
}

/// Returns the path that cargo shall watch for an input: relative to the build script's package where both are of one workspace, so that
/// each checkout has its own watched.
pub(crate) fn watched(input: &Path, workspace: &Path, package: &Path) -> PathBuf {
    match (
        package.strip_prefix(workspace),
        input.strip_prefix(workspace),
    ) {
        (Ok(package), Ok(input)) => {
            let up = package.components().map(|_| Path::new(".."));
            up.chain([input]).collect()
        }
        _ => input.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_in_a_workspace_is_relative_to_the_package() {
        let watched = |input: &str, package: &str| {
            let path = watched(Path::new(input), Path::new("/w"), Path::new(package));
            path.display().to_string()
        };
        assert_eq!(watched("/w/kernels/src", "/w"), "kernels/src");
        assert_eq!(watched("/w/Cargo.lock", "/w/a/b"), "../../Cargo.lock");
        assert_eq!(watched("/std/src", "/w"), "/std/src");
        assert_eq!(watched("/w/kernels/src", "/other"), "/w/kernels/src");
    }

    #[test]
    fn the_workspace_and_new_packages_name_their_folder() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let row =
            format!("{WORKSPACE_VARIABLE} = {{ value = \"\", relative = true, force = true }}");
        for config in [
            ".cargo/config.toml",
            "host/src/cli/new/template/config.toml",
        ] {
            let text = fs::read_to_string(tree.join(config)).expect(config);
            let (_, table) = text.split_once("[env]\n").expect(config);
            let table = table.split("\n[").next().unwrap_or_default();
            assert!(
                table.lines().any(|line| line == row),
                "{config} lacks {row}"
            );
        }
        for script in ["kernels-gpu/build.rs", "kernels-hopper/build.rs"] {
            let text = fs::read_to_string(tree.join(script)).expect(script);
            let told = format!("println!(\"cargo::rerun-if-env-changed={WORKSPACE_VARIABLE}\");");
            assert!(text.contains(&told), "{script} lacks {told}");
        }
    }
}
