#!/usr/bin/env python3
"""Draws a part of a trace that `ridgepoint --trace` wrote.

    timeline.py trace.json RANGE picture.svg

RANGE is the name of a host range, or `last-pass`: the last range `pass`. A row for each stream and
thread that does something meanwhile. Prints how much of the time the device was busy.
"""

import html
import json
import sys

WIDTH, LEFT, ROW, TOP = 1000, 150, 26, 34
COLOURS = {
    "kernel": "#4c9f50",
    "copy to the device": "#3b7dd8",
    "copy from the device": "#e08a2e",
    "copy on the device": "#c4577a",
    "fill": "#8a6d3b",
    "driver": "#9a7fc0",
    "range": "#c8c8c8",
}


def load(path):
    events = json.load(open(path))["traceEvents"]
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    return names, [event for event in events if event["ph"] == "X"]


def window(events, name):
    """Beginning and end of the range."""
    wanted = "pass" if name == "last-pass" else name
    found = [event for event in events if event["cat"] == "range" and event["name"] == wanted]
    if not found:
        sys.exit(f"no range {wanted!r} in the trace")
    return found[-1]["ts"], found[-1]["ts"] + found[-1]["dur"]


def busy(events, start, end):
    """The part of the time in which any stream works."""
    spans = sorted(
        (max(event["ts"], start), min(event["ts"] + event["dur"], end))
        for event in events
        if event["cat"] in ("kernel", "copy")
    )
    total, reached = 0.0, start
    for first, last in spans:
        total += max(0.0, last - max(first, reached))
        reached = max(reached, last)
    return total / (end - start)


def draw(names, events, start, end):
    inside = [event for event in events if event["ts"] < end and event["ts"] + event["dur"] > start]
    rows = sorted({(event["pid"], event["tid"]) for event in inside})
    scale = (WIDTH - LEFT - 24) / (end - start)
    height = TOP + ROW * len(rows) + 24
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    legend = LEFT
    for name, colour in COLOURS.items():
        out.append(f'<rect x="{legend}" y="8" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{legend + 16}" y="18">{name}</text>')
        legend += 40 + 7 * len(name)
    for i, row in enumerate(rows):
        y = TOP + ROW * i
        out.append(f'<text x="8" y="{y + 16}">{html.escape(names[row])}</text>')
    for event in inside:
        y = TOP + ROW * rows.index((event["pid"], event["tid"])) + 2
        first = max(event["ts"], start)
        width = max((min(event["ts"] + event["dur"], end) - first) * scale, 0.4)
        kind = event["name"] if event["cat"] == "copy" else event["cat"]
        title = html.escape(f"{event['name']}: {event['dur']:.1f} us")
        out.append(
            f'<rect x="{LEFT + (first - start) * scale:.1f}" y="{y}" width="{width:.2f}" '
            f'height="{ROW - 6}" fill="{COLOURS[kind]}" stroke="white" stroke-width="0.3">'
            f"<title>{title}</title></rect>"
        )
    bottom = TOP + ROW * len(rows) + 16
    for part in range(11):
        x = LEFT + part * (WIDTH - LEFT - 24) / 10
        out.append(f'<text x="{x:.0f}" y="{bottom}" text-anchor="middle">'
                   f"{(end - start) * part / 1e4:.2f}</text>")
    out.append(f'<text x="8" y="{bottom}">milliseconds</text></svg>')
    return "\n".join(out) + "\n"


def main(trace, name, picture):
    names, events = load(trace)
    start, end = window(events, name)
    with open(picture, "w") as file:
        file.write(draw(names, events, start, end))
    print(f"{picture}: the device is busy {100 * busy(events, start, end):.1f} % of {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
