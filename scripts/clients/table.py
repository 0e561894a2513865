#!/usr/bin/env python3
"""Prints what pytest's results say as tables: how many tests have passed, and why others have not.

    scripts/clients/table.py RESULTS.xml
"""

import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict


def main(path):
    outcomes, reasons = Counter(), defaultdict(list)
    for case in xml.parse(path).iter("testcase"):
        name = f"{case.get('classname', '').rsplit('.', 1)[-1]}.{case.get('name')}"
        outcome, reason = judged(case)
        outcomes[outcome] += 1
        if outcome != "passed":
            reasons[outcome, reason].append(name)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) + ".\n")
    print("| outcome | tests | reason | which |\n|---|---:|---|---|")
    for (outcome, reason), names in sorted(reasons.items(), key=lambda it: (it[0][0], -len(it[1]), it[0][1])):
        which = ", ".join(f"`{it}`" for it in names[:3]) + (f", {len(names) - 3} more" if len(names) > 3 else "")
        print(f"| {outcome} | {len(names)} | {reason} | {which} |")


def judged(case):
    """Returns a test's outcome and its reason: the finding, or the last line of an error."""
    for kind, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (element := case.find(kind)) is not None:
            return outcome, reason(element.get("message") or element.text or "")
    return "passed", ""


def reason(message):
    found = re.search(r"ridgepoint: .*", message)
    line = found[0] if found else next((it for it in message.splitlines() if it.strip()), "")
    # Addresses differ from run to run.
    line = re.sub(r"0x[0-9a-f]+", "0x..", line)[:200]
    return line.replace("|", "\\|")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.xml")
    main(sys.argv[1])
