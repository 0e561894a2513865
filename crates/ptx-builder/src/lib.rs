//! Builds a Rust kernel crate to PTX from a build script, with a stock Rust compiler. The names
//! are those of Rust-CUDA's `cuda_builder`.
//!
//! ```no_run
//! // build.rs
//! use ptx_builder::{CudaBuilder, CudaBuilderError, NvvmArch};
//!
//! fn main() -> Result<(), CudaBuilderError> {
//!     let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
//!     CudaBuilder::new("kernels")
//!         .arch(NvvmArch::Compute90)
//!         .copy_to(out.join("kernels.ptx"))
//!         .build()?;
//!     Ok(())
//! }
//! ```
//!
//! The kernel crate is compiled in a nested call of cargo, together with `core` and `alloc`, into
//! one PTX file for each architecture. The nested target folder stands beside the outer build's
//! profiles, so `core` is compiled once for each architecture and not again for each profile.
//!
//! Before the PTX is written, accesses to shared and constant memory are made to name it, launch
//! bounds are added, and it is looked through for what makes kernels wrong or slow: see [`Lint`].
//!
//! Which compiler: [`toolchain`].
//!
//! Options of code generation: the setters of [`CudaBuilder`]. A kernel crate sees the architecture as Rust-CUDA's do:
//! `cfg(target_feature = "compute_90")` for it and for every earlier one, and `env!("CUDA_ARCH")`, `"900"` for `sm_90`.
//! rustc's own `cfg(target_feature = "sm_90")` is there too. A crate that is compiled for the host as well lists the
//! names in its `Cargo.toml` (`unexpected_cfgs`, `check-cfg`), and takes the variable with `option_env!`.
//!
//! Resources of each kernel, and its occupancy: [`resources`].

mod arch;
pub mod assembler;
mod checkout;
mod error;
mod half;
mod nested;
pub mod nvidia;
mod options;
mod ptx;
pub mod resources;
mod source;
pub mod toolchain;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

pub use arch::NvvmArch;
use checkout::Claim;
pub use checkout::WORKSPACE_VARIABLE;
pub use error::CudaBuilderError;
use half::Half;
use nested::KernelCrate;
use options::Options;
pub use options::{DebugInfo, Panics};
pub use ptx::Place;
use ptx::lints::Levels;
pub use ptx::lints::{Finding, Level, Lint, Severity};

/// One architecture's PTX, built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// The architecture that it was built for. It runs on that one and on every later one.
    pub arch: NvvmArch,
    /// Where it is.
    pub path: PathBuf,
    /// Where the report of its kernels' resources is, if `ptxas` was there to make it.
    pub resources: Option<PathBuf>,
}

/// A build of one kernel crate.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    path: PathBuf,
    arches: Vec<NvvmArch>,
    copy_to: Option<PathBuf>,
    embed_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    options: Options,
    levels: Levels,
}

impl CudaBuilder {
    /// A build of the kernel crate in the folder `path`, relative to the build script's package.
    pub fn new(path: impl AsRef<Path>) -> Self {
        CudaBuilder {
            path: path.as_ref().to_path_buf(),
            arches: vec![NvvmArch::default()],
            copy_to: None,
            embed_to: None,
            target_dir: None,
            options: Options::default(),
            levels: Levels::default(),
        }
    }

    /// Builds for this architecture alone. The default is [`NvvmArch::Compute90`].
    #[must_use]
    pub fn arch(self, arch: NvvmArch) -> Self {
        self.arches([arch])
    }

    /// Builds for each of these architectures.
    #[must_use]
    pub fn arches(mut self, arches: impl IntoIterator<Item = NvvmArch>) -> Self {
        self.arches = arches.into_iter().collect();
        self.arches.sort();
        self.arches.dedup();
        self
    }

