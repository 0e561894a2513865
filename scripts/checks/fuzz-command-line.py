#!/usr/bin/env python3
"""Runs the command line with options and values at random, and fails on what no command may do.

    fuzz-command-line.py PROGRAM [--runs N] [--seed S] [--jobs J] [--timeout S] [--only RUN]

Sub-commands and options come from the program's own `--help`, so that there is no list to keep. Each run
has a folder of its own, the emulator as its device, and ten seconds. What counts as a failure, by class:

    panic      the text of a panic, or status 101
    signal     ended by a signal: an abort, a segmentation fault
    hang       not through in time
    status     an exit status that is not documented
    silent     a status other than 0, and nothing on standard error that says why
    lost       status 0, though standard output could not be written and the command writes there

A failing run is shown with its number; `--seed S --only RUN` repeats it alone.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

# 0 done, 1 found something, 2 usage, 3 could not run or write, 129 SIGHUP, 130 SIGINT, 141 no reader,
# 143 SIGTERM.
STATUSES = {0, 1, 2, 3, 129, 130, 141, 143}
PANIC = re.compile(rb"panicked at|RUST_BACKTRACE|memory allocation of")
OPTION = re.compile(r"^\s+(?:-\w, )?(--[a-z-]+)(?: <([A-Z_]+)>)?")
VALUES = re.compile(r"\[possible values: ([^\]]+)\]")
LISTED = re.compile(r"^\s+- ([a-z0-9-]+):", re.MULTILINE)
# These compile a project or a whole tree: minutes, by their nature.
SLOW = {"check", "help"}

# What keeps a valid run under a second. They come first, so what is drawn may repeat them.
SMALL = {
    "--device": "cpu",
    "--n": "1024",
    "--k": "1,2",
    "--runs": "1",
    "--rounds": "1",
    "--batches": "1",
    "--launches": "2",
    "--dim": "4",
    "--max-steps": "10",
    "--block": "64",
    "--ilp": "1",
    "--shared": "0",
}
NUMBERS = ["0", "1", "2", "3", "7", "32", "33", "64", "2^4", "-1", "-0", "1.5", "1e3", "NaN", "inf", "-inf"]
NUMBERS += ["0.5%", "1e-300", "1e300", "1e999", "4294967295", "4294967296", "1000000000000", "2^40", "2^63"]
NUMBERS += ["2^64", "18446744073709551615", "18446744073709551616", "9" * 400, "0x10", "1_000", "+1", " 1", "1 "]
WORDS = ["", " ", ",", ",,", "1,", ",1", "a,b", "=", "k=1", "=1", "k=", "all", "auto", "cuda", "cuda:0", "cuda:-1"]
WORDS += ["cpu", "cpu:sm_80", "cpu:sm_90", "cpu:sm_1", "tpu", "sm_90", "sm_0", "sm_4294967295", "90", "full", "2x"]
WORDS += ["0x", "4294967295x", "warm", "cold", "f32", "f64,f16x2", "48KiB", "-1KiB", "4194304KiB", "any", "csv"]
WORDS += ["json", "md", "svg", "horner", "power-sum", "copy", "fma", "--", "-", "-x", "--n", "%s%n", "a" * 5000]
WORDS += ["\u00e9\u4e2d\U0001f600", "\u202e", "\x1b[31m", "a\nb", "1,1,1", ",".join(["1"] * 300)]
# In the folder of a run, see `furnish`; and names that are not text.
PATHS = ["new.csv", "new.json", "new.md", "new.svg", "new.png", "new.html", "rows.csv", "cut.csv", "empty.csv"]
PATHS += ["header.csv", "bad.json", "folder", "folder/new.csv", "readonly.csv", "locked/new.csv", "missing/new.csv"]
PATHS += ["dangling.csv", "loop.csv", "/dev/full", "/dev/null", "/proc/x", "/proc/self/mem", "-", ".", "/", "x" * 300]
PATHS += ["rows.csv,new.csv", "new.csv,new.csv", "-,-", b"\xff.csv", b"\xff.svg", "\u4e2d.svg"]
ROWS = "kernel,dtype,vector,ilp,n,block,grid,cache,device,k,ai,gflops,median_ms,rms_percent,samples,bound,flags\n"
ROW = "horner,f32,1,1,1024,64,16,warm,CPU emulator (2 cores),1,0.25,1.0,0.1,1.0,3,latency,\n"


@dataclasses.dataclass
class Option:
    name: str
    value: str | None
    possible: list[str]


def commands(program):
    """The sub-commands with their options."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.split("Commands:")[1].split("Options:")[0]
    names = re.findall(r"^  ([a-z]+)\b", listed, re.MULTILINE)
    return {name: options(program, name) for name in names if name not in SLOW}


