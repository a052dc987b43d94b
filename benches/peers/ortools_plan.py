"""OR-tools: the best plan within a budget, proven. Arguments: the tools, as `toolyard plan --tools` reads them, the
budget, and how often.
"""

import json
import math
import sys

from common import fastest, tell
from ortools.algorithms.python import knapsack_solver

# It counts in whole numbers: costs of 36 binary places and values of 12 decimals, close to ours.
COSTS, VALUES = 2**36, 10**12

with open(sys.argv[1]) as file:
    tools = json.load(file)
# One item for each use.
costs = [math.ceil(tool["cost"] * COSTS) for tool in tools for _ in range(tool["limit"])]
values = [round(tool["value"] * VALUES) for tool in tools for _ in range(tool["limit"])]


def plan():
    kind = knapsack_solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    solver = knapsack_solver.KnapsackSolver(kind, "plan")
    solver.init(values, [costs], [int(sys.argv[2]) * COSTS])
    solver.solve()
    if not solver.is_solution_optimal():
        raise SystemExit("OR-tools found no plan")


tell("ortools", plan=fastest(plan, repeats=int(sys.argv[3])))
