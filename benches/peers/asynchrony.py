"""Ridgepoint's vector kernels and launches beside CUB, cuBLAS, CUDA C++, CuPy and PyTorch.

    python3 asynchrony.py FOLDER peers-asynchrony.md

FOLDER has `ridgepoint`, its `kernels.ptx` and `bench-vectors`. Runs these and the peers on the same
GPU, writes a table of medians with a ratio for each gate, and ends with 1 where a gate is missed.
"""

import csv
import ctypes
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cupy
import numpy
import torch

HERE = pathlib.Path(__file__).parent
EXPONENTS = (10, 16, 20, 24, 26, 28)
NODES = 20
# Two runs of one kernel differ by as much: a ratio so little below a gate meets it.
NOISE = 0.002


def rust_benches(folder, scratch):
    """Microseconds of each Criterion bench: ("nrm2/f32", 26)."""
    environment = dict(os.environ, CRITERION_HOME=str(scratch))
    command = [str(pathlib.Path(folder, "bench-vectors").resolve()), "--bench", "--noplot"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    times = {}
    for path in pathlib.Path(scratch).glob("**/new/benchmark.json"):
        bench = json.loads(path.read_text())
        machine, name = bench["group_id"].split("/", 1)
        assert machine == "cuda", "the bench ran on the emulator"
        estimates = json.loads(path.with_name("estimates.json").read_text())
        times[name, int(bench["value_str"])] = estimates["median"]["point_estimate"] / 1e3
    return times


def rust_rows(folder, *arguments):
    """The rows of a `ridgepoint` command."""
    command = [str(pathlib.Path(folder, "ridgepoint").resolve()), *arguments]
    command += ["--device", "cuda", "--quiet", "--output", "-", "--format", "csv"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(said)))


def dispatches(folder, scratch, rounds=5):
    """The rows of `ridgepoint dispatch`, and microseconds of what asynchrony.cu measures, such as
    ("copy", 28). Both in turns, because a host is not always as fast: medians.
    """
    program = pathlib.Path(scratch, "asynchrony")
    source = HERE / "asynchrony.cu"
    command = ["nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-o", program, source]
    subprocess.run(command, check=True)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(rust_rows(folder, "dispatch"))
        said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        lines = [line.split() for line in said.splitlines()]
        theirs.append({(name, int(size)): float(time) for name, size, time in lines})
    rows = ours[0]
    for i, row in enumerate(rows):
        for column in ("host_us", "complete_us"):
            row[column] = float(numpy.median([float(run[i][column]) for run in ours]))
    peers = {key: float(numpy.median([run[key] for run in theirs])) for key in theirs[0]}
    return rows, peers


