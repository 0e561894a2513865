#!/usr/bin/env python3
"""PyTorch's collectives over NCCL, a process for each GPU, beside rows of `ridgepoint collectives`.

    python3 collectives.py collectives.json [table.md]

Prints a table of the sizes that the rows have, each timed as there: enqueued many times in a stream, between two events, in the median of
nine rounds, on the slower GPU. Ends with 1 if an all-reduce or an all-gather of 1 MB or more has less than 0.98 of PyTorch's bandwidth,
or if there is nothing to compare.
"""

import json
import os
import pathlib
import statistics
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

ROUNDS = 9
# Of the numbers that the rows were measured with: other data take other power.
PERIOD = 1021
COUNTED = ("all-reduce", "all-gather")


def numbers(count):
    """What this rank gives."""
    numbers = torch.arange(PERIOD, device="cuda", dtype=torch.float32) + 3 * dist.get_rank()
    return numbers.repeat(-(-count // PERIOD))[:count]


def operation(name, elements, ranks):
    """What enqueues the collective once."""
    part = elements // ranks
    if name == "all-gather":
        x, out = numbers(part), torch.empty(elements, device="cuda")
        return lambda: dist.all_gather_into_tensor(out, x)
    if name == "reduce-scatter":
        x, out = numbers(elements), torch.empty(part, device="cuda")
        return lambda: dist.reduce_scatter_tensor(out, x)
    x = numbers(elements)
    return (lambda: dist.all_reduce(x)) if name == "all-reduce" else (lambda: dist.broadcast(x, 0))


def time_us(run, iterations):
    for _ in range(iterations):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(iterations):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / iterations)
    return statistics.median(times)


def rank(number, ranks, rows, store, results):
    torch.cuda.set_device(number)
    dist.init_process_group(
        "nccl", init_method=f"file://{store}", rank=number, world_size=ranks,
        device_id=torch.device("cuda", number),
    )
    for row in rows:
        iterations = min(max(2**31 // row["bytes"], 5), 100)
        run = operation(row["collective"], row["bytes"] // 4, ranks)
        own = torch.tensor([time_us(run, iterations)], device="cuda", dtype=torch.float64)
        dist.all_reduce(own, op=dist.ReduceOp.MAX)
        if number == 0:
            results.append(own.item())
        del run
        torch.cuda.empty_cache()
    dist.destroy_process_group()


def main():
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
    rows = [row for row in rows if row["engine"].startswith("NCCL")]
    if not rows:
        sys.exit("no rows of NCCL to compare with")
    ranks = rows[0]["devices"]
    with tempfile.TemporaryDirectory() as folder, mp.Manager() as manager:
        results = manager.list()
        store = os.path.join(folder, "store")
        mp.spawn(rank, (ranks, rows, store, results), nprocs=ranks)
        times = list(results)
    version = ".".join(map(str, torch.cuda.nccl.version()))
    lines = [
        f"{ranks} x {torch.cuda.get_device_name(0)}; {rows[0]['engine']} here, PyTorch {torch.__version__} with NCCL {version}",
        "",
        "| collective | bytes | us | PyTorch us | bus GB/s | PyTorch's | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    slow = 0
    for row, theirs in zip(rows, times, strict=True):
        ratio = theirs / row["time_us"]
        bus = row["bus_gbs"]
        name, size = row["collective"], row["bytes"]
        lines.append(f"| {name} | {size} | {row['time_us']:.2f} | {theirs:.2f} | {bus:.2f} | {bus / ratio:.2f} | {ratio:.3f} |")
        slow += name in COUNTED and size >= 10**6 and ratio < 0.98
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text)
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
