//! Programs of nvcc under `ridgepoint emulate`: with NVIDIA's runtime inside, as nvcc links it, and with `libcudart.so`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::guides::{blocks, command, shows, typed};
use crate::support;

const PAGE: &str = "any-cuda-program.md";

/// nvcc and its libraries, without a CUDA toolkit.
fn toolkit() -> PathBuf {
    let toolkit = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/cuda");
    assert!(
        toolkit.join("bin/nvcc").is_file(),
        "nvcc in .venv: ./setup.sh --tests brings it"
    );
    toolkit
}

/// Has a shell run a command in a folder, where nvcc is found with its libraries.
fn run(folder: &Path, line: &str) -> (Output, String) {
    let toolkit = toolkit();
    let libraries = toolkit.join("lib");
    let mut shell = typed(&support::ridgepoint(), folder, line);
    let path = shell.get_envs().find(|it| it.0 == "PATH");
    let path = path.and_then(|it| it.1).expect("a path").to_owned();
    let folders = std::env::split_paths(&path).chain([toolkit.join("bin")]);
    shell
        .env("PATH", std::env::join_paths(folders).expect("folders"))
        .env("LIBRARY_PATH", &libraries)
        .env("LD_LIBRARY_PATH", &libraries);
    let output = shell.output().expect("bash");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

fn succeeds(folder: &Path, line: &str) -> String {
    let (output, errors) = run(folder, line);
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    errors
}

#[test]
fn the_pages_program_is_checked_as_nvcc_links_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let [program] = &blocks(PAGE, "cpp")[..] else {
        panic!("the page has one program of nvcc's");
    };
    fs::write(folder.join("axpy.cu"), program).expect("writable");
    succeeds(folder, &command("any-cuda-program.md", "nvcc -lineinfo"));
    let errors = succeeds(
        folder,
        &command("any-cuda-program.md", "ridgepoint emulate ./axpy"),
    );
    assert!(
        errors.contains("Checked axpy: 1 launch of 1 kernel, in order; nothing was found."),
        "{errors}"
    );
    let line = command("any-cuda-program.md", "ridgepoint emulate ./axpy 1280");
    let (output, errors) = run(folder, &line);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    // nvcc writes the whole path.
    let errors = errors.replace(&format!("{}/", folder.display()), "");
    shows(PAGE, "ridgepoint: axpy: ", &errors);
}

/// Compiles a program of this folder to `runtime`, with options of nvcc.
fn compile_as(folder: &Path, name: &str, options: &str) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/emulated_runtime");
    let source = sources.join(name);
    let source = source.display();
    succeeds(
        folder,
        &format!("nvcc -w -arch=compute_90 {options} {source} -o runtime"),
    );
}

/// Compiles the program that calls most of the runtime.
fn compile(folder: &Path, options: &str) {
    compile_as(folder, "runtime.cu", options);
}

/// Runs it: each of its answers is as NVIDIA documents it, and as an H100 with driver 580 gives it; nothing is found, nor missing.
fn runs(folder: &Path, options: &str) {
    let errors = succeeds(folder, &format!("ridgepoint emulate {options} ./runtime"));
    assert!(errors.contains("nothing was found."), "{errors}");
    assert!(!errors.contains("is not emulated"), "{errors}");
    assert!(!errors.contains("stay NVIDIA's"), "{errors}");
}

#[test]
fn a_runtime_inside_of_a_program_gives_way() {
    let folder = tempfile::tempdir().expect("a folder");
    compile(folder.path(), "");
    runs(folder.path(), "");
    runs(folder.path(), "--seeds 2");
}

/// As on an H200 with driver 580. What kernels call of the runtime for devices is linked with them.
#[test]
fn graphs_are_made_read_and_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile_as(folder, "graphs.cu", "-rdc=true -lcudadevrt");
    runs(folder, "");
    runs(folder, "--seeds 2");
    let endless = "ridgepoint emulate --time-limit 1 ./runtime endless";
    let errors = succeeds(folder, endless);
    assert!(
        errors.contains("a conditional node of a graph goes on after 1 s"),
        "{errors}"
    );
}

#[test]
fn a_program_may_have_a_default_stream_for_each_thread() {
    let folder = tempfile::tempdir().expect("a folder");
    compile(folder.path(), "--default-stream per-thread");
    runs(folder.path(), "");
}

