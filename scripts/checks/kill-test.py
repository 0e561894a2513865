#!/usr/bin/env python3
"""Kills commands at random times with SIGKILL, and counts what is lost.

    scripts/checks/kill-test.py target/release/ridgepoint [--kills 100] [--seconds 3] [--seed 1]

Each of roofline, occupancy, power and ceilings is killed so often on the emulator, with CSV, JSON and
charts to write over earlier ones. Ends with 1 if a row that was announced is not kept, a file cannot
be read, or an earlier file is gone.
"""

import argparse
import csv
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
import zlib

EARLIER = {
    "rows.csv": "k,ai\n1,0.25\n",
    "rows.json": '{"rows": []}',
    "chart.svg": "<svg>earlier</svg>",
    "report.html": "<html>earlier</html>",
}
OUTPUTS = "--output rows.csv,rows.json --plot chart.svg --report report.html"
DEGREES = ",".join(str(k) for k in range(1, 5001))

# The words of each command, and what a line begins with that announces a row or a step.
COMMANDS = {
    "roofline": (f"--n 2^14 --k {DEGREES} {OUTPUTS}", r"k = "),
    "occupancy": (f"--n 2^16 --ceilings ceilings.json {OUTPUTS}", r"(copy|fma)\b"),
    "power": (
        "--dim 64 --tolerance 1e-300 --max-steps 10000000 --check-every 5 --checkpoint steps "
        "--output rows.csv,rows.json",
        r"step ",
    ),
    "ceilings": ("--output rows.json", None),
}


def read_rows(path):
    """The rows of a file, or None if it cannot be read."""
    text = path.read_text() if path.exists() else ""
    if not text:
        return []
    if ".json" in path.name:
        try:
            value = json.loads(text)
        except ValueError:
            return None
        # Studies write the rows alone.
        is_list = isinstance(value, list)
        return value if is_list else value.get("rows", value.get("ceilings", []))
    rows = list(csv.reader(text.splitlines()))
    is_whole = text.endswith("\n") and all(len(row) == len(rows[0]) for row in rows)
    return rows[1:] if is_whole else None


def is_checkpoint_whole(path):
    data = path.read_bytes()
    if path.suffix == ".txt":
        return data.startswith(b"ridgepoint power iteration") and data.endswith(b"\n")
    return zlib.crc32(data[:-4]) == struct.unpack("<I", data[-4:])[0]


class Tally:
    def __init__(self, name):
        self.name = name
        self.killed = self.ended = self.announced = self.kept = 0
        self.lost = self.unreadable = self.destroyed = 0

    def is_bad(self):
        return bool(self.lost or self.unreadable or self.destroyed)

    def row(self):
        return (
            f"{self.name:10} {self.killed:6} {self.ended:6} {self.announced:9} {self.kept:6} "
            f"{self.lost:5} {self.unreadable:10} {self.destroyed:9}"
        )


class Trial:
    """A command in a folder of its own, killed again and again."""

    def __init__(self, binary, name, folder, seconds):
        self.folder, self.seconds = folder, seconds
        words, pattern = COMMANDS[name]
        self.pattern = pattern and re.compile(pattern)
        self.arguments = [binary, name, "--device", "cpu", *words.split()]
        self.tally = Tally(name)
        self.newest = -1
        for file, text in EARLIER.items():
            (folder / file).write_text(text)

    def run(self, random_time):
        resume = ["--resume"] if self.steps() else []
        said = self.folder / "said"
        began = time.monotonic()
        with said.open("w") as output:
            child = subprocess.Popen(
                self.arguments + resume, cwd=self.folder, stdout=output, stderr=subprocess.PIPE
            )
            try:
                error = child.communicate(timeout=random_time)[1].decode()
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                self.tally.killed += 1
                self.judge(said.read_text())
                return
        if child.returncode != 0:
            sys.exit(f"{' '.join(self.arguments)[:200]} ..: {child.returncode}: {error}")
        self.tally.ended += 1
        self.seconds = min(self.seconds, time.monotonic() - began)
        for file, text in EARLIER.items():
            (self.folder / file).write_text(text)

    def judge(self, said):
        tally = self.tally
        for file, earlier in EARLIER.items():
            path = self.folder / file
            tally.destroyed += not path.exists() or not self.is_whole(path, earlier)
        if tally.name == "power":
            self.judge_steps(said)
        elif self.pattern:
            announced = sum(bool(self.pattern.match(line)) for line in said.splitlines())
            tally.announced += announced
            for file in ["rows.csv", "rows.json"]:
                self.judge_rows(file, announced)

    def is_whole(self, path, earlier):
        """As it was, or replaced as a whole, as by a run that was killed just after its end."""
        text = path.read_text()
        if text == earlier:
            return True
        if path.suffix == ".svg":
            try:
                return xml.fromstring(text) is not None
            except xml.ParseError:
                return False
        if path.suffix == ".html":
            return text.rstrip().endswith("</html>")
        return bool(read_rows(path))

    def judge_rows(self, file, announced):
        partial = self.folder / f"{file}.partial"
        rows = read_rows(partial)
        if rows is None:
            self.tally.unreadable += 1
            rows = []
        finished = self.folder / file
        if not rows and finished.read_text() != EARLIER[file]:
            rows = read_rows(finished) or []
            finished.write_text(EARLIER[file])
        self.tally.kept += len(rows) if file == "rows.csv" else 0
        self.tally.lost += max(0, announced - len(rows))
        # Empty ones stay: the next run has to manage.
        if partial.exists() and partial.stat().st_size > 0:
            partial.unlink()

    def steps(self):
        return sorted((self.folder / "steps").glob("step-*"))

    def judge_steps(self, said):
        """Steps are announced before their checkpoints are written: what has its name is to stay, and
        the next run goes on from the newest."""
        tally = self.tally
        announced = [int(line.split()[1]) for line in said.splitlines() if self.pattern.match(line)]
        tally.announced += len(announced)
        if announced and self.newest >= 0 and announced[0] != self.newest:
            tally.lost += 1
        files = self.steps()
        tally.unreadable += sum(not is_checkpoint_whole(path) for path in files)
        newest = max((int(path.stem.removeprefix("step-")) for path in files), default=-1)
        tally.lost += newest < self.newest
        tally.kept += newest > self.newest
        self.newest = newest
        # Older ones only take time to check.
        for path in files[:-4]:
            path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3.0, help="the latest time of a kill")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    binary = str(arguments.binary.resolve())

    tallies = []
    with tempfile.TemporaryDirectory() as root:
        ceilings = pathlib.Path(root) / "ceilings.json"
        measure = [binary, "ceilings", "--device", "cpu", "--n", "1024", "--runs", "1", "--output", ceilings]
        subprocess.run(measure, check=True, stdout=subprocess.DEVNULL)
        for name in COMMANDS:
            folder = pathlib.Path(root) / name
            folder.mkdir()
            (folder / "ceilings.json").write_bytes(ceilings.read_bytes())
            trial = Trial(binary, name, folder, arguments.seconds)
            while trial.tally.killed < arguments.kills:
                trial.run(random.uniform(0.02, trial.seconds))
            tallies.append(trial.tally)

    print("command    killed  ended announced   kept  lost unreadable destroyed")
    for tally in tallies:
        print(tally.row())
    unseen = [tally.name for tally in tallies if COMMANDS[tally.name][1] and not tally.announced]
    if unseen:
        print(f"no row was announced, so nothing could be lost: {', '.join(unseen)}")
    sys.exit(1 if unseen or any(map(Tally.is_bad, tallies)) else 0)


if __name__ == "__main__":
    main()
