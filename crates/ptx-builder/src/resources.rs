//! Resources of each kernel on a multiprocessor: registers, spills, stack, shared memory, and the occupancy that
//! follows. `ptxas -v` tells them, on a machine without a GPU.
//!
//! [`crate::CudaBuilder::build_all`] writes it beside the PTX as `NAME.resources.json`, where
//! `ptxas` is there ([`crate::nvidia`]); [`Report::from_json`] reads it.

mod losses;
mod ptxas;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use occupancy::{ComputeCapability, Kernel, Multiprocessor, Resource};
use serde::{Deserialize, Serialize};

use crate::assembler::{self, Complaint, Verdict};
use crate::nvidia::{self, Tool};
use crate::ptx::Sources;
use crate::ptx::lints::{self, Finding, Levels};
use crate::{CudaBuilderError, NvvmArch};

/// The blocks whose occupancy is reported, in threads.
pub const BLOCK_THREADS: [u32; 10] = [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// Counts up when the report's fields or their meaning change, so that old files are made anew.
const FORMAT: u32 = 2;

/// The resources of the kernels of one PTX file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The architecture: 90 for `sm_90`.
    pub arch: u32,
    /// Identifies the PTX and the `ptxas` that the kernels' needs are from.
    pub key: String,
    /// The entries, by name.
    pub kernels: Vec<KernelResources>,
}

/// The resources of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelResources {
    /// The entry's name.
    pub name: String,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Stack of a thread, calls included.
    pub stack_bytes: u32,
    /// Bytes of registers that a thread puts on the stack for want of registers.
    pub spill_store_bytes: u32,
    /// Bytes that it reads back.
    pub spill_load_bytes: u32,
    /// Shared memory that the kernel declares.
    pub static_shared_bytes: u32,
    /// Constant memory by its bank.
    pub constant: Vec<ConstantBank>,
    /// Named barriers.
    pub barriers: u32,
    /// The largest block that the kernel was compiled for (`.maxntid`, `.reqntid`).
    pub max_threads: Option<u32>,
    /// Code that costs the kernel's tensor cores their speed: `ptxas`'s words, or local memory beside `wgmma`.
    #[serde(default)]
    pub losses: Vec<String>,
    /// Occupancy at each of [`BLOCK_THREADS`], without dynamic shared memory. Empty if the
    /// architecture's limits are not known.
    pub occupancy: Vec<BlockOccupancy>,
}

/// Constant memory in one bank: parameters of the launch are in bank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConstantBank {
    /// The bank, as in `cmem[0]`.
    pub bank: u32,
    /// How much of it.
    pub bytes: u32,
}

/// Theoretical occupancy at one size of block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockOccupancy {
    /// Threads of a block.
    pub block_threads: u32,
    /// Blocks per multiprocessor; 0 if such a block cannot run.
    pub blocks: u32,
    /// Warps per multiprocessor.
    pub active_warps: u32,
    /// Active warps over the most there can be: 0 to 1.
    pub fraction: f64,
    /// The resources that allow no more blocks: `warps`, `blocks`, `registers`, `shared_memory`.
    pub limited_by: Vec<String>,
    /// Why such a block cannot run.
    pub refused: Option<String>,
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// The text is not one.
    pub fn from_json(text: &str) -> Result<Report, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Makes the report of `ptx` from what `ptxas -v` said of it.
    pub fn parse(arch: NvvmArch, ptx: &str, ptxas_output: &str) -> Report {
        let mut kernels = ptxas::parse(ptxas_output);
        losses::note(ptxas_output, ptx, &mut kernels);
        for kernel in &mut kernels {
            kernel.max_threads = ptxas::max_threads(ptx, &kernel.name);
        }
        kernels.sort_by(|a, b| a.name.cmp(&b.name));
        let mut report = Report {
            arch: arch.number(),
            key: String::new(),
            kernels,
        };
        report.work_out_occupancy();
        report
    }

    /// Sets what follows from the needs of each kernel.
    fn work_out_occupancy(&mut self) {
        let capability = ComputeCapability::from_arch(self.arch);
        let multiprocessor = Multiprocessor::of(capability).ok();
        for kernel in &mut self.kernels {
            let needs = kernel.needs();
            let at = |multiprocessor: &Multiprocessor| {
                BLOCK_THREADS.map(|threads| at_block(multiprocessor, &needs, threads))
            };
            kernel.occupancy = multiprocessor
                .as_ref()
                .map(at)
                .into_iter()
                .flatten()
                .collect();
        }
    }

    /// The file's text.
    fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl KernelResources {
    /// Returns the kernel's resources, from which its occupancy follows.
    pub fn needs(&self) -> Kernel {
        Kernel {
            registers_per_thread: self.registers,
            static_shared_bytes: self.static_shared_bytes,
            dynamic_shared_bytes: 0,
            max_threads_per_block: self.max_threads,
        }
    }
}

