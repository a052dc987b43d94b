"""OR-tools: whether 2,000 plans of ten families are the best, or as near to it as they say.

Arguments: plans of each family, then the families; without any, all.
"""

import json
import sys
import tempfile

from common import PROGRAM, cost
from ortools.algorithms.python import knapsack_solver
from ortools.sat.python import cp_model
from plan_families import FAMILIES, instance, rows

EACH = 200
# For OR-tools; where it has not ended by then, what it has found must not refute a gap.
SECONDS = {"small": 2, "large": 4}
# Cells of a table that OR-tools fills in some tenths of a second.
CELLS = 10**8


def ours(tools, budget, per_credit):
    """Uses of each tool, the gap, and seconds of processor time with the start of the program."""
    with tempfile.TemporaryDirectory() as home, open(f"{home}/plan.json", "w+") as out:
        with open(f"{home}/tools.json", "w") as file:
            json.dump(rows(tools, per_credit), file)
        command = ["plan", "--tools", file.name, "--budget", repr(budget / per_credit), "--json"]
        seconds = cost(PROGRAM, command, home, out=out).cpu
        out.seek(0)
        plan = json.load(out)
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
        spent = sum(tools[at][0] * n for at, n in uses.items())
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
        over = spent > budget or any(n > tools[at][2] for at, n in uses.items())
        if over or value < allowed or (is_best and value > found):
            wrong.append((at, spent, budget, value, found, gap))
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
