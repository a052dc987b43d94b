"""Python with SQLite and its full-text search: an import of 300,000 past uses. Processor time of both."""

import json
import random
import sqlite3
import tempfile
import time

from common import processor, show

USES, A_QUERY, TOOLS, WORDS = 300_000, 20, 16_000, 20_000

random.seed(1)


def popular(most):
    return int(random.random() ** 3 * most)


letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(random.choices(letters, k=random.randint(4, 9))) for _ in range(WORDS)]


def write(file):
    for _ in range(USES // A_QUERY):
        query = " ".join(words[popular(WORDS)] for _ in range(random.randint(8, 16)))
        tools = [popular(TOOLS) for _ in range(6)]
        for _ in range(A_QUERY):
            line = {
                "query": query,
                "tool": f"tool_{random.choice(tools):05}",
                "parameters": {"page": random.randrange(10)},
                "result": "A short answer, as long results are not read when a plan is made.",
                "helpful": random.random() < 0.67,
            }
            file.write(json.dumps(line) + "\n")


def load(lines, path):
    """The least that finds past uses by tool and by words: one table, one index, and the queries by words."""
    store = sqlite3.connect(path)
    store.executescript(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        CREATE TABLE query (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
        CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter');
        CREATE TABLE uses (query INTEGER, tool TEXT, parameters TEXT, result TEXT, helpful INTEGER);
        CREATE INDEX by_tool ON uses (tool);
        """
    )
    queries = {}
    for line in lines:
        use = json.loads(line)
        text = use["query"]
        if text not in queries:
            queries[text] = store.execute("INSERT INTO query (text) VALUES (?)", [text]).lastrowid
            store.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [queries[text], text])
        row = [queries[text], use["tool"], json.dumps(use["parameters"]), use["result"], use["helpful"]]
        store.execute("INSERT INTO uses VALUES (?, ?, ?, ?, ?)", row)
    store.commit()
    store.close()


with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/uses.jsonl", "w") as file:
        write(file)
    theirs, ours = [], []
    for n in range(3):
        ours.append(processor("experience", "import", file.name, "--file", f"{folder}/ours-{n}.sqlite"))
        start = time.process_time()
        with open(file.name) as lines:
            load(lines, f"{folder}/theirs-{n}.sqlite")
        theirs.append(time.process_time() - start)
show("an import of 300,000 uses", "Python", min(theirs), min(ours))
