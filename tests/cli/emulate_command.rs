//! `ridgepoint emulate`: a program in C as the page has it, with the emulated driver in place of NVIDIA's.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::guides::{blocks, command, shows, typed};
use crate::support;

const PAGE: &str = "any-cuda-program.md";

/// Declarations of `cuda.h` that the page's program needs, for machines without the toolkit.
const HEADER: &str = "\
typedef int CUresult, CUdevice;
typedef struct Context *CUcontext; typedef struct Module *CUmodule; typedef struct Function *CUfunction;
typedef unsigned long long CUdeviceptr;
#define CUDA_SUCCESS 0
#define cuMemAlloc cuMemAlloc_v2
#define cuMemsetD32 cuMemsetD32_v2
CUresult cuInit(unsigned), cuDeviceGet(CUdevice *, int), cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuCtxSetCurrent(CUcontext), cuModuleLoad(CUmodule *, const char *), cuCtxSynchronize(void);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuMemAlloc(CUdeviceptr *, unsigned long);
CUresult cuMemsetD32(CUdeviceptr, unsigned, unsigned long), cuGetErrorName(CUresult, const char **);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                        void **, void **);
";

/// A folder with the page's program and kernel, as nvcc compiled it.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let [program] = &blocks(PAGE, "c")[..] else {
        panic!("the page has one program");
    };
    fs::write(path("saxpy.c"), program).expect("writable");
    fs::write(path("cuda.h"), HEADER).expect("writable");
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::copy(
        tree.join("tests/cli/emulate_command/saxpy.ptx"),
        path("saxpy.ptx"),
    )
    .expect("nvcc's kernel");
    fs::write(path("stub.c"), stub()).expect("writable");
    let library = [
        "-shared",
        "-Wl,-soname,libcuda.so.1",
        "-o",
        "libcuda.so",
        "stub.c",
    ];
    compile(folder.path(), &library);
    compile(
        folder.path(),
        &["-I.", "-o", "saxpy", "saxpy.c", "-L.", "-lcuda"],
    );
    folder
}

/// A library to link with, as the toolkit has one: its functions are not called.
fn stub() -> String {
    let words = HEADER.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let is_function =
        |it: &&str| it.starts_with("cu") && !["cuMemAlloc", "cuMemsetD32"].contains(it);
    let names: BTreeSet<&str> = words.filter(is_function).collect();
    let define = |name: &&str| format!("int {name}(void) {{ return 34; }}\n");
    names.iter().map(define).collect()
}

fn compile(folder: &Path, arguments: &[&str]) {
    let compiled = Command::new("cc")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("a C compiler, by which Rust links");
    assert!(compiled.status.success(), "{compiled:?}");
}

/// Runs a command of the page in a folder.
pub(crate) fn run(folder: &Path, command: &str) -> (Output, String) {
    let output = typed(&support::ridgepoint(), folder, command)
        .output()
        .expect("bash");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

#[test]
fn a_program_in_c_is_checked_and_its_finding_has_the_line_of_the_kernel() {
    let folder = folder();
    let (output, errors) = run(
        folder.path(),
        &command("any-cuda-program.md", "ridgepoint emulate ./saxpy"),
    );
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert_eq!(output.stdout, b"done\n");
    assert!(
        errors.contains("Checked saxpy: 1 launch of 1 kernel, in order; nothing was found."),
        "{errors}"
    );
    assert!(!folder.path().join("ridgepoint-findings").exists());

    let (output, errors) = run(
        folder.path(),
        &command("any-cuda-program.md", "ridgepoint emulate ./saxpy 1280"),
    );
    assert_eq!(output.status.code(), Some(1), "{errors}");
    shows(PAGE, "ridgepoint: saxpy: ", &errors);
    let findings = fs::read_dir(folder.path().join("ridgepoint-findings")).expect("a folder");
    assert_eq!(findings.count(), 1);
}

#[test]
fn options_reach_the_driver() {
    let folder = folder();
    let (output, errors) = run(
        folder.path(),
        "ridgepoint emulate --seeds 2 --counts --findings f ./saxpy",
    );
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(
        errors.contains("in order and under 2 seeds; nothing was found"),
        "{errors}"
    );
    assert!(
        errors.contains("instructions of warps at saxpy.cu:3"),
        "{errors}"
    );
    let (output, errors) = run(
        folder.path(),
        "ridgepoint emulate --keep-going ./saxpy 1280",
    );
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(1), &b"done\n"[..]),
        "{errors}"
    );
    for (arguments, status) in [("1280", 1), ("", 0)] {
        let (output, errors) = run(
            folder.path(),
            &format!("ridgepoint emulate --program-status ./saxpy {arguments}"),
        );
        assert_eq!(output.status.code(), Some(status), "{errors}");
    }
    let killed = "ridgepoint emulate --program-status sh -c 'kill -9 $$'";
    let (output, errors) = run(folder.path(), killed);
    assert_eq!(output.status.code(), Some(128 + 9), "{errors}");
    // The summary is of all launches until the command is asked to end.
    let asked = "ridgepoint emulate sh -c './saxpy; kill -TERM $PPID; sleep 300'";
    let (output, errors) = run(folder.path(), asked);
    assert_eq!(output.status.code(), Some(128 + 15), "{errors}");
    assert!(errors.contains("Checked saxpy: 1 launch"), "{errors}");
    let (output, errors) = run(folder.path(), "ridgepoint emulate --no-check ./saxpy");
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(
        errors.contains("Not checked, saxpy: 1 launch without checks."),
        "{errors}"
    );
}

#[test]
fn a_program_that_launches_nothing_or_is_none_is_not_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (output, errors) = run(folder.path(), "ridgepoint emulate true");
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("nothing was checked"), "{errors}");
    let (output, errors) = run(folder.path(), "ridgepoint emulate ./none");
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("cannot run ./none"), "{errors}");
}
