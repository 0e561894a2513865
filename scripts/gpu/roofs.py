"""Whether the best variants of a roofline reach their measured roofs.

    python3 roofs.py ROWS.csv..

For each kernel, element type and k the fastest row counts. It has to reach 90 % of its measured roof,
but within a factor of 4 of the ridge point, where loads and arithmetic both take most of the time and
what does not overlap adds up; such rows are listed. Ends with 1 if another is below.
"""

import csv
import sys

ENOUGH = 90.0
NEAR = 4.0


def fastest(paths):
    best = {}
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                key = row["kernel"], row["dtype"], row["n"], row["cache"], int(row["k"])
                if key not in best or float(row["gflops"]) > float(best[key]["gflops"]):
                    best[key] = row
    return [best[key] for key in sorted(best)]


def main(paths):
    below = 0
    for row in fastest(paths):
        if not row["percent_measured_roof"]:
            sys.exit(f"{row['device']}: no measured roofs: run `ridgepoint ceilings` first")
        percent = float(row["percent_measured_roof"])
        if percent >= ENOUGH:
            continue
        distance = float(row["ai"]) / float(row["ridge_point"])
        near = 1 / NEAR <= distance <= NEAR
        below += not near
        print(
            f"{'near the ridge point' if near else 'BELOW'}: {row['kernel']} {row['dtype']} k={row['k']}: "
            f"{percent:.1f} % of its roof at {distance:.2f} of the ridge point, bound by {row['bound']}, "
            f"{row['ilp']} x {row['vector']} a thread, {row['grid']} blocks: {row['advice']}"
        )
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
