#!/usr/bin/env python3
"""Prints the CPU seconds that an edit costs: one constant of a pane is changed, then `cargo check` runs, and then a
test of that pane's crate is built and run. `scripts/edit_cost.py [TREE]` measures another checkout than this one.

Each figure is the median of three edits, user and system time of Cargo and its children together. The tree is built
first, and the file is restored at the end.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

TREE = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
FILE = TREE / "src/ui/panes/tasks.rs"
CONSTANT = re.compile(r"^(const \w+: usize = )(\d+);", re.MULTILINE)
# A unit test of the screen, which says nothing of the constant.
TEST = "text::tests"
EDITS = 3


def cpu(command):
    """Runs a command and returns its CPU and wall seconds."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    if "test" in command and "test result: ok. 0 passed" in done.stdout:
        sys.exit(f"{' '.join(command)} ran no test")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return used, time.monotonic() - begun


def main():
    crate = ["-p", "toolyard-ui"] if (TREE / "src/ui/Cargo.toml").exists() else []
    commands = {
        "cargo check": ["cargo", "check", "--locked"],
        "a test of the crate": ["cargo", "test", "--locked", *crate, "--lib", TEST],
    }
    text = FILE.read_text(encoding="utf-8")
    if not CONSTANT.search(text):
        sys.exit(f"{FILE} has no constant to edit")
    try:
        for name, command in commands.items():
            cpu(command)
            figures = []
            for edit in range(1, EDITS + 1):
                # Another value each time: Cargo and the compiler must not know it already.
                change = lambda found: f"{found[1]}{int(found[2]) + edit};"
                FILE.write_text(CONSTANT.sub(change, text, count=1), encoding="utf-8")
                figures.append(cpu(command))
            used, took = (statistics.median(column) for column in zip(*figures))
            print(f"{name}: {used:.1f} s of CPU, {took:.1f} s on {os.cpu_count()} cores")
    finally:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
