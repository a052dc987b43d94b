"""Steps of an agent, in memory and with a journal, beside other frameworks."""

import json

from .bench import Row, beside, with_peer
from .workspaces import lookups

IN_MEMORY = [
    ("LangGraph", "langgraph_steps.py"),
    ("smolagents", "smolagents_steps.py"),
    ("openai-agents", "openai_agents_steps.py"),
    ("pydantic-ai", "pydantic_ai_steps.py"),
]


def rows(bench):
    """Microseconds of CPU a step: what many tasks take more than few, by their steps. The least of some runs counts."""
    few, many, runs = 200, 1200, 8
    workspace = lookups(bench.folder / "steps")

    def command(strategy, tasks, *more):
        return ["run", "--workspace", workspace, "--fresh", "--strategy", strategy, "--tasks-limit", str(tasks), *more]

    def a_step(strategy, *more):
        commands = {"few": command(strategy, few, *more), "many": command(strategy, many, *more)}
        steps = bench.of_each(
            lambda program: counted(bench, program, command(strategy, many))
            - counted(bench, program, command(strategy, few))
        )
        costs = bench.least(commands, runs, codes=(0, 1))
        found = {name: (costs[name], steps[name]) for name in steps}
        return beside(found, lambda one: (one[0]["many"].cpu - one[0]["few"].cpu) / one[1] * 1e6)

    react = a_step("react", "--no-journal")
    react_disk = a_step("react", "--journal", "{new}.jsonl")
    toolnet = a_step("toolnet", "--no-journal")
    toolnet_disk = a_step("toolnet", "--journal", "{new}.jsonl")
    yield Row("a step of react in memory", "µs", **react, most=45, better=35)
    for name, script in IN_MEMORY:
        yield with_peer(bench, Row("the same", "µs", **react), name, script, "memory", times=1e6)
    yield with_peer(
        bench,
        Row("a step of react with a journal", "µs", **react_disk, most=90, better=70),
        "LangGraph with SQLite",
        "langgraph_steps.py",
        "disk",
        times=1e6,
    )
    yield Row("a step of toolnet in memory", "µs", **toolnet)
    yield Row("a step of toolnet with a journal", "µs", **toolnet_disk)
    beside_react = {name: toolnet[name] and react[name] and toolnet[name] / react[name] for name in toolnet}
    yield Row("a step of toolnet beside one of react", "times", **beside_react, most=1.4)


def counted(bench, program, command):
    """How many steps the command makes: tool calls, and final answers. The seed makes them the same each time."""
    report = f"{program.home}/report.json"
    bench.cost(program, [*command, "--no-journal", "--report", report], codes=(0, 1))
    with open(report) as file:
        return json.load(file)["totals"]["steps"]
