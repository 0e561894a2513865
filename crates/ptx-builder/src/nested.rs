//! The nested call of cargo that compiles a kernel crate to PTX.

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, NodeDep, Package, PackageId};

use crate::half::Half;
use crate::options::Options;
use crate::ptx::Sources;
use crate::toolchain::Toolchain;
use crate::{CudaBuilderError, NvvmArch};

pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Debug assertions and overflow checks are the workspace's: LLVM cannot make PTX of those in libm,
/// which are of 128 bits.
const UNCHECKED_DEPENDENCIES: [&str; 4] = [
    "--config",
    "profile.release.package.'*'.debug-assertions=false",
    "--config",
    "profile.release.package.'*'.overflow-checks=false",
];

/// Path dependencies of kernel crates that are not the kernel author's.
const LIBRARIES: [&str; 3] = [
    "cuda_std",
    "ridgepoint-ptx-std",
    "ridgepoint-ptx-std-macros",
];

/// A kernel crate as cargo sees it.
pub(crate) struct KernelCrate {
    metadata: Metadata,
    package: Package,
    library: String,
}

impl KernelCrate {
    pub(crate) fn open(path: &Path) -> Result<Self, CudaBuilderError> {
        let manifest = path.join("Cargo.toml");
        let missing = |reason: String| CudaBuilderError::NoKernelCrate {
            path: path.to_path_buf(),
            reason,
        };
        let manifest = fs::canonicalize(&manifest)
            .map_err(|error| missing(format!("{}: {error}", manifest.display())))?;
        let metadata = MetadataCommand::new()
            .manifest_path(&manifest)
            .exec()
            .map_err(|error| missing(error.to_string()))?;
        let package = metadata
            .packages
            .iter()
            .find(|package| package.manifest_path.as_std_path() == manifest)
            .ok_or_else(|| missing("its Cargo.toml describes no package".to_owned()))?
            .clone();
        let library = package
            .targets
            .iter()
            .find(|target| target.is_lib() || target.is_rlib() || target.is_cdylib())
            .ok_or_else(|| CudaBuilderError::NoLibrary(path.to_path_buf()))?
            .name
            .replace('-', "_");
        Ok(KernelCrate {
            metadata,
            package,
            library,
        })
    }

    /// As cargo's `--package` takes it.
    pub(crate) fn id(&self) -> String {
        id_of(&self.package)
    }

    /// The kernel crate and its path dependencies, as `--package` takes them, with their folders.
    pub(crate) fn packages(&self) -> impl Iterator<Item = (String, &Path)> {
        let packages = self.local_packages().into_iter();
        packages.map(|package| (id_of(package), folder_of(package)))
    }

    /// The folder of its workspace.
    pub(crate) fn workspace(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    pub(crate) fn folder(&self) -> &Path {
        folder_of(&self.package)
    }

    /// Every file and folder that the PTX depends on: those of the kernel crate and of its path
    /// dependencies, and the lock file.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = vec![self.metadata.workspace_root.join("Cargo.lock").into()];
        for package in self.local_packages() {
            let entries = fs::read_dir(folder_of(package)).into_iter().flatten();
            inputs.extend(entries.flatten().filter_map(|entry| {
                let name = entry.file_name();
                let ignored = name == "target" || name.as_encoded_bytes().starts_with(b".");
                (!ignored).then(|| entry.path())
            }));
        }
        inputs
    }

    /// The packages of this name that the kernel crate reaches.
    pub(crate) fn packages_named(&self, name: &str) -> Vec<&Package> {
        let reached = self.reached();
        let packages = self.metadata.packages.iter();
        let named = packages.filter(|it| it.name.as_str() == name && reached.contains(&it.id));
        named.collect()
    }

    /// Whose sources are whose, for messages.
    pub(crate) fn sources(&self) -> Sources {
        let (libraries, kernels) = self
            .local_packages()
            .into_iter()
            .partition::<Vec<_>, _>(|package| LIBRARIES.contains(&package.name.as_str()));
        let folders = |packages: Vec<&Package>| {
            let folders = packages.into_iter().map(folder_of);
            folders.map(Path::to_path_buf).collect()
        };
        Sources {
            root: self.metadata.workspace_root.clone().into(),
            kernels: folders(kernels),
            libraries: folders(libraries),
        }
    }

    /// The kernel crate and the path dependencies that it reaches.
    fn local_packages(&self) -> Vec<&Package> {
        let reached = self.reached();
        let packages = self.metadata.packages.iter();
        let local = packages.filter(|it| it.source.is_none() && reached.contains(&it.id));
        local.collect()
    }

