#!/usr/bin/env python3
"""The links between GPUs by PyTorch's copies, and `ridgepoint links` beside them and beside benches/peers/links.cu.

    python3 links.py links.json links-cuda.json

The first file is what `ridgepoint links --output links.json` wrote, the second what the program of links.cu printed. For every row of ours
the table has the best peer and the ratio of speeds, ours over the peer's (of a latency the peer's time over ours). Ends with 1 if a copy is
below 0.98 of the best peer, or if a copy of ours has no peer. PyTorch's copies are timed as ours: 16 in a row between two events, warmed
up, the median of 5; both ways at once, each direction in a stream of its own.
"""
import json
import statistics
import sys

import torch

BYTES = 512 << 20
ROUNDS, TRANSFERS = 5, 16
LEAST = 0.98
# PyTorch's own scheduling is not measured: only how its copies use a link.
COPIES = {"copy", "copy, both ways"}


def name(device):
    return "host" if device.type == "cpu" else str(device)


def tensor(device, value):
    """So many bytes on a device, or page-locked on the host."""
    pinned = device.type == "cpu"
    return torch.full((BYTES // 4,), value, dtype=torch.int32, device=device, pin_memory=pinned)


def rate(flows):
    """Bytes per second of all flows together, in the median: each is a target, a source and the device whose stream copies."""
    rates = []
    streams = [torch.cuda.Stream(device=by) for _, _, by in flows]
    for round_number in range(ROUNDS + 1):
        events = []
        begun = torch.cuda.Event()
        begun.record(streams[0])
        for (target, source, by), stream in zip(flows, streams):
            stream.wait_event(begun)
            with torch.cuda.device(by), torch.cuda.stream(stream):
                pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                pair[0].record(stream)
                for _ in range(TRANSFERS):
                    target.copy_(source, non_blocking=True)
                pair[1].record(stream)
            events.append(pair)
        for stream in streams:
            stream.synchronize()
        if round_number > 0:
            rates.append(sum(BYTES * TRANSFERS / (a.elapsed_time(b) / 1e3) for a, b in events))
    return statistics.median(rates)


def measured(pairs, quantity):
    """Rows for directions that run at once: each is a source's device, a target's, and the one whose stream copies."""
    flows = [(tensor(to, -1), tensor(source, 17 + i), by) for i, (source, to, by) in enumerate(pairs)]
    value = rate(flows)
    for target, source, _ in flows:
        if not torch.equal(target, source.to(target.device)):
            sys.exit(f"{quantity}: PyTorch's copy is wrong")
    source, to, _ = pairs[0]
    return {"quantity": quantity, "from": name(source), "to": name(to), "value": value, "by": "PyTorch"}


def of_torch():
    host = torch.device("cpu")
    gpus = [torch.device(f"cuda:{i}") for i in range(torch.cuda.device_count())]
    for gpu in gpus:
        yield measured([(host, gpu, gpu)], "copy")
        yield measured([(gpu, host, gpu)], "copy")
        yield measured([(host, gpu, gpu), (gpu, host, gpu)], "copy, both ways")
    for a in gpus:
        for b in gpus:
            if a == b:
                continue
            yield measured([(a, b, a)], "copy")
            if a.index < b.index:
                yield measured([(a, b, a), (b, a, b)], "copy, both ways")


def speed(row):
    return 1 / row["value"] if row["quantity"] == "load latency" else row["value"]


def shown(row):
    if row["quantity"] == "load latency":
        return f"{row['value'] * 1e9:.0f} ns"
    unit = "Gop/s" if row["quantity"].startswith("atomic") else "GB/s"
    return f"{row['value'] / 1e9:.2f} {unit}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ours, cuda = (json.load(open(path)) for path in sys.argv[1:])
    peers = [{**row, "by": f"CUDA C++, {row['by']}"} for row in cuda]
    peers += of_torch()
    best = {}
    for row in peers:
        key = (row["quantity"], row["from"], row["to"])
        if key not in best or speed(row) > speed(best[key]):
            best[key] = row
    slow, copies = [], 0
    print("| quantity | from | to | ours | by | best peer | peer | ours / peer |\n|---|---|---|---|---|---|---|---|")
    for row in ours:
        key = (row["quantity"], row["from"], row["to"])
        is_copy = row["quantity"] in COPIES
        copies += is_copy
        if row["value"] is None or not row["checked"] or row["emulated"]:
            slow.append(f"{key}: not measured on a GPU: {row['note']}")
            continue
        peer = best.get(key)
        if peer is None:
            if is_copy:
                slow.append(f"{key}: no peer")
            continue
        ratio = speed(row) / speed(peer)
        print(f"| {' | '.join(key)} | {shown(row)} | {row['by']} | {shown(peer)} | {peer['by']} | {ratio:.3f} |")
        if is_copy and ratio < LEAST:
            slow.append(f"{key}: {ratio:.3f} of the best peer; at least {LEAST} is expected")
    if copies == 0:
        slow.append("there is no copy to compare")
    for line in slow:
        print(line, file=sys.stderr)
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
