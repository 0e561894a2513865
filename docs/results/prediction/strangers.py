"""Predicts kernels of strangers: CUDA's samples, llm.c, HeCBench and Triton's tutorials, which are read from checkouts.

    strangers.py build CHECKOUTS FOLDER     PTX and machine code of each kernel, and plan.json: launches to measure
    strangers_times.py FOLDER OUT           on the machine with the GPU: strangers-times.csv
    strangers.py predict PROGRAM FOLDER     strangers-predicted.csv, by the program `ridgepoint`
    strangers.py compare TIMES BOARD        strangers.csv and strangers.md of both

CHECKOUTS has a bare git directory OWNER+NAME/repo of each repository of strangers_kernels.SOURCES. Needs nvcc,
ptxas and cuobjdump in PATH, and triton.
"""

import ast
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from strangers_kernels import KERNELS, SOURCES
from table import OWN, errors, mean, write


def show(checkouts, source, path):
    repository = pathlib.Path(checkouts) / SOURCES[source].replace("/", "+") / "repo"
    return subprocess.run(["git", "-C", repository, "show", f"HEAD:{path}"], capture_output=True, text=True, check=True).stdout


def matching(text, start, pair):
    """The index behind the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError(f"no {pair[1]} for the {pair[0]} at {start}")


def cut(text, name):
    """The definition of a function in C++, from the line where its declaration begins."""
    for found in re.finditer(rf"\b{name}\s*\(", text):
        end = matching(text, found.end() - 1, "()")
        body = re.match(r"\s*\{", text[end:])
        if not body:
            continue
        close = matching(text, end + body.end() - 1, "{}")
        before = text[: found.start()].split("\n")
        # A declaration may begin some lines earlier: with template<..>, __global__ or __launch_bounds__(..).
        first = len(before) - 1
        while first > 0 and before[first - 1].strip() and not re.search(r"[;}]\s*$|^\s*(#|//|\*)|\*/", before[first - 1]):
            first -= 1
        return "\n".join(before[first:]) + text[found.start() : close]
    raise ValueError(f"no definition of {name}")


def run(*words):
    made = subprocess.run([str(it) for it in words], capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{' '.join(str(it) for it in words)}: {made.stderr[-2000:]}")
    return made.stdout


def from_cuda(kernel, checkouts, folder):
    parts = ["#include <cstdint>", "#include <cfloat>", "#include <cmath>", kernel.before]
    parts += [cut(show(checkouts, kernel.source, path), name) for path, name in kernel.others]
    text = show(checkouts, kernel.source, kernel.file)
    parts += [cut(text, name) for name in kernel.functions] + [kernel.after]
    ptx = folder / f"{kernel.name}.ptx"
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / f"{kernel.name}.cu"
        source.write_text("\n\n".join(parts) + "\n")
        run("nvcc", "-arch=sm_90", "-O3", "-ptx", source, "-o", ptx)
    run("ptxas", "-arch=sm_90", "-O3", ptx, "-o", ptx.with_suffix(".cubin"))
    return kernel.shared


def from_triton(kernel, checkouts, folder):
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    text = show(checkouts, kernel.source, kernel.file)
    functions = {it.name: it for it in ast.parse(text).body if isinstance(it, ast.FunctionDef)}
    parts = ["import triton", "import triton.language as tl"]
    parts += ["@triton.jit\n" + ast.get_source_segment(text, functions[name]) for name in kernel.functions]
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "kernel.py"
        source.write_text("\n\n\n".join(parts) + "\n")
        spec = importlib.util.spec_from_file_location("kernel", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, kernel.functions[-1])
        # As Triton's launcher finds at run time: pointers, and sizes that are multiples of 16, are known to be.
        names = function.arg_names
        whole = {name for name, kind in kernel.signature.items() if kind.startswith("*") or (kind == "i32" and name != "seed")}
        made = triton.compile(
            ASTSource(
                function,
                kernel.signature | {name: "constexpr" for name in kernel.constants},
                {(names.index(name),): value for name, value in kernel.constants.items()},
                {(names.index(name),): [["tt.divisibility", 16]] for name in whole},
            ),
            target=GPUTarget("cuda", 90, 32),
            options={"num_warps": kernel.warps},
        )
    (folder / f"{kernel.name}.ptx").write_text(made.asm["ptx"])
    (folder / f"{kernel.name}.cubin").write_bytes(made.asm["cubin"])
    return lambda _: made.metadata.shared


def threads(block):
    return math.prod(block) if isinstance(block, tuple) else block


def build(checkouts, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    run("nvcc", "-arch=sm_90", "-O3", "-cubin", OWN / "strangers_own.cu", "-o", folder / "own.cubin")
    plan = []
    for kernel in KERNELS:
        shared = (from_triton if kernel.source == "triton" else from_cuda)(kernel, checkouts, folder)
        ptx = (folder / f"{kernel.name}.ptx").read_text()
        entry = re.search(r"\.entry\s+(\w+)", ptx)[1]
        # Triton adds pointers to scratch memory that these kernels have no use for.
        parameters = len(re.findall(r"\.param", re.search(r"\.entry[^{]*", ptx)[0]))
        registers = int(re.search(r"REG:(\d+)", run("cuobjdump", "-res-usage", folder / f"{kernel.name}.cubin"))[1])
        for block in kernel.blocks:
            grid, arguments = kernel.of(kernel.measured, threads(block))
            smaller, counted = kernel.of(kernel.counted, threads(block))
            times = math.prod(grid) / math.prod(smaller)
            if times != round(times):
                sys.exit(f"{kernel.name}: {grid} are not a whole number of times {smaller}")
            none = ["u64:0"] * (parameters - len(arguments))
            plan.append(
                {
                    "kernel": kernel.name,
                    "source": kernel.source,
                    "entry": entry,
                    "block": list(block) if isinstance(block, tuple) else [block],
                    "grid": grid,
                    "arguments": arguments + none,
                    "counted_grid": smaller,
                    "counted_arguments": counted + none,
                    "times": round(times),
                    "shared": shared(threads(block)),
                    "registers": registers,
                    "out": kernel.out,
                }
            )
    commits = {
        name: run("git", "-C", pathlib.Path(checkouts) / it.replace("/", "+") / "repo", "rev-parse", "HEAD").strip()
        for name, it in SOURCES.items()
    }
    (folder / "plan.json").write_text(json.dumps({"commits": commits, "launches": plan}, indent=1) + "\n")


def joined(numbers):
    return ",".join(str(it) for it in numbers)


def predict(program, folder, board="h200"):
    folder, table = pathlib.Path(folder), []
    for launch in json.loads((folder / "plan.json").read_text())["launches"]:
        words = [
            program,
            "predict",
            folder / f"{launch['kernel']}.ptx",
            launch["entry"],
            "--grid",
            joined(launch["counted_grid"]),
            "--block",
            joined(launch["block"]),
        ]
        words += [
            "--times",
            launch["times"],
            "--shared",
            launch["shared"],
            "--registers",
            launch["registers"],
            "--roofs",
            board,
            "--format",
            "json",
            "--time-limit",
            "100",
        ]
        for argument in launch["counted_arguments"]:
            words += ["--arg", argument]
        made = subprocess.run([str(it) for it in words], capture_output=True, text=True)
        if made.returncode != 0:
            print(f"{launch['kernel']} {launch['block']}: {made.stderr.strip()[-400:]}", file=sys.stderr)
            continue
        row = json.loads(made.stdout)[-1]
        figures = ["blocks", "registers", "resident_blocks", "predicted_ms", "low_ms", "high_ms", "limit", "roof_ms", "little_ms", "causes"]
        block = math.prod(launch["block"])
        table.append(
            {"board": board, "name": launch["kernel"], "source": launch["source"], "block": block}
            | {name: row.get(name) for name in figures}
        )
        print(launch["kernel"], block, row["predicted_ms"], row["limit"], flush=True)
    for row in table:
        # Folders are those of this run.
        row["causes"] = re.sub(r"/[^ ;(]*/", "", row["causes"])
    write(OWN / f"strangers-predicted-{board}.csv", table)


def blocks_chosen(rows):
    """How much slower the block of the shortest predicted time is than the fastest one, by kernel."""
    studies = {}
    for row in rows:
        studies.setdefault(row["name"], []).append(row)
    slower = {}
    for name, own in studies.items():
        if len(own) > 1:
            chosen = min(own, key=lambda row: (row["predicted_ms"], row["block"]))
            slower[name] = chosen["block"], min(own, key=lambda row: row["ms"])["block"], chosen["ms"] / min(row["ms"] for row in own) - 1
    return slower


def compare(times, board):
    numbers = ["predicted_ms", "low_ms", "high_ms", "roof_ms", "little_ms"]
    measured = {(row["kernel"], int(row["block"])): row for row in csv.DictReader(open(times))}
    table = []
    for row in csv.DictReader(open(OWN / f"strangers-predicted-{board}.csv")):
        row |= {name: float(row[name]) for name in numbers} | {"block": int(row["block"])}
        found = measured.get((row["name"], row["block"]))
        if found:
            ms = float(found["median_ms"])
            off = {"ms": ms, "error_percent": round(100 * (row["predicted_ms"] / ms - 1), 1), "measured_registers": found["registers"]}
            table.append(row | off)
    write(OWN / "strangers.csv", table)
    lines, totals = errors(table)
    held = mean([row["low_ms"] <= row["ms"] <= row["high_ms"] for row in table])
    slower = blocks_chosen(table)
    near = sum(it <= 0.03 for *_, it in slower.values())
    totals += f"\nThe interval that each prediction names holds {100 * held:.0f} % of the rows."
    totals += (
        f"\nOf {len(slower)} studies of block sizes, the block with the shortest predicted time is within 3 % of the fastest one in {near}."
    )
    studies = ["| kernel | block of the shortest predicted time | fastest block | slower by |", "|---|---|---|---|"]
    studies += [f"| {name} | {chosen} | {best} | {100 * off:.1f} % |" for name, (chosen, best, off) in sorted(slower.items())]
    (OWN / "strangers.md").write_text(f"{totals}\n\n{lines}\n\n" + "\n".join(studies) + "\n")
    print(totals, lines, *studies, sep="\n")


if __name__ == "__main__":
    {"build": build, "predict": predict, "compare": compare}[sys.argv[1]](*sys.argv[2:])
