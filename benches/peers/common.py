"""What the measurements share: the cost of a command of ours, the time of a peer, and how a peer says it."""

import importlib.metadata
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "dist" / "toolyard"
STEPS = 20
REPEATS = 10
# Bytes of memory that a command may take; one that needs more fails, and the machine goes on.
MEMORY = 8 << 30


class Failed(Exception):
    """A command or a peer that gave no figure, and why."""


class Cost(NamedTuple):
    """Seconds of processor time, user and system; seconds on the clock; peak of memory in bytes."""

    cpu: float
    wall: float
    peak: int


def surroundings(home):
    """The environment of a program that reads no configuration of the user and writes only below `home`."""
    names = {"HOME": "", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
    folders = {name: os.path.join(home, folder) for name, folder in names.items()}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", **folders}


def cost(program, arguments, home, codes=(0,), out=subprocess.DEVNULL):
    """The cost of a command, with its start and end and with the programs that it has run."""
    with tempfile.TemporaryFile() as said:
        begun = time.monotonic()
        child = subprocess.Popen(
            [program, *arguments], cwd=home, env=surroundings(home), stdin=subprocess.DEVNULL, stdout=out, stderr=said
        )
        if hasattr(resource, "prlimit"):
            resource.prlimit(child.pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            said.seek(0)
            lines = said.read().decode(errors="replace").split("\n")
            why = next((line for line in reversed(lines) if line.strip()), "")[:120]
            raise Failed(f"`{arguments[0]}` ended with {child.returncode}: {why}")
    unit = 1 if os.uname().sysname == "Darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit)


def fastest(work, elements=1, repeats=REPEATS):
    """Seconds of processor time for each element: the fastest of some runs, after one that does not count."""
    if repeats > 1:
        work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / elements


def tell(package, **seconds):
    """Prints the figures of a peer as one line of JSON, with the version of its package."""
    version = importlib.metadata.version(package) if package else None
    print(json.dumps({"version": version, **seconds}))


def told(seconds):
    if seconds < 0.01:
        return f"{seconds * 1e6:,.1f} µs"
    return f"{seconds * 1e3:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def show(what, peer, peer_seconds, our_seconds):
    ratio = f"{peer_seconds / our_seconds:.1f} times"
    print(f"{what}: {peer} {told(peer_seconds)}, toolyard {told(our_seconds)}: {ratio}")
