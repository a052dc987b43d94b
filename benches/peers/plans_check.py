"""OR-tools: whether 2,000 plans of ten families are the best, or as near to it as they say.

Arguments: plans of each family, then the families; without any, all.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile

from common import PROGRAM
from ortools.algorithms.python import knapsack_solver
from ortools.sat.python import cp_model

EACH = 200
# Every twentieth plan is of so many tools.
LARGE = 16_000
# Values have this many units, costs of real families too; so sums are whole numbers.
VALUES = 10**9
FINE = 2**20
# For OR-tools; where it has not ended by then, what it has found must not refute a gap.
SECONDS = {"small": 2, "large": 4}
# Cells of a table that OR-tools fills in some tenths of a second.
CELLS = 10**8


def uncorrelated(r, most):
    return r.randint(1, most), r.randint(1, VALUES)


def weak(r, most):
    cost = r.randint(1, most)
    return cost, max(1, round(VALUES * (0.9 * cost / most + 0.1 * r.random())))


def strong(r, most):
    cost = r.randint(1, most)
    return cost, VALUES * (cost * 10 + most) // (11 * most)


def inverse(r, most):
    cost = r.randint(most // 10 + 1, most)
    return cost, VALUES * (cost * 10 - most) // (9 * most)


def subset(r, most):
    cost = r.randint(1, most)
    return cost, cost * (VALUES // most)


def spanner(r, most, keys):
    cost, value = r.choice(keys)
    times = r.randint(1, 10)
    return cost * times, value * times


FAMILIES = [
    ("uncorrelated, whole", uncorrelated, 1),
    ("uncorrelated, real", uncorrelated, FINE),
    ("weakly correlated, whole", weak, 1),
    ("weakly correlated, real", weak, FINE),
    ("strongly correlated, whole", strong, 1),
    ("strongly correlated, real", strong, FINE),
    ("inverse, real", inverse, FINE),
    ("subset sum, whole", subset, 1),
    ("spanner, whole", spanner, 1),
    ("tiny and huge budgets", uncorrelated, 1),
]


def instance(name, tool, per_credit, at):
    """Tools as (cost, value, limit) and a budget, in units."""
    r = random.Random(f"{name} {at}")
    large = at % 20 == 19
    count = LARGE if large else r.choice([3, 5, 8, 15, 40, 100, 300])
    most = (10 if per_credit > 1 else r.choice([10, 100, 1000])) * per_credit
    keys = [(r.randint(1, max(1, most // 10)), r.randint(1, VALUES // 10)) for _ in range(3)]
    more = (keys,) if tool is spanner else ()
    tools = [(*tool(r, most, *more), r.randint(1, 3)) for _ in range(count)]
    everything = sum(cost * limit for cost, _, limit in tools)
    budget = round(r.choice([0.001, 0.02, 0.1, 0.5, 0.9]) * everything)
    if large:
        budget = r.choice([20, 10_000, 100_000]) * per_credit if at % 40 == 39 else budget
    if name.startswith("tiny"):
        kind = r.choice(["tiny", "huge", "fine"])
        if kind == "tiny":
            budget = r.randint(0, 3)
        else:
            # Costs from 1 to 10¹¹ credits, or from 10⁻⁹ to 100.
            tools = [(cost * r.randint(1, 10**8), value, limit) for cost, value, limit in tools]
            budget = 10**12 if kind == "huge" else sum(cost * limit for cost, _, limit in tools) // 3
            per_credit = 1 if kind == "huge" else 10**9
    return large, tools, budget, per_credit


def ours(tools, budget, per_credit):
    """Uses of each tool, the gap, and seconds of processor time with the start of the program."""
    rows = [
        {"name": f"t{at}", "cost": cost / per_credit, "value": value / VALUES, "limit": limit}
        for at, (cost, value, limit) in enumerate(tools)
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(rows, file)
        file.flush()

        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = used()
        command = [PROGRAM, "plan", "--tools", file.name, "--budget", repr(budget / per_credit), "--json"]
        done = subprocess.run(command, capture_output=True, check=True)
        seconds = used() - before
    plan = json.loads(done.stdout)
    return {int(name[1:]): uses for name, uses in plan["plan"].items()}, plan["gap"], seconds


def best(tools, budget, large):
    """The value of the best plan that OR-tools finds, and whether it is the best that there is."""
    items = [(cost, value) for cost, value, limit in tools for _ in range(limit) if cost <= budget]
    costs, values = [cost for cost, _ in items], [value for _, value in items]
    if sum(costs) <= budget:
        return sum(values), True
    kinds = knapsack_solver.SolverType
    kind = kinds.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    if len(items) * budget <= CELLS:
        kind = kinds.KNAPSACK_DYNAMIC_PROGRAMMING_SOLVER
    solver = knapsack_solver.KnapsackSolver(kind, "plan")
    solver.set_time_limit(SECONDS["large" if large else "small"])
    solver.init(values, [costs], [budget])
    found = solver.solve()
    return found, solver.is_solution_optimal()


def better(tools, budget):
    """The same by OR-tools' other solver, which ends where many combinations are alike."""
    model = cp_model.CpModel()
    each = [(model.new_int_var(0, min(limit, budget // cost), ""), cost, value) for cost, value, limit in tools]
    model.add(sum(uses * cost for uses, cost, _ in each) <= budget)
    model.maximize(sum(uses * value for uses, _, value in each))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS["small"]
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return 0, False
    found = sum(solver.value(uses) * value for uses, _, value in each)
    return found, status == cp_model.OPTIMAL


def check(name, tool, per_credit, each):
    ended = equal = within = gaps = 0
    largest = slowest = slowest_large = 0.0
    wrong = []
    for at in range(each):
        large, tools, budget, unit = instance(name, tool, per_credit, at)
        uses, gap, seconds = ours(tools, budget, unit)
        cost = sum(tools[at][0] * n for at, n in uses.items())
        value = sum(tools[at][1] * n for at, n in uses.items())
        found, is_best = best(tools, budget, large)
        if not is_best and not large and max(value, found) * 10 < 2**62:
            other, is_best = better(tools, budget)
            found = max(found, other)
        slowest = max(slowest, seconds)
        slowest_large = max(slowest_large, seconds if large else 0.0)
        gaps += gap is not None
        largest = max(largest, gap or 0.0)
        ended += is_best
        equal += is_best and value == found
        within += is_best and value < found and gap is not None
        # The program counts values to 12 digits, and costs to 60 bits.
        allowed = found * (1 - (gap or 0.0)) - found * 1e-11
        over = cost > budget or any(n > tools[at][2] for at, n in uses.items())
        if over or value < allowed or (is_best and value > found):
            wrong.append((at, cost, budget, value, found, gap))
    row = f"{name:<27} {each:>5} {ended:>6} {equal:>6} {within:>6} {len(wrong):>6} {gaps:>6}"
    print(f"{row} {largest:>9.1e} {slowest * 1e3:>8.0f} {slowest_large * 1e3:>8.0f}", flush=True)
    for one in wrong:
        print("    wrong:", *one)
    return len(wrong)


def main():
    each = int(sys.argv[1]) if len(sys.argv) > 1 else EACH
    head = f"{'family':<27} {'plans':>5} {'ended':>6} {'equal':>6} {'within':>6} {'wrong':>6} {'gaps':>6}"
    print(f"{head} {'largest':>9} {'CPU, ms':>8} {'16,000':>8}")
    chosen = [family for family in FAMILIES if not sys.argv[2:] or family[0] in sys.argv[2:]]
    sys.exit(sum(check(*family, each) for family in chosen) > 0)


main()
