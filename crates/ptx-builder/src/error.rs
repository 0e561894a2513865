//! Errors of a build, each with what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::toolchain::{MINIMUM, RECOMMENDED, Rejection};
use crate::{Finding, NvvmArch, Place};

/// Why no PTX came out.
///
/// `Debug` prints the same text as `Display`, so a build script may return it from `main` or
/// unwrap it, and the reader sees lines and not escapes.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The name of an architecture is not one.
    #[error("unknown GPU architecture {0:?}: known are {known}", known = known_arches())]
    UnknownArch(String),

    /// The build was asked for no architecture.
    #[error("no GPU architecture to build for: name at least one, such as sm_90")]
    NoArch,

    /// There is no package at the given path.
    #[error("no kernel crate at {path}: {reason}")]
    NoKernelCrate {
        /// Where it was looked for.
        path: PathBuf,
        /// Cargo's message.
        reason: String,
    },

    /// The package has no library.
    #[error("{0} has no library target: a kernel crate is a library (src/lib.rs)")]
    NoLibrary(PathBuf),

    /// No compiler is there that can build PTX.
    #[error(
        "no Rust compiler that can build PTX: it needs version {} or newer and the standard \
         library's sources.\nLooked at:\n{}\n{}",
        version(MINIMUM),
        looked_at(rejected),
        how_to_get_a_toolchain()
    )]
    NoToolchain {
        /// The compilers that were looked at, and why they will not do.
        rejected: Vec<Rejection>,
    },

    /// The kernel crate does not compile.
    #[error("{} does not compile for {arch}:\n{diagnostics}", path.display())]
    Compile {
        /// The kernel crate.
        path: PathBuf,
        /// The architecture it was compiled for.
        arch: NvvmArch,
        /// The messages of cargo and the compiler.
        diagnostics: String,
    },

    /// A static with Rust-CUDA's own attribute for shared memory, which means nothing to the compiler.
    #[error(
        "`nvvm_internal::addrspace(3)` would leave the static in global memory, for all blocks: write \
         `#[address_space(shared)]`\n{}",
        lines(.0)
    )]
    SharedByHand(Vec<Place>),

    /// The kernels and the host lay out glam's types in different ways.
    #[error(
        "the kernel crate's glam has {}, and {host} uses glam {version} with {}: vectors would lie \
         differently in memory. As in the kernels it is glam = {{ version = \"{version}\", features = {of_kernels:?} }}",
        features(of_kernels),
        features(of_host)
    )]
    GlamLayout {
        /// The package with the build script.
        host: String,
        /// The version of glam that the host uses.
        version: String,
        /// The features of the host's glam that decide the layout.
        of_host: Vec<String>,
        /// Those of the kernels' glam.
        of_kernels: Vec<String>,
    },

    /// Cargo cannot tell which features of glam a package is built with.
    #[error("cannot find out how {package} lays out glam's types: cargo tree: {reason}")]
    UnknownGlam {
        /// The kernel crate or the package with the build script.
        package: String,
        /// Cargo's message.
        reason: String,
    },

    /// The PTX has what [`crate::CudaBuilder::lint`] denies.
    #[error("the PTX for {arch} has what must not be in it ({}):\n{}", path.display(), lines(findings))]
    Lints {
        /// The PTX, for a look at it.
        path: PathBuf,
        /// The architecture that it is for.
        arch: NvvmArch,
        /// Everything that was found and is denied.
        findings: Vec<Finding>,
    },

    /// Neither [`crate::CudaBuilder::target_dir`] nor cargo said where to build.
    #[error(
        "OUT_DIR is not set: call CudaBuilder from a build script, or name a folder with \
         CudaBuilder::target_dir"
    )]
    NoOutDir,

    /// A file or a program could not be used.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

fn looked_at(rejected: &[Rejection]) -> String {
    match rejected {
        [] => "  nothing: no rustc is on the PATH, in /usr/bin or among rustup's toolchains"
            .to_owned(),
        _ => lines(rejected),
    }
}

fn how_to_get_a_toolchain() -> String {
    format!(
        "Get one in either of two ways:\n  \
           rustup toolchain install {RECOMMENDED} --profile minimal --component rust-src\n  \
           apt-get install rustc-web cargo-web rust-web-src     (Debian 12)\n\
         or name a compiler of your own: PTX_BUILDER_RUSTC=/path/to/rustc"
    )
}

impl CudaBuilderError {
    pub(crate) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        CudaBuilderError::Io {
            action,
            path: path.to_path_buf(),
            error,
        }
    }
}

fn features(names: &[String]) -> String {
    match names {
        [] => "no feature that changes its layout".to_owned(),
        [one] => format!("the feature `{one}`"),
        several => format!("the features `{}`", several.join("` and `")),
    }
}

impl fmt::Debug for CudaBuilderError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

fn known_arches() -> String {
    let names: Vec<String> = NvvmArch::ALL.iter().map(NvvmArch::to_string).collect();
    names.join(", ")
}

fn version((major, minor): (u32, u32)) -> String {
    format!("{major}.{minor}")
}

fn lines(all: &[impl fmt::Display]) -> String {
    let rows: Vec<String> = all.iter().map(|one| format!("  {one}")).collect();
    rows.join("\n")
}
