"""Journals: their size, how fast and in how much memory they are read, and how long a moment of them takes."""

import functools
import json
import math
import random
import statistics
import subprocess
import time
from pathlib import Path

from .bench import Row, beside, with_peer
from .terminal import peak
from .workspaces import lookups

# Events of the journal whose moments are read.
EVENTS = 1_150_000


def run(workspace, tasks, journal, strategy="react"):
    here = ["--workspace", workspace] if workspace else []
    limit = ["--fresh", "--tasks-limit", str(tasks)]
    return ["run", *here, "--strategy", strategy, *limit, "--journal", journal]


@functools.cache
def events(program, journal):
    """The events of a journal, of whatever format: it is not written again under this name."""
    replayed = subprocess.run([program.path, "replay", journal, "--json"], check=True, capture_output=True)
    return json.loads(replayed.stdout)["n"]


def sizes(bench):
    """Kilobytes a task of the sample tasks: what many take more than few, by their number."""
    few, many = (85, 255) if bench.quick else (425, 1700)

    for strategy, most in (("react", 1.0), ("workers+toolnet+btp", 1.6)):

        def a_task(program, strategy=strategy):
            found = []
            for tasks in (few, many):
                journal = Path(program.home, "size.jsonl")
                bench.cost(program, run(None, tasks, str(journal), strategy), codes=(0, 1))
                found.append(journal.stat().st_size)
                journal.unlink()
            return (found[1] - found[0]) / (many - few) / 1000

        yield Row(f"a journal's text a task, {strategy}", "kB", **beside(bench.of_each(a_task)), most=most)


def reading(bench):
    """Microseconds of CPU an event that `replay --json` reads, folds and forgets: a long journal less a short one."""
    workspace = lookups(bench.folder / "reading")
    few, many = (300, 1800) if bench.quick else (1000, 10_000)

    def write(program):
        lines = []
        for name, tasks in (("few", few), ("many", many)):
            journal = f"{program.home}/{name}.jsonl"
            bench.cost(program, run(workspace, tasks, journal), codes=(0, 1))
            lines.append(events(program, journal))
        return lines[1] - lines[0]

    lines = bench.of_each(write)
    commands = {name: ["replay", f"{{home}}/{name}.jsonl", "--json"] for name in ("few", "many")}
    ours, text = bench.programs["ours"], bench.folder / "many.txt"
    with open(text, "wb") as out:
        subprocess.run([ours.path, "journal", "cat", f"{ours.home}/many.jsonl"], check=True, stdout=out)
    peers = {"json": ("replay.py", text)}
    costs, theirs = bench.rounds(commands, 3 if bench.quick else 5, peers=peers)
    found = {name: [(one, lines[name]) for one in costs[name]] for name in costs}
    seconds = beside(found, lambda one: (one[0]["many"].cpu - one[0]["few"].cpu) / one[1] * 1e6)
    row = Row("reading an event of a journal", "µs", **seconds, most=3)
    yield with_peer(row, "Python's json, only parsed", theirs["json"], "event", times=1e6)


# Commands that read a journal, and the most megabytes of each with the most tasks.
READERS = {
    "report": (["report", "{journal}"], 150),
    "report --html": (["report", "{journal}", "--html", "--out", "{{new}}.html"], 150),
    "replay --json": (["replay", "{journal}", "--json"], 150),
    "shot": (["shot", "{journal}", "--out", "{{new}}.svg"], None),
    "run --recorded": (["run", "--workspace", "{workspace}", "--fresh", "--recorded", "{journal}", "--no-journal"], 150),
}