    /// The kernel crate and its dependencies, but for those of tests.
    fn reached(&self) -> BTreeSet<&PackageId> {
        let nodes = self
            .metadata
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes);
        let dependencies: HashMap<&PackageId, &Vec<NodeDep>> =
            nodes.map(|node| (&node.id, &node.deps)).collect();
        let is_of_tests = |dependency: &NodeDep| {
            let mut kinds = dependency.dep_kinds.iter();
            kinds.all(|one| one.kind == DependencyKind::Development)
        };
        let mut reached = BTreeSet::new();
        let mut open = vec![&self.package.id];
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                let all = dependencies.get(id).copied().into_iter().flatten();
                open.extend(all.filter(|one| !is_of_tests(one)).map(|one| &one.pkg));
            }
        }
        reached
    }
}

fn id_of(package: &Package) -> String {
    format!("{}@{}", package.name, package.version)
}

fn folder_of(package: &Package) -> &Path {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest)
}

/// `ptx` in the target folder that the build script's `OUT_DIR` lies in. That folder is known by what
/// cargo puts there: the one or the other, by its version and by who made the folder. It is the innermost: one around it is that
/// of another package, or of another commit of the same, whose PTX has the same name.
pub(crate) fn default_target_dir() -> Result<PathBuf, CudaBuilderError> {
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or(CudaBuilderError::NoOutDir)?);
    Ok(target_of(&out_dir).join("ptx"))
}

/// The target folder that a folder lies in.
fn target_of(out_dir: &Path) -> &Path {
    const MARKS: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];
    let mut folders = out_dir.ancestors();
    let marked = folders.find(|folder| MARKS.iter().any(|mark| folder.join(mark).is_file()));
    marked.unwrap_or(out_dir)
}

/// Compiles to PTX and returns its path. Cheap when nothing has changed: cargo sees to that.
pub(crate) fn compile(
    toolchain: &Toolchain,
    kernels: &KernelCrate,
    arch: NvvmArch,
    options: &Options,
    half: &Half,
    target_dir: &Path,
) -> Result<PathBuf, CudaBuilderError> {
    let output = cargo(toolchain, kernels, arch, options, half, target_dir)
        .output()
        .map_err(|error| CudaBuilderError::io("run", &toolchain.cargo, error))?;
    if !output.status.success() {
        return Err(CudaBuilderError::Compile {
            path: kernels.folder().to_path_buf(),
            arch,
            diagnostics: of_the_crates(&String::from_utf8_lossy(&output.stderr)),
        });
    }
    let file = format!("{}.s", kernels.library);
    Ok(target_dir.join(TARGET).join("release/deps").join(file))
}

/// Removes what has been built of the packages in the folder.
pub(crate) fn clean<'p>(
    toolchain: &Toolchain,
    kernels: &KernelCrate,
    target_dir: &Path,
    packages: impl Iterator<Item = &'p str>,
) -> Result<(), CudaBuilderError> {
    let mut command = inner_cargo(toolchain, kernels, target_dir);
    command.args(["clean", "--release", "--target", TARGET]);
    for package in packages {
        command.args(["--package", package]);
    }
    let output = command
        .output()
        .map_err(|error| CudaBuilderError::io("run", &toolchain.cargo, error))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(CudaBuilderError::io(
        "clean",
        target_dir,
        io::Error::other(message),
    ))
}

/// Returns the compiler's messages, less its warnings of the attributes that we add, and less how many warnings there
/// were: these are among them.
fn of_the_crates(diagnostics: &str) -> String {
    let mut parts = Vec::new();
    for part in diagnostics.split("\n\n") {
        let warning = part.find("warning: ").filter(|&at| {
            part[at..].contains("--> <crate attribute>") && !part[..at].contains("error")
        });
        match warning {
            Some(at) => parts.extend(Some(part[..at].trim_end()).filter(|part| !part.is_empty())),
            None => parts.push(part),
        }
    }
    let all = parts.join("\n\n");
    let is_count =
        |line: &&str| line.starts_with("warning: `") && line.contains("` (lib) generated ");
    all.split_inclusive('\n')
        .filter(|line| !is_count(line))
        .collect()
}

fn inner_cargo(toolchain: &Toolchain, kernels: &KernelCrate, target_dir: &Path) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    forget_outer_build(&mut command);
    command
        .current_dir(kernels.folder())
        .env("RUSTC", &toolchain.rustc)
        // -Zbuild-std, and the features of `core` that only a compiler's own crates may use.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target_dir);
    command
}

