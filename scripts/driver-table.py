#!/usr/bin/env python3
"""Writes the table of the emulated driver's functions (crates/emulated-driver/src/table.rs) from NVIDIA's headers.

    scripts/driver-table.py INCLUDE           write it
    scripts/driver-table.py --check INCLUDE   end with 1 where it differs

INCLUDE is the folder of cuda.h and of the headers cuda*Typedefs.h. The k-th version of a name that these have is the symbol with
the suffix `_vk`. What the sources define (`fn cu..` in a `driver!` block) is emulated, all else is absent.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "crates/emulated-driver/src"
TYPE = re.compile(r"typedef CUresult \(CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)")
DECLARED = re.compile(r"CUresult CUDAAPI (cu\w+)\s*\(")
DEFINED = re.compile(r"^\s*fn (cu[A-Z]\w+)(?: \| (cu[A-Z]\w+))?\s*\(", re.MULTILINE)


def symbols(include):
    """Symbol -> version of CUDA that it came with."""
    versions, twins = collections.defaultdict(set), {}
    for header in sorted(include.glob("cuda*Typedefs.h")):
        for name, version, suffix in TYPE.findall(header.read_text()):
            if suffix:
                twins[name, int(version)] = suffix
            else:
                versions[name].add(int(version))
    # A twin may be newer than its function: it is that of the last version that is no newer.
    all_symbols = {}
    for name, known in versions.items():
        for number, version in enumerate(sorted(known), 1):
            all_symbols[name + (f"_v{number}" if number > 1 else "")] = version
    for (name, version), suffix in twins.items():
        number = sum(known <= version for known in versions[name]) or 1
        all_symbols[name + (f"_v{number}" if number > 1 else "") + suffix] = version
    for name in DECLARED.findall((include / "cuda.h").read_text()):
        # A few functions have no type; they came with 12.4 or later.
        if not re.search(r"_v\d+(_pt..)?$|_pt..$", name):
            all_symbols.setdefault(name, 12040)
    return all_symbols


def defined():
    names = set()
    for path in ROOT.glob("*.rs"):
        for pair in DEFINED.findall(path.read_text()):
            names |= {name for name in pair if name}
    return names


def block(rows):
    return "".join(f"                {name} {version},\n" for name, version in sorted(rows))


def table(text, include):
    known, own = symbols(include), defined()
    if unknown := own - set(known):
        sys.exit(f"the headers have no {', '.join(sorted(unknown))}")
    rows = {"emulated": [], "absent": []}
    for name, version in known.items():
        rows["emulated" if name in own else "absent"].append((name, version))
    for kind, of_kind in rows.items():
        text = re.sub(rf"({kind} {{\n).*?(            }}\n)", lambda it: it[1] + block(of_kind) + it[2], text, count=1, flags=re.DOTALL)
    return text


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        sys.exit(__doc__)
    path = ROOT / "table.rs"
    before = path.read_text()
    after = table(before, pathlib.Path(words[0]))
    if "--check" not in sys.argv:
        path.write_text(after)
    elif before != after:
        sys.exit(f"{path} is not what the headers and the sources say: run {sys.argv[0]} {words[0]}")


main()
