"""What every row needs: the programs that are measured, their costs side by side, and the figures of peers."""

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from peers.common import ROOT, Failed, cost

PEERS = ROOT / "benches" / "peers"


# A figure, or those of some rounds.
Figures = float | list[float]


class Row(NamedTuple):
    """A line of the table. The values have one unit; `most`, `least` and `least_ratio` are the aim of our value.

    `better` than `most` is hoped for; it is shown and not judged. Of the figures of rounds the median counts, and of ratios
    the median of those within a round, so that a machine that slows down between two rounds changes none.
    """

    work: str
    unit: str
    ours: Figures
    before: Optional[Figures] = None
    peer: str = ""
    theirs: Optional[Figures] = None
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
        self.numbers = itertools.count()
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
                shutil.rmtree(file) if file.is_dir() else file.unlink()

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

    def rounds(self, commands, runs, codes=(0,), peers=None):
        """The costs of commands, by program: for each round those by command. Programs, commands and peers alternate.

        `peers`: their scripts and arguments by any key; the figures of each are in the list of that key, or why there are
        none.
        """
        peers = peers or {}
        rounds, theirs = [], {key: [] for key in peers}
        for _ in range(runs):
            rounds.append({command: self.of_each(self.costs_of(line, codes)) for command, line in commands.items()})
            for key, words in peers.items():
                if isinstance(theirs[key], list):
                    try:
                        theirs[key].append(self.peer(*words))
                    except Failed as why:
                        theirs[key] = why
        found = {
            name: [{command: costs[command][name] for command in commands} for costs in rounds]
            for name in self.programs
            if all(name in of_command for costs in rounds for of_command in costs.values())
        }
        return found, theirs

    def costs_of(self, arguments, codes):
        return lambda program: self.cost(program, arguments, codes)

    def turns(self, figure, runs):
        """The figures of some runs of each program, in turns."""
        rounds = [self.of_each(figure) for _ in range(runs)]
        return {
            name: [found[name] for found in rounds]
            for name in self.programs
            if all(name in found for found in rounds)
        }

    def peer(self, script, *arguments):
        """The figures that a peer prints, and its version."""
        command = [sys.executable, str(PEERS / script), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            missing = "ModuleNotFoundError" in done.stderr
            raise Failed("not installed" if missing else (done.stderr.strip() or "no output").split("\n")[-1][:80])
        return json.loads(done.stdout.strip().split("\n")[-1])


def middle(figures):
    """The median of the figures of rounds, or the one figure."""
    return statistics.median(figures) if isinstance(figures, list) else figures


def spread(figures):
    """How far the figures of rounds are apart, as a part of their median."""
    if not isinstance(figures, list) or not middle(figures):
        return 0.0
    return (max(figures) - min(figures)) / abs(middle(figures))


def ratio(theirs, ours):
    """The median of the ratios within a round, where both are of the same rounds."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return statistics.median(one / other for one, other in zip(theirs, ours))
    return middle(theirs) / middle(ours)


def beside(found, figure=lambda value: value):
    """The figures of our program and of the one before, as fields of a row; `None` where there is none. Of rounds, those of
    each round."""

    def of(name):
        if name not in found:
            return None
        rounds = found[name]
        return [figure(one) for one in rounds] if isinstance(rounds, list) else figure(rounds)

    return {"ours": of("ours"), "before": of("before")}


def with_peer(row, name, figures, key, times=1.0):
    """The row with a peer's figures, or with the reason why there are none."""
    if isinstance(figures, Failed):
        return row._replace(peer=f"{name}: {figures}")
    version = f" {figures[0]['version']}" if figures[0]["version"] else ""
    return row._replace(peer=f"{name}{version}", theirs=[one[key] * times for one in figures])