def options(program, command):
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    found = []
    # An option's text goes on until the next one begins.
    for part in re.split(r"\n(?=\s+(?:-\w, )?--[a-z])", text)[1:]:
        match = OPTION.match(part)
        if not match or match[1] in ("--help", "--version"):
            continue
        values = VALUES.search(part)
        possible = values[1].split(", ") if values else LISTED.findall(part)
        found.append(Option(match[1], match[2], possible))
    return found


class Run:
    """A command line and the surroundings that it gets."""

    def __init__(self, number, seed, known):
        draw = self.draw = random.Random(f"{seed}/{number}")
        self.number = number
        self.command = draw.choice(sorted(known))
        self.options = known[self.command]
        drawn = self.drawn()
        self.arguments = [self.command, *self.small(drawn), *drawn]
        kinds = ["pipes"] * 8 + ["no reader", "/dev/full", "no stdin", "no stderr", "memory", "narrow"]
        self.surroundings = draw.choice(kinds)
        self.kib = draw.choice([200_000, 250_000, 400_000, 1_000_000])

    def small(self, drawn):
        """Small values for what was not drawn; now and then for what was, which makes it twice."""
        offered = {option.name for option in self.options}
        keep = [name for name in SMALL if name in offered and (name not in drawn or self.draw.random() < 0.05)]
        return [word for name in keep for word in (name, SMALL[name])]

    def drawn(self):
        draw, words = self.draw, []
        for option in draw.choices(self.options, k=draw.choice([0, 1, 1, 2, 2, 3, 5])) if self.options else []:
            words.append(option.name)
            # Sometimes a value for a flag, or none for an option that needs one.
            if (option.value is None) != (draw.random() < 0.05):
                continue
            value = self.value(option)
            if draw.random() < 0.2:
                words[-1] = os.fsencode(words[-1]) + b"=" + os.fsencode(value)
            else:
                words.append(value)
        for _ in range(draw.choice([0] * 8 + [1, 2])):
            words.insert(draw.randint(0, len(words)), draw.choice(PATHS + WORDS))
        if self.command in ("compare", "merge", "chart") and draw.random() < 0.7:
            words = draw.choices(["rows.csv", "cut.csv", "header.csv", *PATHS], k=2) + words
        return words

    def value(self, option):
        draw = self.draw
        if option.possible and draw.random() < 0.8:
            return ",".join(draw.choices(option.possible, k=draw.choice([1, 1, 2])))
        if option.name in SMALL and draw.random() < 0.4:
            return SMALL[option.name]
        is_path = option.value in ("FILE", "PATH", "DIR") or option.name in ("--output", "--plot")
        pools = [PATHS, PATHS, WORDS] if is_path else [NUMBERS, NUMBERS, WORDS, PATHS]
        return draw.choice(draw.choice(pools))

    def shown(self):
        words = [shlex.quote(os.fsdecode(word)) if len(word) < 80 else f"<{len(word)} bytes>" for word in self.arguments]
        return f"run {self.number}, {self.surroundings}: " + " ".join(words).encode("unicode_escape").decode()


def furnish(folder):
    """Files and folders for the paths above."""
    files = {"rows.csv": ROWS + ROW, "cut.csv": ROWS + ROW + ROW[:40], "header.csv": ROWS, "empty.csv": ""}
    files |= {"bad.json": '{"rows": [', "readonly.csv": ROWS}
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    os.mkdir(os.path.join(folder, "folder"))
    os.mkdir(os.path.join(folder, "locked"), 0o555)
    os.chmod(os.path.join(folder, "readonly.csv"), 0o444)
    os.symlink("nowhere/at-all.csv", os.path.join(folder, "dangling.csv"))
    os.symlink("loop.csv", os.path.join(folder, "loop.csv"))