#[test]
fn a_shared_runtime_gives_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let library = toolkit().join("lib/libcudart.so.13");
    symlink(library, folder.join("libcudart.so")).expect("a link");
    compile(folder, "-cudart shared -L.");
    runs(folder, "");
}

/// A library with a kernel and a variable.
const ANSWER: &str = "\
__device__ int word = 6;
__global__ void add(int *x) { *x += word; }
extern \"C\" int answer() {
  int *x, host = 36;
  if (cudaMalloc(&x, 4) || cudaMemcpy(x, &host, 4, cudaMemcpyHostToDevice)) return -1;
  add<<<1, 1>>>(x);
  return cudaMemcpy(&host, x, 4, cudaMemcpyDeviceToHost) ? -1 : host;
}
";

/// As a Python module has it inside: CuPy's, for one.
#[test]
fn a_runtime_inside_of_a_library_that_is_loaded_later_gives_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("answer.cu"), ANSWER).expect("writable");
    let program = "\
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(\"./answer.so\", RTLD_NOW);
    printf(\"%d\\n\", ((int (*)(void))dlsym(library, \"answer\"))());
    dlclose(library);
  }
}
";
    fs::write(folder.join("main.c"), program).expect("writable");
    succeeds(
        folder,
        "nvcc -shared -Xcompiler -fPIC answer.cu -o answer.so",
    );
    succeeds(folder, "cc main.c -o main -ldl");
    let (output, errors) = run(folder, "ridgepoint emulate ./main");
    assert_eq!(output.stdout, b"42\n42\n", "{errors}");
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

/// Kernels of a library that the program begins with are handed over before the program's own constructors run.
#[test]
fn a_runtime_inside_of_a_library_that_a_program_begins_with_gives_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("answer.cu"), ANSWER).expect("writable");
    let program =
        "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); }\n";
    fs::write(folder.join("main.c"), program).expect("writable");
    succeeds(
        folder,
        "nvcc -shared -Xcompiler -fPIC answer.cu -o libanswer.so",
    );
    succeeds(folder, "cc main.c -o main -L. -lanswer -Wl,-rpath,.");
    let (output, errors) = run(folder, "ridgepoint emulate ./main");
    assert_eq!(output.stdout, b"42\n", "{errors}");
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

/// Destructors of what is static run when what threads own has gone.
#[test]
fn a_program_may_free_and_launch_as_it_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = "\
#include <cstdio>
__global__ void one(int *x) { *x = 1; }
struct Buffer {
  int *x;
  Buffer() { cudaMalloc(&x, 4); }
  ~Buffer() {
    one<<<1, 1>>>(x);
    int host = 0;
    cudaError_t copied = cudaMemcpy(&host, x, 4, cudaMemcpyDeviceToHost), freed = cudaFree(x);
    printf(\"%d %s %s\\n\", host, cudaGetErrorName(copied), cudaGetErrorName(freed));
  }
};
static Buffer outside;
int main() { static Buffer inside; one<<<1, 1>>>(inside.x); }
";
    fs::write(folder.join("end.cu"), program).expect("writable");
    for stream in ["legacy", "per-thread"] {
        succeeds(
            folder,
            &format!("nvcc --default-stream {stream} end.cu -o end"),
        );
        let (output, errors) = run(folder, "ridgepoint emulate ./end");
        let said = "1 cudaSuccess cudaSuccess\n".repeat(2);
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{errors}");
        assert_eq!(output.status.code(), Some(0), "{errors}");
    }
}

