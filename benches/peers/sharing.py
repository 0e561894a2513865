"""What `ridgepoint ceilings` measured of what threads share, beside nvcc's kernels on the same GPU.

    python3 sharing.py ceilings.json sharing.md

Runs the program that is called `sharing` and lies beside this file, or else compiles sharing.cu with nvcc. It times its kernels
as the Rust host does: all launches queued, each between two events, 3 warm-ups, the median of 10; latencies by the GPU's own
cycles. Ends with 1 where Rust is below 0.97 of the peer, or a quantity has none.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BAR = 0.97


def measured_by_nvcc():
    """Rates and cycles of each quantity: the fastest of its launches."""
    here = pathlib.Path(__file__).parent
    program = here / "sharing"
    if not program.exists():
        program = pathlib.Path(tempfile.mkdtemp()) / "sharing"
        target = "-gencode=arch=compute_90a,code=sm_90a"
        command = ["nvcc", target, "-O3", "-std=c++17", "-o", program, here / "sharing.cu"]
        subprocess.run(command, check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in output.splitlines():
        quantity, rate, cycles = line.split()
        before = found.get(quantity, (0.0, float("inf")))
        found[quantity] = max(before[0], float(rate)), min(before[1], float(cycles))
    return found


def compare(row, peer):
    """A row of the table, and Rust's speed over the peer's."""
    if row["unit"] == "s":
        (_, peer), value, unit = peer, row["cycles"], "cycles"
        ratio, digits = peer / value, 1
    else:
        (peer, _), value, unit = peer, row["value"], f"T{row['unit']}"
        ratio, digits = value / peer, 3
    scale = 1 if unit == "cycles" else 1e12
    sheet = row["datasheet"]
    share = f"{100 * value / sheet:.1f}" if sheet else ""
    figures = [f"{value / scale:.{digits}f}", f"{peer / scale:.{digits}f}", f"{ratio:.3f}", share]
    return "| " + " | ".join([row["quantity"], unit, *figures]) + " |", ratio


def main(measured, output):
    ceilings = json.loads(pathlib.Path(measured).read_text())
    rows = {row["quantity"]: row for row in ceilings["ceilings"]}
    lines = [
        f"Medians of 10 launches on {ceilings['key']['device']}. A ratio is Rust's speed over nvcc's.",
        "",
        "| quantity | in | Rust | nvcc | ratio | % of data sheet |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    below = []
    for quantity, peer in measured_by_nvcc().items():
        if quantity not in rows:
            below.append(f"Not measured by Rust: {quantity}")
            continue
        line, ratio = compare(rows[quantity], peer)
        lines.append(line)
        if ratio < BAR:
            below.append(f"Below {BAR}: {quantity}, {ratio:.3f}")
    if len(lines) == 4:
        below.append("Nothing was compared")
    text = "\n".join([*lines, "", *below]).rstrip() + "\n"
    pathlib.Path(output).write_text(text)
    print(text)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