fn cargo(
    toolchain: &Toolchain,
    kernels: &KernelCrate,
    arch: NvvmArch,
    options: &Options,
    half: &Half,
    target_dir: &Path,
) -> Command {
    let mut command = inner_cargo(toolchain, kernels, target_dir);
    command
        // What Rust-CUDA's kernels read with env!: 900 for compute capability 9.0.
        .env("CUDA_ARCH", format!("{}0", arch.number()))
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            rustflags(toolchain, arch, options).join("\u{1f}"),
        )
        .args(["rustc", "--lib", "--release", "--crate-type", "cdylib"])
        .args(["-Zbuild-std=core,alloc", "--target", TARGET])
        .args(UNCHECKED_DEPENDENCIES)
        .args(half.arguments())
        .args(options.flags_of_library(arch, toolchain))
        .args(&options.build_args)
        // With fat LTO the assembly of the cdylib is the whole program's PTX, so there is nothing
        // left to link and no bitcode linker is needed. Of the dependencies alone LLVM cannot
        // always make assembly: they have functions that no kernel can call.
        .args(["--", "--emit=asm", "-Clinker=true"])
        .args(options.flags_of_last(arch, toolchain));
    for (name, value) in options.profile() {
        command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    command
}

fn rustflags(toolchain: &Toolchain, arch: NvvmArch, options: &Options) -> Vec<String> {
    let mut flags = vec![
        // Crates with kernels need not name the features that our macros' expansions use, and may.
        "-Zcrate-attr=feature(abi_ptx, asm_experimental_arch, register_tool)".to_owned(),
        "-Aduplicate-features".to_owned(),
        // As Rust-CUDA's builder does, whose kernel crates therefore do not say so. Cargo keeps these
        // flags from build scripts and procedural macros, which are for the host. Where a crate has the
        // attribute itself, ours is reported as unused: never as an error, whatever it denies.
        "-Zcrate-attr=no_std".to_owned(),
        "--force-warn=unused-attributes".to_owned(),
        // Rust-CUDA's own attributes, which some write by hand (`nvvm_internal::addrspace(4)`).
        "-Zcrate-attr=register_tool(nvvm_internal)".to_owned(),
    ];
    if toolchain.needs_jump_threading_off() {
        flags.push("-Zmir-enable-passes=-JumpThreading".to_owned());
    }
    flags.extend(options.flags_of_all(arch));
    flags
}

/// Takes away what the outer cargo, rustup or clippy set for the host's compiler.
pub(crate) fn forget_outer_build(command: &mut Command) {
    const EXACT: [&str; 8] = [
        "CARGO_INCREMENTAL",
        "RUSTC",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTUP_TOOLCHAIN",
        "TARGET",
    ];
    const PREFIXES: [&str; 3] = ["CARGO_ENCODED_", "CARGO_BUILD_", "CARGO_PROFILE_"];
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if EXACT.contains(&&*text) || PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `compare --against` builds a commit within the target folder of the package.
    #[test]
    fn a_build_within_the_target_folder_of_another_has_its_own_ptx() {
        let folder = tempfile::tempdir().expect("a folder");
        let outer = folder.path().join("target");
        let inner = outer.join("ridgepoint-against/1f/target");
        let out_dir = inner.join("release/build/kernels-1f/out");
        fs::create_dir_all(&out_dir).expect("folders");
        for marked in [&outer, &inner] {
            fs::write(marked.join("CACHEDIR.TAG"), "").expect("writable");
        }
        assert_eq!(target_of(&out_dir), inner);
        assert_eq!(target_of(&outer.join("debug/build")), outer);
    }

    #[test]
    fn warnings_of_what_we_add_are_left_out_and_no_other() {
        let ours = "warning: unused attribute\n --> <crate attribute>:1:1\n  = note: a note";
        let theirs = "warning: unused\n --> src/lib.rs:1:1";
        let error = "error: no such tool\n --> <crate attribute>:1:1";
        let count = "warning: `a` (lib) generated 2 warnings (1 duplicate)";
        let all = format!("   Compiling a\n{ours}\n\n{count}\n{theirs}\n\n{ours}\n\n{error}\n");
        let left = format!("   Compiling a\n\n{theirs}\n\n{error}\n");
        assert_eq!(of_the_crates(&all), left);
    }

    #[test]
    fn what_the_ptx_depends_on_is_the_kernel_crate_and_its_path_dependencies() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workspace = fs::canonicalize(workspace).expect("it is there");
        let kernels = KernelCrate::open(&workspace.join("kernels-gpu")).expect("it is there");
        let inputs = kernels.inputs();
        for path in [
            "Cargo.lock",
            "kernels-gpu/src",
            "kernels-gpu/Cargo.toml",
            "crates/ptx-std/src",
            "crates/ptx-std-macros/src",
        ] {
            assert!(
                inputs.contains(&workspace.join(path)),
                "{path} is not in {inputs:?}"
            );
        }
        // ptx-std's tests need the builder.
        for path in [
            "host",
            "target",
            "crates/internal/simt/src",
            "crates/ptx-builder/src",
        ] {
            assert!(
                !inputs.contains(&workspace.join(path)),
                "{path} is in {inputs:?}"
            );
        }
        assert!(inputs.iter().all(|path| path.exists()), "{inputs:?}");
    }
}
