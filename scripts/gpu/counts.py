#!/usr/bin/env python3
"""Counts of the emulator beside Nsight Compute's, kernel by kernel.

    counts.py FOLDER OUT          FOLDER: the bundle of gpu-bundle.sh
    counts.py --explain OUT       OUT/counts.md again, of OUT/counts.csv and OUT/why.csv

Each kernel is launched once on the emulator (`ridgepoint profile`) and once on the GPU under `ncu`
(`ridgepoint run --device cuda`), with the same arguments. Leaves OUT/counts.csv, OUT/counts.md and what both
said. Ends with 1 where nothing was compared or a command failed.

OUT/why.csv has a row for each difference over 1 %: kernel, figure and why. `*` is every kernel, of which a row that
names one goes before. With --explain a difference without a reason ends with 1, and so does a kernel's reason without
a difference.
"""

import csv
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

N = 1 << 20

# A product of matrices on tensor cores, in a loop: no kernel of the other files has one.
TENSOR = """.version 7.8
.target sm_80
.address_size 64
.visible .entry tensor(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %a, %i, %t;
    .reg .f32 %d<4>;
    .reg .b64 %o, %x;
    mov.b32 %a, 0x3c003c00;
    mov.f32 %d0, 0f00000000;
    mov.f32 %d1, 0f00000000;
    mov.f32 %d2, 0f00000000;
    mov.f32 %d3, 0f00000000;
    mov.u32 %i, 0;
again:
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a, %a, %a, %a}, {%a, %a}, {%d0, %d1, %d2, %d3};
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 100;
    @%p bra again;
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %x, %t, 16;
    add.u64 %o, %o, %x;
    st.global.v4.f32 [%o], {%d0, %d1, %d2, %d3};
    ret;
}
"""

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
    "tensor cores": ("tensor", "tensor.ptx", "1", "128", ["f32[512]=zeros"]),
}


def of_shared(counter):
    return [f"{counter}_op_{op}.sum" for op in ("ld", "st", "atom")]


# Differences over this share are explained.
EXPLAINED = 0.01

SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

