#!/usr/bin/env python3
"""Writes the figures of docs/mathematics.md from what was measured.

    mathematics-table.py [--check]

Reads docs/results/h200-mathematics/{errors,speeds}.csv, which scripts/gpu/mathematics-errors.py and
benches/peers/mathematics.py write. --check changes nothing and ends with 1 where the page is not what
the files say.
"""

import csv
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
RESULTS = DOCS / "results" / "h200-mathematics"
PAGE = DOCS / "mathematics.md"
TYPES = {"f32": "`f32`", "f64": "`f64`"}
ENOUGH = 0.95  # of CUDA's speed


def rows(name):
    with open(RESULTS / name, newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    if not found:
        sys.exit(f"{RESULTS / name} has no rows")
    return found


def shown_error(row):
    """A part of the arguments, ours and CUDA's error, where that is comparable."""
    part = f"{row['part']}: " if row["part"] else ""
    unit = " absolute" if row["kind"] == "absolute" else ""
    sample = "" if row["points"] == "all" else "*"
    published = f" / {float(row['published']):g}{unit}" if row["published"] else ""
    return f"{part}{float(row['error']):.3g}{sample}{published}"


def table(float_type, errors, speeds):
    yield "| function | error, ulp: ours / CUDA's | 10⁹ per second: ours / CUDA's | ratio | registers | stack, bytes |"
    yield "|---|---|---|---|---|---|"
    for row in speeds:
        name, its_type = row["function"].rsplit("_", 1)
        if its_type != float_type:
            continue
        its_errors = [shown_error(error) for error in errors if error["function"] == row["function"]]
        ours, cuda = (float(row[side]) / 1e9 for side in ("ours_per_s", "cuda_per_s"))
        yield (
            f"| `{name}` | {'; '.join(its_errors)} | {ours:.4g} / {cuda:.4g} | {float(row['ratio']):.2f} "
            f"| {row['registers']} / {row['cuda_registers']} | {row['stack_bytes']} / {row['cuda_stack_bytes']} |"
        )


def slower(float_type, speeds):
    ratios = {row["function"]: float(row["ratio"]) for row in speeds if row["function"].endswith(float_type)}
    names = [f"`{function.rsplit('_', 1)[0]}` {ratio:.2f}" for function, ratio in ratios.items() if ratio < ENOUGH]
    yield f"- {TYPES[float_type]}: {', '.join(names) or 'none'}"


def replaced(page, name, lines):
    """The page with other lines between the two comments of a name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.split(begin)
    return before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]


def main():
    errors, speeds = rows("errors.csv"), rows("speeds.csv")
    page = PAGE.read_text(encoding="utf-8")
    page = replaced(page, "slower", [line for float_type in TYPES for line in slower(float_type, speeds)])
    for float_type in TYPES:
        page = replaced(page, float_type, table(float_type, errors, speeds))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
    elif page != PAGE.read_text(encoding="utf-8"):
        sys.exit(f"{PAGE} is not what {RESULTS} says: run {sys.argv[0]}")


if __name__ == "__main__":
    main()
