#!/usr/bin/env bash
# What a launch costs the host in two builds of ridgepoint, measured in turns on one GPU:
#
#   scripts/gpu/enqueue-ratio.sh OLD NEW [RUNS] >enqueue.txt
#
# Prints each run's microseconds per launch, both medians, new / old, and the median of the ratios of
# neighbours, which a clock that drifts does not move. Ends with 1 if both ratios are above 1.02.
set -euo pipefail
old=$1 new=$2 runs=${3:-40}

for ((run = 0; run < runs; run++)); do
    for build in old new; do
        "${!build}" dispatch --device cuda --launches 500 --rounds 201 --quiet --output - |
            BUILD=$build python3 -c '
import csv, os, sys
for row in csv.DictReader(sys.stdin):
    if row["dispatch"] == "no barrier":
        print(os.environ["BUILD"], row["host_us"])'
    done
done | python3 -c '
import statistics, sys
times = {"old": [], "new": []}
for line in sys.stdin:
    print(line, end="")
    build, time = line.split()
    times[build].append(float(time))
old, new = (statistics.median(times[build]) for build in ("old", "new"))
ratio = statistics.median(new / old for old, new in zip(times["old"], times["new"]))
print(f"median old {old:.4f} us, new {new:.4f} us, new / old {new / old:.4f}, of neighbours {ratio:.4f}")
sys.exit(new / old > 1.02 and ratio > 1.02)'