    /// Copies the PTX to `path`. With several architectures each file's name gets its own:
    /// `kernels.ptx` becomes `kernels.sm_80.ptx` and `kernels.sm_90.ptx`.
    #[must_use]
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_path_buf());
        self
    }

    /// Writes a Rust expression to `path` for a host crate to `include!`: an array of
    /// `(architecture: u32, ptx: &'static str, resources: Option<&'static str>)`, one for each
    /// architecture, ascending, such as `[(90, include_str!(".."), Some(include_str!("..")))]`. The
    /// last is the JSON of a [`resources::Report`], where there was a `ptxas` to make it.
    #[must_use]
    pub fn embed_to(mut self, path: impl AsRef<Path>) -> Self {
        self.embed_to = Some(path.as_ref().to_path_buf());
        self
    }

    /// Puts the nested build's files in `path`. The default is `ptx` in the outer build's target
    /// folder.
    #[must_use]
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_path_buf());
        self
    }

    /// Sets the consequence of a lint that finds something in the PTX. By default all but [`Lint::LocalMemory`],
    /// [`Lint::PanicInLoop`] and [`Lint::InexactRemainder`] make the build fail.
    #[must_use]
    pub fn lint(mut self, lint: Lint, level: Level) -> Self {
        self.levels.set(lint, level);
        self
    }

    /// Builds, and returns the path of the PTX: with several architectures, of the first.
    ///
    /// # Errors
    /// See [`CudaBuilder::build_all`].
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        self.build_all().map(|mut all| all.swap_remove(0).path)
    }

    /// Builds, and returns the PTX of every architecture, ascending.
    ///
    /// Tells cargo to run the build script again when the kernel crate or a path dependency of it
    /// changes.
    ///
    /// # Errors
    /// No architecture was named, the kernel crate is not there or has no library, its sources ask
    /// for something that the compiler would silently ignore (shared memory by `nvvm_internal`, another
    /// layout of glam than the host's), no usable compiler was found, the crate does not
    /// compile (with the compiler's own words), a denied [`Lint`] found something, or a file could not be
    /// written.
    pub fn build_all(self) -> Result<Vec<Ptx>, CudaBuilderError> {
        if self.arches.is_empty() {
            return Err(CudaBuilderError::NoArch);
        }
        if env::var_os("DOCS_RS").is_some() {
            return self.stand_in();
        }
        let kernels = KernelCrate::open(&self.path)?;
        watch(&kernels);
        println!("cargo::rerun-if-env-changed={}", nvidia::PTXAS_VARIABLE);
        source::check(&kernels)?;
        for warning in self.options.without_effect() {
            println!("cargo::warning={warning}");
        }
        let toolchain = toolchain::find()?;
        let target_dir = match &self.target_dir {
            Some(folder) => folder.clone(),
            None => nested::default_target_dir()?,
        };
        let mut built = Vec::new();
        let mut warned = BTreeSet::new();
        for &arch in &self.arches {
            let folder = if self.options.common_libraries {
                target_dir.join("common")
            } else {
                target_dir.join(arch.to_string())
            };
            let claim = Claim::new(&toolchain, &kernels, &folder)?;
            let half = self.half(&kernels, &folder)?;
            let assembly =
                nested::compile(&toolchain, &kernels, arch, &self.options, &half, &folder)?;
            let ptx = self.finish(&kernels, toolchain.version, arch, &assembly, &mut warned)?;
            let path = match &self.copy_to {
                Some(target) => copy(&ptx, &self.copy_name(target, arch))?,
                None => ptx.clone(),
            };
            self.copy_modules(&ptx, &path, arch)?;
            drop(claim);
            let made = resources::write_report(&path, arch, kernels.folder())?;
            let found = made.lint(&path, &kernels.sources(), &self.levels)?;
            refuse(found, &path, arch, &mut warned)?;
            built.push(Ptx {
                arch,
                path,
                resources: made.path(),
            });
        }
        if let Some(target) = &self.embed_to {
            write(target, &embedding(&built))?;
        }
        Ok(built)
    }

    /// On docs.rs, which has no compiler for PTX: empty files, so that the crates' documentation is built.
    fn stand_in(&self) -> Result<Vec<Ptx>, CudaBuilderError> {
        let folder = env::var_os("OUT_DIR").ok_or(CudaBuilderError::NoOutDir)?;
        let unnamed = PathBuf::from(folder).join("kernels.ptx");
        let target = self.copy_to.as_ref().unwrap_or(&unnamed);
        let empty = |&arch: &NvvmArch| {
            let path = self.copy_name(target, arch);
            write(&path, "")?;
            Ok(Ptx {
                arch,
                path,
                resources: None,
            })
        };
        let built: Vec<Ptx> = self.arches.iter().map(empty).collect::<Result<_, _>>()?;
        if let Some(target) = &self.embed_to {
            write(target, &embedding(&built))?;
        }
        Ok(built)
    }

    /// Prepares the crate `half` in the nested build's folder, and tells why it stays as it is, where the kernels use it.
    fn half(&self, kernels: &KernelCrate, folder: &Path) -> Result<Half, CudaBuilderError> {
        if !self.options.half_by_instructions {
            return Ok(Half::None);
        }
        let half = Half::prepare(kernels, folder)?;
        if let Half::Unknown(Some(advice)) = &half {
            println!("cargo::warning={advice}");
        }
        Ok(half)
    }

    /// Rewrites and checks what the compiler wrote, and returns the path of the result, beside it.
    fn finish(
        &self,
        kernels: &KernelCrate,
        compiler: (u32, u32),
        arch: NvvmArch,
        assembly: &Path,
        warned: &mut BTreeSet<Finding>,
    ) -> Result<PathBuf, CudaBuilderError> {
        let options = ptx::Options {
            sources: kernels.sources(),
            levels: self.levels.clone(),
            compiler,
            passes: self.options.passes,
        };
        let processed = ptx::process(&read(assembly)?, &options);
        let path = assembly.with_extension("ptx");
        write(&path, &processed.text)?;
        refuse(processed.findings, &path, arch, warned)?;
        Ok(path)
    }

    /// Puts LLVM's text and bitcode where they were asked for.
    fn copy_modules(
        &self,
        built: &Path,
        shipped: &Path,
        arch: NvvmArch,
    ) -> Result<(), CudaBuilderError> {
        let beside = self
            .options
            .extra_files()
            .map(|ending| (ending, shipped.with_extension(ending)));
        let module = self.options.final_module_path.as_ref();
        let named = module.map(|path| ("ll", self.copy_name(path, arch)));
        for (ending, target) in beside.chain(named) {
            let source = built.with_extension(ending);
            if source != target {
                fs::copy(&source, &target)
                    .map_err(|error| CudaBuilderError::io("write", &target, error))?;
            }
        }
        Ok(())
    }

    fn copy_name(&self, target: &Path, arch: NvvmArch) -> PathBuf {
        if self.arches.len() == 1 {
            return target.to_path_buf();
        }
        let extension = target.extension().unwrap_or("ptx".as_ref());
        target.with_extension(format!("{arch}.{}", extension.display()))
    }
}