def norms(folder, scratch):
    """Microseconds of our norm and of CUB's sum of squares, in turns, in one process and on the same
    memory: what lies where in it moves both by a percent and more.
    """
    library = pathlib.Path(scratch, "squares.so")
    command = ["nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run([*command, "-o", library, HERE / "squares.cu"], check=True)
    library = ctypes.CDLL(str(library))
    stream = cupy.cuda.Stream(non_blocking=True)
    times = {}
    for dtype, exponents in ((cupy.float32, EXPONENTS), (cupy.float64, (10, 20, 26))):
        name = f"f{8 * numpy.dtype(dtype).itemsize}"
        for exponent in exponents:
            x = cupy.random.rand(1 << exponent, dtype=dtype) - dtype(0.5)
            launches = {
                "ours": our_norm(folder, name, x, stream),
                "cub": cub_squares(getattr(library, f"squares_{name}"), x, stream),
            }
            root, square = (float(result[0]) for _, result in launches.values())
            assert abs(root - square**0.5) < 1e-5 * root, f"{root} is no root of {square}"
            nodes = 200 if exponent <= 20 else 20
            graphs = {who: in_graph(launch, stream, nodes) for who, (launch, _) in launches.items()}
            samples = {who: [] for who in graphs}
            for _ in range(30):
                for who, graph in graphs.items():
                    samples[who].append(timed(graph, stream) / nodes)
            for who, of_graph in samples.items():
                times[f"{who}_nrm2_{name}", exponent] = float(numpy.median(of_graph))
            del x, launches, graphs
            cupy.get_default_memory_pool().free_all_blocks()
    return times


def our_norm(folder, name, x, stream):
    """A launch of nrm2 of this shape, as `ridgepoint::vector::Norm` makes it, and its result."""
    module = cupy.RawModule(path=str(pathlib.Path(folder, "kernels.ptx")))
    function = module.get_function(f"nrm2_{name}")
    # `reduction_blocks` in kernels-gpu/src/vector.rs.
    block, in_flight, sums = 512, 8, 1 if name == "f32" else 3
    row = block * 16 // x.itemsize
    tiles = -(-x.size // (in_flight * row))
    multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    if tiles <= 1:
        blocks = 1
    elif tiles < 6 * multiprocessors:
        blocks = min(-(-x.size // row), multiprocessors)
    else:
        blocks = min(max(tiles // 4, 4 * multiprocessors), 48 // sums * multiprocessors)
    result, partials = cupy.zeros(1, dtype=x.dtype), cupy.zeros(sums * blocks)
    ticket = cupy.zeros(1, dtype=cupy.uint32)
    arguments = (x, numpy.uint64(x.size), result, partials, ticket)
    cupy.cuda.Device().synchronize()

    def launch():
        with stream:
            function((blocks,), (block,), arguments)

    launch()
    stream.synchronize()
    return launch, result


def cub_squares(function, x, stream):
    """A call of CUB, and its result."""
    pointer = ctypes.c_void_p
    function.argtypes = [pointer, pointer, pointer, pointer, ctypes.c_size_t, pointer]
    result, size = cupy.zeros(1, dtype=x.dtype), ctypes.c_size_t(0)
    call = (ctypes.byref(size), x.data.ptr, result.data.ptr, x.size, stream.ptr)
    assert function(None, *call) == 0
    scratch = cupy.zeros(max(size.value, 1), dtype=cupy.uint8)
    cupy.cuda.Device().synchronize()

    def launch():
        assert function(scratch.data.ptr, *call) == 0

    launch()
    stream.synchronize()
    return launch, result


def in_graph(launch, stream, nodes):
    """So many launches as one."""
    with stream:
        stream.begin_capture()
        for _ in range(nodes):
            launch()
        graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
    return graph


def timed(graph, stream):
    """Microseconds of a replay."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record(stream)
    graph.launch(stream)
    end.record(stream)
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) * 1e3


def event_time(launch, runs=30):
    """Microseconds of a launch of CuPy, between two events each, all queued."""
    for _ in range(3):
        launch()
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(runs)]
    for start, end in events:
        start.record()
        launch()
        end.record()
    cupy.cuda.Device().synchronize()
    return float(numpy.median([cupy.cuda.get_elapsed_time(*pair) * 1e3 for pair in events]))


def cublas():
    """Microseconds of cuBLAS with results on the device."""
    from cupy import cublas as blas

    times = {}
    for exponent in (26, 28):
        x = cupy.random.rand(1 << exponent, dtype=cupy.float32) - 0.5
        result = cupy.empty((), dtype=cupy.float32)
        times["cublas_nrm2_f32", exponent] = event_time(lambda: blas.nrm2(x, out=result))
        del x
        cupy.get_default_memory_pool().free_all_blocks()
    n = 8192
    for dtype in (cupy.float32, cupy.float64):
        a = cupy.random.rand(n, n, dtype=dtype) - 0.5
        x, y = cupy.random.rand(n, dtype=dtype), cupy.zeros(n, dtype=dtype)
        name = f"cublas_gemv_f{8 * a.itemsize}"
        times[name, 13] = event_time(lambda: blas.gemv("N", 1.0, a, x, 0.0, y))
        assert cupy.allclose(y, a @ x, rtol=1e-3, atol=1e-2)
    return times


def graph_time(launch, replays=30):
    """Microseconds of a launch of PyTorch in a graph of NODES."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(NODES):
                launch()
        samples = []
        for _ in range(replays):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            stream.synchronize()
            samples.append(start.elapsed_time(end) * 1e3 / NODES)
    return float(numpy.median(samples))


def normalize():
    """Microseconds of `x / norm(x)` in PyTorch's graph, and in CuPy."""
    times = {}
    for exponent in (10, 20, 26):
        x = torch.rand(1 << exponent, device="cuda") - 0.5
        y, norm = torch.empty_like(x), torch.empty((), device="cuda")

        def torch_normalize():
            torch.linalg.vector_norm(x, out=norm)
            torch.div(x, norm, out=y)

        times["torch_graph_normalize_f32", exponent] = graph_time(torch_normalize)
        x_cupy = cupy.asarray(x)
        times["cupy_normalize_f32", exponent] = event_time(
            lambda: x_cupy / cupy.linalg.norm(x_cupy)
        )
    torch.cuda.empty_cache()
    return times


def pipelines(folder, rounds=3):
    """The rows of `ridgepoint pipeline`, and PyTorch's milliseconds for each of their works. What is
    streamed comes in turns with PyTorch, because what else uses the host's memory slows both: the
    rows in the middle, and medians.
    """
    rows = rust_rows(folder, "pipeline")
    streamed = [[row for row in rows if row["mode"] == "streamed"]]
    theirs = []
    for i in range(rounds):
        if i > 0:
            streamed.append(rust_rows(folder, "pipeline", "--mode", "streamed"))
        # Each run finds its own degrees, which take the same time.
        works = [row["work"].split() for row in streamed[-1]]
        times = pipeline([int(work[1]) for work in works if work[0] == "horner"])
        theirs.append(list(times.values()))
    runs = zip(*streamed)
    middle = [sorted(of_work, key=lambda row: float(row["total_ms"]))[rounds // 2] for of_work in runs]
    peers = dict(zip((row["work"] for row in middle), numpy.median(theirs, axis=0).tolist()))
    return [row for row in rows if row["mode"] != "streamed"] + middle, peers


def pipeline(degrees):
    """Milliseconds of PyTorch streaming ten batches through nvcc's polynomial, for each degree: the
    better of whole batches and of Ridgepoint's chunks.
    """
    batches, elements, rounds = 10, 4096 * 4096, 5
    cubin = pathlib.Path(tempfile.mkdtemp()) / "polynomial.cubin"
    source = HERE / "polynomial.cu"
    subprocess.run(["nvcc", "-arch=sm_90", "-O3", "-cubin", "-o", cubin, source], check=True)
    kernel = cupy.RawModule(path=str(cubin)).get_function("horner_f32_v4")
    host_in = torch.rand(batches * elements).div_(2).pin_memory()
    host_out = torch.empty_like(host_in).pin_memory()

    def run(degree, chunks, streams):
        chunk = elements // chunks
        slots = [
            (torch.cuda.Stream(), *(torch.empty(chunk, device="cuda") for _ in range(2)))
            for _ in range(streams)
        ]
        arguments = numpy.uint32(degree), numpy.uint64(chunk)
        pieces = list(zip(host_in.split(chunk), host_out.split(chunk)))

        def all_through():
            for i, (piece_in, piece_out) in enumerate(pieces):
                stream, x, y = slots[i % streams]
                with torch.cuda.stream(stream), cupy.cuda.ExternalStream(stream.cuda_stream):
                    x.copy_(piece_in, non_blocking=True)
                    pointers = cupy.asarray(x), cupy.asarray(y)
                    kernel((chunk // 1024,), (256,), (*pointers, *arguments))
                    piece_out.copy_(y, non_blocking=True)
            torch.cuda.synchronize()

        all_through()
        samples = []
        for _ in range(rounds):
            began = time.perf_counter()
            all_through()
            samples.append((time.perf_counter() - began) * 1e3)
        return float(numpy.median(samples))

    shapes = [(1, 4), (8, 3), (8, 6)]
    return {degree: min(run(degree, *shape) for shape in shapes) for degree in degrees}


class Table:
    """Rows of ours against a peer's, and whether each gate is met."""

    def __init__(self):
        self.lines = [
            "| work | size | ours us | peer | peer us | ratio | gate | met |",
            "|---|---|---|---|---|---|---|---|",
        ]
        self.missed = 0

    def add(self, work, size, ours, peer, theirs, gate=None):
        """A ratio above 1: ours is faster. `gate` is the least ratio."""
        ratio = theirs / ours
        met = "" if gate is None else "yes" if ratio >= gate * (1 - NOISE) else "**no**"
        self.missed += met == "**no**"
        self.lines.append(
            f"| {work} | {size} | {ours:.3f} | {peer} | {theirs:.3f} | {ratio:.3f} "
            f"| {'' if gate is None else f'{gate:.3g}'} | {met} |"
        )


def compare(rust, rows, launches, batches, powers, peers, torch_pipeline):
    table = Table()
    for exponent in EXPONENTS:
        ours, theirs = (peers[f"{who}_nrm2_f32", exponent] for who in ("ours", "cub"))
        table.add("nrm2 f32", f"2^{exponent}", ours, "CUB sum of squares", theirs, 1.0)
    for exponent in (10, 20, 26):
        ours, theirs = (peers[f"{who}_nrm2_f64", exponent] for who in ("ours", "cub"))
        table.add("nrm2 f64", f"2^{exponent}", ours, "CUB sum of squares", theirs)
    for exponent in (26, 28):
        ours, theirs = rust["nrm2/f32", exponent], peers["cublas_nrm2_f32", exponent]
        table.add("nrm2 f32", f"2^{exponent}", ours, "cuBLAS snrm2", theirs, 1.7)
    fused = {int(row["n"]): float(row["device_us"]) for row in rows if row["mode"] == "graph"}
    for exponent in (10, 20, 26):
        ours = fused[1 << exponent]
        theirs = peers["torch_graph_normalize_f32", exponent]
        table.add("normalize f32", f"2^{exponent}", ours, "PyTorch in a graph", theirs, 1.3)
        theirs = peers["cupy_normalize_f32", exponent]
        table.add("normalize f32", f"2^{exponent}", ours, "CuPy", theirs, 3.0)
    copy = peers["copy", 28]
    for kernel in ("scale", "relu", "gelu", "exp"):
        table.add(f"{kernel} f32", "2^28", rust[f"{kernel}/f32", 28], "device copy", copy, 0.97)
    # It reads twice as much.
    table.add("axpy f32", "2^28", rust["axpy/f32", 28], "device copy x 1.5", 1.5 * copy, 0.97)
    for dtype, gate in (("f32", None), ("f64", 1.0)):
        theirs = peers[f"cublas_gemv_{dtype}", 13]
        table.add(f"gemv {dtype}", "8192", rust[f"gemv/{dtype}", 13], "cuBLAS", theirs, gate)
    names = {
        "no barrier": "no_barrier",
        "a graph": "graph",
        "a barrier each tenth launch": "barrier_tenth",
        "a barrier each launch": "barrier_each",
    }
    for row in launches:
        name, size = names[row["dispatch"]], int(row["launches"])
        ours, theirs = float(row["complete_us"]), peers[f"{name}_complete", size]
        gate = 1 / 1.1 if name == "graph" else None
        table.add(f"{row['dispatch']}: a launch", size, ours, "CUDA C++", theirs, gate)
        if name == "no_barrier":
            ours, theirs = float(row["host_us"]), peers[f"{name}_host", size]
            table.add("enqueue", size, ours, "CUDA C++", theirs, 1 / 1.1)
    for row in batches:
        ours, floor = (1e3 * float(row[name]) for name in ("total_ms", "floor_ms"))
        streamed = row["mode"] == "streamed"
        weighed = streamed and row["work"].startswith("horner")
        work = f"{row['mode']} pipeline, {row['work']}"
        table.add(work, row["size"], ours, "its floor", floor, 1 / 1.15 if weighed else None)
        if weighed:
            theirs = 1e3 * torch_pipeline[row["work"]]
            table.add(work, row["size"], ours, "PyTorch streaming", theirs, 1.0)
    for row in powers:
        gate = 1.0 if row["mode"] != "baseline" else None
        ours = 1e3 * float(row["total_ms"])
        work = f"power iteration, {row['mode']}, {row['steps']} steps"
        table.add(work, row["dim"], ours, "75 ms", 75e3, gate)
        table.add(f"{work}: the loop alone", row["dim"], 1e3 * float(row["loop_ms"]), "75 ms", 75e3)
    return table


def main(folder, output):
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    with tempfile.TemporaryDirectory() as scratch:
        rust = rust_benches(folder, pathlib.Path(scratch, "criterion"))
        rows = rust_rows(folder, "norm")
        launches, peers = dispatches(folder, scratch)
        powers = []
        for mode in ("baseline", "async", "graph"):
            checkpoints = str(pathlib.Path(scratch, mode))
            powers += rust_rows(folder, "power", "--mode", mode, "--checkpoint", checkpoints)
            assert float(powers[-1]["error"]) < 1e-10, powers[-1]
        peers |= norms(folder, scratch) | cublas() | normalize()
    batches, torch_pipeline = pipelines(folder)
    table = compare(rust, rows, launches, batches, powers, peers, torch_pipeline)
    text = "\n".join(
        [
            f"Medians on {device}, in microseconds. A ratio is the peer's time over ours: above 1 "
            "ours is faster.",
            "",
            *table.lines,
            "",
            "Normalize in a loop:",
            "",
            "| n | mode | host us | device us | GB/s | launches | copies | waits |",
            "|---|---|---|---|---|---|---|---|",
            *(
                f"| {row['n']} | {row['mode']} | {row['host_us']} | {row['device_us']} "
                f"| {row['gigabytes_per_second']} | {row['launches']} | {row['copies']} "
                f"| {row['waits']} |"
                for row in rows
            ),
            "",
            "Ten batches through the device, in milliseconds:",
            "",
            "| mode | work | to device | compute | from device | total | over floor | overlap "
            "| pinning: new, existing | device bytes | pinned bytes |",
            "|" + "---|" * 11,
            *(
                f"| {row['mode']} | {row['work']} | {row['to_device_ms']} | {row['compute_ms']} "
                f"| {row['from_device_ms']} | {row['total_ms']} | {row['over_floor']} "
                f"| {row['overlap']} | {row['allocate_pinned_ms']}, {row['pin_existing_ms']} "
                f"| {row['device_bytes']} | {row['pinned_bytes']} |"
                for row in batches
            ),
        ]
    )
    pathlib.Path(output).write_text(text + "\n")
    print(text)
    device_modes = [row for row in rows if row["mode"] != "host"]
    kept = all(float(row["copies"]) == float(row["waits"]) == 0 for row in device_modes)
    if not kept:
        print("a device-resident loop copies or waits", file=sys.stderr)
    return int(table.missed > 0 or not kept)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