/// Lines of kernels stand where the program waits for them, in a file too, and once however many orders there are; blocks of the heap
/// that a launch leaves to the next are no fault.
#[test]
fn kernels_print_in_order_and_leave_blocks_to_the_next_launch() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = "\
#include <cstdio>
__global__ void make(int **at) { *at = new int(5); printf(\"made\\n\"); }
__global__ void end(int **at) { delete *at; printf(\"ended\\n\"); }
__global__ void say() { printf(\"said\\n\"); }
int main() {
  int **at;
  cudaMalloc(&at, sizeof *at);
  puts(\"first\");
  make<<<1, 1>>>(at);
  cudaDeviceSynchronize();
  puts(\"second\");
  end<<<1, 1>>>(at);
  say<<<1, 1>>>();
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
";
    fs::write(folder.join("print.cu"), program).expect("writable");
    succeeds(folder, "nvcc print.cu -o print");
    for seeds in [0, 3] {
        let line = format!("ridgepoint emulate --seeds {seeds} ./print");
        let (output, errors) = run(folder, &line);
        let said = String::from_utf8_lossy(&output.stdout);
        let wanted = "first\nmade\nsecond\nended\nsaid\ncudaSuccess\n";
        assert_eq!(said, wanted, "{errors}");
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let is_told = errors.contains("no seeds for launches that leave blocks");
        assert_eq!(is_told, seeds > 0, "{errors}");
    }
}

#[test]
fn a_program_without_symbols_is_told_why_it_finds_no_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile(folder, "-Xlinker -s");
    let (output, errors) = run(folder, "ridgepoint emulate ./runtime");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("stripped of its symbols"), "{errors}");
}

#[test]
fn what_is_not_emulated_is_named_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = "\
#include <cstdio>
int main() {
  cudaMipmappedArray_t array;
  cudaChannelFormatDesc of = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  for (int i = 0; i < 2; i++) puts(cudaGetErrorName(cudaMallocMipmappedArray(&array, &of, make_cudaExtent(8, 0, 0), 1)));
}
";
    fs::write(folder.join("array.cu"), program).expect("writable");
    succeeds(folder, "nvcc array.cu -o array");
    let (output, errors) = run(folder, "ridgepoint emulate ./array");
    let said = "cudaMallocMipmappedArray is not emulated; it answers cudaErrorNotSupported";
    assert_eq!(errors.matches(said).count(), 1, "{errors}");
    assert_eq!(
        output.stdout,
        b"cudaErrorNotSupported\ncudaErrorNotSupported\n"
    );
    assert_eq!(output.status.code(), Some(3), "{errors}");
}

#[test]
fn images_are_read_as_the_programming_guide_defines() {
    let folder = tempfile::tempdir().expect("a folder");
    compile_as(folder.path(), "images.cu", "-lineinfo");
    runs(folder.path(), "");
    runs(folder.path(), "--seeds 2");
}

#[test]
fn errors_of_images_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile_as(folder, "images.cu", "-lineinfo");
    for (error, finding) in [
        (
            "beyond",
            "a surface access of 4 bytes at [16, 0], outside of 4 by 4 by 1 elements of 4 bytes",
        ),
        ("forged", "no texture or surface object is at 0x"),
        ("unwritten", "decided: uninitialised: "),
        ("both", "read-only load of data that the kernel writes"),
    ] {
        let (output, errors) = run(folder, &format!("ridgepoint emulate ./runtime {error}"));
        assert_eq!(output.status.code(), Some(1), "{error}: {errors}");
        assert!(errors.contains(finding), "{error}: {errors}");
    }
}

/// The results of an H200.
fn of_an_h200(file: &str) -> String {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    fs::read_to_string(results.join(file)).expect("results")
}

/// The numbers of a line of the table of fetches.
fn numbers(line: &str) -> impl Iterator<Item = f32> {
    let (_, words) = line.split_once(": ").expect("a case and its results");
    let bits = words.split([' ', ',']);
    bits.map(|it| f32::from_bits(u32::from_str_radix(it, 16).expect("bits")))
}

#[test]
fn fetches_have_an_h200s_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    compile_as(folder.path(), "fetches.cu", "");
    let (output, errors) = run(folder.path(), "ridgepoint emulate ./runtime");
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let got = String::from_utf8(output.stdout).expect("text");
    let expected = of_an_h200("h200-fetches/fetches.txt");
    assert_eq!(got.lines().count(), expected.lines().count());
    let mut others = 0;
    for (got, expected) in got.lines().zip(expected.lines()) {
        if !(expected.contains(" s8x2 ") && expected.contains(" linear")) {
            assert_eq!(got, expected);
            continue;
        }
        for (got, expected) in numbers(got).zip(numbers(expected)) {
            assert!(
                (got - expected).abs() < 1.1 / 32767.0,
                "{got} for {expected}"
            );
            others += u32::from(got != expected);
        }
    }
    assert!(others <= 9, "{others} numbers differ");
}

#[test]
fn fragments_lie_as_in_an_h200() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/gpu/fragments.py");
    let line = format!("ridgepoint emulate python3 {}", script.display());
    let (output, errors) = run(folder.path(), &line);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let got = String::from_utf8(output.stdout).expect("text");
    assert!(
        got == of_an_h200("h200-fragments/fragments.txt"),
        "other places or sums"
    );
    assert!(errors.contains("nothing was found."), "{errors}");
}

/// Two files whose kernels use each other's functions and variables, as CMake's `CUDA_SEPARABLE_COMPILATION` builds them. Each
/// has a function, a string and a template's instance of the same name.
#[test]
fn objects_with_relocatable_code_are_linked() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let common = "\
#include <cassert>
#include <cstdio>
template <class T> __device__ __noinline__ T next(T x) { __shared__ T t[1]; t[0] = x; return t[0] + 1; }
static __device__ int own = OWN;
static __device__ __noinline__ int of_file(int x) { assert(x < 1000); return next(x) * own; }
extern __device__ int calls;
extern __constant__ int table[2];
";
    fs::write(folder.join("common.cuh"), common).expect("writable");
    let main = "\
#define OWN 3
#include \"common.cuh\"
extern __device__ int other(int *, int);
void fill(int first, int second);
int count();
__global__ void kernel(int *x, int at) { *x = other(x, at) + of_file(1) * table[1]; atomicAdd(&calls, 1); }
int main(int, char **arguments) {
  int *x;
  cudaMallocManaged(&x, 4);
  fill(10, 100);
  kernel<<<1, 1>>>(x, atoi(arguments[1]));
  cudaError_t error = cudaDeviceSynchronize();
  printf(\"%d %d %s\\n\", *x, count(), cudaGetErrorName(error));
}
";
    fs::write(folder.join("main.cu"), main).expect("writable");
    let other = "\
#define OWN 5
#include \"common.cuh\"
__device__ int calls = 7;
__constant__ int table[2];
__device__ int other(int *x, int at) {
  return x[at] + of_file(2) + table[0];
}
void fill(int first, int second) {
  int both[] = {first, second};
  cudaMemcpyToSymbol(table, both, 8);
}
int count() {
  int count;
  cudaMemcpyFromSymbol(&count, calls, 4);
  return count;
}
";
    fs::write(folder.join("other.cu"), other).expect("writable");
    // As CMake does, and in the other ways in which nvcc embeds the PTX of each file.
    for options in [
        "-lineinfo -arch=compute_90",
        "-lineinfo -gencode arch=compute_90,code=[sm_90,compute_90]",
        "-G -arch=sm_90",
    ] {
        succeeds(
            folder,
            &format!("nvcc -w -rdc=true {options} main.cu other.cu -o linked"),
        );
        let (output, errors) = run(folder, "ridgepoint emulate ./linked 0");
        // 0 + (2 + 1) * 5 + 10, and (1 + 1) * 3 * 100.
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "625 8 cudaSuccess\n",
            "{options}: {errors}"
        );
        assert!(errors.contains("nothing was found."), "{errors}");
        let (output, errors) = run(folder, "ridgepoint emulate ./linked 1");
        assert_eq!(output.status.code(), Some(1), "{options}: {errors}");
        assert!(errors.contains("other.cu:6"), "{options}: {errors}");
    }
}

/// By the functions of CUDA's runtime for devices, as kernels of Numba wait.
#[test]
fn grids_wait_by_the_runtime_for_devices() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = "\
#include <cstdio>
__global__ void rotate(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 3; round++) {
    int next = x[(i + 1) % n];
    unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    cudaCGSynchronize(grid, 0);
    x[i] = next + 10;
    cudaCGSynchronize(grid, 0);
  }
}
int main(int count, char **) {
  int n = 5 * 64, *x;
  cudaMallocManaged(&x, n * 4);
  for (int i = 0; i < n; i++) x[i] = i;
  void *arguments[] = {&x, &n};
  if (count == 1) cudaLaunchCooperativeKernel((void *)rotate, 5, 64, arguments);
  else rotate<<<5, 64>>>(x, n);
  cudaDeviceSynchronize();
  printf(\"%d %d\\n\", x[0], x[n - 1]);
}
";
    fs::write(folder.join("rotate.cu"), program).expect("writable");
    succeeds(
        folder,
        "nvcc -w -rdc=true -arch=compute_90 rotate.cu -o rotate",
    );
    let (output, errors) = run(folder, "ridgepoint emulate --seeds 5 ./rotate");
    assert_eq!(output.stdout, b"33 32\n", "{errors}");
    assert_eq!(output.status.code(), Some(0), "{errors}");
    // Nobody waits in a launch that is not cooperative.
    let (output, errors) = run(folder, "ridgepoint emulate ./rotate plain");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("rotate: race on element"), "{errors}");
}
