#!/usr/bin/env python3
"""Counts of the emulator beside Nsight Compute's, kernel by kernel.

    counts.py FOLDER OUT      FOLDER: the bundle of gpu-bundle.sh

Each kernel is launched once on the emulator (`ridgepoint profile`) and once on the GPU under `ncu`
(`ridgepoint run --device cuda`), with the same arguments. Leaves OUT/counts.csv, OUT/counts.md and what both
said. Ends with 1 where nothing was compared or a command failed.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

N = 1 << 20

# kernel, file, grid, block, arguments. Grids and lengths have whole warps and odd ends alike.
LAUNCHES = {
    "saxpy (nvcc)": ("saxpy", "nvcc.ptx", "4096", "256", [f"i32:{N - 3}", "f32:2.5", f"f32[{N}]=random", f"f32[{N}]=ones"]),
    "horner k=50 (nvcc)": ("horner", "nvcc.ptx", "4096", "256", [f"i32:{N}", "i32:50", f"f32[{N}]=random", f"f32[{N}]=zeros"]),
    "copy, 16 bytes": ("copy_u4", "kernels.ptx", "256", "256", [f"f32[{N}]=iota", f"u64:{N // 4}", f"f32[{N}]=zeros"]),
    "scale": ("scale_f32", "kernels.ptx", "1024", "256", ["bytes:00002040", f"f32[{N}]=random", f"f32[{N}]=zeros", f"u64:{N}"]),
    "power sum k=10": ("power_sum_f32_v1", "kernels.ptx", "4096", "256", [f"f32[{N}]=random", f"u64:{N}", f"f32[{N}]=zeros", "u32:10"]),
    "horner k=50": ("horner_f32_v1", "kernels.ptx", "4096", "256", [f"f32[{N}]=random", f"u64:{N}", f"f32[{N}]=zeros", "u32:50"]),
    "horner f64 k=10": ("horner_f64_v1", "kernels.ptx", "4096", "256", [f"f64[{N}]=random", f"u64:{N}", f"f64[{N}]=zeros", "u32:10"]),
    "exp (special)": ("exp_f32", "kernels.ptx", "1024", "256", [f"f32[{N}]=random", f"f32[{N}]=zeros", f"u64:{N}"]),
    "nrm2": ("nrm2_f32", "kernels.ptx", "128", "512", [f"f32[{N}]=random", f"u64:{N}", "f32[1]=zeros", "f64[128]=zeros", "u32[1]=zeros"]),
    "gemv f64": ("gemv_f64", "kernels.ptx", "1024", "256", ["f64[1048576]=random", "f64[1024]=random", "u64:1024", "f64[1024]=zeros"]),
    "block sums (shuffles)": ("block_sums", "examples.ptx", "256", "256", [f"f32[{N}]=random", f"u64:{N}", "f32[256]=zeros"]),
    "histogram (shared atomics)": ("histogram", "examples.ptx", "256", "256", [f"u8[{N}]=random", f"u64:{N}", "u32[256]=zeros"]),
    "matmul": ("matmul", "examples.ptx", "4,4", "16,16", ["f32[65536]=random", "u64:65536", "f32[65536]=random", "u64:65536", "f32[65536]=zeros", "u32:256"]),
    "scan of tiles": ("scan_tiles", "examples.ptx", "128", "256", [f"u32[{N}]=random:100", f"u64:{N}", "u32[128]=zeros", "u64:128", f"u32[{N}]=zeros"]),
    "5-point stencil": ("stencil_f32", "examples.ptx", "64,64", "16,16", [f"f32[{N}]=random", f"u64:{N}", f"f32[{N}]=zeros", "u64:1024"]),
    "bank conflict (nvcc)": ("conflict", "planted.ptx", "1", "1024", ["f32[1024]=random", "f32[1024]=zeros"]),
    "divergent (nvcc)": ("divergent", "planted.ptx", "256", "256", ["f32[65536]=random", "f32[65536]=zeros"]),
    "uncoalesced (nvcc)": ("uncoalesced", "planted.ptx", "4", "256", ["f32[1024]=random", "f32[1024]=zeros"]),
    "redundant loads (nvcc)": ("redundant", "planted.ptx", "256", "256", ["f32[65536]=random", "f32[65536]=zeros"]),
}



def of_shared(counter):
    return [f"{counter}_op_{op}.sum" for op in ("ld", "st", "atom")]


SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

# What is compared: a name, the counters whose sum it is, and how the counts give it. Wavefronts and conflicts
# of all operations together would have those of shuffles, and of global stores, too.
FIGURES = [
    ("instructions", "smsp__inst_executed.sum", lambda c: c.warps()),
    ("lanes", "smsp__thread_inst_executed_pred_on.sum", lambda c: c.threads()),
    ("f32 FMA", SASS.format("ffma"), lambda c: c.threads("fma", "f32")),
    ("f32 add", SASS.format("fadd"), lambda c: c.threads("add", "f32")),
    ("f32 multiply", SASS.format("fmul"), lambda c: c.threads("multiply", "f32")),
    ("f64 FMA", SASS.format("dfma"), lambda c: c.threads("fma", "f64")),
    ("f64 add", SASS.format("dadd"), lambda c: c.threads("add", "f64")),
    ("f64 multiply", SASS.format("dmul"), lambda c: c.threads("multiply", "f64")),
    ("global loads", "smsp__sass_inst_executed_op_global_ld.sum", lambda c: c.requests("ld", "global")),
    ("global stores", "smsp__sass_inst_executed_op_global_st.sum", lambda c: c.requests("st", "global")),
    ("sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", lambda c: c.sectors("ld")),
    ("sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", lambda c: c.sectors("st")),
    ("shared loads", "smsp__sass_inst_executed_op_shared_ld.sum", lambda c: c.requests("ld", "shared")),
    ("shared stores", "smsp__sass_inst_executed_op_shared_st.sum", lambda c: c.requests("st", "shared")),
    ("shared atomics", "smsp__sass_inst_executed_op_shared_atom.sum", lambda c: c.requests("atom", "shared")),
    ("shared wavefronts", of_shared("l1tex__data_pipe_lsu_wavefronts_mem_shared"), lambda c: c.total("wavefronts")),
    ("bank conflicts", of_shared("l1tex__data_bank_conflicts_pipe_lsu_mem_shared"), lambda c: c.total("conflicts")),
    ("divergent branches", "smsp__sass_branch_targets_threads_divergent.sum", lambda c: c.total("splits")),
]


class Counts:
    """One kernel of `ridgepoint profile --json`."""

    def __init__(self, path):
        (self.profile,) = json.loads(path.read_text())["profiles"]
        self.ptx = [it for line in self.profile["lines"] for it in line["ptx"]]

    def threads(self, kind=None, element=None):
        rows = self.profile["classes"]
        rows = [it for it in rows if kind is None or (it["class"], it["element"]) == (kind, element)]
        return sum(it["threads"] for it in rows)

    def warps(self):
        return sum(it["warps"] for it in self.profile["classes"])

    def of(self, mnemonic, space):
        """Loads, stores or atomics that reached a space, by whatever address."""
        reached = "bytes" if space == "global" else "wavefronts"
        for it in self.ptx:
            words = it["text"].split()
            name = words[1] if words[0].startswith("@") else words[0]
            if name.split(".")[0].replace("red", "atom") == mnemonic and it[reached]:
                yield it

    def requests(self, mnemonic, space):
        return sum(it["warps"] for it in self.of(mnemonic, space))

    def sectors(self, mnemonic):
        return sum(it["sectors"] for it in self.of(mnemonic, "global"))

    def total(self, what):
        return sum(it[what] for it in self.ptx)


def names(metric):
    return [metric] if isinstance(metric, str) else metric


def run(command, path):
    """Runs a command; what it says goes to a file."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    path.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}", file=sys.stderr)
    return done


