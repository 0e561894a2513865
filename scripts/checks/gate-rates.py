#!/usr/bin/env python3
"""Rates of false alarms and of changes found by `ridgepoint compare`, from drawn samples.

    scripts/checks/gate-rates.py [RIDGEPOINT] [--pairs 2000] [--seed 1]

Draws pairs of launches from one distribution, makes the second one slower by 0, 3, 5, 10 and 25 %, and prints how many
of them are called changed, slower or unknown at the default tolerance of 3 %. RIDGEPOINT is the program, by default that
of the PATH; that of an earlier commit gives the rates before. The last rows are drawn as 20 runs on an H100 were: with what
differs between rounds and between runs. Fails where more than 5 % of unchanged launches are called changed, where less than
95 % of those are found that are 10 % slower with one outlier among 20 samples or 5 % slower in 20 as on an H100, or where more than
one accusation is to be expected among the 988 comparisons of 52 rows in 20 runs.
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


def on_h100(ms, within, between, gap=0.0, burst=0.0):
    """A launch as the 20 recorded runs on an H100 have it (docs/results/gate): `within` a round and `between` runs, percent of
    the time; `gap`, milliseconds that launches of a process are apart in one half of the processes; `burst`, the share of
    times in which the device is slower, which a fourth of the rounds after one are in, too. Returns the samples by rounds."""

    def draw(counts):
        time = ms * (1 + random.gauss(0, between / 100)) + gap * random.randrange(2)
        rounds, slow = [], False
        for count in counts:
            slow = random.random() < (0.25 if slow else burst)
            factor = random.uniform(1.1, 2) if slow else 1
            rounds.append([max(ms / 10, time * factor * random.gauss(1, within / 100)) for _ in range(count)])
        return rounds

    return draw


FOUR = [5] * 4
QUIET = on_h100(0.18, 0.5, 0.2, burst=0.001)
SHORT = on_h100(0.0041, 1.1, 0.3, gap=0.00025, burst=0.01)

# Name, distribution, samples of each round, runs; and how many of the 988 comparisons of docs/results/gate are of such rows.
MEASURED = [
    ("H100, 2^26 elements", QUIET, FOUR, 1, 950),
    ("H100, launches of 4 us", SHORT, FOUR, 1, 38),
    ("H100, near the L2 cache's size", on_h100(0.026, 2.3, 0.7, burst=0.02), FOUR, 1, 0),
    ("H100, 15 % noise", on_h100(0.18, 15, 0.2), FOUR, 1, 0),
    ("H100, 2^26, 10 samples", QUIET, [4, 3, 3], 1, 0),
    ("H100, 2^26, 3 runs merged", QUIET, FOUR, 3, 0),
    ("H100, 4 us, 3 runs merged", SHORT, FOUR, 3, 0),
    ("H100, 4 us, 10 runs merged", SHORT, FOUR, 10, 0),
]


def row(k, samples, rounds=()):
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
        "round_samples": list(rounds),
    }


def drawn(draw, count, launches, slower):
    """Rows of one round each."""
    return [row(k, [it * (1 + slower / 100) for it in draw(count)]) for k in range(launches)]


def measured(draw, rounds, runs, launches, slower):
    """Rows as a GPU's files have them."""
    rows = []
    for k in range(launches):
        for _ in range(runs):
            samples = [it * (1 + slower / 100) for each in draw(rounds) for it in each]
            rows.append(row(k, samples, rounds))
    return rows


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
    failures, accused, comparisons = [], 0.0, 0
    with tempfile.TemporaryDirectory() as folder:

        def cell(name, rows):
            """Prints a row of the table; `rows` draws launches of before or after, by how much slower they are."""
            cells = []
            for slower in SLOWER:
                counts = compare(given.program, pathlib.Path(folder), rows(0, 0), rows(1, slower))
                _, faster, found, unknown = [100 * count / given.pairs for count in counts]
                cells += [faster + found, unknown] if slower == 0 else [found]
            print(f"| {name} | " + " | ".join(f"{it:.1f}" for it in cells) + " |", flush=True)
            if cells[0] > 5:
                failures.append(f"{name}: {cells[0]:.1f} % of unchanged launches are called changed")
            return dict(zip([0, "unknown", *SLOWER[1:]], cells))

        for name, draw, *counts in SCENARIOS:
            found = cell(name, lambda side, slower: drawn(draw, counts[side], given.pairs, slower))
            if draw is outlier and found[10] < 95:
                failures.append(f"{name}: {found[10]:.1f} % of those that are 10 % slower are found")
        for name, draw, rounds, runs, share in MEASURED:
            found = cell(name, lambda _, slower: measured(draw, rounds, runs, given.pairs, slower))
            accused += share * found[0] / 100
            comparisons += share
            if draw is QUIET and rounds is FOUR and found[5] < 95:
                failures.append(f"{name}: {found[5]:.1f} % of those that are 5 % slower are found")
    print(f"expected accusations in {comparisons} comparisons of unchanged rows: {accused:.2f}")
    if accused > 1:
        failures.append(f"{accused:.2f} accusations in {comparisons} comparisons of unchanged rows")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
