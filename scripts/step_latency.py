#!/usr/bin/env python3
"""Prints how long a step key takes to the screen in a program that is held: from the write into a
pseudo-terminal until the value that the statement has set is read from it. Linux or macOS.

  cargo build --release && scripts/step_latency.py [PROGRAM]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from terminal import ours, read, theirs

ROUNDS = 300
# Values that no other part of the screen has, and of which no cell is equal.
VALUES = [b"A" * 16, b"B" * 16]

program = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "target/release/toolyard"

with tempfile.TemporaryDirectory() as home:
    # The person's editor puts a program of many statements in the place of the one that is held.
    editor = Path(home) / "editor"
    lines = ['a = "A"', 'b = "B"'] + ["x = a * 16", "x = b * 16"] * ROUNDS
    (Path(home) / "program").write_text("\n".join(lines) + "\n")
    editor.write_text(f'#!/bin/sh\ncp "{home}/program" "$1"\n')
    editor.chmod(0o755)
    environment = os.environ | {
        "HOME": home,
        "XDG_DATA_HOME": home,
        "XDG_CONFIG_HOME": home,
        "TERM": "xterm-256color",
        "VISUAL": str(editor),
        "EDITOR": str(editor),
    }
    run = subprocess.Popen(
        [program, "--no-journal", "--fresh", "--strategy", "atc"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    if not read(b"SIMULATED", 10):
        sys.exit("no frame came within 10 s")
    for _ in range(40):
        os.write(ours, b"n")
        if read(b"a line of the program", 1):
            break
    else:
        sys.exit("the program was never held")
    for key in [b"e", b"\x1bOS", b"\x13"]:
        os.write(ours, key)
        read(b"\0", 1.5)
    times, at = [], 0
    for _ in range(2 * ROUNDS):
        read(b"\0", 0.05)
        start = time.perf_counter()
        os.write(ours, b"n")
        if read(VALUES[at % 2], 1 if at == 0 else 5):
            times.append(time.perf_counter() - start)
            at += 1
        elif at > 0:
            break
        if at >= ROUNDS:
            break
    run.kill()
    run.wait()
if len(times) < ROUNDS // 2:
    sys.exit(f"only {len(times)} steps were seen")
times = sorted(times[1:])
middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
print(f"step key to screen: median {middle * 1e3:.1f} ms, 99 of 100 within {late * 1e3:.1f} ms")
