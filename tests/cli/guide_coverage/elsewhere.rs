//! The commands of the guides that no test runs word for word: who runs them, and what proves it.

/// The page of a new package.
pub(super) const TEMPLATE: &str = "../host/src/cli/new/template/README.md";

/// Who runs a command that no test runs.
pub(super) struct Elsewhere {
    pub(super) page: &'static str,
    pub(super) command: &'static str,
    pub(super) who: &'static str,
    /// A file of the tree, and what it has if that is so.
    pub(super) proofs: &'static [(&'static str, &'static str)],
}

/// The commands that CI runs word for word beside its tests.
pub(super) const RUN_BY_CI: [Elsewhere; 4] = [
    Elsewhere {
        page: "../README.md",
        command: "./setup.sh && cargo run --release --features nvtx -- roofline --kernel all --vector 1,4 --plot roofline.svg",
        who: "scripts/fresh-machine.sh, on a machine that has never seen Ridgepoint",
        proofs: &FRESH_MACHINE,
    },
    Elsewhere {
        page: "installing.md",
        command: "cargo install --locked --path .",
        who: "scripts/fresh-machine.sh, in the same place",
        proofs: &FRESH_MACHINE,
    },
    Elsewhere {
        page: "installing.md",
        command: "ridgepoint doctor",
        who: "the same, and tests/cli/guide_commands.rs",
        proofs: &FRESH_MACHINE,
    },
    Elsewhere {
        page: "../README.md",
        command: "./setup.sh --tests && cargo test --workspace --features nvtx",
        who: "CI itself",
        proofs: &[
            (".ci/run", "\ntools() { ./setup.sh --tests; }\n"),
            (
                ".ci/run",
                "\ntests() { cargo test --workspace --features nvtx; }\n",
            ),
        ],
    },
];

const FRESH_MACHINE: [(&str, &str); 3] = [
    (
        ".ci/run",
        "\n    as_root scripts/fresh-machine.sh --first rustup\n",
    ),
    // It takes the commands from the pages.
    ("scripts/fresh-machine.sh", "first_block README.md"),
    ("scripts/fresh-machine.sh", "first_block docs/installing.md"),
];

const PROGRAMS: [(&str, &str); 2] = [
    ("scripts/gpu/programs.sh", "power/blocking/asynchronous"),
    ("scripts/gpu/programs.sh", "--part profiler"),
];

