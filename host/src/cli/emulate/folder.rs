//! The folder that a program finds the emulated driver in, and what makes its compilers hand over PTX.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::embedded_library;
use crate::cli::temporary::Temporary;

/// The emulated driver's file.
const LIBRARY: &str = "libcuda.so.1";
/// The file of the runtime, which takes the place of NVIDIA's in programs of nvcc.
const RUNTIME: &str = "libcudart-emulated.so";
/// In place of Triton's assembler: hands PTX over as it is.
const PTXAS: &str = include_str!("ptxas.sh");
/// For Python: Numba links with the driver, and kernels have the lines of their source.
const SITE_CUSTOMIZE: &str = include_str!("sitecustomize.py");
/// For PyTorch: its operators run on the CPU.
const TORCH: &str = include_str!("ridgepoint_torch.py");

/// A folder that goes with this value.
pub(in crate::cli) struct Folder(Temporary);

impl Folder {
    /// Writes it.
    ///
    /// # Errors
    /// The file system does not take it.
    pub(in crate::cli) fn new() -> io::Result<Folder> {
        let folder = Temporary::new()?;
        let path = |name: &str| folder.path().join(name);
        fs::write(path(LIBRARY), embedded_library::emulated_driver())?;
        symlink(LIBRARY, path("libcuda.so"))?;
        fs::write(path(RUNTIME), embedded_library::runtime())?;
        fs::write(path("ptxas"), PTXAS)?;
        fs::set_permissions(path("ptxas"), fs::Permissions::from_mode(0o755))?;
        fs::create_dir(path("python"))?;
        fs::write(path("python").join("sitecustomize.py"), SITE_CUSTOMIZE)?;
        fs::write(path("python").join("ridgepoint_torch.py"), TORCH)?;
        fs::create_dir(path("record"))?;
        Ok(Folder(folder))
    }

    /// Where it is.
    pub(in crate::cli) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The emulated driver.
    pub(in crate::cli) fn library(&self) -> PathBuf {
        self.0.path().join(LIBRARY)
    }

    /// Where the program's processes say what they have launched.
    pub(in crate::cli) fn record(&self) -> PathBuf {
        self.0.path().join("record")
    }

    /// Lets a program find what is here before all else.
    pub(in crate::cli) fn lend_to(&self, program: &mut Command) {
        let folder = self.0.path();
        program
            .env("LD_LIBRARY_PATH", first(folder, "LD_LIBRARY_PATH"))
            .env("LD_PRELOAD", first(&folder.join(RUNTIME), "LD_PRELOAD"))
            .env("PYTHONPATH", first(&folder.join("python"), "PYTHONPATH"))
            .env("TRITON_LIBCUDA_PATH", folder)
            .env("TRITON_PTXAS_PATH", folder.join("ptxas"))
            .env("TRITON_PTXAS_BLACKWELL_PATH", folder.join("ptxas"))
            .env("CUPY_COMPILE_WITH_PTX", "1")
            // CuPy's wheel has CUB's kernels as machine code; its own are compiled.
            .env("CUPY_ACCELERATORS", "")
            .env("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
            // A block that a framework cuts buffers from hides where each of them ends.
            .env("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
        // What is kept of GPUs is machine code.
        for (variable, name) in [
            ("TRITON_CACHE_DIR", "triton"),
            ("CUPY_CACHE_DIR", "cupy"),
            ("NUMBA_CACHE_DIR", "numba"),
        ] {
            program.env(variable, caches(folder).join(name));
        }
    }
}

/// A path before those that a variable has.
fn first(path: &Path, variable: &str) -> OsString {
    let mut all = path.as_os_str().to_owned();
    if let Some(others) = env::var_os(variable).filter(|it| !it.is_empty()) {
        all.push(OsStr::new(":"));
        all.push(others);
    }
    all
}

/// Where compilers keep what they have made for the emulator; in the folder itself where there is no home.
fn caches(folder: &Path) -> PathBuf {
    let of_user = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let of_home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
    let caches = of_user.filter(|it| it.is_absolute()).or_else(of_home);
    caches.map_or_else(|| folder.join("caches"), |it| it.join("ridgepoint"))
}