/// Tells cargo what the PTX depends on.
fn watch(kernels: &KernelCrate) {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let package = package.and_then(|folder| fs::canonicalize(folder).ok());
    for input in kernels.inputs() {
        let input = match &package {
            Some(package) => checkout::watched(&input, kernels.workspace(), package),
            None => input,
        };
        println!("cargo::rerun-if-changed={}", input.display());
    }
    println!(
        "cargo::rerun-if-env-changed={}",
        checkout::WORKSPACE_VARIABLE
    );
}

/// Shows the findings that are warnings, each once, and fails for those that are errors.
fn refuse(
    findings: Vec<Finding>,
    path: &Path,
    arch: NvvmArch,
    warned: &mut BTreeSet<Finding>,
) -> Result<(), CudaBuilderError> {
    let (errors, warnings): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .partition(|finding| finding.severity == Severity::Error);
    for warning in warnings {
        // Every architecture has the same.
        if warned.insert(warning.clone()) {
            println!("cargo::warning={warning}");
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(CudaBuilderError::Lints {
            path: path.to_path_buf(),
            arch,
            findings: errors,
        }),
    }
}

fn embedding(built: &[Ptx]) -> String {
    let rows = built.iter().map(|ptx| {
        let resources = match &ptx.resources {
            Some(path) => format!("Some(include_str!({path:?}))"),
            None => "None".to_owned(),
        };
        let arch = ptx.arch.number();
        format!("    ({arch}, include_str!({:?}), {resources}),\n", ptx.path)
    });
    format!("[\n{}]\n", rows.collect::<String>())
}

fn copy(source: &Path, target: &Path) -> Result<PathBuf, CudaBuilderError> {
    write(target, &read(source)?)?;
    Ok(target.to_path_buf())
}

fn read(path: &Path) -> Result<String, CudaBuilderError> {
    fs::read_to_string(path).map_err(|error| CudaBuilderError::io("read", path, error))
}

/// Leaves a file alone that already has the text, so that nothing downstream is built again.
fn write(target: &Path, text: &str) -> Result<(), CudaBuilderError> {
    if fs::read_to_string(target).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(target, text).map_err(|error| CudaBuilderError::io("write", target, error))
}
