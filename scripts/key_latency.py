#!/usr/bin/env python3
"""Prints how long a key takes to the screen while a session runs: from the write into a pseudo-terminal
until the palette that the key opens is read from it. Linux or macOS.

  cargo build --release && scripts/key_latency.py [PROGRAM]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from terminal import ours, read, theirs

ROUNDS = 200
# What the palette's frame says, and no other part of the screen.
PALETTE = b"Palette"

program = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "target/release/toolyard"

with tempfile.TemporaryDirectory() as home:
    environment = os.environ | {"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "TERM": "xterm-256color"}
    run = subprocess.Popen(
        [program, "--no-journal", "--tasks-limit", "2000"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    if not read(b"SIMULATED", 10):
        sys.exit("no frame came within 10 s")
    os.write(ours, b" ")
    times = []
    for _ in range(ROUNDS):
        read(b"\0", 0.1)
        start = time.perf_counter()
        os.write(ours, b":")
        if not read(PALETTE, 5):
            sys.exit("the palette did not come within 5 s")
        times.append(time.perf_counter() - start)
        os.write(ours, b"\x1b")
    run.kill()
    run.wait()
times.sort()
middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
print(f"key to screen: median {middle * 1e3:.1f} ms, 99 of 100 within {late * 1e3:.1f} ms")
