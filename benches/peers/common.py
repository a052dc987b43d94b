"""What the scripts share: our own measurements, and how both sides are printed."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "release" / "toolyard"
STEPS = 20
REPEATS = 10


def ours(name, elements=1):
    """Seconds for each element of one of our benchmarks: the fastest sample of its last run."""
    file = TARGET / "criterion" / name / "new" / "sample.json"
    if not file.exists():
        sys.exit(f"{file}: no such file; run the benchmark first, see README.md")
    sample = json.loads(file.read_text())
    return min(t / n for t, n in zip(sample["times"], sample["iters"])) * 1e-9 / elements


def fastest(work, elements=1, repeats=REPEATS):
    """Seconds for each element: the fastest of some runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) / elements


def processor(*command, codes=(0,)):
    """Seconds of processor time that our program takes for a command, with its start and end."""

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    done = subprocess.run([PROGRAM, *command], stdout=subprocess.DEVNULL)
    if done.returncode not in codes:
        sys.exit(f"{PROGRAM} {' '.join(command)}: exit code {done.returncode}")
    return used() - before


def told(seconds):
    if seconds < 0.01:
        return f"{seconds * 1e6:,.1f} µs"
    return f"{seconds * 1e3:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def show(what, peer, peer_seconds, our_seconds):
    ratio = f"{peer_seconds / our_seconds:.1f} times"
    print(f"{what}: {peer} {told(peer_seconds)}, toolyard {told(our_seconds)}: {ratio}")
