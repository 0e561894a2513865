//! What the kernels' sources say and the PTX does not: mistakes that nobody would see.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::nested::{KernelCrate, TARGET};
use crate::{CudaBuilderError, Place};

/// Looks for statics whose memory the compiler does not choose as the author wants, and for a `glam` whose
/// vectors the host lays out in another way.
///
/// # Errors
/// One of the two was found, or cargo cannot tell the features of `glam`.
pub(crate) fn check(kernels: &KernelCrate) -> Result<(), CudaBuilderError> {
    let sources = kernels.sources();
    let mut files = Vec::new();
    for folder in &sources.kernels {
        rust_files(folder, &mut files);
    }
    let mut uses_glam = false;
    let mut shared = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)
            .map_err(|error| CudaBuilderError::io("read", &file, error))?;
        uses_glam |= text.contains("glam");
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

/// The `.rs` files of a package but for its build's.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "target" && !name.as_encoded_bytes().starts_with(b".") {
                rust_files(&path, files);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The numbers of the lines, from 1 on, with Rust-CUDA's own attribute for shared memory.
fn lines_with_shared(text: &str) -> impl Iterator<Item = u32> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let (code, _) = line.split_once("//").unwrap_or((line, ""));
        let code: String = code.split_whitespace().collect();
        code.contains("nvvm_internal::addrspace(3)")
            .then_some(number)
    })
}

/// What decides how `glam` lays its types out.
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
        if let Some(feature) = on_host.symmetric_difference(&on_gpu).next() {
            return Err(CudaBuilderError::GlamLayout {
                host,
                version: glam.version.clone(),
                feature: (*feature).to_owned(),
                on_host: on_host.contains(feature),
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
