//! The compiler that `ridgepoint check` gives cargo: rustc, with instrumentation for the crates that
//! hold kernels.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cli::streams;

/// Set in the environment of cargo, and so where cargo runs this program as the compiler.
pub(super) const WRAPS_RUSTC: &str = "RIDGEPOINT_CHECK_WRAPS_RUSTC";

/// What the emulator itself is made of: it depends on ptx-std and holds no kernels.
const HOST_CRATES: [&str; 3] = ["simt", "ridgepoint", "ridgepoint_driver"];

/// Of every crate: those with instrumentation and those without link with each other, because the
/// instrumentation changes no layout and no calls between functions.
const OF_ALL: [&str; 1] = ["-Cunsafe-allow-abi-mismatch=sanitizer"];

/// Of crates that hold kernels.
const OF_KERNELS: [&str; 16] = [
    // A call before each access, of functions that ptx-std has.
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cllvm-args=-tsan-instrument-func-entry-exit=0",
    // A call on each edge of the control flow, so that each loop counts its turns.
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-trace-pc",
    "-Cllvm-args=-sanitizer-coverage-prune-blocks=0",
    // As on the GPU. Functions of other crates are inlined, so that an access has the kernel's line.
    "-Copt-level=3",
    "-Ccodegen-units=1",
    // Generic functions of other crates are compiled here too, with instrumentation.
    "-Zshare-generics=no",
    // The checks of the standard library end the process where ours make a report.
    "-Zub-checks=no",
    "-Cdebuginfo=line-tables-only",
    "-Cstrip=none",
    "-Clto=off",
    "-Cembed-bitcode=no",
    "-Cpanic=unwind",
];

/// Compiles a crate, if cargo runs this program as its compiler.
pub(in crate::cli) fn compile() -> Option<ExitCode> {
    env::var_os(WRAPS_RUSTC)?;
    let mut arguments = env::args_os().skip(1);
    // What cargo runs after it has compiled it, perhaps this program, has the same environment.
    let rustc = arguments.next().filter(|first| {
        let name = Path::new(first).file_name().unwrap_or_default();
        name.to_string_lossy().contains("rustc")
    })?;
    let arguments: Vec<OsString> = arguments.collect();
    let mut command = Command::new(rustc);
    let flags = flags(&arguments);
    if !flags.is_empty() {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.args(&arguments).args(flags);
    let status = command.status();
    if arguments == ["-vV"] {
        // Cargo compiles anew what another compiler has made, and knows a compiler by this.
        streams::say(&format!("instrumentation: {}", instrumentation()));
    }
    // A compiler that a signal ended has no code.
    let code = status.ok().and_then(|status| status.code()).unwrap_or(1);
    Some(ExitCode::from(code as u8))
}

/// What makes objects of this compiler differ from another's.
fn instrumentation() -> String {
    [&OF_ALL[..], &OF_KERNELS[..]].concat().join(" ")
}

/// What to add to the compiler's arguments.
fn flags(arguments: &[OsString]) -> Vec<String> {
    let arguments: Vec<_> = arguments.iter().map(|one| one.to_string_lossy()).collect();
    let values = |flag: &'static str| {
        let pairs = arguments.windows(2);
        pairs.filter_map(move |pair| (pair[0] == flag).then_some(&*pair[1]))
    };
    let Some(name) = values("--crate-name").next().filter(|name| *name != "___") else {
        // A question about the compiler.
        return Vec::new();
    };
    let mut flags: Vec<String> = OF_ALL.map(str::to_owned).into();
    if name == "ptx_std" {
        flags.push("--cfg=instrumented".to_owned());
    }
    if name == "ptx_std" || name == "simt" {
        // Their functions run at each access.
        flags.push("-Copt-level=3".to_owned());
    }
    // By whatever name the crate has it: ptx-std itself, or what stands in for Rust-CUDA's.
    let has_kernels = values("--extern").any(|dependency| {
        ["libptx_std-", "libcuda_std-"]
            .iter()
            .any(|library| dependency.contains(library))
    });
    if !has_kernels || HOST_CRATES.contains(&name) && !arguments.contains(&"--test".into()) {
        return flags;
    }
    flags.extend(OF_KERNELS.map(str::to_owned));
    // What the optimisation would switch off.
    let codegen = |option: &str| values("-C").any(|value| value.starts_with(option));
    if !codegen("opt-level") && !codegen("debug-assertions") {
        flags.push("-Cdebug-assertions=on".to_owned());
    }
    if let Ok(folder) = env::current_dir() {
        flags.push(format!("--remap-path-prefix={}/=", folder.display()));
    }
    flags
}