def carry_out(program, run, timeout):
    """The status of the run, or None for a hang, and its standard error."""
    with tempfile.TemporaryDirectory(prefix="ridgepoint-fuzz-", ignore_cleanup_errors=True) as folder:
        furnish(folder)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "HOME": folder, "TMPDIR": folder}
        # Where there is a GPU, `auto` is the emulator all the same.
        environment["CUDA_VISIBLE_DEVICES"] = ""
        if run.surroundings == "narrow":
            environment |= {"COLUMNS": "1", "LINES": "1"}

        def limit():
            # No run fills the disk, nor leaves a core dump.
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if run.surroundings == "memory":
                resource.setrlimit(resource.RLIMIT_AS, (run.kib << 10, run.kib << 10))
            if run.surroundings == "no stdin":
                os.close(0)
            if run.surroundings == "no stderr":
                os.close(2)

        with open(os.path.join(folder, ".stderr"), "w+b") as errors, stdout_of(run) as output:
            arguments = [program, *(os.fsencode(word).replace(b"\0", b"") for word in run.arguments)]
            process = subprocess.Popen(
                arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors, preexec_fn=limit, start_new_session=True,
            )
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
            errors.seek(0)
            return status, errors.read()


def stdout_of(run):
    if run.surroundings == "no reader":
        reader, writer = os.pipe()
        os.close(reader)
        return os.fdopen(writer, "wb")
    return open("/dev/full" if run.surroundings == "/dev/full" else os.devnull, "wb")


# Without memory the C library, or Rust's at the start of a thread, aborts the process itself.
OUT_OF_MEMORY = re.compile(
    rb"Fatal glibc error[^\n]*"
    rb"|[^\n]*panicked at [^\n]*stack_overflow[^\n]*\nfailed to allocate an alternative stack[^\n]*(\nnote: [^\n]*)?"
)


def verdict(run, status, errors):
    """The class of a failure, or None."""
    if status is None:
        return "hang"
    if (status, run.surroundings) == (-signal.SIGABRT, "memory"):
        errors, aborts = OUT_OF_MEMORY.subn(b"", errors)
        if aborts and not PANIC.search(errors):
            return None
    if PANIC.search(errors) or status == 101:
        return "panic"
    if status < 0:
        # Without a reader a command may also end as others do, by the signal.
        return None if (-status, run.surroundings) == (signal.SIGPIPE, "no reader") else "signal"
    if status not in STATUSES:
        return "status"
    says_why = errors.strip() or run.surroundings == "no stderr" or status == 141
    if status != 0 and not says_why:
        return "silent"
    if status == 0 and run.surroundings == "/dev/full" and "--quiet" not in run.arguments:
        # Its table, its text or its rows were for standard output.
        return "lost"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=10, help="seconds of a run, on a loaded machine more")
    parser.add_argument("--only", type=int, help="repeat this run alone, and show what it says")
    asked = parser.parse_args()
    program = os.path.abspath(asked.program)
    known = commands(program)
    numbers = range(asked.runs) if asked.only is None else [asked.only]
    statuses, failures = collections.Counter(), collections.defaultdict(list)

    def one(number):
        run = Run(number, asked.seed, known)
        return run, *carry_out(program, run, asked.timeout)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for run, status, errors in pool.map(one, numbers):
            statuses[status] += 1
            if (why := verdict(run, status, errors)) is not None:
                failures[why].append((run, status, errors))
            if asked.only is not None:
                print(run.shown(), f"status {status}", errors.decode(errors="replace"), sep="\n")

    total = sum(map(len, failures.values()))
    shown = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str))
    print(f"{len(numbers)} runs of {len(known)} commands, seed {asked.seed}: {total} failures; statuses {shown}")
    for why, runs in sorted(failures.items()):
        print(f"\n{why}: {len(runs)}")
        for run, status, errors in runs:
            last = errors.decode(errors="replace").strip().splitlines()[:2]
            print(f"  {run.shown()}\n    status {status}: {' / '.join(last)[:200]}")
    if asked.only is None and not statuses[0]:
        sys.exit("no run succeeded: the fuzzer looked at nothing")
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