def counters(text):
    """Metric -> value, of ncu's `--csv --page raw`: names, units, then a row for each launch."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    names, _, *rows = csv.reader(lines[start:])
    (row,) = rows
    return {name: float(value.replace(",", "")) for name, value in zip(names, row) if name.endswith(".sum") and value}


def compare(folder, out, title, launch):
    kernel, file, grid, block, arguments = launch
    name = "".join(it if it.isalnum() else "-" for it in title)
    launch = [folder / file, kernel, "--grid", grid, "--block", block]
    launch += [word for it in arguments for word in ("--arg", it)]
    ridgepoint = folder / "ridgepoint"
    ncu = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--launch-count", "1"]
    metrics = [name for _, metric, _ in FIGURES for name in names(metric)]
    ncu += ["--kernel-name", f"regex:^{kernel}$", "--metrics", ",".join(metrics)]
    measured = run([*ncu, ridgepoint, "run", *launch, "--device", "cuda"], out / f"{name}.ncu.csv")
    counted = run([ridgepoint, "profile", *launch, "--json", out / f"{name}.json"], out / f"{name}.txt")
    if measured.returncode or counted.returncode:
        return None
    counts, values = Counts(out / f"{name}.json"), counters(measured.stdout)
    rows = [(title, what, of(counts), sum(map(values.get, names(metric)))) for what, metric, of in FIGURES]
    return [row for row in rows if row[2] or row[3]]


def main():
    folder, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    compared = [compare(folder, out, title, launch) for title, launch in LAUNCHES.items()]
    rows = [row for some in compared if some for row in some]
    with open(out / "counts.csv", "w", newline="") as file:
        csv.writer(file).writerows([("kernel", "figure", "counted", "ncu"), *rows])
    lines = ["| kernel | figure | counted in PTX | Nsight Compute | ratio |", "|---|---|--:|--:|--:|"]
    for title, what, counted, measured in rows:
        ratio = f"{counted / measured:.3f}" if measured else "-"
        lines.append(f"| {title} | {what} | {counted:,} | {measured:,.0f} | {ratio} |")
    (out / "counts.md").write_text("\n".join(lines) + "\n")
    same = sum(1 for row in rows if row[2] == row[3])
    print(f"{len(rows)} figures of {sum(map(bool, compared))} kernels: {same} equal")
    return 0 if rows and all(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
