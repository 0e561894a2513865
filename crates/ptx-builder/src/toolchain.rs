//! Finds a Rust compiler that can build PTX: version 1.96 or newer, with the standard library's
//! sources. Older ones do not mark functions `convergent` and can copy a barrier into both arms of
//! a branch.
//!
//! In this order:
//! 1. the compiler that the environment variable `PTX_BUILDER_RUSTC` names, and no other;
//! 2. the compiler that builds the host side;
//! 3. the newest of those that are installed, nightlies last: rustup's toolchains, and each `rustc`
//!    on the `PATH` and in `/usr/bin`;
//! 4. [`RECOMMENDED`], installed by rustup, unless `RUSTUP_AUTO_INSTALL=0` forbids it.
//!
//! A `rust-toolchain.toml` counts only where it chooses the host's compiler: that of a kernel crate
//! written for Rust-CUDA names a nightly that cannot build PTX this way.

use std::cmp::Reverse;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::CudaBuilderError;

/// The oldest compiler that keeps barriers in one piece, as major and minor version.
pub const MINIMUM: (u32, u32) = (1, 96);

/// The version to install where there is none. The root `rust-toolchain.toml` names the same.
pub const RECOMMENDED: &str = "1.99.1";

/// The first compiler that does so without being told to leave out an optimisation.
const KEEPS_BARRIERS_BY_ITSELF: (u32, u32) = (1, 97);

/// The first compiler that refuses a crate whose dependency was compiled for another `target-cpu`.
const COMPARES_TARGET_CPUS: (u32, u32) = (1, 99);

/// The environment variable that names a compiler.
pub const VARIABLE: &str = "PTX_BUILDER_RUSTC";

/// rustup's environment variable: 0 forbids that toolchains are installed unasked.
const AUTO_INSTALL: &str = "RUSTUP_AUTO_INSTALL";

/// A compiler that can build PTX, with its cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Toolchain {
    /// The compiler.
    pub rustc: PathBuf,
    /// The cargo beside it.
    pub cargo: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
    /// The whole version, such as `1.99.1` or `1.100.0-nightly`.
    pub release: String,
}

impl Toolchain {
    /// Whether the compiler copies barriers unless the pass that does it is left out.
    pub(crate) fn needs_jump_threading_off(&self) -> bool {
        self.version < KEEPS_BARRIERS_BY_ITSELF
    }

    /// Whether the compiler has to be told that crates for two architectures are meant to be one program.
    pub(crate) fn compares_target_cpus(&self) -> bool {
        self.version >= COMPARES_TARGET_CPUS
    }

    fn is_nightly(&self) -> bool {
        self.release.contains('-')
    }

    /// Looks at the compiler `rustc`.
    ///
    /// # Errors
    /// Why it cannot build PTX.
    pub fn at(rustc: &Path) -> Result<Toolchain, Rejection> {
        let reject = |reason| Rejection {
            what: rustc.display().to_string(),
            reason,
        };
        // A proxy of rustup's would install the toolchain that its folder names.
        let asked = |words: &[&str]| {
            let mut command = Command::new(rustc);
            ask(command.args(words).env(AUTO_INSTALL, "0"))
        };
        let answer = asked(&["-vV"]).map_err(|error| reject(Reason::DoesNotRun(error)))?;
        let (release, version) = parse_version(&answer)
            .ok_or_else(|| reject(Reason::DoesNotRun(format!("it answers {answer:?}"))))?;
        if version < MINIMUM {
            return Err(reject(Reason::TooOld(version)));
        }
        let sysroot =
            asked(&["--print", "sysroot"]).map_err(|error| reject(Reason::DoesNotRun(error)))?;
        let sysroot = Path::new(sysroot.trim());
        let sources = sysroot.join("lib/rustlib/src/rust/library");
        if !sources.join("core/Cargo.toml").is_file() {
            return Err(reject(Reason::NoSources(sources)));
        }
        // rustup's proxies choose by folder and environment; the compiler behind one is always itself.
        let real = sysroot.join("bin/rustc");
        let rustc = if real.is_file() { &real } else { rustc };
        let cargo = rustc.with_file_name("cargo");
        if !cargo.is_file() {
            return Err(reject(Reason::NoCargo(cargo)));
        }
        Ok(Toolchain {
            rustc: rustc.to_path_buf(),
            cargo,
            version,
            release,
        })
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.rustc.display(), self.release)
    }
}

/// Something that was looked at and will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// The compiler's path.
    pub what: String,
    /// Why it will not do.
    pub reason: Reason,
}

