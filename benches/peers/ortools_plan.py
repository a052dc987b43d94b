"""OR-tools: the plan of 16,000 tools with random costs of full precision, within 9,999 credits."""

import math

from common import fastest, ours, show
from ortools.algorithms.python import knapsack_solver

TOOLS, LIMIT, BUDGET = 16_000, 3, 9_999
# It counts in whole numbers: costs of 36 binary places and values of 12 decimals, close to ours.
COSTS, VALUES = 2**36, 10**12



def units():
    """The numbers from 0 to 1 of the test `thousands_of_tools_with_real_costs_get_the_best_plan`."""
    number = 1
    while True:
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (number >> 11) / 2**53


unit = units()
tools = [(1 + 9 * next(unit), next(unit)) for _ in range(TOOLS)]
# One item for each use.
costs = [math.ceil(cost * COSTS) for cost, _ in tools for _ in range(LIMIT)]
values = [round(value * VALUES) for _, value in tools for _ in range(LIMIT)]


def plan():
    kind = knapsack_solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    solver = knapsack_solver.KnapsackSolver(kind, "plan")
    solver.init(values, [costs], [BUDGET * COSTS])
    solver.solve()
    if not solver.is_solution_optimal():
        raise SystemExit("OR-tools found no plan")


here = ours("plan 16,000 tools/budget 9,999, real costs")
show("a plan", "OR-tools", fastest(plan, repeats=3), here)
