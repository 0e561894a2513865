"""What programs.sh has seen, in figures: summary.py OUT"""

import collections
import json
import pathlib
import statistics
import sys

OUT = pathlib.Path(sys.argv[1])
# The program whose change is proposed, the changed one, and words of the remedy that it follows.
CHANGES = [
    ("power-blocking", "power-asynchronous", "record an event, launch the next steps"),
    ("normalize-host", "normalize-device", "Keep the value on the device"),
    ("scalar-reads", "scalar-keeps", "Keep the value on the device"),
    ("batches-pinned", "batches-streams", "several streams"),
]


def printed(path, word):
    """The words after this one, of each line that begins with it."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return [line.split()[1:] for line in lines if line.startswith(word + " ")]


def analysis(name):
    path = OUT / f"{name}.json"
    text = path.read_text() if path.exists() else ""
    return json.loads(text)["program"] if text else None


def status(name):
    path = OUT / f"{name}.status"
    return path.read_text().strip() if path.exists() else "?"


def kind_of(row):
    if row["is_copy"]:
        return "copies"
    return "kernels" if row.get("bytes") is None else "fills"


def totals(program, file=None):
    """Numbers and nanoseconds by kind, of work that lines of this file have asked for."""
    all_of_them = collections.defaultdict(lambda: [0, 0.0])
    for row in program["device"]:
        if file is None or (row["place"].get("file") or "").endswith(file):
            total = all_of_them[kind_of(row)]
            total[0] += row["count"]
            total[1] += (row["times"] or {}).get("total_ns", 0.0)
    return all_of_them


def did(name):
    sums = collections.Counter()
    for words in printed(OUT / f"{name}.txt", "DID"):
        for kind, count in zip(words[::2], words[1::2]):
            sums[kind] += int(count)
    return sums


def ended(name):
    """A line: what a program did, and what was recorded of it."""
    program = analysis(name)
    expected = did(name)
    if program is None:
        error = (OUT / f"{name}.err").read_text(errors="replace").strip().splitlines() if (OUT / f"{name}.err").exists() else []
        return f"{name}: status {status(name)}, nothing recorded: {error[-1] if error else '?'}"
    found = totals(program)
    launches = sum(row["count"] for row in program["host"] if "Launch" in row["name"])
    counts = [f"{kind} {found[kind][0]} of {count}" for kind, count in expected.items()]
    processes = program["processes"]
    lost = sum(it["lost"] + it["refused"] + it["uncalled"] for it in processes)
    recorders = {it["recorded_by"] for it in processes}
    has_ended = [it["has_ended"] for it in processes]
    return (
        f"{name}: status {status(name)}, {', '.join(counts)}; launches called {launches}; "
        f"lost {lost}; processes {len(processes)}, with an end {sum(has_ended)}; by {', '.join(recorders)}"
    )


def ranges(name):
    """How often each range is on the timeline, and the work of devices whose call is within it."""
    path = OUT / f"{name}.trace.json"
    if not path.exists() or not path.read_text():
        return f"  {name}: no timeline"
    events = json.loads(path.read_text())["traceEvents"]
    complete = [it for it in events if it["ph"] == "X"]
    calls = [it for it in complete if it["cat"] == "call"]
    found = collections.defaultdict(lambda: [0, 0])
    for it in complete:
        if it["cat"] == "range":
            within = [c for c in calls if it["ts"] <= c["ts"] and c["ts"] + c["dur"] <= it["ts"] + it["dur"]]
            found[it["name"]][0] += 1
            found[it["name"]][1] += len(within)
    said = [f"{key} {count} with {within} calls" for key, (count, within) in found.items()]
    return f"  {name}: ranges: {'; '.join(said) or 'none'}"


def times(how, name):
    """Of each process, the median of the times that it printed."""
    medians = []
    for path in sorted(OUT.glob(f"round-*-{how}-*.txt")):
        for words in printed(path, "TIME"):
            if words[0] == name:
                medians.append(statistics.median(float(it) for it in words[1:]))
    return medians


def spread(values, scale=1e3, unit="ms"):
    if not values:
        return "no times"
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle * scale:.3f} {unit} ({low * scale:.3f} .. {high * scale:.3f}, n={len(values)})"


def recordings():
    for path in sorted(OUT.glob("round-*-recorded-*.json")):
        program = analysis(path.stem)
        if program is not None:
            yield path.with_suffix(".txt"), program


def predictions(name, remedy):
    """Of each recorded process: the saving that is predicted, in seconds of one repeat, and the advice."""
    found = []
    for text, program in recordings():
        parts = printed(text, "TIME")
        advice = [it for it in program["story"]["advice"] if remedy in it["remedy"]]
        # Of several programs in one process a saving is too little to be told.
        if [words[0] for words in parts] == [name] and advice:
            repeats = len(parts[0]) - 1
            found.append((advice[0]["saving_ns"] / 1e9 / repeats, advice[0]["finding"]))
    return found


def savings():
    for before, after, remedy in CHANGES:
        first, second = times("alone", before), times("alone", after)
        predicted = predictions(before, remedy)
        print(f"  {before}: alone {spread(first)}, recorded {spread(times('recorded', before))}")
        print(f"  {after}: alone {spread(second)}")
        if first and second and predicted:
            real = statistics.median(first) - statistics.median(second)
            middle = statistics.median(it[0] for it in predicted)
            each = ", ".join(f"{it[0] * 1e3:.2f}" for it in predicted)
            print(f"    saved {real * 1e3:.2f} ms, predicted {middle * 1e3:.2f} ms: {100 * (middle / real - 1):+.1f} %; each: {each}")
            print(f"    {predicted[0][1]}")
        elif first and second:
            print("    no saving is predicted")


def by_torch(name):
    """Of each traced process, by kind: number and nanoseconds."""
    all_of_them = collections.defaultdict(list)
    for path in sorted(OUT.glob("round-*-torch-torch.txt")):
        for word, kind, count, nanoseconds in printed(path, "TORCH"):
            if word == name:
                all_of_them[kind].append((int(count), float(nanoseconds)))
    return all_of_them


def beside_torch():
    for name, file in [("scalar-reads", "scalar.py"), ("batches-pinned", "batches.py"), ("train", "train.py")]:
        traced = collections.defaultdict(list)
        if name == "train":
            parts = [by_torch(f"train-{it}") for it in ("small", "paced", "empty", "large")]
            for kind in ("kernels", "copies", "fills"):
                for of_round in zip(*(part[kind] for part in parts)):
                    traced[kind].append((sum(it[0] for it in of_round), sum(it[1] for it in of_round)))
        else:
            traced = by_torch(name)
        ours = collections.defaultdict(list)
        for text, program in recordings():
            if any(words[0].startswith(name) for words in printed(text, "TIME")):
                for kind, total in totals(program, file).items():
                    ours[kind].append(tuple(total))
        for kind in ("kernels", "copies", "fills"):
            theirs, own = traced[kind], ours[kind]
            if not theirs or not own or not own[0][0]:
                continue
            counts = f"{sorted({it[0] for it in theirs})} and {sorted({it[0] for it in own})}"
            a, b = [it[1] / 1e9 for it in theirs], [it[1] / 1e9 for it in own]
            difference = 100 * (statistics.median(b) / statistics.median(a) - 1)
            print(f"  {name} {kind}: {counts}; torch {spread(a)}, recorded {spread(b)}: {difference:+.2f} %")


def costs():
    for kind in ("train-small", "train-large", "train-empty", "train-paced", "scalar-reads", "batches-pinned"):
        ways = {how: times(how, kind) for how in ("alone", "recorded", "torch")}
        said = [f"{how} {spread(values)}" for how, values in ways.items()]
        if all(ways.values()):
            alone, own, torch = (statistics.median(it) for it in ways.values())
            said.append(f"recorded {100 * (own / alone - 1):+.1f} %, torch {100 * (torch / alone - 1):+.1f} %")
        print(f"  {kind}: {'; '.join(said)}")


def counters():
    """What the hardware has counted of roofline.py, beside what the program computes."""
    n = 4096
    known = [
        ("products of f16", "f16", "flop", 5 * 2 * n**3),
        ("a product of bf16", "bf16", "flop", 2 * n**3),
        ("a product of tf32", "tf32", "flop", 2 * n**3),
        ("a product of f64", "f64", "flop", 2 * 1024 * n**2),
    ]
    rows = analysis("counters")["roofline"]["kernels"]
    for what, tensor, figure, expected in known:
        counted = sum(row[figure] for row in rows if row["tensor_types"] == [tensor])
        # One in a thousand beside the product; nothing counted is no product.
        assert abs(counted / expected - 1) < 1e-3, f"{what}: {counted} operations counted of {expected}"
        print(f"  {what}: {counted:.6g} operations counted of {expected:.6g}, {counted / expected:.4f}")
    sums = [row for row in rows if row["name"].startswith("reduce_kernel") and row["launches"] == 5]
    read, expected = sum(row["bytes"] for row in sums), 5 * 4 * 2**26
    assert 0.8 < read / expected < 1.3, f"sums: {read} bytes counted of {expected}"
    print(f"  sums: {read:.6g} bytes counted of {expected:.6g}, {read / expected:.4f}")


def names(pattern):
    return sorted(path.stem for path in OUT.glob(f"{pattern}.status"))


def main():
    print("Ends: recorded of done")
    for name in names("ends-*"):
        print(" ", ended(name))
    print("Ranges")
    for name in names("ranges-*"):
        print(" ", ended(name))
        print(ranges(name))
    print("CUPTI")
    files = OUT / "cupti-files.txt"
    print(" ", "; ".join(files.read_text().split()) if files.exists() else "not looked for")
    for name in names("cupti-*"):
        print(" ", ended(name))
        if name.endswith("torch"):
            print(ranges(name))
    both = analysis("both")
    print("  torch.profiler in a recorded program:", *(" ".join(it) for it in printed(OUT / "both.txt", "TORCH")), sep="\n    ")
    print("    recorded:", dict(totals(both)) if both else "nothing")
    print("Counters")
    if analysis("counters"):
        counters()
    print("Savings: medians of processes (least .. most)")
    savings()
    print("Totals: counts of torch.profiler and of recordings; times of all of a process")
    beside_torch()
    print("Cost")
    costs()


main()
