//! Finds NVIDIA's PTX tools: `ptxas`, `nvdisasm` and `cuobjdump`. Neither a GPU nor a driver is
//! needed for them, and a build does without them.
//!
//! In this order:
//! 1. for `ptxas`, the program that the environment variable `PTX_BUILDER_PTXAS` names, and no
//!    other; for the others, the folder that it lies in;
//! 2. `.venv/cuda/bin` in the starting folder and each folder above it, and in the source tree that
//!    this crate was built from, where `setup.sh` puts them;
//! 3. the `PATH`;
//! 4. `/usr/local/cuda/bin`.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variable that names `ptxas`. An empty value means that there is none.
pub const PTXAS_VARIABLE: &str = "PTX_BUILDER_PTXAS";

/// One of NVIDIA's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Assembles PTX to machine code.
    Ptxas,
    /// Shows machine code as text.
    Nvdisasm,
    /// Shows machine code and what belongs to it as text.
    Cuobjdump,
}

impl Tool {
    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Ptxas => "ptxas",
            Tool::Nvdisasm => "nvdisasm",
            Tool::Cuobjdump => "cuobjdump",
        }
    }

    /// Looks for the tool, starting from the folder `start`.
    ///
    /// # Errors
    /// It is nowhere; the error names the places.
    pub fn find(self, start: &Path) -> Result<PathBuf, NoTool> {
        let named = env::var_os(PTXAS_VARIABLE).map(PathBuf::from);
        let candidates = match (self, &named) {
            (Tool::Ptxas, Some(path)) => vec![path.clone()],
            _ => self.candidates(named.as_deref(), start),
        };
        match candidates.iter().find(|path| path.is_file()) {
            Some(found) => Ok(found.clone()),
            None => Err(NoTool {
                tool: self,
                looked_at: candidates,
            }),
        }
    }

    /// Looks for the tool from the current folder, and from where this program is.
    ///
    /// # Errors
    /// As [`Tool::find`].
    pub fn find_here(self) -> Result<PathBuf, NoTool> {
        let here = env::current_dir().unwrap_or_default();
        let program = env::current_exe().unwrap_or_default();
        self.find(&here).or_else(|_| self.find(&program))
    }

    fn candidates(self, named: Option<&Path>, start: &Path) -> Vec<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let beside = named.and_then(Path::parent).map(Path::to_path_buf);
        let above = start.ancestors().chain(source_tree());
        let local = above.map(|folder| folder.join(".venv/cuda/bin"));
        beside
            .into_iter()
            .chain(local)
            .chain(env::split_paths(&path))
            .chain([PathBuf::from("/usr/local/cuda/bin")])
            .map(|folder| folder.join(self.name()))
            .collect()
    }
}

/// The workspace that this crate was built in, which a package elsewhere may depend on by path.
fn source_tree() -> Option<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)
}

/// Tells cargo to run the build script again once the tools have come: `setup.sh` writes to the file
/// that names their versions, and a CUDA toolkit is put on the `PATH`.
pub(crate) fn watch_for_tools() {
    println!("cargo::rerun-if-env-changed=PATH");
    let list = source_tree().map(|tree| tree.join("scripts/ptx-tools.txt"));
    // Cargo takes a file that is not there for one that has changed.
    if let Some(list) = list.filter(|list| list.is_file()) {
        println!("cargo::rerun-if-changed={}", list.display());
    }
}

/// A tool that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoTool {
    /// The tool.
    pub tool: Tool,
    /// Where it would be.
    pub looked_at: Vec<PathBuf>,
}

impl fmt::Display for NoTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self
            .looked_at
            .iter()
            .all(|path| path.as_os_str().is_empty())
        {
            return write!(
                formatter,
                "{} is switched off: {PTXAS_VARIABLE} is empty",
                self.tool.name()
            );
        }
        let looked_at: Vec<String> = self
            .looked_at
            .iter()
            .map(|path| format!("  {}", path.display()))
            .collect();
        write!(
            formatter,
            "{} not found. Ridgepoint's ./setup.sh installs NVIDIA's PTX tools in .venv/cuda/bin; \
             a CUDA toolkit has them too. {PTXAS_VARIABLE}=/path/to/ptxas names one.\nLooked at:\n{}",
            self.tool.name(),
            looked_at.join("\n")
        )
    }
}

impl std::error::Error for NoTool {}
