#!/usr/bin/env python3
"""Runs the commands of docs/results/inputs/row-files.txt again and says which answers have changed.

    scripts/checks/row-files.py RIDGEPOINT INPUTS [--write]

INPUTS is the folder of the files that the commands name. With --write the page gets the answers of today. An answer is what is
printed on standard output, then on standard error, the first 8 lines of each without rules of tables, of 160 characters at most, and
the exit status. Left out of the comparison is what differs from run to run: times, and numbers of processes. Fails where an answer
has changed.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
PAGE = TREE / "docs/results/inputs/row-files.txt"
LINES, COLUMNS = 8, 160
# Two processes in one folder: the first is ended when the second has answered.
TWICE = "$ ridgepoint power --dim 64 --check-every 1 --checkpoint ck --seed 1 & sleep 0.5; ridgepoint power .. --seed 2"


def prepare(folder, program, inputs):
    """Fills the folder with all that the commands name."""
    for file in inputs.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    shutil.copy(TREE / "docs/results/h200-ceilings/ceilings.json", folder)
    (folder / "empty.toml").write_text("")
    (folder / "neg.toml").write_text('file = "c.ptx"\ngrid = -1\n')
    module = subprocess.run([program, "kernels", "--ptx", "copy_u1"], capture_output=True, text=True, check=True)
    (folder / "c.ptx").write_text(module.stdout)


def cut(text):
    """The first lines, and what they begin with."""
    lines = [line for line in text.splitlines() if not line.startswith(("┌", "╞", "└"))]
    return [line[:COLUMNS].rstrip() for line in lines[:LINES]]


def answer(command, folder, environment):
    """What the command prints, and its exit status."""
    ended = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=300,
    )
    return cut(ended.stdout) + cut(ended.stderr) + [f"status {ended.returncode}"]


def answer_twice(folder, environment):
    """What the second of two processes with one folder of checkpoints prints."""
    study = "exec ridgepoint power --device cpu --dim 64 --tolerance 1e-300 --max-steps 1000000 --check-every 1 --checkpoint ck --seed "
    first = subprocess.Popen(
        study + "1", shell=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    begun = time.monotonic()
    while not list((folder / "ck").glob("step*")) and time.monotonic() - begun < 60:
        time.sleep(0.1)
    try:
        found = answer(study + "2", folder, environment)
    finally:
        first.send_signal(signal.SIGTERM)
    status = first.wait(timeout=60)
    last = [line for line in found if line.startswith(("error", "status"))]
    return last + [f"the first: status {128 - status if status < 0 else status}"]


def stable(line):
    """The line without what differs from run to run."""
    line = re.sub(r"process \d+", "process N", line)
    line = re.sub(r"\d+\.\d+ ", "T ", line)
    line = re.sub(r"\(\d+ cores?\)", "(N cores)", line)
    return re.sub(r" +", " ", line)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("inputs", type=pathlib.Path)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    program = given.program.resolve()
    before = PAGE.read_text(errors="replace").strip().split("\n\n$ ")
    answers, changed = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "bin").mkdir()
        (folder / "bin/ridgepoint").symlink_to(program)
        prepare(folder, program, given.inputs)
        environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", COLUMNS="160")
        for old in before:
            command, *lines = old.removeprefix("$ ").splitlines()
            print(command, file=sys.stderr)
            if "$ " + command == TWICE:
                new = answer_twice(folder, environment)
            else:
                new = answer(command, folder, environment)
            answers.append("\n".join(["$ " + command, *new]))
            pair = [[stable(line) for line in answer] for answer in (lines, new)]
            difference = list(difflib.unified_diff(*pair, n=0, lineterm=""))
            if difference:
                changed += 1
                print("\n".join(["$ " + command, *difference[2:]]))
    if not answers:
        sys.exit("the page has no commands")
    if given.write:
        PAGE.write_text("\n\n".join(answers) + "\n")
    print(f"{len(answers)} commands, {changed} answers have changed")
    sys.exit(1 if changed else 0)


main()
