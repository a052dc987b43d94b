"""What every row needs: the programs that are measured, their costs side by side, and the figures of peers."""

import itertools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from peers.common import ROOT, Cost, Failed, cost

PEERS = ROOT / "benches" / "peers"


class Row(NamedTuple):
    """A line of the table. The values have one unit; `most`, `least` and `least_ratio` are the aim of our value.

    `better` than `most` is hoped for; it is shown and not judged.
    """

    work: str
    unit: str
    ours: float
    before: Optional[float] = None
    peer: str = ""
    theirs: Optional[float] = None
    most: Optional[float] = None
    better: Optional[float] = None
    least: Optional[float] = None
    least_ratio: Optional[float] = None
    # Whether this run is large enough for the aim.
    judged: bool = True


class Program(NamedTuple):
    path: str
    home: str


class Bench:
    """The programs by name, `ours` and perhaps `before`, and a folder for what the measurements write."""

    def __init__(self, ours, before, quick, folder):
        self.quick, self.folder, self.notes = quick, Path(folder), []
        self.numbers, self.figures = itertools.count(), {}
        self.programs = {"ours": self.program("ours", ours)}
        if before:
            self.programs["before"] = self.program("before", before)

    def program(self, name, path):
        home = self.folder / name
        home.mkdir()
        return Program(os.path.abspath(path), str(home))

    def cost(self, program, arguments, codes=(0,), out=subprocess.DEVNULL):
        """The cost of one command. `{home}` in it is the program's folder; a file `{new}` does not outlive it."""
        new = self.folder / f"new-{next(self.numbers)}"
        arguments = [argument.format(home=program.home, new=new) for argument in arguments]
        try:
            return cost(program.path, arguments, program.home, codes, out)
        finally:
            for file in self.folder.glob(f"{new.name}*"):
                file.unlink()

    def of_each(self, figure: Callable):
        """What `figure` says of each program, by its name. What fails with the program of before is only noted."""
        found = {}
        for name, program in self.programs.items():
            try:
                found[name] = figure(program)
            except Failed as why:
                if name == "ours":
                    raise
                self.notes.append(f"before: {why}")
        return found

    def least(self, commands, runs, codes=(0,)):
        """The least costs of commands, by program and name of the command. Programs and commands alternate."""
        rounds = []
        for _ in range(runs):
            costs = {command: self.of_each(self.costs_of(line, codes)) for command, line in commands.items()}
            rounds.append(costs)
        return {
            name: {command: least_of(costs[command][name] for costs in rounds) for command in commands}
            for name in self.programs
            if all(name in found for costs in rounds for found in costs.values())
        }

    def costs_of(self, arguments, codes):
        return lambda program: self.cost(program, arguments, codes)

    def median(self, figure, runs):
        """The median of some runs of each program, in turns."""
        rounds = [self.of_each(figure) for _ in range(runs)]
        return {
            name: statistics.median(found[name] for found in rounds)
            for name in self.programs
            if all(name in found for found in rounds)
        }

    def peer(self, script, *arguments):
        """The figures that a peer prints, and its version."""
        command = [sys.executable, str(PEERS / script), *map(str, arguments)]
        if (known := self.figures.get(tuple(command))) is not None:
            return known
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            missing = "ModuleNotFoundError" in done.stderr
            raise Failed("not installed" if missing else (done.stderr.strip() or "no output").split("\n")[-1][:80])
        figures = json.loads(done.stdout.strip().split("\n")[-1])
        return self.figures.setdefault(tuple(command), figures)


def least_of(costs):
    return Cost(*(min(values) for values in zip(*costs)))


def beside(found, figure=lambda value: value):
    """The figures of our program and of the one before, as fields of a row; `None` where there is none."""

    def of(name):
        try:
            return figure(found[name])
        except KeyError:
            return None

    return {"ours": of("ours"), "before": of("before")}


def with_peer(bench, row, name, script, key, *arguments, times=1.0):
    """The row with a peer's figure, or with the reason why there is none."""
    try:
        figures = bench.peer(script, *arguments)
    except Failed as why:
        return row._replace(peer=f"{name}: {why}")
    version = f" {figures['version']}" if figures["version"] else ""
    return row._replace(peer=f"{name}{version}", theirs=figures[key] * times)
