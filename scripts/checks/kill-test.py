#!/usr/bin/env python3
"""Ends commands at random times with signals, SIGKILL among them, and counts what is lost.

    scripts/checks/kill-test.py target/release/ridgepoint [--kills 200] [--seconds 3] [--answer 1] [--seed 1]

All commands that write files take their turns on the emulator, with CSV, JSON and charts to write over earlier ones. Ends with 1
if a row that was announced is not kept, a file cannot be read, an earlier file is gone, or, after a signal other than SIGKILL, the
command takes longer than --answer seconds to end, ends with another status, or leaves a .partial.
"""

import argparse
import csv
import json
import pathlib
import random
import re
import signal
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
ROWS = "--output rows.csv,rows.json"
DEGREES = ",".join(str(k) for k in range(1, 5001))
ENDLESS = f"--dim 64 --dominance 0.00001 --tolerance 1e-300 --max-steps 10000000 --check-every 5 --checkpoint steps {ROWS}"
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]

# The words of each command, and what a line begins with that announces a row or a step.
COMMANDS = {
    "roofline": (f"roofline --device cpu --n 2^14 --k {DEGREES} {OUTPUTS}", r"k = "),
    "large roofline": (f"roofline --device cpu --n 2^22 --k 1,500 --runs 20 {OUTPUTS}", None),
    "occupancy": (f"occupancy --device cpu --n 2^16 --ceilings ceilings.json {OUTPUTS}", r"(copy|fma)\b.* block = "),
    "power": (f"power --device cpu {ENDLESS}", r"step "),
    "power on two": (f"power --devices cpu:0,cpu:1 --exchange gather {ENDLESS}", None),
    "ceilings": ("ceilings --device cpu --output rows.json", None),
    "norm": (f"norm --device cpu --rounds 1000 {ROWS}", None),
    "pipeline": (f"pipeline --device cpu --size 64 --rounds 200 --kernel horner {ROWS}", None),
    "dispatch": (f"dispatch --device cpu --rounds 500 {ROWS}", None),
    "collectives": (f"collectives --devices cpu:0,cpu:1 --rounds 500 {ROWS}", None),
    "links": (f"links --devices cpu:0,cpu:1 --rounds 500 {ROWS}", None),
    "measure": ("measure --device cpu --runs 200", None),
    "profile": ("profile --kernel horner --axis n=2^22 --axis k=200 --json rows.json --page report.html", None),
    "merge": (f"merge many.csv --output rows.csv,rows.json", None),
}

# Commands that write their files at the end, as a whole.
WHOLE = ["ceilings", "profile", "merge"]


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
        self.lost = self.unreadable = self.destroyed = self.late = self.left = 0
        self.longest = 0.0

    def is_bad(self):
        return bool(self.lost or self.unreadable or self.destroyed or self.late or self.left)

    def row(self):
        return (
            f"{self.name:14} {self.killed:6} {self.ended:6} {self.announced:9} {self.kept:6} "
            f"{self.lost:5} {self.unreadable:10} {self.destroyed:9} {self.late:5} {self.left:5} {self.longest:8.2f}"
        )


class Trial:
    """A command in a folder of its own, ended again and again."""

    def __init__(self, binary, name, folder, seconds, answer):
        self.folder, self.seconds, self.answer = folder, seconds, answer
        words, pattern = COMMANDS[name]
        self.pattern = pattern and re.compile(pattern)
        self.arguments = [binary, *words.split()]
        self.tally = Tally(name)
        self.newest = -1
        self.restore()

    def restore(self):
        for file, text in EARLIER.items():
            (self.folder / file).write_text(text)

    def run(self, random_time, ending):
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
                sent = time.monotonic()
                child.send_signal(ending)
                error = child.communicate()[1].decode()
                self.tally.killed += 1
                if ending != signal.SIGKILL:
                    self.judge_ending(child, ending, time.monotonic() - sent, error)
                self.judge(said.read_text())
                if ending != signal.SIGKILL:
                    self.restore()
                return
        if child.returncode != 0:
            sys.exit(f"{' '.join(self.arguments)[:200]} ..: {child.returncode}: {error}")
        self.tally.ended += 1
        self.seconds = min(self.seconds, time.monotonic() - began)
        self.restore()

    def judge_ending(self, child, ending, took, error):
        """A signal is answered soon and by its status, unless the command had just ended, and leaves nothing behind."""
        tally = self.tally
        tally.longest = max(tally.longest, took)
        is_answered = child.returncode in (128 + ending, 0)
        if not is_answered or took > self.answer:
            print(f"{tally.name}: {child.returncode} after {took:.2f} s: {error.strip()[-200:]}", file=sys.stderr)
        tally.late += not is_answered or took > self.answer
        tally.left += sum(1 for _ in self.folder.glob("*.partial"))

    def judge(self, said):
        tally = self.tally
        for file, earlier in EARLIER.items():
            path = self.folder / file
            tally.destroyed += not path.exists() or not self.is_whole(path, earlier)
        if tally.name == "power":
            self.judge_steps(said)
        elif tally.name == "power on two":
            files = self.steps()
            tally.unreadable += sum(not is_checkpoint_whole(path) for path in files)
            tally.kept += len(files)
        else:
            announced = 0
            if self.pattern:
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
        rows = read_rows(path)
        # A profile has no rows.
        return bool(rows) or (self.tally.name == "profile" and rows is not None)

    def judge_rows(self, file, announced):
        partial = self.folder / f"{file}.partial"
        rows = read_rows(partial)
        if self.tally.name in WHOLE:
            # Until it is whole it is worth nothing.
            rows = []
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


def many_rows(binary, root):
    """A file of rows that takes a while to merge."""
    sweep = [binary, "roofline", "--device", "cpu", "--n", "64", "--k", "1,2,3", "--output", root / "few.csv"]
    subprocess.run(sweep, check=True, stdout=subprocess.DEVNULL)
    header, *rows = (root / "few.csv").read_text().splitlines()
    return "\n".join([header, *rows * 20_000]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=200, help="of all commands together")
    parser.add_argument("--seconds", type=float, default=3.0, help="the latest time of a kill")
    parser.add_argument("--answer", type=float, default=1.0, help="seconds until a signal is answered")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    binary = str(arguments.binary.resolve())

    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        ceilings = root / "ceilings.json"
        measure = [binary, "ceilings", "--device", "cpu", "--n", "1024", "--runs", "1", "--output", ceilings]
        subprocess.run(measure, check=True, stdout=subprocess.DEVNULL)
        many = many_rows(binary, root)
        trials = []
        for number, name in enumerate(COMMANDS):
            folder = root / str(number)
            folder.mkdir()
            (folder / "ceilings.json").write_bytes(ceilings.read_bytes())
            if name == "merge":
                (folder / "many.csv").write_text(many)
            trials.append(Trial(binary, name, folder, arguments.seconds, arguments.answer))
        count = 0
        while sum(trial.tally.killed for trial in trials) < arguments.kills:
            trial = trials[count % len(trials)]
            trial.run(random.uniform(0.02, trial.seconds), random.choice(SIGNALS))
            count += 1
    tallies = [trial.tally for trial in trials]

    print("command        killed  ended announced   kept  lost unreadable destroyed  late  left  longest")
    for tally in tallies:
        print(tally.row())
    unseen = [tally.name for tally in tallies if COMMANDS[tally.name][1] and not tally.announced]
    if unseen:
        print(f"no row was announced, so nothing could be lost: {', '.join(unseen)}")
    sys.exit(1 if unseen or any(map(Tally.is_bad, tallies)) else 0)


if __name__ == "__main__":
    main()
