"""Compares the times of an older version with a newer one's: python3 regression.py RESULTS regression.md

RESULTS is what regression-run.sh left: NAME-{old,new}-{1,2,..}.csv of each study. A version's time is that of its fastest
turn: whatever else the machine does adds to it. Its noise is how far the median turn lies from that. Ends with 1 if a row is
slower by more than 2 % and the larger noise of the two, or if a study has no row to compare.
"""

import csv
import glob
import os
import sys

# The columns that say which row it is, in both versions, and the times that are compared.
STUDIES = {
    "roofline": (["kernel", "dtype", "vector", "ilp", "n", "block", "grid", "cache", "k"], ["median_ms"]),
    "occupancy": (["kernel", "ilp", "block", "dynamic_shared", "max_registers"], ["median_ms"]),
    "norm": (["mode", "dtype", "n"], ["host_us", "device_us"]),
    "dispatch": (["dispatch", "launches"], ["host_us", "device_us", "complete_us"]),
    "pipeline": (["mode", "work", "size", "chunks"], ["total_ms"]),
    "power": (["mode", "dim", "steps"], ["loop_ms"]),
}
TOLERANCE = 0.02


def rows(path, keys):
    with open(path, newline="") as file:
        return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


def compared(folder, name):
    """(row, column, before, after, change, noise) of each time of a study."""
    keys, times = STUDIES[name.split("-")[0]]
    old, new = (
        [rows(path, keys) for path in glob.glob(f"{folder}/{name}-{version}-*.csv")] for version in ("old", "new")
    )
    if min(len(old), len(new)) < 2:
        sys.exit(f"{name}: {len(old)} turns of the older version, {len(new)} of the newer; at least two are needed")
    for key in sorted(set.intersection(*(set(turn) for turn in old + new))):
        for time in times:
            before, after = (sorted(float(turn[key][time]) for turn in version) for version in (old, new))
            if min(before[0], after[0]) > 0:
                noise = max(turns[len(turns) // 2] / turns[0] for turns in (before, after)) - 1
                yield key, time, before[0], after[0], after[0] / before[0] - 1, noise


def main(folder, output):
    names = sorted(os.path.basename(path)[: -len("-new-1.csv")] for path in glob.glob(f"{folder}/*-new-1.csv"))
    slower, empty, details = 0, 0, []
    lines = ["| study | times | median change | fastest | slowest | slower |", "| --- | --: | --: | --: | --: | --: |"]
    for name in names:
        found = list(compared(folder, name))
        worse = [each for each in found if each[4] > TOLERANCE + each[5]]
        slower += len(worse)
        empty += not found
        changes = sorted(each[4] for each in found) or [float("nan")]
        share = [f"{100 * value:+.2f} %" for value in (changes[len(changes) // 2], changes[0], changes[-1])]
        lines.append(f"| {name} | {len(found)} | {' | '.join(share)} | {len(worse)} |")
        for key, time, before, after, change, noise in found:
            details.append(
                f"| {name} | {' '.join(filter(None, key))} | {time} | {before:.6g} | {after:.6g} |"
                f" {100 * change:+.2f} % | {100 * noise:.2f} % |"
            )
    lines += ["", "| study | row | time | before | after | change | noise |", "| --- | --- | --- | --: | --: | --: | --: |"]
    with open(output, "w") as file:
        print("\n".join(lines + details), file=file)
    print(f"{len(details)} times of {len(names)} studies: {slower} slower")
    if not names or empty:
        sys.exit("a study has nothing to compare")
    sys.exit(1 if slower else 0)


main(*sys.argv[1:])