# What is compared: a name, the counters whose sum it is, and how the counts give it. Wavefronts and conflicts
# of all operations together would have those of shuffles, and of global stores, too.
FIGURES = [
    ("instructions", "smsp__inst_executed.sum", lambda c: c.warps()),
    ("lanes", "smsp__thread_inst_executed_pred_on.sum", lambda c: c.threads()),
    ("integer", SASS.format("integer"), lambda c: c.threads("integer") + c.threads("compare")),
    ("bit", SASS.format("bit"), lambda c: c.threads("logic")),
    ("conversion", SASS.format("conversion"), lambda c: c.threads("convert")),
    ("move and others", SASS.format("misc"), lambda c: c.threads("move") + c.threads("barrier")),
    ("control", SASS.format("control"), lambda c: c.threads("control")),
    ("memory", SASS.format("memory"), lambda c: c.of_memory()),
    ("between lanes", SASS.format("inter_thread_communication"), lambda c: c.threads("shuffle")),
    ("uniform", SASS.format("uniform"), lambda c: 0),
    ("special unit", "smsp__inst_executed_pipe_xu.sum", lambda c: c.warps("special")),
    ("tensor", "smsp__inst_executed_pipe_tensor_op_hmma.sum", lambda c: c.warps("tensor")),
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

    def executed(self, by, kind, element):
        rows = self.profile["classes"]
        rows = [it for it in rows if kind in (None, it["class"]) and element in (None, it["element"])]
        return sum(it[by] for it in rows)

    def threads(self, kind=None, element=None):
        return self.executed("threads", kind, element)

    def warps(self, kind=None):
        return self.executed("warps", kind, None)

    def of_memory(self):
        return sum(self.threads(kind) for kind in ("load", "store", "atomic", "copy"))

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


def commands(folder, out, title, metrics):
    """What runs a launch under ncu and what counts it."""
    kernel, file, grid, block, arguments = LAUNCHES[title]
    launch = [(out if file == "tensor.ptx" else folder) / file, kernel, "--grid", grid, "--block", block]
    launch += [word for it in arguments for word in ("--arg", it)]
    ridgepoint = folder / "ridgepoint"
    ncu = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--launch-count", "1"]
    ncu += ["--kernel-name", f"regex:^{kernel}$", "--metrics", ",".join(metrics)]
    profile = [ridgepoint, "profile", *launch, "--json", out / f"{file_name(title)}.json"]
    return [*ncu, ridgepoint, "run", *launch, "--device", "cuda"], profile


def file_name(title):
    return "".join(it if it.isalnum() else "-" for it in title)


def compare(folder, out, title, counted):
    metrics = [name for _, metric, _ in FIGURES for name in names(metric)]
    measure, _ = commands(folder, out, title, metrics)
    measured = run(measure, out / f"{file_name(title)}.ncu.csv")
    if measured.returncode or counted.result().returncode:
        return None
    counts, values = Counts(out / f"{file_name(title)}.json"), counters(measured.stdout)
    lost = [name for name in metrics if name not in values]
    if lost:
        print(f"{title}: ncu has no value of {', '.join(lost)}", file=sys.stderr)
        return None
    rows = [(title, what, of(counts), int(sum(map(values.get, names(metric))))) for what, metric, of in FIGURES]
    return [row for row in rows if row[2] or row[3]]


def differs(row):
    _, _, counted, measured = row
    return abs(counted - measured) > EXPLAINED * measured


def write_table(out, rows, reasons):
    lines = ["| kernel | figure | counted in PTX | Nsight Compute | ratio | why |", "|---|---|--:|--:|--:|---|"]
    for title, what, counted, measured in rows:
        ratio = f"{counted / measured:.3f}" if measured else "-"
        why = reasons.get((title, what), reasons.get(("*", what), "")) if differs((title, what, counted, measured)) else ""
        lines.append(f"| {title} | {what} | {counted:,} | {measured:,} | {ratio} | {why} |")
    (out / "counts.md").write_text("\n".join(lines) + "\n")


def explain(out):
    """The table with reasons. Gives what is missing, and what is too much."""
    with open(out / "counts.csv", newline="") as file:
        rows = [(it["kernel"], it["figure"], int(it["counted"]), int(float(it["ncu"]))) for it in csv.DictReader(file)]
    with open(out / "why.csv", newline="") as file:
        reasons = {(it["kernel"], it["figure"]): it["why"] for it in csv.DictReader(file)}
    write_table(out, rows, reasons)
    different = [row[:2] for row in rows if differs(row)]
    used = {key if key in reasons else ("*", key[1]) for key in different}
    faults = [f"{title}, {what}: over {EXPLAINED:.0%}, and no reason" for title, what in different]
    faults = [fault for fault, key in zip(faults, different) if not {key, ("*", key[1])} & reasons.keys()]
    unused = sorted(key for key in reasons.keys() - used if key[0] != "*")
    faults += [f"{title}, {what}: a reason for no difference" for title, what in unused]
    if not rows:
        faults.append("no figures")
    print("\n".join(faults) or f"{len(different)} of {len(rows)} figures differ by over {EXPLAINED:.0%}, each explained")
    return faults


def main():
    if sys.argv[1] == "--explain":
        return 1 if explain(Path(sys.argv[2])) else 0
    folder, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    (out / "tensor.ptx").write_text(TENSOR)
    with ThreadPoolExecutor() as pool:
        # The emulator counts beside ncu, which has the GPU to itself.
        counted = {it: pool.submit(run, commands(folder, out, it, [])[1], out / f"{file_name(it)}.txt") for it in LAUNCHES}
        compared = [compare(folder, out, title, counted[title]) for title in LAUNCHES]
    rows = [row for some in compared if some for row in some]
    with open(out / "counts.csv", "w", newline="") as file:
        csv.writer(file).writerows([("kernel", "figure", "counted", "ncu"), *rows])
    write_table(out, rows, {})
    same = sum(1 for row in rows if row[2] == row[3])
    print(f"{len(rows)} figures of {sum(map(bool, compared))} kernels: {same} equal")
    return 0 if rows and all(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
