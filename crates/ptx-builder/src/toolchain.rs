//! Finds a Rust compiler that can build PTX: version 1.96 or newer, with the standard library's
//! sources. Older ones do not mark functions `convergent` and can copy a barrier into both arms of
//! a branch.
//!
//! In this order:
//! 1. the compiler that the environment variable `PTX_BUILDER_RUSTC` names, and no other;
//! 2. the rustup toolchain that the kernel crate's `rust-toolchain.toml` pins, if it is installed;
//! 3. the compiler that builds the host side, and each `rustc` on the `PATH` and in `/usr/bin`;
//! 4. the pinned toolchain again, installed by rustup, unless `RUSTUP_AUTO_INSTALL=0` forbids it.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::CudaBuilderError;

/// The oldest compiler that keeps barriers in one piece, as major and minor version.
pub const MINIMUM: (u32, u32) = (1, 96);

/// The first compiler that does so without being told to leave out an optimisation.
const KEEPS_BARRIERS_BY_ITSELF: (u32, u32) = (1, 97);

/// The environment variable that names a compiler.
const VARIABLE: &str = "PTX_BUILDER_RUSTC";

/// A compiler that can build PTX, with its cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler.
    pub rustc: PathBuf,
    /// The cargo beside it.
    pub cargo: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
}

impl Toolchain {
    /// Whether the compiler copies barriers unless the pass that does it is left out.
    pub(crate) fn needs_jump_threading_off(&self) -> bool {
        self.version < KEEPS_BARRIERS_BY_ITSELF
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
        let answer = ask(Command::new(rustc).arg("-vV"))
            .map_err(|error| reject(Reason::DoesNotRun(error)))?;
        let version = parse_version(&answer)
            .ok_or_else(|| reject(Reason::DoesNotRun(format!("it answers {answer:?}"))))?;
        if version < MINIMUM {
            return Err(reject(Reason::TooOld(version)));
        }
        let sysroot = ask(Command::new(rustc).args(["--print", "sysroot"]))
            .map_err(|error| reject(Reason::DoesNotRun(error)))?;
        let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
        if !sources.join("core/Cargo.toml").is_file() {
            return Err(reject(Reason::NoSources(sources)));
        }
        let cargo = rustc.with_file_name("cargo");
        if !cargo.is_file() {
            return Err(reject(Reason::NoCargo(cargo)));
        }
        Ok(Toolchain {
            rustc: rustc.to_path_buf(),
            cargo,
            version,
        })
    }
}

/// Something that was looked at and will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// A compiler's path, or a toolchain's name.
    pub what: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a compiler.
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
    /// It is not installed.
    NotInstalled,
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
            Reason::NotInstalled => write!(formatter, "not installed"),
        }
    }
}

/// Finds a compiler for the kernel crate in `folder`.
///
/// # Errors
/// [`CudaBuilderError::NoToolchain`], with everything that was looked at.
pub fn find(folder: &Path) -> Result<Toolchain, CudaBuilderError> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    if let Some(named) = env::var_os(VARIABLE) {
        return Toolchain::at(Path::new(&named)).map_err(|rejection| {
            CudaBuilderError::NoToolchain {
                rejected: vec![rejection],
            }
        });
    }
    let mut rejected = Vec::new();
    let mut consider = |candidate: Result<Toolchain, Rejection>| {
        candidate.map_err(|rejection| rejected.push(rejection)).ok()
    };
    let pinned = pinned_channel(folder);
    if let Some(found) = pinned
        .as_deref()
        .and_then(|channel| consider(installed(channel)))
    {
        return Ok(found);
    }
    if let Some(found) = compilers_here()
        .iter()
        .find_map(|rustc| consider(Toolchain::at(rustc)))
    {
        return Ok(found);
    }
    if let Some(found) = pinned.as_deref().and_then(install) {
        return Ok(found);
    }
    Err(CudaBuilderError::NoToolchain { rejected })
}

/// The channel that `rust-toolchain.toml` in the kernel crate's folder pins.
fn pinned_channel(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("rust-toolchain.toml")).ok()?;
    let file: toml::Table = text.parse().ok()?;
    let channel = file.get("toolchain")?.get("channel")?.as_str()?;
    Some(channel.to_owned())
}

/// The rustup toolchain `channel`, if it is installed.
fn installed(channel: &str) -> Result<Toolchain, Rejection> {
    let missing = || Rejection {
        what: format!("rustup's toolchain {channel}"),
        reason: Reason::NotInstalled,
    };
    let listed = ask(rustup().args(["toolchain", "list"])).map_err(|_| missing())?;
    let is_listed = listed
        .lines()
        .any(|line| line.split(['-', ' ']).next() == Some(channel));
    if !is_listed {
        return Err(missing());
    }
    let rustc =
        ask(rustup().args(["which", "--toolchain", channel, "rustc"])).map_err(|_| missing())?;
    Toolchain::at(Path::new(rustc.trim()))
}

fn install(channel: &str) -> Option<Toolchain> {
    if env::var_os("RUSTUP_AUTO_INSTALL").is_some_and(|value| value == "0") {
        return None;
    }
    println!("cargo::warning=installing Rust {channel} with its sources, to build PTX");
    ask(rustup()
        .args(["toolchain", "install", channel, "--profile", "minimal"])
        .args(["--component", "rust-src"]))
    .ok()?;
    installed(channel).ok()
}

/// Every compiler that is simply there, each path once.
fn compilers_here() -> Vec<PathBuf> {
    let path: OsString = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/bin")]);
    let host = env::var_os("RUSTC")
        .map(PathBuf::from)
        .filter(|rustc| rustc.is_absolute());
    let mut found: Vec<PathBuf> = Vec::new();
    for rustc in host
        .into_iter()
        .chain(folders.map(|folder| folder.join("rustc")))
    {
        if rustc.is_file() && !found.contains(&rustc) {
            found.push(rustc);
        }
    }
    found
}

fn rustup() -> Command {
    Command::new("rustup")
}

/// The standard output of a successful call.
fn ask(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Reads major and minor version out of `rustc -vV`.
fn parse_version(answer: &str) -> Option<(u32, u32)> {
    let release = answer
        .lines()
        .find_map(|line| line.strip_prefix("release: "))?;
    let mut numbers = release.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
