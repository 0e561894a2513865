#!/usr/bin/env python3
"""Writes the wheel of the `ridgepoint` command and its pytest plugin, with Python's standard library alone.

    scripts/wheel.py PROGRAM FOLDER

PROGRAM is the command, with the emulated driver inside. The wheel's platform is what PROGRAM needs: its machine, and the newest
version of glibc among the symbols of the command and of that driver. The same inputs give the same bytes: entries are sorted, and
have the time of SOURCE_DATE_EPOCH (1980 where it is not set). Prints the wheel's SHA-256 and path, as sha256sum does.
"""

import base64
import hashlib
import os
import re
import sys
import time
import tomllib
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
FIRST_OF_ZIP = 315532800  # 1980
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF


def main(program, folder):
    program = Path(program).read_bytes()
    package = tomllib.loads((TREE / "Cargo.toml").read_text())
    version = package["workspace"]["package"]["version"]
    tag = f"py3-none-{platform(program)}"
    entries = {f"ridgepoint-{version}.data/scripts/ridgepoint": program}
    for path in (TREE / "python/ridgepoint").glob("*.py"):
        entries[f"ridgepoint/{path.name}"] = path.read_bytes()
    information = f"ridgepoint-{version}.dist-info"
    for name, text in metadata(version, tag, package["package"]["description"]).items():
        entries[f"{information}/{name}"] = text.encode()
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        entries[f"{information}/licenses/{name}"] = (TREE / name).read_bytes()
    entries[f"{information}/RECORD"] = record(entries, f"{information}/RECORD")
    wheel = Path(folder) / f"ridgepoint-{version}-{tag}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    write(wheel, entries)
    print(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel}")


def platform(program):
    """Returns the platform's tag. The versions are in the tables of both ELF files, as text."""
    machine = MACHINES.get(int.from_bytes(program[18:20], "little")) if program[:4] == b"\x7fELF" else None
    if machine is None:
        sys.exit(f"the program is not an ELF file of {' or '.join(MACHINES.values())}")
    versions = {int(it) for it in re.findall(rb"\0GLIBC_2\.(\d+)(?=[\0.])", program)}
    if not versions:
        sys.exit("the program names no version of glibc: a wheel's platform cannot be told from it")
    return f"manylinux_2_{max(versions)}_{machine}"


def metadata(version, tag, description):
    """Returns the texts of the wheel's own files, by name."""
    return {
        "METADATA": (
            "Metadata-Version: 2.4\n"
            f"Name: ridgepoint\nVersion: {version}\nSummary: {description}\n"
            "License-Expression: MIT OR Apache-2.0\n"
            "License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n"
            "Requires-Python: >=3.10\nProvides-Extra: pytest\nRequires-Dist: pytest>=8; extra == 'pytest'\n"
            "Description-Content-Type: text/markdown\n\n"
            + (TREE / "docs/any-cuda-program.md").read_text()
        ),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: ridgepoint\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[pytest11]\nridgepoint = ridgepoint.pytest_plugin\n",
    }


def record(entries, own):
    """Returns the list of all files with their checksums."""
    def row(name):
        digest = base64.urlsafe_b64encode(hashlib.sha256(entries[name]).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(entries[name])}\n"

    return "".join([row(name) for name in sorted(entries)] + [f"{own},,\n"]).encode()


def write(path, entries):
    """Writes a file of entries, which has no trace of when, where and by whom."""
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", FIRST_OF_ZIP)), FIRST_OF_ZIP)
    date = time.gmtime(seconds)[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3
            mode = 0o755 if "/scripts/" in name else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, entries[name], zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: wheel.py PROGRAM FOLDER")
    main(*sys.argv[1:])
