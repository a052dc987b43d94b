#!/usr/bin/env python3
"""Prints what two processes that share nothing get of this machine: 1 where each runs as fast as alone."""

import json
import platform
import subprocess
import sys
import time

WORK = "x = 0\nfor i in range(30_000_000): x += i"
ROUNDS = 3


def seconds(processes):
    begun = time.perf_counter()
    busy = [subprocess.Popen([sys.executable, "-c", WORK]) for _ in range(processes)]
    for process in busy:
        process.wait()
    return time.perf_counter() - begun


rounds = [(seconds(1), seconds(2)) for _ in range(ROUNDS)]
alone, both = (min(times) for times in zip(*rounds))
print(json.dumps({"share": alone / both, "version": platform.python_version()}))
