//! Mistakes in the kernels' sources that the PTX does not show, and nobody would see.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::nested::{KernelCrate, TARGET, forget_outer_build};
use crate::{CudaBuilderError, Place};

/// Looks for shared statics that the compiler would put into global memory, and for a host whose `glam` lays
/// out vectors differently.
///
/// # Errors
/// One of the two was found, a source cannot be read, or cargo cannot tell the features of `glam`.
pub(crate) fn check(kernels: &KernelCrate) -> Result<(), CudaBuilderError> {
    let sources = kernels.sources();
    let mut uses_glam = false;
    let mut shared = Vec::new();
    for file in rust_files(&sources.kernels)? {
        let text = fs::read_to_string(&file)
            .map_err(|error| CudaBuilderError::io("read", &file, error))?;
        uses_glam |= code(&text).any(|line| line.contains("glam"));
        let path = file.strip_prefix(&sources.root).unwrap_or(&file);
        shared.extend(lines_with_shared(&text).map(|line| Place {
            file: path.to_path_buf(),
            line,
        }));
    }
    if !shared.is_empty() {
        return Err(CudaBuilderError::SharedByHand(shared));
    }
    // Set for a build script alone.
    match env::var("TARGET") {
        Ok(target) if uses_glam => compare_glam(kernels, &target),
        _ => Ok(()),
    }
}

/// The `.rs` files of packages, without those of build output, hidden folders and packages inside.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn rust_files(packages: &[PathBuf]) -> Result<Vec<PathBuf>, CudaBuilderError> {
    let mut folders = packages.to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let unreadable = |error| CudaBuilderError::io("read", &folder, error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (path, name) = (entry.path(), entry.file_name());
            // A link is no folder here, so that none leads back.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                if name != "target" && !is_hidden && !path.join("Cargo.toml").exists() {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// The lines without what stands behind `//`.
pub(crate) fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
}

/// The numbers of the lines, from 1 on, with Rust-CUDA's own attribute for shared memory.
fn lines_with_shared(text: &str) -> impl Iterator<Item = u32> {
    (1..).zip(code(text)).filter_map(|(number, line)| {
        let line: String = line.split_whitespace().collect();
        line.contains("nvvm_internal::addrspace(3)")
            .then_some(number)
    })
}

/// The features that decide how `glam` lays its types out.
const OF_LAYOUT: [&str; 2] = ["cuda", "scalar-math"];

/// Compares the features of `glam` in the build script's package with those in the kernels.
fn compare_glam(kernels: &KernelCrate, target: &str) -> Result<(), CudaBuilderError> {
    let variable = |name| env::var(name).unwrap_or_default();
    let host = variable("CARGO_PKG_NAME");
    let features = variable("CARGO_CFG_FEATURE");
    let of_host = glams(
        Path::new(&variable("CARGO_MANIFEST_DIR")),
        &format!("{host}@{}", variable("CARGO_PKG_VERSION")),
        target,
        &["--no-default-features", "--features", &features],
    )?;
    let of_kernels = glams(kernels.folder(), &kernels.id(), TARGET, &[])?;
    let on_gpu: BTreeSet<&str> = of_kernels.iter().flat_map(Glam::of_layout).collect();
    for glam in &of_host {
        let on_host: BTreeSet<&str> = glam.of_layout().collect();
        if on_host != on_gpu {
            let names = |set: BTreeSet<&str>| set.into_iter().map(str::to_owned).collect();
            return Err(CudaBuilderError::GlamLayout {
                host,
                version: glam.version.clone(),
                of_host: names(on_host),
                of_kernels: names(on_gpu),
            });
        }
    }
    Ok(())
}

struct Glam {
    version: String,
    features: String,
}

impl Glam {
    fn of_layout(&self) -> impl Iterator<Item = &str> {
        self.features
            .split(',')
            .filter(|feature| OF_LAYOUT.contains(feature))
    }
}

/// Each version of `glam` that the package is built with, by itself and not with its whole workspace.
fn glams(
    folder: &Path,
    package: &str,
    target: &str,
    features: &[&str],
) -> Result<Vec<Glam>, CudaBuilderError> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    forget_outer_build(&mut command);
    command
        .current_dir(folder)
        .args(["tree", "--quiet", "--package", package, "--target", target])
        .args([
            "--edges", "normal", "--prefix", "none", "--format", "{p}\t{f}",
        ])
        .args(features);
    let output = command
        .output()
        .map_err(|error| CudaBuilderError::io("run", Path::new(&cargo), error))?;
    if !output.status.success() {
        return Err(CudaBuilderError::UnknownGlam {
            package: package.to_owned(),
            reason: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.lines().filter_map(|row| row.strip_prefix("glam v"));
    Ok(rows
        .filter_map(|row| row.split_once('\t'))
        .map(|(version, features)| Glam {
            version: version.to_owned(),
            // A repeated package ends with " (*)".
            features: features.trim_end_matches(" (*)").to_owned(),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_by_hand_is_found_by_its_lines() {
        let text = "#[nvvm_internal::addrspace(3)]\nstatic mut A: u32 = 0;\n\
            // nvvm_internal::addrspace(3)\n\
            #[cfg_attr(target_os = \"cuda\", nvvm_internal::addrspace( 3 ))]\n\
            #[nvvm_internal::addrspace(4)]\n";
        assert_eq!(lines_with_shared(text).collect::<Vec<_>>(), [1, 4]);
    }
}
