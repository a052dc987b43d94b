#!/usr/bin/env python3
"""Prints what the embedded demo costs before anybody types: milliseconds to its first frame, then CPU time and memory of an
idle screen. Linux.

  cargo build --release && scripts/idle_cost.py [PROGRAM]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))

from measure.terminal import Terminal, first_frame  # noqa: E402 (it is found by the line above)
from peers.common import Failed  # noqa: E402

# Seconds until the first frames are over, and seconds that are measured.
SETTLE, IDLE = 2, 10


def draw(terminal, seconds):
    """Takes what the program draws, so that it never waits for its terminal."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            if not terminal.read(left):
                raise SystemExit("the program ended")
        except Failed:
            return


def milliseconds(pid):
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def memory(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith("VmRSS"))


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/toolyard")
    with tempfile.TemporaryDirectory() as home:
        print(f"first frame: {first_frame(program, ['--no-journal'], home):.0f} ms")
        terminal = Terminal(program, ["--no-journal"], home, columns=200, rows=60)
        try:
            draw(terminal, SETTLE)
            before = milliseconds(terminal.pid)
            draw(terminal, IDLE)
            print(f"idle: {milliseconds(terminal.pid) - before} ms of CPU in {IDLE} s")
            print(f"memory: {memory(terminal.pid)}")
        finally:
            terminal.close(b"qy")


if __name__ == "__main__":
    main()
