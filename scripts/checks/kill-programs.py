#!/usr/bin/env python3
"""Ends `ridgepoint emulate PROGRAM` at random times with signals, to the command, to its program or to both, and looks at what is left.

    scripts/checks/kill-programs.py target/release/ridgepoint ./PROGRAM [--kills 100] [--seconds 2] [--answer 5] [--seed 1]

The program should run for longer than --seconds, and need not be whole: any of nvcc's will do. Ends with 1 if the command does not
end within --answer seconds, its program runs on, a panic is printed, a file of a finding cannot be read, or folders are left when
another command has run.
"""

import argparse
import collections
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def children(process):
    try:
        return pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []


def runs(process):
    """Whether a process is there, and does not only wait to be asked how it ended."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def send(number, who, process, own):
    targets = {"command": [process], "program": own, "both": [process, *own]}[who] or [process]
    for target in targets:
        subprocess.run(["kill", f"-{number}", str(target)], stderr=subprocess.DEVNULL)


def ends(is_over, seconds):
    last = time.monotonic() + seconds
    while not is_over() and time.monotonic() < last:
        time.sleep(0.02)
    return is_over()


def kill(command, chosen, options, folders):
    """Starts a command and ends it; yields what is wrong."""
    said = folders["work"] / "said"
    with said.open("wb") as errors:
        process = subprocess.Popen(
            command, env=folders["environment"], cwd=folders["work"], stdout=subprocess.DEVNULL, stderr=errors
        )
    time.sleep(chosen["after"])
    own = children(process.pid)
    send(chosen["signal"], chosen["who"], process.pid, own)
    try:
        process.wait(timeout=options.answer)
    except subprocess.TimeoutExpired:
        process.kill()
        yield "the command does not end"
    if not ends(lambda: not any(map(runs, own)), options.answer):
        yield "the program runs on"
        send(signal.SIGKILL, "program", process.pid, own)
    if b"panicked" in said.read_bytes():
        yield said.read_text(errors="replace")
    for path in folders["work"].rglob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            yield f"{path.name}: {error}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ridgepoint", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--answer", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    emulate = [str(options.ridgepoint.resolve()), "emulate", "--"]
    chance = random.Random(options.seed)
    wrong, signals = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        temporary, work = pathlib.Path(folder, "temporary"), pathlib.Path(folder, "work")
        temporary.mkdir()
        work.mkdir()
        folders = {"work": work, "environment": {"PATH": "/usr/bin:/bin", "TMPDIR": str(temporary)}}
        for number in range(options.kills):
            chosen = {
                "after": chance.uniform(0, options.seconds),
                "who": chance.choice(["command", "program", "both"]),
                "signal": int(chance.choice(SIGNALS)),
            }
            signals[signal.Signals(chosen["signal"]).name, chosen["who"]] += 1
            for what in kill([*emulate, str(options.program.resolve())], chosen, options, folders):
                wrong.append(f"kill {number}, {chosen}: {what}")
        subprocess.run([*emulate, "true"], env=folders["environment"], cwd=work, stderr=subprocess.DEVNULL)
        wrong += [f"left behind: {it.name}" for it in temporary.iterdir()]
    for (name, who), count in sorted(signals.items()):
        print(f"{count:4} {name} to {who}")
    print("\n".join(wrong) or f"{options.kills} kills: nothing is wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
