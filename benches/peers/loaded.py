"""What the program of loaded.cu found, by the statistics of `ridgepoint ceilings`: module of sharing.py.

Near and far lines of the L2 cache are told apart as crates/harness/src/ceilings/partitions.rs does it, and latencies beside blocks
that read are taken at the same rate of reading as the Rust program's. Each figure is one of each launch of each run.
"""

import statistics

# As in Rust: of a multiprocessor's loads the slowest are left out, percent.
KEPT_PERCENT = 98
# Rates of reading that count as the same, relative.
SAME_RATE = 0.02
# As in Rust: a chase is beside readers at speed at this share of the greatest rate.
AT_SPEED = 0.95
GREATEST = {"busy-memory-latency": "memory-read", "busy-l2-latency": "l2-read"}


def read(outputs):
    """Of what runs of the program printed: cycles of each launch by block, and by quantity the curve of each launch: readers with
    bytes per second, cycles and nanoseconds of a load."""
    lines, curves = [], {}
    for output in outputs:
        of_run = {}
        for kind, *words in map(str.split, output.splitlines()):
            if kind == "lines":
                count, *cycles = map(int, words)
                lines.append([cycles[i : i + count] for i in range(0, len(cycles), count)])
            else:
                quantity, readers, *figures = words
                levels = of_run.setdefault(quantity, {})
                levels.setdefault(int(readers), []).append(tuple(map(float, figures)))
        for quantity, levels in of_run.items():
            launches = zip(*levels.values(), strict=True)
            curves.setdefault(quantity, []).extend(dict(zip(levels, launch)) for launch in launches)
    return lines, curves


def near_and_far(lines):
    """Cycles of a near line and of a far one, of each launch: of each multiprocessor's the median, and of these the median."""
    splits = [[split(cycles) for cycles in launch] for launch in lines]
    return {
        f"l2-{name}-latency": [upper_median(block[i] for block in launch) for launch in splits]
        for i, name in enumerate(["near", "far"])
    }


def split(cycles):
    """The medians of the two groups that differ the least in themselves (Otsu's method)."""
    cycles = sorted(cycles)
    cycles = cycles[: max(len(cycles) * KEPT_PERCENT // 100, 2)]
    total, below, best, place = sum(cycles), 0, 0.0, 1
    for before, own in enumerate(cycles):
        after = len(cycles) - before
        if before:
            apart = (total - below) / after - below / before
            if before * after * apart * apart > best:
                best, place = before * after * apart * apart, before
        below += own
    return upper_median(cycles[:place]), upper_median(cycles[place:])


def upper_median(values):
    return statistics.median_high(list(values))


def crossing(points, wanted):
    """The figure where the rate first is `wanted`, on a line between the points of rate and figure around it."""
    before = None
    for rate, figure in points:
        if rate >= wanted:
            if before is None or rate == before[0]:
                return figure
            return before[1] + (wanted - before[0]) / (rate - before[0]) * (figure - before[1])
        before = rate, figure
    raise ValueError(f"the greatest rate is {max(rate for rate, _ in points):.3e} B/s; {wanted:.3e} B/s are wanted")


def at_speed(quantity, rows, levels, curves):
    """Cycles of a load of each launch, at the rate of reading at which Rust has its own. Where a launch does not reach it, none
    that reads more slowly is compared: the load is the greatest there is."""
    own = max(level["bytes_per_sec"] for level in levels)
    wanted = AT_SPEED * rows[GREATEST[quantity]]["value"]
    wanted = wanted if own >= wanted else AT_SPEED * own
    of_launch = [[(rate, cycles) for rate, cycles, _ in curve.values()] for curve in curves]
    return [crossing(curve, min(wanted, max(curve)[0])) for curve in of_launch]


def at_level(level, levels, curves):
    """The peer's rate of reading, Rust's nanoseconds of a load, and the peer's of each launch, beside the readers of a level. Where the
    rates differ, both are those at the lower one: of the faster readers' on a line between the levels around it."""
    own_rate, own = level["bytes_per_sec"], 1e9 * level["latency"]
    rates, _, samples = zip(*(curve[level["readers"]] for curve in curves), strict=True)
    rate = statistics.median(rates)
    if rate < (1 - SAME_RATE) * own_rate:
        own = crossing([(each["bytes_per_sec"], 1e9 * each["latency"]) for each in levels], rate)
    elif rate > (1 + SAME_RATE) * own_rate:
        of_launch = [[(rate, nanoseconds) for rate, _, nanoseconds in curve.values()] for curve in curves]
        samples = [crossing(curve, min(own_rate, max(curve)[0])) for curve in of_launch]
    return rate, own, samples