/// Why a compiler will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is older than [`MINIMUM`].
    TooOld((u32, u32)),
    /// The standard library's sources are not in this folder.
    NoSources(PathBuf),
    /// There is no cargo beside it, at this path.
    NoCargo(PathBuf),
    /// It could not be asked, or gave no sensible answer.
    DoesNotRun(String),
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.what)?;
        match &self.reason {
            Reason::TooOld((major, minor)) => {
                write!(formatter, "version {major}.{minor} is too old")
            }
            Reason::NoSources(folder) => write!(
                formatter,
                "the standard library's sources are not in {} (rustup component add rust-src; \
                 Debian: rust-web-src)",
                folder.display()
            ),
            Reason::NoCargo(path) => write!(formatter, "there is no {}", path.display()),
            Reason::DoesNotRun(error) => write!(formatter, "it does not run: {error}"),
        }
    }
}

/// Finds a compiler among those that are installed, as a build does.
///
/// # Errors
/// [`CudaBuilderError::NoToolchain`], with everything that was looked at.
pub fn installed() -> Result<Toolchain, CudaBuilderError> {
    if let Some(named) = env::var_os(VARIABLE) {
        let rejected = |rejection| CudaBuilderError::NoToolchain {
            rejected: vec![rejection],
        };
        return Toolchain::at(Path::new(&named)).map_err(rejected);
    }
    let mut candidates = candidates().into_iter();
    let mut rejected = Vec::new();
    // The host's, if it will do: nothing else is run then.
    match candidates.next().map(|rustc| Toolchain::at(&rustc)) {
        Some(Ok(found)) => return Ok(found),
        Some(Err(rejection)) => rejected.push(rejection),
        None => {}
    }
    let mut usable = Vec::new();
    for rustc in candidates {
        match Toolchain::at(&rustc) {
            Ok(found) => usable.push(found),
            Err(rejection) => rejected.push(rejection),
        }
    }
    usable.sort_by_key(|found| (found.is_nightly(), Reverse(found.version)));
    let newest = usable.into_iter().next();
    newest.ok_or(CudaBuilderError::NoToolchain { rejected })
}

/// Finds a compiler for a build script's build, and installs one where there is none.
pub(crate) fn find() -> Result<Toolchain, CudaBuilderError> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let found = installed();
    if found.is_ok() || env::var_os(VARIABLE).is_some() {
        return found;
    }
    install().map_or(found, Ok)
}

fn install() -> Option<Toolchain> {
    if env::var_os(AUTO_INSTALL).is_some_and(|value| value == "0") {
        return None;
    }
    let version = RECOMMENDED;
    let rustup = || Command::new("rustup");
    ask(rustup().arg("--version")).ok()?;
    println!("cargo::warning=installing Rust {version} with its sources, to build PTX");
    let installed = ask(rustup()
        .args(["toolchain", "install", version, "--profile", "minimal"])
        .args(["--component", "rust-src"]));
    if let Err(error) = installed {
        let error = error.replace('\n', "; ");
        println!("cargo::warning=rustup could not install Rust {version}: {error}");
        return None;
    }
    let rustc = ask(rustup().args(["which", "--toolchain", version, "rustc"])).ok()?;
    Toolchain::at(Path::new(rustc.trim())).ok()
}

/// Every compiler that is installed, each path once: the one that builds the host side comes first.
fn candidates() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).chain([PathBuf::from("/usr/bin")]);
    let of_rustup = rustup_toolchains().into_iter();
    // Cargo names the compiler to build scripts. Elsewhere it is the first one on the PATH.
    let host = env::var_os("RUSTC").map(PathBuf::from);
    let host = host.filter(|rustc| rustc.is_absolute());
    let others = on_path.chain(of_rustup).map(|folder| folder.join("rustc"));
    let mut found: Vec<PathBuf> = Vec::new();
    for rustc in host.into_iter().chain(others) {
        if rustc.is_file() && !found.contains(&rustc) {
            found.push(rustc);
        }
    }
    found
}

/// The folders of programs of rustup's toolchains.
fn rustup_toolchains() -> Vec<PathBuf> {
    let home = env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".rustup")));
    let folders = home.and_then(|home| fs::read_dir(home.join("toolchains")).ok());
    let entries = folders.into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
    found.sort();
    found
}

/// The standard output of a successful call.
fn ask(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Reads the version out of `rustc -vV`: all of it, and major and minor.
fn parse_version(answer: &str) -> Option<(String, (u32, u32))> {
    let release = answer
        .lines()
        .find_map(|line| line.strip_prefix("release: "))?;
    let mut numbers = release.split('.');
    let version = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some((release.to_owned(), version))
}
