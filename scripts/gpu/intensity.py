#!/usr/bin/env python3
"""Arithmetic intensity by formula, counted and measured: a table of the rows of `ridgepoint roofline --counters`.

    intensity.py ROWS.csv TABLE.md

Ends with 1 where a row lacks one of the three, or there are no rows.
"""

import csv
import sys

AXES = ["k", "size", "n", "dtype"]


def line(row):
    shape = ", ".join(f"{axis} {row[axis]}" if axis != "dtype" else row[axis] for axis in AXES if row.get(axis))
    flop = float(row["measured_flop"]) / float(row["counted_flop"])
    cells = [row["kernel"], shape, row["ai"], row["counted_ai"], row["counted_from"], row["measured_ai"]]
    return [*cells, f"{flop:.4f}", row["dram_over_least"], row["gflops"]]


def main():
    rows = list(csv.DictReader(open(sys.argv[1], newline="")))
    needed = ["ai", "counted_ai", "measured_ai", "dram_over_least"]
    whole = [row for row in rows if all(row[it] for it in needed) and row["flop_from"] == row["bytes_from"] == "formula"]
    head = ["kernel", "launch", "formula", "counted", "", "measured", "FLOP measured / counted", "DRAM bytes / least", "GFLOP/s"]
    lines = [head, ["---"] * 2 + ["--:"] * 7, *map(line, whole)]
    with open(sys.argv[2], "w") as table:
        table.writelines(f"| {' | '.join(cells)} |\n" for cells in lines)
    print(f"{len(whole)} of {len(rows)} rows have all three intensities")
    return 0 if rows and len(whole) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