/// The commands that CI cannot run as they are, why, and what it runs of them.
pub(super) const NOT_RUN: [Elsewhere; 20] = [
    Elsewhere {
        page: "profiling-a-program.md",
        command: "ridgepoint profile -- python power.py blocking",
        who: "it needs CuPy and a GPU; scripts/gpu/programs.sh runs it, and its recording is shown again by a test",
        proofs: &PROGRAMS,
    },
    Elsewhere {
        page: "profiling-a-program.md",
        command: "ridgepoint profile --counters --plot roofline.svg -- python roofline.py",
        who: "it needs PyTorch and a GPU; scripts/gpu/programs.sh runs it, and its recording is shown again by a test",
        proofs: &[("scripts/gpu/programs.sh", "--counters --keep")],
    },
    Elsewhere {
        page: "profiling-a-program.md",
        command: "ridgepoint profile --part profiler -- python power.py blocking",
        who: "the same",
        proofs: &PROGRAMS,
    },
    Elsewhere {
        page: "profiling-a-program.md",
        command: "ridgepoint profile --range step --launches 500 -- python train.py",
        who: "it needs PyTorch; another program is run with these options",
        proofs: &[(
            "tests/cli/profiled_programs.rs",
            "--range step --launches 4",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pip install wheels/ridgepoint-*.whl",
        who: "it needs an optimised build; `.ci/full wheel` installs it into an environment that has nothing else",
        proofs: &[(
            ".ci/full",
            "/bin/pip\" install --quiet \"$folder\"/ridgepoint-*.whl",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pytest --ridgepoint",
        who: "it needs pytest; `.ci/full wheel` runs the plugin's tests",
        proofs: &[
            (".ci/full", "/bin/pytest\" python/tests"),
            (
                "python/tests/test_numba.py",
                "runpytest_subprocess(\"--ridgepoint\")",
            ),
        ],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "nvcc -ptx -lineinfo -arch=compute_80 saxpy.cu -o saxpy.ptx",
        who: "CI's machines have no C++ headers of CUDA; what it makes is in the tree",
        proofs: &[(
            "tests/cli/emulate_command/saxpy.ptx",
            "Cuda compilation tools, release 13.0",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pip install 'numba-cuda[cu12]' 'numpy<2.5'",
        who: "it loads 400 MB; `crates/emulated-driver/tests/calls` makes the same calls",
        proofs: &[(
            "crates/emulated-driver/tests/calls/work.rs",
            "cuLibraryLoadData",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "ridgepoint emulate python saxpy.py",
        who: "it needs Numba",
        proofs: &[(
            "crates/emulated-driver/src/names.rs",
            "fn a_kernel_of_numba_has_its_own_name_and_arguments",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pip install cupy-cuda12x 'nvidia-cuda-nvrtc-cu12' 'nvidia-cuda-runtime-cu12'",
        who: "it loads 600 MB; `scripts/clients/cupy.sh` does it, and a test has a runtime that is loaded as CuPy's",
        proofs: &[
            (
                "scripts/clients/cupy.sh",
                "pip install --quiet 'cupy-cuda12x",
            ),
            (
                "tests/cli/emulated_runtime.rs",
                "fn a_runtime_inside_of_a_library_that_is_loaded_later_gives_way",
            ),
        ],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "ridgepoint emulate python normalize.py",
        who: "it needs CuPy",
        proofs: &[(
            "scripts/clients/cupy.sh",
            "emulate environment/bin/python \"$here/cupy_arrays.py\"",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pip install triton",
        who: "it loads 200 MB; `crates/emulated-driver/tests/calls` makes the same calls",
        proofs: &[(
            "crates/emulated-driver/tests/calls/client.rs",
            "cuModuleLoadData",
        )],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "ridgepoint emulate python add.py",
        who: "it needs Triton; `scripts/clients/triton.sh` runs Triton's tutorials",
        proofs: &[
            ("host/src/cli/emulate/ptxas.sh", "--version"),
            (
                "scripts/clients/triton.sh",
                "emulate --quiet -- \"$python\"",
            ),
        ],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "pip install torch",
        who: "it loads 3 GB; `scripts/clients/triton.sh` does it",
        proofs: &[("scripts/clients/triton.sh", "pip\" install --quiet torch ")],
    },
    Elsewhere {
        page: "any-cuda-program.md",
        command: "ridgepoint emulate python train.py",
        who: "it needs PyTorch; `scripts/clients/triton.sh` runs a program with layers and an optimizer",
        proofs: &[
            (
                "scripts/clients/triton.sh",
                "emulate -- \"$python\" -W ignore \"$here/torch_operators.py\"",
            ),
            ("scripts/clients/torch_operators.py", "optimizer.step()"),
        ],
    },
    Elsewhere {
        page: "fuzzing.md",
        command: "cargo run --release -p ridgepoint-fuzz --no-default-features -- programs --count 10000",
        who: "it builds the engine once more and runs for minutes; a test runs fewer programs",
        proofs: &[(
            "crates/tools/fuzz/tests/kept.rs",
            "fn programs_agree_and_nothing_compared_fails",
        )],
    },
    Elsewhere {
        page: "fuzzing.md",
        command: "scripts/fuzz.sh 100000",
        who: "it runs for an hour on two cores; tests run fewer mutants, without the sanitizer",
        proofs: &[
            (
                "crates/tools/fuzz/tests/kept.rs",
                "fn mutants_of_files_end_no_process",
            ),
            ("scripts/fuzz.sh", "count=${1:-100000}"),
        ],
    },
    Elsewhere {
        page: "fuzzing.md",
        command: "scripts/thread-sanitizer.sh",
        who: "it builds the standard library; tests of the engine run the same launches without the sanitizer",
        proofs: &[(
            "crates/tools/fuzz/tests/kept.rs",
            "fn kept_files_end_no_process",
        )],
    },
    Elsewhere {
        page: "testing-kernels.md",
        command: "taskset -c 0 cargo bench -p examples --bench emulator",
        who: "it measures an optimised build for minutes; `cargo test` runs each of its launches once",
        proofs: &[
            (
                "examples/Cargo.toml",
                "name = \"emulator\"\npath = \"../benches/emulator.rs\"\nharness = false\ntest = true\n",
            ),
            ("scripts/figures/emulator-speed.py", "taskset"),
        ],
    },
    Elsewhere {
        page: "asynchrony.md",
        command: "nsys profile --capture-range=cudaProfilerApi --capture-range-end=repeat ridgepoint power",
        who: "it needs Nsight Systems and a GPU; tests/cli/guide_commands.rs runs what it profiles",
        proofs: &[(
            "tests/cli/guide_commands.rs",
            "command(\"asynchrony.md\", \"ridgepoint power\")",
        )],
    },
];

/// An axis of a page's own workload.
pub(super) const AXES: [&str; 1] = ["--tile"];

/// A page of which a test runs every command that begins with `ridgepoint`.
pub(super) const RUN_WHOLE: (&str, &str) = ("profiling-a-kernel.md", "profile_command.rs");

/// The folders that packages lie in.
pub(super) const PACKAGES: [&str; 6] = [
    "crates",
    "crates/internal",
    "crates/material",
    "crates/shims",
    "crates/tools",
    "examples",
];
