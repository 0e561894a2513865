#!/usr/bin/env python3
"""Draws what a command printed on a terminal as an SVG:

    scripts/figures/terminal-picture.py printed.txt picture.svg [--lines FIRST,LAST] [--command 'ridgepoint ..']

With --lines only the first and the last lines are drawn, and a line between them says how many are left out.
"""

import argparse
import re
import unicodedata
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 7.8, 17, 14
# Of ECMA-48's "select graphic rendition": foreground colours on the dark ground below.
COLOURS = {30: "#6e7681", 31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea",
           37: "#e6edf3", 90: "#8b949e", 91: "#ff7b72", 92: "#7ee787", 93: "#e3b341", 94: "#79c0ff"}
TEXT, GROUND = "#e6edf3", "#0d1117"
RENDITION = re.compile(r"\x1b\[([0-9;]*)m")


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def spans(line):
    """Parts of a line, each with its style."""
    style, at, parts = {}, 0, []
    for match in RENDITION.finditer(line):
        parts.append((line[at:match.start()], dict(style)))
        at = match.end()
        for code in (int(it or 0) for it in match[1].split(";")):
            if code == 0:
                style = {}
            elif code == 7:
                style["reverse"] = True
            elif code == 27:
                style.pop("reverse", None)
            elif code - 10 in COLOURS:
                style["ground"] = COLOURS[code - 10]
            elif code == 49:
                style.pop("ground", None)
            elif code == 1:
                style["font-weight"] = "bold"
            elif code == 2:
                style["opacity"] = "0.7"
            elif code in (22, 39):
                style.pop("font-weight" if code == 22 else "fill", None)
            elif code in COLOURS:
                style["fill"] = COLOURS[code]
    return [part for part in parts + [(line[at:], dict(style))] if part[0]]


def drawn(lines):
    width = max(columns(RENDITION.sub("", line)) for line in lines) * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'viewBox="0 0 {width:.0f} {height}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
           f'font-size="13" fill="{TEXT}">')
    yield f'<rect width="{width:.0f}" height="{height}" rx="6" fill="{GROUND}"/>'
    for row, line in enumerate(lines):
        x, y = MARGIN, MARGIN + HEIGHT * row + 13
        for text, style in spans(line):
            length = columns(text) * WIDTH
            ground = style.pop("ground", None)
            if style.pop("reverse", False):
                ground, style["fill"] = style.get("fill", TEXT), ground or GROUND
            if ground:
                yield f'<rect x="{x:.1f}" y="{y - 13}" width="{length:.1f}" height="{HEIGHT}" fill="{ground}"/>'
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            # Whatever font there is, columns stay below each other.
            yield (f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
                   f'xml:space="preserve"{attributes}>{escape(text)}</text>')
            x += length
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("printed")
    parser.add_argument("picture")
    parser.add_argument("--lines")
    parser.add_argument("--command")
    options = parser.parse_args()
    with open(options.printed, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file.read().split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if options.lines:
        first, last = (int(it) for it in options.lines.split(","))
        left = len(lines) - first - last
        if left > 1:
            lines = lines[:first] + [f"\x1b[2m.. {left} lines are left out\x1b[0m"] + lines[-last:]
    if options.command:
        lines = [f"\x1b[2m$\x1b[0m \x1b[1m{options.command}\x1b[0m"] + lines
    with open(options.picture, "w", encoding="utf-8") as file:
        file.write("\n".join(drawn(lines)) + "\n")


main()
