"""Ten families of plans, from easy to hard: tools as (cost, value, limit) and a budget, in whole units."""

import random

# Every twentieth plan is of so many tools.
LARGE = 16_000
# Values have this many units, costs of real families too; so sums are whole numbers.
VALUES = 10**9
FINE = 2**20


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
    """Whether it is large, its tools and its budget in units, and the units of a credit."""
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


def rows(tools, per_credit):
    """The tools as `toolyard plan --tools` reads them."""
    return [
        {"name": f"t{at}", "cost": cost / per_credit, "value": value / VALUES, "limit": limit}
        for at, (cost, value, limit) in enumerate(tools)
    ]
