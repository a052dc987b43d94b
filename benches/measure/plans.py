"""Plans of 16,000 tools, beside OR-tools; and an import of past uses, beside Python with SQLite."""

import json
import random

from peers.plan_families import FAMILIES, instance, rows as tools_of

from .bench import Row, beside, with_peer

TOOLS, LIMIT, BUDGET = 16_000, 3, 9_999
USES, A_QUERY, WORDS = 300_000, 20, 20_000


def units():
    """The numbers from 0 to 1 of the test `thousands_of_tools_with_real_costs_get_the_best_plan`."""
    number = 1
    while True:
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (number >> 11) / 2**53


def plans(bench):
    """Milliseconds of CPU, with the start and the reading: random costs of full precision; and the hardest family."""
    unit, runs = units(), 1 if bench.quick else 5
    tools = [{"name": f"t{n}", "cost": 1 + 9 * next(unit), "value": next(unit), "limit": LIMIT} for n in range(TOOLS)]
    file = bench.folder / "tools.json"
    file.write_text(json.dumps(tools))
    command = ["plan", "--tools", str(file), "--budget", str(BUDGET), "--json"]
    peers = {"plan": ("ortools_plan.py", file, BUDGET, 1)}
    costs, theirs = bench.rounds({"plan": command}, runs, peers=peers)
    milliseconds = beside(costs, lambda one: one["plan"].cpu * 1e3)
    row = Row(f"a plan of {TOOLS:,} tools, real costs", "ms", **milliseconds, most=300)
    yield with_peer(row, "OR-tools", theirs["plan"], "plan", times=1e3)
    commands = {}
    for number, (name, tool, per_credit) in enumerate(FAMILIES[:-1]):
        _, tools, budget, unit = instance(name, tool, per_credit, 19)
        file = bench.folder / f"family-{number}.json"
        file.write_text(json.dumps(tools_of(tools, unit)))
        commands[name] = ["plan", "--tools", str(file), "--budget", repr(budget / unit), "--json"]
    costs, _ = bench.rounds(commands, runs)
    slowest = beside(costs, lambda one: max(cost.cpu for cost in one.values()) * 1e3)
    yield Row(f"the slowest of {len(commands)} plans of {TOOLS:,}, each of another family", "ms", **slowest, most=300)


def imports(bench):
    """Seconds of CPU of an import of past uses, to be found by tool and by words."""
    file = bench.folder / "uses.jsonl"
    write_uses(file)
    runs = 1 if bench.quick else 3
    command = ["experience", "import", str(file), "--file", "{new}.sqlite"]
    peers = {"import": ("experience_import.py", file, 1)}
    costs, theirs = bench.rounds({"import": command}, runs, peers=peers)
    seconds = beside(costs, lambda one: one["import"].cpu)
    row = Row(f"an import of {USES:,} past uses", "s", **seconds, least_ratio=1.0)
    yield with_peer(row, "sqlite3 and FTS5", theirs["import"], "run")


def write_uses(file):
    r = random.Random(1)

    def popular(most):
        return int(r.random() ** 3 * most)

    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(r.choices(letters, k=r.randint(4, 9))) for _ in range(WORDS)]
    with open(file, "w") as out:
        for _ in range(USES // A_QUERY):
            query = " ".join(words[popular(WORDS)] for _ in range(r.randint(8, 16)))
            tools = [popular(TOOLS) for _ in range(6)]
            for _ in range(A_QUERY):
                line = {
                    "query": query,
                    "tool": f"tool_{r.choice(tools):05}",
                    "parameters": {"page": r.randrange(10)},
                    "result": "A short answer, as long results are not read when a plan is made.",
                    "helpful": r.random() < 0.67,
                }
                out.write(json.dumps(line) + "\n")
