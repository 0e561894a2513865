#!/usr/bin/env python3
"""Rates of false alarms and of changes found by `ridgepoint compare`, from drawn samples.

    scripts/checks/gate-rates.py [RIDGEPOINT] [--pairs 2000] [--seed 1]

Draws pairs of launches from one distribution, makes the second one slower by 0, 3, 5, 10 and 25 %, and prints how many
of them are called changed, slower or unknown at the default tolerance of 3 %. RIDGEPOINT is the program, by default that
of the PATH; that of an earlier commit gives the rates before. Fails where more than 5 % of unchanged launches are called
changed, or where less than 95 % of those are found that are 10 % slower with one outlier among 20 samples.
"""

import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

SLOWER = [0, 3, 5, 10, 25]


def steady(count):
    return [random.gauss(1, 0.002) for _ in range(count)]


def outlier(count):
    samples = steady(count)
    samples[random.randrange(count)] *= random.choice([3, 5, 15, 60])
    return samples


def states(percent):
    def draw(count):
        return [random.choice([1, 1 + percent / 100]) + random.gauss(0, 0.002) for _ in range(count)]

    return draw


def lasting_states(percent):
    """Two states, each of which lasts for ten samples on average."""

    def draw(count):
        state, samples = random.randrange(2), []
        for _ in range(count):
            state ^= random.random() < 0.1
            samples.append(1 + state * percent / 100 + random.gauss(0, 0.002))
        return samples

    return draw


def noise(percent):
    return lambda count: [max(1e-3, random.gauss(1, percent / 100)) for _ in range(count)]


def skewed(count):
    return [random.lognormvariate(0, 0.3) for _ in range(count)]


# Name, distribution, samples before, samples after.
SCENARIOS = [
    ("equal, 0.2 % noise", steady, 20, 20),
    ("10 and 40 samples", steady, 10, 40),
    ("3 samples", steady, 3, 3),
    ("3 samples, 15 % noise", noise(15), 3, 3),
    ("one outlier in 20", outlier, 20, 20),
    ("two clock states, 6 %", states(6), 20, 20),
    ("two clock states, 10 %", states(10), 20, 20),
    ("lasting clock states, 6 %", lasting_states(6), 100, 100),
    ("15 % noise", noise(15), 20, 20),
    ("lognormal, 30 %", skewed, 20, 20),
]


def row(k, samples):
    mean = statistics.fmean(samples)
    return {
        "k": k,
        "ai": 0.25,
        "gflops": 1.0,
        "bandwidth": 1.0,
        "percent_peak": 1.0,
        "kernel": "drawn",
        "mean_ms": mean,
        "median_ms": statistics.median(samples),
        "min_ms": min(samples),
        "rms_percent": 100 * statistics.stdev(samples) / mean,
        "samples": len(samples),
        "samples_ms": samples,
    }


def compare(program, folder, before, after):
    files = []
    for name, rows in [("before.json", before), ("after.json", after)]:
        files.append(folder / name)
        files[-1].write_text(json.dumps({"rows": rows}))
    said = subprocess.run([program, "compare", *files], capture_output=True, text=True)
    found = re.search(r": (\d+) as fast as before, (\d+) faster, (\d+) slower(?:, (\d+) unknown)?", said.stdout)
    if not found:
        sys.exit(f"{program} compare: {said.stdout}{said.stderr}")
    return [int(it or 0) for it in found.groups()]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", nargs="?", default="ridgepoint")
    arguments.add_argument("--pairs", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    random.seed(given.seed)
    print(f"{given.pairs} pairs each, seed {given.seed}; percent of the pairs")
    print("| samples | called changed, unchanged | unknown, unchanged |", *[f" {it} % slower found |" for it in SLOWER[1:]], sep="")
    print("|---|" + "---|" * (len(SLOWER) + 1))
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, draw, few, many in SCENARIOS:
            cells = []
            for slower in SLOWER:
                before = [row(k, draw(few)) for k in range(given.pairs)]
                after = [row(k, [it * (1 + slower / 100) for it in draw(many)]) for k in range(given.pairs)]
                counts = compare(given.program, pathlib.Path(folder), before, after)
                _, faster, found, unknown = [100 * count / given.pairs for count in counts]
                cells += [faster + found, unknown] if slower == 0 else [found]
                if slower == 0 and faster + found > 5:
                    failures.append(f"{name}: {faster + found:.1f} % of unchanged launches are called changed")
                if slower == 10 and draw is outlier and found < 95:
                    failures.append(f"{name}: {found:.1f} % of those that are 10 % slower are found")
            print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |", flush=True)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
