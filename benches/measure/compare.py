"""Comparisons in parallel, and the size of the program."""

import os

from .bench import Row, beside, with_peer
from .workspaces import lookups


def jobs(bench):
    """A comparison by one job and by two: seconds on the clock, how near that is to half, and what it costs more."""
    tasks = 200 if bench.quick else 1000
    command = ["compare", "--workspace", lookups(bench.folder / "compare"), "--strategies", "react,react+btp"]
    command += ["--seeds", "0..3", "--tasks-limit", str(tasks), "--warm-up", "none", "--json"]
    commands = {jobs: [*command, "--jobs", jobs] for jobs in ("1", "2")}
    peers = {"busy": ("busy.py",)}
    found, theirs = bench.rounds(commands, 2 if bench.quick else 5, codes=(0, 1), peers=peers)
    work = "`compare` of 8 sessions"
    yield Row(f"{work}, 1 job", "s", **beside(found, lambda one: one["1"].wall))
    yield Row(f"{work}, 2 jobs", "s", **beside(found, lambda one: one["2"].wall))
    share = beside(found, lambda one: one["1"].wall / one["2"].wall / 2)
    row = Row("2 jobs, of what two cores could give", "of 1", **share, least=0.95)
    # No program is faster by two jobs than what the machine gives to two processes that share nothing.
    yield with_peer(row, "two busy processes of Python", theirs["busy"], "share")
    yield Row("CPU of 2 jobs beside 1 job", "times", **beside(found, lambda one: one["2"].cpu / one["1"].cpu))


def flat(bench):
    """Peaks of memory in MB for many sessions of three tasks in one command, and how much more that is than for half of them."""
    many = 1_000 if bench.quick else 10_000
    peaks = {}
    for seeds in (many // 2, many):
        command = ["sweep", "--over", "alpha=0.5", "--strategy", "react", "--tasks-limit", "3", "--seeds", str(seeds)]
        command += ["--out", "{new}"]
        peaks[seeds] = bench.of_each(lambda program: bench.cost(program, command).peak / 1e6)
    work = f"peak of `sweep`, {many:,} sessions"
    yield Row(work, "MB", **beside(peaks[many]), most=300, judged=not bench.quick)
    more = {program: peak - peaks[many // 2][program] for program, peak in peaks[many].items()}
    yield Row("the second half of them", "MB", **beside(more), most=20, judged=not bench.quick)


def size(bench):
    """Megabytes of the program's file."""
    sizes = bench.of_each(lambda program: os.path.getsize(program.path) / 1e6)
    yield Row("the program's file", "MB", **beside(sizes), most=48)
