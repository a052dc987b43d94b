#!/usr/bin/env python3
"""Prints the table of speed: a release of toolyard, one from before, peers, and the aims. See benches/README.md."""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import compare, journals, plans, screen, steps, waits
from measure.bench import Bench, middle, ratio, spread
from peers.common import PROGRAM, ROOT

README = ROOT / "benches" / "README.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
# Rounds that differ by a larger part of their median are said to.
APART = 0.2
SUBJECTS = {
    "steps": steps.rows,
    "sizes": journals.sizes,
    "reading": journals.reading,
    "memory": journals.memory,
    "moments": journals.moments,
    "frames": screen.first_frames,
    "moves": screen.moves,
    "proxy": waits.proxy,
    "relay": waits.relay,
    "keys": waits.keys,
    "plans": plans.plans,
    "imports": plans.imports,
    "compare": compare.jobs,
    "sweep": compare.flat,
    "program": compare.size,
}


def number(figures, unit):
    """The figure, marked where it differs between rounds by more than a fifth."""
    value = middle(figures)
    if value is None:
        return "–"
    apart = f", rounds {spread(figures):.0%} apart" if spread(figures) > APART else ""
    digits = max(0, 2 - len(str(int(abs(value))).lstrip("0")))
    return f"{value:,.{digits}f} {unit}{apart}"


def aim(row, share):
    """What is aimed at, and whether it is missed."""
    if row.most is not None:
        better = f", better {row.better:g}" if row.better is not None else ""
        text, is_met = f"at most {row.most:g} {row.unit}{better}", middle(row.ours) <= row.most
    elif row.least is not None:
        text, is_met = f"at least {row.least:g} {row.unit}", middle(row.ours) >= row.least
    elif row.least_ratio is not None:
        text, is_met = f"a ratio of at least {row.least_ratio:g}", share is None or share >= row.least_ratio
        if share is None:
            text += ", not judged"
    else:
        return ""
    # What is too much in a small run is too much in a large one.
    if is_met and not row.judged:
        return f"{text}, not judged"
    return text if is_met else f"{text}: **missed**"


def line(row):
    share = ratio(row.theirs, row.ours) if row.theirs is not None else None
    theirs = f"{row.peer}: {number(row.theirs, row.unit)}" if row.theirs is not None else row.peer
    cells = [row.work, number(row.ours, row.unit), number(row.before, row.unit), theirs or "–"]
    return f"| {' | '.join([*cells, number(share, '').strip() if share else '–', aim(row, share)])} |"


def machine():
    cpu = platform.processor() or platform.machine()
    try:
        cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        pass
    system = f"{platform.system()} {platform.release()}"
    return f"{os.cpu_count()} cores of {cpu}, {system}, Python {platform.python_version()}"


def load():
    return "/".join(f"{load:.1f}" for load in os.getloadavg())


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def profile(program):
    """The profile of Cargo that the program is built by, if it says so."""
    try:
        return json.loads(said(os.path.abspath(program), "--version", "--json"))["profile"]
    except (ValueError, KeyError):
        return "unknown"


def table(bench, only):
    lines = ["| Work | toolyard | before | Peer | Ratio | Aim |", "| --- | --- | --- | --- | --- | --- |"]
    for name in only or SUBJECTS:
        begun = time.monotonic()
        try:
            for row in SUBJECTS[name](bench):
                lines.append(line(row))
                print(lines[-1], file=sys.stderr, flush=True)
        # One subject that fails does not stop the others.
        except Exception as why:
            text = " ".join(str(why).split()) or type(why).__name__
            lines.append(f"| {name} | failed: {text.replace('|', '/')} | – | – | – | |")
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default=str(PROGRAM))
    parser.add_argument("--before", help="an earlier release, for the column of before")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, help="only these subjects")
    parser.add_argument("--write", action="store_true", help=f"put the table into {README}")
    options = parser.parse_args()
    for program in filter(None, (options.program, options.before)):
        if not os.access(program, os.X_OK):
            parser.error(f"{program}: no such program; `cargo build --profile dist` makes one")
    begun, checkout = load(), said("git", "rev-parse", "--short", "HEAD")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.program, options.before, options.quick, folder)
        lines = table(bench, options.only)
        notes = sorted(set(bench.notes))
    about = [
        f"{datetime.date.today()}, {machine()}.",
        f"Load before {begun}, after {load()} (of 1, 5 and 15 minutes).",
        f"{said(os.path.abspath(options.program), '--version')}, profile {profile(options.program)}, checkout {checkout}"
        f"{', a quick run' if options.quick else ''}.",
        *(f"- {note}." for note in notes),
    ]
    text = "\n".join(about[:3]) + "\n\n" + "\n".join(lines) + "\n"
    text += "".join(f"\n{note}" for note in about[3:]) + ("\n" if notes else "")
    print(text)
    if options.write:
        before, rest = README.read_text().split(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
