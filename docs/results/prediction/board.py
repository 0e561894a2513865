"""Makes the description of a board from its ceilings: board.py CEILINGS.json... OUTPUT.json

The last of several files of ceilings has the latencies; of each rate the greatest counts, as a ceiling is the most that was measured. What
`ceilings` does not measure yet is in BLOCKS, with its source.
"""

import json
import sys

# Seconds from one event to the next around an empty launch, of a multiprocessor from one block's start to the next one's, and
# from a block's end until the first instruction of the block in its place. Sources: README.md, "What ceilings lacks".
BLOCKS = {"launch": 4.5e-6, "start": 80e-9, "turn": 130e-9}
SHARES = {"read": 0.0, "triad": 1 / 3, "copy": 0.5, "write": 1.0}


def rounded(number):
    return float(f"{number:.4g}")


def main(paths, output):
    files = [json.load(open(path)) for path in paths]
    last = files[-1]
    best, cycles, seconds = {}, {}, {}
    for file in files:
        for ceiling in file["ceilings"]:
            name, value = ceiling["quantity"], ceiling["value"]
            best[name] = max(value, best.get(name, 0.0))
            seconds[name] = value
            cycles[name] = ceiling["cycles"]

    loaded = []
    for stream in ["read", "triad", "copy"]:
        points = [it for it in last["under_load"] if it["quantity"] == f"loaded-{stream}-latency"]
        greatest = max(it["bytes_per_sec"] for it in points)
        curve = [[0.0, seconds["memory-latency"]]]
        for it in points:
            share = it["bytes_per_sec"] / greatest
            if share > curve[-1][0] * 1.001:
                curve.append([rounded(share), rounded(it["latency"])])
        loaded.append({"written": rounded(SHARES[stream]), "latency": curve})

    # Chunks that wander between multiprocessors: their own caches have none of them.
    wandering = [it for it in last["working_sets"] if it["bytes"] == it["bytes_per_multiprocessor"]]
    again = [[it["bytes"], rounded(it["bytes_per_sec"])] for it in wandering]
    description = {
        "device": last["key"]["device"],
        "launch": BLOCKS["launch"],
        "block_start": BLOCKS["start"],
        "block_turn": BLOCKS["turn"],
        "cycles": {
            "f32": rounded(cycles["fma-f32-latency"]),
            "f64": rounded(cycles["fma-f64-latency"]),
            "f16": rounded(cycles["fma-f16x2-latency"]),
            "special": rounded(cycles["exp2-f32-latency"]),
            "shuffle": rounded(cycles["shuffle-latency"]),
            "vote": rounded(cycles["vote-latency"]),
            "shared": rounded(cycles["shared-latency"]),
            "shared_atomic": rounded(cycles["shared-atomic-latency"]),
            "atomic": rounded(cycles["atomic-latency"]),
            "l1": rounded(cycles["l1-latency"]),
            "barrier": [[n, rounded(cycles[f"block-barrier{n}"])] for n in [32, 128, 256, 512, 1024]],
        },
        "memory": {
            "rates": [[rounded(share), rounded(best[f"memory-{name}"])] for name, share in SHARES.items()],
            "under_load": loaded,
        },
        "l2": {"rate": rounded(best["l2-read"]), "latency": rounded(seconds["l2-latency"]), "again": again},
    }
    json.dump(description, open(output, "w"), indent=1)


main(sys.argv[1:-1], sys.argv[-1])
