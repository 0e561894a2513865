"""What `ridgepoint ceilings` measured of tensor cores, beside nvcc's loops and PyTorch's products on the same GPU.

    python3 tensor.py ceilings.json tensor.md

Times each peer as the Rust host does: all launches queued, each between two events, 3 warm-ups, the median of 10, on
random normal numbers and on zeros. nvcc's loops are those of tensor.cu: operands stay in shared memory (`shared`), or the left
one in registers (`left`). Ends with 1 where a roof is below 0.97 of the best peer, or has none.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import cupy
import numpy
import torch

WARMUP, RUNS = 3, 10
BAR = 0.97
STEPS, THREADS, SIZE = 8192, 256, 8192
# Elements of the image of shared memory in bytes, and operations of a step of a block.
IMAGE = 4 * (128 + 256) * 128
TYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "tf32": torch.float32,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "s8": torch.int8,
    "f64": torch.float64,
}
# The kernels of `mma.sync`: the type, and operations of a step of a block.
IN_WARPS = {
    "mma_bf16": ("bf16", 2 * 8 * 32 * 16 * 8 * 16),
    "mma_f64": ("f64", 2 * 8 * 32 * 8 * 8 * 4),
    "mma_f64_k16": ("f64", 2 * 8 * 8 * 16 * 8 * 16),
}


def milliseconds(launch):
    for _ in range(WARMUP):
        launch()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(RUNS)]
    for start, end in events:
        start.record()
        launch()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events)


def numbers(shape, name, data):
    if data == "zeros":
        return torch.zeros(shape, device="cuda", dtype=torch.float32).to(TYPES[name])
    values = torch.randn(shape, device="cuda", dtype=torch.float64 if name == "f64" else torch.float32)
    if name == "s8":
        return (40 * values).round().clamp(-127, 127).to(torch.int8)
    return values.to(TYPES[name])


class Nvcc:
    """The kernels of tensor.cu."""

    def __init__(self):
        here = pathlib.Path(__file__).parent
        cubin = here / "tensor.cubin"
        if not cubin.exists():
            cubin = pathlib.Path(tempfile.mkdtemp()) / "tensor.cubin"
            subprocess.run(
                ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-O3", "-std=c++17", "-cubin", "-o", cubin,
                 here / "tensor.cu"],
                check=True,
            )  # fmt: skip
        self.module = cupy.RawModule(path=str(cubin))
        self.blocks = torch.cuda.get_device_properties(0).multi_processor_count
        self.out = torch.empty(self.blocks * THREADS * 128, device="cuda", dtype=torch.float64)

    def rate(self, name, operations, shared, *operands):
        kernel = self.module.get_function(name)
        if shared:
            kernel.max_dynamic_shared_size_bytes = shared
        pointers = [numpy.uint64(operand.data_ptr()) for operand in operands]
        arguments = (*pointers, numpy.uint32(STEPS), numpy.uint64(self.out.data_ptr()))

        def launch():
            with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
                kernel((self.blocks,), (THREADS,), arguments, shared_mem=shared)

        return self.blocks * STEPS * operations / milliseconds(launch) * 1e3

    def loops(self, name, data):
        """Of operands in shared memory, and of the left one in registers."""
        bytes_each = torch.empty(0, dtype=TYPES[name]).element_size()
        image = numbers(IMAGE // bytes_each, name, data)
        operations = 2 * 128 * 256 * (128 // bytes_each)
        return {
            f"nvcc, {kind}": self.rate(f"{name}_{kind}", operations, IMAGE + 1024, image)
            for kind in ("shared", "left")
        }

    def in_warps(self, kernel, data):
        name, operations = IN_WARPS[kernel]
        operands = [numbers(1 << 16, name, data) for _ in range(2)]
        return {f"nvcc, {kernel}": self.rate(kernel, operations, 0, *operands)}


def product(name, data):
    """PyTorch's product of square matrices."""
    a, b = (numbers((SIZE, SIZE), name, data) for _ in range(2))
    if name in ("e4m3", "e5m2"):
        one = torch.ones((), device="cuda")
        b = b.t()

        def launch():
            torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)
    elif name == "s8":
        b = b.t()

        def launch():
            torch._int_mm(a, b)
    else:
        out = torch.empty_like(a)

        def launch():
            torch.mm(a, b, out=out)

    return {"PyTorch": 2 * SIZE**3 / milliseconds(launch) * 1e3}


def attempted(peer, *arguments):
    """What a peer reaches; nothing, and the reason, where it does not run."""
    try:
        return peer(*arguments)
    except Exception as error:  # noqa: BLE001
        print(f"left out: {peer.__name__} {arguments}: {error}")
        return {}


def peers(nvcc):
    found = {}
    for data, ending in (("random", ""), ("zeros", "-zeros")):
        for name in ("bf16", "f16", "tf32", "e4m3", "e5m2", "s8"):
            found[f"tensor-{name}{ending}"] = {
                **attempted(nvcc.loops, name, data),
                **attempted(product, name, data),
            }
        found[f"tensor-f64{ending}"] = {
            **attempted(nvcc.in_warps, "mma_f64", data),
            **attempted(nvcc.in_warps, "mma_f64_k16", data),
            **attempted(product, "f64", data),
        }
        found[f"mma-bf16{ending}"] = attempted(nvcc.in_warps, "mma_bf16", data)
    return found


def main(measured, output):
    torch.backends.cuda.matmul.allow_tf32 = True
    rows = {row["quantity"]: row for row in json.loads(pathlib.Path(measured).read_text())["ceilings"]}
    lines = [
        f"Medians of {RUNS} launches on {torch.cuda.get_device_name()}, in 1e12 operations per second. A ratio is "
        "the roof over the best peer. PyTorch multiplies matrices of 8192 x 8192.",
        "",
        "| roof | Rust | MHz | data sheet | best peer | its figure | ratio | all peers |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    below = []
    for quantity, found in peers(Nvcc()).items():
        row = rows.get(quantity)
        if row is None or not found:
            below.append(f"Not compared: {quantity}, by {', '.join(found) or 'no peer'}")
            continue
        best = max(found, key=found.get)
        ratio = row["value"] / found[best]
        others = "; ".join(f"{name} {rate / 1e12:.1f}" for name, rate in found.items())
        sheet = f"{row['datasheet'] / 1e12:.1f}" if row["datasheet"] else ""
        clock = f"{row['clock_hz'] / 1e6:.0f}" if row["clock_hz"] else ""
        lines.append(
            f"| {quantity} | {row['value'] / 1e12:.1f} | {clock} | {sheet} | {best} | {found[best] / 1e12:.1f} "
            f"| {ratio:.3f} | {others} |"
        )
        if ratio < BAR:
            below.append(f"Below {BAR}: {quantity}, {ratio:.3f} of {best}")
    text = "\n".join([*lines, "", *below]).rstrip() + "\n"
    pathlib.Path(output).write_text(text)
    print(text)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
