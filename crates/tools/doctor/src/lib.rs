//! Looks for everything outside Ridgepoint that it works with, in the way in which it will be used:
//! the compiler for PTX by the builder's own rule, libclang as bindgen loads it, NVIDIA's libraries as
//! a launch or a measurement opens them.
//!
//! ```
//! let compiler = doctor::Part::DeviceCompiler.look();
//! match compiler.found {
//!     Ok(found) => println!("{}: {found}", compiler.part.name()),
//!     Err(missing) => println!("{}: {missing}", compiler.part.name()),
//! }
//! ```

use std::env;
use std::error::Error;
use std::path::PathBuf;

use cuda_builder::nvidia::Tool;
use cuda_builder::toolchain;

/// Something that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A Rust compiler that can build PTX.
    DeviceCompiler,
    /// NVIDIA's assembler.
    Ptxas,
    /// NVIDIA's disassembler.
    Nvdisasm,
    /// NVIDIA's tool that shows what is in machine code.
    Cuobjdump,
    /// The library that bindgen reads C headers with.
    Libclang,
    /// The CUDA driver.
    Driver,
    /// NVIDIA's management library.
    Nvml,
    /// NVIDIA's profiling library.
    Cupti,
}

/// The state of a part: found or missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part that was looked for.
    pub part: Part,
    /// Where it is or which version, or why it is of no use and how to get it.
    pub found: Result<String, String>,
}

impl Part {
    /// All of them, the most needed first.
    pub const ALL: [Part; 8] = [
        Part::DeviceCompiler,
        Part::Ptxas,
        Part::Nvdisasm,
        Part::Cuobjdump,
        Part::Libclang,
        Part::Driver,
        Part::Nvml,
        Part::Cupti,
    ];

    /// Its name, in lower case and without blanks.
    pub fn name(self) -> &'static str {
        match self {
            Part::DeviceCompiler => "device-compiler",
            Part::Ptxas => "ptxas",
            Part::Nvdisasm => "nvdisasm",
            Part::Cuobjdump => "cuobjdump",
            Part::Libclang => "libclang",
            Part::Driver => "driver",
            Part::Nvml => "nvml",
            Part::Cupti => "cupti",
        }
    }

    /// Returns what does not work without it.
    pub fn purpose(self) -> &'static str {
        match self {
            Part::DeviceCompiler => "build kernels to PTX",
            Part::Ptxas => "report registers, spills and occupancy",
            Part::Nvdisasm => "show machine code",
            Part::Cuobjdump => "test machine code",
            Part::Libclang => "build with the feature `nvtx`",
            Part::Driver => "launch on a GPU",
            Part::Nvml => "record clocks, power and temperature",
            Part::Cupti => "time kernels exactly in traces",
        }
    }

    /// Whether kernels cannot be built or run on the emulator without it.
    pub fn is_required(self) -> bool {
        self == Part::DeviceCompiler
    }

    /// Looks for it.
    pub fn look(self) -> Finding {
        let found = match self {
            Part::DeviceCompiler => toolchain::installed()
                .map(|found| found.to_string())
                .map_err(|error| error.to_string()),
            Part::Ptxas => tool(Tool::Ptxas),
            Part::Nvdisasm => tool(Tool::Nvdisasm),
            Part::Cuobjdump => tool(Tool::Cuobjdump),
            Part::Libclang => libclang(),
            Part::Driver => driver(),
            Part::Nvml => nvml(),
            Part::Cupti => cupti::version()
                .map(|version| format!("of CUDA {version}"))
                .map_err(|error| {
                    format!("{error}.\nA CUDA toolkit has it; without it events time the kernels")
                }),
        };
        Finding { part: self, found }
    }
}

/// As builds and commands find it: from this folder, from this program's, and from the source tree.
fn tool(tool: Tool) -> Result<String, String> {
    let start = |folder: std::io::Result<PathBuf>| folder.unwrap_or_default();
    let found = tool
        .find(&start(env::current_dir()))
        .or_else(|_| tool.find(&start(env::current_exe())));
    found
        .map(|path| path.display().to_string())
        .map_err(|error| error.to_string())
}

/// clang-sys is what bindgen loads the library with.
fn libclang() -> Result<String, String> {
    clang_sys::load().map_err(|error| {
        format!("{error}.\nInstall it (Debian, Ubuntu: apt-get install libclang-dev)")
    })?;
    let library = clang_sys::get_library().ok_or("it was loaded, and is gone")?;
    Ok(library.path().display().to_string())
}

fn driver() -> Result<String, String> {
    let missing = |error: &cuda_loader::DriverError| {
        format!(
            "{error}.\nNeeded for a GPU alone: the emulator does without. NVIDIA's driver package has it"
        )
    };
    cuda_loader::driver().map_err(missing)?;
    Ok("libcuda.so.1".to_owned())
}

fn nvml() -> Result<String, String> {
    const LIBRARY: &str = "libnvidia-ml.so.1";
    // SAFETY: the library's initialisers are made to be run by any program.
    match unsafe { libloading::Library::new(LIBRARY) } {
        Ok(_) => Ok(LIBRARY.to_owned()),
        Err(error) => {
            // The loader's own words.
            let reason = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            Err(format!("{reason}.\nIt comes with NVIDIA's driver"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_name_of_its_own_and_an_answer() {
        let mut names: Vec<&str> = Part::ALL.map(Part::name).into();
        for part in Part::ALL {
            let finding = part.look();
            let text = finding.found.unwrap_or_else(|missing| missing);
            assert!(!text.is_empty(), "{part:?}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Part::ALL.len());
    }

    #[test]
    fn this_crate_was_built_by_a_machine_that_builds_kernels() {
        let finding = Part::DeviceCompiler.look();
        assert!(finding.found.is_ok(), "{finding:?}");
    }
}
