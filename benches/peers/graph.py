"""A plain Python dict and networkx: the tool graph of 100,000 trajectories over 2,000 tools."""

import json
import random
import sys
from collections import defaultdict

import networkx
from common import TARGET, fastest, show

random.seed(1)
names = [f"tool_{i:05}" for i in range(2_000)]
trajectories = [[random.choice(names) for _ in range(random.randrange(8))] for _ in range(100_000)]


def edges(trajectory):
    """Which call followed which, and last the end; the first call follows nothing (ToolNet, section 3.2)."""
    return zip(trajectory, [*trajectory[1:], "end"])


def with_dicts():
    counts = defaultdict(lambda: defaultdict(int))
    for trajectory in trajectories:
        for one, other in edges(trajectory):
            counts[one][other] += 1
    return {
        one: {other: n / total for other, n in row.items()}
        for one, row in counts.items()
        for total in [sum(row.values())]
    }


def with_networkx():
    graph = networkx.DiGraph()
    for trajectory in trajectories:
        for one, other in edges(trajectory):
            if graph.has_edge(one, other):
                graph[one][other]["weight"] += 1
            else:
                graph.add_edge(one, other, weight=1)
    for node in graph:
        row = graph[node].values()
        total = sum(edge["weight"] for edge in row)
        for edge in row:
            edge["weight"] /= total
    return graph


def ours(name):
    """Seconds of one of our benchmarks: the fastest sample of its last run."""
    file = TARGET / "criterion" / name / "new" / "sample.json"
    if not file.exists():
        sys.exit(f"{file}: no such file; run `cargo bench --bench graph` first")
    sample = json.loads(file.read_text())
    return min(t / n for t, n in zip(sample["times"], sample["iters"])) * 1e-9


here = ours("learning/100,000 trajectories, 2,000 tools")
show("a graph", "Python dicts", fastest(with_dicts, repeats=3), here)
show("a graph", "networkx", fastest(with_networkx, repeats=3), here)
