//! PTX assembled to machine code by NVIDIA's tools, which know no GPU.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns `nvdisasm`'s listing of the PTX, assembled for sm_90.
///
/// # Panics
/// With what the tool says, if it refuses the PTX, and if there are no tools.
pub(crate) fn of(ptx: &Path) -> String {
    let ptxas = ptxas();
    let folder = tempfile::tempdir().expect("a folder");
    let cubin = folder.path().join("kernels.cubin");
    run(Command::new(&ptxas)
        .args(["-arch=sm_90", "-o"])
        .args([&cubin, ptx]));
    run(Command::new(ptxas.with_file_name("nvdisasm"))
        .arg("-c")
        .arg(cubin))
}

/// The one that `PTX_BUILDER_PTXAS` names, that of the workspace, or that of the `PATH`.
fn ptxas() -> PathBuf {
    if let Some(named) = env::var_os("PTX_BUILDER_PTXAS") {
        return PathBuf::from(named);
    }
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join(".venv/cuda/bin/ptxas"))
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from("ptxas"))
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}: run ./setup.sh"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The memory instructions in a kernel's machine code, each once: `LDS.128`, `STG.E`.
pub(crate) fn accesses(code: &str, kernel: &str) -> Vec<String> {
    let start = format!(".section\t.text.{kernel},");
    let (_, code) = code.split_once(&start).expect("the kernel is there");
    let code = code.split(".section\t").next().unwrap_or(code);
    let kinds = ["LD", "ST", "ATOM", "RED"];
    let instructions = code
        .lines()
        .filter(|line| line.trim_start().starts_with("/*"));
    let mut found: Vec<String> = instructions
        .flat_map(str::split_whitespace)
        .filter(|word| kinds.iter().any(|kind| word.starts_with(kind)))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}