def memory(bench):
    """Peaks of memory in MB for a journal of many tasks, and how much more that is than for a tenth of them."""
    workspace = lookups(bench.folder / "memory")
    few, many = (1000, 10_000) if bench.quick else (20_000, 200_000)
    peaks = {}
    for tasks in (few, many):
        journal = f"{{home}}/{tasks}.jsonl"
        command = run(workspace, tasks, journal)
        found = {"run": bench.of_each(lambda program: bench.cost(program, command, codes=(0, 1)).peak / 1e6)}
        for name, (arguments, _) in READERS.items():
            arguments = [argument.format(journal=journal, workspace=workspace) for argument in arguments]
            found[name] = bench.of_each(lambda program: bench.cost(program, arguments, codes=(0, 1)).peak / 1e6)
        for program in bench.programs.values():
            Path(program.home, f"{tasks}.jsonl").unlink(missing_ok=True)
        screen = [*run(workspace, tasks, "screen.jsonl")[1:], "--knob", "speed=off"]
        found["the screen"] = bench.of_each(lambda program: peak(program.path, screen, program.home, b" "))
        for program in bench.programs.values():
            Path(program.home, "screen.jsonl").unlink(missing_ok=True)
        peaks[tasks] = found
    for name, found in peaks[many].items():
        aim = {"run": 110, "the screen": 150}.get(name) or READERS[name][1]
        work = f"peak of {name}, {many:,} tasks" if name == "the screen" else f"peak of `{name}`, {many:,} tasks"
        yield Row(work, "MB", **beside(found), most=aim, judged=not bench.quick)
        more = {program: peak - peaks[few][name][program] for program, peak in found.items() if program in peaks[few][name]}
        aim = 20 if name in ("report", "replay --json") else None
        yield Row(f"the same above {few:,} tasks", "MB", **beside(more), most=aim, judged=not bench.quick)


def moments(bench):
    """Milliseconds to a random moment of a long journal, drawn and printed whole, with the start of the program."""
    workspace = lookups(bench.folder / "moments")
    most, times, limit = (EVENTS // 10, 60, 30) if bench.quick else (EVENTS, 300, 600)

    def write(program):
        journal, first = f"{program.home}/moments.jsonl", f"{program.home}/first.jsonl"
        bench.cost(program, run(workspace, 500, first), codes=(0, 1))
        tasks = math.ceil(most / events(program, first) * 500)
        bench.cost(program, run(workspace, tasks, journal), codes=(0, 1))
        return events(program, journal)

    def first(program):
        # What a first reading keeps for later ones counts apart.
        return at(program, events(program, f"{program.home}/moments.jsonl"), "shot")

    def read(program, command):
        end = events(program, f"{program.home}/moments.jsonl")
        chosen, begun, walls = random.Random(1), time.monotonic(), []
        # At least ten moments, and as many more as a slow program reads within the limit.
        while len(walls) < times and (len(walls) < 10 or time.monotonic() - begun < limit):
            walls.append(at(program, chosen.randint(1, end), command))
        parts = statistics.quantiles(walls, n=100, method="inclusive")
        return {"p50": parts[49], "p99": parts[98], "most": max(walls), "count": len(walls)}

    def at(program, event, command):
        out = {"shot": ["--out", "{new}.svg"], "replay": ["--json"]}[command]
        command = [command, f"{program.home}/moments.jsonl", "--at", str(event), *out]
        return bench.cost(program, command).wall * 1e3

    lines = bench.of_each(write)
    firsts = bench.of_each(first)
    work = f"a moment of {lines['ours']:,} events"
    found = bench.of_each(lambda program: read(program, "shot"))
    yield Row(f"{work}, `shot --at`, p50", "ms", **beside(found, lambda one: one["p50"]))
    yield Row(f"{work}, p99", "ms", **beside(found, lambda one: one["p99"]), most=100, judged=not bench.quick)
    yield Row(f"{work}, most of {found['ours']['count']}", "ms", **beside(found, lambda one: one["most"]))
    found = bench.of_each(lambda program: read(program, "replay"))
    yield Row("the same printed whole, `replay --at --json`, p50", "ms", **beside(found, lambda one: one["p50"]))
    yield Row("the same, p99", "ms", **beside(found, lambda one: one["p99"]))
    yield Row("the end of it, read for the first time", "ms", **beside(firsts))
