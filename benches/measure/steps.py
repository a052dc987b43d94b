"""Steps of an agent, in memory and with a journal, beside other frameworks."""

import json

from .bench import Row, beside, with_peer
from .workspaces import lookups

IN_MEMORY = {
    "LangGraph": "langgraph_steps.py",
    "smolagents": "smolagents_steps.py",
    "openai-agents": "openai_agents_steps.py",
    "pydantic-ai": "pydantic_ai_steps.py",
}


def rows(bench):
    """Microseconds of CPU a step: what many tasks take more than few, by their steps."""
    few, many, runs = 200, 1200, 5 if bench.quick else 15
    workspace = lookups(bench.folder / "steps")

    def command(strategy, tasks, *more):
        return ["run", "--workspace", workspace, "--fresh", "--strategy", strategy, "--tasks-limit", str(tasks), *more]

    places = {"memory": ["--no-journal"], "disk": ["--journal", "{new}.jsonl"]}
    commands = {
        (strategy, place, tasks): command(strategy, tasks, *more)
        for strategy in ("react", "toolnet")
        for place, more in places.items()
        for tasks in (few, many)
    }
    steps = {
        strategy: bench.of_each(
            lambda program: counted(bench, program, command(strategy, many))
            - counted(bench, program, command(strategy, few))
        )
        for strategy in ("react", "toolnet")
    }
    peers = {name: (script,) for name, script in IN_MEMORY.items()}
    found, theirs = bench.rounds(commands, runs, codes=(0, 1), peers=peers)

    def a_step(strategy, place):
        """The microseconds of each round, by program."""
        return {
            name: [
                (costs[strategy, place, many].cpu - costs[strategy, place, few].cpu) / steps[strategy][name] * 1e6
                for costs in rounds
            ]
            for name, rounds in found.items()
        }

    react, react_disk = beside(a_step("react", "memory")), beside(a_step("react", "disk"))
    toolnet, toolnet_disk = beside(a_step("toolnet", "memory")), beside(a_step("toolnet", "disk"))
    # Of a step of LangGraph, in one of ours there is room for this many.
    aims = {"LangGraph": 60}
    for number, (name, figures) in enumerate(theirs.items()):
        work = "the same" if number else "a step of react in memory"
        yield with_peer(Row(work, "µs", **react, least_ratio=aims.get(name)), name, figures, "memory", times=1e6)
    row = Row("a step of react with a journal", "µs", **react_disk, least_ratio=45)
    yield with_peer(row, "LangGraph with SQLite", theirs["LangGraph"], "disk", times=1e6)
    yield Row("a step of toolnet in memory", "µs", **toolnet)
    yield Row("a step of toolnet with a journal", "µs", **toolnet_disk)

    def beside_react(name):
        return react[name] and toolnet[name] and [one / other for one, other in zip(toolnet[name], react[name])]

    ratios = {name: beside_react(name) for name in toolnet}
    yield Row("a step of toolnet beside one of react", "times", **ratios, most=1.4)


def counted(bench, program, command):
    """How many steps the command makes: tool calls, and final answers. The seed makes them the same each time."""
    report = f"{program.home}/report.json"
    bench.cost(program, [*command, "--no-journal", "--report", report], codes=(0, 1))
    with open(report) as file:
        return json.load(file)["totals"]["steps"]
