"""Workspaces that the measurements write. Their tools have recorded results, so that no program runs."""

import itertools
import json

TOOL = """name = "{name}"
description = "{description}"
class = "Information Retrieval"
cost = {cost}
effect = "read"

[parameters]
required = ["key"]
properties.key.type = "string"

[source]
recorded = "../{file}.jsonl"
"""
TASKS, TOOLS, LINKS = 20, 16, 5
WORDS = "account album artist basket branch camera chapter city coach colour company course driver event fund garden"


def write_tool(folder, name, description, file, cost=1):
    text = TOOL.format(name=name, description=description, file=file, cost=cost)
    (folder / "tools" / f"{name}.toml").write_text(text)


def lookups(folder):
    """Sixteen tools, and twenty tasks of five calls each."""
    (folder / "tools").mkdir(parents=True)
    for n in range(TOOLS):
        write_tool(folder, f"look_{n}", f"Looks up part {n} of a record.", f"look_{n}")
        results = [
            {"arguments": {"key": f"k{task}"}, "result": f"Part {n} of record {task} is value-{task}-{n}."}
            for task in range(TASKS)
        ]
        (folder / f"look_{n}.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
    capabilities = "".join(f'part_{n} = ["look_{n}"]\n' for n in range(LINKS))
    (folder / "tasks.toml").write_text("[capabilities]\n" + capabilities + "".join(map(task_of, range(TASKS))))
    return str(folder)


def task_of(task):
    links = "".join(
        f'  {{ do = "part_{n}", arguments = {{ key = "k{task}" }}, finds = "value-{task}-{n}" }},\n'
        for n in range(LINKS)
    )
    text = f'text = "What are the parts of record {task}?"\ngold = "value-{task}-{LINKS - 1}"'
    return f'\n[[task]]\nname = "record-{task}"\n{text}\nchain = [\n{links}]\n'


def many_tools(folder, count):
    """Thousands of tools with names of three words, and one task."""
    (folder / "tools").mkdir(parents=True)
    names = itertools.product(WORDS.split(), repeat=3)
    for number, (what, of, by) in enumerate(itertools.islice(itertools.cycle(names), count)):
        description = f"Finds the {what} of a {of} by its {by}, and returns it with the date of its last change."
        write_tool(folder, f"{what}_{of}_{by}_{number}", description, "results", 1 + number % 10)
    (folder / "results.jsonl").write_text('{"arguments": {"key": "k"}, "result": "nothing"}\n')
    (folder / "tasks.toml").write_text('[[task]]\nname = "one"\ntext = "What is the weather?"\ngold = "nothing"\n')
    return str(folder)