fn at_block(
    multiprocessor: &Multiprocessor,
    kernel: &Kernel,
    block_threads: u32,
) -> BlockOccupancy {
    match multiprocessor.occupancy(kernel, block_threads) {
        Ok(found) => BlockOccupancy {
            block_threads,
            blocks: found.blocks,
            active_warps: found.active_warps,
            fraction: found.fraction(),
            limited_by: found.limited_by.iter().map(name_of).collect(),
            refused: None,
        },
        Err(error) => BlockOccupancy {
            block_threads,
            blocks: 0,
            active_warps: 0,
            fraction: 0.0,
            limited_by: Vec::new(),
            refused: Some(error.to_string()),
        },
    }
}

fn name_of(resource: &Resource) -> String {
    resource.name().to_owned()
}

/// The outcome of a PTX file's report.
pub(crate) enum Made {
    /// It was written.
    Report(Written),
    /// `ptxas` refuses the PTX.
    Refused(Vec<Complaint>),
    /// There is no `ptxas`, or it does not know the architecture or the version of PTX.
    Nothing,
}

impl Made {
    /// Finds what is not allowed in the PTX of this file, and in what `ptxas` made of it.
    pub(crate) fn lint(
        &self,
        ptx: &Path,
        sources: &Sources,
        levels: &Levels,
    ) -> Result<Vec<Finding>, CudaBuilderError> {
        let text =
            fs::read_to_string(ptx).map_err(|error| CudaBuilderError::io("read", ptx, error))?;
        Ok(match self {
            Made::Report(written) => losses::check(&written.report, &text, levels),
            Made::Refused(complaints) => lints::by_assembler(complaints, &text, sources, levels),
            Made::Nothing => Vec::new(),
        })
    }

    /// The report's file.
    pub(crate) fn path(self) -> Option<PathBuf> {
        match self {
            Made::Report(written) => Some(written.path),
            Made::Refused(_) | Made::Nothing => None,
        }
    }
}

/// A report and the file that it was written to.
pub(crate) struct Written {
    path: PathBuf,
    report: Report,
}

/// Writes the report of the PTX file `path` beside it. Where the one there is of the same PTX, `ptxas` does not run
/// again, but the occupancy is worked out anew: the rules may have changed, and what they are called.
pub(crate) fn write_report(
    path: &Path,
    arch: NvvmArch,
    start: &Path,
) -> Result<Made, CudaBuilderError> {
    let target = path.with_extension("resources.json");
    let Ok(ptxas) = Tool::Ptxas.find(start) else {
        println!(
            "cargo::warning=no resource report for {arch} (registers, spills, occupancy): ptxas not \
             found; `ridgepoint doctor` says how to get it"
        );
        nvidia::watch_for_tools();
        // One of an earlier build would describe other kernels.
        let _ = fs::remove_file(&target);
        return Ok(Made::Nothing);
    };
    let ptx =
        fs::read_to_string(path).map_err(|error| CudaBuilderError::io("read", path, error))?;
    let key = key_of(&ptx, arch, &ptxas);
    let there = fs::read_to_string(&target).ok();
    let known = there
        .as_deref()
        .and_then(|text| Report::from_json(text).ok());
    if let Some(mut report) = known.filter(|known| known.key == key) {
        report.work_out_occupancy();
        write_text(&target, &report, there.as_deref())?;
        return Ok(Made::Report(Written {
            path: target,
            report,
        }));
    }
    let verdict = assembler::assemble(
        &ptxas,
        &arch.to_string(),
        &["-v".as_ref()],
        path,
        Duration::MAX,
    )
    .map_err(|error| CudaBuilderError::io("run", &ptxas, error))?;
    let output = match verdict {
        Verdict::Accepted(output) => output,
        Verdict::Undecided(why) => {
            println!("cargo::warning=no resource report for {arch}: {why}");
            nvidia::watch_for_tools();
            let _ = fs::remove_file(&target);
            return Ok(Made::Nothing);
        }
        Verdict::Refused(complaints) => {
            nvidia::watch_for_tools();
            let _ = fs::remove_file(&target);
            return Ok(Made::Refused(complaints));
        }
    };
    let mut report = Report::parse(arch, &ptx, &output);
    report.key = key;
    write_text(&target, &report, None)?;
    Ok(Made::Report(Written {
        path: target,
        report,
    }))
}

/// Writes the report, if the file has another text.
fn write_text(target: &Path, report: &Report, there: Option<&str>) -> Result<(), CudaBuilderError> {
    let text = report
        .to_text()
        .map_err(|error| CudaBuilderError::io("write", target, error.into()))?;
    if there == Some(&text) {
        return Ok(());
    }
    fs::write(target, text).map_err(|error| CudaBuilderError::io("write", target, error))
}

/// 64 bits of FNV-1a over all that `ptxas` says depends on.
fn key_of(ptx: &str, arch: NvvmArch, ptxas: &Path) -> String {
    let parts = [
        FORMAT.to_string().into_bytes(),
        arch.to_string().into_bytes(),
        ptxas.as_os_str().as_encoded_bytes().to_vec(),
        ptx.as_bytes().to_vec(),
    ];
    let hash = parts
        .join(&0)
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}
